//! Numbers and tables as people read them.

use autocomp_eval::text::{clock, dollars, grouped, table, wrapped};
use std::time::Duration;

#[test]
fn numbers() {
    assert_eq!(
        [grouped(0), grouped(999), grouped(1_259_344)],
        ["0", "999", "1,259,344"]
    );
    assert_eq!(clock(Duration::from_secs(61)), "1:01");
    assert_eq!(clock(Duration::from_secs(3_600)), "1:00:00");
    assert_eq!(dollars(12_340_000), "$12.34");
}

#[test]
fn tables_and_paragraphs() {
    let rows = [
        vec!["a".to_owned(), "1".to_owned()],
        vec!["bcd".to_owned(), "22".to_owned()],
    ];
    assert_eq!(table(&rows, &[1]), "a     1\nbcd  22\n");
    assert_eq!(wrapped("one two three", 9, "  "), "  one two\n  three\n");
}
