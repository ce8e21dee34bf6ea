//! `autocomp show`: one run, finished or live.

mod kernels;

use super::runs::state_text;
use crate::error::CliError;
use crate::exit_code;
use crate::model_usage::{ModelUsage, model_lines, model_usage};
use crate::output::{BOLD, Output};
use crate::run_errors::{run_error, store_error};
use autocomp_core::{CandidateId, ContentHash, Event};
use autocomp_eval::text;
use autocomp_reports::RunData;
use autocomp_reports::change::{FigureChange, figure_changes};
use autocomp_runner::{Contribution, RunReport, RunState, RunView};
use autocomp_store::history_lines;
use clap::Args;
use kernels::{Sort, show_all, show_one};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

/// Show a run: how far it is, the plans that led to its best kernel, or any kernel
#[derive(Debug, Args)]
pub struct Arguments {
    /// Run folder
    run: PathBuf,
    /// Show everything about one kernel: `best`, `baseline`, a candidate such as `c12`, or a task
    /// such as `i2.b0.p3.d0`
    #[arg(group = "what", value_name = "KERNEL")]
    name: Option<String>,
    /// List all kernels
    #[arg(long, group = "what")]
    all: bool,
    /// What the list is sorted by
    #[arg(long, requires = "all", default_value = "cost")]
    sort: Sort,
    /// List only kernels with this outcome, such as `ok` or `wrong`
    #[arg(long, requires = "all")]
    outcome: Option<String>,
    /// List only kernels of models whose name contains this
    #[arg(long, requires = "all")]
    model: Option<String>,
    /// List only kernels of menu items whose name contains this
    #[arg(long, requires = "all")]
    item: Option<String>,
    /// List so many kernels at most
    #[arg(long, requires = "all", value_name = "N")]
    limit: Option<usize>,
    /// Show the code of the kernel instead of what changed in it
    #[arg(long, requires = "name")]
    code: bool,
    /// Show the prompts and replies that led to the kernel
    #[arg(long, requires = "name")]
    prompts: bool,
    /// Print the source of a kernel: `best`, `baseline`, or a candidate such as `c12`
    #[arg(long, value_name = "KERNEL", group = "what")]
    kernel: Option<String>,
    /// Print the canonical history: one event per line in the order of the tasks, without times
    #[arg(long, group = "what")]
    history: bool,
    /// Print everything recorded about one task, such as `i2.b0.p3`: prompts, replies, verdict
    #[arg(long, value_name = "TASK", group = "what")]
    task: Option<String>,
}

#[derive(Serialize)]
struct ShowReport {
    #[serde(flatten)]
    run: RunReport,
    models: Vec<ModelUsage>,
    contributions: Vec<Contribution>,
}

#[derive(Serialize)]
struct KernelReport {
    kernel: String,
    source: String,
}

#[derive(Serialize)]
struct HistoryReport {
    history: ContentHash,
    events: Vec<serde_json::Value>,
}

#[derive(Serialize)]
struct TaskReport {
    task: String,
    events: Vec<serde_json::Value>,
    texts: Vec<TextReport>,
    missing: Vec<MissingText>,
}

#[derive(Serialize)]
struct TextReport {
    hash: ContentHash,
    text: String,
}

/// A text that cannot be shown.
#[derive(Serialize)]
struct MissingText {
    hash: ContentHash,
    message: String,
    remedy: String,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    let view = RunView::open(&arguments.run).map_err(|error| run_error(&error))?;
    if let Some(name) = &arguments.name {
        show_one(&RunData::of(&view), name, arguments, output)?;
    } else if arguments.all {
        show_all(&RunData::of(&view), arguments, output)?;
    } else if let Some(kernel) = &arguments.kernel {
        show_kernel(&view, kernel, output)?;
    } else if arguments.history {
        show_history(&view, output)?;
    } else if let Some(task) = &arguments.task {
        show_task(&view, task, output)?;
    } else {
        let report = view.report();
        let report = ShowReport {
            models: model_usage(&view),
            contributions: view.contributions(),
            run: report,
        };
        output.result(&report, || {
            report_text(&report) + &story_text(&RunData::of(&view), output.is_coloured())
        })?;
    }
    Ok(exit_code::SUCCESS)
}

fn show_kernel(view: &RunView, kernel: &str, output: Output) -> Result<(), CliError> {
    let unknown = || {
        CliError::usage(format!("the run has no kernel `{kernel}`"))
            .hint("`best`, `baseline`, or a number from the list of plans, such as `c1`")
    };
    let source = match kernel {
        "best" => view
            .search
            .best()
            .map(|best| best.source)
            .ok_or_else(unknown)?,
        "baseline" => view.search.started().baseline,
        _ => kernel
            .strip_prefix('c')
            .and_then(|number| number.parse().ok())
            .and_then(|number| view.search.candidate(CandidateId(number)))
            .map(|candidate| candidate.source)
            .ok_or_else(unknown)?,
    };
    let source = view
        .blobs()
        .get_text(source)
        .map_err(|error| store_error(&error))?;
    output.exact_result(
        &KernelReport {
            kernel: kernel.to_owned(),
            source: source.clone(),
        },
        || source,
    )
}

fn show_history(view: &RunView, output: Output) -> Result<(), CliError> {
    let lines = history_lines(view.events.iter().map(|stored| &stored.event));
    let events = lines
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .map_err(CliError::internal)?;
    output.result(
        &HistoryReport {
            history: view.report().history,
            events,
        },
        || lines,
    )
}

fn show_task(view: &RunView, task: &str, output: Output) -> Result<(), CliError> {
    let of_task: Vec<&Event> = view
        .events
        .iter()
        .map(|stored| &stored.event)
        .filter(|event| {
            event.key().is_some_and(|key| {
                let name = key.to_string();
                name == task || name.strip_suffix(".eval") == Some(task)
            })
        })
        .collect();
    if of_task.is_empty() {
        return Err(CliError::usage(format!("the run has no task `{task}`"))
            .hint("`autocomp show RUN --history` names the tasks"));
    }
    let (mut texts, mut missing) = (Vec::new(), Vec::new());
    for hash in of_task.iter().flat_map(|event| event.blobs()) {
        match view.blobs().get_text(hash) {
            Ok(text) => texts.push(TextReport { hash, text }),
            Err(error) => missing.push(MissingText {
                hash,
                message: error.to_string(),
                remedy: error.remedy(),
            }),
        }
    }
    let events = of_task
        .iter()
        .map(serde_json::to_value)
        .collect::<Result<_, _>>()
        .map_err(CliError::internal)?;
    let report = TaskReport {
        task: task.to_owned(),
        events,
        texts,
        missing,
    };
    output.result(&report, || {
        let mut out = String::new();
        for event in &report.events {
            out += &format!("{event:#}\n");
        }
        for text in &report.texts {
            out += &format!("\n--- {} ---\n{}\n", text.hash.short(), text.text);
        }
        for text in &report.missing {
            out += &format!(
                "\n--- {} ---\nmissing: {}\nhint: {}\n",
                text.hash.short(),
                text.message,
                text.remedy
            );
        }
        out
    })
}

/// Returns a run as people read it.
fn report_text(report: &ShowReport) -> String {
    let ShowReport {
        run: report,
        models,
        contributions,
    } = report;
    let progress = &report.progress;
    let mut out = format!(
        "{} on {}: {}\n",
        report.problem,
        report.target,
        state_text(&report.status)
    );
    out += &format!(
        "seed {}, {}, compiled by {}\n",
        report.seed,
        report.proposers.join(", "),
        report.compiler
    );
    out += &format!(
        "iteration {}/{}, {} evaluations in {}\n",
        progress.iteration,
        progress.iterations,
        progress.evaluations,
        text::clock(Duration::from_millis(report.elapsed_ms)),
    );
    let outcomes: Vec<String> = progress
        .outcomes
        .iter()
        .filter(|(_, count)| 0 < **count)
        .map(|(outcome, count)| format!("{count} {outcome}"))
        .collect();
    out += &format!("outcomes: {}\n", outcomes.join(", "));
    if 0 < progress.usage.requests {
        out += &format!(
            "models: {} requests, {} failed, {} tokens in, {} cached, {} out, {}\n",
            text::grouped(progress.usage.requests),
            text::grouped(progress.failed_calls),
            text::grouped(progress.usage.input_tokens),
            text::grouped(progress.usage.cached_tokens),
            text::grouped(progress.usage.output_tokens),
            text::dollars(progress.usage.cost.0),
        );
        out += &model_lines(models);
    }
    if 0 < progress.unsettled.requests {
        let fate = match report.status {
            RunState::Running { .. } => "are under way",
            _ => "were cut off (resuming counts them in full)",
        };
        out += &format!(
            "{} calls {fate}, up to {}\n",
            text::grouped(progress.unsettled.requests),
            text::dollars(progress.unsettled.cost.0),
        );
    }
    out.push('\n');
    out += &lineage_text(report);
    let contributions = contributions_text(contributions);
    if !contributions.is_empty() {
        out += &format!("\n{contributions}");
    }
    out
}

/// Returns who contributed what, if it was more than one; else nothing.
pub fn contributions_text(contributions: &[Contribution]) -> String {
    if contributions.len() < 2 {
        return String::new();
    }
    let head = ["", "drafts", "right", "faster", "in the best"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for it in contributions {
        let credit = match it.steps_to_best {
            0 => "-".to_owned(),
            steps => format!("{:.2}x in {steps}", it.factor),
        };
        rows.push(vec![
            format!("{} ({})", it.proposer, it.kind),
            it.drafts.to_string(),
            it.right.to_string(),
            it.faster.to_string(),
            credit,
        ]);
    }
    format!("who contributed:\n{}", text::table(&rows, &[1, 2, 3]))
}

/// Returns the chain of plans from the baseline to the best kernel.
pub fn lineage_text(report: &RunReport) -> String {
    let mut out = String::new();
    let mut before: Option<autocomp_core::Cost> = None;
    for entry in &report.lineage {
        let id = entry.id.map_or_else(|| "-".to_owned(), |id| id.to_string());
        let cost = text::grouped(entry.cost.value);
        let step = before.map_or_else(String::new, |before| {
            format!(
                "  {:.2}x  {}",
                entry.cost.times(before),
                entry.menu_item.as_deref().unwrap_or("")
            )
        });
        out += &format!(
            "{id:>5}  {cost:>12} {}{step}{}\n",
            entry.cost.unit,
            if before.is_none() { "  baseline" } else { "" }
        );
        if let Some(plan) = &entry.plan {
            out += &text::wrapped(plan, 96, "         ");
        }
        before = Some(entry.cost);
    }
    out
}

/// Returns what each step to the best kernel changed in the profile, how other kernels of
/// the problem compare, and where to look closer.
fn story_text(run: &RunData, coloured: bool) -> String {
    let mut out = String::new();
    let mut rows = Vec::new();
    for pair in run.chain.windows(2) {
        let (before, after) = (&run.kernels[pair[0]], &run.kernels[pair[1]]);
        let changes = figure_changes(&before.evaluation, &after.evaluation, 4);
        if !changes.is_empty() {
            let texts: Vec<String> = changes.iter().map(FigureChange::text).collect();
            rows.push(vec![format!("  {}", after.name), texts.join(", ")]);
        }
    }
    if !rows.is_empty() {
        let title = BOLD.paint("what each step changed in the profile:", coloured);
        out += &format!("\n{title}\n{}", text::table(&rows, &[]));
    }
    if let (false, Some(best)) = (run.references.is_empty(), run.best().and_then(|it| it.cost)) {
        let rows: Vec<Vec<String>> = run
            .references
            .iter()
            .map(|it| {
                let ratio = best.times(it.cost);
                vec![
                    format!("  {}", it.kernel),
                    text::grouped(it.cost.value),
                    format!("{}, {ratio:.2}x the best", it.cost.unit),
                ]
            })
            .collect();
        let title = BOLD.paint("other kernels of the problem:", coloured);
        out += &format!("\n{title}\n{}", text::table(&rows, &[1]));
    }
    if let Some(best) = run.best() {
        let (folder, name) = (run.report.run.display(), &best.name);
        out += &format!(
            "\nlook closer  autocomp show {folder} {name}\n             autocomp show {folder} --all\n             autocomp diff {folder} baseline {name}\n             autocomp report {folder}\n",
        );
    }
    out
}
