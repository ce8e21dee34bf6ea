//! The answers: what the front end asks for, as JSON, and news as server-sent events.

use crate::Shared;
use autocomp_core::{CostObject, Outcome};
use autocomp_reports::change::{CONTEXT, difference, figure_changes};
use autocomp_reports::{Kernel, RunData};
use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream::{self, Stream};
use serde::Deserialize;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

/// Kernels in one answer at most.
const MOST_ROWS: usize = 500;
/// Kernels of a tree at most: those of the beams first.
const MOST_NODES: usize = 4_000;
/// How often runs are looked at for news.
const PERIOD: Duration = Duration::from_secs(1);

/// An answer in words.
type Refused = (StatusCode, String);

fn not_found(message: String) -> Refused {
    (StatusCode::NOT_FOUND, message + "\n")
}

/// Works out an answer where it may take time.
async fn work<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refused> + Send + 'static,
) -> Result<T, Refused> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| {
        let message = "the answer could not be worked out\n".to_owned();
        Err((StatusCode::INTERNAL_SERVER_ERROR, message))
    })
}

async fn of_run<T: Send + 'static>(
    shared: Shared,
    name: String,
    answer: impl FnOnce(&RunData) -> Result<T, Refused> + Send + 'static,
) -> Result<T, Refused> {
    work(move || {
        let run = shared.runs.get(&name).map_err(not_found)?;
        answer(&run)
    })
    .await
}

/// Which run.
#[derive(Deserialize)]
pub struct OfRun {
    run: String,
}

/// All runs, with what a list of them shows.
pub async fn list(State(shared): State<Shared>) -> Response {
    let listed = work(move || {
        let (runs, damaged) = shared.runs.all();
        let rows: Vec<Value> = runs
            .iter()
            .map(|(name, run)| {
                let report = &run.report;
                let best = report.progress.best.as_ref();
                json!({
                    "run": name,
                    "problem": report.problem,
                    "target": report.target,
                    "status": report.status,
                    "proposers": report.proposers,
                    "seed": report.seed,
                    "baseline": report.progress.baseline_cost.map(CostObject::from),
                    "best": best.map(|it| CostObject::from(it.cost)),
                    "percent_of_peak": best.map(|it| it.percent_of_peak),
                    "speedup": report.speedup,
                    "evaluations": report.progress.evaluations,
                    "elapsed_ms": report.elapsed_ms,
                    "started_at_ms": report.started_at_ms,
                    "usd": report.progress.usage.cost.0 as f64 / 1e6,
                    "curve": curve(run, 40),
                })
            })
            .collect();
        Ok(Json(json!({ "runs": rows, "damaged": damaged })))
    });
    listed.await.into_response()
}

/// Returns the best cost over evaluations in at most `most` steps and the last.
fn curve(run: &RunData, most: usize) -> Vec<(u32, u64)> {
    let points: Vec<(u32, u64)> = run
        .improvements
        .iter()
        .filter_map(|it| Some((it.evaluations, it.cost?.value)))
        .collect();
    let every = points.len().div_ceil(most).max(1);
    let last = points.last().copied();
    let mut kept: Vec<(u32, u64)> = points.into_iter().step_by(every).collect();
    if kept.last().copied() != last {
        kept.extend(last);
    }
    kept
}

/// Everything about one run but its kernels.
pub async fn run(State(shared): State<Shared>, Query(of): Query<OfRun>) -> Response {
    let name = of.run.clone();
    let answer = of_run(shared, of.run, move |run| {
        let chain: Vec<Value> = run
            .chain
            .iter()
            .map(|place| chain_step(run, &run.kernels[*place]))
            .collect();
        let improvements: Vec<Value> = run
            .improvements
            .iter()
            .map(|it| {
                json!({
                    "kernel": run.kernels[it.kernel].name,
                    "evaluations": it.evaluations,
                    "elapsed_ms": it.elapsed_ms,
                    "usd": it.usd_micros as f64 / 1e6,
                    "value": it.cost.map(|cost| cost.value),
                })
            })
            .collect();
        Ok(Json(json!({
            "run": name,
            "report": run.report,
            "chain": chain,
            "improvements": improvements,
            "references": run.references,
            "floor": run.floor.map(CostObject::from),
            "menu_items": run.menu_items,
            "proposers": run.proposers,
            "iterations": run.iterations.len(),
            "kernels": run.kernels.len(),
            "program": run.started.program,
            "search": run.started.settings,
            "settings": run.settings,
            "command": run.command(),
        })))
    });
    answer.await.into_response()
}

fn chain_step(run: &RunData, kernel: &Kernel) -> Value {
    let changes = run.parent(kernel).map_or_else(Vec::new, |parent| {
        figure_changes(&parent.evaluation, &kernel.evaluation, 4)
    });
    let changes: Vec<String> = changes.iter().map(|it| it.text()).collect();
    let mut row = row(run, kernel);
    row["plan"] = json!(run.texts.plan(kernel));
    row["changes"] = json!(changes);
    row
}

fn row(run: &RunData, kernel: &Kernel) -> Value {
    json!({
        "name": kernel.name,
        "parent": run.parent(kernel).map(|it| &it.name),
        "iteration": kernel.iteration,
        "menu_item": kernel.menu_item,
        "made_by": kernel.made_by(),
        "outcome": kernel.outcome,
        "cost": kernel.cost.map(|cost| cost.value),
        "unit": kernel.cost.map(|cost| cost.unit),
        "gain": kernel.gain,
        "percent_of_peak": kernel.percent_of_peak,
        "evaluation": kernel.evaluation_number,
        "usd": kernel.usage.cost.0 as f64 / 1e6,
        "in_chain": kernel.in_chain,
        "in_beam": !kernel.beams.is_empty(),
    })
}

/// The tree: kernels as columns of numbers, of which there may be many.
pub async fn tree(State(shared): State<Shared>, Query(of): Query<OfRun>) -> Response {
    let answer = of_run(shared, of.run, |run| {
        let mut places: Vec<usize> = (0..run.kernels.len())
            .filter(|place| run.kernels[*place].cost.is_some())
            .collect();
        let total = places.len();
        if MOST_NODES < total {
            places.sort_by_key(|place| {
                let kernel = &run.kernels[*place];
                (!kernel.in_chain, kernel.beams.is_empty(), kernel.cost)
            });
            places.truncate(MOST_NODES);
            places.sort_unstable();
        }
        let index = |place: usize| places.binary_search(&place).ok();
        let of = |value: &dyn Fn(&Kernel) -> Value| -> Vec<Value> {
            places.iter().map(|it| value(&run.kernels[*it])).collect()
        };
        let standing = |kernel: &Kernel| match (kernel.in_chain, kernel.beams.is_empty()) {
            (true, _) => 2,
            (false, false) => 1,
            (false, true) => 0,
        };
        Ok(Json(json!({
            "total": total,
            "name": of(&|it| json!(it.name)),
            "parent": of(&|it| json!(it.parent.and_then(index))),
            "iteration": of(&|it| json!(it.iteration)),
            "cost": of(&|it| json!(it.cost.map(|cost| cost.value))),
            "item": of(&|it| json!(it.menu_item)),
            "standing": of(&|it| json!(standing(it))),
        })))
    });
    answer.await.into_response()
}

/// Which kernels of a run, and in which order.
#[derive(Deserialize)]
pub struct OfKernels {
    run: String,
    #[serde(default)]
    sort: String,
    #[serde(default)]
    falling: bool,
    #[serde(default)]
    outcome: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    from: usize,
    #[serde(default)]
    count: usize,
}

/// A part of the table of kernels.
pub async fn kernels(State(shared): State<Shared>, Query(of): Query<OfKernels>) -> Response {
    let name = of.run.clone();
    let answer = of_run(shared, name, move |run| {
        let outcome = Outcome::ALL.into_iter().find(|it| it.name() == of.outcome);
        let word = of.text.to_lowercase();
        let has_word = |kernel: &Kernel| {
            let fields = [&kernel.menu_item, &kernel.planner, &kernel.coder];
            let is_in = |text: &str| text.to_lowercase().contains(&word);
            is_in(&kernel.name) || fields.into_iter().flatten().any(|it| is_in(it))
        };
        let mut found: Vec<&Kernel> = run
            .kernels
            .iter()
            .filter(|it| of.outcome.is_empty() || Some(it.outcome) == outcome)
            .filter(|it| word.is_empty() || has_word(it))
            .collect();
        let gain = |it: &Kernel| it.gain.unwrap_or(0.0);
        match of.sort.as_str() {
            "cost" => found.sort_by_key(|it| (it.cost.is_none(), it.cost)),
            "gain" => found.sort_by(|a, b| gain(a).total_cmp(&gain(b))),
            "item" => found.sort_by_key(|it| it.menu_item.as_deref().unwrap_or_default()),
            "made_by" => found.sort_by_cached_key(|it| it.made_by()),
            "outcome" => found.sort_by_key(|it| it.outcome),
            "iteration" => found.sort_by_key(|it| it.iteration),
            _ => {}
        }
        if of.falling {
            found.reverse();
        }
        let count = if of.count == 0 { 100 } else { of.count }.min(MOST_ROWS);
        let rows: Vec<Value> = found
            .iter()
            .skip(of.from)
            .take(count)
            .map(|it| row(run, it))
            .collect();
        Ok(Json(
            json!({ "total": found.len(), "from": of.from, "rows": rows }),
        ))
    });
    answer.await.into_response()
}

/// Which kernel of which run.
#[derive(Deserialize)]
pub struct OfKernel {
    run: String,
    kernel: String,
}

fn named<'a>(run: &'a RunData, name: &str) -> Result<&'a Kernel, Refused> {
    let found = run.kernel(name);
    found.ok_or_else(|| not_found("the run has no such kernel".to_owned()))
}

/// Everything about one kernel.
pub async fn kernel(State(shared): State<Shared>, Query(of): Query<OfKernel>) -> Response {
    let answer = of_run(shared, of.run, move |run| {
        let kernel = named(run, &of.kernel)?;
        let changes = run.parent(kernel).map_or_else(Vec::new, |parent| {
            figure_changes(&parent.evaluation, &kernel.evaluation, 10)
        });
        let changes: Vec<String> = changes.iter().map(|it| it.text()).collect();
        let text = |hash| run.texts.text(hash).unwrap_or_else(|error| error);
        let exchanges: Vec<Value> = kernel
            .exchanges
            .iter()
            .map(|it| {
                json!({
                    "model": it.model,
                    "prompt": text(it.prompt),
                    "reply": text(it.reply),
                    "error": it.error,
                    "usage": it.usage,
                    "latency_ms": it.latency_ms,
                })
            })
            .collect();
        let children: Vec<&str> = run
            .kernels
            .iter()
            .filter(|it| {
                it.parent
                    .is_some_and(|parent| run.kernels[parent].name == kernel.name)
            })
            .take(200)
            .map(|it| it.name.as_str())
            .collect();
        Ok(Json(json!({
            "row": row(run, kernel),
            "task": kernel.task,
            "kind": kernel.kind,
            "beams": kernel.beams,
            "plan": run.texts.plan(kernel),
            "code": run.texts.source(kernel).unwrap_or_else(|error| error),
            "changes": changes,
            "evaluation": *kernel.evaluation,
            "exchanges": exchanges,
            "children": children,
        })))
    });
    answer.await.into_response()
}

/// Which kernels are compared.
#[derive(Deserialize)]
pub struct OfDiff {
    run: String,
    from: String,
    to: String,
    #[serde(default)]
    whole: bool,
}

/// What changed from one kernel to another.
pub async fn diff(State(shared): State<Shared>, Query(of): Query<OfDiff>) -> Response {
    let answer = of_run(shared, of.run, move |run| {
        let (from, to) = (named(run, &of.from)?, named(run, &of.to)?);
        let source = |kernel| run.texts.source(kernel).map_err(not_found);
        let context = (!of.whole).then_some(CONTEXT);
        let lines = difference(&source(from)?, &source(to)?, context);
        Ok(Json(
            json!({ "from": from.name, "to": to.name, "lines": lines }),
        ))
    });
    answer.await.into_response()
}

/// News: for each run the number of its evaluations and what it is doing, whenever
/// anything changes.
pub async fn events(
    State(shared): State<Shared>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let news = stream::unfold((shared, String::new()), |(shared, before)| async move {
        loop {
            let runs = Arc::clone(&shared.runs);
            let now = tokio::task::spawn_blocking(move || {
                let (runs, _) = runs.all();
                let rows: Vec<Value> = runs
                    .iter()
                    .map(|(name, run)| {
                        json!([
                            name,
                            run.report.progress.evaluations,
                            run.report.status,
                            run.report.progress.iteration
                        ])
                    })
                    .collect();
                Value::Array(rows).to_string()
            });
            let now = now.await.unwrap_or_default();
            if now != before {
                let event = Event::default().data(&now);
                return Some((Ok(event), (shared, now)));
            }
            tokio::time::sleep(PERIOD).await;
        }
    });
    Sse::new(news).keep_alive(KeepAlive::default())
}
