//! `autocomp sim calibrate`: the simulator's cycles beside those that were measured.

#[cfg(feature = "trainium")]
use super::latencies;
use super::suite::{built_in_suite, read_suite};
use crate::error::CliError;
use crate::exit_code;
use crate::output::Output;
use crate::run_errors::eval_error;
use crate::workplace::{Workplace, WorkplaceOptions};
use autocomp_eval::text;
use autocomp_gemmini_family::machine_config;
use autocomp_gemmini_sim::{
    CalibrationError, CalibrationGroup, CalibrationSuite, calibrate, parse_counts,
};
use clap::Args;
use std::collections::BTreeSet;
use std::path::PathBuf;

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

/// Runs the command.
pub fn run(arguments: &CalibrateArguments, output: Output) -> Result<u8, CliError> {
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
