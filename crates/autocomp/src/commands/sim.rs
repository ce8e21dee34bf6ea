//! `autocomp sim`: the simulator by itself.

#[cfg(feature = "trainium")]
mod latencies;

use crate::error::CliError;
use crate::exit_code;
use crate::given_file::{LARGEST_PROGRAM, read_file, read_text};
use crate::output::Output;
use crate::run_errors::eval_error;
use crate::workplace::{Workplace, WorkplaceOptions};
use autocomp_eval::text;
use autocomp_gemmini::{Checks, Gemmini, Severity, Warning};
use autocomp_gemmini_family::machine_config;
use autocomp_gemmini_sim::{
    CalibrationError, CalibrationGroup, CalibrationSuite, Machine, Program, ProgramEnd,
    ProgramReport, SimError, calibrate, parse_counts, run_loaded,
};
use autocomp_riscv::{Limits, Mode};
use clap::{Args, Subcommand};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Use the simulator by itself
#[derive(Debug, Subcommand)]
pub enum Command {
    Run(RunArguments),
    Calibrate(CalibrateArguments),
}

/// Compare the simulator's cycles with a suite of programs measured on hardware
#[derive(Debug, Args)]
pub struct CalibrateArguments {
    /// Folder with `elf/` and `cycles.tsv`, or with kernels and `latencies.tsv`
    /// [default: the built-in suite, calibrated with]
    #[arg(long, value_name = "FOLDER")]
    suite: Option<PathBuf>,
    /// Table of counts in the folder
    #[arg(long, default_value = "cycles.tsv", value_name = "FILE")]
    counts: String,
    /// Machine to compare
    #[arg(long, default_value = "rtl")]
    machine: String,
    /// Cycles to add behind the L2, for tables measured with such a memory
    #[arg(
        long,
        default_value_t = 0,
        value_name = "CYCLES",
        value_parser = clap::value_parser!(u32).range(..=100_000)
    )]
    extra_latency: u32,
    /// For `latencies.tsv`: also fit the machine's constants without each group
    /// in turn, and show the error of that group then
    #[cfg(feature = "trainium")]
    #[arg(long, requires = "suite")]
    leave_one_out: bool,
    #[command(flatten)]
    workplace: WorkplaceOptions,
}

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
pub fn run(command: Command, output: Output) -> Result<u8, CliError> {
    match command {
        Command::Run(arguments) => run_elf(&arguments, output),
        Command::Calibrate(arguments) => run_calibration(&arguments, output),
    }
}

fn run_elf(arguments: &RunArguments, output: Output) -> Result<u8, CliError> {
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
    let mut machine = Machine::new(&config, accelerator, mode);
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

fn elf_error(error: &SimError, arguments: &RunArguments) -> CliError {
    let hint = match error {
        SimError::NoSegments => {
            "link it with a script that puts its sections into memory at 0x80000000; `readelf -l` lists the segments"
        }
        SimError::Entry { .. } => {
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

fn run_calibration(arguments: &CalibrateArguments, output: Output) -> Result<u8, CliError> {
    #[cfg(feature = "trainium")]
    if let Some(folder) = &arguments.suite
        && folder.join(latencies::TABLE).exists()
    {
        return latencies::run(folder, arguments.leave_one_out, output);
    }
    let workplace = Workplace::open(&arguments.workplace)?;
    let target = workplace.target("gemmini-int8-16")?;
    let mut machine =
        machine_config(&target, &arguments.machine).map_err(|error| eval_error(&error))?;
    machine.timing.memory.outer_latency += arguments.extra_latency;
    let suite = match &arguments.suite {
        Some(folder) => read_suite(folder, &arguments.counts)?,
        None => built_in_suite(&arguments.counts)?,
    };
    let report = calibrate(&suite, &machine).map_err(|error| suite_error(&error, arguments))?;
    let rows = report.kernels.rows.iter().chain(&report.micro.rows);
    let compared: BTreeSet<_> = rows.clone().map(|row| (&row.elf, &row.case)).collect();
    let counts = parse_counts(&suite.counts).map_err(|error| suite_error(&error, arguments))?;
    let left_out: Vec<_> = counts
        .keys()
        .filter(|(elf, case)| !compared.contains(&(elf, case)))
        .collect();
    if !left_out.is_empty() {
        output.message(left_out_text(&left_out, counts.len(), &suite, arguments));
    }
    for row in rows.filter(|row| row.checked == Some(false)) {
        output.message(format!(
            "warning: {}, case {}: the program finds its own result wrong",
            row.elf, row.case
        ));
    }
    output.result(&report, || {
        let mut out = group_text("kernels", &report.kernels);
        out += &group_text("micro", &report.micro);
        for (name, group) in [
            ("kernels, cold", &report.cold.kernels),
            ("micro, cold", &report.cold.micro),
        ] {
            if group.cases > 0 {
                out += &summary(name, group);
                out += "\n";
            }
        }
        out
    })?;
    Ok(exit_code::SUCCESS)
}

fn suite_error(error: &CalibrationError, arguments: &CalibrateArguments) -> CliError {
    let suite = arguments.suite.clone();
    let suite = suite.unwrap_or_else(|| PathBuf::from("the built-in suite"));
    let table = suite.join(&arguments.counts);
    let (place, hint) = match error {
        CalibrationError::Counts { .. } | CalibrationError::Repetitions { .. } => (
            table,
            "tab-separated; the header names elf, case, rep (0 to 2), issue_cycles and total_cycles",
        ),
        CalibrationError::Nothing { .. } => (
            suite,
            "the column `elf` of the table holds file names in the folder's `elf/`, `case` the names that the programs give",
        ),
        _ => (
            suite.join("elf"),
            "programs like those of crates/families/gemmini/sim/calibration/gemmini-rtl are needed",
        ),
    };
    CliError::input(format!("{}: {error}", place.display())).hint(hint)
}

/// Says which cases of the table are not compared, and why: by program, of which
/// the first few are named.
fn left_out_text(
    left_out: &[&(String, String)],
    counts: usize,
    suite: &CalibrationSuite,
    arguments: &CalibrateArguments,
) -> String {
    const NAMED: usize = 4;
    let mut missing: Vec<String> = Vec::new();
    let mut unknown = Vec::new();
    for (elf, case) in left_out {
        if suite.programs.iter().any(|(name, _)| name == elf) {
            unknown.push(format!("{elf} has no case {case}"));
        } else {
            missing.push(format!("elf/{elf} is missing"));
        }
    }
    missing.dedup();
    missing.extend(unknown);
    let more = missing.len().saturating_sub(NAMED);
    missing.truncate(NAMED);
    let more = match more {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!(
        "warning: {} of {counts} cases in {} are not compared: {}{more}",
        left_out.len(),
        arguments.counts,
        missing.join(", "),
    )
}

/// The suite that the simulator is calibrated with: names and contents, each behind its length
/// in four bytes, compressed when the program is built.
const BUILT_IN_SUITE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/calibration.zst"));

/// Returns the files of the built-in suite by name.
fn built_in_files() -> Result<Vec<(String, Vec<u8>)>, CliError> {
    let packed = zstd::decode_all(BUILT_IN_SUITE).map_err(CliError::internal)?;
    let mut rest = &packed[..];
    let mut next = || -> Option<Vec<u8>> {
        let (length, behind) = rest.split_first_chunk()?;
        let (part, behind) = behind.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        rest = behind;
        Some(part.to_vec())
    };
    let mut files = Vec::new();
    while let (Some(name), Some(content)) = (next(), next()) {
        files.push((String::from_utf8_lossy(&name).into_owned(), content));
    }
    Ok(files)
}

fn built_in_suite(counts: &str) -> Result<CalibrationSuite, CliError> {
    let (tables, files): (Vec<_>, Vec<_>) = built_in_files()?
        .into_iter()
        .partition(|(name, _)| name.ends_with(".tsv"));
    let table = tables.iter().find(|(name, _)| name == counts);
    let (_, table) = table.ok_or_else(|| {
        let names: Vec<&str> = tables.iter().map(|(name, _)| name.as_str()).collect();
        CliError::usage(format!("the built-in suite has no table {counts}"))
            .hint(format!("it has {}", names.join(" and ")))
    })?;
    let counts = String::from_utf8_lossy(table).into_owned();
    let mut programs: Vec<(String, Vec<u8>)> = files
        .into_iter()
        .filter_map(|(name, content)| Some((name.strip_prefix("elf/")?.to_owned(), content)))
        .collect();
    programs.sort();
    Ok(CalibrationSuite { programs, counts })
}

fn read_suite(folder: &Path, counts: &str) -> Result<CalibrationSuite, CliError> {
    let unreadable = |path: &Path, error: std::io::Error| {
        CliError::input(format!("failed to read {}: {error}", path.display()))
            .hint("a suite is a folder with `elf/*.elf` and a table such as `cycles.tsv`: `--suite FOLDER`; without it, the built-in one is taken")
    };
    let table = folder.join(counts);
    let counts = read_text(&table).map_err(|error| unreadable(&table, error))?;
    let elf = folder.join("elf");
    let mut programs = Vec::new();
    for entry in fs::read_dir(&elf).map_err(|error| unreadable(&elf, error))? {
        let path = entry.map_err(|error| unreadable(&elf, error))?.path();
        if path.extension().is_some_and(|extension| extension == "elf") {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            programs.push((
                name,
                read_file(&path, LARGEST_PROGRAM).map_err(|error| unreadable(&path, error))?,
            ));
        }
    }
    programs.sort();
    Ok(CalibrationSuite { programs, counts })
}

fn group_text(name: &str, group: &CalibrationGroup) -> String {
    if group.cases == 0 {
        return format!("{name}: no cases\n\n");
    }
    let mut rows = vec![
        ["program", "case", "measured", "simulated", "error"]
            .map(str::to_owned)
            .to_vec(),
    ];
    rows.extend(group.rows.iter().map(|row| {
        vec![
            row.elf.clone(),
            row.case.clone(),
            text::grouped(row.rtl_cycles),
            text::grouped(row.sim_cycles),
            format!("{:+.1} %", 100.0 * row.error),
        ]
    }));
    let table = text::table(&rows, &[2, 3, 4]);
    format!("{table}{}\n\n", summary(name, group))
}

fn summary(name: &str, group: &CalibrationGroup) -> String {
    format!(
        "{name}: {} cases, median error {:.2} %, largest {:.2} %, {:.2} % of pairs in the right order",
        group.cases,
        100.0 * group.median_abs_error,
        100.0 * group.max_abs_error,
        100.0 * group.pair_order,
    )
}
