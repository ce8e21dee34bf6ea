//! `autocomp study`: settings set side by side, each with several seeds.

pub(crate) mod course;
pub(crate) mod file;
pub(crate) mod interval;
mod report;

use super::optimize;
use crate::error::CliError;
use crate::exit_code;
use crate::given_file::LONGEST_TEXT;
use crate::output::Output;
use crate::queueing::QueueOptions;
use crate::run_errors::{run_error, store_error};
use crate::settings::Settings;
use crate::workplace::{Workplace, WorkplaceOptions};
use autocomp_core::{CostObject, StopReason, UsdMicros};
use autocomp_runner::{RunError, RunState, RunView};
use autocomp_store::{StoreError, read_file, replace_file};
use clap::Args;
use course::Course;
use file::{StudyFile, StudyRun};
use report::{Measured, RunRow, report, report_text};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// File of a study with the hashes of its problems.
const PROBLEMS: &str = "problems.json";

/// Compare settings: each arm with several seeds, all within the same budget
///
/// Runs every arm of the study file on every problem with every seed, one run after the
/// other, and reports medians with their intervals. A study that was interrupted goes on
/// when the same command is given again; runs that are finished are not repeated.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Study file (TOML): problems, seeds, budget, common settings, and one `[[arm]]` for each
    /// variant of them
    file: PathBuf,
    /// Folder of the study, with one run folder for each run [default: `studies/NAME`, after
    /// the file]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Report on the runs that are there, and start none
    #[arg(long)]
    report: bool,
    #[command(flatten)]
    workplace: WorkplaceOptions,
    #[command(flatten)]
    queue: QueueOptions,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    let study = StudyFile::read(&arguments.file)?;
    let stem = arguments.file.file_stem().unwrap_or_default();
    let folder = arguments
        .out
        .clone()
        .unwrap_or_else(|| Path::new("studies").join(stem));
    let runs = study.runs()?;
    if arguments.report && arguments.out.is_some() && !folder.is_dir() {
        let message = format!("there is no folder {} with runs", folder.display());
        return Err(CliError::usage(message)
            .hint("name the folder of a study that was started, or leave `--report` out"));
    }
    let mut code = exit_code::SUCCESS;
    if !arguments.report {
        write_settings(&folder, &runs)?;
        check_problems(&runs, &folder, arguments)?;
        code = run_all(&study, &runs, &folder, arguments, output)?;
    }
    let rows = runs
        .iter()
        .map(|run| row(&folder, run))
        .collect::<Result<Vec<_>, _>>()?;
    let changed = changed_problems(&runs, &folder, arguments)?;
    let report = report(&study, &folder, rows, changed);
    let text = report_text(&report);
    if !arguments.report {
        write(&folder, "report.md", &text)?;
    }
    output.result(&report, || text)?;
    Ok(code)
}

/// Checks that the problems of all runs that are left are there, before one is run and paid.
fn check_problems(runs: &[StudyRun], folder: &Path, arguments: &Arguments) -> Result<(), CliError> {
    let mut checked = BTreeSet::new();
    for run in runs {
        let view = open(&folder.join(&run.name))?;
        if view.is_some_and(|it| it.search.finish().is_some()) {
            continue;
        }
        let (settings, _) = Settings::read(&folder.join(format!("{}.toml", run.name)))?;
        if !checked.insert((&run.problem, settings.target.clone(), settings.data.clone())) {
            continue;
        }
        let mut workplace = Workplace::open(&arguments.workplace)?;
        workplace.prefer_target(settings.target.as_deref());
        for data in &settings.data {
            workplace.add_data(data)?;
        }
        workplace.problem(&run.problem)?;
    }
    Ok(())
}

/// Runs what is not finished yet, in the order of the file. Returns the exit code.
fn run_all(
    study: &StudyFile,
    runs: &[StudyRun],
    folder: &Path,
    arguments: &Arguments,
    output: Output,
) -> Result<u8, CliError> {
    let mut n_stopped = 0;
    for (idx, run) in runs.iter().enumerate() {
        let run_folder = folder.join(&run.name);
        let view = open(&run_folder)?;
        if view
            .as_ref()
            .is_some_and(|view| view.search.finish().is_some())
        {
            continue;
        }
        let own = view.as_ref().map_or(0, spent);
        let max_usd = match study.max_usd {
            None => None,
            Some(most) => {
                let others = runs.iter().filter(|other| other.name != run.name);
                let mut left = most * 1e6;
                for other in others {
                    left -= open(&folder.join(&other.name))?.as_ref().map_or(0, spent) as f64;
                }
                if left <= own as f64 {
                    output.message(format!(
                        "the study's budget of ${most} is spent, and {} runs are left; raise \
                         `max_usd` and give the same command again",
                        runs.len() - idx
                    ));
                    return Ok(exit_code::ENVIRONMENT);
                }
                Some(left / 1e6)
            }
        };
        output.message(format!("run {} of {}: {}", idx + 1, runs.len(), run.name));
        let end = optimize::search(
            &optimize::Arguments::of_study(
                &folder.join(format!("{}.toml", run.name)),
                &run_folder,
                view.is_some(),
                max_usd,
                &arguments.workplace,
                &arguments.queue,
            ),
            output,
        )?;
        let Some(stop) = end.stop else { continue };
        output.message(format!("{} has stopped: {}", run.name, stop.message));
        if stop.reason == StopReason::Interrupted {
            output.message("the study goes on when the same command is given again");
            return Ok(exit_code::INTERRUPTED);
        }
        n_stopped += 1;
    }
    if 0 < n_stopped {
        output.message(format!(
            "{n_stopped} runs have stopped before their end; the same command goes on with them"
        ));
        return Ok(exit_code::ENVIRONMENT);
    }
    Ok(exit_code::SUCCESS)
}

/// Writes the settings of each run beside its folder, where those of an earlier session
/// must be the same.
fn write_settings(folder: &Path, runs: &[StudyRun]) -> Result<(), CliError> {
    fs::create_dir_all(folder).map_err(|error| {
        CliError::environment(format!("failed to create {}: {error}", folder.display()))
    })?;
    for run in runs {
        let name = format!("{}.toml", run.name);
        let before = read_file(folder, &name, LONGEST_TEXT).map_err(|error| store_error(&error))?;
        match before {
            Some(before) if before != run.settings.as_bytes() => {
                return Err(CliError::usage(format!(
                    "the settings of run {} are others than those that {} was made with",
                    run.name,
                    folder.display()
                ))
                .hint("name another folder with `--out`, or take the change back"));
            }
            Some(_) => {}
            None => write(folder, &name, &run.settings)?,
        }
    }
    Ok(())
}

/// Returns the problems that are others now than when the study first ran them, and notes those
/// that it had not run.
fn changed_problems(
    runs: &[StudyRun],
    folder: &Path,
    arguments: &Arguments,
) -> Result<Vec<String>, CliError> {
    let mut workplace = Workplace::open(&arguments.workplace)?;
    let before = match folder.exists() {
        true => read_file(folder, PROBLEMS, LONGEST_TEXT).map_err(|error| store_error(&error))?,
        false => None,
    };
    let noted: BTreeMap<String, String> = before
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default();
    let (mut all, mut changed) = (noted.clone(), Vec::new());
    let names: BTreeSet<&String> = runs.iter().map(|run| &run.problem).collect();
    for name in names {
        // One that is gone is told by its runs.
        let Ok(problem) = workplace.problem(name) else {
            continue;
        };
        let hash = problem.content_hash.to_string();
        match noted.get(name) {
            Some(noted) if *noted != hash => changed.push(name.clone()),
            Some(_) => {}
            None => {
                all.insert(name.clone(), hash);
            }
        }
    }
    if !arguments.report && all != noted {
        let text = serde_json::to_string_pretty(&all).map_err(CliError::internal)?;
        write(folder, PROBLEMS, &text)?;
    }
    Ok(changed)
}

/// Writes a file into the folder of the study, which may come from somebody else: not through a
/// link.
fn write(folder: &Path, name: &str, text: &str) -> Result<(), CliError> {
    replace_file(folder, name, text.as_bytes()).map_err(|error| store_error(&error))
}

/// Opens a run of the study; nothing if it was never started.
fn open(folder: &Path) -> Result<Option<RunView>, CliError> {
    if !folder.exists() {
        return Ok(None);
    }
    match RunView::open(folder) {
        Ok(view) => Ok(Some(view)),
        Err(RunError::Store(StoreError::NotStarted { .. } | StoreError::NotARun { .. })) => {
            Ok(None)
        }
        Err(error) => Err(run_error(&error)),
    }
}

/// Returns what a run has cost, calls included that may have been billed, in millionths of
/// a dollar.
fn spent(view: &RunView) -> u64 {
    let mut usage = view.search.usage();
    usage.add(&view.search.unsettled());
    let UsdMicros(cost) = usage.cost;
    cost
}

fn row(folder: &Path, run: &StudyRun) -> Result<RunRow, CliError> {
    let folder = folder.join(&run.name);
    let view = open(&folder)?;
    let progress = view.as_ref().map(|view| view.search.progress());
    let best = progress
        .as_ref()
        .and_then(|progress| progress.best.as_ref());
    let (state, reason) = match view.as_ref().map(RunView::state) {
        None => ("absent", String::new()),
        Some(RunState::Finished { message, .. }) => ("finished", message),
        Some(RunState::Stopped { message, .. }) => ("stopped", message),
        Some(RunState::Running { .. }) => ("running", String::new()),
        Some(_) => ("broken", String::new()),
    };
    let course = view.as_ref().map_or_else(Course::default, |view| {
        Course::of(view.events.iter().map(|stored| &stored.event))
    });
    let best_cost: Option<CostObject> = best.map(|best| best.cost.into());
    let settings = Settings::parse(&run.settings, &run.name)?;
    let measured = view.as_ref().zip(best_cost).map(|(view, cost)| Measured {
        evaluator: view.search.started().evaluator,
        for_models: !settings.language_models().is_empty(),
        unit: cost.unit,
    });
    Ok(RunRow {
        measured,
        arm: run.arm.clone(),
        problem: run.problem.clone(),
        max_evaluations: run.max_evaluations,
        seed: run.seed,
        run: folder,
        state,
        reason,
        best_cost,
        speedup: progress.as_ref().and_then(|progress| progress.speedup()),
        evaluations: progress.as_ref().map_or(0, |progress| progress.evaluations),
        evaluations_to_best: course.evaluations_to_best(),
        cost_usd: view.as_ref().map_or(0, spent) as f64 / 1e6,
        course,
    })
}
