//! Kernels of every kind of built-in problem are read, and printed the same again.

use autocomp_catalog::Catalog;
use autocomp_gemmini_rewriter::{GemminiRewriter, HardwareLimits, Vocabulary};
use std::collections::BTreeSet;

/// Kernels that must be understood whole: those without scalar work of the
/// core and without calls that run whole blocks.
const WHOLE: &[&str] = &["gemm-", "conv3x3-", "resadd-"];

#[test]
fn kernels_of_every_problem_are_read() {
    let catalog = Catalog::built_in().expect("built-in data");
    let names: Vec<String> = catalog
        .problem_names()
        .filter(|name| name.starts_with("gemmini"))
        .map(str::to_owned)
        .collect();
    let mut count = 0;
    let mut seen = BTreeSet::new();
    for name in names {
        // One of each kind: reading the large ones takes long without optimization.
        let kind: String = name.chars().take_while(|c| !c.is_ascii_digit()).collect();
        if !seen.insert((kind, name.split('/').next().map(str::to_owned))) {
            continue;
        }
        let problem = catalog.problem(&name).expect("a problem");
        let target = problem.targets.first().expect("a target");
        let mut limits = HardwareLimits::gemmini_int8_16();
        let dim = target.rsplit('-').next().and_then(|dim| dim.parse().ok());
        limits.dim = dim.expect("targets end with the rows of the array");
        let mut vocabulary = Vocabulary::of(&limits);
        vocabulary.entry.clone_from(&problem.entry);
        vocabulary.signature.clone_from(&problem.signature);
        let rewriter = GemminiRewriter::new(limits).with_vocabulary(vocabulary);
        for (kernel, source) in &problem.kernels {
            count += 1;
            let place = format!("{kernel} of {name}");
            let (text, unread) = rewriter.normalised(source).expect("it is read");
            let (again, _) = rewriter.normalised(&text).expect("it is read again");
            assert_eq!(again, text, "{place} is not printed the same again");
            let short = name.rsplit('/').next().unwrap_or(&name);
            let plain = kernel == "baseline" || kernel == "software";
            if plain && WHOLE.iter().any(|prefix| short.starts_with(prefix)) {
                assert!(unread.is_empty(), "{place}: {unread:?}");
            }
        }
    }
    assert!(20 < count, "only {count} kernels");
}
