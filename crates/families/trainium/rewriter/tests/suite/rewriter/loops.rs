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

/// Two iterations on 64 partitions each become one on 128, unless rows depend on each other.
#[test]
fn iterations_on_few_partitions_are_done_at_once() {
    let (_, inputs, body) = KERNELS.iter().find(|it| it.0 == "halves").unwrap();
    let offered = |body: &str| {
        let source = format!("{HEAD}{body}");
        outputs(&source, inputs).unwrap();
        let found = rewriter(inputs).single_changes(&source).unwrap();
        let found = found.into_iter().filter(|it| it.0 == "fill-partitions");
        found.map(|it| it.2).collect::<Vec<_>>()
    };
    let [filled] = &offered(body)[..] else {
        panic!("not one change");
    };
    for part in [
        "for j in nl.affine_range((n // 512) // 2):",
        "upper = nl.ndarray((nl.par_dim(128), 512), dtype=nl.float32, buffer=nl.sbuf)",
        "upper[part * 64:part * 64 + 64, :] = nl.load(x[0:half, nl.ds((j * 2 + part) * 512, 512)])",
        "nl.full((128, 1), 0.5, dtype=nl.float32)",
        "nl.store(y[0:half, nl.ds((j * 2 + part) * 512, 512)], turned[part * 64:part * 64 + 64, :])",
    ] {
        assert!(filled.contains(part), "{part} is not in\n{filled}");
    }
    // Rows by themselves.
    let rows = body.replace(
        "top = nl.load(s)",
        "top = nl.max(upper, axis=[1], keepdims=True)",
    );
    assert_ne!(&rows, body);
    let [largest] = &offered(&rows)[..] else {
        panic!("not one change");
    };
    let run = |body: &str| outputs(body, inputs).unwrap();
    assert_eq!(run(largest), run(&format!("{HEAD}{rows}")));
    // A number of the iteration, a tile of the loop around, and what comes from where it is stored.
    for other in [
        ("nl.subtract(upper, top)", "nl.subtract(upper, j * 1.0)"),
        ("top = nl.load(s)", "top = first"),
        ("nl.load(c[:, piece])", "nl.load(y[0:half, piece])"),
    ] {
        let changed = body.replace(other.0, other.1);
        assert_ne!(&changed, body);
        let changed = changed.replace("    for j", "    first = nl.load(s)\n    for j");
        assert_eq!(offered(&changed), Vec::<String>::new(), "{}", other.1);
    }
}
