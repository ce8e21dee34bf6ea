//! `autocomp runs`: the runs in a folder.

use crate::error::CliError;
use crate::exit_code;
use crate::output::Output;
use crate::run_errors::store_error;
use autocomp_eval::text;
use autocomp_runner::{RunReport, RunState, RunView};
use autocomp_store::list_runs;
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// List the runs in a folder
#[derive(Debug, Args)]
pub struct Arguments {
    /// Folder that holds run folders
    #[arg(default_value = "runs")]
    folder: PathBuf,
}

#[derive(Serialize)]
struct RunsReport {
    folder: PathBuf,
    runs: Vec<RunReport>,
    damaged: Vec<DamagedRun>,
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
    };
    for run in folders {
        match RunView::open(&run) {
            Ok(view) => report.runs.push(view.report()),
            Err(error) => report.damaged.push(DamagedRun {
                run,
                message: error.to_string(),
                remedy: error.remedy(),
            }),
        }
    }
    output.result(&report, || {
        if report.runs.is_empty() && report.damaged.is_empty() {
            return format!("no runs in {}", report.folder.display());
        }
        let mut rows: Vec<Vec<String>> = report.runs.iter().map(row).collect();
        for damaged in &report.damaged {
            rows.push(vec![
                damaged.run.display().to_string(),
                "damaged".to_owned(),
                damaged.message.clone(),
            ]);
        }
        text::table(&rows, &[3, 4])
    })?;
    Ok(exit_code::SUCCESS)
}

fn row(report: &RunReport) -> Vec<String> {
    let best = report.progress.best.as_ref();
    vec![
        report.run.display().to_string(),
        state_name(&report.status),
        report.problem.clone(),
        best.map_or_else(|| "-".to_owned(), |best| text::grouped(best.cost.value)),
        report
            .speedup
            .map_or_else(|| "-".to_owned(), |speedup| format!("{speedup:.2}x")),
        format!("{} evaluations", report.progress.evaluations),
        text::clock(Duration::from_millis(report.elapsed_ms)),
    ]
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
