//! Several runs side by side.

use super::cost_text;
use super::curves::{curve, plain};
use crate::change::times;
use crate::run::RunData;
use crate::svg::{Curve, CurveFigure, curve_figure};
use autocomp_core::Cost;
use autocomp_eval::text::{clock, dollars, grouped};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// Several runs side by side.
#[derive(Debug, Serialize)]
pub(crate) struct Comparison {
    pub figure: String,
    pub rows: Vec<Vec<String>>,
    pub groups: Vec<Vec<String>>,
}

pub(super) fn comparison(runs: &[RunData]) -> Comparison {
    let first = &runs[0];
    let is_same = |run: &RunData| {
        run.report.problem == first.report.problem
            && run.report.target == first.report.target
            && run.floor.map(|it| it.unit) == first.floor.map(|it| it.unit)
    };
    let all_same = runs.iter().all(is_same);
    let curves: Vec<Curve> = runs
        .iter()
        .map(|run| {
            let baseline = run.report.progress.baseline_cost;
            let value = |cost: Cost| match baseline {
                Some(baseline) if !all_same => 100.0 / cost.times(baseline),
                _ => cost.value as f64,
            };
            let end = f64::from(run.report.progress.evaluations);
            curve(run, |it| f64::from(it.evaluations), end, value)
        })
        .collect();
    let mut lines = Vec::new();
    if all_same {
        let longest = runs.iter().max_by_key(|run| run.references.len());
        let references = longest.map_or(&[][..], |run| &run.references);
        lines.extend(
            references
                .iter()
                .map(|it| (it.kernel.clone(), it.cost.value as f64)),
        );
        lines.extend(first.floor.map(|it| ("floor".to_owned(), it.value as f64)));
    }
    let figure = curve_figure(&CurveFigure {
        title: "best cost of each run over evaluations",
        x_label: "kernels evaluated",
        y_label: if all_same {
            first.floor.map_or("", |floor| floor.unit.name())
        } else {
            "percent of the baseline"
        },
        curves: &curves,
        lines: &lines,
        x_text: plain,
        x_step: 1.0,
    });
    Comparison {
        figure,
        rows: runs.iter().map(comparison_row).collect(),
        groups: groups(runs),
    }
}

fn comparison_row(run: &RunData) -> Vec<String> {
    let progress = &run.report.progress;
    let none = || "–".to_owned();
    vec![
        run.name.clone(),
        run.report.problem.clone(),
        run.report.proposers.join(", "),
        run.report.seed.to_string(),
        progress.baseline_cost.map_or_else(none, cost_text),
        progress
            .best
            .as_ref()
            .map_or_else(none, |it| cost_text(it.cost)),
        run.report
            .speedup
            .map_or_else(none, |it| format!("{}×", times(it))),
        progress
            .best
            .as_ref()
            .map_or_else(none, |it| format!("{:.1} %", it.percent_of_peak)),
        grouped(u64::from(progress.evaluations)),
        clock(Duration::from_millis(run.report.elapsed_ms)),
        dollars(progress.usage.cost.0),
    ]
}

/// Runs that differ in nothing but their seed, as one row each.
fn groups(runs: &[RunData]) -> Vec<Vec<String>> {
    let mut groups: BTreeMap<String, Vec<&RunData>> = BTreeMap::new();
    for run in runs {
        let settings = serde_json::to_string(&run.started.settings).unwrap_or_default();
        let key = format!(
            "{}\n{}\n{:?}\n{settings}",
            run.report.problem, run.report.target, run.report.proposers
        );
        groups.entry(key).or_default().push(run);
    }
    let groups = groups.into_values().filter(|group| 1 < group.len());
    groups
        .filter_map(|group| {
            let best = |run: &&RunData| run.report.progress.best.as_ref().map(|it| it.cost);
            let mut costs: Vec<Cost> = group.iter().filter_map(best).collect();
            costs.sort();
            let (first, last) = (costs.first()?, costs.last()?);
            Some(vec![
                group[0].report.problem.clone(),
                group[0].report.proposers.join(", "),
                group.len().to_string(),
                cost_text(*first),
                cost_text(costs[(costs.len() - 1) / 2]),
                cost_text(*last),
            ])
        })
        .collect()
}
