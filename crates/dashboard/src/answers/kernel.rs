//! One kernel: plan, code, profile, calls, and what changed since another.

use super::{Refused, not_found, of_run, row};
use crate::Shared;
use autocomp_reports::change::{CONTEXT, figure_changes};
use autocomp_reports::{Kernel, RunData};
use axum::Json;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

/// Which kernel of which run.
#[derive(Deserialize)]
pub struct OfKernel {
    pub(super) run: String,
    pub(super) kernel: String,
}

pub(super) fn named<'a>(run: &'a RunData, name: &str) -> Result<&'a Kernel, Refused> {
    let found = run.kernel(name);
    found.ok_or_else(|| not_found("the run has no such kernel".to_owned()))
}

/// Everything about one kernel.
pub async fn kernel(State(shared): State<Shared>, Query(of): Query<OfKernel>) -> Response {
    let settings = std::sync::Arc::clone(&shared.settings);
    let answer = of_run(shared, of.run, move |run| {
        let kernel = named(run, &of.kernel)?;
        let has_timeline = (settings.has_timeline)(&run.report.target);
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
                    .is_some_and(|parent| std::ptr::eq(&run.kernels[parent], kernel))
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
            "has_timeline": has_timeline && kernel.cost.is_some(),
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
        let lines = run.difference(&source(from)?, &source(to)?, context);
        Ok(Json(
            json!({ "from": from.name, "to": to.name, "lines": lines }),
        ))
    });
    answer.await.into_response()
}
