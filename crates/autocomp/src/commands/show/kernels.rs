//! Kernels of a run: the table of all of them, and everything about one.

use super::super::diff::{diff_text, kernel_of, source_of};
use super::Arguments;
use crate::error::CliError;
use crate::evaluation_text::evaluation_text;
use crate::output::{BAD, BOLD, GOOD, NAME, Output};
use crate::table::{Cell, Table};
use autocomp_core::Outcome;
use autocomp_eval::text;
use autocomp_reports::change::{CONTEXT, figure_changes, times};
use autocomp_reports::{Kernel, RunData};
use clap::ValueEnum;
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::cmp::Reverse;

/// What a table of kernels is sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// Cheapest first
    #[default]
    Cost,
    /// Largest gain over the parent first
    Gain,
    /// In the order of the evaluations
    Time,
    /// By menu item
    Item,
    /// By who made it
    Model,
    /// By outcome
    Outcome,
}

#[derive(Serialize)]
struct KernelsReport<'a> {
    kernels: Vec<ListedKernel<'a>>,
    /// How many there are without the filters and the limit.
    total: usize,
}

/// A kernel with the name of the one that it was made from: a list that is sorted or cut has no
/// places.
struct ListedKernel<'a> {
    kernel: &'a Kernel,
    parent: Option<&'a str>,
}

impl Serialize for ListedKernel<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serde_json::to_value(self.kernel).map_err(S::Error::custom)?;
        fields["parent"] = json!(self.parent);
        fields.serialize(serializer)
    }
}

/// Prints the table of all kernels that the filters let through.
pub fn show_all(run: &RunData, arguments: &Arguments, output: Output) -> Result<(), CliError> {
    let outcome = arguments
        .outcome
        .as_deref()
        .map(outcome_named)
        .transpose()?;
    let contains = |field: Option<&String>, word: &Option<String>| match word {
        None => true,
        Some(word) => field.is_some_and(|field| field.contains(word.as_str())),
    };
    let mut kernels: Vec<&Kernel> = run
        .kernels
        .iter()
        .filter(|kernel| outcome.is_none_or(|outcome| kernel.outcome == outcome))
        .filter(|kernel| contains(kernel.menu_item.as_ref(), &arguments.item))
        .filter(|kernel| {
            contains(kernel.planner.as_ref(), &arguments.model)
                || contains(kernel.coder.as_ref(), &arguments.model)
        })
        .collect();
    let by_cost = |kernel: &&Kernel| (kernel.cost.is_none(), kernel.cost);
    match arguments.sort {
        Sort::Cost => kernels.sort_by_key(by_cost),
        Sort::Gain => kernels.sort_by(|a, b| {
            let gain = |kernel: &Kernel| kernel.gain.unwrap_or(0.0);
            gain(b).total_cmp(&gain(a))
        }),
        Sort::Time => {}
        Sort::Item => kernels.sort_by_key(|it| (it.menu_item.clone(), by_cost(it))),
        Sort::Model => kernels.sort_by_key(|it| (it.made_by(), by_cost(it))),
        Sort::Outcome => kernels.sort_by_key(|it| (Reverse(it.outcome), by_cost(it))),
    }
    let n_found = kernels.len();
    if let Some(limit) = arguments.limit {
        kernels.truncate(limit);
    }
    let listed = kernels.into_iter().map(|kernel| ListedKernel {
        kernel,
        parent: run.parent(kernel).map(|it| it.name.as_str()),
    });
    let report = KernelsReport {
        kernels: listed.collect(),
        total: run.kernels.len(),
    };
    output.result(&report, || {
        let rows: Vec<Vec<Cell>> = report
            .kernels
            .iter()
            .map(|it| row(run, it.kernel))
            .collect();
        let table = Table {
            head: &[
                "kernel",
                "from",
                "cost",
                "gain",
                "peak",
                "outcome",
                "menu item",
                "made by",
            ],
            right: &[2, 3, 4],
            flexible: &[6, 7],
            optional: &[7, 1, 4],
        };
        let mut out = table.text(&rows, output.width(), output.is_coloured());
        if report.kernels.len() < n_found {
            out += &format!("and {} more\n", n_found - report.kernels.len());
        }
        if n_found < report.total {
            out += &format!("{n_found} of {} kernels\n", report.total);
        }
        out
    })
}

fn outcome_named(name: &str) -> Result<Outcome, CliError> {
    let found = Outcome::ALL.into_iter().find(|it| it.name() == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = Outcome::ALL.iter().map(|it| it.name()).collect();
        CliError::usage(format!("there is no outcome `{name}`"))
            .hint(format!("one of {}", names.join(", ")))
    })
}

fn row(run: &RunData, kernel: &Kernel) -> Vec<Cell> {
    let none = || "-".to_owned();
    let is_faster = kernel.gain.is_some_and(|gain| 1.005 < gain);
    let gain = Cell::from(
        kernel
            .gain
            .map_or_else(none, |gain| format!("{}x", times(gain))),
    );
    let outcome = Cell::from(kernel.outcome.name());
    let name = match kernel.in_chain {
        true => Cell::from(kernel.name.clone()).styled(GOOD),
        false => Cell::from(kernel.name.clone()).styled(NAME),
    };
    vec![
        name,
        Cell::from(run.parent(kernel).map_or_else(none, |it| it.name.clone())),
        Cell::from(kernel.cost.map_or_else(none, |it| text::grouped(it.value))),
        if is_faster { gain.styled(GOOD) } else { gain },
        Cell::from(
            kernel
                .percent_of_peak
                .map_or_else(none, |it| format!("{it:.1} %")),
        ),
        match kernel.outcome {
            it if it.is_right() => outcome,
            _ => outcome.styled(BAD),
        },
        Cell::from(
            kernel
                .menu_item
                .clone()
                .unwrap_or_else(|| "baseline".to_owned()),
        ),
        Cell::from(kernel.made_by()),
    ]
}

/// Prints everything about one kernel, or the parts that are asked for.
pub fn show_one(
    run: &RunData,
    name: &str,
    arguments: &Arguments,
    output: Output,
) -> Result<(), CliError> {
    let kernel = kernel_of(run, name)?;
    let parent = run.parent(kernel);
    let plan = run.texts.plan(kernel);
    let code = run.texts.source(kernel);
    let diff = match (parent, &code) {
        (Some(parent), Ok(code)) => {
            let before = source_of(run, parent)?;
            run.difference(&before, code, Some(CONTEXT))
        }
        _ => Vec::new(),
    };
    let figures = parent.map_or_else(Vec::new, |parent| {
        figure_changes(&parent.evaluation, &kernel.evaluation, 8)
    });
    let exchanges: Vec<Value> = kernel
        .exchanges
        .iter()
        .map(|it| {
            let text = |hash| run.texts.text(hash);
            json!({
                "model": it.model,
                "prompt": text(it.prompt).unwrap_or_else(|error| error),
                "reply": text(it.reply).unwrap_or_else(|error| error),
                "error": it.error,
                "usage": it.usage,
                "latency_ms": it.latency_ms,
            })
        })
        .collect();
    let report = json!({
        "kernel": kernel,
        "parent": parent.map(|it| &it.name),
        "plan": plan,
        "code": code.as_ref().ok(),
        "figures": figures,
        "diff": diff,
        "evaluation": *kernel.evaluation,
        "exchanges": exchanges,
    });
    output.result(&report, || {
        let coloured = output.is_coloured();
        let heading = |title: &str| format!("\n{}\n", BOLD.paint(title, coloured));
        let mut out = head(run, kernel);
        if let Some(plan) = &plan {
            out += &heading("plan");
            for paragraph in plan.lines() {
                out += &text::wrapped(paragraph, output.prose_width(), "  ");
            }
        }
        if !figures.is_empty() {
            out += &heading("what it changed in the profile");
            for figure in &figures {
                out += &format!("  {}\n", figure.text());
            }
        }
        if !diff.is_empty() && !arguments.code {
            out += &heading("what it changed in the code");
            out += &diff_text(&diff, coloured);
        }
        if arguments.code {
            out += &heading("code");
            out += code.as_deref().unwrap_or("the text is missing");
        }
        out += &heading("evaluation");
        out += &evaluation_text(&kernel.evaluation, output.prose_width());
        if !kernel.exchanges.is_empty() {
            out += &exchanges_text(run, kernel, arguments.prompts, &heading);
        }
        out
    })
}

/// Returns where a kernel stands, in a few lines.
fn head(run: &RunData, kernel: &Kernel) -> String {
    let mut out = kernel.name.clone();
    if let Some(cost) = kernel.cost {
        out += &format!(": {} {}", text::grouped(cost.value), cost.unit);
    } else {
        out += &format!(": {}", kernel.outcome);
    }
    if let (Some(gain), Some(parent)) = (kernel.gain, run.parent(kernel)) {
        out += &format!(", {}x from {}", times(gain), parent.name);
    }
    if let Some(peak) = kernel.percent_of_peak {
        out += &format!(", {peak:.1} % of peak");
    }
    out.push('\n');
    out += &format!(
        "{}, {}, evaluation {}, {}\n",
        kernel.menu_item.as_deref().unwrap_or("baseline"),
        kernel.made_by(),
        kernel.evaluation_number,
        kernel.task,
    );
    if 0 < kernel.usage.requests {
        out += &format!(
            "{} calls of models, {} tokens, {}\n",
            kernel.calls,
            text::grouped(kernel.usage.tokens()),
            text::dollars(kernel.usage.cost.0)
        );
    }
    if !kernel.beams.is_empty() {
        let first = kernel.beams.first().copied().unwrap_or_default();
        let last = kernel.beams.last().copied().unwrap_or_default();
        out += &format!("in the beam after iterations {first} to {last}\n");
    }
    out
}

fn exchanges_text(
    run: &RunData,
    kernel: &Kernel,
    whole: bool,
    heading: &dyn Fn(&str) -> String,
) -> String {
    let mut out = heading("calls of models");
    for (idx, exchange) in kernel.exchanges.iter().enumerate() {
        out += &format!(
            "  {}: {} tokens, {}, {:.1} s{}\n",
            exchange.model,
            text::grouped(exchange.usage.tokens()),
            text::dollars(exchange.usage.cost.0),
            exchange.latency_ms as f64 / 1000.0,
            exchange
                .error
                .as_ref()
                .map_or_else(String::new, |error| format!(", failed: {error}")),
        );
        if whole {
            let shown = |hash| run.texts.text(hash).unwrap_or_else(|error| error);
            out += &heading(&format!("prompt {}", idx + 1));
            out += &shown(exchange.prompt);
            out += &heading(&format!("reply {}", idx + 1));
            out += &shown(exchange.reply);
            out.push('\n');
        }
    }
    if !whole {
        out += "  `--prompts` shows prompts and replies\n";
    }
    out
}
