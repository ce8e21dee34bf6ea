//! Doubts about what is predicted.

use autocomp_riscv::inside::{Doubts, NEAR, WINDOW};

#[test]
fn frequent_mistakes_raise_doubts_once() {
    for (distance, expected) in [(NEAR - 1, 1), (NEAR, 0)] {
        let mut doubts = Doubts::new();
        let raised = (1..100).filter(|idx| doubts.are_raised(0x1002, NEAR + idx * distance));
        assert_eq!(raised.count(), expected, "every {distance} instructions");
    }
}

#[test]
fn doubts_are_over_where_mistakes_are_rare() {
    let mut doubts = Doubts::new();
    assert!(!doubts.are_over(WINDOW - 1, 0));
    assert!(!doubts.are_over(WINDOW, WINDOW / NEAR + 1));
    assert!(doubts.are_over(2 * WINDOW, 2 * WINDOW / NEAR + 1));
}
