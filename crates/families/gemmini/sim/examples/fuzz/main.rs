//! Feeds random input to everything that reads what strangers write.
//!
//! `cargo run --release -p autocomp-gemmini-sim --features examples --example fuzz -- [--target NAME] [--runs N] [--seed S]`
//!
//! Each run is made from (target, seed, number of the run) alone, so that a
//! failure is repeated by `--target NAME --seed S --runs 1`, with the seed that
//! is printed. A run fails if it panics or if a second one ends otherwise; runs
//! are limited by instructions, and the longest is told.

#![expect(clippy::print_stdout, reason = "an example for developers")]

mod accelerator;
mod bytes;
mod random;
mod scalar;
mod target;

use std::panic::catch_unwind;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use target::{TARGETS, Target};

/// Every how many runs the same one is made again.
const REPEATED: u64 = 16;

struct Options {
    target: Option<String>,
    runs: u64,
    seed: u64,
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(message) => {
            println!("{message}");
            return ExitCode::from(2);
        }
    };
    println!(
        "{:12} {:>10} {:>9} {:>10}  first seed",
        "target", "runs", "seconds", "longest ms"
    );
    let mut failed = false;
    for target in TARGETS {
        if options
            .target
            .as_ref()
            .is_none_or(|name| name == target.name)
        {
            failed |= !fuzz(target, &options);
        }
    }
    ExitCode::from(u8::from(failed))
}

/// Makes all runs of a target; returns whether all went well.
fn fuzz(target: &Target, options: &Options) -> bool {
    let begun = Instant::now();
    let mut longest = (Duration::ZERO, options.seed);
    for run in 0..options.runs {
        let seed = options.seed.wrapping_add(run);
        let run_begun = Instant::now();
        let outcome = catch_unwind(|| {
            let digest = (target.run)(seed);
            let repeated = run % REPEATED == 0;
            !repeated || (target.run)(seed) == digest
        });
        match outcome {
            Ok(true) => longest = longest.max((run_begun.elapsed(), seed)),
            Ok(false) => {
                println!("{}: seed {seed} does not end the same twice", target.name);
                return false;
            }
            Err(_) => {
                println!("{}: seed {seed} panics", target.name);
                return false;
            }
        }
    }
    println!(
        "{:12} {:>10} {:>9.1} {:>10.1}  {} (longest: {})",
        target.name,
        options.runs,
        begun.elapsed().as_secs_f64(),
        longest.0.as_secs_f64() * 1e3,
        options.seed,
        longest.1
    );
    true
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        target: None,
        runs: 1000,
        seed: 1,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments
            .next()
            .ok_or_else(|| format!("{name} needs a value"))?;
        let number = || {
            value
                .parse()
                .map_err(|_| format!("{name} needs a number, not {value}"))
        };
        match name.as_str() {
            "--target" if TARGETS.iter().any(|target| target.name == value) => {
                options.target = Some(value);
            }
            "--target" => {
                let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
                return Err(format!("no target {value}; there are {}", names.join(", ")));
            }
            "--runs" => options.runs = number()?,
            "--seed" => options.seed = number()?,
            _ => {
                return Err(format!(
                    "no option {name}; there are --target, --runs and --seed"
                ));
            }
        }
    }
    Ok(options)
}
