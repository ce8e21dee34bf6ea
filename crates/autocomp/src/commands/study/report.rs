//! What a study has found: medians with intervals.

use super::course::Course;
use super::file::StudyFile;
use super::interval::{Interval, median};
use autocomp_core::{ContentHash, CostObject, Unit};
use autocomp_eval::text;
use autocomp_reports::change::times;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A study in numbers; field names are stable.
#[derive(Debug, Serialize)]
pub struct StudyReport {
    study: PathBuf,
    /// Evaluations of a run at most; the most, if there are several budgets.
    max_evaluations: u32,
    /// What models have cost, all runs together.
    cost_usd: f64,
    /// Runs by state: finished, and all.
    finished: usize,
    total: usize,
    arms: Vec<ArmReport>,
    runs: Vec<RunRow>,
    /// Problems that are others now than when the study first ran them.
    changed: Vec<String>,
}

/// One run of a study.
#[derive(Debug, Serialize)]
pub struct RunRow {
    pub arm: String,
    pub problem: String,
    pub max_evaluations: u32,
    pub seed: u64,
    pub run: PathBuf,
    /// `finished`, `stopped`, `running`, `broken` or `absent`.
    pub state: &'static str,
    /// Why it finished or stopped, in words.
    pub reason: String,
    pub best_cost: Option<CostObject>,
    pub speedup: Option<f64>,
    pub evaluations: u32,
    /// Evaluations until its best kernel.
    pub evaluations_to_best: Option<u32>,
    pub cost_usd: f64,
    #[serde(skip)]
    pub course: Course,
    #[serde(skip)]
    pub measured: Option<Measured>,
}

/// By what the kernels of a run were measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Identity of the evaluator: problem, target, machine, compiler.
    pub evaluator: ContentHash,
    /// Whether models are asked, for whom evaluators do more than measure, and have another
    /// identity.
    pub for_models: bool,
    pub unit: Unit,
}

impl Measured {
    /// Returns whether costs of both are costs of one thing.
    fn compares(&self, other: &Self) -> bool {
        let is_told = self.for_models == other.for_models;
        self.unit == other.unit && (!is_told || self.evaluator == other.evaluator)
    }
}

/// Returns whether the costs of two runs can be compared.
fn compare(one: &RunRow, other: &RunRow) -> bool {
    let both = one.measured.as_ref().zip(other.measured.as_ref());
    both.is_some_and(|(one, other)| one.compares(other))
}

/// An arm on one problem within one budget: finished runs only.
#[derive(Debug, Serialize)]
struct ArmReport {
    arm: String,
    problem: String,
    max_evaluations: u32,
    finished: usize,
    /// Cost of the best kernel.
    cost: Option<Interval>,
    /// Cost of the baseline by that of the best kernel.
    speedup: Option<Interval>,
    /// Unit of the costs.
    unit: Option<Unit>,
    /// Whether all of its runs were measured by the same problem, machine and compiler as those
    /// of the first arm.
    is_compared: bool,
    /// Cost of the first arm's best kernel by that of this one's, by pairs of equal seeds.
    ratio_to_first: Option<Interval>,
    /// Median of the evaluations until a kernel was within 1 % of the best of all arms; nothing
    /// if most runs found none.
    evaluations_to_one_percent: Option<f64>,
    /// Median of the evaluations until a run's own best kernel.
    evaluations_to_best: Option<f64>,
    /// Median of the evaluations.
    evaluations: f64,
    cost_usd: f64,
}

/// What counts as nearly the best of all arms: its cost times this.
const NEARLY: f64 = 1.01;

/// Columns of the tables in the text.
const COLUMNS: [&str; 9] = [
    "arm",
    "runs",
    "best cost",
    "speedup",
    "first arm by this one",
    "within 1 %",
    "own best",
    "evaluations",
    "cost",
];

/// Sums up the runs of a study.
pub fn report(
    study: &StudyFile,
    folder: &Path,
    runs: Vec<RunRow>,
    changed: Vec<String>,
) -> StudyReport {
    let mut arms = Vec::new();
    for problem in &study.problems {
        for max_evaluations in study.max_evaluations.all() {
            let is_ours = |run: &&RunRow| {
                run.problem == *problem
                    && run.max_evaluations == *max_evaluations
                    && run.state == "finished"
            };
            let finished: Vec<&RunRow> = runs.iter().filter(is_ours).collect();
            arms.extend(study.arms.iter().map(|arm| ArmReport {
                problem: problem.clone(),
                max_evaluations: *max_evaluations,
                ..arm_report(&arm.name, &study.arms[0].name, &finished)
            }));
        }
    }
    StudyReport {
        study: std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()),
        max_evaluations: study.max_evaluations.most(),
        cost_usd: runs.iter().map(|run| run.cost_usd).sum(),
        finished: runs.iter().filter(|run| run.state == "finished").count(),
        total: runs.len(),
        arms,
        runs,
        changed,
    }
}

/// Sums up the runs of the arm `name` among those of all arms on one problem within one
/// budget, of which the arm `first` is compared with.
fn arm_report(name: &str, first: &str, runs: &[&RunRow]) -> ArmReport {
    let of = |arm: &str| -> Vec<&RunRow> {
        let is_of = |run: &&&RunRow| run.arm == arm;
        runs.iter().filter(is_of).copied().collect()
    };
    let (own, first) = (of(name), of(first));
    let best = |run: &RunRow| run.best_cost.map(|cost| cost.value as f64);
    let costs: Vec<f64> = own.iter().filter_map(|run| best(run)).collect();
    let speedups: Vec<f64> = own.iter().filter_map(|run| run.speedup).collect();
    let is_alike = |run: &RunRow| first.iter().all(|other| compare(run, other));
    let is_compared = own.iter().all(|run| is_alike(run));
    let pairs = own.iter().filter(|run| is_alike(run)).filter_map(|run| {
        let other = first.iter().find(|other| other.seed == run.seed)?;
        Some(best(other)? / best(run)?)
    });
    let evaluations: Vec<f64> = own.iter().map(|run| f64::from(run.evaluations)).collect();
    let best_of_all = |run: &RunRow| {
        let alike = runs.iter().filter(|other| compare(run, other));
        alike.filter_map(|it| best(it)).min_by(f64::total_cmp)
    };
    // A run that never came there counts as one that takes for ever.
    let to_nearly = own.iter().map(|run| {
        let enough = best_of_all(run).map(|best| best * NEARLY);
        let count = enough.and_then(|enough| run.course.evaluations_to(enough));
        count.map_or(f64::INFINITY, f64::from)
    });
    let to_nearly = median(&to_nearly.collect::<Vec<f64>>());
    let to_best = own.iter().filter_map(|run| run.evaluations_to_best);
    let to_best: Vec<f64> = to_best.map(f64::from).collect();
    ArmReport {
        arm: name.to_owned(),
        problem: String::new(),
        max_evaluations: 0,
        finished: own.len(),
        cost: Interval::of(&costs),
        speedup: Interval::of(&speedups),
        unit: own.iter().find_map(|run| Some(run.best_cost?.unit)),
        is_compared,
        ratio_to_first: Interval::of(&pairs.collect::<Vec<f64>>()),
        evaluations_to_one_percent: to_nearly.filter(|count| count.is_finite()),
        evaluations_to_best: median(&to_best),
        evaluations: median(&evaluations).unwrap_or_default(),
        cost_usd: own.iter().map(|run| run.cost_usd).sum(),
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
    for problem in &report.changed {
        lines.push(format!(
            "The files of {problem} have changed since the study first ran it: figures are of the problem as it was. Name another folder with `--out` for the problem as it is.\n"
        ));
    }
    let has_budgets = report
        .arms
        .iter()
        .any(|arm| arm.max_evaluations != report.max_evaluations);
    let mut title = String::new();
    for arm in &report.arms {
        let own = match has_budgets {
            true => format!("{}, {} evaluations", arm.problem, arm.max_evaluations),
            false => arm.problem.clone(),
        };
        if own != title {
            // A heading stands apart from the table before it.
            if !title.is_empty() {
                lines.push(String::new());
            }
            title = own;
            lines.push(format!("## {title}\n"));
            lines.push(format!("| {} |", COLUMNS.join(" | ")));
            lines.push(format!("|{}", "---|".repeat(COLUMNS.len())));
        }
        let show = |interval: Option<Interval>, show: &dyn Fn(f64) -> String| {
            interval.map_or("-".to_owned(), |it| it.text(show))
        };
        let grouped = |value: f64| text::grouped(value.round() as u64);
        let count = |count: Option<f64>| count.map_or("-".to_owned(), |it| it.to_string());
        let cells = [
            arm.arm.clone(),
            arm.finished.to_string(),
            match arm.unit {
                Some(unit) => format!("{} {unit}", show(arm.cost, &grouped)),
                None => show(arm.cost, &grouped),
            },
            show(arm.speedup, &|value| format!("{}x", times(value))),
            show(arm.ratio_to_first, &|value| format!("{value:.3}")),
            count(arm.evaluations_to_one_percent),
            count(arm.evaluations_to_best),
            arm.evaluations.to_string(),
            text::dollars((arm.cost_usd * 1e6) as u64),
        ];
        lines.push(format!("| {} |", cells.join(" | ")));
    }
    lines.push(
        "\nMedians over seeds, with 95 % intervals (percentile bootstrap). `within 1 %` and `own \
         best` are evaluations, in the order of tasks: until a kernel cost at most 1 % more than \
         the best of all arms within the same budget, `-` if most runs found none, and until a \
         run's own best kernel."
            .to_owned(),
    );
    for arm in report.arms.iter().filter(|arm| !arm.is_compared) {
        lines.push(format!(
            "- {} on {} was measured by another problem, machine or compiler than the first arm: \
             costs are not compared. Where only the problem was changed meanwhile, remove the run \
             folders and give the same command again",
            arm.arm, arm.problem
        ));
    }
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
