//! What the rewriter gains without a model, problem by problem: `gains EVALUATIONS FOLDER PROBLEM…`.
//!
//! A beam of three climbs with every verdict the evaluator's; it ends after so many evaluations, or
//! when two rounds gained less than half a percent. Prints one row for each problem: microseconds
//! of the baseline and of the best kernel, gain, evaluations, and drafts that were not right; the
//! best kernels are written to the folder.

#[path = "../../rewriter/examples/climb/mod.rs"]
mod climb;
#[path = "../tests/suite/opening.rs"]
mod opening;

use std::io::Write as _;

use autocomp_catalog::Catalog;
use autocomp_core::Outcome;
use autocomp_eval::Family as _;
use autocomp_trainium_family::Trainium;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: gains EVALUATIONS FOLDER PROBLEM…";
    let most: usize = arguments.next().ok_or(usage)?.parse()?;
    let folder = std::path::PathBuf::from(arguments.next().ok_or(usage)?);
    std::fs::create_dir_all(&folder)?;
    let cache = std::path::Path::new(&std::env::var("HOME")?).join(".cache/autocomp");
    let mut out = std::io::stdout().lock();
    for name in arguments {
        let catalog = Catalog::built_in()?;
        let problem = catalog.problem(&name)?;
        let target = catalog.target(&problem.targets[0])?;
        let machine = target.default_machine.clone();
        let bench = opening::open(&problem, &target, cache.clone(), 1, 1)?;
        let rewriter = Trainium.rewriter(&problem, &target, &machine)?;
        let rewriter = rewriter.ok_or("the family has a rewriter")?;
        let source = problem.kernel("baseline")?.to_owned();
        let first = bench
            .evaluate(&source)?
            .cost()
            .ok_or("the baseline is right")?
            .value as f64;
        let found = climb::climb(&*rewriter, &target.menu, &source, first, most, |draft| {
            bench.evaluate(draft).map(|found| {
                let cost = found.cost().filter(|_| found.outcome == Outcome::Ok);
                let why = found.diagnostics.first().map(|it| it.code.clone());
                cost.map(|it| it.value as f64)
                    .ok_or_else(|| why.unwrap_or_default())
            })
        })?;
        std::fs::write(folder.join(name.replace('/', "-") + ".py"), &found.text)?;
        writeln!(out, "{}", found.row(&name))?;
        out.flush()?;
    }
    Ok(())
}
