//! Comparing the timing model with published or own measurements.

use serde::Serialize;

use crate::diagnostic::{Failure, FailureKind, Outcome};
use crate::evaluate::{Evaluation, Options, evaluate, parse_inputs};
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
    /// What is wrong with its line of the table; such a case is not run.
    pub flaw: Option<String>,
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
    /// Geometric mean of `max(ratio, 1/ratio)`; none where nothing ran.
    pub geomean_error: Option<f64>,
    /// Largest `max(ratio, 1/ratio)`; none where nothing ran.
    pub max_error: Option<f64>,
    /// Share of pairs within a group, more than 5 % apart, that are ordered alike; none where
    /// there are no such pairs.
    pub pair_order: Option<f64>,
    /// One row for each case.
    pub rows: Vec<Row>,
}

/// Reads `latencies.tsv`: a header with the names of the columns, then one case on each line.
///
/// # Errors
/// `calibration-file` if the header lacks a column. A line that is wrong is a case with a flaw.
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
        let field = |at: usize| fields.get(places[at]).map_or("", |it| *it).to_owned();
        let latency = field(5).parse::<f64>().ok();
        let latency = latency.filter(|it| it.is_finite() && 0.0 < *it);
        let missing = places.iter().any(|place| fields.len() <= *place);
        let flaw = if missing {
            Some(format!("line {} lacks columns", number + 1))
        } else if latency.is_none() {
            Some(format!(
                "line {}: the latency `{}` is no positive number",
                number + 1,
                field(5)
            ))
        } else {
            None
        };
        cases.push(Case {
            id: field(0),
            file: field(1),
            entry: field(2),
            inputs: field(3),
            machine: field(4),
            latency_us: latency.unwrap_or(0.0),
            group: field(6),
            flaw,
        });
    }
    Ok(cases)
}

/// Most steps of Python and instructions of one kernel of a suite: a hundred times those of the
/// largest published ones.
const STEPS: u64 = 400_000_000;
const INSTRUCTIONS: usize = 3_000_000;

/// Runs every case; `source` gives the text of a kernel file, `machine` the machine of a name.
/// `seen` gets each row as soon as it is known. A case that fails in whatever way is a row.
pub fn calibrate(
    cases: &[Case],
    mut source: impl FnMut(&str) -> Outcome<String>,
    mut machine: impl FnMut(&str) -> Outcome<Machine>,
    mut seen: impl FnMut(&Row),
) -> Report {
    let mut rows = Vec::new();
    for case in cases {
        let result = match &case.flaw {
            Some(flaw) => Err(flaw.clone()),
            None => source(&case.file)
                .and_then(|text| Ok((text, machine(&case.machine)?)))
                .map_err(|failure| failure.to_string())
                .and_then(|(text, machine)| guarded(case, &text, &machine)),
        };
        let simulated = result.as_ref().ok().map(|(full, _)| *full);
        let row = Row {
            id: case.id.clone(),
            group: case.group.clone(),
            measured_us: case.latency_us,
            simulated_us: simulated,
            plain_us: result.as_ref().ok().map(|(_, plain)| *plain),
            ratio: simulated.map(|full| full / case.latency_us),
            failure: result.err(),
        };
        seen(&row);
        rows.push(row);
    }
    summarise(rows)
}

/// One case in a thread of its own: a defect of the simulator is a row like any other failure.
fn guarded(case: &Case, text: &str, machine: &Machine) -> Result<(f64, f64), String> {
    std::thread::scope(|scope| {
        scope
            .spawn(|| simulate(case, text, machine))
            .join()
            .unwrap_or_else(|_| Err("the simulation panicked; please report this kernel".into()))
    })
}

/// Latencies of a case in microseconds on several machines of one generation.
pub fn timed(case: &Case, text: &str, machines: &[Machine]) -> Result<Vec<f64>, String> {
    let evaluation = run(case, text, machines.first().map_or(2, |it| it.generation))?;
    let passes = Passes::of(&evaluation);
    let latency = |machine| time(&evaluation.trace, machine, passes).latency_ns / 1000.0;
    Ok(machines.iter().map(latency).collect())
}

fn run(case: &Case, text: &str, generation: u8) -> Result<Evaluation, String> {
    let inputs = parse_inputs(&case.inputs, None).map_err(|failure| failure.to_string())?;
    let options = Options {
        functional: false,
        generation,
        step_limit: STEPS,
        instruction_limit: INSTRUCTIONS,
        ..Options::default()
    };
    evaluate(text, &case.entry, &inputs, &options).map_err(|failure| failure.to_string())
}

/// Latencies in microseconds, with the passes that imitate the compiler and without.
fn simulate(case: &Case, text: &str, machine: &Machine) -> Result<(f64, f64), String> {
    let evaluation = run(case, text, machine.generation)?;
    let latency = |passes| time(&evaluation.trace, machine, passes).latency_ns / 1000.0;
    Ok((latency(Passes::of(&evaluation)), latency(Passes::PLAIN)))
}

fn summarise(rows: Vec<Row>) -> Report {
    let errors: Vec<f64> = rows
        .iter()
        .filter_map(|r| r.ratio)
        .map(|r| r.max(1.0 / r))
        .collect();
    let cases = errors.len();
    let logs: f64 = errors.iter().map(|error| error.ln()).sum();
    let geomean_error = (cases != 0).then(|| (logs / cases as f64).exp());
    let max_error = errors.iter().copied().reduce(f64::max);
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
    let pair_order = (pairs != 0).then(|| alike as f64 / pairs as f64);
    Report {
        cases,
        geomean_error,
        max_error,
        pair_order,
        rows,
    }
}
