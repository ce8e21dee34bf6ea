//! What each model of a run was asked, and what it cost.

use autocomp_core::{Event, Usage};
use autocomp_eval::text;
use autocomp_runner::RunView;
use serde::Serialize;
use std::collections::BTreeMap;

/// What one model used in a run, all sessions together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ModelUsage {
    /// The model string.
    pub model: String,
    /// Calls recorded.
    pub calls: u64,
    /// Calls among them that failed, replies that could not be used included.
    pub failed_calls: u64,
    /// How many of them failed in which way.
    pub errors: BTreeMap<String, u64>,
    /// Calls whose use the provider did not tell, so that it is a careful guess.
    pub estimated_calls: u64,
    /// Calls whose process died before their reply was written down.
    pub lost_calls: u64,
    /// Tokens and cost of all calls; lost ones with the most possible.
    pub usage: Usage,
}

/// Sums the calls in the journal of a run by model, in the order of their names.
pub fn model_usage(view: &RunView) -> Vec<ModelUsage> {
    let mut models: BTreeMap<&str, ModelUsage> = BTreeMap::new();
    let mut unsettled = BTreeMap::new();
    for stored in &view.events {
        match &stored.event {
            Event::Reserved(reserved) => {
                unsettled.insert(reserved.reservation, reserved);
            }
            // The process that could have settled them is gone.
            Event::Resumed(_) => {
                for reserved in std::mem::take(&mut unsettled).into_values() {
                    let model = models.entry(&reserved.model).or_default();
                    model.model.clone_from(&reserved.model);
                    model.lost_calls += 1;
                    model.usage.add(&reserved.most);
                }
            }
            event => {
                let settled = event.exchanges().iter().filter_map(|it| it.reservation);
                for reservation in settled {
                    unsettled.remove(&reservation);
                }
            }
        }
    }
    for exchange in view
        .events
        .iter()
        .flat_map(|stored| stored.event.exchanges())
    {
        let model = models.entry(&exchange.model).or_default();
        model.model.clone_from(&exchange.model);
        model.calls += 1;
        if let Some(error) = &exchange.error {
            model.failed_calls += 1;
            // The record starts with the kind; see `autocomp_llm::LlmErrorKind`.
            let (kind, _) = error.split_once(": ").unwrap_or(("other", ""));
            *model.errors.entry(kind.to_owned()).or_default() += 1;
        }
        model.estimated_calls += u64::from(exchange.cost_is_estimate);
        model.usage.add(&exchange.usage);
    }
    models.into_values().collect()
}

/// Returns one line for each model.
pub fn model_lines(models: &[ModelUsage]) -> String {
    let mut out = String::new();
    for model in models {
        let ModelUsage { usage, .. } = model;
        out += &format!(
            "  {}: {} calls, {} failed{}, {} tokens in, {} cached{}, {} out, {}",
            model.model,
            text::grouped(model.calls),
            text::grouped(model.failed_calls),
            error_counts(&model.errors),
            text::grouped(usage.input_tokens),
            text::grouped(usage.cached_tokens),
            cached_share(usage),
            text::grouped(usage.output_tokens),
            text::dollars(usage.cost.0),
        );
        if 0 < model.estimated_calls {
            out += &format!(
                " ({} calls at a guess)",
                text::grouped(model.estimated_calls)
            );
        }
        if 0 < model.lost_calls {
            out += &format!(
                " ({} calls lost with their process, counted in full)",
                text::grouped(model.lost_calls)
            );
        }
        out.push('\n');
    }
    out
}

/// Returns counts such as ` (3 timeout, 1 malformed)`; nothing if there are none.
pub fn error_counts(errors: &BTreeMap<String, u64>) -> String {
    let counts: Vec<String> = errors
        .iter()
        .map(|(kind, count)| format!("{} {kind}", text::grouped(*count)))
        .collect();
    if counts.is_empty() {
        String::new()
    } else {
        format!(" ({})", counts.join(", "))
    }
}

/// Returns what part of the prompts came from the provider's cache.
fn cached_share(usage: &Usage) -> String {
    let prompt = usage.input_tokens + usage.cached_tokens;
    if usage.cached_tokens == 0 || prompt == 0 {
        return String::new();
    }
    let percent = 100.0 * usage.cached_tokens as f64 / prompt as f64;
    format!(" ({percent:.0} % of the prompts)")
}
