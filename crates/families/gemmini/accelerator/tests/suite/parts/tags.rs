//! Tags of operands.

use autocomp_gemmini::inside::{Operand, Tag, Tags};

fn tag(id: u64, entered: u64) -> Tag {
    Tag {
        id,
        dest: Operand::none(),
        stride: 0,
        pc: 0,
        slot: Some(7),
        entered,
        done: u64::MAX,
    }
}

#[test]
fn results_are_pending_from_the_cycle_after_they_enter_up_to_the_last_row() {
    let mut tags = Tags::new();
    tags.push(tag(5, 10));
    assert_eq!(
        [10, 11, 1000].map(|now| tags.are_pending(now)),
        [false, true, true]
    );
    assert_eq!(
        (tags.leave(4, 15), tags.leave(5, 20)),
        (None, Some(Some(7)))
    );
    assert_eq!(
        [11, 20, 21].map(|now| tags.are_pending(now)),
        [true, true, false]
    );
    tags.forget(20);
    assert!(tags.are_pending(20));
    tags.forget(21);
    assert!(!tags.are_pending(20));
}

#[test]
fn a_place_is_free_in_the_cycle_after_the_oldest_result_has_left() {
    let mut tags = Tags::new();
    for id in 0..3 {
        tags.push(tag(id, 10));
    }
    assert_eq!(tags.room(4, 30), 30);
    // When the oldest result leaves is not known yet, then it is.
    assert_eq!(tags.room(3, 30), 30);
    tags.leave(0, 40);
    assert_eq!([30, 40, 41].map(|at| tags.room(3, at)), [41, 41, 41]);
    assert_eq!(tags.room(4, 30), 30);
}
