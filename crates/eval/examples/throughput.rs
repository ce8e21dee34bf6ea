//! Measures evaluations per second and the time of each tier.
//!
//! Usage: `cargo run --release -p autocomp-eval --example throughput -- [PROBLEM [KERNEL [COUNT]]]`
#![expect(clippy::print_stdout, reason = "an example prints what it measures")]

use autocomp_core::Seed;
use autocomp_eval::toolchain::{ToolchainSearch, find_toolchain};
use autocomp_eval::{Evaluator, EvaluatorSettings, GemminiEvaluator};
use autocomp_targets::Catalog;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let problem = args
        .next()
        .unwrap_or_else(|| "gemmini/gemm-512x512x512".into());
    let kernel = args.next().unwrap_or_else(|| "baseline".into());
    let count: u32 = args.next().map_or(Ok(20), |count| count.parse())?;
    let cache_folder = std::env::var_os("AUTOCOMP_CACHE_DIR").map_or_else(
        || std::env::temp_dir().join("autocomp-throughput"),
        PathBuf::from,
    );
    let catalog = Catalog::built_in()?;
    let problem = catalog.problem(&problem)?;
    let target = catalog.target(&problem.target)?;
    let search = ToolchainSearch {
        configured: None,
        path: std::env::var_os("PATH"),
        cache_folder: cache_folder.clone(),
        install: true,
    };
    let started = Instant::now();
    let toolchain = find_toolchain(&search, &mut |line| println!("{line}"))?;
    println!("{}, found in {:.0?}", toolchain.name, started.elapsed());
    let settings = EvaluatorSettings {
        use_cache: false,
        seed: Seed(1),
        threads: 2,
        max_instructions: None,
        experiments: false,
    };
    let evaluator =
        GemminiEvaluator::new(&problem, &target, None, toolchain, &cache_folder, settings)?;
    let started = Instant::now();
    evaluator.prepare()?;
    println!("right answers in {:.2?}", started.elapsed());

    let source = problem.kernel(&kernel)?;
    let mut tiers: BTreeMap<String, u64> = BTreeMap::new();
    let started = Instant::now();
    let used = processor_seconds()?;
    for round in 0..count {
        // A comment makes it another kernel, which must be built.
        let evaluation =
            evaluator.evaluate(&format!("{source}\n// {round} {}\n", std::process::id()))?;
        if round == 0 {
            println!("{}", serde_json::to_string_pretty(&evaluation)?);
        }
        for tier in evaluation.tiers {
            *tiers.entry(tier.tier).or_default() += tier.wall_ns.0;
        }
    }
    let elapsed = started.elapsed();
    let used = processor_seconds()? - used;
    println!(
        "{:.1} ms of processor time each, compiler excluded",
        used * 1e3 / f64::from(count)
    );
    println!(
        "{:.1} evaluations per second",
        f64::from(count) / elapsed.as_secs_f64()
    );
    for (tier, nanos) in tiers {
        println!("{tier}: {:.1} ms", nanos as f64 / 1e6 / f64::from(count));
    }
    Ok(())
}

/// Returns the processor time of this process without its children: what a
/// measurement on a busy machine can be compared by.
fn processor_seconds() -> Result<f64, Box<dyn std::error::Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or("")
        .split_whitespace()
        .collect();
    let ticks: u64 = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
    // Linux counts in hundredths of a second on every usual machine.
    Ok(ticks as f64 / 100.0)
}
