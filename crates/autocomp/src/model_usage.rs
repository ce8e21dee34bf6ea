//! What each model of a run was asked, and what it cost.

use crate::text;
use autocomp_core::Usage;
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
    /// Calls among them that failed.
    pub failed_calls: u64,
    /// Calls whose use the provider did not tell, so that it is a careful guess.
    pub estimated_calls: u64,
    /// Tokens and cost of all calls.
    pub usage: Usage,
}

/// Sums the calls in the journal of a run by model, in the order of their names.
pub fn model_usage(view: &RunView) -> Vec<ModelUsage> {
    let mut models: BTreeMap<&str, ModelUsage> = BTreeMap::new();
    for exchange in view
        .events
        .iter()
        .flat_map(|stored| stored.event.exchanges())
    {
        let model = models.entry(&exchange.model).or_default();
        model.model.clone_from(&exchange.model);
        model.calls += 1;
        model.failed_calls += u64::from(exchange.error.is_some());
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
            "  {}: {} calls, {} failed, {} tokens in, {} cached, {} out, {}",
            model.model,
            text::grouped(model.calls),
            text::grouped(model.failed_calls),
            text::grouped(usage.input_tokens),
            text::grouped(usage.cached_tokens),
            text::grouped(usage.output_tokens),
            text::dollars(usage.cost.0),
        );
        if 0 < model.estimated_calls {
            out += &format!(
                " ({} calls at a guess)",
                text::grouped(model.estimated_calls)
            );
        }
        out.push('\n');
    }
    out
}
