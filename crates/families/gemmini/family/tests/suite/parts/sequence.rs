//! Spans in order.

use autocomp_gemmini::timing::RecordedSpan;
use autocomp_gemmini_family::inside::{Cover, Forward, covered, joined, without};
use proptest::prelude::*;

/// Returns whether one of disjoint spans in order covers a cycle.
fn covers(spans: &[RecordedSpan], at: u64) -> bool {
    matches!(Forward::new(spans).covering(at), Cover::Within(_))
}

fn cycles(spans: &[RecordedSpan]) -> Vec<u64> {
    (0..200).filter(|cycle| covers(spans, *cycle)).collect()
}

proptest! {
    #[test]
    fn spans_are_taken_away_and_added_up_cycle_by_cycle(
        one in proptest::collection::vec((0_u64..150, 0_u64..30), 0..12),
        other in proptest::collection::vec((0_u64..150, 0_u64..30), 0..12),
        windows in proptest::collection::vec((0_u64..20, 0_u64..20), 0..12),
    ) {
        let spans = |some: &[(u64, u64)]| -> Vec<(u64, u64)> {
            some.iter().map(|(start, len)| (*start, start + len)).collect()
        };
        let (raw, one) = (spans(&one), joined(spans(&one).into_iter()));
        let other = joined(spans(&other).into_iter());
        let left = without(&one, &other);
        let expected: Vec<u64> = cycles(&one).into_iter().filter(|at| !cycles(&other).contains(at)).collect();
        prop_assert_eq!(cycles(&left), expected);
        prop_assert!(left.windows(2).all(|two| two[0].end <= two[1].start));
        let mut sorted = raw.clone();
        sorted.sort_unstable();
        for raw in [raw, sorted] {
            let sum = cycles(&one).iter().filter(|at| (20..90).contains(*at)).count();
            prop_assert_eq!(covered(raw.into_iter(), 20, 90), sum as u64);
        }
        let (mut at, mut forward) = (0, Forward::new(&one));
        for (gap, len) in windows {
            at += gap;
            let overlap = (at..at + len).filter(|cycle| covers(&one, *cycle)).count();
            prop_assert_eq!(forward.within(at, at + len), overlap as u64);
            at += len / 2;
        }
    }
}
