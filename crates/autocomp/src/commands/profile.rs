//! `autocomp profile`: where the cost of a kernel goes.

use crate::commands::eval::kernel_source;
use crate::error::CliError;
use crate::evaluation_text::evaluation_text;
use crate::exit_code;
use crate::measuring::{Bench, evaluator_settings};
use crate::output::{BOLD, Output};
use crate::queueing::QueueOptions;
use crate::registry;
use crate::run_errors::eval_error;
use crate::workplace::{Workplace, WorkplaceOptions};
use autocomp_core::{Diagnostic, Outcome};
use autocomp_eval::profile::{Profiled, Section};
use autocomp_eval::text::grouped;
use autocomp_eval::timeline::{Timeline, WrittenTrace};
use clap::Args;
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Say where the cost of a kernel goes: by cause, line, unit and buffer
///
/// Exits with 0 if the kernel is ok, and with 1 if it is not.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Problem, by name or folder
    problem: String,
    /// Kernel: a file, or the name of one of the problem's kernels
    #[arg(long, default_value = "baseline", value_name = "FILE")]
    kernel: String,
    /// Target to write for, if the problem has several [default: the one that fits this machine]
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
    /// Machine to measure on [default: the target's]
    #[arg(long)]
    machine: Option<String>,
    /// Write a timeline in Chrome's trace format, for ui.perfetto.dev
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Say only what limits the kernel, in words
    #[arg(long, conflicts_with = "trace")]
    brief: bool,
    #[command(flatten)]
    queue: QueueOptions,
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
    /// Null unless the outcome is `ok`, and with `--brief`.
    profile: Option<&'a serde_json::Value>,
    /// What people read of it, in order; none unless the outcome is `ok`.
    sections: &'a [Section],
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    let mut workplace = Workplace::open(&arguments.workplace)?
        .evaluating_by(arguments.queue.connect(&arguments.problem, None, output)?);
    workplace.prefer_target(arguments.target.as_deref());
    let problem = workplace.problem(&arguments.problem)?;
    let target = workplace.target_of(&problem)?;
    registry::check_language(&arguments.kernel, registry::language(&target)?)?;
    let source = kernel_source(&problem, &arguments.kernel)?;
    if arguments.trace.is_some() {
        // Before anything is measured.
        if !registry::family(&target)?.has_timelines() {
            return Err(CliError::usage(format!(
                "there is no timeline of kernels for target {}",
                target.name
            ))
            .hint("leave `--trace` out"));
        }
    }
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
        .profile_with(&source, arguments.trace.is_some())
        .map_err(|error| eval_error(&error))?;
    let mut report = ProfileReport {
        problem: &bench.problem.name,
        target: &bench.target.name,
        machine: &bench.machine,
        kernel: &arguments.kernel,
        outcome: Outcome::Ok,
        diagnostics: &[],
        profile: None,
        sections: &[],
    };
    match &profiled {
        Profiled::Failed(evaluation) => {
            report.outcome = evaluation.outcome;
            report.diagnostics = &evaluation.diagnostics;
            output.result(&report, || {
                evaluation_text(evaluation, output.prose_width())
            })?;
            Ok(exit_code::NEGATIVE)
        }
        Profiled::Right(profile) => {
            if let (Some(path), Some(timeline)) = (&arguments.trace, &profile.timeline) {
                // Viewers have room for a few words only.
                let title = bench.problem.name.rsplit('/').next();
                let written =
                    write_trace(timeline, title.unwrap_or_default(), path).map_err(|error| {
                        CliError::environment(format!(
                            "failed to write {}: {error}",
                            path.display()
                        ))
                        .hint("name a file in a folder that exists and can be written to")
                    })?;
                output.message(format!(
                    "the timeline is in {} ({} events); ui.perfetto.dev opens it",
                    path.display(),
                    grouped(written.events as u64),
                ));
                if let Some(end) = written.cut_at {
                    output.message(format!(
                        "it shows the first {} {}s; what comes after is too much for viewers",
                        grouped(end),
                        timeline.unit,
                    ));
                }
            }
            report.sections = &profile.sections;
            if arguments.brief {
                report.sections = &profile.sections[..profile.sections.len().min(1)];
            } else {
                report.profile = Some(&profile.data);
            }
            let sections = report.sections;
            output.result(&report, || profile_text(sections, output.is_coloured()))?;
            Ok(exit_code::SUCCESS)
        }
    }
}

/// Returns the sections below each other; headings are bold if `coloured`.
fn profile_text(sections: &[Section], coloured: bool) -> String {
    let mut out = String::new();
    for section in sections {
        if let Some(title) = &section.title {
            out += &format!("\n{}\n", BOLD.paint(title, coloured));
        }
        out += &section.text;
    }
    out
}

fn write_trace(timeline: &Timeline, title: &str, path: &Path) -> io::Result<WrittenTrace> {
    let mut out = BufWriter::new(File::create(path)?);
    let written = timeline.write_chrome_trace(title, &mut out)?;
    out.flush()?;
    Ok(written)
}
