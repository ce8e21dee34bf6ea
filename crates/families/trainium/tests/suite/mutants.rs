//! Kernels that are right, changed in one place: nearly all of the changed ones must fail.

use crate::problems::{cache, open};
use autocomp_core::Outcome;

/// What is replaced by what; each place of a kernel where it stands makes a mutant.
const CHANGES: &[(&str, &str)] = &[
    ("nl.add(", "nl.subtract("),
    ("nl.multiply(", "nl.add("),
    ("nl.subtract(", "nl.add("),
    ("np.add", "np.maximum"),
    ("np.multiply", "np.add"),
    ("op=nl.add", "op=nl.subtract"),
    ("op=nl.multiply", "op=nl.add"),
    ("op0=nl.multiply", "op0=nl.subtract"),
    ("op1=nl.add", "op1=nl.multiply"),
    ("op=nl.maximum", "op=nl.minimum"),
    ("nl.max(", "nl.min("),
    ("nl.rsqrt", "nl.sqrt"),
    ("nl.exp", "nl.square"),
    ("nl.square", "nl.copy"),
    (" * 128", " * 64"),
    (" * 512", " * 256"),
    ("i * 128", "0"),
    ("j * 512", "0"),
    ("l * 128", "0"),
    ("+ 128", "+ 127"),
    ("(i + 1)", "(i + 2)"),
    ("(j + 1)", "(j + 2)"),
    ("// 128)", "// 256)"),
    ("// 512)", "// 1024)"),
    ("0:half", "half:d"),
    ("half:d", "0:half"),
    ("1.0 / columns", "2.0 / columns"),
    ("1:2]", "0:1]"),
    ("+= ", "= "),
    ("return y", "return x"),
];

/// Every how many of the mutants of a kernel one is tried.
const STRIDE: usize = 3;

fn mutants(source: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (from, to) in CHANGES {
        for (at, _) in source.match_indices(from) {
            let line = source[..at].lines().count();
            // Imports and comments change nothing.
            let text = source.lines().nth(line.saturating_sub(1)).unwrap_or("");
            if !text.trim_start().starts_with('#') && !text.starts_with("import") {
                let changed = format!("{}{to}{}", &source[..at], &source[at + from.len()..]);
                found.push((format!("line {line}: {from} -> {to}"), changed));
            }
        }
    }
    found
}

#[test]
fn nearly_all_mutants_fail() {
    let (mut count, mut alive) = (0, Vec::new());
    for name in [
        "rope",
        "rmsnorm",
        "rmsnorm-v2",
        "rope-v2",
        "conv1d",
        "gemm",
        "bmm",
        "adamw",
    ] {
        let (bench, problem) = open(&format!("trainium/{name}"), &cache());
        let source = problem.kernel("baseline").expect("kernel");
        for (place, changed) in mutants(source).into_iter().step_by(STRIDE) {
            let evaluation = bench.evaluate(&changed).expect("evaluated");
            assert_ne!(evaluation.outcome, Outcome::Fault, "{name}: {place}");
            count += 1;
            if evaluation.outcome == Outcome::Ok {
                alive.push(format!("{name}: {place}"));
            }
        }
    }
    assert!(40 <= count, "{count} mutants");
    assert!(
        alive.len() * 20 <= count,
        "{} of {count} mutants live: {alive:?}",
        alive.len()
    );
}
