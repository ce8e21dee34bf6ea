//! Comparing the timing model with published or own measurements.

use serde::Serialize;

use crate::diagnostic::{Failure, FailureKind, Outcome};
use crate::evaluate::{Evaluation, Options, evaluate, parse_inputs};
use crate::timing::{Machine, Passes, Timeline, time_cores};
use crate::trace::Engine;

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
    /// Measured busy shares of engines and transfers in percent, where the table tells them.
    pub busy: Vec<(Engine, f64)>,
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
    /// Busy shares of the engines whose measured ones are known.
    pub busy: Vec<Busy>,
    /// Why it did not run.
    pub failure: Option<String>,
}

/// How busy an engine, or any of the queues, is during a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Busy {
    /// The engine.
    pub engine: Engine,
    /// Measured share of the latency in percent.
    pub measured: f64,
    /// Simulated share of the latency in percent.
    pub simulated: f64,
}

/// How well the kernels of one group agree.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// Its name.
    pub group: String,
    /// Number of kernels that ran.
    pub cases: usize,
    /// Geometric mean of `max(ratio, 1/ratio)`.
    pub geomean_error: f64,
    /// Largest `max(ratio, 1/ratio)`.
    pub max_error: f64,
    /// Pairs more than 5 % apart, and those of them that are ordered alike.
    pub pairs: (usize, usize),
    /// Measured latency of the kernel that is fastest in the simulation, over that of the fastest.
    pub regret: f64,
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
    /// Share of the measured busy shares that the simulated ones are within 10 points of.
    pub busy_within_ten: Option<f64>,
    /// One row for each group of which a kernel ran.
    pub groups: Vec<Group>,
    /// One row for each case.
    pub rows: Vec<Row>,
}

/// Columns with measured busy shares, which a table may have.
const BUSY: [(&str, Engine); 4] = [
    ("dma_percent", Engine::Dma),
    ("vector_percent", Engine::Vector),
    ("scalar_percent", Engine::Scalar),
    ("tensor_percent", Engine::Tensor),
];

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
    let shares = BUSY.map(|(name, engine)| (engine, column(name).ok()));
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
            busy: shares
                .iter()
                .filter_map(|(engine, place)| {
                    let share = fields.get((*place)?)?.parse().ok()?;
                    Some((*engine, share))
                })
                .collect(),
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
        let simulated = result.as_ref().ok().map(|it| it.latency_us);
        let row = Row {
            id: case.id.clone(),
            group: case.group.clone(),
            measured_us: case.latency_us,
            simulated_us: simulated,
            plain_us: result.as_ref().ok().map(|it| it.plain_us),
            ratio: simulated.map(|full| full / case.latency_us),
            busy: result.as_ref().map_or(Vec::new(), |it| it.busy.clone()),
            failure: result.err(),
        };
        seen(&row);
        rows.push(row);
    }
    summarise(rows)
}

/// One case in a thread of its own: a defect of the simulator is a row like any other failure.
fn guarded(case: &Case, text: &str, machine: &Machine) -> Result<Simulated, String> {
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
    let latency = |machine| {
        time_cores(&evaluation, machine, passes)
            .into_slowest()
            .latency_ns
            / 1000.0
    };
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

/// What the simulation of a case gives: latencies in microseconds, with the passes that imitate the
/// compiler and without, and busy shares with them.
struct Simulated {
    latency_us: f64,
    plain_us: f64,
    busy: Vec<Busy>,
}

fn simulate(case: &Case, text: &str, machine: &Machine) -> Result<Simulated, String> {
    let evaluation = run(case, text, machine.generation)?;
    let timeline = |passes| time_cores(&evaluation, machine, passes).into_slowest();
    let full = timeline(Passes::of(&evaluation));
    let share = |&(engine, measured): &(Engine, f64)| Busy {
        engine,
        measured,
        simulated: 100.0 * busy(&full, engine) / full.latency_ns,
    };
    Ok(Simulated {
        latency_us: full.latency_ns / 1000.0,
        plain_us: timeline(Passes::PLAIN).latency_ns / 1000.0,
        busy: case.busy.iter().map(share).collect(),
    })
}

/// Nanoseconds for which an engine, or any of the queues, is busy.
fn busy(timeline: &Timeline, engine: Engine) -> f64 {
    if engine == Engine::Dma {
        return timeline.any_queue_busy;
    }
    let own = timeline.slots.iter().filter(|slot| slot.engine == engine);
    own.map(|slot| slot.released - slot.start).sum()
}

fn summarise(rows: Vec<Row>) -> Report {
    let errors = |rows: &[&Row]| -> Vec<f64> {
        let ratios = rows.iter().filter_map(|row| row.ratio);
        ratios.map(|ratio| ratio.max(1.0 / ratio)).collect()
    };
    let mean = |errors: &[f64]| {
        let logs: f64 = errors.iter().map(|error| error.ln()).sum();
        (logs / errors.len().max(1) as f64).exp()
    };
    let mut names: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|row| row.ratio.is_some()) {
        if !names.contains(&row.group.as_str()) {
            names.push(&row.group);
        }
    }
    let group = |name: &&str| {
        let own: Vec<&Row> = rows
            .iter()
            .filter(|row| row.group == *name && row.ratio.is_some())
            .collect();
        let all = errors(&own);
        Group {
            group: (*name).to_owned(),
            cases: own.len(),
            geomean_error: mean(&all),
            max_error: all.iter().copied().fold(1.0, f64::max),
            pairs: pairs(&own),
            regret: regret(&own),
        }
    };
    let groups: Vec<Group> = names.iter().map(group).collect();
    let all = errors(&rows.iter().collect::<Vec<_>>());
    let shares: Vec<&Busy> = rows.iter().flat_map(|row| &row.busy).collect();
    let near = |it: &&&Busy| (it.measured - it.simulated).abs() <= 10.0;
    let part = |some: usize, of: usize| (of != 0).then(|| some as f64 / of as f64);
    let sum = |one: fn(&Group) -> usize| groups.iter().map(one).sum();
    Report {
        cases: all.len(),
        geomean_error: (!all.is_empty()).then(|| mean(&all)),
        max_error: all.iter().copied().reduce(f64::max),
        pair_order: part(sum(|it| it.pairs.1), sum(|it| it.pairs.0)),
        busy_within_ten: part(shares.iter().filter(near).count(), shares.len()),
        groups,
        rows,
    }
}

/// Pairs of rows more than 5 % apart, and those of them that are ordered alike.
fn pairs(rows: &[&Row]) -> (usize, usize) {
    let (mut pairs, mut alike) = (0, 0);
    for (at, a) in rows.iter().enumerate() {
        for b in &rows[at + 1..] {
            let apart = (a.measured_us / b.measured_us).max(b.measured_us / a.measured_us) > 1.05;
            if apart {
                pairs += 1;
                let is_first = a.simulated_us < b.simulated_us;
                let is_alike = is_first == (a.measured_us < b.measured_us);
                alike += usize::from(is_alike && a.simulated_us != b.simulated_us);
            }
        }
    }
    (pairs, alike)
}

/// Measured latency of what is fastest in the simulation, over that of the fastest. Of several that
/// are equally fast in the simulation the slowest counts.
fn regret(rows: &[&Row]) -> f64 {
    let simulated = |row: &&&Row| row.simulated_us.unwrap_or(f64::INFINITY);
    let least = rows.iter().map(|row| simulated(&row));
    let least = least.fold(f64::INFINITY, f64::min);
    let chosen = rows.iter().filter(|row| simulated(row) <= least);
    let chosen = chosen.map(|row| row.measured_us).fold(0.0, f64::max);
    let best = rows.iter().map(|row| row.measured_us);
    chosen / best.fold(f64::INFINITY, f64::min)
}
