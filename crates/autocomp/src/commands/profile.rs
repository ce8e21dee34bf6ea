//! `autocomp profile`: where the cycles of a kernel go.

use crate::commands::eval::kernel_source;
use crate::error::CliError;
use crate::evaluation_text::evaluation_text;
use crate::exit_code;
use crate::measuring::{Bench, evaluator_settings};
use crate::output::Output;
use crate::profile_text::profile_text;
use crate::run_errors::eval_error;
use crate::workplace::{Workplace, WorkplaceOptions};
use autocomp_core::{Diagnostic, Outcome};
use autocomp_eval::Profiled;
use autocomp_eval::profile::Profile;
use clap::Args;
use serde::Serialize;
use std::fs;
use std::path::PathBuf;

/// Say where the cycles of a kernel go: by cause, line, unit and buffer
///
/// Exits with 0 if the kernel is ok, and with 1 if it is not.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Problem, by name or folder
    problem: String,
    /// Kernel: a C file, or the name of one of the problem's kernels
    #[arg(long, default_value = "baseline", value_name = "FILE")]
    kernel: String,
    /// Machine to measure on [default: the target's]
    #[arg(long)]
    machine: Option<String>,
    /// Write a timeline in Chrome's trace format, for ui.perfetto.dev
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    #[command(flatten)]
    workplace: WorkplaceOptions,
}

/// The result; field names are stable.
#[derive(Serialize)]
struct ProfileReport<'a> {
    problem: &'a str,
    target: &'a str,
    machine: &'a str,
    kernel: &'a str,
    outcome: Outcome,
    diagnostics: &'a [Diagnostic],
    /// Null unless the outcome is `ok`.
    profile: Option<&'a Profile>,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    let mut workplace = Workplace::open(&arguments.workplace)?;
    let problem = workplace.problem(&arguments.problem)?;
    let source = kernel_source(&problem, &arguments.kernel)?;
    let settings = evaluator_settings(true);
    let bench = Bench::open(
        &mut workplace,
        &arguments.problem,
        arguments.machine.as_deref(),
        settings,
        output,
    )?;
    let profiled = bench
        .evaluator
        .profile(&source)
        .map_err(|error| eval_error(&error))?;
    let mut report = ProfileReport {
        problem: &bench.problem.name,
        target: &bench.target.name,
        machine: &bench.machine,
        kernel: &arguments.kernel,
        outcome: Outcome::Ok,
        diagnostics: &[],
        profile: None,
    };
    match &profiled {
        Profiled::Failed(evaluation) => {
            report.outcome = evaluation.outcome;
            report.diagnostics = &evaluation.diagnostics;
            output.result(&report, || evaluation_text(evaluation))?;
            Ok(exit_code::NEGATIVE)
        }
        Profiled::Right { profile, timeline } => {
            if let Some(path) = &arguments.trace {
                let trace = timeline.chrome_trace().to_string();
                fs::write(path, trace).map_err(|error| {
                    CliError::environment(format!("failed to write {}: {error}", path.display()))
                })?;
                let path = path.display();
                output.message(format!(
                    "the timeline is in {path}; ui.perfetto.dev opens it"
                ));
            }
            report.profile = Some(profile);
            output.result(&report, || profile_text(profile, output.is_coloured()))?;
            Ok(exit_code::SUCCESS)
        }
    }
}
