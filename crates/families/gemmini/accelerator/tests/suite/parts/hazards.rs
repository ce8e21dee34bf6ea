//! Results that are still in flight.

use autocomp_gemmini::inside::ResultsInFlight;

#[test]
fn only_partial_overlaps_in_flight_are_found() {
    let mut results = ResultsInFlight::new(16);
    results.fire(16, Some((100, 116)), 7);
    assert_eq!(results.overlapped_by(100, 116), None, "exact start waits");
    assert_eq!(results.overlapped_by(108, 124), Some((7, 100, 116)));
    assert_eq!(results.overlapped_by(116, 132), None, "no overlap");
    results.fire(16, None, 8);
    results.fire(16, None, 9);
    assert!(
        results.overlapped_by(108, 124).is_some(),
        "32 of 38 cycles have passed"
    );
    results.fire(16, None, 10);
    assert_eq!(results.overlapped_by(108, 124), None, "the result has left");
}
