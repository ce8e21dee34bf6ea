//! Evaluates kernels of one problem: `evaluate PROBLEM FILE…`, or names of the
//! problem's own kernels. Then compares each with the first, in the same rounds.
#![allow(clippy::print_stdout, reason = "it prints what it finds")]

use autocomp_catalog::Catalog;
use autocomp_core::Seed;
use autocomp_eval::Surroundings;
use autocomp_host::bench::{HostBench, Settings, Tested, Timed};
use autocomp_host::detection::Processor;
use autocomp_measuring::Effort;
use autocomp_toolchain::find_toolchain;
use std::path::PathBuf;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().ok_or("which problem?")?;
    let cache_folder = std::env::var_os("AUTOCOMP_CACHE_DIR")
        .map_or_else(|| std::env::temp_dir().join("autocomp-host"), PathBuf::from);
    let search = Surroundings::installing(cache_folder.clone(), std::env::var_os("PATH"));
    let toolchain = find_toolchain(&search, &mut |line| println!("{line}"))?;
    let catalog = Catalog::built_in()?;
    let problem = catalog.problem(&name)?;
    let processor = Processor::detect();
    let target = catalog.target(processor.target().ok_or("no target for this processor")?)?;
    let settings = Settings {
        toolchain,
        cache_folder,
        effort: Effort::default(),
        command_time: Duration::from_secs(60),
        evaluation_time: Duration::from_secs(600),
        seed: Seed(1),
        timed_seed: Seed(2),
    };
    let began = Instant::now();
    let bench = HostBench::open(problem, &target, "this", settings)?;
    println!("opened in {:?}; {:?}", began.elapsed(), bench.peaks());
    let mut right: Vec<(String, String, f64)> = Vec::new();
    for kernel in arguments {
        let source = match bench.problem().kernel(&kernel) {
            Ok(source) => source.to_owned(),
            Err(_) => std::fs::read_to_string(&kernel)?,
        };
        let began = Instant::now();
        let program = match bench.build(&source)? {
            Ok(program) => program,
            Err(found) => {
                println!("{kernel}: does not build: {found:#?}");
                continue;
            }
        };
        let built = began.elapsed();
        match bench.test(&program, &source)? {
            Tested::Failed(outcome, found) => println!("{kernel}: {outcome}: {found:#?}"),
            Tested::Right(tested) => {
                let call_ns = tested.call_ns;
                println!(
                    "{kernel}: built {built:?}, right after {:?}, {call_ns} ns",
                    began.elapsed()
                );
                right.push((kernel.clone(), source.clone(), call_ns));
                match bench.time(program, &source, tested)? {
                    Timed::Failed(outcome, found) => println!("{kernel}: {outcome}: {found:#?}"),
                    Timed::Cost(timing) => {
                        let macs = bench.problem().work.macs as f64;
                        println!(
                            "{kernel}: {:.0} ns, {:.1} GMAC/s, spread {} ppm, ratio {:?}, {:?}, {} rounds of {} calls, {:?}",
                            timing.call_ns,
                            macs / timing.call_ns,
                            timing.spread_ppm,
                            timing.paired.interval,
                            timing.difference,
                            timing.paired.ratios.len(),
                            timing.paired.calls,
                            began.elapsed(),
                        );
                    }
                }
            }
        }
    }
    let effort = Effort {
        wall: Duration::from_secs(60),
        half_width: 0.005,
        ..Effort::default()
    };
    let build = |source: &str| match bench.build(source)? {
        Ok(program) => Ok(program),
        Err(found) => Err(Box::<dyn std::error::Error>::from(found[0].message.clone())),
    };
    if let Some(((first, source, first_ns), others)) = right.split_first() {
        let base = build(source)?;
        for (kernel, source, call_ns) in others {
            let program = build(source)?;
            let paired = bench.compare((&program, *call_ns), (&base, *first_ns), effort)?;
            let at = paired.interval;
            let load = std::fs::read_to_string("/proc/loadavg")?;
            println!(
                "{kernel} takes {:.3} [{:.3}, {:.3}] of {first}, {} rounds, load {}",
                at.median,
                at.low,
                at.high,
                paired.ratios.len(),
                load.split(' ').next().unwrap_or_default(),
            );
        }
    }
    Ok(())
}
