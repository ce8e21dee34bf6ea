//! Kernels of every kind of built-in problem are understood.

use crate::int8_16;
use autocomp_catalog::Catalog;
use autocomp_gemmini::Elements;
use autocomp_gemmini_rewriter::{GemminiRewriter, Vocabulary};
use std::collections::BTreeSet;

/// Kernels that are not understood: the start of their reasons.
const REFUSED: &[(&str, &str)] = &[
    (
        "tinympc-backward",
        "many results that are taken from the scratchpad",
    ),
    (
        "dwconv",
        "pixels side by side in a row that are not so in memory",
    ),
    (
        "dwconv",
        "the core reads or writes `diagonal` between commands",
    ),
];

#[test]
fn kernels_of_every_problem_are_understood() {
    let catalog = Catalog::built_in().expect("built-in data");
    let mut count = 0;
    let mut seen = BTreeSet::new();
    for name in catalog
        .problem_names()
        .filter(|it| it.starts_with("gemmini"))
    {
        // One of each kind: the large ones take long without optimization.
        let kind: String = name.chars().take_while(|c| !c.is_ascii_digit()).collect();
        if !seen.insert((kind, name.split('/').next().map(str::to_owned))) {
            continue;
        }
        let problem = catalog.problem(name).expect("a problem");
        let target = catalog.target(problem.targets.first().expect("a target"));
        let target = target.expect("a target of that name");
        let mut limits = int8_16();
        if target.name.contains("fp32") {
            limits.accelerator.dim = 4;
            limits.accelerator.elements = Elements::Float32;
            limits.accelerator.mesh_out_bits = 32;
            limits.accelerator.acc_banks = 1;
        } else if target.name.ends_with("32") {
            limits.accelerator.dim = 32;
        }
        let library = target.runtime["gemmini_tiled.h"].clone();
        let vocabulary = Vocabulary {
            entry: problem.entry.clone(),
            library: String::from_utf8(library).expect("text"),
        };
        let rewriter = GemminiRewriter::new(limits).with_vocabulary(vocabulary);
        for (kernel, source) in &problem.kernels {
            count += 1;
            if let Err(why) = rewriter.proposals(source) {
                let why = why.to_string();
                let mut refused = REFUSED.iter();
                let is_known = refused.any(|(of, text)| name.contains(of) && why.contains(text));
                assert!(is_known, "{kernel} of {name}: {why}");
            }
        }
    }
    assert!(20 < count, "only {count} kernels");
}
