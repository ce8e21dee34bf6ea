//! Runs for other programs: tables of all kernels, and what happened when.

mod mlflow;
pub(crate) mod parquet;
mod spans;

pub use mlflow::write_mlflow;
pub use parquet::parquet;
pub use spans::spans;

use crate::kernels::Kernel;
use crate::run::RunData;
use serde_json::{Value, json};

/// The columns, in order. Costs are numbers in the unit that stands beside them.
pub const COLUMNS: [&str; 26] = [
    "run",
    "problem",
    "target",
    "seed",
    "kernel",
    "task",
    "iteration",
    "parent",
    "kind",
    "menu_item",
    "planner",
    "coder",
    "outcome",
    "cost",
    "unit",
    "spread_ppm",
    "percent_of_peak",
    "gain",
    "evaluation",
    "elapsed_ms",
    "repeats",
    "in_best_chain",
    "calls",
    "tokens",
    "usd",
    "source",
];

fn row(run: &RunData, kernel: &Kernel) -> [Value; COLUMNS.len()] {
    [
        json!(run.name),
        json!(run.report.problem),
        json!(run.report.target),
        json!(run.report.seed),
        json!(kernel.name),
        json!(kernel.task),
        json!(kernel.iteration),
        json!(run.parent(kernel).map(|it| &it.name)),
        json!(kernel.kind),
        json!(kernel.menu_item),
        json!(kernel.planner),
        json!(kernel.coder),
        json!(kernel.outcome.name()),
        json!(kernel.cost.map(|cost| cost.value)),
        json!(kernel.cost.map(|cost| cost.unit.name())),
        json!(kernel.cost.map(|cost| cost.spread_ppm)),
        json!(kernel.percent_of_peak),
        json!(kernel.gain),
        json!(kernel.evaluation_number),
        json!(kernel.elapsed_ms),
        json!(kernel.repeats),
        json!(kernel.in_chain),
        json!(kernel.calls),
        json!(kernel.usage.tokens()),
        json!(kernel.usage.cost.0 as f64 / 1e6),
        json!(kernel.source.to_string()),
    ]
}

/// Returns all kernels of some runs as CSV with a header (RFC 4180, but for its line ends).
#[must_use]
pub fn csv(runs: &[RunData]) -> String {
    let mut out = COLUMNS.join(",") + "\n";
    for run in runs {
        for kernel in &run.kernels {
            let cells = row(run, kernel).map(|cell| match cell {
                Value::Null => String::new(),
                Value::String(text) => field(&text),
                other => other.to_string(),
            });
            out += &cells.join(",");
            out.push('\n');
        }
    }
    out
}

/// Returns a text as a field of CSV. One that a spreadsheet would take for a formula gets
/// an apostrophe, since names of models and menu items were written by others.
pub fn field(text: &str) -> String {
    let guarded = match text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        true => format!("'{text}"),
        false => text.to_owned(),
    };
    if guarded.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", guarded.replace('"', "\"\""))
    } else {
        guarded
    }
}

/// Returns all kernels of some runs, one JSON object per line, with plan, source and
/// evaluation.
#[must_use]
pub fn json_lines(runs: &[RunData]) -> String {
    let mut out = String::new();
    for run in runs {
        for kernel in &run.kernels {
            let cells = row(run, kernel);
            let mut object: serde_json::Map<String, Value> = COLUMNS
                .iter()
                .zip(cells)
                .map(|(name, cell)| ((*name).to_owned(), cell))
                .collect();
            object.insert("plan".to_owned(), json!(run.texts.plan(kernel)));
            object.insert("code".to_owned(), json!(run.texts.source(kernel).ok()));
            object.insert("evaluation".to_owned(), json!(*kernel.evaluation));
            out += &Value::Object(object).to_string();
            out.push('\n');
        }
    }
    out
}
