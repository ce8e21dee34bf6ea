//! Fuzzing of parser, interpreter, trace and timing: `fuzz-nki FIRST_SEED CASES`.
//!
//! Every case must end with a result or a failure with a code and, for a rejected kernel, a
//! remedy; nothing may panic or hang. The cases of a seed are the same everywhere. Prints how the
//! cases of each kind ended, the longest one, and the seeds of those that broke a rule (exit
//! code 1); one case with its text.

#[path = "../tests/suite/generator/mod.rs"]
mod generator;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use autocomp_trainium_sim::timing::{Machine, Passes, time};
use autocomp_trainium_sim::{FailureKind, Options, STACK, evaluate_on_this_thread, parse_inputs};

/// A case that takes longer than this is a hang.
const SLOW: Duration = Duration::from_secs(20);

/// How far a case came, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Timed,
    /// Refused with this code, by the parser or later.
    Refused(bool, String),
    Broken(String),
}

/// What was found so far.
#[derive(Default)]
struct Found {
    ends: BTreeMap<(&'static str, bool, End), u64>,
    broken: Vec<(u64, End)>,
    longest: (Duration, u64),
    /// Instructions of the cases that were timed.
    instructions: u64,
}

fn one(seed: u64, machine: &Machine, found: &mut Found) {
    let case = generator::kernel(seed);
    let start = Instant::now();
    let mut instructions = 0;
    let end = catch_unwind(AssertUnwindSafe(|| {
        let options = Options {
            step_limit: 20_000,
            byte_limit: 1 << 26,
            instruction_limit: 2_000,
            // Shapes alone are a path of their own.
            functional: case.functional,
            ..Options::default()
        };
        let inputs = match parse_inputs(case.inputs, case.functional.then_some(seed)) {
            Ok(inputs) => inputs,
            Err(failure) => return End::Broken(format!("inputs: {failure}")),
        };
        match evaluate_on_this_thread(&case.source, "solution", &inputs, &options) {
            Ok(evaluation) => {
                instructions = evaluation.trace.len() as u64;
                let timeline = time(&evaluation.trace, machine, Passes::of(&evaluation));
                match timeline.latency_ns.is_finite() {
                    true => End::Timed,
                    false => End::Broken("the latency is no number".into()),
                }
            }
            Err(failure) if failure.remedy.is_empty() => {
                End::Broken(format!("no remedy for {}", failure.code))
            }
            Err(failure) => End::Refused(failure.kind == FailureKind::Syntax, failure.code),
        }
    }));
    let taken = start.elapsed();
    let mut end = end.unwrap_or_else(|_| End::Broken("panicked".into()));
    if taken > SLOW {
        end = End::Broken(format!("took {:.0} s", taken.as_secs_f64()));
    }
    if matches!(end, End::Broken(_)) {
        found.broken.push((seed, end.clone()));
    }
    found.longest = found.longest.max((taken, seed));
    found.instructions += instructions;
    let key = (case.kind, case.functional, end);
    *found.ends.entry(key).or_default() += 1;
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = || arguments.next().and_then(|text| text.parse::<u64>().ok());
    let usage = "usage: fuzz-nki FIRST_SEED CASES";
    let (first, cases) = (number().ok_or(usage)?, number().ok_or(usage)?);
    let machine = Machine::built_in("trn1")?;
    let begun = Instant::now();
    // One case is looked at closely; of many, seeds are told.
    if cases == 1 {
        let case = generator::kernel(first);
        writeln!(
            std::io::stdout(),
            "{}\n# {}, {}, on data: {}",
            case.source,
            case.kind,
            case.inputs,
            case.functional
        )?;
    } else {
        std::panic::set_hook(Box::new(|_| {}));
    }
    let (done, ended) = (AtomicU64::new(0), AtomicBool::new(false));
    let found = std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().stack_size(STACK);
        let worker = worker.spawn_scoped(scope, || {
            let mut found = Found::default();
            for seed in first..first.saturating_add(cases) {
                one(seed, &machine, &mut found);
                done.fetch_add(1, Ordering::Relaxed);
            }
            ended.store(true, Ordering::Relaxed);
            found
        })?;
        // A case that never ends must not go unseen.
        let mut last = (u64::MAX, Instant::now());
        while !worker.is_finished() {
            std::thread::sleep(Duration::from_millis(200));
            let now = done.load(Ordering::Relaxed);
            if now != last.0 {
                last = (now, Instant::now());
            } else if last.1.elapsed() > 6 * SLOW && !ended.load(Ordering::Relaxed) {
                writeln!(std::io::stderr(), "seed {} hangs", first + now)?;
                std::process::exit(1);
            }
        }
        worker
            .join()
            .map_err(|_| std::io::Error::other("the worker panicked"))
    })?;
    report(&found, first, cases, begun.elapsed())?;
    if !found.broken.is_empty() {
        return Err("some cases broke a rule".into());
    }
    Ok(())
}

fn report(found: &Found, first: u64, cases: u64, taken: Duration) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let mut stages: BTreeMap<(&str, bool), [u64; 4]> = BTreeMap::new();
    let mut codes: BTreeMap<&str, u64> = BTreeMap::new();
    for ((kind, functional, end), count) in &found.ends {
        let counts = stages.entry((kind, *functional)).or_default();
        counts[0] += count;
        match end {
            End::Refused(true, _) => counts[1] += count,
            End::Refused(false, _) => counts[2] += count,
            End::Timed => counts[3] += count,
            End::Broken(_) => {}
        }
        if let End::Refused(_, code) = end {
            *codes.entry(code).or_default() += count;
        }
    }
    writeln!(
        out,
        "kind              cases    by the parser  by the interpreter      timed"
    )?;
    for ((kind, functional), [all, parser, interpreter, timed]) in &stages {
        let how = if *functional { "data" } else { "shapes" };
        writeln!(
            out,
            "{kind:<8} {how:<7} {all:>8} {parser:>15} {interpreter:>19} {timed:>10}"
        )?;
    }
    for (code, count) in &codes {
        writeln!(out, "{count:>10}  {code}")?;
    }
    for (seed, end) in found.broken.iter().take(20) {
        writeln!(out, "seed {seed}: {end:?}")?;
    }
    writeln!(
        out,
        "{cases} cases from seed {first} in {:.0} s, {} instructions timed, longest {:.2} s (seed {}), {} broken",
        taken.as_secs_f64(),
        found.instructions,
        found.longest.0.as_secs_f64(),
        found.longest.1,
        found.broken.len()
    )
}
