//! What a run ends with: the best kernel, the result, the exit code.

use super::super::show::{contributions_text, lineage_text};
use super::comparing::{OtherKernel, other_kernels, others_text, to_references};
use crate::error::{CliError, ErrorKind};
use crate::evaluation_text::spread_text;
use crate::exit_code;
use crate::measuring::Bench;
use crate::model_usage::{ModelUsage, model_usage};
use crate::output::{Output, PROSE};
use crate::proposing::rewriter;
use crate::registry;
use crate::run_errors::{run_error, store_error};
use autocomp_agents::Estimate;
use autocomp_core::{
    CostObject, Drafted, Event, FinishReason, NotUnderstood, Outcome, Planned, Proposal,
    StopReason, Usage,
};
use autocomp_eval::text;
use autocomp_reports::change::times;
use autocomp_reports::write_references;
use autocomp_runner::{Contribution, NothingFaster, RunEnd, RunReport, RunView};
use autocomp_store::replace_file;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The reason of a run in which there was nothing to try.
const NOTHING_APPLIED: &str = "nothing_applied";

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
    /// The same in words.
    reason_text: String,
    /// Lines of the baseline that the rewriter leaves as they are.
    not_understood: Vec<NotUnderstood>,
    baseline_cost: CostObject,
    best_cost: CostObject,
    /// The same if cycles are counted, as the next.
    baseline_cycles: Option<u64>,
    best_cycles: Option<u64>,
    speedup: f64,
    /// Whether which of baseline and best kernel is faster lies within what costs may be off.
    is_tie: bool,
    /// Why nothing faster was found, and what to do next; null if something was.
    nothing_faster: Option<NothingFaster>,
    /// The same where the best kernel is faster by less than `least_gain`; null otherwise.
    little_faster: Option<NothingFaster>,
    percent_of_peak: f64,
    evaluations: u32,
    /// Drafts that repeated a kernel already evaluated.
    repeated: u32,
    outcomes: BTreeMap<Outcome, u32>,
    wall_s: f64,
    cost_usd: f64,
    /// What the whole run was expected to cost if nothing fails; absent without models.
    estimate_usd: Option<f64>,
    /// What it was expected to cost if every draft needs all its repairs.
    estimate_high_usd: Option<f64>,
    usage: Usage,
    models: Vec<ModelUsage>,
    contributions: Vec<Contribution>,
    best_kernel: PathBuf,
    run: PathBuf,
    seed: u64,
    compiler: String,
    /// Other kernels of the problem, slowest first.
    others: Vec<OtherKernel>,
    history: String,
    plans: Vec<PlanReport>,
}

#[derive(Serialize)]
struct PlanReport {
    cost: CostObject,
    cycles: Option<u64>,
    menu_item: Option<String>,
    plan: Option<String>,
    proposer: Option<String>,
}

/// Returns the name of the file with the best kernel in a run folder.
pub fn best_name(bench: &Bench) -> Result<String, CliError> {
    let extension = registry::language(&bench.target)?.extension();
    Ok(format!("best.{extension}"))
}

/// Writes the best kernel, prints the result, returns the exit code. The problem's other
/// kernels are evaluated `at_a_time`.
pub fn finish(
    folder: &Path,
    bench: &Bench,
    problem: &str,
    end: &RunEnd,
    estimate: Option<&Estimate>,
    at_a_time: usize,
    output: Output,
) -> Result<u8, CliError> {
    let view = RunView::open(folder).map_err(|error| run_error(&error))?;
    let run = view.report();
    let resume = format!("autocomp optimize --resume {}", folder.display());
    if end.finish == Some(FinishReason::BaselineFailed) {
        return Err(baseline_failed(&view, bench));
    }
    let (Some(baseline), Some(best)) = (run.progress.baseline_cost, &run.progress.best) else {
        // Stopped before the baseline was measured.
        let stop = end.stop.as_ref();
        return Err(stop.map_or_else(
            || CliError::internal("the run ended without a baseline"),
            |stop| stop_error(stop, &resume),
        ));
    };
    let source = view
        .blobs()
        .get_text(best.source)
        .map_err(|error| store_error(&error))?;
    let best_name = best_name(bench)?;
    replace_file(folder, &best_name, source.as_bytes()).map_err(|error| {
        store_error(&error).hint(format!(
            "`autocomp show {} --kernel best` prints the kernel",
            folder.display()
        ))
    })?;
    let best_kernel = folder.join(best_name);
    // Whoever wants to stop does not want to wait for a comparison.
    let is_over = match &end.stop {
        None => true,
        Some(stop) => stop.reason == StopReason::WallTime,
    };
    let baseline_source = view
        .blobs()
        .get_text(view.search.started().baseline)
        .map_err(|error| store_error(&error))?;
    let others = if is_over {
        let others = other_kernels(bench, &baseline_source, best.cost, at_a_time, output);
        if let Err(error) = write_references(folder, &to_references(&others)) {
            output.message(format!("note: the comparison could not be kept: {error}"));
        }
        others
    } else {
        Vec::new()
    };
    // A search that had nothing to try is not one that found nothing better.
    let nothing = end.finish.and_then(|_| no_plan(&view));
    let rewriter = rewriter(bench)?;
    let not_understood = rewriter.as_ref().map_or_else(Vec::new, |rewriter| {
        rewriter.not_understood(&baseline_source)
    });
    let mut why = [run.nothing_faster.clone(), run.little_faster.clone()];
    if let Some(rewriter) = rewriter.filter(|_| is_over) {
        for it in why.iter_mut().flatten() {
            it.reasons.extend(rewriter.obstacles(&baseline_source));
        }
    }
    let [nothing_faster, little_faster] = why.map(|it| with_lines(it, &not_understood, folder));
    let report = OptimizeReport {
        problem: bench.problem.name.clone(),
        target: bench.target.name.clone(),
        machine: bench.machine.clone(),
        status: if end.finish.is_some() {
            "finished"
        } else {
            "stopped"
        },
        reason: nothing
            .map(|_| NOTHING_APPLIED.to_owned())
            .or_else(|| end.finish.map(|finish| finish.name().to_owned()))
            .unwrap_or_else(|| {
                end.stop
                    .as_ref()
                    .map_or("unknown", |stop| stop.reason.name())
                    .to_owned()
            }),
        reason_text: match (end.finish, &end.stop) {
            _ if nothing.is_some() => nothing_text(nothing, &not_understood),
            (Some(finish), _) => finish.text(&view.search.started().settings),
            (None, Some(stop)) => stop.message.clone(),
            (None, None) => String::new(),
        },
        not_understood,
        baseline_cost: baseline.into(),
        best_cost: best.cost.into(),
        baseline_cycles: baseline.in_cycles(),
        best_cycles: best.cost.in_cycles(),
        speedup: best.cost.times(baseline),
        is_tie: run.is_tie,
        nothing_faster,
        little_faster,
        percent_of_peak: best.percent_of_peak,
        evaluations: run.progress.evaluations,
        repeated: run.progress.repeated,
        outcomes: run.progress.outcomes.clone(),
        wall_s: run.elapsed_ms as f64 / 1000.0,
        cost_usd: run.progress.usage.cost.0 as f64 / 1e6,
        estimate_usd: estimate.map(|estimate| estimate.cost.0 as f64 / 1e6),
        estimate_high_usd: estimate.map(|estimate| estimate.cost_with_failures.0 as f64 / 1e6),
        usage: run.progress.usage,
        models: model_usage(&view),
        contributions: view.contributions(),
        best_kernel: absolute(&best_kernel),
        run: absolute(folder),
        seed: run.seed.0,
        compiler: run.compiler.clone(),
        others,
        history: view.history().to_string(),
        plans: plan_reports(&run),
    };
    output.result(&report, || {
        let paths = (folder, best_kernel.as_path());
        result_text(&report, &run, paths, (bench, problem), output.prose_width())
    })?;
    tell_of_faults(&view, folder, output);
    match &end.stop {
        None => Ok(after_failed_proposals(&view, output)),
        // A time limit is what the user asked for.
        Some(stop) if stop.reason == StopReason::WallTime => {
            output.message(format!(
                "the time is spent; continue with `{resume} --max-minutes MORE`"
            ));
            Ok(exit_code::SUCCESS)
        }
        Some(stop) if stop.reason == StopReason::Interrupted => {
            output.message(format!("interrupted; continue with `{resume}`"));
            Ok(exit_code::INTERRUPTED)
        }
        Some(stop) => {
            let error = stop_error(stop, &resume);
            output.message(error.to_string());
            Ok(error.exit_code())
        }
    }
}

/// Tells of kernels that the evaluator could not judge.
fn tell_of_faults(view: &RunView, folder: &Path, output: Output) {
    let faults: Vec<_> = view
        .events
        .iter()
        .filter_map(|stored| match &stored.event {
            Event::Evaluated(it) if it.evaluation.outcome == Outcome::Fault => Some(it),
            _ => None,
        })
        .collect();
    let Some(last) = faults.last() else { return };
    let found = last.evaluation.diagnostics.first();
    output.message(format!(
        "FAULT OF AUTOCOMP: {} kernels could not be judged and were left out; the last one: {}\n\
         hint: please report it with the kernel, which `autocomp show {} --task {}` prints",
        faults.len(),
        found.map_or("no reason is known", |found| found.message.as_str()),
        folder.display(),
        last.key,
    ));
}

/// Tells of plans and drafts that could not be had, and returns the exit code:
/// a run that got none at all has not searched.
fn after_failed_proposals(view: &RunView, output: Output) -> u8 {
    let progress = view.search.progress();
    let counts = [progress.plans, progress.drafts, progress.repairs];
    let n_failed: u32 = counts.iter().map(|counts| counts.failed).sum();
    let last = view
        .events
        .iter()
        .rev()
        .find_map(|stored| match &stored.event {
            Event::Planned(Planned {
                result: Proposal::Failed { message },
                ..
            })
            | Event::Drafted(Drafted {
                result: Proposal::Failed { message },
                ..
            }) => Some(message),
            _ => None,
        });
    let Some(last) = last else {
        if let Some(why) = no_plan(view) {
            output.message(format!(
                "nothing applied: {why}\n\
                 hint: `--model MODEL` asks a language model; `--baseline FILE` starts from another kernel"
            ));
        }
        return exit_code::SUCCESS;
    };
    let contributions = view.contributions();
    let is_of_plans = |it: &&Contribution| it.kind != "polish";
    if contributions
        .iter()
        .filter(is_of_plans)
        .all(|it| it.made == 0)
    {
        let error =
            CliError::environment(format!("no draft could be had; the last failure: {last}"))
                .hint("`autocomp models check MODEL` tries a model");
        output.message(error.to_string());
        return error.exit_code();
    }
    output.message(format!(
        "note: {n_failed} plans and drafts could not be had; the last failure: {last}"
    ));
    exit_code::SUCCESS
}

/// Says that there was nothing to try, and why.
fn nothing_text(why: Option<&str>, not_understood: &[NotUnderstood]) -> String {
    let why = why.unwrap_or_default();
    match not_understood {
        // The reason for the whole kernel says where it is.
        _ if why.contains("line ") => format!("nothing applied: {why}"),
        [] => format!("nothing applied: {why}"),
        [first, ..] => format!(
            "nothing applied: {why} (line {}: {})",
            first.line, first.reason
        ),
    }
}

/// Returns why there was no plan in the whole run; absent if there was one.
fn no_plan(view: &RunView) -> Option<&str> {
    if view.search.progress().plans.made != 0 {
        return None;
    }
    view.events.iter().find_map(|stored| match &stored.event {
        Event::Planned(Planned {
            result: Proposal::Nothing { message },
            ..
        }) => Some(message.as_str()),
        _ => None,
    })
}

/// Says why the run stopped and how to go on; `resume` is the command that
/// continues it.
fn stop_error(stop: &autocomp_runner::Stop, resume: &str) -> CliError {
    let kind = match stop.reason {
        StopReason::Interrupted => ErrorKind::Interrupted,
        StopReason::Fault => ErrorKind::Internal,
        StopReason::Input => ErrorKind::Input,
        _ => ErrorKind::Environment,
    };
    let error = stop
        .remedies
        .iter()
        .fold(CliError::new(kind, &stop.message), |error, remedy| {
            error.hint(remedy)
        });
    error.hint(match kind {
        ErrorKind::Input => {
            "then start a new run: this one keeps the problem that it began with".to_owned()
        }
        _ => format!("then continue with `{resume}`"),
    })
}

/// The baseline is not correct: says why, with its diagnostics.
fn baseline_failed(view: &RunView, bench: &Bench) -> CliError {
    let started = view.search.started();
    let evaluation = view.search.evaluation(started.baseline);
    let mut message = format!(
        "the kernel to start from is not correct for {}, so there is nothing to improve",
        bench.problem.name
    );
    if let Some(evaluation) = evaluation {
        message += "\n\n";
        message += crate::evaluation_text::evaluation_text(evaluation, PROSE).trim_end();
        message.push('\n');
    }
    CliError::input(message).hint("mend it and check it with `autocomp eval PROBLEM --kernel FILE`")
}

fn plan_reports(run: &RunReport) -> Vec<PlanReport> {
    run.lineage
        .iter()
        .map(|entry| PlanReport {
            cost: entry.cost.into(),
            cycles: entry.cost.in_cycles(),
            menu_item: entry.menu_item.clone(),
            plan: entry.plan.clone(),
            proposer: entry.proposer.clone(),
        })
        .collect()
}

fn result_text(
    report: &OptimizeReport,
    run: &RunReport,
    (folder, best_kernel): (&Path, &Path),
    (bench, problem): (&Bench, &str),
    width: usize,
) -> String {
    let unit = report.best_cost.unit;
    let mut rows = vec![
        vec![
            "baseline".to_owned(),
            text::grouped(report.baseline_cost.value),
            unit.to_string(),
        ],
        vec![
            "best".to_owned(),
            text::grouped(report.best_cost.value),
            format!(
                "{unit}{}, {:.1} % of peak",
                spread_text(report.best_cost.spread_ppm),
                report.percent_of_peak
            ),
        ],
        vec![
            "speedup".to_owned(),
            format!("{}x", times(report.speedup)),
            format!(
                "{}right on all {} input sets",
                match report.is_tie {
                    true => "a tie, within what costs may be off; ",
                    false => "",
                },
                bench.problem.input_sets.len()
            ),
        ],
        vec![
            "effort".to_owned(),
            report.evaluations.to_string(),
            format!(
                "evaluations in {}",
                text::clock(Duration::from_secs_f64(report.wall_s))
            ),
        ],
        vec![
            report.status.to_owned(),
            String::new(),
            report.reason_text.clone(),
        ],
    ];
    let n_repeated = report.repeated;
    if 0 < n_repeated {
        let told = "drafts that repeated a program evaluated before".to_owned();
        rows.insert(4, vec!["repeated".to_owned(), n_repeated.to_string(), told]);
    }
    if let Some(nothing) = &report.nothing_faster {
        return nothing_text_of(report, nothing, &mut rows, folder);
    }
    let mut contributions = contributions_text(&report.contributions);
    if !contributions.is_empty() {
        contributions.push('\n');
    }
    let little = report.little_faster.as_ref().map(|it| why_text(it) + "\n");
    format!(
        "\n{}{}\nhow it got there:\n{}\n{contributions}{}best kernel  {}\nrun folder   {}\nlook closer  autocomp show {}\n             autocomp eval {} --kernel {}\n",
        text::table(&rows, &[1]),
        others_text(&report.others),
        lineage_text(run, width),
        little.unwrap_or_default(),
        best_kernel.display(),
        folder.display(),
        folder.display(),
        problem,
        best_kernel.display(),
    )
}

/// Adds the lines of the kernel that the rewriter leaves alone to why nothing faster was found,
/// and names the run in what to do next.
fn with_lines(
    nothing: Option<NothingFaster>,
    not_understood: &[NotUnderstood],
    folder: &Path,
) -> Option<NothingFaster> {
    let mut nothing = nothing?;
    match not_understood {
        [] => {}
        [only] => nothing.reasons.push(format!(
            "line {} of the kernel is not understood by the rewriter: {}",
            only.line, only.reason
        )),
        [first, ..] => nothing.reasons.push(format!(
            "{} lines of the kernel are not understood by the rewriter, the first of them line {}: {}",
            not_understood.len(),
            first.line,
            first.reason
        )),
    }
    let run = folder.display().to_string();
    for next in &mut nothing.next {
        *next = next.replace("RUN", &run);
    }
    Some(nothing)
}

/// Returns the result of a run that found nothing faster.
fn nothing_text_of(
    report: &OptimizeReport,
    nothing: &NothingFaster,
    rows: &mut Vec<Vec<String>>,
    folder: &Path,
) -> String {
    // What it began with is what it ended with: no best kernel, no speedup.
    rows.retain(|row| !matches!(row[0].as_str(), "best" | "speedup"));
    rows[0][2] = format!("{}, {:.1} % of peak", rows[0][2], report.percent_of_peak);
    format!(
        "\nnothing faster was found\n{}{}\n{}run folder   {}\n",
        text::table(rows, &[1]),
        others_text(&report.others),
        why_text(nothing),
        folder.display(),
    )
}

/// Returns why a run gained nothing, or little, and what to do next.
fn why_text(of: &NothingFaster) -> String {
    let list =
        |items: &[String]| -> String { items.iter().map(|item| format!("  - {item}\n")).collect() };
    format!("why:\n{}what next:\n{}", list(&of.reasons), list(&of.next))
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
