//! Calendars, against a list.

use autocomp_gemmini::inside::Calendar;
use proptest::prelude::*;
use std::collections::BTreeSet;

proptest! {
    #[test]
    fn behaves_as_a_set(ranges in prop::collection::vec((0u64..300, 1u64..100), 1..20), base in 0u64..100_000) {
        let mut calendar = Calendar::new();
        let mut set = BTreeSet::new();
        for (start, len) in ranges {
            for at in base + start..base + start + len {
                calendar.mark(at);
                set.insert(at);
            }
        }
        for at in base..base + 420 {
            prop_assert_eq!(calendar.is_marked(at), set.contains(&at));
            let window = (0..64).filter(|bit| set.contains(&(at + bit)));
            let window = window.fold(0u64, |bits, bit| bits | 1 << bit);
            prop_assert_eq!(calendar.window(at), window);
            let mut copy = Calendar::new();
            copy.mark_window(at, window);
            prop_assert_eq!(copy.window(at), window);
            let free = (at..).find(|c| !set.contains(c)).unwrap();
            prop_assert_eq!(calendar.first_free(at), free);
        }
    }
}
