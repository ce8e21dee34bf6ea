//! The pipeline of the L2.

use autocomp_riscv_machine::inside::Pipeline;

/// Cycle from which the first stage is free behind a request taken in cycle 100.
fn free(pipeline: &mut Pipeline, end: u64) -> u64 {
    let mut free = end;
    loop {
        let at = pipeline.follow(free).max(free);
        if at == free {
            return free;
        }
        free = at;
    }
}

#[test]
fn beats_pass_one_per_cycle() {
    let mut pipeline = Pipeline::new(8);
    assert_eq!(pipeline.take((0, 4), true, 0, 100), (100, 103, 104));
    assert_eq!(pipeline.take((0, 4), false, 0xf, 104), (104, 107, 108));
    assert_eq!(free(&mut pipeline, 108), 108);
}

#[test]
fn reads_follow_a_line_that_comes_at_half_their_pace() {
    let mut pipeline = Pipeline::new(8);
    pipeline.mark_line(100);
    // Each bank is in use for two cycles.
    assert_eq!(pipeline.take((0, 4), true, 0, 100), (102, 108, 109));
}

#[test]
fn writes_wait_for_what_uses_their_banks_later_than_they_came() {
    let mut pipeline = Pipeline::new(8);
    let (first, _, end) = pipeline.take((0, 4), false, 0xf, 100);
    assert_eq!((first, end), (100, 104));
    // A victim is read from cycle 102 on: bank 0 in the first two cycles.
    assert_eq!(pipeline.follow(102), 104);
    pipeline.mark_line(102);
    // The first beat is written in cycle 104, not 103, and all wait; each of the
    // others then finds the victim at its bank, too, but the first stage is empty.
    assert_eq!(free(&mut pipeline, end), 105);
    assert_eq!(pipeline.take((0, 1), true, 0, 105).0, 107);
}

#[test]
fn whatever_is_asked_in_between_the_pipeline_is_free_at_the_same_time() {
    for start in 90..112 {
        let run = |asked: &[u64]| {
            let mut pipeline = Pipeline::new(8);
            pipeline.mark_line(start);
            let (_, _, end) = pipeline.take((0, 4), true, 0xf, 100);
            for at in asked {
                pipeline.follow(*at);
            }
            free(&mut pipeline, end.max(asked.last().copied().unwrap_or(0)))
        };
        assert_eq!(run(&[]), run(&[101, 102, 104]), "{start}");
    }
}
