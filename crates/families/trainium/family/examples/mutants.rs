//! How many kernels with one place changed are told from right ones: `mutants SEED EACH PROBLEM…`.
//!
//! Of every problem's plain and tuned kernels `EACH` mutants are drawn, each is judged by the
//! evaluator on all input sets, and counts by kind and outcome are printed; then every one that
//! passed, for a reader to see whether it is equivalent. Without names all problems are taken.

#[path = "../tests/suite/mutations.rs"]
mod mutations;
#[path = "../tests/suite/opening.rs"]
mod opening;

use std::collections::BTreeMap;
use std::io::Write as _;

use autocomp_catalog::Catalog;
use autocomp_core::{Outcome, Seed};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let usage = "usage: mutants SEED EACH PROBLEM…";
    let mut arguments = std::env::args().skip(1);
    let seed: u64 = arguments.next().ok_or(usage)?.parse()?;
    let each: usize = arguments.next().ok_or(usage)?.parse()?;
    let catalog = Catalog::built_in()?;
    let mut names: Vec<String> = arguments.collect();
    if names.is_empty() {
        let all = catalog.problem_names();
        let own = all.filter(|name| name.starts_with("trainium/"));
        names = own.map(str::to_owned).collect();
    }
    let cache = std::path::Path::new(&std::env::var("HOME")?).join(".cache/autocomp");
    let mut counts: BTreeMap<&str, BTreeMap<&str, u32>> = BTreeMap::new();
    let (mut alive, mut kernels) = (Vec::new(), 0);
    for name in names {
        let problem = catalog.problem(&name)?;
        let target = catalog.target(&problem.targets[0])?;
        let bench = opening::open(&problem, &target, cache.clone(), seed, 1)?;
        for kernel in ["baseline", "tuned"] {
            let Ok(source) = problem.kernel(kernel) else {
                continue;
            };
            kernels += 1;
            let mut all = mutations::mutants(source);
            let mut random = Seed(seed).derive(&format!("{name} {kernel}")).0;
            for _ in 0..each.min(all.len()) {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let mutant = all.swap_remove((random % all.len() as u64) as usize);
                let outcome = bench.evaluate(&mutant.source)?.outcome;
                let how = outcome.name();
                *counts
                    .entry(mutant.kind)
                    .or_default()
                    .entry(how)
                    .or_default() += 1;
                if matches!(outcome, Outcome::Ok | Outcome::Fault) {
                    alive.push(format!(
                        "{how}: {name} {kernel}, {}, {}",
                        mutant.kind, mutant.place
                    ));
                }
            }
        }
    }
    let mut out = std::io::stdout().lock();
    let mut total = 0;
    for (kind, ends) in &counts {
        total += ends.values().sum::<u32>();
        writeln!(out, "{kind:<18} {ends:?}")?;
    }
    for one in &alive {
        writeln!(out, "{one}")?;
    }
    writeln!(
        out,
        "{total} mutants of {kernels} kernels, {} told from right ones",
        total as usize - alive.len()
    )?;
    Ok(())
}
