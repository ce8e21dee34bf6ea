//! The L2 towards memory.

use autocomp_riscv_machine::inside::{Back, Outer};

/// Works through all cycles; returns what comes back and when.
fn all(outer: &mut Outer) -> Vec<(u64, Back)> {
    let mut come = Vec::new();
    while outer.next_step() != u64::MAX {
        let now = outer.next_step();
        come.extend(outer.step(now).map(|back| (now, back)));
    }
    come
}

#[test]
fn a_line_comes_back_after_the_latency_and_others_one_line_later_each() {
    let mut outer = Outer::new(8, 40, 0);
    let told: Vec<_> = (0..3).map(|idx| outer.request(idx, true, 100)).collect();
    // The way out takes one request per cycle, so the others wait in between.
    assert_eq!(told[0], Some(100 + 1 + 1 + 40));
    let come = all(&mut outer);
    let come: Vec<_> = told
        .into_iter()
        .flatten()
        .chain(come.iter().map(|c| c.0))
        .collect();
    assert_eq!(come, [142, 150, 158]);
}

#[test]
fn requests_wait_for_all_beats_of_a_victim() {
    let mut outer = Outer::new(8, 0, 0);
    outer.release(0, true, 100);
    // The victim is on the way out from cycle 103 to 110.
    assert_eq!(outer.request(1, true, 102), None);
    let come = all(&mut outer);
    assert_eq!(come, [(111, Back::Gone(0)), (112, Back::Line(1))]);
}

#[test]
fn answers_that_do_not_come_from_memory_wait_until_it_is_silent() {
    let mut outer = Outer::new(8, 0, 0);
    assert_eq!(outer.request(0, true, 100), Some(102));
    outer.release(1, false, 100);
    outer.request(2, false, 101);
    let come = all(&mut outer);
    assert_eq!(come, [(110, Back::Gone(1)), (111, Back::Permission(2))]);
}

#[test]
fn clean_victims_that_wait_keep_others_from_leaving() {
    let mut outer = Outer::new(8, 0, 0);
    for idx in 0..4 {
        outer.request(idx, true, 100 + idx as u64);
        while outer.next_step() <= 101 + idx as u64 {
            outer.step(outer.next_step());
        }
    }
    for idx in 0..4 {
        assert!(outer.takes_victim(105), "{idx} victims");
        outer.release(idx, false, 105);
    }
    // Two wait for the way back, two behind them.
    while outer.next_step() <= 109 {
        outer.step(outer.next_step());
    }
    assert!(!outer.takes_victim(109));
    let gone: Vec<_> = all(&mut outer).into_iter().map(|(now, _)| now).collect();
    assert_eq!(gone, [134, 135, 136, 137]);
}

#[test]
fn what_is_behind_an_acknowledgement_that_waits_waits_too() {
    let mut outer = Outer::new(8, 0, 0);
    outer.release(0, false, 100);
    // Held up or not, nobody is told before when the line comes.
    assert_eq!(outer.request(1, true, 103), None);
    assert_eq!(outer.step(104), Some(Back::Gone(0)));
    outer.hold(110, 104);
    assert_eq!(all(&mut outer), [(110, Back::Line(1))]);
}

#[test]
fn only_eight_lines_come_without_a_confirmation() {
    let mut outer = Outer::new(8, 0, 0);
    let mut come = 0;
    for idx in 0..9 {
        let now = 100 + 20 * idx as u64;
        while outer.next_step() <= now {
            come += usize::from(outer.step(outer.next_step()).is_some());
        }
        come += usize::from(outer.request(idx, true, now).is_some());
    }
    come += all(&mut outer).len();
    assert_eq!(come, 8);
    outer.confirm(1000);
    assert_eq!(all(&mut outer), [(1002, Back::Line(8))]);
}
