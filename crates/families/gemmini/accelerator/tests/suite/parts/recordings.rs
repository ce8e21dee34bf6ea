//! Recordings that lie packed.

use autocomp_gemmini::inside::{operate, restart};
use autocomp_gemmini::timing::{RecordedOperation, Recording};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Rows, rows only preloaded, full cycles and all cycles by instruction.
type Sums = BTreeMap<(u64, u16, bool), [u32; 4]>;

/// Returns the gaps before operations, and sums.
fn summary(recording: &Recording) -> (Vec<(u64, u64)>, Sums) {
    let (mut gaps, mut sums, mut at) = (Vec::new(), BTreeMap::new(), 0);
    for it in &recording.operations {
        assert!(at <= it.start);
        if at < it.start {
            gaps.push((at, it.start));
        }
        at = it.end();
        let sum: &mut [u32; 4] = sums.entry((it.pc, it.pace, it.computes)).or_default();
        let parts = [it.rows, it.preload_rows, it.full, it.cycles];
        sum.iter_mut()
            .zip(parts)
            .for_each(|(sum, part)| *sum += part);
    }
    (gaps, sums)
}

proptest! {
    #[test]
    fn operations_that_are_joined_have_the_same_sums_and_gaps(
        made in proptest::collection::vec(((0_u64..12, 1_u16..3, any::<bool>()), 0_u64..6, 0_u32..9, 0_u32..9, 0_u32..5), 0..200),
    ) {
        let mut recordings = [true, false].map(|whole| {
            let mut recording = Recording::default();
            restart(&mut recording, 1000, whole);
            recording
        });
        let mut at = 0;
        for ((pc, pace, computes), gap, rows, preload, full) in made {
            let others = full / 4;
            let operation = RecordedOperation {
                pc,
                start: at + gap / 5,
                cycles: rows * u32::from(pace) + full + others,
                command: None,
                partner: None,
                full,
                rows,
                preload_rows: preload.min(rows),
                pace,
                computes,
            };
            at = operation.end();
            for recording in &mut recordings {
                operate(recording, operation);
            }
        }
        let [whole, joined] = recordings;
        prop_assert_eq!(summary(&joined), summary(&whole));
        // What is not all its own stays by itself.
        let held_up = |it: &&RecordedOperation| !it.is_alone();
        let [one, other] = [&whole, &joined].map(|it| it.operations.iter().filter(held_up).count());
        prop_assert_eq!(one, other);
    }
}

#[test]
fn two_instructions_in_turn_are_two_operations() {
    let mut recording = Recording::default();
    restart(&mut recording, 1000, false);
    for number in 0..100 {
        operate(
            &mut recording,
            RecordedOperation {
                pc: number % 2,
                start: 16 * number,
                cycles: 16,
                command: None,
                partner: None,
                full: 0,
                rows: 16,
                preload_rows: 0,
                pace: 1,
                computes: true,
            },
        );
    }
    let found = recording
        .operations
        .iter()
        .map(|it| (it.pc, it.start, it.cycles));
    assert_eq!(found.collect::<Vec<_>>(), [(0, 0, 800), (1, 800, 800)]);
}
