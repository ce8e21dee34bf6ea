//! Kernels of problems on simulator and device: `kernels PROBLEM…`.

use crate::Place;
use autocomp_catalog::Catalog;
use autocomp_cuda::Cuda;
use autocomp_eval::{Evaluator as _, Family as _};

/// Writes the names of all problems.
pub fn names() -> Result<(), String> {
    let catalog = Catalog::built_in().map_err(|error| error.to_string())?;
    for name in catalog.problem_names().filter(|it| it.starts_with("cuda/")) {
        println!("{name}");
    }
    Ok(())
}

/// Evaluates every kernel of some problems on the device, which the simulator does first.
pub fn check(place: &Place) -> Result<(), String> {
    let target = place.target()?;
    let catalog = Catalog::built_in().map_err(|error| error.to_string())?;
    for name in &place.words {
        let problem = catalog.problem(name).map_err(|error| error.to_string())?;
        let bench = place.opening((&problem, &target, "device"), |it| Cuda.open(it));
        let bench = match bench {
            Ok(bench) => bench,
            Err(error) => {
                println!("{name}\t-\terror\t{}", one_line(&error.to_string()));
                continue;
            }
        };
        for (kernel, source) in &place.kernels(&problem) {
            let evaluation = match bench.evaluate(source) {
                Ok(evaluation) => evaluation,
                Err(error) => {
                    println!("{name}\t{kernel}\terror\t{}", one_line(&error.to_string()));
                    continue;
                }
            };
            let Some(it) = &evaluation.measurement else {
                let found = evaluation.diagnostics.first();
                let words = found.map_or_else(String::new, |it| {
                    let on_device = it.code.starts_with("device")
                        || it.notes.iter().any(|note| note.contains("on the device"));
                    let place = if on_device { "device" } else { "simulator" };
                    format!(
                        "{place}: {}: {} {}",
                        it.code,
                        it.message,
                        it.notes.join("; ")
                    )
                });
                println!(
                    "{name}\t{kernel}\t{}\t{}",
                    evaluation.outcome,
                    one_line(&words)
                );
                continue;
            };
            let ratio = it.ratio_to_baseline.map_or(1.0, |it| it.value);
            let figure = |name: &str| it.figures.get(name).copied().unwrap_or(0);
            println!(
                "{name}\t{kernel}\tok\t{:?}\t{}\t{}\t{ratio:.4}\t{}\t{}\t{}\t{}\t{}\t{}",
                problem.ranking,
                it.cost.value,
                it.cost.spread_ppm,
                it.samples.len(),
                figure("sm_mhz"),
                figure("sm_mhz_after"),
                figure("sm_mhz_monitored"),
                figure("registers"),
                figure("simulated_ns"),
            );
        }
    }
    Ok(())
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\t'], " ")
}
