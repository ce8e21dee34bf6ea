//! How many candidates a second the search takes, when proposing and evaluating
//! cost nothing: what is left is the search itself, its journal and its texts.
//!
//! `cargo bench -p autocomp-runner -- [CANDIDATES [FOLDER]]`; the folder is where
//! the run is made, by default below that for temporary files.

use autocomp_agents::{
    Background, ImplementRequest, PlanRequest, ProposeError, Proposer, RepairRequest, Reply,
};
use autocomp_core::{
    ContentHash, Cost, Draft, Evaluation, Measurement, MenuItem, Outcome, Plan, SearchSettings,
    Seed,
};
use autocomp_eval::{EvalError, Evaluator};
use autocomp_runner::{NewRun, Notice, RunOptions, RunSession};
use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// Size of a kernel in bytes.
const KERNEL_BYTES: usize = 2048;

/// Changes one line of the kernel.
#[derive(Debug)]
struct Instant2Kb;

fn reply<T>(value: T) -> Reply<T> {
    Reply {
        value,
        exchanges: Vec::new(),
    }
}

#[async_trait::async_trait]
impl Proposer for Instant2Kb {
    fn name(&self) -> &'static str {
        "instant"
    }

    // As the rewriter.
    fn background(&self) -> Background {
        Background::NONE
    }

    async fn plan(&self, request: &PlanRequest) -> Result<Reply<Plan>, ProposeError> {
        let mut seed = request.seed;
        let line = seed.below(KERNEL_BYTES / 32);
        Ok(reply(Plan {
            menu_item: request.menu[seed.below(request.menu.len())].id.clone(),
            text: format!("change line {line}"),
            payload: line.to_string(),
            proposer: "instant".to_owned(),
        }))
    }

    async fn implement(&self, request: &ImplementRequest) -> Result<Reply<Draft>, ProposeError> {
        let mut seed = request.seed;
        let at = 32 * request.plan.payload.parse::<usize>().unwrap_or_default();
        let mut source = request.kernel.clone();
        source.replace_range(at..at + 31, &line(seed.next_u64()));
        Ok(reply(Draft {
            source,
            proposer: "instant".to_owned(),
        }))
    }

    async fn repair(&self, _: &RepairRequest) -> Result<Reply<Draft>, ProposeError> {
        unreachable!("nothing fails")
    }
}

fn line(number: u64) -> String {
    format!("  C[i] += 0x{number:016x}u * A;")
        .chars()
        .chain(std::iter::repeat(' '))
        .take(31)
        .collect()
}

fn baseline() -> String {
    let lines = (0..KERNEL_BYTES as u64 / 32).map(|number| line(number) + "\n");
    lines.collect()
}

/// Draws the cost of a kernel from its hash.
#[derive(Debug)]
struct Lottery;

impl Evaluator for Lottery {
    fn key(&self, source: &str) -> ContentHash {
        ContentHash::of(source.as_bytes())
    }

    fn evaluate(&self, source: &str) -> Result<Evaluation, EvalError> {
        let key = self.key(source);
        let draw = u32::from_le_bytes([key.0[0], key.0[1], key.0[2], key.0[3]]);
        let cycles = 1_000_000 + u64::from(draw);
        Ok(Evaluation {
            key,
            outcome: Outcome::Ok,
            diagnostics: Vec::new(),
            measurement: Some(Measurement {
                cost: Cost::cycles(cycles),
                floor: Cost::cycles(1000),
                percent_of_peak: 1e5 / cycles as f64,
                samples: Vec::new(),
                ratio_to_baseline: None,
                engine: "lottery".to_owned(),
                compiler: "none".to_owned(),
                figures: [("instructions".to_owned(), cycles / 2)].into(),
            }),
            feedback: None,
            tiers: Vec::new(),
            worker: None,
            device: None,
        })
    }
}

fn new_run(candidates: u32, drafts: u32) -> NewRun {
    let item = |id: &str| MenuItem {
        id: id.to_owned(),
        text: format!("do {id}"),
        ..MenuItem::default()
    };
    NewRun {
        program: "bench".to_owned(),
        target: "none".to_owned(),
        problem: "none/lottery".to_owned(),
        compiler: "none".to_owned(),
        meaningful_indentation: false,
        proposers: vec!["instant".to_owned()],
        seed: Seed(1),
        settings: SearchSettings {
            beam: 8,
            plans: 32 / drafts,
            drafts,
            iterations: 10_000,
            patience: 0,
            max_evaluations: Some(candidates),
            ..SearchSettings::default()
        },
        menu: ["tile", "unroll", "reorder", "fuse", MenuItem::OTHER]
            .map(item)
            .into(),
        baseline: baseline(),
        taken: Vec::new(),
        confirmers: Vec::new(),
        reused: Vec::new(),
        lessons: Vec::new(),
        extensions: Vec::new(),
        spec: None,
    }
}

/// Returns the processor time of this process so far, in seconds.
fn processor_seconds() -> f64 {
    let usage = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    usage.tv_sec as f64 + usage.tv_nsec as f64 / 1e9
}

/// Returns the most memory that the process ever had, in MiB.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kib.and_then(|kib| kib.trim().parse::<u64>().ok())
        .unwrap_or_default()
        / 1024
}

fn measure(folder: &Path, candidates: u32, drafts: u32) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let (begun, worked) = (Instant::now(), processor_seconds());
    let mut session = RunSession::create(folder, new_run(candidates, drafts), &Lottery)?;
    let end = runtime.block_on(session.execute(
        Arc::new(Instant2Kb),
        Arc::new(Lottery),
        &RunOptions::new(16),
        &mut |_: &Notice<'_>| {},
        &CancellationToken::new(),
    ))?;
    session.close()?;
    let seconds = begun.elapsed().as_secs_f64();
    let worked = processor_seconds() - worked;
    let count = f64::from(end.progress.evaluations);
    let (begun, before) = (Instant::now(), processor_seconds());
    let session = RunSession::resume(folder, "bench")?;
    let resumed = begun.elapsed().as_secs_f64();
    let resuming = processor_seconds() - before;
    let report = format!(
        "{count} candidates, {drafts} drafts for each plan: {:.0} per second, {:.0} us of processor time each, resumed in {resumed:.2} s with {resuming:.2} s of processor time, {} MiB at most\n",
        count / seconds,
        1e6 * worked / count,
        peak_mib(),
    );
    assert_eq!(session.search().n_evaluations(), end.progress.evaluations);
    std::io::stdout().write_all(report.as_bytes())?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    let candidates = words.next().map_or(Ok(100_000), |word| word.parse())?;
    let root = match words.next() {
        Some(folder) => tempfile::tempdir_in(folder)?,
        None => tempfile::tempdir()?,
    };
    for drafts in [1, 4] {
        measure(&root.path().join(drafts.to_string()), candidates, drafts)?;
    }
    Ok(())
}
