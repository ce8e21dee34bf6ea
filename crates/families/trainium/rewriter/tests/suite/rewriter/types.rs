//! Types of products that data tells to be tolerated.

use std::collections::BTreeSet;

use autocomp_trainium_rewriter::{NkiRewriter, Trial};
use autocomp_trainium_sim::{Array, parse_inputs};

use super::first::KERNELS;
use super::{HEAD, with_tolerance};

/// Results of sums of 256 products of normal numbers, off by less than `absolute`.
fn within(absolute: f32) -> impl Fn(&[Array], &[Array]) -> bool {
    move |found, right| {
        let found = found.iter().flat_map(|it| &it.data);
        let mut pairs = found.zip(right.iter().flat_map(|it| &it.data));
        pairs.all(|(found, right)| (found - right).abs() <= absolute)
    }
}

/// The product, its inputs, and a rewriter for it with a relative tolerance and a trial of `kernel`.
pub(super) fn product(relative: f64, absolute: f32, kernel: Option<&str>) -> (String, NkiRewriter) {
    let (_, inputs, body) = KERNELS.iter().find(|it| it.0 == "product").unwrap();
    let source = format!("{HEAD}{body}");
    let draw = || vec![parse_inputs(inputs, Some(3)).unwrap()];
    let kernel = kernel.unwrap_or(&source).to_owned();
    let trial = Trial::new(kernel, draw, within(absolute));
    (source, with_tolerance(inputs, relative).with_trial(trial))
}

/// The narrow types that are proposed: whether bfloat16 and tfloat32 are in a draft.
fn offered((source, rewriter): (String, NkiRewriter)) -> BTreeSet<[bool; 2]> {
    let found = rewriter.single_changes(&source).unwrap();
    let found = found.into_iter().filter(|it| it.0.starts_with("narrow"));
    let types = found.map(|it| ["bfloat16", "tfloat32"].map(|of| it.2.contains(of)));
    types.collect()
}

/// Data tells which types products may have where the relative tolerance does not: the first that
/// keeps the results of the given kernel within what is allowed.
#[test]
fn data_tells_which_types_of_products_are_tolerated() {
    assert_eq!(offered(product(0.0, 3e-1, None)), [[true, false]].into());
    assert_eq!(offered(product(0.0, 4e-2, None)), [[false, true]].into());
    assert_eq!(offered(product(0.0, 1e-4, None)), BTreeSet::new());
    // Parts are for those that tolerate no narrow product.
    let parts = |absolute| {
        let (source, rewriter) = product(1e-3, absolute, None);
        let found = rewriter.single_changes(&source).unwrap();
        found.iter().any(|it| it.0 == "split-products")
    };
    assert!(parts(1e-4) && !parts(4e-2));
}

/// A relative tolerance that a product of two rounded numbers keeps says nothing of sums that nearly
/// cancel out: what data refuses is not proposed.
#[test]
fn data_refuses_types_that_the_relative_tolerance_allows() {
    assert_eq!(offered(product(0.02, 4e-2, None)), [[false, true]].into());
    assert_eq!(offered(product(0.02, 1e-4, None)), BTreeSet::new());
    // Where nothing can be tried, the relative tolerance is all that there is.
    let not_tried = || Some("import neuronxcc.nki.language as nl\n");
    assert_eq!(
        offered(product(0.02, 1e-4, not_tried())),
        [[true, false]].into()
    );
    assert_eq!(offered(product(1e-3, 1e-4, not_tried())), BTreeSet::new());
}

/// What names its type is fused, summed and moved to other engines with that type.
#[test]
fn operations_keep_the_type_that_they_name() {
    let found = KERNELS.iter().find(|it| it.0 == "softmax of a narrow type");
    let (_, inputs, body) = found.unwrap();
    let source = format!("{HEAD}{body}");
    let changes = with_tolerance(inputs, 0.0).single_changes(&source).unwrap();
    for (kind, part) in [
        (
            "fuse-operations",
            "nisa.activation(op=nl.exp, data=tile, bias=(top) * -1.0, dtype=nl.bfloat16)",
        ),
        (
            "fuse-operations",
            "op0=nl.divide, operand0=total, op1=nl.multiply, operand1=nl.load(w), dtype=nl.float32)",
        ),
        (
            "fuse-operations",
            "nisa.activation_reduce(op=nl.square, data=tile, bias=(top) * -1.0, reduce_op=nl.add, reduce_res=squares)",
        ),
        (
            "choose-engine",
            "nisa.tensor_copy(src=powers, engine=nisa.scalar_engine, dtype=nl.float32)",
        ),
    ] {
        let has = |it: &(String, String, String)| it.0 == kind && it.2.contains(part);
        assert!(changes.iter().any(has), "{kind}: {part}");
    }
}
