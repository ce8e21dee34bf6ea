//! Statements that deny what their passage says.

use autocomp_building::inside::{around, contradicts, plain};

#[test]
fn what_a_passage_denies_is_not_said() {
    let cases = [
        // Statement, sentence, whether they contradict each other.
        (
            "The unit supports transposition.",
            "The unit does not support transposition.",
            true,
        ),
        (
            "It does not support transposition.",
            "The unit supports transposition of tiles.",
            true,
        ),
        (
            "It doesn't support transposition.",
            "The unit does not support transposition.",
            false,
        ),
        (
            "The divider is pipelined.",
            "The divider is not pipelined.",
            true,
        ),
        (
            "The divider isn\u{2019}t pipelined.",
            "The divider is pipelined",
            true,
        ),
        (
            "The core has a branch predictor.",
            "The core has no branch predictor",
            true,
        ),
        (
            "Loads never wait for stores.",
            "Loads wait for stores.",
            true,
        ),
        (
            "Stores issue without stalls.",
            "Stores issue with stalls.",
            true,
        ),
        // The other word order.
        (
            "Transposition is supported.",
            "The unit does not support transposition.",
            true,
        ),
        (
            "Transposition isn't supported.",
            "The unit supports transposition of tiles.",
            true,
        ),
        (
            "The unit supports transposition.",
            "Transposition is not supported.",
            true,
        ),
        ("Loads are not blocked.", "Stores block loads.", true),
        (
            "Transposition is not supported.",
            "The unit does not support transposition.",
            false,
        ),
        (
            "The second version does not support strides.",
            "Strides are supported by `ldin2`.",
            false,
        ),
        (
            "Stores do not wait for loads.",
            "Loads wait for stores.",
            false,
        ),
        // Both are said of different things.
        (
            "The first version does not support strides.",
            "Strides are supported by `ldin2`, but not by `ldin3`.",
            false,
        ),
        (
            "`ldin` supports strides.",
            "ldin supports strides, ldout does not.",
            false,
        ),
        (
            "It supports bf16; it does not support fp64.",
            "It supports bf16. fp64 is left out.",
            false,
        ),
        // Other words for the same.
        (
            "Use two banks.",
            "Do not use one bank for both operands.",
            false,
        ),
        (
            "Loads of more than 16 rows are not allowed.",
            "A load moves no more than 16 rows.",
            false,
        ),
        (
            "Sizes that are not a multiple of 16 are refused.",
            "The size must be a multiple of 16.",
            false,
        ),
        (
            "A size not a multiple of 16 is illegal.",
            "The size must be a multiple of 16.",
            false,
        ),
        (
            "Only loads may set strides.",
            "Stores do not set strides.",
            false,
        ),
        (
            "Loads overlap with products.",
            "Loads overlap with products, but they do not overlap with each other.",
            false,
        ),
    ];
    for (statement, sentence, wanted) in cases {
        let found = contradicts(statement, &[sentence]);
        assert_eq!(found, wanted, "{statement} / {sentence}");
    }
}

#[test]
fn a_quotation_is_seen_in_its_sentence() {
    let text =
        plain("It is fast. The unit does not support transposition, as\nv1.0 did. So be it.");
    assert_eq!(
        around(&text, "support transposition"),
        Some("the unit does not support transposition, as v1.0 did")
    );
    assert_eq!(around(&text, "it is fast."), Some("it is fast."));
    assert_eq!(around(&text, "is slow"), None);
    let list = plain("- no strides\n- supports tiles\n- no masks");
    assert_eq!(around(&list, "supports tiles"), Some("supports tiles"));
}
