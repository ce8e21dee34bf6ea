//! The simulator's cycles beside those that were measured.

use super::suite::{built_in_suite, read_suite};
use crate::family::machine_config;
use autocomp_eval::simulator::{
    Calibrated, Calibration, CalibrationRequest, SuiteOption, SuiteOptionValue,
};
use autocomp_eval::{EvalError, text};
use autocomp_gemmini_sim::{
    CalibrationError, CalibrationGroup, CalibrationSuite, calibrate, parse_counts,
};
use std::collections::BTreeSet;
use std::path::Path;

/// Compares with suites of programs.
#[derive(Debug)]
pub(crate) struct Suites;

const COUNTS: SuiteOption = option(
    "counts",
    "Table of counts in the folder",
    "FILE",
    "cycles.tsv",
);
const MACHINE: SuiteOption = option("machine", "Machine to compare", "MACHINE", "rtl");
const EXTRA_LATENCY: SuiteOption = SuiteOption {
    name: "extra-latency",
    help: "Cycles to add behind the L2, for tables measured with such a memory",
    value: Some(SuiteOptionValue {
        name: "CYCLES",
        default: "0",
        most: Some(100_000),
    }),
    needs_suite: false,
};

const fn option(
    name: &'static str,
    help: &'static str,
    value: &'static str,
    default: &'static str,
) -> SuiteOption {
    SuiteOption {
        name,
        help,
        value: Some(SuiteOptionValue {
            name: value,
            default,
            most: None,
        }),
        needs_suite: false,
    }
}

impl Calibrated for Suites {
    fn suite(&self) -> &'static str {
        "`elf/` and `cycles.tsv`"
    }

    fn options(&self) -> &'static [SuiteOption] {
        &[COUNTS, MACHINE, EXTRA_LATENCY]
    }

    fn target(&self, _: Option<&Path>) -> Option<String> {
        Some(super::TARGET.to_owned())
    }

    fn has_built_in_suite(&self) -> bool {
        true
    }

    fn calibrate(&self, request: CalibrationRequest<'_>) -> Result<Calibration, EvalError> {
        let option = |option: &SuiteOption| {
            let given = request.options.get(option.name).map(String::as_str);
            given
                .or(option.value.map(|it| it.default))
                .unwrap_or_default()
        };
        let fault = |what: &str| EvalError::Fault(what.to_owned());
        let target = request
            .target
            .ok_or_else(|| fault("no target to compare"))?;
        let mut machine = machine_config(target, option(&MACHINE))?;
        let extra_latency: u32 = option(&EXTRA_LATENCY)
            .parse()
            .map_err(|_| fault("an extra latency that is no number"))?;
        machine.timing.memory.outer_latency += extra_latency;
        let table = option(&COUNTS);
        let suite = match request.folder {
            Some(folder) => read_suite(folder, table)?,
            None => built_in_suite(table)?,
        };
        let unusable = |error: CalibrationError| suite_error(&error, request.folder, table);
        let report = calibrate(&suite, &machine).map_err(unusable)?;
        let rows = report.kernels.rows.iter().chain(&report.micro.rows);
        let compared: BTreeSet<_> = rows.clone().map(|row| (&row.elf, &row.case)).collect();
        let counts = parse_counts(&suite.counts).map_err(unusable)?;
        for (elf, problem) in &report.stopped {
            (request.tell)(&format!(
                "warning: {elf} is not compared: it does not run to its end on machine {}: {problem}",
                option(&MACHINE)
            ));
        }
        let is_stopped = |elf: &String| report.stopped.iter().any(|(it, _)| it == elf);
        let left_out: Vec<_> = counts
            .keys()
            .filter(|(elf, case)| !compared.contains(&(elf, case)) && !is_stopped(elf))
            .collect();
        if !left_out.is_empty() {
            (request.tell)(&left_out_text(&left_out, counts.len(), &suite, table));
        }
        for row in rows.filter(|row| row.checked == Some(false)) {
            (request.tell)(&format!(
                "warning: {}, case {}: the program finds its own result wrong",
                row.elf, row.case
            ));
        }
        let mut text = group_text("kernels", &report.kernels);
        text += &group_text("micro", &report.micro);
        for (name, group) in [
            ("kernels, cold", &report.cold.kernels),
            ("micro, cold", &report.cold.micro),
        ] {
            if group.cases > 0 {
                text += &summary(name, group);
                text += "\n";
            }
        }
        let data = serde_json::to_value(&report);
        Ok(Calibration {
            data: data.map_err(|error| EvalError::Fault(error.to_string()))?,
            text,
        })
    }
}

fn suite_error(error: &CalibrationError, folder: Option<&Path>, counts: &str) -> EvalError {
    let suite = folder.unwrap_or(Path::new("the built-in suite"));
    let table = suite.join(counts);
    let (place, hint) = match error {
        CalibrationError::Counts { .. } | CalibrationError::Repetitions { .. } => (
            table,
            "tab-separated; the header names elf, case, rep (0 to 2), issue_cycles and total_cycles",
        ),
        CalibrationError::Nothing { .. } => (
            suite.to_owned(),
            "the column `elf` of the table holds file names in the folder's `elf/`, `case` the names that the programs give",
        ),
        _ => (
            suite.join("elf"),
            "programs like those of crates/families/gemmini/sim/calibration/gemmini-rtl are needed",
        ),
    };
    EvalError::Input {
        message: format!("{}: {error}", place.display()),
        remedies: vec![hint.to_owned()],
    }
}

/// Says which cases of the table are not compared, and why: by program, of which
/// the first few are named.
fn left_out_text(
    left_out: &[&(String, String)],
    counts: usize,
    suite: &CalibrationSuite,
    table: &str,
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
        "warning: {} of {counts} cases in {table} are not compared: {}{more}",
        left_out.len(),
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
