//! Seeds and what is derived of them.

use autocomp_core::Seed;

#[test]
fn derived_streams_differ_by_label_and_seed() {
    assert_ne!(Seed(1).derive("a"), Seed(1).derive("b"));
    assert_ne!(Seed(1).derive("a"), Seed(2).derive("a"));
    assert_eq!(Seed(1).derive("a"), Seed(1).derive("a"));
}

#[test]
fn below_stays_in_range_and_reaches_every_index() {
    let mut seed = Seed(7);
    let mut seen = [false; 5];
    for _ in 0..200 {
        seen[seed.below(5)] = true;
    }
    assert_eq!(seen, [true; 5]);
}
