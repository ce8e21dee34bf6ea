//! Counters as Linux opens them (`perf_event_open`).

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// Size of the first version of the description, which every kernel takes.
const DESCRIPTION_BYTES: u32 = 64;
/// Begin disabled; leave out the operating system and what is below it.
const FLAGS: u64 = 1 | 1 << 5 | 1 << 6;
/// Read how long the event was wanted and how long it was counted, too.
const READ_TIMES: u64 = 1 | 2;
const CLOSE_ON_EXEC: libc::c_ulong = 8;

/// `struct perf_event_attr`, its first version.
#[repr(C)]
#[derive(Default)]
struct Description {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

/// Opens a counter of `kind` and `event` as the operating system numbers them; it stands still.
///
/// # Errors
/// What the operating system says.
pub fn counter(process: i32, kind: u32, event: u64) -> io::Result<OwnedFd> {
    let description = Description {
        kind,
        size: DESCRIPTION_BYTES,
        config: event,
        read_format: READ_TIMES,
        flags: FLAGS,
        ..Description::default()
    };
    // SAFETY: the call reads the description, which is as large as it says.
    let descriptor = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const description,
            process,
            -1,
            -1,
            CLOSE_ON_EXEC,
        )
    };
    match i32::try_from(descriptor) {
        // SAFETY: the call has just opened it, and nobody else knows it.
        Ok(descriptor) if 0 <= descriptor => Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }),
        _ => Err(io::Error::last_os_error()),
    }
}
