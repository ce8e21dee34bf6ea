//! What the rewriter gains without a model, problem by problem: `gains EVALUATIONS FOLDER PROBLEM…`.
//!
//! A beam of three climbs with every verdict the evaluator's; it ends after so many evaluations, or
//! when two rounds gained less than half a percent. Prints one row for each problem: microseconds
//! of the baseline and of the best kernel, gain, evaluations, and drafts that were not right; the
//! best kernels are written to the folder.

#[path = "../tests/suite/opening.rs"]
mod opening;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;

use autocomp_catalog::Catalog;
use autocomp_core::{Outcome, PlanChoice};
use autocomp_eval::Family as _;
use autocomp_trainium::Trainium;

/// Kernels that each round goes on from, plans for each of them and drafts of each plan.
const BEAM: usize = 3;
const PLANS: u32 = 5;
const DRAFTS: u32 = 2;

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
        let mut beam = vec![(first, source.clone(), String::new())];
        let mut seen = BTreeSet::from([source]);
        let (mut evaluations, mut round, mut idle) = (0, 0, 0);
        let mut wrong: BTreeMap<String, usize> = BTreeMap::new();
        while evaluations < most && idle < 2 {
            round += 1;
            let before = beam[0].0;
            for (place, (_, text, how)) in beam.clone().iter().enumerate() {
                for plan in 0..PLANS {
                    let choice = PlanChoice {
                        menu: &target.menu,
                        iteration: round,
                        place: place as u32,
                        plan,
                    };
                    let Ok(plan) = rewriter.plan(text, choice) else {
                        break;
                    };
                    for draft in 0..DRAFTS {
                        let Ok(draft) = rewriter.implement(text, &plan.payload, draft) else {
                            break;
                        };
                        if most <= evaluations || !seen.insert(draft.clone()) {
                            continue;
                        }
                        evaluations += 1;
                        let found = bench.evaluate(&draft)?;
                        match found.cost().filter(|_| found.outcome == Outcome::Ok) {
                            Some(cost) => {
                                beam.push((
                                    cost.value as f64,
                                    draft,
                                    format!("{how} {}", plan.text),
                                ));
                            }
                            None => {
                                let why = found.diagnostics.first();
                                let why = why.map_or(String::new(), |it| it.code.clone());
                                *wrong.entry(why).or_default() += 1;
                            }
                        }
                    }
                }
            }
            beam.sort_by(|a, b| a.0.total_cmp(&b.0));
            beam.truncate(BEAM);
            idle = if beam[0].0 < before * 0.995 {
                0
            } else {
                idle + 1
            };
        }
        let (best, text, how) = &beam[0];
        std::fs::write(folder.join(name.replace('/', "-") + ".py"), text)?;
        writeln!(
            out,
            "| `{name}` | {:.1} | {:.1} | {:.2}x | {evaluations} | {wrong:?} |\n<!--{how} -->",
            first / 1e3,
            best / 1e3,
            first / best
        )?;
        out.flush()?;
    }
    Ok(())
}
