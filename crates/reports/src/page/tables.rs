//! Tables: references, outcomes, findings, yields, kernels, versions.

use super::cost_text;
use crate::change::times;
use crate::kernels::Kernel;
use crate::run::RunData;
use crate::yields::{WorkerShare, Yield};
use autocomp_core::{Cost, Severity};
use autocomp_eval::text::{dollars, grouped};
use serde::Serialize;
use std::collections::BTreeMap;

/// Kernels listed in a page at most; the table formats have all of them.
const MOST_KERNELS: usize = 200;

#[derive(Debug, Serialize)]
pub(crate) struct OutcomeShare {
    pub name: &'static str,
    pub meaning: &'static str,
    pub count: u32,
    pub percent: f64,
    pub from: f64,
}

pub(super) fn reference_rows(run: &RunData) -> Vec<Vec<String>> {
    let progress = &run.report.progress;
    let Some(best) = &progress.best else {
        return Vec::new();
    };
    let mut rows: Vec<(Cost, String)> = run
        .references
        .iter()
        .map(|it| (it.cost, it.kernel.clone()))
        .collect();
    rows.extend(
        progress
            .baseline_cost
            .map(|cost| (cost, "baseline".to_owned())),
    );
    rows.push((best.cost, "best found".to_owned()));
    rows.extend(run.floor.map(|cost| (cost, "floor".to_owned())));
    rows.sort_by_key(|row| std::cmp::Reverse(row.0));
    rows.into_iter()
        .map(|(cost, name)| {
            let times = format!("{}×", times(best.cost.times(cost)));
            vec![name, cost_text(cost), times]
        })
        .collect()
}

pub(super) fn outcome_shares(run: &RunData) -> Vec<OutcomeShare> {
    let counts = run.outcomes();
    let total: u32 = counts.iter().map(|it| it.1).sum();
    let mut from = 0.0;
    let mut shares = Vec::new();
    for (outcome, count) in counts {
        let percent = 100.0 * f64::from(count) / f64::from(total.max(1));
        shares.push(OutcomeShare {
            name: outcome.name(),
            meaning: outcome.meaning(),
            count,
            percent,
            from,
        });
        from += percent;
    }
    shares
}

/// Returns what workers on other machines have done: how many kernels, how many of these were right
/// and how many could not be judged, and how long it took.
pub(super) fn worker_rows(run: &RunData) -> Vec<Vec<String>> {
    let row = |it: &WorkerShare| {
        let counts = [it.kernels, it.right, it.faults].map(|it| grouped(u64::from(it)));
        let mut row = vec![it.worker.clone()];
        row.extend(counts);
        row.push(format!("{:.1} s", it.wall_s));
        row
    };
    run.workers.iter().map(row).collect()
}

/// Returns the kinds of errors that kernels had, with an example, most frequent first.
pub(super) fn findings(run: &RunData) -> Vec<(String, String, u32)> {
    let mut findings: BTreeMap<&str, (String, u32)> = BTreeMap::new();
    for kernel in &run.kernels {
        let error = kernel
            .evaluation
            .diagnostics
            .iter()
            .find(|it| it.severity == Severity::Error);
        if let Some(error) = error.filter(|_| !kernel.outcome.is_right()) {
            let example = || format!("{}: {}", kernel.name, error.message);
            let entry = findings
                .entry(&error.code)
                .or_insert_with(|| (example(), 0));
            entry.1 += 1;
        }
    }
    let mut findings: Vec<_> = findings
        .into_iter()
        .map(|(code, (example, count))| (code.to_owned(), example, count))
        .collect();
    findings.sort_by_key(|it| std::cmp::Reverse(it.2));
    findings
}

pub(super) fn yield_rows(yields: &[Yield]) -> Vec<Vec<String>> {
    let rows = yields.iter().map(|it| {
        let percent = |count: u32| {
            let share = 100.0 * f64::from(count) / f64::from(it.kernels.max(1));
            format!("{count} ({share:.0} %)")
        };
        vec![
            it.name.clone(),
            it.kernels.to_string(),
            percent(it.right),
            percent(it.faster),
            it.best_gain
                .map_or_else(|| "–".to_owned(), |gain| format!("{}×", times(gain))),
            match it.in_chain {
                0 => "–".to_owned(),
                steps => format!("{}× in {steps}", times(it.factor)),
            },
            if it.usage.requests == 0 {
                "–".to_owned()
            } else {
                dollars(it.usage.cost.0)
            },
        ]
    });
    rows.collect()
}

pub(super) fn kernel_rows(run: &RunData) -> Vec<Vec<String>> {
    let mut kernels: Vec<&Kernel> = run.kernels.iter().collect();
    kernels.sort_by_key(|kernel| (kernel.cost.is_none(), kernel.cost, kernel.evaluation_number));
    let rows = kernels.into_iter().take(MOST_KERNELS).map(|kernel| {
        vec![
            kernel.name.clone(),
            run.parent(kernel)
                .map_or_else(String::new, |it| it.name.clone()),
            kernel
                .cost
                .map_or_else(|| "–".to_owned(), |it| grouped(it.value)),
            kernel
                .gain
                .map_or_else(|| "–".to_owned(), |it| format!("{}×", times(it))),
            kernel.outcome.name().to_owned(),
            kernel
                .menu_item
                .clone()
                .unwrap_or_else(|| "baseline".to_owned()),
            kernel.made_by(),
        ]
    });
    rows.collect()
}

pub(super) fn versions(run: &RunData) -> Vec<(String, String)> {
    let engine = run
        .best()
        .and_then(|kernel| kernel.evaluation.measurement.as_ref())
        .map_or_else(String::new, |it| it.engine.clone());
    let mut versions = vec![
        (
            "run made by autocomp".to_owned(),
            run.started.program.clone(),
        ),
        (
            "report by autocomp".to_owned(),
            env!("CARGO_PKG_VERSION").to_owned(),
        ),
        ("compiler".to_owned(), run.started.compiler.clone()),
        ("measured by".to_owned(), engine),
        ("seed".to_owned(), run.started.seed.to_string()),
        ("proposers".to_owned(), run.started.proposers.join(", ")),
    ];
    let history = run.report.history;
    versions.extend(history.map(|it| ("history".to_owned(), it.to_string())));
    versions
}
