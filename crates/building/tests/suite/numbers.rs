//! Numbers of statements and of what they quote.

use autocomp_building::Citation;
use autocomp_building::inside::numbers_stand;

#[test]
fn numbers_are_those_that_are_quoted() {
    let cases = [
        // Statement, quotation, whether it stands.
        ("It has eight banks.", "eight banks of 32 KiB", true),
        ("It has 8 banks.", "eight banks of 32 KiB", true),
        ("It has 4 banks.", "eight banks of 32 KiB", false),
        ("It has sixteen banks.", "eight banks of 32 KiB", false),
        ("It has 2^9 banks.", "eight banks of 32 KiB", false),
        ("It has 2^3 banks.", "eight banks of 32 KiB", true),
        (
            "It has \u{ff16}\u{ff14} banks.",
            "eight banks of 32 KiB",
            false,
        ),
        ("Half (\u{bd}) is used.", "eight banks of 32 KiB", false),
        ("Banks have 32 MiB.", "eight banks of 32 KiB", false),
        ("Banks have 32 KiB.", "eight banks of 32KiB", true),
        ("Banks have 32 kib each.", "32 KiB", true),
        ("A bank has 32.", "32 KiB", true),
        ("It takes 5e3 cycles.", "5,000 cycles", true),
        ("It takes 5e3 cycles.", "500 cycles", false),
        ("It takes 18 ns.", "18 cycles", false),
        ("It takes 1 cycle, or 2.", "always the same", false),
        ("load takes 0 cycles.", "It takes 12 cycles.", false),
        ("It takes zero cycles.", "It takes 12 cycles.", false),
        (
            "It takes 2 cycles for each row.",
            "12 cycles for the first row and 1 cycle for each further one",
            false,
        ),
        (
            "It takes 1 cycle for each further row.",
            "12 cycles for the first row and 1 cycle for each further one",
            true,
        ),
        ("It has 2 banks.", "It has two banks.", true),
        ("Use 2 buffers.", "double buffering hides loads", true),
        ("It takes one cycle.", "It takes 12 cycles.", false),
        ("It has two banks.", "It has 12 banks.", false),
        ("Load one of them before the two.", "loads come first", true),
        ("Memory of 4294967296 bytes.", "2\u{b3}\u{b2} bytes", true),
        ("There are 8 bytes.", "2\u{b3}\u{b2} bytes", false),
        ("It has 65536 rows.", "2\u{b9}\u{2076} rows", true),
        ("It has 64 rows.", "sixty-four rows", true),
        ("It has 60 rows.", "sixty-four rows", false),
        ("It has 256 KiB in 4 banks.", "256 KiB in 4 banks", true),
        ("It has 4 KiB in 256 banks.", "256 KiB in 4 banks", false),
        ("It has 4 banks of 256 KiB.", "banks: 4 | size: 256", true),
        ("It takes 18 cycles.", "18 machine cycles, always", true),
        ("It takes 18 ns.", "18 machine cycles, always", false),
        ("It has 4 ports per cycle.", "4 ports", true),
        ("Of 8, this is one.", "8 KiB", true),
        ("Tiles of 16x16.", "a 16 by 16 tile", true),
        ("Use 0xFF for all.", "the value 0xff", true),
        ("The `i8x16` type of copy3.", "a type", true),
    ];
    for (text, quote, stands) in cases {
        let citation = Citation {
            id: "x".to_owned(),
            quote: quote.to_owned(),
        };
        assert_eq!(numbers_stand(text, &[citation]), stands, "{text} / {quote}");
    }
}
