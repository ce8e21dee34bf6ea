//! Types of products that data tells to be tolerated.

use std::collections::BTreeSet;

use autocomp_trainium_rewriter::Trial;
use autocomp_trainium_sim::parse_inputs;

use super::first::KERNELS;
use super::{HEAD, with_tolerance};

/// Data tells which types products may have where the relative tolerance does not: the first that
/// keeps the results of the given kernel within three quarters of what is allowed.
#[test]
fn data_tells_which_types_of_products_are_tolerated() {
    let (_, inputs, body) = KERNELS.iter().find(|it| it.0 == "product").unwrap();
    let source = format!("{HEAD}{body}");
    let offered = |absolute| {
        let draw = || vec![parse_inputs(inputs, Some(3)).unwrap()];
        let trial = Trial::new(source.clone(), draw, 0.0, absolute);
        let rewriter = with_tolerance(inputs, 0.0).with_trial(trial);
        let found = rewriter.single_changes(&source).unwrap();
        let found = found.into_iter().filter(|it| it.0.starts_with("narrow"));
        let types = found.map(|it| ["bfloat16", "tfloat32"].map(|of| it.2.contains(of)));
        types.collect::<BTreeSet<_>>()
    };
    // Sums of 256 products of normal numbers.
    assert_eq!(offered(4e-1), BTreeSet::from([[true, false]]));
    assert_eq!(offered(5e-2), BTreeSet::from([[false, true]]));
    assert_eq!(offered(1e-4), BTreeSet::new());
    // Parts are for those that tolerate no narrow product.
    let parts = |absolute| {
        let draw = || vec![parse_inputs(inputs, Some(3)).unwrap()];
        let trial = Trial::new(source.clone(), draw, 0.0, absolute);
        let rewriter = with_tolerance(inputs, 1e-3).with_trial(trial);
        let found = rewriter.single_changes(&source).unwrap();
        found.iter().any(|it| it.0 == "split-products")
    };
    assert!(parts(1e-4) && !parts(5e-2));
}
