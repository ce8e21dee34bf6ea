//! Rows that pass the array.

use autocomp_gemmini::inside::{ACCUMULATOR, Operation, Progress, Stream, ZEROS, pace};
use proptest::prelude::*;

fn stream() -> impl Strategy<Value = Stream> {
    let parts = (
        any::<bool>(),
        prop::bool::weighted(0.2),
        0u8..2,
        0u8..9,
        0u8..9,
    );
    parts.prop_map(|(reads, accumulator, bank, from, to)| Stream {
        source: match (reads, accumulator) {
            (false, _) => ZEROS,
            (true, false) => bank,
            (true, true) => ACCUMULATOR,
        },
        from,
        to,
        fired: 0,
    })
}

/// Takes rows for 64 cycles, looked at after each of the given stretches.
fn take(streams: [Stream; 3], busy: [u64; 2], stretches: &[u64]) -> (Operation, Progress) {
    let mut operation = Operation::default();
    operation.streams = streams;
    operation.rows = 8;
    operation.pace = pace(&streams);
    let mut all = Progress {
        cycles: 0,
        reads: [0; 3],
        completed: 0,
    };
    for stretch in stretches.iter().copied().chain([64]) {
        let span = stretch.min(64 - all.cycles);
        if span == 0 || operation.complete == operation.rows {
            break;
        }
        let blocked = streams.map(|stream| busy[stream.bank() % 2] >> all.cycles);
        let progress = operation.take_rows(span, blocked);
        for (place, reads) in progress.reads.into_iter().enumerate() {
            all.reads[place] |= reads << all.cycles;
        }
        all.completed |= progress.completed << all.cycles;
        all.cycles += progress.cycles;
    }
    (operation, all)
}

proptest! {
    #[test]
    fn it_makes_no_difference_how_often_rows_are_looked_at(
        streams in [stream(), stream(), stream()],
        busy in [any::<u64>(), any::<u64>()],
        busy_too in [any::<u64>(), any::<u64>()],
        stretches in prop::collection::vec(1u64..9, 0..20),
    ) {
        let busy = [busy[0] & busy_too[0], busy[1] & busy_too[1]];
        let (once, at_once) = take(streams, busy, &[]);
        for stretches in [stretches, vec![1; 64]] {
            let (often, by_and_by) = take(streams, busy, &stretches);
            prop_assert_eq!(once.complete, often.complete);
            prop_assert_eq!(once.streams.map(|s| s.fired), often.streams.map(|s| s.fired));
            prop_assert_eq!(at_once.cycles, by_and_by.cycles);
            prop_assert_eq!(at_once.reads, by_and_by.reads);
            prop_assert_eq!(at_once.completed, by_and_by.completed);
        }
    }

    #[test]
    fn no_bank_gives_two_rows_or_one_in_a_cycle_in_which_it_is_busy(
        streams in [stream(), stream(), stream()],
        busy in [any::<u64>(), any::<u64>()],
    ) {
        let (operation, progress) = take(streams, busy, &[]);
        let mut given = [0u64; 2];
        for (stream, reads) in operation.streams.iter().zip(progress.reads) {
            let bank = stream.bank() % 2;
            prop_assert_eq!(given[bank] & reads, 0);
            given[bank] |= reads;
            prop_assert_eq!(busy[bank] & reads, 0);
            if operation.complete == operation.rows && stream.needs_spad() {
                let rows = stream.to.min(8).saturating_sub(stream.from);
                prop_assert_eq!(reads.count_ones(), u32::from(rows));
            }
        }
        prop_assert_eq!(progress.completed.count_ones(), operation.complete);
    }
}
