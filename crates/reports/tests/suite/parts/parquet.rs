//! Bytes of a table.

use autocomp_reports::inside::{Kind, file};
use serde_json::json;
use std::fmt::Write as _;

/// The bytes of a small table, which `pyarrow` 26 reads as it is here.
#[test]
fn a_small_table() {
    let values = [
        json!("ä"),
        json!(null),
        json!("b"),
        json!(1),
        json!(null),
        json!(300),
        json!(0.5),
        json!(1.5),
        json!(null),
        json!(true),
        json!(false),
        json!(null),
    ];
    let of = |from: usize| values[from..from + 3].iter().collect();
    let columns = vec![
        ("text", Kind::Text, of(0)),
        ("integer", Kind::Integer, of(3)),
        ("number", Kind::Number, of(6)),
        ("yes_no", Kind::YesNo, of(9)),
    ];
    let bytes = file(columns, 3);
    let mut text = String::new();
    for line in bytes.chunks(16) {
        for byte in line {
            write!(text, "{byte:02x} ").unwrap();
        }
        let shown = line.iter().map(|it| match it {
            0x20..=0x7e => char::from(*it),
            _ => '.',
        });
        writeln!(text, " {}", shown.collect::<String>()).unwrap();
    }
    insta::assert_snapshot!(text.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
}
