//! Versions in addresses.

use autocomp_llm::inside::version_after;

#[test]
fn versions_are_found_in_names() {
    for (name, family, version) in [
        ("claude-opus-4-5-20251101", "claude-opus-", Some((4, 5))),
        ("claude-sonnet-5", "claude-sonnet-", Some((5, 0))),
        ("claude-sonnet-4-20250514", "claude-sonnet-", Some((4, 0))),
        ("gpt-5.6-mini", "gpt-", Some((5, 6))),
        ("gpt-4o", "gpt-", None),
        ("m", "gpt-", None),
    ] {
        assert_eq!(version_after(name, family), version, "{name}");
    }
}
