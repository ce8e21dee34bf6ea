//! All problems of the host in one table: the problem's kernels and what the
//! rewriter makes of the baseline in a few rounds without any search around it.
//!
//! `survey TARGET ROUNDS FOLDER [PROBLEM…]`; the best kernels go to the folder. For no
//! rounds the rewriter is left out. For a target of another architecture the kernels of the
//! problem and of the first plans are written only.
#![allow(clippy::print_stdout, reason = "it prints what it finds")]

use autocomp_catalog::{Catalog, Problem};
use autocomp_core::{MenuItem, PlanChoice, Rewriter, Seed};
use autocomp_eval::Surroundings;
use autocomp_host::bench::{HostBench, Settings, Tested, Timed, Timing};
use autocomp_host::detection::Processor;
use autocomp_host::machine::machine_of;
use autocomp_measuring::Effort;
use autocomp_nests::NestRewriter;
use autocomp_toolchain::find_toolchain;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Plans of one kernel that are tried in a round.
const PLANS: u32 = 5;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [target, rounds, folder, wanted @ ..] = arguments.as_slice() else {
        println!("give a target, a number of rounds and a folder");
        return Ok(());
    };
    std::fs::create_dir_all(folder)?;
    let cache_folder = std::env::var_os("AUTOCOMP_CACHE_DIR")
        .map_or_else(|| std::env::temp_dir().join("autocomp-host"), PathBuf::from);
    let search = Surroundings::installing(cache_folder.clone(), std::env::var_os("PATH"));
    let toolchain = find_toolchain(&search, &mut |line| println!("{line}"))?;
    let catalog = Catalog::built_in()?;
    let target = catalog.target(target)?;
    let machine = machine_of(&target, "this")?;
    let is_foreign = machine.architecture != std::env::consts::ARCH;
    let optional: Vec<String> = machine
        .optional
        .iter()
        .map(|it| it.feature.clone())
        .collect();
    let features = match is_foreign {
        true => optional,
        false => Processor::detect().features,
    };
    let rewriter = NestRewriter::new(machine.resources(&features));
    let names: Vec<String> = match wanted {
        [] => {
            let all = catalog.problem_names().map(str::to_owned);
            all.filter(|name| name.starts_with("host/")).collect()
        }
        wanted => wanted.to_vec(),
    };
    let rounds: u32 = rounds.parse()?;
    if is_foreign {
        for name in names {
            write_plans(&catalog.problem(&name)?, &rewriter, Path::new(folder))?;
        }
        return Ok(());
    }
    println!(
        "| problem | bound | baseline | compiler | ratio | OpenBLAS | rewriter | ratio | load |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    for name in names {
        let settings = Settings {
            toolchain: toolchain.clone(),
            cache_folder: cache_folder.clone(),
            effort: Effort::default(),
            command_time: Duration::from_secs(60),
            evaluation_time: Duration::from_secs(600),
            seed: Seed(1),
            timed_seed: Seed(2),
        };
        let bench = HostBench::open(catalog.problem(&name)?, &target, "this", settings)?;
        let judged = |kernel: &str| match bench.problem().kernel(kernel) {
            Err(_) => (String::new(), String::new()),
            Ok(source) => cells(judge(&bench, source)),
        };
        let (baseline, _) = judged("baseline");
        let (compiler, gain) = judged("compiler");
        let (library, _) = judged("openblas");
        let (best, best_gain) = match rounds {
            0 => (String::new(), String::new()),
            rounds => climb(&bench, &rewriter, rounds, &name, Path::new(folder))?,
        };
        let short = name.trim_start_matches("host/");
        let floor = bench.floor_cost().value as f64 / 1000.0;
        let load = std::fs::read_to_string("/proc/loadavg")?;
        let load = load.split(' ').next().unwrap_or_default();
        println!(
            "| {short} | {floor:.0} | {baseline} | {compiler} | {gain} | {library} | {best} | {best_gain} | {load} |"
        );
    }
    Ok(())
}

/// Writes what the first plans make of a problem's own kernel.
fn write_plans(problem: &Problem, rewriter: &NestRewriter, folder: &Path) -> Result<(), Failure> {
    let short = problem.name.rsplit('/').next().unwrap_or(&problem.name);
    let source = problem.kernel("baseline")?;
    for plan in 0..PLANS {
        let choice = PlanChoice {
            menu: &[],
            iteration: 0,
            place: 0,
            plan,
            earlier: &[],
        };
        if let Ok(planned) = rewriter.plan(source, choice) {
            let made = rewriter.implement(source, &planned.payload, 0)?;
            std::fs::write(folder.join(format!("{short}-{plan}.c")), made)?;
        }
    }
    for (name, text) in &problem.kernels {
        std::fs::write(folder.join(format!("{short}-{name}.c")), text)?;
    }
    std::fs::write(
        folder.join(format!("{short}-reference.c")),
        &problem.reference,
    )?;
    Ok(())
}

/// Returns the time of a kernel in microseconds, and how many times faster than the problem's
/// own kernel it is; or what is wrong.
fn cells(judged: Result<Timing, String>) -> (String, String) {
    let timing = match judged {
        Ok(timing) => timing,
        Err(what) => return (what, String::new()),
    };
    let spread = f64::from(timing.spread_ppm) / 10_000.0;
    let ratio = timing.to_baseline;
    (
        format!("{:.1} ± {spread:.1} %", timing.call_ns / 1000.0),
        format!(
            "{:.2}x [{:.2}, {:.2}]",
            1.0 / ratio.median,
            1.0 / ratio.high,
            1.0 / ratio.low
        ),
    )
}

/// Builds, tests and times a kernel; or says what is wrong.
fn judge(bench: &HostBench, source: &str) -> Result<Timing, String> {
    let said = |error: &dyn std::fmt::Display| error.to_string();
    let program = match bench.build(source).map_err(|error| said(&error))? {
        Ok(program) => program,
        Err(found) => {
            return Err(found
                .first()
                .map_or_else(String::new, |it| it.message.clone()));
        }
    };
    match bench.test(&program, source).map_err(|error| said(&error))? {
        Tested::Failed(outcome, found) => Err(format!("{outcome}: {}", found.message)),
        Tested::Right(right) => {
            match bench
                .time(program, source, right)
                .map_err(|error| said(&error))?
            {
                Timed::Cost(timing) => Ok(timing),
                Timed::Failed(outcome, found) => Err(format!("{outcome}: {}", found.message)),
            }
        }
    }
}

/// Takes the best of a few plans, again and again.
fn climb(
    bench: &HostBench,
    rewriter: &NestRewriter,
    rounds: u32,
    name: &str,
    folder: &Path,
) -> Result<(String, String), Failure> {
    let menu: Vec<MenuItem> = Vec::new();
    let mut source = bench.problem().kernel("baseline")?.to_owned();
    let mut best: Option<Timing> = None;
    for iteration in 0..rounds {
        let mut next = None;
        for plan in 0..PLANS {
            let choice = PlanChoice {
                menu: &menu,
                iteration,
                place: 0,
                plan,
                earlier: &[],
            };
            let planned = match rewriter.plan(&source, choice) {
                Ok(planned) => planned,
                Err(error) if best.is_none() && plan == 0 => {
                    return Ok((error.to_string(), "-".into()));
                }
                Err(_) => break,
            };
            let made = rewriter.implement(&source, &planned.payload, 0)?;
            match judge(bench, &made) {
                Ok(timing) => {
                    let better = best.as_ref().is_none_or(|it| timing.call_ns < it.call_ns);
                    if better {
                        best = Some(timing);
                        next = Some(made);
                    }
                }
                Err(what) => {
                    let short = name.rsplit('/').next().unwrap_or(name);
                    std::fs::write(
                        folder.join(format!("{short}-wrong-{iteration}-{plan}.c")),
                        &made,
                    )?;
                    println!("{name}: {what}: {}", planned.text);
                }
            }
        }
        match next {
            Some(made) => source = made,
            None => break,
        }
    }
    let short = name.rsplit('/').next().unwrap_or(name);
    std::fs::write(folder.join(format!("{short}.c")), &source)?;
    Ok(cells(best.ok_or_else(|| "nothing right".into())))
}
