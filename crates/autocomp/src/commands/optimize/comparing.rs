//! The problem's other kernels beside the best one of a run.

use crate::measuring::Bench;
use crate::output::Output;
use crate::text;
use autocomp_core::Outcome;
use autocomp_eval::Evaluator as _;
use serde::Serialize;

/// Another kernel of the problem; field names are stable.
#[derive(Debug, Serialize)]
pub struct OtherKernel {
    kernel: String,
    outcome: Outcome,
    cycles: Option<u64>,
    /// Its cycles by those of the best kernel.
    ratio: Option<f64>,
}

/// Evaluates the kernels of the problem but the one that the run began with,
/// through the cache; slowest first.
pub fn other_kernels(
    bench: &Bench,
    baseline: &str,
    best_cycles: u64,
    output: Output,
) -> Vec<OtherKernel> {
    let mut others = Vec::new();
    for (name, source) in &bench.problem.kernels {
        if source == baseline {
            continue;
        }
        match bench.evaluator.evaluate(source) {
            Ok(evaluation) => {
                let cycles = evaluation.measurement.map(|it| it.cycles.0);
                others.push(OtherKernel {
                    kernel: name.clone(),
                    outcome: evaluation.outcome,
                    cycles,
                    ratio: cycles.map(|cycles| cycles as f64 / best_cycles as f64),
                });
            }
            Err(error) => output.message(format!("note: {name} could not be evaluated: {error}")),
        }
    }
    others.sort_by_key(|other| std::cmp::Reverse(other.cycles));
    others
}

/// Returns the table of other kernels, if there are any, with a line above it.
pub fn others_text(others: &[OtherKernel]) -> String {
    if others.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> = others
        .iter()
        .map(|other| match (other.cycles, other.ratio) {
            (Some(cycles), Some(ratio)) => vec![
                other.kernel.clone(),
                text::grouped(cycles),
                format!("cycles, {ratio:.2}x those of the best"),
            ],
            _ => vec![
                other.kernel.clone(),
                other.outcome.to_string(),
                String::new(),
            ],
        })
        .collect();
    format!(
        "\nto compare, other kernels of the problem:\n{}",
        text::table(&rows, &[1])
    )
}
