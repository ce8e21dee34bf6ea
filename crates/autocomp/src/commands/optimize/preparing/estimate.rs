//! What a run will cost, said before it starts.

use crate::error::CliError;
use crate::measuring::Bench;
use crate::output::Output;
use crate::proposing::Proposing;
use crate::settings::Settings;
use autocomp_agents::{Estimate, RunShape};
use autocomp_core::{MenuItem, Scope, SearchSettings};
use autocomp_eval::text;
use autocomp_search::allot;

/// Returns how many samples a run draws whose beam is full from the second
/// iteration on, as its iterations allot them.
pub fn run_shape(search: &SearchSettings) -> RunShape {
    let mut shape = RunShape {
        iterations: search.iterations,
        ..RunShape::default()
    };
    // The baseline is evaluated first.
    let mut remaining = search.max_evaluations.map(|most| most.saturating_sub(1));
    for iteration in 1..=search.iterations {
        let survivors = if iteration == 1 { 1 } else { search.beam };
        let allotment = allot(search, iteration, remaining, survivors);
        let places = allotment.slots.iter().filter(|plans| !plans.is_empty());
        shape.parents += if iteration == 1 {
            1
        } else {
            places.count() as u64
        };
        let slots = || allotment.slots.iter().flatten();
        let drafts: u32 = slots().sum();
        shape.plans += slots().filter(|drafts| 0 < **drafts).count() as u64;
        shape.drafts += u64::from(drafts);
        shape.repairs += u64::from(drafts) * u64::from(allotment.repairs);
        let used = drafts + allotment.polish;
        remaining = remaining.map(|remaining| remaining.saturating_sub(used));
    }
    if 0 < search.ideas {
        // One more request for each kernel, about as long as one for a plan.
        shape.plans += shape.parents;
    }
    shape
}

/// Says what the run will cost, before it starts.
pub(super) fn announce_estimate(
    proposing: &Proposing,
    settings: &Settings,
    bench: &Bench,
    baseline: &str,
    output: Output,
) -> Result<Option<Estimate>, CliError> {
    let Some(models) = &proposing.models else {
        return Ok(None);
    };
    let shape = run_shape(&settings.search);
    let menu = bench.target.menu_for(&bench.problem).into_iter();
    let steps: Vec<MenuItem> = menu.filter(|item| item.scope == Scope::Step).collect();
    let estimate = models
        .proposer
        .estimate(&shape, baseline, None, &steps)
        .map_err(CliError::input)?;
    output.message(format!(
        "estimate for the whole run: up to {} calls for {} if nothing fails ({} without prompt caching), up to {} for {} if every draft needs all its repairs; {} if every reply is as long as allowed",
        text::grouped(estimate.calls),
        text::dollars(estimate.cost.0),
        text::dollars(estimate.cost_without_cache.0),
        text::grouped(estimate.calls_with_failures),
        text::dollars(estimate.cost_with_failures.0),
        text::dollars(estimate.highest_cost.0),
    ));
    for model in &estimate.models {
        output.message(format!(
            "  {}: {} plans, {} drafts, at most {} repairs, {} to {}",
            model.model,
            text::grouped(model.plan_calls),
            text::grouped(model.draft_calls),
            text::grouped(model.repair_calls),
            text::dollars(model.cost.0),
            text::dollars(model.cost_with_failures.0),
        ));
    }
    Ok(Some(estimate))
}
