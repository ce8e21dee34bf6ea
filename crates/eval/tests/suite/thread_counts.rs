//! Threads that are to spare.

use autocomp_eval::ThreadCount;

#[test]
fn spare_threads_are_those_that_nobody_keeps_busy() {
    let count = ThreadCount::new(2);
    let first = count.take();
    let spare = count.take_spare();
    assert!(spare.is_some() && count.take_spare().is_none());
    let second = count.take();
    drop(spare);
    assert!(count.take_spare().is_none(), "two evaluations are at work");
    drop((first, second));
    assert!(count.take_spare().is_some());
    let alone = ThreadCount::new(1);
    let _only = alone.take();
    assert!(alone.take_spare().is_none());
}
