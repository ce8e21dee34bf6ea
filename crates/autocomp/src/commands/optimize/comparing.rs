//! The problem's other kernels beside the best one of a run.

use crate::measuring::Bench;
use crate::output::Output;
use crate::side_by_side::side_by_side;
use autocomp_core::{Cost, CostObject, Outcome};
use autocomp_eval::Evaluator as _;
use autocomp_eval::text;
use autocomp_reports::Reference;
use autocomp_reports::change::times;
use serde::Serialize;
use std::cmp::Reverse;
use std::convert::Infallible;

/// Another kernel of the problem; field names are stable.
#[derive(Debug, Serialize)]
pub struct OtherKernel {
    kernel: String,
    outcome: Outcome,
    cost: Option<CostObject>,
    /// The same if cycles are counted.
    cycles: Option<u64>,
    /// Its cost by that of the best kernel.
    ratio: Option<f64>,
}

/// Evaluates the kernels of the problem but the one that the run began with,
/// through the cache, `at_a_time` of them side by side; slowest first.
pub fn other_kernels(
    bench: &Bench,
    baseline: &str,
    best: Cost,
    at_a_time: usize,
    output: Output,
) -> Vec<OtherKernel> {
    let kernels: Vec<_> = (bench.problem.kernels.iter())
        .filter(|(_, source)| *source != baseline)
        .collect();
    let mut evaluated = Vec::new();
    let evaluate = |(_, source): &(&String, &String)| bench.evaluator.evaluate(source);
    let Ok(()) = side_by_side(&kernels, at_a_time, evaluate, |idx, result| {
        evaluated.push((kernels[idx].0, result));
        Ok::<(), Infallible>(())
    });
    // Whatever the order in which the evaluations ended.
    evaluated.sort_by_key(|(name, _)| *name);
    let mut others = Vec::new();
    for (name, result) in evaluated {
        match result {
            Ok(evaluation) => {
                let cost = evaluation.cost();
                others.push(OtherKernel {
                    kernel: name.clone(),
                    outcome: evaluation.outcome,
                    cost: cost.map(CostObject::from),
                    cycles: cost.and_then(Cost::in_cycles),
                    ratio: cost.map(|cost| best.times(cost)),
                });
            }
            Err(error) => output.message(format!("note: {name} could not be evaluated: {error}")),
        }
    }
    others.sort_by_key(|other| Reverse(other.cost.map(|it| it.value)));
    others
}

/// Returns the table of other kernels, if there are any, with a line above it.
pub fn others_text(others: &[OtherKernel]) -> String {
    if others.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> = others
        .iter()
        .map(|other| match (other.cost, other.ratio) {
            (Some(cost), Some(ratio)) => vec![
                other.kernel.clone(),
                text::grouped(cost.value),
                format!("{}, {}x the best", cost.unit, times(ratio)),
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

/// Returns what is kept of other kernels beside the run.
pub fn to_references(others: &[OtherKernel]) -> Vec<Reference> {
    let reference = |other: &OtherKernel| {
        let CostObject {
            value,
            unit,
            spread_ppm,
        } = other.cost?;
        Some(Reference {
            kernel: other.kernel.clone(),
            cost: Cost {
                value,
                unit,
                spread_ppm,
            },
        })
    };
    others.iter().filter_map(reference).collect()
}
