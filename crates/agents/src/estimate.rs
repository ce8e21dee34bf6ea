//! What a run will cost, before it starts.

use crate::llm_proposer::LlmProposer;
use crate::prompt::{Phase, PromptInput, TemplateError};
use autocomp_core::{Evaluation, MenuItem, Seed, UsdMicros};
use autocomp_llm::{ModelSet, TokenCount, estimate_tokens};
use serde::{Deserialize, Serialize};

/// Tokens that a plan usually takes, reasoning of a cautious model included.
const PLAN_TOKENS: u64 = 1200;

/// How many samples a run draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunShape {
    /// Kernels that survive an iteration.
    pub beam: u32,
    /// Plans per kernel.
    pub plans: u32,
    /// Drafts per plan.
    pub drafts: u32,
    /// Iterations.
    pub iterations: u32,
}

impl RunShape {
    /// Returns the plans that the whole run asks for, if the beam is full from
    /// the second iteration on.
    #[must_use]
    pub fn plan_calls(&self) -> u64 {
        let parents = 1 + u64::from(self.iterations.saturating_sub(1)) * u64::from(self.beam);
        if self.iterations == 0 {
            0
        } else {
            parents * u64::from(self.plans)
        }
    }

    /// Returns the drafts that the whole run asks for.
    #[must_use]
    pub fn draft_calls(&self) -> u64 {
        self.plan_calls() * u64::from(self.drafts)
    }
}

/// What one model will cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelEstimate {
    /// The model string.
    pub model: String,
    /// Calls for plans.
    pub plan_calls: u64,
    /// Calls for code.
    pub draft_calls: u64,
    /// Tokens expected, with the stable prefix cached where the price table has a cache price.
    pub tokens: TokenCount,
    /// Cost expected.
    pub cost: UsdMicros,
    /// Cost expected if nothing were cached.
    pub cost_without_cache: UsdMicros,
    /// Cost if nothing is cached and every reply is as long as allowed.
    pub highest_cost: UsdMicros,
}

/// What a run will cost. Failed calls and repeats come on top.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// By model.
    pub models: Vec<ModelEstimate>,
    /// Tokens of one prompt for a plan, and of its stable prefix.
    pub plan_prompt_tokens: (u64, u64),
    /// Tokens of one prompt for code, and of its stable prefix.
    pub draft_prompt_tokens: (u64, u64),
    /// Calls in all.
    pub calls: u64,
    /// Cost expected.
    pub cost: UsdMicros,
    /// Cost expected if nothing were cached.
    pub cost_without_cache: UsdMicros,
    /// Cost if nothing is cached and every reply is as long as allowed.
    pub highest_cost: UsdMicros,
}

impl LlmProposer {
    /// Estimates the cost of a run that starts from `kernel`.
    ///
    /// The prompts are rendered as they will be sent; a plan is taken to need
    /// 1,200 tokens, and code a quarter more than the kernel has. Models that
    /// think at length need more: the truth lies between `cost` and `highest_cost`.
    ///
    /// # Errors
    /// A [`TemplateError`] if a template cannot be rendered.
    pub fn estimate(
        &self,
        shape: &RunShape,
        kernel: &str,
        evaluation: Option<&Evaluation>,
        menu: &[MenuItem],
    ) -> Result<Estimate, TemplateError> {
        let plan_text = "x".repeat(4 * PLAN_TOKENS as usize / 2);
        let input = PromptInput {
            menu,
            ..PromptInput::new(kernel, evaluation, Seed(0))
        };
        let plan = self.render(Phase::Plan, &input)?;
        let draft = self.render(
            Phase::Implement,
            &PromptInput {
                plan: Some(("", &plan_text)),
                ..input
            },
        )?;
        let plan_prompt_tokens = (plan.estimated_tokens(), plan.estimated_stable_tokens());
        let draft_prompt_tokens = (draft.estimated_tokens(), draft.estimated_stable_tokens());
        let highest_output = u64::from(self.settings().max_output_tokens);
        let draft_tokens = estimate_tokens(kernel.len()) * 5 / 4;
        let mut models: Vec<ModelEstimate> = Vec::new();
        let phases = [
            (
                self.planners(),
                shape.plan_calls(),
                plan_prompt_tokens,
                PLAN_TOKENS,
            ),
            (
                self.coders(),
                shape.draft_calls(),
                draft_prompt_tokens,
                draft_tokens,
            ),
        ];
        for (phase_idx, (set, calls, prompt, output)) in phases.into_iter().enumerate() {
            for (idx, member) in set.members().iter().enumerate() {
                let calls = share(calls, set, idx);
                let entry = match models
                    .iter_mut()
                    .position(|entry| entry.model == member.model())
                {
                    Some(at) => &mut models[at],
                    None => {
                        models.push(ModelEstimate {
                            model: member.model().to_owned(),
                            plan_calls: 0,
                            draft_calls: 0,
                            tokens: TokenCount::default(),
                            cost: UsdMicros(0),
                            cost_without_cache: UsdMicros(0),
                            highest_cost: UsdMicros(0),
                        });
                        let last = models.len() - 1;
                        &mut models[last]
                    }
                };
                let price = member.price();
                let output = output.min(highest_output);
                let plain = TokenCount {
                    input: calls * prompt.0,
                    output: calls * output,
                    ..TokenCount::default()
                };
                let mut tokens = plain;
                if price.cached.is_some() && 1 < calls {
                    // All calls but the first find the prefix in the cache.
                    tokens.cached = (calls - 1) * prompt.1;
                    tokens.input -= tokens.cached;
                    if price.cache_write.is_some() {
                        tokens.cache_write = prompt.1;
                        tokens.input -= prompt.1;
                    }
                }
                let highest = TokenCount {
                    output: calls * highest_output,
                    ..plain
                };
                entry.tokens += tokens;
                entry.cost.0 += price.cost(&tokens).0;
                entry.cost_without_cache.0 += price.cost(&plain).0;
                entry.highest_cost.0 += price.cost(&highest).0;
                if phase_idx == 0 {
                    entry.plan_calls += calls;
                } else {
                    entry.draft_calls += calls;
                }
            }
        }
        let sum = |of: fn(&ModelEstimate) -> UsdMicros| {
            UsdMicros(models.iter().map(|model| of(model).0).sum())
        };
        Ok(Estimate {
            plan_prompt_tokens,
            draft_prompt_tokens,
            calls: shape.plan_calls() + shape.draft_calls(),
            cost: sum(|model| model.cost),
            cost_without_cache: sum(|model| model.cost_without_cache),
            highest_cost: sum(|model| model.highest_cost),
            models,
        })
    }
}

/// Returns how many of `calls` member `idx` gets; the first ones take the remainder.
fn share(calls: u64, set: &ModelSet, idx: usize) -> u64 {
    let members = set.members().len().max(1) as u64;
    calls / members + u64::from((idx as u64) < calls % members)
}

#[cfg(test)]
mod tests {
    use super::RunShape;

    #[test]
    fn the_first_iteration_has_one_parent() {
        let shape = RunShape {
            beam: 4,
            plans: 4,
            drafts: 2,
            iterations: 8,
        };
        assert_eq!(shape.plan_calls(), 4 + 7 * 16);
        assert_eq!(shape.draft_calls(), 2 * 116);
        assert_eq!(
            RunShape {
                iterations: 0,
                ..shape
            }
            .plan_calls(),
            0
        );
    }
}
