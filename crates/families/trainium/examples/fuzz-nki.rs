//! Fuzzing of parser, interpreter, trace and timing: `fuzz-nki FIRST_SEED CASES`.
//!
//! Every case must end with a result or a failure with a code and, for a rejected kernel, a
//! remedy; nothing may panic. The cases of a seed are the same everywhere. Prints how the cases
//! ended, the longest one, and the seeds of those that broke a rule (exit code 1); one case with
//! its text.

#[path = "../tests/suite/generator.rs"]
mod generator;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::time::{Duration, Instant};

use autocomp_trainium::timing::{Machine, Passes, time};
use autocomp_trainium::{Options, evaluate, parse_inputs};

/// A case that takes longer than this is a hang.
const SLOW: Duration = Duration::from_secs(20);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = || arguments.next().and_then(|text| text.parse::<u64>().ok());
    let usage = "usage: fuzz-nki FIRST_SEED CASES";
    let (first, cases) = (number().ok_or(usage)?, number().ok_or(usage)?);
    let machine = Machine::built_in("trn1")?;
    let mut ends: BTreeMap<String, u64> = BTreeMap::new();
    let mut broken = Vec::new();
    let mut longest = (Duration::ZERO, first);
    let begun = Instant::now();
    // One case is looked at closely; of many, seeds are told.
    if cases == 1 {
        let (source, inputs) = generator::kernel(first);
        writeln!(std::io::stdout(), "{source}\n# {inputs}")?;
    } else {
        std::panic::set_hook(Box::new(|_| {}));
    }
    for seed in first..first.saturating_add(cases) {
        let (source, inputs) = generator::kernel(seed);
        let inputs = parse_inputs(inputs, Some(seed))?;
        let options = Options {
            step_limit: 20_000,
            byte_limit: 1 << 26,
            instruction_limit: 2_000,
            // Shapes alone are a path of their own.
            functional: seed % 4 != 0,
            ..Options::default()
        };
        let start = Instant::now();
        let end = match evaluate(&source, "solution", &inputs, &options) {
            Ok(evaluation) => {
                let passes = Passes::of(&evaluation);
                let timed = std::panic::catch_unwind(|| time(&evaluation.trace, &machine, passes));
                match timed {
                    Ok(timeline) if timeline.latency_ns.is_finite() => "ok".to_owned(),
                    Ok(_) => "BROKEN: latency".to_owned(),
                    Err(_) => "BROKEN: timing panicked".to_owned(),
                }
            }
            Err(failure) if failure.code == "evaluation-failed" => "BROKEN: panicked".to_owned(),
            Err(failure) if failure.remedy.is_empty() => {
                format!("BROKEN: no remedy for {}", failure.code)
            }
            Err(failure) => failure.code,
        };
        let taken = start.elapsed();
        longest = longest.max((taken, seed));
        if end.starts_with("BROKEN") || taken > SLOW {
            broken.push((seed, end.clone()));
        }
        *ends.entry(end).or_default() += 1;
    }
    let mut out = std::io::stdout().lock();
    for (end, count) in &ends {
        writeln!(out, "{count:>10}  {end}")?;
    }
    for (seed, end) in broken.iter().take(20) {
        writeln!(out, "seed {seed}: {end}")?;
    }
    writeln!(
        out,
        "{cases} cases from seed {first} in {:.0} s, longest {:.2} s (seed {}), {} broken",
        begun.elapsed().as_secs_f64(),
        longest.0.as_secs_f64(),
        longest.1,
        broken.len()
    )?;
    if !broken.is_empty() {
        return Err("some cases broke a rule".into());
    }
    Ok(())
}
