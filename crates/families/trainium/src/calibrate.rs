//! Comparing the timing model with published or own measurements.

use serde::Serialize;

use crate::diagnostic::{Failure, FailureKind, Outcome};
use crate::evaluate::{Options, evaluate, parse_inputs};
use crate::timing::{Machine, Passes, time};

/// One kernel with a measured latency.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Name.
    pub id: String,
    /// Kernel file, relative to the folder of the suite.
    pub file: String,
    /// Function in it.
    pub entry: String,
    /// Inputs, as [`parse_inputs`] reads them.
    pub inputs: String,
    /// Machine.
    pub machine: String,
    /// Measured latency in microseconds.
    pub latency_us: f64,
    /// Kernels of one group are ordered against each other.
    pub group: String,
}

/// One row of the result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Name of the case.
    pub id: String,
    /// Its group.
    pub group: String,
    /// Measured latency in microseconds.
    pub measured_us: f64,
    /// Simulated latency in microseconds, if the kernel ran.
    pub simulated_us: Option<f64>,
    /// Simulated latency without the passes that imitate the compiler's own rewriting.
    pub plain_us: Option<f64>,
    /// Simulated over measured.
    pub ratio: Option<f64>,
    /// Why it did not run.
    pub failure: Option<String>,
}

/// How well simulated and measured latencies agree.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Number of kernels that ran.
    pub cases: usize,
    /// Geometric mean of `max(ratio, 1/ratio)`.
    pub geomean_error: f64,
    /// Largest `max(ratio, 1/ratio)`.
    pub max_error: f64,
    /// Share of pairs within a group, more than 5 % apart, that are ordered alike.
    pub pair_order: f64,
    /// One row for each case.
    pub rows: Vec<Row>,
}

/// Reads `latencies.tsv`: a header with the names of the columns, then one case on each line.
///
/// # Errors
/// `calibration-file` with the line and what is wrong.
pub fn parse_cases(text: &str) -> Outcome<Vec<Case>> {
    let bad = |line: usize, what: &str| {
        Failure::new(
            FailureKind::Input,
            "calibration-file",
            what.to_owned(),
            "columns are id, file, entry, inputs, machine, latency_us, group, separated by tabs",
        )
        .at(line as u32 + 1)
    };
    let mut lines = text.lines().enumerate();
    let (_, header) = lines.next().ok_or_else(|| bad(0, "the file is empty"))?;
    let names: Vec<&str> = header.split('\t').map(str::trim).collect();
    let column = |name: &str| {
        names
            .iter()
            .position(|n| *n == name)
            .ok_or_else(|| bad(0, &format!("there is no column `{name}`")))
    };
    let places = [
        column("id")?,
        column("file")?,
        column("entry")?,
        column("inputs")?,
        column("machine")?,
        column("latency_us")?,
        column("group")?,
    ];
    let mut cases = Vec::new();
    for (number, line) in lines {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let fields: Vec<&str> = line.split('\t').map(str::trim).collect();
        let field = |at: usize| {
            fields
                .get(places[at])
                .map(|f| (*f).to_owned())
                .ok_or_else(|| bad(number, "a column is missing"))
        };
        let latency_us = field(5)?
            .parse::<f64>()
            .ok()
            .filter(|l| l.is_finite() && *l > 0.0)
            .ok_or_else(|| bad(number, "latency_us is no positive number"))?;
        cases.push(Case {
            id: field(0)?,
            file: field(1)?,
            entry: field(2)?,
            inputs: field(3)?,
            machine: field(4)?,
            latency_us,
            group: field(6)?,
        });
    }
    Ok(cases)
}

/// Runs every case; `source` gives the text of a kernel file.
pub fn calibrate(
    cases: &[Case],
    mut source: impl FnMut(&str) -> Outcome<String>,
    mut machine: impl FnMut(&str) -> Outcome<Machine>,
) -> Report {
    let mut rows = Vec::new();
    for case in cases {
        let result = source(&case.file).and_then(|text| {
            let machine = machine(&case.machine)?;
            let inputs = parse_inputs(&case.inputs, None)?;
            let options = Options {
                functional: false,
                generation: machine.generation,
                ..Options::default()
            };
            let evaluation = evaluate(&text, &case.entry, &inputs, &options)?;
            let full = time(&evaluation.trace, &machine, Passes::of(evaluation.dialect)).latency_ns
                / 1000.0;
            let plain = time(
                &evaluation.trace,
                &machine,
                Passes {
                    vectorise: false,
                    load_cache: false,
                    accumulator_operands: false,
                    spill: true,
                },
            )
            .latency_ns
                / 1000.0;
            Ok((full, plain))
        });
        rows.push(match result {
            Ok((full, plain)) => Row {
                id: case.id.clone(),
                group: case.group.clone(),
                measured_us: case.latency_us,
                simulated_us: Some(full),
                plain_us: Some(plain),
                ratio: Some(full / case.latency_us),
                failure: None,
            },
            Err(failure) => Row {
                id: case.id.clone(),
                group: case.group.clone(),
                measured_us: case.latency_us,
                simulated_us: None,
                plain_us: None,
                ratio: None,
                failure: Some(failure.to_string()),
            },
        });
    }
    summarise(rows)
}

fn summarise(rows: Vec<Row>) -> Report {
    let errors: Vec<f64> = rows
        .iter()
        .filter_map(|r| r.ratio)
        .map(|r| r.max(1.0 / r))
        .collect();
    let cases = errors.len();
    let geomean_error = if cases == 0 {
        1.0
    } else {
        (errors.iter().map(|e| e.ln()).sum::<f64>() / cases as f64).exp()
    };
    let max_error = errors.iter().copied().fold(1.0, f64::max);
    let (mut pairs, mut alike) = (0usize, 0usize);
    for (at, a) in rows.iter().enumerate() {
        for b in &rows[at + 1..] {
            let (Some(x), Some(y)) = (a.simulated_us, b.simulated_us) else {
                continue;
            };
            let apart = (a.measured_us / b.measured_us).max(b.measured_us / a.measured_us) > 1.05;
            if a.group == b.group && apart {
                pairs += 1;
                alike += usize::from((x < y) == (a.measured_us < b.measured_us));
            }
        }
    }
    let pair_order = if pairs == 0 {
        1.0
    } else {
        alike as f64 / pairs as f64
    };
    Report {
        cases,
        geomean_error,
        max_error,
        pair_order,
        rows,
    }
}
