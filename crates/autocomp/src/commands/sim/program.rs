//! `autocomp sim run`: one bare-metal program on the simulated machine.

use crate::error::CliError;
use crate::exit_code;
use crate::given_file::{LARGEST_PROGRAM, read_file};
use crate::output::Output;
use crate::run_errors::eval_error;
use crate::workplace::{Workplace, WorkplaceOptions};
use autocomp_eval::text;
use autocomp_gemmini::{Checks, Gemmini, Severity, Warning};
use autocomp_gemmini_family::machine_config;
use autocomp_riscv::{Limits, Mode};
use autocomp_riscv_machine::{
    Machine, Program, ProgramEnd, ProgramError, ProgramReport, run_loaded,
};
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
    #[arg(long, default_value = "gemmini-int8-16")]
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

/// The result; field names are stable.
#[derive(Serialize)]
struct RunReport {
    /// Null if the program did not exit.
    exit_code: Option<u64>,
    instructions: u64,
    cycles: u64,
    stdout: String,
    wall_s: f64,
    /// Why the program was stopped, if it did not exit.
    stopped: Option<String>,
    /// What the hardware may get wrong, one entry per rule and instruction.
    warnings: Vec<RunWarning>,
}

/// One entry of [`RunReport::warnings`].
#[derive(Serialize)]
struct RunWarning {
    rule: &'static str,
    message: String,
    /// Source line, or address if the program names no lines.
    place: String,
    /// Place of another instruction involved the first time.
    other_place: Option<String>,
    count: u64,
}

/// Runs the command.
pub fn run(arguments: &RunArguments, output: Output) -> Result<u8, CliError> {
    let workplace = Workplace::open(&arguments.workplace)?;
    let target = workplace.target(&arguments.target)?;
    let config = machine_config(
        &target,
        arguments
            .machine
            .as_deref()
            .unwrap_or(&target.default_machine),
    )
    .map_err(|error| eval_error(&error))?;
    let elf = read_file(&arguments.elf, LARGEST_PROGRAM).map_err(|error| {
        CliError::input(format!(
            "failed to read {}: {error}",
            arguments.elf.display()
        ))
        .hint("check the path of the program")
    })?;
    let mode = if arguments.functional {
        Mode::Functional
    } else {
        Mode::Timed
    };
    let limits = Limits {
        instructions: arguments.max_instructions,
        cycles: u64::MAX,
    };
    let begun = Instant::now();
    let timing = (mode == Mode::Timed).then_some(&config.timing);
    let mut accelerator =
        Gemmini::new(config.accelerator.clone(), timing).map_err(CliError::input)?;
    accelerator
        .functional_mut()
        .set_checks(program_checks(arguments.strict));
    let program = Program::parse(&elf).map_err(|error| elf_error(&error, arguments))?;
    let reaches_host = program.symbol("tohost").is_some();
    if !reaches_host {
        output.message(format!(
            "note: the program has no symbol `tohost`, so it can print and exit through `mscratch` only: \
             link it without stripping; if it does not exit, it is stopped after {} instructions \
             (--max-instructions)",
            text::grouped(arguments.max_instructions),
        ));
    }
    let mut machine = Machine::new(&config.core, accelerator, mode);
    let report =
        run_loaded(&program, &mut machine, limits).map_err(|error| elf_error(&error, arguments))?;
    let wall_s = begun.elapsed().as_secs_f64();
    let report = RunReport {
        exit_code: report.exit_code(),
        instructions: report.instructions,
        cycles: report.cycles,
        stdout: String::from_utf8_lossy(&report.stdout).into_owned(),
        wall_s,
        stopped: stopped(&report, &program, arguments.max_instructions),
        warnings: warnings(machine.accelerator().functional().warnings(), &program),
    };
    output.exact_result(&report, || report.stdout.clone())?;
    output.message(format!(
        "{}, {} instructions, {} cycles, {wall_s:.3} s{}",
        report.exit_code.map_or_else(
            || "did not exit".to_owned(),
            |code| format!("exit code {code}")
        ),
        text::grouped(report.instructions),
        text::grouped(report.cycles),
        speed(report.instructions, wall_s),
    ));
    if let Some(stopped) = &report.stopped {
        output.message(format!("stopped: {stopped}"));
    }
    for warning in &report.warnings {
        let times = match warning.count {
            1 => String::new(),
            count => format!(", {} times", text::grouped(count)),
        };
        let other = warning
            .other_place
            .as_ref()
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

fn elf_error(error: &ProgramError, arguments: &RunArguments) -> CliError {
    let hint = match error {
        ProgramError::NoSegments => {
            "link it with a script that puts its sections into memory at 0x80000000; `readelf -l` lists the segments"
        }
        ProgramError::Entry { .. } => {
            "link it with `-e SYMBOL`, which names its first instruction, or with `ENTRY(SYMBOL)` in the linker script"
        }
        _ => "a statically linked bare-metal RV64 program is needed, loaded at 0x80000000",
    };
    CliError::input(format!("{}: {error}", arguments.elf.display())).hint(hint)
}

/// Returns how severe the checks are for a program that may have been written
/// for hardware, which has none of them.
fn program_checks(strict: bool) -> Checks {
    let severity = if strict {
        Severity::Fault
    } else {
        Severity::Warn
    };
    Checks {
        uninitialized: severity,
        races: severity,
        hazards: severity,
    }
}

fn warnings(found: &[Warning], program: &Program) -> Vec<RunWarning> {
    found
        .iter()
        .map(|warning| RunWarning {
            rule: warning.rule,
            message: warning.message.clone(),
            place: program.place(warning.pc),
            other_place: warning.other_pc.map(|pc| program.place(pc)),
            count: warning.count,
        })
        .collect()
}

/// Says why the program was stopped, with the source line if the file has one.
fn stopped(report: &ProgramReport, program: &Program, max_instructions: u64) -> Option<String> {
    let place = |pc| program.place(pc);
    match &report.end {
        ProgramEnd::Exited(_) => None,
        ProgramEnd::Fault(fault) => {
            let other = fault
                .other_pc
                .map_or_else(String::new, |pc| format!("; the other at {}", place(pc)));
            Some(format!("{} ({}{other})", fault.message, place(fault.pc)))
        }
        ProgramEnd::Limit(spin) => {
            let (first, last) = (place(spin.first), place(spin.last));
            let span = if first == last {
                String::new()
            } else {
                format!(", between {first} and {last}")
            };
            let at = program.line(spin.pc, |_| false).map_or_else(
                || place(spin.pc),
                |line| match line.function {
                    Some(ref function) => format!("{line} in {function}, pc {:#x}", spin.pc),
                    None => format!("{line}, pc {:#x}", spin.pc),
                },
            );
            Some(format!(
                "the limit of {} instructions (--max-instructions) was reached at {at}{span}",
                text::grouped(max_instructions),
            ))
        }
    }
}
