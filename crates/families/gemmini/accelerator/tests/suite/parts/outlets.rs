//! What leaves the accumulator.

use autocomp_gemmini::InstructionSet;
use autocomp_gemmini::inside::{Host, Narrowing, clamp_i8, to_i8};
use proptest::prelude::*;

proptest! {
    #[test]
    fn every_host_narrows_tiles_alike(
        dim in prop::sample::select(vec![4usize, 8, 16, 32, 64]),
        shape in (1usize..=64, 1usize..=64),
        seed in any::<u32>(),
        magnitude in 0u32..32,
        relu: bool,
        scale in prop_oneof![Just(1.0f32), -2.0f32..2.0, any::<u32>().prop_map(f32::from_bits)],
    ) {
        let (rows, cols) = (shape.0.min(dim), shape.1);
        let mut state = seed | 1;
        let words: Vec<i32> = (0..(cols.div_ceil(dim) * dim + rows) * dim)
            .map(|_| {
                state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
                state as i32 >> magnitude
            })
            .collect();
        let floor = if relu { 0 } else { i32::MIN };
        let mut expected = Vec::new();
        for row in 0..rows {
            for col in 0..cols {
                let word = words[(col / dim * dim + row) * dim + col % dim].max(floor);
                expected.push(if scale == 1.0 {
                    clamp_i8(word) as u8
                } else {
                    to_i8(word as f32 * scale) as u8
                });
            }
        }
        for host in InstructionSet::available().into_iter().filter_map(Host::with) {
            let mut out = vec![0; rows * cols];
            Narrowing { floor, scale }.narrow_on(host, dim, cols, &words, &mut out);
            prop_assert_eq!(&out, &expected, "{:?}", host);
        }
    }
}
