//! Event counters.

use autocomp_host::inside::{Counters, counter, reason};
use std::io::Error;

#[test]
fn the_reason_names_what_is_in_the_way() {
    let of = |code| reason(&Error::from_raw_os_error(code));
    assert!(of(libc::ENOENT).contains("virtual machines"));
    assert!(of(libc::EACCES).contains("perf_event_paranoid"));
    assert!(of(libc::EIO).contains("cannot be opened"));
}

/// Page faults are counted by the operating system itself, so that the way through
/// the system calls can be tried on machines without event counters.
#[test]
fn what_runs_between_on_and_off_is_counted() {
    const TYPE_SOFTWARE: u32 = 1;
    const PAGE_FAULTS: u64 = 2;
    let Ok(faults) = counter(0, TYPE_SOFTWARE, PAGE_FAULTS) else {
        return;
    };
    let counters = Counters {
        open: vec![("page_faults", faults)],
    };
    counters.run(true);
    let pages = vec![1_u8; 64 << 12];
    counters.run(false);
    std::hint::black_box(&pages);
    let first = counters.read();
    std::hint::black_box(vec![1_u8; 64 << 12]);
    assert_eq!(counters.read(), first);
    assert!(first.iter().all(|(_, count)| 1.0 <= *count), "{first:?}");
}
