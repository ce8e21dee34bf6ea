//! Fields of CSV.

use autocomp_reports::inside::field;

#[test]
fn fields_are_quoted_and_no_formulas() {
    assert_eq!(field("a,\"b\"\nc"), "\"a,\"\"b\"\"\nc\"");
    assert_eq!(field("=HYPERLINK(1)"), "'=HYPERLINK(1)");
    assert_eq!(field("double-buffer"), "double-buffer");
}
