//! Tiles of another size.

use super::first::KERNELS;
use super::{HEAD, outputs, rewriter};
use crate::difference::difference;

/// What other changes wrote in numbers follows a size that has a name.
#[test]
fn numbers_follow_the_size_that_they_stand_for() {
    let inputs = "x:f32[128,2048]";
    let source = format!(
        "FREE = 256


{HEAD}def solution(x):
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for j in nl.affine_range(x.shape[1] // FREE):
        tile = nl.load(x[0:128, nl.ds(j * FREE, FREE)])
        nl.store(y[0:128, nl.ds(j * FREE, FREE)], nl.exp(tile))
    return y
"
    );
    let right = outputs(&source, inputs).unwrap();
    let mut resized = 0;
    for (_, _, first) in rewriter(inputs).single_changes(&source).unwrap() {
        for (kind, sentence, text) in rewriter(inputs).single_changes(&first).unwrap() {
            if kind == "resize-tiles" {
                let off = difference(&outputs(&text, inputs).unwrap(), &right);
                assert!(off <= 1e-4, "{sentence} (off by {off})\n{text}");
                resized += 1;
            }
        }
    }
    assert!(2 < resized);
}

/// A loop within counts the pieces of wider tiles, too; a last column that would not follow keeps
/// tiles as they are.
#[test]
fn pieces_follow_the_size_of_tiles() {
    let (_, inputs, body) = KERNELS.iter().find(|it| it.0 == "tiles in pieces").unwrap();
    let changes = rewriter(inputs)
        .single_changes(&format!("{HEAD}{body}"))
        .unwrap();
    let resized: Vec<&str> = changes
        .iter()
        .filter(|it| it.0 == "resize-tiles")
        .map(|it| it.2.as_str())
        .collect();
    let offered = |text: &str| resized.iter().any(|it| it.contains(text));
    assert!(offered("range(2048 // 512)") && offered("range(512 // 512)"));
    assert!(!offered("0:2048") || offered("2047:2048"));
}

/// What is reduced for each piece by itself has pieces of one size; what goes on with the results of
/// all pieces does not depend on it.
#[test]
fn pieces_with_results_of_their_own_keep_their_size() {
    let resized = |name: &str| {
        let (_, inputs, body) = KERNELS.iter().find(|it| it.0 == name).unwrap();
        let source = format!("{HEAD}{body}");
        let found = rewriter(inputs).single_changes(&source).unwrap();
        found.iter().filter(|it| it.0 == "resize-tiles").count()
    };
    assert_eq!(resized("pieces with a largest each"), 0);
    assert_ne!(resized("pieces with a largest of all"), 0);
}
