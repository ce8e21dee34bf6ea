//! Lines of a terminal.

use autocomp::inside::{GOOD, Line, NAME};

#[test]
fn lines_are_cut_by_what_is_seen() {
    let line = Line::new()
        .styled(GOOD, "good")
        .plain(" and ")
        .styled(NAME, "name\x1b[2J");
    assert_eq!(line.text(80, false), "good and name\\x1b[2J");
    assert_eq!(line.text(6, false), "good …");
    assert_eq!(line.text(6, true), "\x1b[32mgood\x1b[0m …");
    assert_eq!(line.text(4, true), "\x1b[32mgoo\x1b[0m…");
}
