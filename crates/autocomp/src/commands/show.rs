//! `autocomp show`: one run, finished or live.

mod front;
mod kernels;
mod text;

use super::diff::kernel_of;
use crate::error::CliError;
use crate::exit_code;
use crate::model_usage::{ModelUsage, model_usage};
use crate::output::Output;
use crate::run_errors::{run_error, store_error};
use autocomp_core::{ContentHash, Event};
use autocomp_reports::RunData;
use autocomp_runner::{Contribution, RunReport, RunView};
use autocomp_store::history_lines;
use clap::Args;
use front::show_front;
use kernels::{Sort, show_all, show_one};
use serde::Serialize;
use std::path::PathBuf;
use text::{report_text, story_text};

pub use text::{contributions_text, lineage_text};

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
    /// List the kernels of which none is better in cost and all these figures, separated by
    /// commas, such as `instructions`
    #[arg(long, value_name = "NAMES", value_delimiter = ',', group = "what")]
    objectives: Vec<String>,
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
    } else if !arguments.objectives.is_empty() {
        show_front(&view, &arguments.objectives, output)?;
    } else if arguments.history {
        show_history(&view, output)?;
    } else if let Some(task) = &arguments.task {
        show_task(&view, task, output)?;
    } else {
        let report = match output.is_json() {
            true => view.whole_report(),
            false => view.report(),
        };
        let report = ShowReport {
            models: model_usage(&view),
            contributions: view.contributions(),
            run: report,
        };
        output.result(&report, || {
            let width = output.prose_width();
            report_text(&report, width)
                + &story_text(&RunData::of(&view), width, output.is_coloured())
        })?;
    }
    Ok(exit_code::SUCCESS)
}

fn show_kernel(view: &RunView, kernel: &str, output: Output) -> Result<(), CliError> {
    let run = RunData::of(view);
    let source = kernel_of(&run, kernel)?.source;
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
            history: view.history(),
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
