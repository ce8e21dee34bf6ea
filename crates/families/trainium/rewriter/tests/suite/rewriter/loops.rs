//! Loops that are split, and those that go inside of others.

use super::first::KERNELS;
use super::{HEAD, outputs, rewriter};

/// Both loops of a nest are split at once, where the outer one holds nothing but numbers beside.
#[test]
fn loops_of_a_nest_are_split_together() {
    let found = KERNELS
        .iter()
        .find(|it| it.0 == "two products in two loops");
    let (_, inputs, body) = found.unwrap();
    let changes = rewriter(inputs).single_changes(&format!("{HEAD}{body}"));
    let together = changes
        .unwrap()
        .into_iter()
        .find(|it| it.1.contains("Split the loops `h`, `i` before line 14"));
    let text = together.unwrap().2;
    for part in [
        "powers_of_all = nl.ndarray((2, 2, nl.par_dim(128), 128)",
        "powers_of_all[h, i] = nl.exp(scores)",
        "nisa.nc_transpose(powers_of_all[h, i])",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert_eq!(text.matches("first = h * 256").count(), 2, "{text}");
}

/// Each piece of a scan goes on with the last column of the piece before.
#[test]
fn scans_go_on_from_piece_to_piece() {
    let (_, inputs, body) = KERNELS
        .iter()
        .find(|it| it.0 == "scans of wide tiles")
        .unwrap();
    let offered = |body: &str| {
        let source = format!("{HEAD}{body}");
        outputs(&source, inputs).unwrap();
        let found = rewriter(inputs).single_changes(&source).unwrap();
        let found = found.into_iter().filter(|it| it.0 == "columns-outside");
        found.map(|it| it.2).collect::<Vec<_>>()
    };
    let [pieces] = &offered(body)[..] else {
        panic!("not one change");
    };
    for part in [
        "for piece in nl.static_range(2):",
        "initial=last_of_state[0:128, s:s + 1]",
        "last_of_state[0:128, s:s + 1] = nl.copy(state[0:128, 511:512])",
    ] {
        assert!(pieces.contains(part), "{part} is not in\n{pieces}");
    }
    // What needs a whole row does not go by pieces, nor does a scan that starts elsewhere.
    let whole = body.replace("state, tile)\n", "state, nl.max(tile, axis=[1]))\n");
    assert_ne!(&whole, body);
    assert_eq!(offered(&whole), Vec::<String>::new());
    let later = body.replace("initial=0", "initial=1.0");
    assert_eq!(offered(&later), Vec::<String>::new());
}
