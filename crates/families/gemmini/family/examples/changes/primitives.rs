//! How far does each primitive carry alone?

use crate::workbench::{Drafts, Workbench, suites};
use autocomp_eval::Evaluator;
use std::collections::BTreeMap;

/// Uses of a primitive that are tried on a kernel, those first that the rewriter likes best.
const USES: usize = 4;

/// What a primitive has done.
#[derive(Default)]
struct Carried {
    /// Kernels that it applies to, and that it makes faster.
    applies: u32,
    helps: u32,
    /// The greatest speedup, and where.
    best: f64,
    problem: String,
    /// Sum of the logarithms of the speedups by the best use on each kernel, at least 1.
    logarithms: f64,
}

/// Prints the table, and which drafts were wrong.
pub fn report(parts: &[String]) {
    let mut carried: BTreeMap<String, Carried> = BTreeMap::new();
    let (mut kernels, mut drafts) = (0, Drafts::default());
    for suite in suites(parts) {
        for problem in &suite.problems {
            let bench = Workbench::open(problem);
            let Ok(source) = bench.problem.kernel("baseline") else {
                continue;
            };
            kernels += 1;
            let before = bench.evaluator.evaluate(source).unwrap();
            let before = before.cost().expect("a right baseline").value;
            let mut best: BTreeMap<String, (usize, f64)> = BTreeMap::new();
            for family in bench.families(source) {
                let [step] = family.variants[0].steps.as_slice() else {
                    continue;
                };
                let name = step.transformation.clone();
                let (uses, speedup) = best.get(&name).copied().unwrap_or_default();
                if USES <= uses {
                    continue;
                }
                let Some(evaluation) = bench.tried(source, &family.variants[0].steps) else {
                    continue;
                };
                let cycles = drafts.count(&evaluation);
                let now: f64 = cycles.map_or(0.0, |cycles| before as f64 / cycles as f64);
                best.insert(name, (uses + 1, now.max(speedup)));
            }
            for (name, (_, speedup)) in best {
                let carried = carried.entry(name).or_default();
                carried.applies += 1;
                carried.helps += u32::from(1.005 < speedup);
                carried.logarithms += speedup.max(1.0).ln();
                if carried.best < speedup {
                    carried.best = speedup;
                    carried.problem.clone_from(problem);
                }
            }
        }
    }
    println!("{kernels} baselines, {USES} uses of each primitive on each at most\n");
    println!("| primitive | applies to | helps | mean | most | there |");
    println!("| --- | ---: | ---: | ---: | ---: | --- |");
    let mut rows: Vec<_> = carried.into_iter().collect();
    rows.sort_by(|(_, a), (_, b)| b.logarithms.total_cmp(&a.logarithms));
    for (name, it) in rows {
        println!(
            "| {name} | {} | {} | {:.2}x | {:.2}x | {} |",
            it.applies,
            it.helps,
            (it.logarithms / f64::from(it.applies)).exp(),
            it.best,
            it.problem,
        );
    }
    drafts.print();
}
