//! `autocomp optimize`: searches for a faster kernel.

mod callers;
mod comparing;
mod confirming;
mod device_of_run;
mod forking;
pub(crate) mod preparing;
mod reporting;
mod reusing;

use crate::error::CliError;
use crate::exit_code;
use crate::measuring::Bench;
use crate::output::Output;
use crate::progress::ProgressLines;
use crate::proposing::Proposing;
use crate::queueing::QueueOptions;
use crate::remembering::remember;
use crate::run_errors::run_error;
use crate::workplace::{Workplace, WorkplaceOptions};
use autocomp_agents::Estimate;
use autocomp_core::Exhaustive;
use autocomp_runner::{RunEnd, RunOptions, RunSession};
use clap::Args;
use preparing::prepare;
use reporting::finish;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Search for a faster, still correct kernel
///
/// Without `--model`, the built-in schedule rewriter proposes the changes: no
/// key, no network and no hardware are needed. Ctrl-C ends the run cleanly; it
/// can be continued with `--resume`.
#[derive(Debug, Default, Args)]
#[command(allow_negative_numbers = true)]
pub struct Arguments {
    /// Problem, by name or folder
    #[arg(required_unless_present_any = ["resume", "replay", "config", "from"])]
    problem: Option<String>,
    /// Settings file (TOML); flags win over it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Kernel to start from: a file, or one of the problem's kernels [default: baseline]
    #[arg(long, alias = "kernel", value_name = "FILE")]
    baseline: Option<String>,
    /// Target to write for, if the problem has several [default: the one that fits this machine]
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
    /// Machine to measure on [default: the target's]
    #[arg(long)]
    machine: Option<String>,
    /// Seed of all random choices [default: 0]
    #[arg(long)]
    seed: Option<u64>,
    /// How survivors are chosen: `beam`, `evolutionary`, `best-of-n`, `hill-climbing` or
    /// `random` [default: beam]
    #[arg(long, value_name = "NAME")]
    strategy: Option<String>,
    /// Kernels to evaluate at most, the baseline included; a higher number extends a run that
    /// is resumed, and its iterations in proportion [default: no bound]
    #[arg(long, value_name = "N")]
    max_evaluations: Option<u32>,
    /// Minutes after which the run stops, resumable [default: no bound]
    #[arg(long, value_name = "MINUTES")]
    max_minutes: Option<f64>,
    /// Evaluations at a time [default: one for each processor, 64 with a queue]
    #[arg(long, value_name = "N")]
    workers: Option<usize>,
    /// Beam width: kernels that seed an iteration [default: 6]
    #[arg(long, value_name = "B")]
    beam: Option<u32>,
    /// Plans for each kernel of the beam [default: 6]
    #[arg(long, value_name = "N")]
    plans: Option<u32>,
    /// Drafts for each plan [default: 1]
    #[arg(long, value_name = "K")]
    drafts: Option<u32>,
    /// Iterations at most; a higher number extends a run that is resumed [default: 15]
    #[arg(long, value_name = "T")]
    iterations: Option<u32>,
    /// Iterations without a gain after which the run ends, 0 for never; a higher number
    /// extends a run that is resumed [default: 3]
    #[arg(long, value_name = "T")]
    patience: Option<u32>,
    /// Language model, such as `openai::gpt-5`, `openai@http://localhost:8000/v1/::NAME` or
    /// `command::SHELL WORDS`, or `rewriter`; may be repeated for an ensemble in which each
    /// has an equal share [default: the rewriter]
    #[arg(long = "model", value_name = "MODEL")]
    models: Vec<String>,
    /// Model that writes code, if others than those that plan; may be repeated
    #[arg(long = "coding-model", value_name = "MODEL", requires = "models")]
    coding_models: Vec<String>,
    /// Dollars that models may cost at most; the run then stops, resumable [default: no bound]
    #[arg(long, value_name = "DOLLARS")]
    max_usd: Option<f64>,
    /// Tokens that models may use at most; the run then stops, resumable [default: no bound]
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// Requests to models at most, retries included; the run then stops, resumable [default: no
    /// bound]
    #[arg(long, value_name = "N")]
    max_requests: Option<u64>,
    /// Attempts at repairing a draft that fails, with its diagnostics [default: 2 with models]
    #[arg(long, value_name = "R")]
    repairs: Option<u32>,
    /// Changes by the rewriter for each survivor in each iteration, beside the models'
    /// [default: 2 with models]
    #[arg(long, value_name = "P")]
    polish: Option<u32>,
    /// File with keys of providers, readable by its owner only
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// Price file (TOML) that adds to the built-in prices or overrides them
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Use models without a known price, at a cost counted as zero
    #[arg(long)]
    allow_unknown_prices: bool,
    /// Folder of the new run; must be absent or empty [default: a fresh one in `runs`]
    #[arg(long, value_name = "FOLDER", conflicts_with = "resume")]
    run_dir: Option<PathBuf>,
    /// Start a new run from where the run in this folder is: from its beam, or, after a colon,
    /// from one of its kernels, such as `runs/one:best` or `runs/one:c12`. Its settings and its
    /// problem hold unless told otherwise
    #[arg(long, value_name = "FOLDER[:KERNEL]", conflicts_with_all = ["resume", "replay"])]
    from: Option<String>,
    /// Replay the schedule of the finished run in this folder first, step by step, and go on
    /// from there; `auto` takes the run of the most similar problem beside the new run. The
    /// setting `search.explore` says how much of the work explores meanwhile
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["resume", "replay", "from"])]
    reuse: Option<String>,
    /// Tell models what earlier runs have taught, and add this run's lessons when it is
    /// finished: those of the file given, or of the user's own, which `autocomp memory` shows
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true,
        conflicts_with_all = ["resume", "replay"])]
    memory: Option<Option<PathBuf>>,
    /// When each menu item gets a plan of its own: `never`, `stalled` (after an iteration
    /// without a gain) or `always` [default: never]
    #[arg(long, value_name = "WHEN", value_parser = exhaustive)]
    exhaustive: Option<Exhaustive>,
    /// First iterations that translate the kernel to the target, for baselines that do
    /// without it [default: 0]
    #[arg(long, value_name = "T")]
    translation: Option<u32>,
    /// Any other setting of a settings file, such as `--set ideas=3`,
    /// `--set early_slack=[1.2,1.1]` or `--set asking.feedback_share=0.5`; may be repeated.
    /// docs/settings.md lists them; the flags above win over it
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Ask for code directly, without a plan
    #[arg(long)]
    direct: bool,
    /// Draw models and menu items by how often they helped and what they cost
    #[arg(long)]
    bandit: bool,
    /// Continue the run in this folder; flags that set another course than its own are refused,
    /// but for higher bounds, which extend it even if it is finished
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["config", "replay"])]
    resume: Option<PathBuf>,
    /// Run again what the run in this folder proposed, without any model, in a new run
    #[arg(long, value_name = "FOLDER", conflicts_with_all = [
        "problem", "config", "baseline", "target", "machine", "seed", "max_evaluations", "beam", "plans",
        "drafts", "iterations", "patience", "strategy", "models", "coding_models", "repairs", "polish",
        "exhaustive", "translation", "set", "direct", "bandit",
    ])]
    replay: Option<PathBuf>,
    /// Use the programs, addresses and files that the run folder names, though it was not made
    /// here by you; asked for with `--resume`, `--replay` and `--from`
    #[arg(long)]
    trust: bool,
    #[command(flatten)]
    queue: QueueOptions,
    #[command(flatten)]
    workplace: WorkplaceOptions,
}

/// Reads when plans are exhaustive.
fn exhaustive(name: &str) -> Result<Exhaustive, String> {
    let known = Exhaustive::ALL;
    let found = known.into_iter().find(|it| it.name() == name);
    found.ok_or_else(|| format!("the choices are {}", known.map(Exhaustive::name).join(", ")))
}

fn workplace(arguments: &Arguments, output: Output) -> Result<Workplace, CliError> {
    let title = arguments.problem.as_deref().unwrap_or("a run");
    let held = device_of_run::held(arguments);
    let workers = arguments.queue.connect(title, held.as_deref(), output)?;
    Ok(Workplace::open(&arguments.workplace)?.evaluating_by(workers))
}

/// Prepares a run and works on it until it is finished or stopped.
pub fn search(arguments: &Arguments, output: Output) -> Result<RunEnd, CliError> {
    Ok(searched(arguments, output)?.end)
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    let searched = searched(arguments, output)?;
    finish(
        &searched.folder,
        &searched.bench,
        &searched.problem,
        &searched.end,
        searched.estimate.as_ref(),
        searched.at_a_time,
        output,
    )
}

/// A run that is finished or stopped.
struct Searched {
    folder: PathBuf,
    bench: Bench,
    problem: String,
    end: RunEnd,
    estimate: Option<Estimate>,
    /// How many evaluations are made side by side.
    at_a_time: usize,
}

fn searched(arguments: &Arguments, output: Output) -> Result<Searched, CliError> {
    let (runtime, cancel) = listen(output)?;
    let mut workplace = workplace(arguments, output)?;
    let prepared = prepare(arguments, &mut workplace, output)?;
    let folder = prepared.session.folder().to_owned();
    let end = execute(
        runtime,
        &cancel,
        prepared.session,
        &prepared.proposing,
        &prepared.bench,
        &prepared.options,
        output,
    )?;
    remember(prepared.memory.as_deref(), &folder, output)?;
    Ok(Searched {
        folder,
        bench: prepared.bench,
        problem: prepared.problem,
        end,
        estimate: prepared.estimate,
        at_a_time: prepared.options.workers,
    })
}

fn execute(
    runtime: Runtime,
    cancel: &CancellationToken,
    mut session: RunSession,
    proposing: &Proposing,
    bench: &Bench,
    options: &RunOptions,
    output: Output,
) -> Result<RunEnd, CliError> {
    let connector = proposing
        .models
        .as_ref()
        .map(|models| models.connector.clone());
    let texts = session.blobs().clone();
    let mut progress = ProgressLines::new(
        output,
        connector,
        texts,
        options.limits.clone(),
        session.elapsed(),
    );
    let result = runtime.block_on(session.execute(
        proposing.proposer.clone(),
        bench.evaluator.clone(),
        options,
        &mut progress,
        cancel,
    ));
    progress.finish();
    // An evaluation that was given up may still occupy a thread.
    runtime.shutdown_background();
    let end = result.map_err(|error| run_error(&error))?;
    session.close().map_err(|error| run_error(&error))?;
    Ok(end)
}

/// Whether the run's folder is written by this process: from then on, a signal stops the run
/// cleanly; before, it ends the process at once, and nothing was begun.
static IS_BEGUN: AtomicBool = AtomicBool::new(false);

/// Notes that the run's folder is about to be written.
pub(super) fn begin() {
    IS_BEGUN.store(true, Ordering::Release);
}

/// Starts the threads of a run, and listens from now on for what stops it: before the run's
/// folder exists, so that whoever sees the folder can stop the run cleanly.
fn listen(output: Output) -> Result<(Runtime, CancellationToken), CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::environment(format!("failed to start threads: {error}")))?;
    let cancel = CancellationToken::new();
    let signals = {
        let _context = runtime.enter();
        signals()
    };
    runtime.spawn(cancel_on_signal(signals, cancel.clone(), output));
    Ok((runtime, cancel))
}

/// Returns what tells of Ctrl-C, a termination signal and the end of the terminal, which
/// from now on do not end the process; nothing where that cannot be had.
pub(super) fn signals() -> Vec<Signal> {
    let kinds = [
        SignalKind::interrupt(),
        SignalKind::terminate(),
        SignalKind::hangup(),
    ];
    let signals: Result<Vec<_>, _> = kinds.into_iter().map(signal).collect();
    signals.unwrap_or_default()
}

/// Waits for Ctrl-C, a termination signal or the end of the terminal, and then stops the
/// run cleanly.
async fn cancel_on_signal(mut signals: Vec<Signal>, cancel: CancellationToken, output: Output) {
    if signals.is_empty() {
        return;
    }
    any(&mut signals).await;
    if !IS_BEGUN.load(Ordering::Acquire) {
        output.message("stopped before anything was begun");
        std::process::exit(i32::from(exit_code::INTERRUPTED));
    }
    output.message(
        "stopping: running evaluations may finish (again to stop at once; nothing is lost)",
    );
    cancel.cancel();
    // Some programs (`timeout`, terminals) send signals twice in a row.
    tokio::time::sleep(Duration::from_millis(500)).await;
    while tokio::time::timeout(Duration::ZERO, any(&mut signals))
        .await
        .is_ok()
    {}
    any(&mut signals).await;
    // The journal is consistent after every event, so leaving now is safe.
    std::process::exit(i32::from(exit_code::INTERRUPTED));
}

/// Waits for one of the signals.
pub(super) async fn any(signals: &mut [Signal]) {
    futures::future::select_all(signals.iter_mut().map(|signal| Box::pin(signal.recv()))).await;
}
