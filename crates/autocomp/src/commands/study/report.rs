//! What a study has found: medians with intervals.

use super::file::StudyFile;
use autocomp_core::{CostObject, Seed};
use autocomp_eval::text;
use autocomp_reports::change::times;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// How often runs are drawn again for an interval.
const RESAMPLES: usize = 4000;

/// A study in numbers; field names are stable.
#[derive(Debug, Serialize)]
pub struct StudyReport {
    study: PathBuf,
    max_evaluations: u32,
    /// What models have cost, all runs together.
    cost_usd: f64,
    /// Runs by state: finished, and all.
    finished: usize,
    total: usize,
    arms: Vec<ArmReport>,
    runs: Vec<RunRow>,
}

/// One run of a study.
#[derive(Debug, Serialize)]
pub struct RunRow {
    pub arm: String,
    pub problem: String,
    pub seed: u64,
    pub run: PathBuf,
    /// `finished`, `stopped`, `running`, `broken` or `absent`.
    pub state: &'static str,
    /// Why it finished or stopped, in words.
    pub reason: String,
    pub best_cost: Option<CostObject>,
    pub speedup: Option<f64>,
    pub evaluations: u32,
    pub cost_usd: f64,
}

/// An arm on one problem: finished runs only.
#[derive(Debug, Serialize)]
struct ArmReport {
    arm: String,
    problem: String,
    finished: usize,
    /// Cost of the best kernel.
    cost: Option<Interval>,
    /// Cost of the baseline by that of the best kernel.
    speedup: Option<Interval>,
    /// Cost of the first arm's best kernel by that of this one's, by pairs of equal seeds.
    ratio_to_first: Option<Interval>,
    /// Median of the evaluations.
    evaluations: f64,
    cost_usd: f64,
}

/// A median, and where it would lie in 95 of 100 studies with other seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    median: f64,
    low: f64,
    high: f64,
}

impl Interval {
    /// Returns the median of `figures` with its percentile bootstrap interval; the draws
    /// are the same for equal figures. Nothing without figures.
    fn of(figures: &[f64]) -> Option<Self> {
        let middle = median(figures)?;
        let mut seed = Seed(figures.len() as u64);
        let mut medians: Vec<f64> = (0..RESAMPLES)
            .filter_map(|_| {
                let drawn: Vec<f64> = figures
                    .iter()
                    .map(|_| figures[seed.below(figures.len())])
                    .collect();
                median(&drawn)
            })
            .collect();
        medians.sort_by(f64::total_cmp);
        Some(Self {
            median: middle,
            low: medians[RESAMPLES / 40],
            high: medians[RESAMPLES - 1 - RESAMPLES / 40],
        })
    }

    fn text(self, show: impl Fn(f64) -> String) -> String {
        let Self { median, low, high } = self;
        format!("{} [{}, {}]", show(median), show(low), show(high))
    }
}

fn median(figures: &[f64]) -> Option<f64> {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = sorted[(sorted.len() - 1) / 2];
    Some(f64::midpoint(lower, upper))
}

/// Sums up the runs of a study.
pub fn report(study: &StudyFile, folder: &Path, runs: Vec<RunRow>) -> StudyReport {
    let mut arms = Vec::new();
    for problem in &study.problems {
        for arm in &study.arms {
            let of = |arm: &str| -> Vec<&RunRow> {
                let is_ours = |run: &&RunRow| run.arm == arm && run.problem == *problem;
                let finished = runs.iter().filter(is_ours);
                finished.filter(|run| run.state == "finished").collect()
            };
            let (own, first) = (of(&arm.name), of(&study.arms[0].name));
            let best = |run: &RunRow| run.best_cost.map(|cost| cost.value as f64);
            let costs: Vec<f64> = own.iter().filter_map(|run| best(run)).collect();
            let speedups: Vec<f64> = own.iter().filter_map(|run| run.speedup).collect();
            let pairs = own.iter().filter_map(|run| {
                let other = first.iter().find(|other| other.seed == run.seed)?;
                Some(best(other)? / best(run)?)
            });
            let evaluations: Vec<f64> = own.iter().map(|run| f64::from(run.evaluations)).collect();
            arms.push(ArmReport {
                arm: arm.name.clone(),
                problem: problem.clone(),
                finished: own.len(),
                cost: Interval::of(&costs),
                speedup: Interval::of(&speedups),
                ratio_to_first: Interval::of(&pairs.collect::<Vec<f64>>()),
                evaluations: median(&evaluations).unwrap_or_default(),
                cost_usd: own.iter().map(|run| run.cost_usd).sum(),
            });
        }
    }
    StudyReport {
        study: std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()),
        max_evaluations: study.max_evaluations,
        cost_usd: runs.iter().map(|run| run.cost_usd).sum(),
        finished: runs.iter().filter(|run| run.state == "finished").count(),
        total: runs.len(),
        arms,
        runs,
    }
}

/// Returns the report in Markdown.
pub fn report_text(report: &StudyReport) -> String {
    let mut lines = vec![format!(
        "{} of {} runs finished, at most {} evaluations each, {} for models\n",
        report.finished,
        report.total,
        report.max_evaluations,
        text::dollars((report.cost_usd * 1e6) as u64),
    )];
    let mut problem = "";
    for arm in &report.arms {
        if arm.problem != problem {
            problem = &arm.problem;
            lines.push(format!("## {problem}\n"));
            lines.push(
                "| arm | runs | best cost | speedup | first arm by this one | evaluations | cost |"
                    .to_owned(),
            );
            lines.push("|---|---|---|---|---|---|---|".to_owned());
        }
        let show = |interval: Option<Interval>, show: &dyn Fn(f64) -> String| {
            interval.map_or("-".to_owned(), |it| it.text(show))
        };
        lines.push(format!(
            "| {} | {} | {} | {} | {} | {} | {} |",
            arm.arm,
            arm.finished,
            show(arm.cost, &|value| text::grouped(value.round() as u64)),
            show(arm.speedup, &|value| format!("{}x", times(value))),
            show(arm.ratio_to_first, &|value| format!("{value:.3}")),
            arm.evaluations,
            text::dollars((arm.cost_usd * 1e6) as u64),
        ));
    }
    lines.push("\nMedians over seeds, with 95 % intervals (percentile bootstrap).".to_owned());
    let unfinished: Vec<&RunRow> = report
        .runs
        .iter()
        .filter(|run| run.state != "finished")
        .collect();
    for run in unfinished {
        lines.push(format!(
            "- {} is {}: {}",
            run.run.display(),
            run.state,
            run.reason
        ));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::{Interval, median};

    #[test]
    fn medians_have_intervals() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0]), Some(2.0));
        let one = Interval {
            median: 5.0,
            low: 5.0,
            high: 5.0,
        };
        assert_eq!(Interval::of(&[5.0]), Some(one));
        let figures: Vec<f64> = (0..21).map(f64::from).collect();
        let interval = Interval::of(&figures).unwrap();
        assert_eq!(interval.median, 10.0);
        assert!((3.0..8.0).contains(&interval.low), "{interval:?}");
        assert!((12.0..17.0).contains(&interval.high), "{interval:?}");
    }
}
