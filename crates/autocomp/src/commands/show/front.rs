//! `show --objectives`: kernels of which none is better in every respect.

use crate::error::CliError;
use crate::output::Output;
use crate::table::{Cell, Table};
use autocomp_core::{ContentHash, CostObject};
use autocomp_eval::text;
use autocomp_runner::RunView;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct FrontReport {
    /// What is less the better, beside the cost.
    objectives: Vec<String>,
    front: Vec<FrontKernel>,
}

#[derive(Serialize)]
struct FrontKernel {
    kernel: String,
    cost: CostObject,
    figures: BTreeMap<String, f64>,
    menu_item: Option<String>,
    source: ContentHash,
}

/// Prints the kernels of which none is better in the cost and in all of `objectives`.
pub fn show_front(view: &RunView, objectives: &[String], output: Output) -> Result<(), CliError> {
    let known = view.search.objectives();
    if let Some(unknown) = objectives.iter().find(|name| !known.contains(name)) {
        let hint = match known.as_slice() {
            [] => "the run has no right kernel yet".to_owned(),
            known => format!("there are: {}", known.join(", ")),
        };
        let message = format!("the best kernel has no figure `{unknown}`");
        return Err(CliError::usage(message).hint(hint));
    }
    let entries = view.search.pareto_front(objectives).into_iter();
    let front = entries.filter_map(|entry| {
        let candidate = view.search.candidate(entry.id)?;
        let figures = objectives.iter().cloned().zip(entry.figures[1..].to_vec());
        Some(FrontKernel {
            kernel: entry.id.to_string(),
            cost: CostObject::from(candidate.cost),
            figures: figures.collect(),
            menu_item: candidate.plan.as_ref().map(|plan| plan.menu_item.clone()),
            source: candidate.source,
        })
    });
    let report = FrontReport {
        objectives: objectives.to_vec(),
        front: front.collect(),
    };
    output.result(&report, || {
        let rows: Vec<Vec<Cell>> = report.front.iter().map(row).collect();
        let table = Table {
            head: &["kernel", "cost", "figures", "menu item"],
            right: &[1],
            flexible: &[2, 3],
            optional: &[],
        };
        table.text(&rows, output.width(), output.is_coloured())
    })
}

fn row(kernel: &FrontKernel) -> Vec<Cell> {
    let figures = kernel.figures.iter();
    let figures = figures.map(|(name, figure)| format!("{name} {figure}"));
    let menu_item = kernel.menu_item.as_deref().unwrap_or("baseline");
    vec![
        kernel.kernel.as_str().into(),
        text::grouped(kernel.cost.value).into(),
        figures.collect::<Vec<_>>().join(", ").into(),
        menu_item.into(),
    ]
}
