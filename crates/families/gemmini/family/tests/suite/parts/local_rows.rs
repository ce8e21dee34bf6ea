//! Rows of the local memories.

use autocomp_gemmini_family::inside::summarize;

#[test]
fn parts_hold_averages_and_the_peak_is_exact() {
    // Two rows from 0 to 64, four more from 64 to 96.
    let changes = [(0, 2), (64, 4), (96, -4), (128, -2)];
    let found = summarize(&changes, 128);
    assert_eq!(found.peak, 6);
    assert_eq!(found.over_time.len(), 64);
    assert_eq!(
        [
            found.over_time[0],
            found.over_time[32],
            found.over_time[47],
            found.over_time[48]
        ],
        [2, 6, 6, 2]
    );
    assert_eq!(summarize(&[], 3).over_time, [0, 0, 0]);
}
