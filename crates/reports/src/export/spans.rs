//! What a run did when, as spans of OpenTelemetry in the JSON form of its protocol (OTLP),
//! which collectors read from files.
//!
//! A run is one trace: a span for the run, one for each iteration in it, and one for each
//! task. The journal knows when a task ended. A plan or a draft began when its calls of models
//! did, by their latency; an evaluation is shown from when its kernel was there, waiting for
//! its turn included.

use autocomp_core::{ContentHash, Event, ExchangeRecord, TaskKey};
use autocomp_runner::RunView;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Returns the trace of a run as one line of JSON.
#[must_use]
pub fn spans(view: &RunView) -> String {
    let started = view.search.started();
    let first = view.events.first().map_or(0, |it| it.at_ms);
    let last = view.events.last().map_or(0, |it| it.at_ms);
    let name = view.report().run;
    let trace = ContentHash::of(format!("{}\n{first}", name.display()).as_bytes());
    let mut trace = Trace {
        id: trace.to_string()[..32].to_owned(),
        spans: Vec::new(),
    };
    let root = trace.span_id("run");
    let attributes = vec![
        attribute(
            "autocomp.problem",
            json!({ "stringValue": started.problem }),
        ),
        attribute("autocomp.target", json!({ "stringValue": started.target })),
        attribute(
            "autocomp.seed",
            json!({ "intValue": started.seed.to_string() }),
        ),
    ];
    trace.add("run", None, &root, (first, last), attributes, None);
    let mut iteration = (root.clone(), 0, first);
    let mut drafted: HashMap<ContentHash, u64> = HashMap::new();
    let mut iterations = Vec::new();
    for stored in &view.events {
        let end = stored.at_ms;
        match &stored.event {
            Event::IterationOpened(it) => {
                let id = trace.span_id(&format!("iteration {}", it.iteration));
                iteration = (id, it.iteration, end);
                iterations.push((iteration.clone(), last));
            }
            Event::IterationClosed(_) => {
                if let Some(open) = iterations.last_mut() {
                    open.1 = end;
                }
            }
            Event::Planned(it) => trace.task(it.key, &iteration.0, &it.exchanges, end),
            Event::Drafted(it) => {
                if let autocomp_core::Proposal::Made(draft) = &it.result {
                    drafted.entry(draft.source).or_insert(end);
                }
                trace.task(it.key, &iteration.0, &it.exchanges, end);
            }
            Event::Evaluated(it) => {
                let from = drafted.get(&it.source).copied().unwrap_or(first).min(end);
                let outcome = it.evaluation.outcome.name();
                let mut attributes = vec![attribute(
                    "autocomp.outcome",
                    json!({ "stringValue": outcome }),
                )];
                if let Some(cost) = it.evaluation.cost() {
                    let value = json!({ "intValue": cost.value.to_string() });
                    attributes.push(attribute("autocomp.cost", value));
                }
                let task = it.key.to_string();
                trace.add(&task, Some(&iteration.0), "", (from, end), attributes, None);
            }
            _ => {}
        }
    }
    for ((id, number, from), to) in iterations {
        let name = format!("iteration {number}");
        trace.add(&name, Some(&root), &id, (from, to), Vec::new(), None);
    }
    let version = json!({ "stringValue": started.program });
    json!({
        "resourceSpans": [{
            "resource": { "attributes": [
                attribute("service.name", json!({ "stringValue": "autocomp" })),
                attribute("service.version", version),
            ] },
            "scopeSpans": [{ "scope": { "name": "autocomp" }, "spans": trace.spans }],
        }],
    })
    .to_string()
        + "\n"
}

fn attribute(name: &str, value: Value) -> Value {
    json!({ "key": name, "value": value })
}

struct Trace {
    id: String,
    spans: Vec<Value>,
}

impl Trace {
    fn span_id(&self, name: &str) -> String {
        let hash = ContentHash::of(format!("{}\n{name}", self.id).as_bytes());
        hash.to_string()[..16].to_owned()
    }

    /// Adds a plan or a draft, and below it its calls of models, one after the other.
    fn task(&mut self, key: TaskKey, iteration: &str, exchanges: &[ExchangeRecord], end: u64) {
        let total: u64 = exchanges.iter().map(|it| it.latency_ms).sum();
        let mut from = end.saturating_sub(total);
        let name = key.to_string();
        let id = self.span_id(&name);
        self.add(&name, Some(iteration), &id, (from, end), Vec::new(), None);
        for (number, exchange) in exchanges.iter().enumerate() {
            let to = from + exchange.latency_ms;
            let text = |value: &str| json!({ "stringValue": value });
            let count = |value: u64| json!({ "intValue": value.to_string() });
            let usage = &exchange.usage;
            let tokens = usage.input_tokens + usage.cached_tokens;
            let attributes = vec![
                attribute("gen_ai.request.model", text(&exchange.model)),
                attribute("gen_ai.usage.input_tokens", count(tokens)),
                attribute("gen_ai.usage.output_tokens", count(usage.output_tokens)),
                attribute(
                    "autocomp.usd",
                    json!({ "doubleValue": usage.cost.0 as f64 / 1e6 }),
                ),
            ];
            let call = self.span_id(&format!("{name} call {number}"));
            let error = exchange.error.as_deref();
            self.add("call", Some(&id), &call, (from, to), attributes, error);
            from = to;
        }
    }

    fn add(
        &mut self,
        name: &str,
        parent: Option<&str>,
        id: &str,
        (from, to): (u64, u64),
        attributes: Vec<Value>,
        error: Option<&str>,
    ) {
        let id = match id {
            "" => self.span_id(&format!("{name} {}", self.spans.len())),
            id => id.to_owned(),
        };
        let status = match error {
            Some(message) => json!({ "code": 2, "message": message }),
            None => json!({}),
        };
        self.spans.push(json!({
            "traceId": self.id,
            "spanId": id,
            "parentSpanId": parent.unwrap_or_default(),
            "name": name,
            "kind": 1,
            "startTimeUnixNano": (from * 1_000_000).to_string(),
            "endTimeUnixNano": (to * 1_000_000).to_string(),
            "attributes": attributes,
            "status": status,
        }));
    }
}
