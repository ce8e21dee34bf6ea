//! Texts of others on a terminal.

use autocomp::inside::{BOLD, harmless, harmless_json, is_command};

#[test]
fn what_others_wrote_commands_no_terminal() {
    let hostile = "a\x1b[2J\x1b]0;title\x07b\rc\u{9b}1m\u{7f}\u{202e}d\n\te\u{301}ß";
    let shown = "a\\x1b[2J\\x1b]0;title\\x07b\\x0dc\\x9b1m\\x7f\\u{202e}d\n\te\u{301}ß";
    assert_eq!(harmless(hostile, false), shown);
    assert_eq!(harmless(hostile, true), shown);
    let bold = format!("{}\x1b[8mhidden", BOLD.paint("heading", true));
    assert_eq!(harmless(&bold, true), bold.replace("\x1b[8m", "\\x1b[8m"));
    assert!(!harmless(&bold, false).contains('\x1b'));
}

#[test]
fn json_means_the_same() {
    let text = "a\x1b\u{9b}\u{7f}\u{2066}\"\\ß";
    let json = serde_json::to_string_pretty(&[text]).unwrap();
    let harmless = harmless_json(&json);
    assert!(!harmless.chars().any(is_command), "{harmless}");
    let back: Vec<String> = serde_json::from_str(&harmless).unwrap();
    assert_eq!(back, [text]);
}
