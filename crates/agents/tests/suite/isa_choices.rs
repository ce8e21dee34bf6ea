//! Sections that were chosen.

use autocomp_agents::inside::parse_sections;

#[test]
fn sections_are_numbers_that_exist() {
    let parse = |text: &str| parse_sections(text, 5).map_err(|complaint| complaint.0);
    assert_eq!(parse("{\"sections\": [1, 5]}"), Ok(vec![1, 5]));
    let fenced = "Here:\n```json\n{\"sections\": [2]}\n```\n";
    assert_eq!(parse(fenced), Ok(vec![2]));
    for (text, complaint) in [
        ("all of them", "not the JSON"),
        ("{\"sections\": []}", "no section"),
        ("{\"sections\": [6]}", "no section 6"),
        ("{\"sections\": [0]}", "no section 0"),
        ("{\"sections\": [-1]}", "not the JSON"),
    ] {
        let error = parse(text).expect_err(text);
        assert!(error.contains(complaint), "{text}: {error}");
    }
}
