//! `autocomp optimize`: searches for a faster kernel.

use super::eval::kernel_source;
use super::show::lineage_text;
use crate::error::{CliError, ErrorKind};
use crate::exit_code;
use crate::measuring::{Bench, evaluator_settings};
use crate::output::Output;
use crate::progress::ProgressLines;
use crate::proposing::{Models, Proposing, proposing};
use crate::run_errors::{run_error, store_error};
use crate::settings::{Settings, run_folder};
use crate::text;
use crate::workplace::{Workplace, WorkplaceOptions};
use autocomp_agents::{Proposer, Replay, RunShape};
use autocomp_core::{FinishReason, Outcome, Seed, StopReason, Usage};
use autocomp_runner::{
    Limits, NewRun, RecordedRun, RunEnd, RunOptions, RunReport, RunSession, RunView,
};
use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Search for a faster, still correct kernel
///
/// Without `--model`, the built-in schedule rewriter proposes the changes: no
/// key, no network and no hardware are needed. Ctrl-C ends the run cleanly; it
/// can be continued with `--resume`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Problem, by name or folder
    #[arg(required_unless_present_any = ["resume", "replay", "config"])]
    problem: Option<String>,
    /// Settings file (TOML); flags win over it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Kernel to start from: a C file, or one of the problem's kernels [default: baseline]
    #[arg(long, value_name = "FILE")]
    baseline: Option<String>,
    /// Machine to measure on [default: the target's]
    #[arg(long)]
    machine: Option<String>,
    /// Seed of all random choices [default: 0]
    #[arg(long)]
    seed: Option<u64>,
    /// Kernels to evaluate at most, the baseline included
    #[arg(long, value_name = "N")]
    max_evaluations: Option<u32>,
    /// Minutes after which the run stops, resumable
    #[arg(long, value_name = "MINUTES")]
    max_minutes: Option<f64>,
    /// Evaluations at a time [default: one for each processor]
    #[arg(long, value_name = "N")]
    workers: Option<usize>,
    /// Beam width: kernels that seed an iteration
    #[arg(long, value_name = "B")]
    beam: Option<u32>,
    /// Plans for each kernel of the beam
    #[arg(long, value_name = "N")]
    plans: Option<u32>,
    /// Drafts for each plan
    #[arg(long, value_name = "K")]
    drafts: Option<u32>,
    /// Iterations at most
    #[arg(long, value_name = "T")]
    iterations: Option<u32>,
    /// Language model, such as `openai::gpt-5`, `openai@http://localhost:8000/v1/::NAME` or
    /// `command::SHELL WORDS`; may be repeated for an ensemble [default: the rewriter]
    #[arg(long = "model", value_name = "MODEL")]
    models: Vec<String>,
    /// Model that writes code, if others than those that plan; may be repeated
    #[arg(long = "coding-model", value_name = "MODEL", requires = "models")]
    coding_models: Vec<String>,
    /// Dollars that models may cost at most; the run then stops, resumable
    #[arg(long, value_name = "DOLLARS")]
    max_usd: Option<f64>,
    /// Tokens that models may use at most; the run then stops, resumable
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// Requests to models at most, retries included; the run then stops, resumable
    #[arg(long, value_name = "N")]
    max_requests: Option<u64>,
    /// Attempts at repairing a draft that fails, with its diagnostics
    #[arg(long, value_name = "R")]
    repairs: Option<u32>,
    /// Price file (TOML) that adds to the built-in prices or overrides them
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Use models without a known price, at a cost counted as zero
    #[arg(long)]
    allow_unknown_prices: bool,
    /// Folder of the new run; must be absent or empty [default: a fresh one in `runs`]
    #[arg(long, value_name = "FOLDER", conflicts_with = "resume")]
    run_dir: Option<PathBuf>,
    /// Continue the run in this folder; its course is fixed by its own settings
    #[arg(long, value_name = "FOLDER", conflicts_with_all = [
        "problem", "config", "baseline", "machine", "seed", "max_evaluations", "beam", "plans",
        "drafts", "iterations", "models", "coding_models", "repairs", "replay",
    ])]
    resume: Option<PathBuf>,
    /// Run again what the run in this folder proposed, without any model, in a new run
    #[arg(long, value_name = "FOLDER", conflicts_with_all = [
        "problem", "config", "baseline", "machine", "seed", "max_evaluations", "beam", "plans",
        "drafts", "iterations", "models", "coding_models", "repairs",
    ])]
    replay: Option<PathBuf>,
    #[command(flatten)]
    workplace: WorkplaceOptions,
}

/// The result; field names are stable.
#[derive(Serialize)]
struct OptimizeReport {
    problem: String,
    target: String,
    machine: String,
    /// `finished` or `stopped`.
    status: &'static str,
    /// Why it finished or stopped.
    reason: String,
    baseline_cycles: u64,
    best_cycles: u64,
    speedup: f64,
    percent_of_peak: f64,
    evaluations: u32,
    outcomes: BTreeMap<Outcome, u32>,
    wall_s: f64,
    cost_usd: f64,
    best_kernel: PathBuf,
    run: PathBuf,
    seed: u64,
    compiler: String,
    history: String,
    plans: Vec<PlanReport>,
}

#[derive(Serialize)]
struct PlanReport {
    cycles: u64,
    menu_item: Option<String>,
    plan: Option<String>,
    proposer: Option<String>,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    let mut workplace = Workplace::open(&arguments.workplace)?;
    let prepared = prepare(arguments, &mut workplace, output)?;
    let folder = prepared.session.folder().to_owned();
    let end = execute(prepared.session, &prepared.proposing, &prepared.bench, &prepared.options, output)?;
    finish(&folder, &prepared.bench, &end, output)
}

/// A run ready to go.
struct Prepared {
    session: RunSession,
    proposing: Proposing,
    bench: Bench,
    options: RunOptions,
}

fn prepare(
    arguments: &Arguments,
    workplace: &mut Workplace,
    output: Output,
) -> Result<Prepared, CliError> {
    if let Some(folder) = &arguments.resume {
        return resume(arguments, folder, workplace, output);
    }
    if let Some(recorded) = &arguments.replay {
        return replay(arguments, recorded, workplace, output);
    }
    let settings = effective_settings(arguments)?;
    let Some(problem_name) = settings.problem.clone() else {
        return Err(CliError::usage("no problem is given")
            .hint("name one on the command line, or as `problem = \"…\"` in the settings file"));
    };
    settings
        .search
        .check()
        .map_err(|error| CliError::usage(error).hint("change the flag or the settings file"))?;
    let problem = workplace.problem(&problem_name)?;
    let baseline = kernel_source(&problem, settings.baseline.as_deref().unwrap_or("baseline"))?;
    let bench = open_bench(workplace, &settings, output)?;
    let proposing = proposing(&settings, &bench, &Usage::default())?;
    if let Some(models) = &proposing.models {
        announce_estimate(models, &settings, &bench, &baseline, output)?;
    }
    let new = NewRun {
        program: env!("CARGO_PKG_VERSION").to_owned(),
        target: bench.target.name.clone(),
        problem: bench.problem.name.clone(),
        compiler: bench.compiler.clone(),
        proposers: proposing.names.clone(),
        seed: Seed(settings.seed),
        settings: settings.search.clone(),
        menu: bench.target.menu.clone(),
        baseline,
        spec: Some(settings.to_toml()?),
    };
    let folder = run_folder(arguments.run_dir.as_deref(), &bench.problem.name, settings.seed);
    let session = RunSession::create(&folder, new, bench.evaluator.as_ref())
        .map_err(|error| run_error(&error))?;
    output.message(format!(
        "{} on {} (machine {}), compiled by {}\nrun folder {}",
        bench.problem.name,
        bench.target.name,
        bench.machine,
        bench.compiler,
        folder.display()
    ));
    let options = run_options(&settings);
    Ok(Prepared { session, proposing, bench, options })
}

fn resume(
    arguments: &Arguments,
    folder: &Path,
    workplace: &mut Workplace,
    output: Output,
) -> Result<Prepared, CliError> {
    let view = RunView::open(folder).map_err(|error| run_error(&error))?;
    let mut settings = stored_settings(&view)?;
    let spent = view.report().progress.usage;
    drop(view);
    take_limits(arguments, &mut settings);
    let bench = open_bench(workplace, &settings, output)?;
    let proposing = proposing(&settings, &bench, &spent)?;
    let session = RunSession::resume(folder, env!("CARGO_PKG_VERSION"))
        .map_err(|error| run_error(&error))?;
    if 0 < session.n_dropped() {
        output.message(format!(
            "note: the last {} events had lost their texts and will be done again",
            session.n_dropped()
        ));
    }
    output.message(format!("resuming {}", folder.display()));
    let options = run_options(&settings);
    Ok(Prepared { session, proposing, bench, options })
}

fn replay(
    arguments: &Arguments,
    recorded: &Path,
    workplace: &mut Workplace,
    output: Output,
) -> Result<Prepared, CliError> {
    let view = RunView::open(recorded).map_err(|error| run_error(&error))?;
    let mut settings = stored_settings(&view)?;
    let new = view.to_new_run().map_err(|error| run_error(&error))?;
    settings.workers = arguments.workers.or(settings.workers);
    settings.max_minutes = arguments.max_minutes;
    let bench = open_bench(workplace, &settings, output)?;
    let recording = RecordedRun::open(recorded).map_err(|error| run_error(&error))?;
    let folder = run_folder(arguments.run_dir.as_deref(), &bench.problem.name, settings.seed);
    let session = RunSession::create(&folder, new, bench.evaluator.as_ref())
        .map_err(|error| run_error(&error))?;
    output.message(format!("replaying {} into {}", recorded.display(), folder.display()));
    let options = run_options(&settings);
    let proposer: Arc<dyn Proposer> = Arc::new(Replay::new(recording));
    let proposing = Proposing { names: vec![proposer.name().to_owned()], proposer, models: None };
    Ok(Prepared { session, proposing, bench, options })
}

/// Returns defaults, overridden by the settings file, overridden by flags.
fn effective_settings(arguments: &Arguments) -> Result<Settings, CliError> {
    let mut settings = match &arguments.config {
        Some(path) => Settings::read(path)?,
        None => Settings::default(),
    };
    let Arguments { problem, baseline, machine, .. } = arguments;
    for (field, flag) in [
        (&mut settings.problem, problem),
        (&mut settings.baseline, baseline),
        (&mut settings.machine, machine),
    ] {
        if flag.is_some() {
            field.clone_from(flag);
        }
    }
    settings.seed = arguments.seed.unwrap_or(settings.seed);
    if !arguments.models.is_empty() {
        settings.models.clone_from(&arguments.models);
        settings.coding_models.clone_from(&arguments.coding_models);
    }
    take_limits(arguments, &mut settings);
    let search = &mut settings.search;
    search.beam = arguments.beam.unwrap_or(search.beam);
    search.plans = arguments.plans.unwrap_or(search.plans);
    search.drafts = arguments.drafts.unwrap_or(search.drafts);
    search.iterations = arguments.iterations.unwrap_or(search.iterations);
    search.repairs = arguments.repairs.unwrap_or(search.repairs);
    search.max_evaluations = arguments.max_evaluations.or(search.max_evaluations);
    Ok(settings)
}

/// Takes the flags that may change when a run is resumed.
fn take_limits(arguments: &Arguments, settings: &mut Settings) {
    settings.workers = arguments.workers.or(settings.workers);
    settings.max_minutes = arguments.max_minutes.or(settings.max_minutes);
    let budget = &mut settings.budget;
    budget.max_usd = arguments.max_usd.or(budget.max_usd);
    budget.max_tokens = arguments.max_tokens.or(budget.max_tokens);
    budget.max_requests = arguments.max_requests.or(budget.max_requests);
    if arguments.prices.is_some() {
        settings.asking.prices.clone_from(&arguments.prices);
    }
    settings.asking.allow_unknown_prices |= arguments.allow_unknown_prices;
}

/// Says what the run will cost, before it starts.
fn announce_estimate(
    models: &Models,
    settings: &Settings,
    bench: &Bench,
    baseline: &str,
    output: Output,
) -> Result<(), CliError> {
    let search = &settings.search;
    let shape = RunShape {
        beam: search.beam,
        plans: search.plans,
        drafts: search.drafts,
        iterations: search.iterations,
    };
    let estimate = models
        .proposer
        .estimate(&shape, baseline, None, &bench.target.menu)
        .map_err(CliError::input)?;
    output.message(format!(
        "estimate: up to {} calls, about {} ({} without prompt caching, {} at most without retries and repairs)",
        text::grouped(estimate.calls),
        text::dollars(estimate.cost.0),
        text::dollars(estimate.cost_without_cache.0),
        text::dollars(estimate.highest_cost.0),
    ));
    for model in &estimate.models {
        output.message(format!(
            "  {}: {} plans, {} drafts, about {}",
            model.model,
            text::grouped(model.plan_calls),
            text::grouped(model.draft_calls),
            text::dollars(model.cost.0),
        ));
    }
    Ok(())
}

/// Returns the effective settings that a run was started with.
fn stored_settings(view: &RunView) -> Result<Settings, CliError> {
    let started = view.search.started();
    let Some(spec) = started.spec else {
        return Err(CliError::input("the run was stored without its settings")
            .hint("start a new run with the same seed"));
    };
    let text = view.blobs().get_text(spec).map_err(|error| store_error(&error))?;
    Settings::parse(&text, "the settings stored with the run")
}

fn open_bench(workplace: &mut Workplace, settings: &Settings, output: Output) -> Result<Bench, CliError> {
    let problem = settings.problem.as_deref().unwrap_or_default();
    Bench::open(workplace, problem, settings.machine.as_deref(), evaluator_settings(true), output)
}

fn run_options(settings: &Settings) -> RunOptions {
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    let mut options = RunOptions::new(settings.workers.unwrap_or_else(processors).max(1));
    options.limits = Limits {
        max_wall: settings.max_minutes.map(|minutes| Duration::from_secs_f64(minutes.clamp(0.0, 1e9) * 60.0)),
        ..Limits::default()
    };
    options
}

fn execute(
    mut session: RunSession,
    proposing: &Proposing,
    bench: &Bench,
    options: &RunOptions,
    output: Output,
) -> Result<RunEnd, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::environment(format!("failed to start threads: {error}")))?;
    let cancel = CancellationToken::new();
    runtime.spawn(cancel_on_signal(cancel.clone(), output));
    let connector = proposing.models.as_ref().map(|models| models.connector.clone());
    let mut progress = ProgressLines::new(output, connector);
    let result = runtime.block_on(session.execute(
        proposing.proposer.clone(),
        bench.evaluator.clone(),
        options,
        &mut progress,
        &cancel,
    ));
    progress.finish();
    // An evaluation that was given up may still occupy a thread.
    runtime.shutdown_background();
    let end = result.map_err(|error| run_error(&error))?;
    session.close().map_err(|error| run_error(&error))?;
    Ok(end)
}

/// Waits for Ctrl-C or a termination signal and then stops the run cleanly.
async fn cancel_on_signal(cancel: CancellationToken, output: Output) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    output.message("stopping: running evaluations may finish (again to stop at once; nothing is lost)");
    cancel.cancel();
    // Some programs (`timeout`, terminals) send the same signal twice in a row.
    tokio::time::sleep(Duration::from_millis(500)).await;
    while let Ok(Some(())) = tokio::time::timeout(Duration::ZERO, interrupt.recv()).await {}
    while let Ok(Some(())) = tokio::time::timeout(Duration::ZERO, terminate.recv()).await {}
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    // The journal is consistent after every event, so leaving now is safe.
    std::process::exit(i32::from(exit_code::INTERRUPTED));
}

/// Writes the best kernel, prints the result, returns the exit code.
fn finish(folder: &Path, bench: &Bench, end: &RunEnd, output: Output) -> Result<u8, CliError> {
    let view = RunView::open(folder).map_err(|error| run_error(&error))?;
    let run = view.report();
    let resume = format!("autocomp optimize --resume {}", folder.display());
    if end.finish == Some(FinishReason::BaselineFailed) {
        return Err(baseline_failed(&view, bench));
    }
    let (Some(baseline), Some(best)) = (run.progress.baseline_cycles, &run.progress.best) else {
        // Stopped before the baseline was measured.
        let stop = end.stop.as_ref();
        return Err(stop.map_or_else(
            || CliError::internal("the run ended without a baseline"),
            |stop| stop_error(stop).hint(format!("then continue with `{resume}`")),
        ));
    };
    let source = view.blobs().get_text(best.source).map_err(|error| store_error(&error))?;
    let best_kernel = folder.join("best.c");
    fs::write(&best_kernel, source).map_err(|error| {
        CliError::environment(format!("failed to write {}: {error}", best_kernel.display()))
            .hint(format!("`autocomp show {} --kernel best` prints the kernel", folder.display()))
    })?;
    let report = OptimizeReport {
        problem: bench.problem.name.clone(),
        target: bench.target.name.clone(),
        machine: bench.machine.clone(),
        status: if end.finish.is_some() { "finished" } else { "stopped" },
        reason: end.finish.map(|finish| finish.name().to_owned()).unwrap_or_else(|| {
            end.stop.as_ref().map_or("unknown", |stop| stop.reason.name()).to_owned()
        }),
        baseline_cycles: baseline.0,
        best_cycles: best.cycles.0,
        speedup: baseline.0 as f64 / best.cycles.0 as f64,
        percent_of_peak: best.percent_of_peak,
        evaluations: run.progress.evaluations,
        outcomes: run.progress.outcomes.clone(),
        wall_s: run.elapsed_ms as f64 / 1000.0,
        cost_usd: run.progress.usage.cost.0 as f64 / 1e6,
        best_kernel: absolute(&best_kernel),
        run: absolute(folder),
        seed: run.seed.0,
        compiler: run.compiler.clone(),
        history: run.history.to_string(),
        plans: plan_reports(&run),
    };
    output.result(&report, || result_text(&report, &run, folder, bench))?;
    match &end.stop {
        None => Ok(exit_code::SUCCESS),
        // A time limit is what the user asked for.
        Some(stop) if stop.reason == StopReason::WallTime => {
            output.message(format!("the time is spent; continue with `{resume} --max-minutes MORE`"));
            Ok(exit_code::SUCCESS)
        }
        Some(stop) if stop.reason == StopReason::Interrupted => {
            output.message(format!("interrupted; continue with `{resume}`"));
            Ok(exit_code::INTERRUPTED)
        }
        Some(stop) => {
            let error = stop_error(stop).hint(format!("then continue with `{resume}`"));
            output.message(error.to_string());
            Ok(error.exit_code())
        }
    }
}

fn stop_error(stop: &autocomp_runner::Stop) -> CliError {
    let kind = match stop.reason {
        StopReason::Interrupted => ErrorKind::Interrupted,
        StopReason::Fault => ErrorKind::Internal,
        _ => ErrorKind::Environment,
    };
    stop.remedies.iter().fold(CliError::new(kind, &stop.message), |error, remedy| error.hint(remedy))
}

/// The baseline is not correct: says why, with its diagnostics.
fn baseline_failed(view: &RunView, bench: &Bench) -> CliError {
    let started = view.search.started();
    let evaluation = view.search.evaluation(started.baseline);
    let mut message =
        format!("the kernel to start from is not correct for {}, so there is nothing to improve", bench.problem.name);
    if let Some(evaluation) = evaluation {
        message += "\n\n";
        message += crate::evaluation_text::evaluation_text(evaluation).trim_end();
        message.push('\n');
    }
    CliError::input(message).hint("mend it and check it with `autocomp eval PROBLEM --kernel FILE`")
}

fn plan_reports(run: &RunReport) -> Vec<PlanReport> {
    run.lineage
        .iter()
        .map(|entry| PlanReport {
            cycles: entry.cycles.0,
            menu_item: entry.menu_item.clone(),
            plan: entry.plan.clone(),
            proposer: entry.proposer.clone(),
        })
        .collect()
}

fn result_text(report: &OptimizeReport, run: &RunReport, folder: &Path, bench: &Bench) -> String {
    let rows = [
        vec!["baseline".to_owned(), text::grouped(report.baseline_cycles), "cycles".to_owned()],
        vec![
            "best".to_owned(),
            text::grouped(report.best_cycles),
            format!("cycles, {:.1} % of peak", report.percent_of_peak),
        ],
        vec![
            "speedup".to_owned(),
            format!("{:.2}x", report.speedup),
            format!("right on all {} input sets", bench.problem.input_sets.len()),
        ],
        vec![
            "effort".to_owned(),
            report.evaluations.to_string(),
            format!("evaluations in {}", text::clock(Duration::from_secs_f64(report.wall_s))),
        ],
    ];
    format!(
        "\n{}\nhow it got there:\n{}\nbest kernel  {}\nrun folder   {}\nlook closer  autocomp show {}\n             autocomp eval {} --kernel {}\n",
        text::table(&rows, &[1]),
        lineage_text(run),
        folder.join("best.c").display(),
        folder.display(),
        folder.display(),
        report.problem,
        folder.join("best.c").display(),
    )
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
