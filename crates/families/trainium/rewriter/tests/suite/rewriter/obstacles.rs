//! What is told of kernels for which nothing faster was found.

use autocomp_core::Rewriter as _;

use super::types::product;
use super::{HEAD, outputs, rewriter};

/// The engine that sets the pace, its lines and what was tried at them.
#[test]
fn what_sets_the_pace_is_told_line_by_line() {
    let inputs = "x:f32[1024,512]";
    let source = format!(
        "{HEAD}def solution(x):
    y = nl.ndarray((1024, 1), dtype=nl.uint32, buffer=nl.shared_hbm)
    for i in nl.affine_range(8):
        tile = nl.load(x[i * 128:(i + 1) * 128, :])
        top = nisa.max8(src=tile)
        at = nisa.nc_find_index8(data=tile, vals=top)
        nl.store(y[i * 128:(i + 1) * 128, :], at[:, 0:1])
    return y
"
    );
    outputs(&source, inputs).unwrap();
    let told = rewriter(inputs).obstacles(&source);
    assert!(
        told[0].starts_with("the vector engine has most to do: of "),
        "{told:?}"
    );
    assert!(
        told[0].ends_with("only less of that work, or work that begins earlier on a part of what is loaded, would make the kernel faster"),
        "{told:?}"
    );
    for line in [
        "line 10 (`top = nisa.max8(src=tile)`) takes 4.1 us of the vector engine: no kind of change applies there",
        "line 11 (`at = nisa.nc_find_index8(data=tile, vals=top)`) takes 4.1 us",
    ] {
        assert!(told.iter().any(|it| it.starts_with(line)), "{told:?}");
    }
    assert_eq!(rewriter(inputs).obstacles("nothing"), Vec::<String>::new());
}

/// Kinds of changes that apply to a line are named, and so is what data refuses.
#[test]
fn what_was_tried_and_what_data_refuses_is_told() {
    let told = |absolute| {
        let (source, rewriter) = product(1e-3, absolute, None);
        rewriter.obstacles(&source)
    };
    let refused = told(1e-4);
    assert!(
        refused.iter().any(|it| it.contains("keep-resident (")),
        "{refused:?}"
    );
    assert!(
        refused
            .iter()
            .any(|it| it.starts_with("products keep their type")),
        "{refused:?}"
    );
    let tolerated = told(3e-1);
    assert!(
        !tolerated.iter().any(|it| it.starts_with("products keep")),
        "{tolerated:?}"
    );
}
