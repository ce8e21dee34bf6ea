//! `autocomp sim run`: one bare-metal program on a simulated machine.

use crate::error::CliError;
use crate::exit_code;
use crate::given_file::{LARGEST_PROGRAM, read_file};
use crate::output::Output;
use crate::registry;
use crate::run_errors::eval_error;
use crate::workplace::{Workplace, WorkplaceOptions};
use autocomp_eval::simulator::{ProgramRequest, ProgramWarning};
use autocomp_eval::text;
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;

/// Run a bare-metal RISC-V program (HTIF or `mscratch` console)
///
/// Exits with 0 if the program exits with 0, and with 1 otherwise. What the
/// accelerator does not check, but may get wrong (data races, local memory read
/// before it was written, unsafe orders of commands), is a warning.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// Statically linked RV64 ELF file
    elf: PathBuf,
    /// Target whose accelerator and core to simulate
    #[arg(long, default_value = default_target())]
    target: String,
    /// Machine of the target [default: the target's]
    #[arg(long)]
    machine: Option<String>,
    /// Only the results, no timing: faster; cycles are then instructions
    #[arg(long)]
    functional: bool,
    /// Stop at what would be a warning
    #[arg(long)]
    strict: bool,
    /// Instructions after which the program is stopped
    #[arg(
        long,
        value_name = "N",
        default_value_t = 20_000_000_000,
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    max_instructions: u64,
    #[command(flatten)]
    workplace: WorkplaceOptions,
}

/// Returns the target that is simulated unless another is named; none in a program without
/// such a simulator.
fn default_target() -> Option<&'static str> {
    let mut simulators = registry::families().filter_map(|family| family.program_simulator());
    simulators
        .next()
        .map(|simulator| simulator.default_target())
}

/// The result; field names are stable.
#[derive(Serialize)]
struct RunReport<'a> {
    /// Null if the program did not exit.
    exit_code: Option<u64>,
    instructions: u64,
    cycles: u64,
    stdout: &'a str,
    wall_s: f64,
    /// Why the program was stopped, if it did not exit.
    stopped: Option<&'a str>,
    /// What the hardware may get wrong, one entry per rule and instruction.
    warnings: Vec<RunWarning<'a>>,
}

/// One entry of [`RunReport::warnings`].
#[derive(Serialize)]
struct RunWarning<'a> {
    rule: &'a str,
    message: &'a str,
    /// Source line, or address if the program names no lines.
    place: &'a str,
    /// Place of another instruction involved the first time.
    other_place: Option<&'a str>,
    count: u64,
}

impl<'a> From<&'a ProgramWarning> for RunWarning<'a> {
    fn from(warning: &'a ProgramWarning) -> Self {
        Self {
            rule: warning.rule,
            message: &warning.message,
            place: &warning.place,
            other_place: warning.other_place.as_deref(),
            count: warning.count,
        }
    }
}

/// Runs the command.
pub fn run(arguments: &RunArguments, output: Output) -> Result<u8, CliError> {
    let workplace = Workplace::open(&arguments.workplace)?;
    let target = workplace.target(&arguments.target)?;
    let simulator = registry::family(&target)?.program_simulator();
    let simulator = simulator.ok_or_else(|| {
        CliError::usage(format!(
            "for target {} there is no simulator of whole programs",
            target.name
        ))
        .hint("name a target of another family with `--target`; `autocomp targets` lists them")
    })?;
    let machine = arguments.machine.as_deref();
    let machine = machine.unwrap_or(&target.default_machine);
    let program = read_file(&arguments.elf, LARGEST_PROGRAM).map_err(|error| {
        CliError::input(format!(
            "failed to read {}: {error}",
            arguments.elf.display()
        ))
        .hint("check the path of the program")
    })?;
    let begun = Instant::now();
    let run = simulator
        .run(ProgramRequest {
            target: &target,
            machine,
            program: &program,
            path: &arguments.elf,
            timed: !arguments.functional,
            strict: arguments.strict,
            max_instructions: arguments.max_instructions,
            tell: &mut |line| output.message(line),
        })
        .map_err(|error| eval_error(&error))?;
    let wall_s = begun.elapsed().as_secs_f64();
    let stdout = String::from_utf8_lossy(&run.stdout);
    let report = RunReport {
        exit_code: run.exit_code,
        instructions: run.instructions,
        cycles: run.cost.value,
        stdout: &stdout,
        wall_s,
        stopped: run.stopped.as_deref(),
        warnings: run.warnings.iter().map(RunWarning::from).collect(),
    };
    output.exact_result(&report, || stdout.to_string())?;
    output.message(format!(
        "{}, {} instructions, {} {}, {wall_s:.3} s{}",
        report.exit_code.map_or_else(
            || "did not exit".to_owned(),
            |code| format!("exit code {code}")
        ),
        text::grouped(report.instructions),
        text::grouped(report.cycles),
        run.cost.unit,
        speed(report.instructions, wall_s),
    ));
    if let Some(stopped) = report.stopped {
        output.message(format!("stopped: {stopped}"));
    }
    for warning in &report.warnings {
        let times = match warning.count {
            1 => String::new(),
            count => format!(", {} times", text::grouped(count)),
        };
        let other = warning
            .other_place
            .map_or_else(String::new, |other| format!("; the other at {other}"));
        output.message(format!(
            "warning: {} ({}{times}{other})",
            warning.message, warning.place
        ));
    }
    Ok(if report.exit_code == Some(0) {
        exit_code::SUCCESS
    } else {
        exit_code::NEGATIVE
    })
}

/// Returns the speed of the simulation, or nothing for a run so short that
/// loading is most of it.
fn speed(instructions: u64, wall_s: f64) -> String {
    if instructions < 1_000_000 {
        return String::new();
    }
    let mips = instructions as f64 / wall_s.max(1e-9) / 1e6;
    format!(" ({mips:.0} million instructions per second)")
}
