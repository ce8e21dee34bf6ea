//! Costs as text.

use autocomp_core::{Cost, Unit};

#[test]
fn exact_costs_are_numbers_and_others_objects() {
    let exact = serde_json::to_string(&Cost::cycles(5)).expect("plain data");
    assert_eq!(exact, "5");
    let measured = Cost::nanoseconds(70, 1200);
    let text = serde_json::to_string(&measured).expect("plain data");
    assert_eq!(text, r#"{"value":70,"unit":"ns","spread_ppm":1200}"#);
    for cost in [Cost::cycles(u64::MAX), measured] {
        let text = serde_json::to_string(&cost).expect("plain data");
        assert_eq!(serde_json::from_str::<Cost>(&text).expect("a cost"), cost);
    }
    assert!(serde_json::from_str::<Cost>("-1").is_err());
}

#[test]
fn a_cost_beats_another_only_beyond_the_spread_of_both() {
    assert!(Cost::cycles(99).beats(Cost::cycles(100)));
    assert!(!Cost::cycles(100).beats(Cost::cycles(100)));
    let of = |value| Cost::nanoseconds(value, 10_000);
    assert!(!of(99).beats(of(100)));
    assert!(of(97).beats(of(100)));
    assert!(Cost::MAX.unit == Unit::Cycles && of(1).beats(Cost::MAX));
}
