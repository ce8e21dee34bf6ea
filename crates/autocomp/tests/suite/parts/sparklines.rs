//! Small curves.

use autocomp::inside::sparkline;

#[test]
fn curves_go_down_as_costs_do() {
    assert_eq!(sparkline(&[800, 400, 200, 100], 10), "█▆▃▁");
    assert_eq!(sparkline(&[5, 5], 10), "▁▁");
    assert_eq!(
        sparkline(&(1..100).rev().collect::<Vec<_>>(), 12)
            .chars()
            .count(),
        12
    );
    assert_eq!(sparkline(&[], 10), "");
}
