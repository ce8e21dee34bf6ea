//! Runs that replay the schedule of another one.

use super::preparing::stored_settings;
use crate::error::CliError;
use crate::run_errors::{run_error, store_error};
use crate::workplace::Workplace;
use autocomp_catalog::{Buffer, Problem, Target};
use autocomp_core::{Cost, Plan};
use autocomp_runner::{RunState, RunView};
use autocomp_store::list_runs;
use std::path::{Path, PathBuf};

/// What stands for the run of the most similar problem.
const AUTO: &str = "auto";

/// What a schedule is wanted for.
pub struct Wanted<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// The target of its kernels.
    pub target: &'a Target,
    /// The folder in which `auto` looks for runs.
    pub runs: &'a Path,
}

/// The schedule of another run.
#[derive(Debug)]
pub struct Reuse {
    /// The folder of the run, good from any folder.
    pub name: String,
    /// Its problem.
    problem: String,
    /// The plans from its baseline to its best kernel, in order.
    pub schedule: Vec<Plan>,
    /// Cost of its best kernel.
    cost: Cost,
}

impl Reuse {
    /// Finds the schedule that `given` names: by the folder of its run, or by `auto`.
    pub fn find(
        given: &str,
        wanted: &Wanted<'_>,
        workplace: &mut Workplace,
    ) -> Result<Self, CliError> {
        if given == AUTO {
            return Self::nearest(wanted, workplace);
        }
        let view = RunView::open(Path::new(given)).map_err(|error| run_error(&error))?;
        let target = &view.search.started().target;
        // A target that is no longer known may be of any family.
        let family = workplace.target(target).map(|target| target.family);
        if family.as_ref().ok() != Some(&wanted.target.family) {
            return Err(CliError::usage(format!(
                "the run to reuse, {given}, is for the target {target}{}, but the kernels for {} are for {} of the family {}",
                family.map_or_else(|_| String::new(), |it| format!(" of the family {it}")),
                wanted.problem.name,
                wanted.target.name,
                wanted.target.family,
            ))
            .hint("name a run of the same family, or leave `--reuse` out"));
        }
        Self::of(Path::new(given), &view)
    }

    /// Returns the schedule of a run that is finished and has found something.
    fn of(folder: &Path, view: &RunView) -> Result<Self, CliError> {
        let given = folder.display();
        if !matches!(view.state(), RunState::Finished { .. }) {
            return Err(
                CliError::usage(format!("the run to reuse, {given}, is not finished")).hint(
                    format!("wait for it, or finish it with `autocomp optimize --resume {given}`"),
                ),
            );
        }
        let lineage = view.search.best_lineage();
        let cost = match lineage.as_slice() {
            [first, .., last] if last.cost.beats(first.cost) => last.cost,
            _ => {
                return Err(CliError::usage(format!(
                    "the run to reuse, {given}, found nothing faster than its baseline, so it has no schedule"
                ))
                .hint(format!(
                    "name a run with a gain (`autocomp runs` lists speedups), or extend it with `autocomp optimize --resume {given} --max-evaluations N`"
                )));
            }
        };
        let records = lineage.iter().filter_map(|step| step.plan.as_ref());
        let schedule: Vec<Plan> = records
            .map(|record| view.plan(record).map_err(|error| run_error(&error)))
            .collect::<Result<_, CliError>>()?;
        let n_taken = view.search.started().taken.len();
        if lineage.get(1).is_some_and(|step| step.key.iteration == 0) && 0 < n_taken {
            return Err(CliError::usage(format!(
                "the run to reuse, {given}, begins with a kernel of another run, so its schedule lacks the steps to that"
            ))
            .hint("name the run that it was started from (`from` in its settings)"));
        }
        Ok(Self {
            name: absolute(folder).display().to_string(),
            problem: view.search.started().problem.clone(),
            schedule,
            cost,
        })
    }

    /// Finds the run of the most similar problem: for the same target, of the same kind,
    /// nearest by shape, and the cheapest of equals.
    fn nearest(wanted: &Wanted<'_>, workplace: &mut Workplace) -> Result<Self, CliError> {
        let mut nearest: Option<((f64, Cost), Self)> = None;
        let folders = list_runs(wanted.runs).map_err(|error| store_error(&error))?;
        for folder in &folders {
            // Runs that cannot be read or reused are no candidates.
            let Ok(view) = RunView::open(folder) else {
                continue;
            };
            if view.search.started().target != wanted.target.name {
                continue;
            }
            let Ok(reuse) = Self::of(folder, &view) else {
                continue;
            };
            let Some(distance) =
                problem_of(&view, workplace).and_then(|problem| distance(&problem, wanted.problem))
            else {
                continue;
            };
            let rank = (distance, reuse.cost);
            let is_nearer = nearest.as_ref().is_none_or(|(best, _)| {
                let order = rank.0.total_cmp(&best.0);
                order.then(rank.1.cmp(&best.1)).is_lt()
            });
            if is_nearer {
                nearest = Some((rank, reuse));
            }
        }
        nearest.map(|(_, reuse)| reuse).ok_or_else(|| {
            CliError::usage(format!(
                "no run in {} can be reused for {}: it takes one that is finished, has a gain, and is of the same kind of problem on {}",
                wanted.runs.display(),
                wanted.problem.name,
                wanted.target.name
            ))
            .hint("name a run with `--reuse FOLDER`, or leave `--reuse` out")
        })
    }

    /// Says what is reused.
    pub fn told(&self) -> String {
        let items: Vec<&str> = self
            .schedule
            .iter()
            .map(|it| it.menu_item.as_str())
            .collect();
        format!(
            "reusing the schedule of {} ({}), {} steps: {}",
            self.name,
            self.problem,
            items.len(),
            items.join(", ")
        )
    }
}

fn absolute(folder: &Path) -> PathBuf {
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned())
}

/// Returns the problem of a run, if it can still be had.
fn problem_of(view: &RunView, workplace: &mut Workplace) -> Option<Problem> {
    let settings = stored_settings(view).ok()?;
    for folder in &settings.data {
        workplace.add_data(folder).ok()?;
    }
    workplace.problem(settings.problem.as_deref()?).ok()
}

/// Returns how far the shapes of two problems are from each other: over all extents, the
/// powers of two between them. None for problems of different kinds, which differ in
/// more than numbers.
fn distance(one: &Problem, other: &Problem) -> Option<f64> {
    let without_numbers =
        |text: &str| -> String { text.chars().filter(|c| !c.is_ascii_digit()).collect() };
    let is_alike = |(one, other): (&Buffer, &Buffer)| {
        (&one.name, one.dtype, one.role, one.shape.len())
            == (&other.name, other.dtype, other.role, other.shape.len())
    };
    let is_same_kind = one.entry == other.entry
        && without_numbers(&one.reference) == without_numbers(&other.reference)
        && one.buffers.len() == other.buffers.len()
        && one.buffers.iter().zip(&other.buffers).all(is_alike);
    is_same_kind.then(|| {
        let extents = |problem: &Problem| -> Vec<u64> {
            let shapes = problem.buffers.iter().flat_map(|it| it.shape.iter());
            shapes.map(|extent| (*extent).max(1)).collect()
        };
        let pairs = extents(one).into_iter().zip(extents(other));
        pairs
            .map(|(one, other)| (one as f64 / other as f64).log2().abs())
            .sum()
    })
}
