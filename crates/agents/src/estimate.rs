//! What a run will cost, before it starts.

use crate::llm_proposer::LlmProposer;
use crate::llm_settings::IsaChoice;
use crate::prompt::{Phase, PromptInput, TemplateError};
use crate::proposer::Ancestor;
use autocomp_core::{
    ContentHash, Diagnostic, Evaluation, MenuItem, Outcome, Seed, Stage, UsdMicros,
};
use autocomp_llm::{Member, ModelSet, Price, TokenCount, estimate_tokens};
use serde::{Deserialize, Serialize};

/// Tokens that a plan usually takes, reasoning of a cautious model included.
const PLAN_TOKENS: u64 = 1200;
/// Tokens of a list of section numbers.
const CHOICE_TOKENS: u64 = 60;
/// Characters of the diagnostics that a repair gets.
const DIAGNOSTICS_LENGTH: usize = 1500;
/// One reply in so many is taken to be asked for again.
const CALLS_PER_REASK: u64 = 10;

/// How many samples a run draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunShape {
    /// Kernels from which plans start, at most.
    pub parents: u64,
    /// Plans.
    pub plans: u64,
    /// Drafts.
    pub drafts: u64,
    /// Repairs, if every draft fails to the last.
    pub repairs: u64,
    /// Iterations.
    pub iterations: u32,
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
    /// Calls for repairs, if every draft fails.
    pub repair_calls: u64,
    /// Tokens if nothing fails, with the stable prefix cached where the price
    /// table has a cache price.
    pub tokens: TokenCount,
    /// Cost if nothing fails.
    pub cost: UsdMicros,
    /// Cost if nothing fails and nothing is cached.
    pub cost_without_cache: UsdMicros,
    /// Cost if every draft fails to the last repair, and one reply in ten is
    /// asked for again.
    pub cost_with_failures: UsdMicros,
    /// Cost if on top of that nothing is cached, every reply is asked for again,
    /// and every reply is as long as allowed.
    pub highest_cost: UsdMicros,
}

/// What a run will cost. Calls that are repeated because they failed, and time
/// in which models think at length, come on top of all but the highest cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// By model.
    pub models: Vec<ModelEstimate>,
    /// Tokens of one prompt for a plan, and of its stable prefix.
    pub plan_prompt_tokens: (u64, u64),
    /// Tokens of one prompt for code, and of its stable prefix.
    pub draft_prompt_tokens: (u64, u64),
    /// Calls if nothing fails.
    pub calls: u64,
    /// Calls if every draft fails to the last repair.
    pub calls_with_failures: u64,
    /// Cost if nothing fails.
    pub cost: UsdMicros,
    /// Cost if nothing fails and nothing is cached.
    pub cost_without_cache: UsdMicros,
    /// Cost if every draft fails to the last repair, and one reply in ten is
    /// asked for again.
    pub cost_with_failures: UsdMicros,
    /// Cost if on top of that nothing is cached, every reply is asked for again,
    /// and every reply is as long as allowed.
    pub highest_cost: UsdMicros,
}

/// One kind of call.
struct Calls<'models> {
    set: &'models ModelSet,
    count: u64,
    /// Tokens of the prompt, and of its stable prefix.
    prompt: (u64, u64),
    /// Tokens of the reply.
    output: u64,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plan,
    Draft,
    Repair,
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
        let calls = self.calls(shape, kernel, evaluation, menu)?;
        let longest = u64::from(self.settings().max_output_tokens);
        let mut models: Vec<ModelEstimate> = Vec::new();
        for calls in &calls {
            for (idx, member) in calls.set.members().iter().enumerate() {
                let entry = entry_of(&mut models, member.model());
                calls.add_to(entry, share(calls.count, calls.set, idx), member, longest);
            }
        }
        let sum = |of: fn(&ModelEstimate) -> UsdMicros| {
            UsdMicros(models.iter().map(|model| of(model).0).sum())
        };
        let count = |with_repairs: bool| {
            calls
                .iter()
                .filter(|calls| with_repairs || calls.kind != Kind::Repair)
                .map(|calls| calls.count)
                .sum()
        };
        let prompt_of = |kind: Kind| {
            calls
                .iter()
                .find(|calls| calls.kind == kind)
                .map_or((0, 0), |calls| calls.prompt)
        };
        Ok(Estimate {
            plan_prompt_tokens: prompt_of(Kind::Plan),
            draft_prompt_tokens: prompt_of(Kind::Draft),
            calls: count(false),
            calls_with_failures: count(true),
            cost: sum(|model| model.cost),
            cost_without_cache: sum(|model| model.cost_without_cache),
            cost_with_failures: sum(|model| model.cost_with_failures),
            highest_cost: sum(|model| model.highest_cost),
            models,
        })
    }

    fn calls<'this>(
        &'this self,
        shape: &RunShape,
        kernel: &str,
        evaluation: Option<&Evaluation>,
        menu: &[MenuItem],
    ) -> Result<Vec<Calls<'this>>, TemplateError> {
        // Bytes for which `estimate_tokens` gives a usual plan.
        let plan_text = "x".repeat(PLAN_TOKENS as usize * 7 / 2);
        let ancestors = vec![
            Ancestor {
                kernel: kernel.to_owned(),
                cost: Some(0),
                menu_item: String::new(),
                plan: plan_text.clone(),
            };
            // The first iterations have none, the later ones as many as are shown.
            self.settings().ancestors.min(shape.iterations as usize / 2)
        ];
        let base = PromptInput {
            menu,
            ancestors: &ancestors,
            ..PromptInput::new(kernel, evaluation, Seed(0))
        };
        let tokens = |phase: Phase, input: &PromptInput<'_>| -> Result<(u64, u64), TemplateError> {
            let prompt = self.render(phase, input)?;
            Ok((prompt.estimated_tokens(), prompt.estimated_stable_tokens()))
        };
        let draft_tokens = estimate_tokens(kernel.len()) * 5 / 4;
        let is_direct = self.settings().direct;
        let mut calls = Vec::new();
        if !is_direct {
            calls.push(Calls {
                set: self.planners(),
                count: shape.plans,
                prompt: tokens(Phase::Plan, &base)?,
                output: PLAN_TOKENS,
                kind: Kind::Plan,
            });
        }
        if self.settings().isa == IsaChoice::Model {
            calls.push(Calls {
                set: self.planners(),
                count: shape.parents,
                prompt: tokens(Phase::Isa, &base)?,
                output: CHOICE_TOKENS,
                kind: Kind::Plan,
            });
        }
        let with_plan = PromptInput {
            plan: Some(("", &plan_text)),
            ..base.clone()
        };
        calls.push(Calls {
            set: self.coders(),
            count: shape.drafts,
            prompt: if is_direct {
                tokens(Phase::Direct, &base)?
            } else {
                tokens(Phase::Implement, &with_plan)?
            },
            output: draft_tokens,
            kind: Kind::Draft,
        });
        let diagnostics = evaluation_that_failed();
        let with_failure = PromptInput {
            failed: Some((kernel, &diagnostics)),
            ..with_plan
        };
        calls.push(Calls {
            set: self.coders(),
            count: shape.repairs,
            prompt: tokens(Phase::Repair, &with_failure)?,
            output: draft_tokens,
            kind: Kind::Repair,
        });
        Ok(calls)
    }
}

/// Returns an evaluation with diagnostics of the usual length.
fn evaluation_that_failed() -> Evaluation {
    Evaluation {
        key: ContentHash::of(b""),
        outcome: Outcome::Wrong,
        diagnostics: vec![Diagnostic::error(
            Stage::Test,
            "x",
            "x".repeat(DIAGNOSTICS_LENGTH),
        )],
        measurement: None,
        feedback: None,
        tiers: Vec::new(),
        worker: None,
        device: None,
    }
}

fn entry_of<'models>(
    models: &'models mut Vec<ModelEstimate>,
    model: &str,
) -> &'models mut ModelEstimate {
    if let Some(at) = models.iter().position(|entry| entry.model == model) {
        return &mut models[at];
    }
    models.push(ModelEstimate {
        model: model.to_owned(),
        plan_calls: 0,
        draft_calls: 0,
        repair_calls: 0,
        tokens: TokenCount::default(),
        cost: UsdMicros(0),
        cost_without_cache: UsdMicros(0),
        cost_with_failures: UsdMicros(0),
        highest_cost: UsdMicros(0),
    });
    let last = models.len() - 1;
    &mut models[last]
}

impl Calls<'_> {
    fn add_to(&self, entry: &mut ModelEstimate, count: u64, member: &Member, longest: u64) {
        let price = member.price();
        let output = self.output.min(longest);
        let cached = self.tokens(count, output, price);
        let plain = self.plain_tokens(count, output);
        let n_reasks = count / CALLS_PER_REASK;
        // Asking again sends the first reply along.
        let mut reasks = self.tokens(n_reasks, output, price);
        reasks.input += n_reasks * output;
        let highest = TokenCount {
            input: count * (2 * self.prompt.0 + longest),
            output: 2 * count * longest,
            ..TokenCount::default()
        };
        let is_repair = self.kind == Kind::Repair;
        if !is_repair {
            entry.tokens += cached;
            entry.cost.0 += price.cost(&cached).0;
            entry.cost_without_cache.0 += price.cost(&plain).0;
        }
        entry.cost_with_failures.0 += price.cost(&cached).0 + price.cost(&reasks).0;
        entry.highest_cost.0 += price.cost(&highest).0;
        *match self.kind {
            Kind::Plan => &mut entry.plan_calls,
            Kind::Draft => &mut entry.draft_calls,
            Kind::Repair => &mut entry.repair_calls,
        } += count;
    }

    fn plain_tokens(&self, count: u64, output: u64) -> TokenCount {
        TokenCount {
            input: count * self.prompt.0,
            output: count * output,
            ..TokenCount::default()
        }
    }

    /// All calls but the first find the prefix in the cache, if there is one.
    fn tokens(&self, count: u64, output: u64, price: &Price) -> TokenCount {
        let mut tokens = self.plain_tokens(count, output);
        if price.cached.is_some() && 1 < count {
            tokens.cached = (count - 1) * self.prompt.1;
            tokens.input -= tokens.cached;
            if price.cache_write.is_some() {
                tokens.cache_write = self.prompt.1;
                tokens.input -= self.prompt.1;
            }
        }
        tokens
    }
}

/// Returns how many of `calls` member `idx` gets; the first ones take the remainder.
fn share(calls: u64, set: &ModelSet, idx: usize) -> u64 {
    let members = set.members().len().max(1) as u64;
    calls / members + u64::from((idx as u64) < calls % members)
}
