//! `autocomp runs`: the runs in a folder.

use crate::error::CliError;
use crate::exit_code;
use crate::output::{BAD, GOOD, NAME, Output};
use crate::run_errors::store_error;
use crate::table::{Cell, Table};
use autocomp_eval::text;
use autocomp_reports::change::times;
use autocomp_runner::{RunReport, RunState, RunView};
use autocomp_store::list_runs;
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

/// List the runs in a folder
#[derive(Debug, Args)]
pub struct Arguments {
    /// Folder that holds run folders
    #[arg(default_value = "runs")]
    folder: PathBuf,
    /// List only runs of problems whose name contains this
    #[arg(long)]
    problem: Option<String>,
    /// List only runs in this state
    #[arg(long)]
    state: Option<State>,
    /// What the list is sorted by
    #[arg(long, default_value = "name")]
    sort: Sort,
    /// Runs that are listed at most, the first ones in that order [default: all]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Leave out the run folder of this name; may be given several times
    #[arg(long, value_name = "NAME", hide = true)]
    without: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum State {
    Running,
    Finished,
    Stopped,
    Broken,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Sort {
    /// By the name of the run folder
    Name,
    /// Newest first
    Date,
    /// Largest speedup first
    Speedup,
    /// By problem, cheapest best kernel first
    Problem,
}

impl Arguments {
    fn admits(&self, report: &RunReport) -> bool {
        let problem = self.problem.as_ref();
        let is_in = |state: State| match report.status {
            RunState::Running { .. } => state == State::Running,
            RunState::Finished { .. } => state == State::Finished,
            RunState::Stopped { .. } => state == State::Stopped,
            _ => state == State::Broken,
        };
        problem.is_none_or(|word| report.problem.contains(word.as_str()))
            && self.state.is_none_or(is_in)
    }

    fn sort(&self, runs: &mut [RunReport]) {
        match self.sort {
            Sort::Name => {}
            Sort::Date => runs.sort_by_key(|it| std::cmp::Reverse(it.started_at_ms)),
            Sort::Speedup => runs.sort_by(|a, b| {
                let speedup = |it: &RunReport| it.speedup.unwrap_or(0.0);
                speedup(b).total_cmp(&speedup(a))
            }),
            Sort::Problem => runs.sort_by_key(|it| {
                let best = it.progress.best.as_ref().map(|best| best.cost);
                (it.problem.clone(), best.is_none(), best)
            }),
        }
    }
}

#[derive(Serialize)]
struct RunsReport {
    folder: PathBuf,
    runs: Vec<RunReport>,
    damaged: Vec<DamagedRun>,
    /// Runs that `--limit` leaves out.
    left_out: usize,
}

#[derive(Serialize)]
struct DamagedRun {
    run: PathBuf,
    message: String,
    remedy: String,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    let folders = if arguments.folder.exists() {
        list_runs(&arguments.folder).map_err(|error| store_error(&error))?
    } else if arguments.folder == Path::new("runs") {
        Vec::new()
    } else {
        return Err(CliError::usage(format!("there is no folder {}", arguments.folder.display()))
            .hint("name the folder that holds the run folders; `autocomp optimize` makes them in `runs`"));
    };
    let mut report = RunsReport {
        folder: arguments.folder.clone(),
        runs: Vec::new(),
        damaged: Vec::new(),
        left_out: 0,
    };
    let is_left_out = |run: &PathBuf| {
        let name = run.file_name();
        name.is_some_and(|name| arguments.without.iter().any(|it| it == name))
    };
    for run in folders.into_iter().filter(|it| !is_left_out(it)) {
        match RunView::open(&run) {
            Ok(view) => {
                let run = match output.is_json() {
                    true => view.whole_report(),
                    false => view.report(),
                };
                if arguments.admits(&run) {
                    report.runs.push(run);
                }
            }
            Err(error) => report.damaged.push(DamagedRun {
                run,
                message: error.to_string(),
                remedy: error.remedy(),
            }),
        }
    }
    arguments.sort(&mut report.runs);
    let n_left_out = arguments
        .limit
        .map_or(0, |most| report.runs.len().saturating_sub(most));
    report.runs.truncate(arguments.limit.unwrap_or(usize::MAX));
    report.left_out = n_left_out;
    output.result(&report, || {
        if report.runs.is_empty() && report.damaged.is_empty() {
            return format!("no runs in {}", report.folder.display());
        }
        let mut rows: Vec<Vec<Cell>> = report.runs.iter().map(row).collect();
        for damaged in &report.damaged {
            rows.push(vec![
                Cell::from(damaged.run.display().to_string()),
                Cell::from("damaged").styled(BAD),
            ]);
        }
        let table = Table {
            head: &[
                "run",
                "state",
                "problem",
                "best",
                "speedup",
                "peak",
                "evaluations",
                "time",
                "started (UTC)",
            ],
            right: &[3, 4, 5, 6, 7],
            flexible: &[2, 0],
            optional: &[6, 7, 5, 8, 1],
        };
        let mut out = table.text(&rows, output.width(), output.is_coloured());
        for damaged in &report.damaged {
            out += &format!("{}: {}\n", damaged.run.display(), damaged.message);
        }
        if 0 < report.left_out {
            out += &format!("{} more runs are left out by `--limit`\n", report.left_out);
        }
        out
    })?;
    Ok(exit_code::SUCCESS)
}

fn row(report: &RunReport) -> Vec<Cell> {
    let best = report.progress.best.as_ref();
    let none = || "-".to_owned();
    let state = Cell::from(state_name(&report.status));
    vec![
        Cell::from(report.run.display().to_string()).styled(NAME),
        match report.status {
            RunState::Running { .. } => state.styled(GOOD),
            RunState::Broken => state.styled(BAD),
            _ => state,
        },
        Cell::from(report.problem.clone()),
        Cell::from(best.map_or_else(none, |best| {
            format!("{} {}", text::grouped(best.cost.value), best.cost.unit)
        })),
        Cell::from(
            report
                .speedup
                .map_or_else(none, |speedup| match report.nothing_faster {
                    Some(_) => "no gain".to_owned(),
                    None => format!("{}x", times(speedup)),
                }),
        ),
        Cell::from(best.map_or_else(none, |best| format!("{:.1} %", best.percent_of_peak))),
        Cell::from(report.progress.evaluations.to_string()),
        Cell::from(text::clock(Duration::from_millis(report.elapsed_ms))),
        Cell::from(date_text(report.started_at_ms)),
    ]
}

/// Returns a time since 1970 UTC as a date and a time of day.
fn date_text(at_ms: u64) -> String {
    let time = UNIX_EPOCH + Duration::from_millis(at_ms);
    // "2026-11-23T14:39:38Z"
    let text = humantime::format_rfc3339_seconds(time).to_string();
    text.replace('T', " ").chars().take(16).collect()
}

/// Returns what a run is doing, in a sentence.
pub fn state_text(state: &RunState) -> String {
    match state {
        RunState::Finished { message, .. } => format!("finished: {message}"),
        RunState::Stopped { message, .. } => format!("stopped, can be resumed: {message}"),
        RunState::Broken => "broken off, can be resumed".to_owned(),
        _ => state_name(state),
    }
}

/// Returns what a run is doing, in a few words.
pub fn state_name(state: &RunState) -> String {
    match state {
        RunState::Running { holder } => format!("running ({holder})"),
        RunState::Finished { reason, .. } => format!("finished ({})", reason.name()),
        RunState::Stopped { reason, .. } => format!("stopped ({})", reason.name()),
        RunState::Broken => "broken off".to_owned(),
        _ => "unknown".to_owned(),
    }
}
