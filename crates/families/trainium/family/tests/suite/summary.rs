//! What the profiler of an instance prints.

use autocomp_trainium_family::inside::parse;

#[test]
fn summaries_are_read_and_others_refused() {
    let good =
        "notice\n{\"n0\": {\"total_time\": 0.000123, \"hbm_read_bytes\": 4096, \"name\": \"x\"}}\n";
    let summary = parse(good).expect("summary");
    assert_eq!(summary.total_ns, 123_000);
    assert_eq!(summary.counters.get("hbm_read_bytes"), Some(&4096.0));
    for bad in [
        "",
        "{}",
        "{\"n0\": 3}",
        "{\"n0\": {}}",
        "{\"n0\": {\"total_time\": 0}}",
        "{\"n0\": {\"total_time\": \"1\"}}",
        "{oops",
    ] {
        assert!(parse(bad).is_err(), "{bad}");
    }
}
