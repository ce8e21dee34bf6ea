//! Sums by instruction.

use autocomp_bare_metal::PcSums;
use proptest::prelude::*;
use std::collections::HashMap;

proptest! {
    /// Against one entry per key; places collide often.
    #[test]
    fn sums_are_those_of_every_key(added in proptest::collection::vec((0_u64..8, any::<bool>(), 0_u64..9), 0..200)) {
        let (mut sums, mut expected) = (PcSums::default(), HashMap::new());
        for (number, far, amount) in added {
            let pc = number / 2 + if far { 1024 } else { 0 };
            sums.add((pc, number), pc, amount);
            *expected.entry((pc, number)).or_default() += amount;
        }
        let sums: HashMap<(u64, u64), u64> = sums.finish().into_iter().collect();
        prop_assert_eq!(sums, expected);
    }
}
