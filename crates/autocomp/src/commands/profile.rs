//! `autocomp profile`: where the cycles of a kernel go.

use crate::commands::eval::kernel_source;
use crate::error::CliError;
use crate::evaluation_text::evaluation_text;
use crate::exit_code;
use crate::measuring::{Bench, evaluator_settings};
use crate::output::Output;
use crate::run_errors::eval_error;
use crate::text::{grouped, table, wrapped};
use crate::workplace::{Workplace, WorkplaceOptions};
use autocomp_core::{Diagnostic, Outcome};
use autocomp_eval::Profiled;
use autocomp_eval::profile::Profile;
use clap::Args;
use serde::Serialize;
use std::fs;
use std::path::PathBuf;

/// Lines shown in the table.
const LINES_SHOWN: usize = 16;

/// Characters of a source line shown in the table.
const TEXT_SHOWN: usize = 72;

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
            output.result(&report, || profile_text(profile))?;
            Ok(exit_code::SUCCESS)
        }
    }
}

fn profile_text(profile: &Profile) -> String {
    let cycles = profile.cycles.max(1) as f64;
    let percent = |part: u64| format!("{:.1} %", 100.0 * part as f64 / cycles);
    let mut out = wrapped(&profile.bottleneck, 96, "");
    let mut section = |title: &str, rows: Vec<Vec<String>>, right: &[usize]| {
        if !rows.is_empty() {
            out += &format!("\n{title}\n{}", table(&rows, right));
        }
    };
    let total = vec![
        "  total".to_owned(),
        grouped(profile.cycles),
        percent(profile.cycles),
        String::new(),
    ];
    let causes = profile.causes.iter().map(|it| {
        let explanation = it.cause.explanation().to_owned();
        vec![
            format!("  {}", it.cause.name()),
            grouped(it.cycles),
            percent(it.cycles),
            explanation,
        ]
    });
    section("cycles by cause:", causes.chain([total]).collect(), &[1, 2]);
    let lines = profile.lines.iter().take(LINES_SHOWN).map(|line| {
        let number = line
            .line
            .map_or_else(|| "-".to_owned(), |line| line.to_string());
        let mut causes: Vec<_> = line.causes.iter().collect();
        causes.sort_by_key(|(_, cycles)| std::cmp::Reverse(**cycles));
        let causes: Vec<String> = causes
            .iter()
            .take(2)
            .map(|(cause, cycles)| format!("{} {}", cause.name(), percent(**cycles)))
            .collect();
        let text: String = line.text.chars().take(TEXT_SHOWN).collect();
        vec![
            format!("  {number}"),
            grouped(line.cycles),
            percent(line.cycles),
            causes.join(", "),
            text,
        ]
    });
    section("cycles by line:", lines.collect(), &[0, 1, 2]);
    let waits = profile
        .waits
        .iter()
        .filter(|wait| wait.line != wait.on_line)
        .take(6)
        .map(|wait| {
            vec![
                format!("  line {}", wait.line),
                format!("waits for line {}", wait.on_line),
                grouped(wait.cycles),
                wait.cause.name().to_owned(),
            ]
        });
    section("longest waits:", waits.collect(), &[2]);
    let units = profile.units.iter().map(|unit| {
        let what = if unit.unit == "core" {
            "instructions"
        } else {
            "commands"
        };
        vec![
            format!("  {}", unit.unit),
            format!("{:.1} %", 100.0 * unit.occupancy),
            grouped(unit.commands),
            what.to_owned(),
            unit.mean_entries.map_or_else(String::new, |mean| {
                format!("{mean:.1} station entries on average")
            }),
        ]
    });
    section("units busy:", units.collect(), &[1, 2]);
    let header = ["  buffer", "bytes in", "bytes out", "least", "times", ""].map(str::to_owned);
    let buffers = profile.buffers.iter().map(|buffer| {
        vec![
            format!("  {}", buffer.buffer),
            grouped(buffer.bytes_in),
            grouped(buffer.bytes_out),
            grouped(buffer.minimum),
            if buffer.minimum == 0 {
                String::new()
            } else {
                format!("{:.2}", buffer.times)
            },
            buffer
                .line
                .map_or_else(String::new, |line| format!("line {line}")),
        ]
    });
    section(
        "traffic:",
        [header.to_vec()].into_iter().chain(buffers).collect(),
        &[1, 2, 3, 4],
    );
    let roofline = &profile.roofline;
    let core = &profile.core;
    out += &format!(
        "\nroofline: {:.1} MACs per byte (ridge {:.1}), {:.1} MACs per cycle of {:.1} attainable\n",
        roofline.macs_per_byte, roofline.ridge, roofline.macs_per_cycle, roofline.attainable
    );
    out += &format!(
        "local memory: {} of {} scratchpad rows, {} of {} accumulator rows\n",
        profile.scratchpad.used,
        profile.scratchpad.size,
        profile.accumulator.used,
        profile.accumulator.size
    );
    out += &format!(
        "core: {} cycles waiting for the accelerator's queue, {} in fences, {} for data, {} for instructions\n",
        grouped(core.accelerator_wait_cycles),
        grouped(core.fence_wait_cycles),
        grouped(core.data_miss_cycles),
        grouped(core.fetch_miss_cycles)
    );
    if 0 < profile.unrecorded_commands {
        let commands = grouped(profile.unrecorded_commands);
        out += &format!(
            "{commands} commands came after the recording was full; what they did is not in these tables\n"
        );
    }
    out
}
