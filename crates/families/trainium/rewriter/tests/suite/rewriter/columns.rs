//! Loops over columns of tiles, in the second dialect.

use super::{outputs, rewriter, second};
use crate::difference::difference;

/// Sums of columns that each iteration has of its own become sums of tiles, of both loops.
#[test]
fn columns_are_combined_at_once() {
    let (_, inputs, source) = second::KERNELS
        .iter()
        .find(|it| it.0 == "second by columns")
        .unwrap();
    let rewriter = rewriter(inputs);
    let mut text = rewriter.plain(source).unwrap();
    for around in ["for j in", "for i in"] {
        let changes = rewriter.single_changes(&text).unwrap();
        let changed = changes
            .into_iter()
            .find(|(kind, _, changed)| kind == "at-once" && !changed.contains(around));
        text = changed
            .unwrap_or_else(|| panic!("{around} stays in\n{text}"))
            .2;
    }
    let right = outputs(source, inputs).unwrap();
    let off = difference(&outputs(&text, inputs).unwrap(), &right);
    assert!(off <= 1e-6, "off by {off}\n{text}");
}
