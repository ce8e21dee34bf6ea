//! Inputs whose axes are permuted.

use autocomp_catalog::{Buffer, DataType, Role};
use autocomp_core::Seed;
use autocomp_eval::inputs::{permutation, permuted_buffer};
use proptest::prelude::*;

proptest! {
    #[test]
    fn elements_move_to_where_the_orders_say(
        shape in proptest::collection::vec(1_u64..6, 1..4),
        seed in any::<u64>(),
        which in proptest::collection::vec(any::<bool>(), 3),
    ) {
        let buffer = Buffer { name: "A".into(), dtype: DataType::Int32, shape: shape.clone(), role: Role::Input, alignment: 4, used: None };
        let content: Vec<u8> = (0..buffer.elements() as u32).flat_map(u32::to_le_bytes).collect();
        let orders: Vec<Option<Vec<u32>>> = shape.iter().enumerate()
            .map(|(d, n)| which[d].then(|| permutation(*n as usize, Seed(seed + d as u64)))).collect();
        let moved = permuted_buffer(&buffer, &content, |d| orders[d].as_deref());
        let linear = |index: &[usize]| index.iter().zip(&shape).fold(0, |at, (i, n)| at * *n as usize + i);
        for element in 0..buffer.elements() {
            let mut index = vec![0; shape.len()];
            let mut rest = element;
            for d in (0..shape.len()).rev() {
                index[d] = rest % shape[d] as usize;
                rest /= shape[d] as usize;
            }
            let from: Vec<usize> = index.iter().enumerate()
                .map(|(d, i)| orders[d].as_ref().map_or(*i, |order| order[*i] as usize)).collect();
            prop_assert_eq!(&moved[element * 4..][..4], &content[linear(&from) * 4..][..4]);
        }
    }
}
