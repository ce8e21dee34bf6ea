//! What a report says, worked out once for all forms that it is written in.

mod comparison;
mod curves;
mod step;
mod tables;
mod words;

pub use step::unified;

use crate::run::RunData;
use crate::svg::tree_figure;
use autocomp_core::Cost;
use autocomp_eval::text::grouped;
use autocomp_runner::RunState;
use comparison::{Comparison, comparison};
use curves::figures;
use serde::Serialize;
use step::{Step, fence, step};
use tables::{
    OutcomeShare, findings, kernel_rows, outcome_shares, reference_rows, versions, worker_rows,
    yield_rows,
};
use words::{caveats, facts, summary};

/// A whole report.
#[derive(Debug, Serialize)]
pub(crate) struct Page {
    pub title: String,
    pub version: String,
    pub comparison: Option<Comparison>,
    pub runs: Vec<RunSection>,
}

#[derive(Debug, Serialize)]
pub(crate) struct RunSection {
    pub anchor: String,
    pub name: String,
    pub problem: String,
    pub target: String,
    pub status: String,
    pub summary: String,
    pub facts: Vec<(String, String, String)>,
    pub figures: Vec<(String, String)>,
    pub tree: String,
    pub references: Vec<Vec<String>>,
    pub steps: Vec<Step>,
    pub outcomes: Vec<OutcomeShare>,
    pub outcome_rows: Vec<(&'static str, u32, &'static str)>,
    pub best: String,
    pub best_fence: String,
    pub fence: String,
    pub findings: Vec<(String, String, u32)>,
    pub menu_items: Vec<Vec<String>>,
    pub proposers: Vec<Vec<String>>,
    pub workers: Vec<Vec<String>>,
    pub has_money: bool,
    pub kernels: Vec<Vec<String>>,
    pub n_kernels: usize,
    pub settings: Option<String>,
    pub versions: Vec<(String, String)>,
    pub command: String,
    pub caveats: Vec<String>,
}

/// Returns a cost with its unit.
pub(crate) fn cost_text(cost: Cost) -> String {
    format!("{} {}", grouped(cost.value), cost.unit)
}

impl Page {
    pub(crate) fn of(runs: &[RunData]) -> Self {
        let title = match runs {
            [run] => format!("{} on {}", run.report.problem, run.report.target),
            runs => format!("{} runs compared", runs.len()),
        };
        Self {
            title,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            comparison: (1 < runs.len()).then(|| comparison(runs)),
            runs: runs
                .iter()
                .enumerate()
                .map(|(idx, run)| section(idx, run))
                .collect(),
        }
    }
}

/// Returns what a run is doing, in a sentence.
pub(crate) fn status_text(status: &RunState) -> String {
    match status {
        RunState::Finished { message, .. } => format!("finished: {message}"),
        RunState::Stopped { message, .. } => format!("stopped: {message}"),
        RunState::Running { .. } => "running".to_owned(),
        _ => "broken off".to_owned(),
    }
}

fn section(idx: usize, run: &RunData) -> RunSection {
    let best = run.best().and_then(|it| run.texts.source(it).ok());
    let best = best.unwrap_or_default();
    let progress = &run.report.progress;
    RunSection {
        anchor: format!("run-{}", idx + 1),
        name: run.name.clone(),
        problem: run.report.problem.clone(),
        target: run.report.target.clone(),
        status: status_text(&run.report.status),
        summary: summary(run),
        facts: facts(run),
        figures: figures(run),
        tree: tree_figure(run),
        references: reference_rows(run),
        steps: run.chain.iter().map(|place| step(run, *place)).collect(),
        outcomes: outcome_shares(run),
        outcome_rows: run
            .outcomes()
            .iter()
            .map(|(it, count)| (it.name(), *count, it.meaning()))
            .collect(),
        best_fence: fence(&best),
        best,
        fence: fence(&run.command()),
        findings: findings(run),
        menu_items: yield_rows(&run.menu_items),
        proposers: yield_rows(&run.proposers),
        workers: worker_rows(run),
        has_money: 0 < progress.usage.requests,
        kernels: kernel_rows(run),
        n_kernels: run.kernels.len(),
        settings: run.settings.clone(),
        versions: versions(run),
        command: run.command(),
        caveats: caveats(run),
    }
}
