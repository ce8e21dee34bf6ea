//! Rings, against a queue.

use autocomp_riscv_machine::Ring;
use proptest::prelude::*;
use std::collections::VecDeque;

proptest! {
    #[test]
    fn behaves_as_a_queue(steps in prop::collection::vec((any::<bool>(), 0usize..3), 0..60)) {
        let mut ring = Ring::<usize, 4>::new(usize::MAX);
        let mut queue = VecDeque::new();
        for (number, (push, count)) in steps.into_iter().enumerate() {
            if push && queue.len() < 4 {
                if count == 2 {
                    let place = queue.partition_point(|other| other % 3 <= number % 3);
                    let sorted = queue.iter().is_sorted_by_key(|other| other % 3);
                    if sorted {
                        ring.insert_before(number, |other| other % 3 > number % 3);
                        queue.insert(place, number);
                    }
                } else {
                    ring.push_back(number);
                    queue.push_back(number);
                }
            } else {
                ring.drop_front(count);
                queue.drain(..count.min(queue.len()));
            }
            prop_assert_eq!(ring.len(), queue.len());
            prop_assert_eq!(ring.front(), queue.front());
            prop_assert_eq!(ring.back(), queue.back());
            prop_assert!(ring.iter().eq(&queue));
            for idx in 0..5 {
                prop_assert_eq!(ring.get(idx), queue.get(idx));
            }
        }
    }
}
