//! The table of kernels, page by page, and the tree.

use super::{OfRun, of_run, row};
use crate::Shared;
use autocomp_core::Outcome;
use autocomp_reports::Kernel;
use axum::Json;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

/// Kernels in one answer at most.
const MOST_ROWS: usize = 500;
/// Kernels of a tree at most: those of the beams first.
const MOST_NODES: usize = 4_000;

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
