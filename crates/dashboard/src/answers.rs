//! The answers: what the front end asks for, as JSON, and news as server-sent events.

mod kernel;
mod kernels;
pub(crate) mod profile;

pub use kernel::{diff, kernel};
pub use kernels::{kernels, tree};
pub use profile::{Profiles, profile, timeline};

use crate::Shared;
use autocomp_core::CostObject;
use autocomp_reports::change::figure_changes;
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

/// How often news are looked for.
const PERIOD: Duration = Duration::from_millis(500);

/// An answer in words.
pub type Refused = (StatusCode, String);

pub fn not_found(message: String) -> Refused {
    (StatusCode::NOT_FOUND, message + "\n")
}

/// Works out an answer where it may take time.
pub async fn work<T: Send + 'static>(
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
    work(move || shared.runs.with(&name, answer).map_err(not_found)?).await
}

/// Which run.
#[derive(Deserialize)]
pub struct OfRun {
    run: String,
}

/// All runs, with what a list of them shows.
pub async fn list(State(shared): State<Shared>) -> Response {
    let listed = work(move || {
        let (runs, damaged) = shared.runs.lines();
        let runs: Vec<&Value> = runs.iter().map(|it| &**it).collect();
        Ok(Json(json!({
            "runs": runs,
            "damaged": damaged,
            "folder": shared.runs.folder().display().to_string(),
        })))
    });
    listed.await.into_response()
}

/// Returns what a list says of a run.
pub fn summary(name: &str, run: &RunData) -> Value {
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
        "nothing_faster": report.nothing_faster,
        "little_faster": report.little_faster,
        "iteration": report.progress.iteration,
        "evaluations": report.progress.evaluations,
        "elapsed_ms": report.elapsed_ms,
        "started_at_ms": report.started_at_ms,
        "usd": report.progress.usage.cost.0 as f64 / 1e6,
        "curve": curve(run, 40),
    })
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
        // Of where the best came from, the chain says more.
        let mut report = json!(run.report);
        if let Some(fields) = report.as_object_mut() {
            fields.remove("lineage");
        }
        Ok(Json(json!({
            "run": name,
            "report": report,
            "chain": chain,
            "improvements": improvements,
            "references": run.references,
            "floor": run.floor.map(CostObject::from),
            "menu_items": run.menu_items,
            "proposers": run.proposers,
            "workers": run.workers,
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

/// News: for each run the number of its evaluations and what it is doing, and what came of
/// what was started here, whenever anything changes.
pub async fn events(
    State(shared): State<Shared>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let news = stream::unfold((shared, String::new()), |(shared, before)| async move {
        loop {
            let runs = Arc::clone(&shared.runs);
            let now = tokio::task::spawn_blocking(move || {
                let (runs, _) = runs.lines();
                let of = |run: &Value| {
                    json!([
                        run["run"],
                        run["evaluations"],
                        run["status"],
                        run["iteration"]
                    ])
                };
                runs.iter().map(|it| of(it)).collect::<Vec<Value>>()
            });
            let control = shared.control.as_ref().map(|it| it.started());
            let now = json!([now.await.unwrap_or_default(), control]).to_string();
            if now != before {
                let event = Event::default().data(&now);
                return Some((Ok(event), (shared, now)));
            }
            tokio::time::sleep(PERIOD).await;
        }
    });
    Sse::new(news).keep_alive(KeepAlive::default())
}
