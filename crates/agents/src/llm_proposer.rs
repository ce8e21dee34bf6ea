//! The proposer that asks language models.

use crate::code_reply::extract_kernel;
use crate::complaint::Complaint;
use crate::edit_reply::{edits_schema, kernel_from_edits};
use crate::facts::PromptFacts;
use crate::isa_choice::IsaChoices;
use crate::llm_settings::{CodeForm, LlmProposerSettings, StructuredOutput};
use crate::llm_tasks::{combination, decided_later, undecided};
use crate::plan_reply::{PlanReply, parse_plan, parse_schedule, plan_schema, script_in};
use crate::prompt::{Phase, Prompt, PromptInput, ScriptFacts, TemplateError, Templates};
use crate::proposer::{
    Ancestor, Background, Exchange, IdeasRequest, ImplementRequest, PlanRequest, ProposeError,
    Proposer, RepairRequest, Reply, Tried,
};
use crate::rewriter::{RewriterProposer, rewrite_error};
use autocomp_core::{Draft, MenuItem, Plan, Rewriter, Scope, Seed, TaskKey, Usage};
use autocomp_llm::{Attempt, ModelSet, ReservationJournal, Unclaimed};
use std::sync::Arc;

/// Scripts that a prompt shows.
const SCRIPTS_SHOWN: usize = 6;

/// Asks language models for plans and code.
///
/// Samples are split over the models by task key: each takes its turn, for
/// plans and for code separately. A model that fails passes its sample on to
/// the next; one that keeps failing is set aside.
pub struct LlmProposer {
    pub(crate) facts: Arc<PromptFacts>,
    pub(crate) templates: Templates,
    planners: ModelSet,
    coders: ModelSet,
    pub(crate) settings: LlmProposerSettings,
    pub(crate) unclaimed: Arc<Unclaimed>,
    pub(crate) isa_choices: IsaChoices,
    /// Carries out plans that are scripts.
    scripts: Option<Arc<dyn Rewriter>>,
}

impl LlmProposer {
    /// Creates a proposer with separate models for plans and for code.
    #[must_use]
    pub fn new(
        facts: Arc<PromptFacts>,
        templates: Templates,
        planners: ModelSet,
        coders: ModelSet,
        settings: LlmProposerSettings,
    ) -> Self {
        Self {
            facts,
            templates,
            planners,
            coders,
            settings,
            unclaimed: Unclaimed::new(),
            isa_choices: IsaChoices::default(),
            scripts: None,
        }
    }

    /// Offers models to plan in scripts, which `rewriter` carries out, where it can.
    #[must_use]
    pub fn with_scripts(mut self, rewriter: Option<Arc<dyn Rewriter>>) -> Self {
        self.scripts = rewriter.filter(|it| it.script_format().is_some());
        self
    }

    /// Returns the settings.
    #[must_use]
    pub fn settings(&self) -> &LlmProposerSettings {
        &self.settings
    }

    /// Returns the models for plans.
    #[must_use]
    pub fn planners(&self) -> &ModelSet {
        &self.planners
    }

    /// Returns the models for code.
    #[must_use]
    pub fn coders(&self) -> &ModelSet {
        &self.coders
    }

    /// Returns the exact prompt for a plan.
    ///
    /// # Errors
    /// A [`TemplateError`] if the template cannot be rendered.
    pub fn plan_prompt(
        &self,
        request: &PlanRequest,
        form: PromptForm<'_>,
    ) -> Result<Prompt, TemplateError> {
        let scripts = self.scripts.as_ref().map(|it| ScriptFacts {
            format: it.script_format().unwrap_or_default().to_owned(),
            examples: it.scripts(&request.kernel, SCRIPTS_SHOWN),
        });
        let input = PromptInput {
            isa: form.isa,
            structured: form.structured,
            scripts: scripts.as_ref().filter(|it| !it.examples.is_empty()),
            ..self.plan_input(request)
        };
        self.render(plan_phase(request), &input)
    }

    /// Returns what a prompt shows that asks for a plan, or for code without one.
    pub(crate) fn plan_input<'request>(
        &self,
        request: &'request PlanRequest,
    ) -> PromptInput<'request> {
        let shown = self.settings.shown;
        // A stream for each, so that none depends on another.
        let draw = |what: &str, share: f64| {
            let mut seed = request.seed.derive(what);
            (seed.below(1 << 20) as f64) < share * f64::from(1 << 20)
        };
        let ancestors: &[Ancestor] = match draw("show ancestors", shown.ancestors) {
            true => self.shown(&request.ancestors),
            false => &[],
        };
        let is_schedule = plan_phase(request) == Phase::Schedule;
        PromptInput {
            menu: &request.menu,
            steps: match is_schedule {
                true => drawn(&request.hidden, request.seed.derive("steps")),
                false => Vec::new(),
            },
            version: version(request.number, request.key.draft),
            iteration: request.key.iteration,
            iterations: request.iterations,
            most_examples: self.settings.most_examples,
            ancestors,
            tried: self.listed(&request.tried),
            lessons: &request.lessons,
            with_score: draw("show score", shown.score),
            with_utilization: draw("show utilization", shown.utilization),
            with_feedback: draw("show feedback", shown.feedback),
            ..PromptInput::new(&request.kernel, Some(&*request.evaluation), request.seed)
        }
    }

    /// Returns those of the ancestors that prompts show: the last ones.
    pub(crate) fn shown<'request>(&self, ancestors: &'request [Ancestor]) -> &'request [Ancestor] {
        &ancestors[ancestors.len().saturating_sub(self.settings.ancestors)..]
    }

    /// Returns those of the attempts that prompts list: the first ones.
    pub(crate) fn listed<'request>(&self, tried: &'request [Tried]) -> &'request [Tried] {
        &tried[..tried.len().min(self.settings.tried)]
    }

    /// Returns the exact prompt for a draft.
    ///
    /// # Errors
    /// A [`TemplateError`] if the template cannot be rendered.
    pub fn implement_prompt(
        &self,
        request: &ImplementRequest,
        form: PromptForm<'_>,
    ) -> Result<Prompt, TemplateError> {
        let input = PromptInput {
            isa: form.isa,
            structured: form.structured,
            plan: Some((&request.plan.menu_item, &request.plan.text)),
            plan_number: request.number + 1,
            version: version(0, request.repeats + request.key.draft),
            iteration: request.key.iteration,
            most_examples: self.settings.most_examples,
            ..PromptInput::new(&request.kernel, Some(&*request.evaluation), request.seed)
        };
        self.templates
            .render(self.code_phase(), &self.facts, &input)
    }

    /// Returns a plan with the payload of the script in it; an empty one if there is none.
    fn with_payload(
        &self,
        request: &PlanRequest,
        plan: PlanReply,
    ) -> Result<(PlanReply, String), Complaint> {
        let Some((rewriter, script)) = self.scripts.as_ref().zip(script_in(&plan.text)) else {
            return Ok((plan, String::new()));
        };
        match rewriter.of_script(&request.kernel, &script) {
            Ok(payload) => Ok((plan, payload)),
            Err(error) => {
                let reason = error.to_string();
                Err(Complaint::of("script-refused", &[("reason", &reason)]))
            }
        }
    }

    /// Returns the phase in which code is asked for.
    fn code_phase(&self) -> Phase {
        match self.settings.code_form {
            CodeForm::Whole => Phase::Implement,
            CodeForm::Edits => Phase::ImplementEdits,
        }
    }

    /// Returns the exact prompt for a repair.
    ///
    /// # Errors
    /// A [`TemplateError`] if the template cannot be rendered.
    pub fn repair_prompt(
        &self,
        request: &RepairRequest,
        form: PromptForm<'_>,
    ) -> Result<Prompt, TemplateError> {
        let input = PromptInput {
            isa: form.isa,
            // Who wrote code without a plan said nothing of what it does.
            plan: decided_later(&request.plan)
                .is_none()
                .then_some((&*request.plan.menu_item, &*request.plan.text)),
            failed: Some((&request.draft.source, &request.failure)),
            iteration: request.key.iteration,
            ..PromptInput::new(&request.kernel, Some(&*request.evaluation), request.seed)
        };
        self.render(Phase::Repair, &input)
    }

    /// Returns the prompt of any phase about any kernel.
    ///
    /// # Errors
    /// A [`TemplateError`] if the template cannot be rendered.
    pub fn render(&self, phase: Phase, input: &PromptInput<'_>) -> Result<Prompt, TemplateError> {
        self.templates.render(phase, &self.facts, input)
    }
}

#[async_trait::async_trait]
impl Proposer for LlmProposer {
    fn name(&self) -> &str {
        "llm"
    }

    fn background(&self) -> Background {
        let told = Background {
            ancestors: self.settings.ancestors,
            tried: self.settings.tried,
            earlier: false,
            repeats: true,
        };
        told.bounded()
    }

    async fn ideas(&self, request: &IdeasRequest) -> Result<Reply<Vec<MenuItem>>, ProposeError> {
        self.generate_menu(request).await
    }

    async fn plan(&self, request: &PlanRequest) -> Result<Reply<Plan>, ProposeError> {
        if request.other.is_some() {
            return Ok(Reply {
                value: combination(request),
                exchanges: Vec::new(),
            });
        }
        if let Some(plan) = &request.reused {
            return Ok(Reply {
                value: plan.clone(),
                exchanges: Vec::new(),
            });
        }
        if self.settings.direct {
            return Ok(Reply {
                value: undecided(request, &self.plan_input(request)),
                exchanges: Vec::new(),
            });
        }
        let turn = plan_slot(&request.key);
        let slot = slot_of(&self.planners, request.first_asked.as_deref(), turn);
        let prompt = |form: PromptForm<'_>| self.plan_prompt(request, form);
        let schema = plan_schema(&request.menu);
        let phase = plan_phase(request);
        let is_structured =
            self.settings.structured_output != StructuredOutput::Never && phase == Phase::Plan;
        let schema = is_structured.then_some(&schema);
        let parse = |text: &str| match (phase, request.menu.first()) {
            (Phase::Schedule, Some(item)) => {
                self.with_payload(request, parse_schedule(text, item)?)
            }
            _ => self.with_payload(request, parse_plan(text, &request.menu, &request.hidden)?),
        };
        let about = (phase, &*request.kernel, &*request.evaluation, &request.key);
        let reply = self
            .ask_about(about, (&self.planners, slot), prompt, schema, parse)
            .await?;
        let ((plan, payload), proposer) = reply.value;
        Ok(Reply {
            value: Plan {
                menu_item: plan.menu_item,
                text: plan.text,
                payload,
                proposer,
            },
            exchanges: reply.exchanges,
        })
    }

    async fn implement(&self, request: &ImplementRequest) -> Result<Reply<Draft>, ProposeError> {
        if let Some(other) = &request.other {
            return self.implement_combination(request, other).await;
        }
        if let Some(task) = decided_later(&request.plan) {
            return self.implement_directly(request, &task).await;
        }
        if let Some(rewriter) = &self.scripts
            && !request.plan.payload.is_empty()
        {
            return carried_out(rewriter.as_ref(), request);
        }
        let prompt = |form: PromptForm<'_>| self.implement_prompt(request, form);
        let entry = self.facts.entry.as_str();
        let parse = |text: &str| match self.settings.code_form {
            CodeForm::Whole => extract_kernel(text, self.facts.syntax, entry),
            CodeForm::Edits => kernel_from_edits(&request.kernel, text, self.facts.syntax, entry),
        };
        let schema = edits_schema();
        let is_structured = self.settings.code_form == CodeForm::Edits
            && self.settings.structured_output == StructuredOutput::All;
        let schema = is_structured.then_some(&schema);
        let turn = draft_slot(&request.key, self.coders.members().len());
        let slot = slot_of(&self.coders, request.first_asked.as_deref(), turn);
        let phase = self.code_phase();
        let about = (phase, &*request.kernel, &*request.evaluation, &request.key);
        self.ask_about(about, (&self.coders, slot), prompt, schema, parse)
            .await
            .map(draft_of)
    }

    async fn repair(&self, request: &RepairRequest) -> Result<Reply<Draft>, ProposeError> {
        let prompt = |form: PromptForm<'_>| self.repair_prompt(request, form);
        let parse = |text: &str| extract_kernel(text, self.facts.syntax, &self.facts.entry);
        // Another model than the one that failed gets the first try.
        let slot =
            draft_slot(&request.key, self.coders.members().len()) + u64::from(request.attempt);
        let phase = Phase::Repair;
        let about = (phase, &*request.kernel, &*request.evaluation, &request.key);
        self.ask_about(about, (&self.coders, slot), prompt, None, parse)
            .await
            .map(draft_of)
    }

    fn journal_reservations(&self, journal: &Arc<dyn ReservationJournal>) {
        for member in self.planners.members().iter().chain(self.coders.members()) {
            member.budget().journal_reservations(journal);
        }
    }

    fn take_unclaimed(&self) -> Vec<Exchange> {
        let mut attempts = self.unclaimed.take();
        for member in self.planners.members().iter().chain(self.coders.members()) {
            attempts.extend(member.take_unclaimed());
        }
        attempts.iter().map(exchange_of).collect()
    }
}

/// Carries out a script: exactly, and without asking anybody.
fn carried_out(
    rewriter: &dyn Rewriter,
    request: &ImplementRequest,
) -> Result<Reply<Draft>, ProposeError> {
    let source = rewriter
        .implement(&request.kernel, &request.plan.payload, request.key.draft)
        .map_err(rewrite_error)?;
    Ok(Reply {
        value: Draft {
            source,
            proposer: RewriterProposer::NAME.to_owned(),
        },
        exchanges: Vec::new(),
    })
}

/// Returns what a request is called: by its phase and its task.
pub(crate) fn label(phase: Phase, key: &TaskKey) -> String {
    format!("{}-{key}", phase.name())
}

/// Returns the number of a request among those that ask the same, if it is not the first: by the
/// number of its plan, and that of its draft.
pub(crate) fn version(number: u32, draft: u32) -> Option<String> {
    match (number, draft) {
        (0, 0) => None,
        (0, number) | (number, 0) => Some((number + 1).to_string()),
        (number, draft) => Some(format!("{}.{}", number + 1, draft + 1)),
    }
}

/// Draws about half of the steps among `items`.
fn drawn(items: &[MenuItem], mut seed: Seed) -> Vec<&MenuItem> {
    let mut is_drawn = |item: &&MenuItem| {
        // Drawn for every item, so that each one's odds are its own.
        let is_drawn = seed.next_u64() & 1 == 1;
        is_drawn && item.scope == Scope::Step && item.id != MenuItem::OTHER
    };
    items.iter().filter(|item| is_drawn(item)).collect()
}

/// Returns the phase in which a plan is asked for.
fn plan_phase(request: &PlanRequest) -> Phase {
    match request.menu.first() {
        Some(item) if item.scope == Scope::Schedule => Phase::Schedule,
        _ => Phase::Plan,
    }
}

/// Returns the sample number that asks the model `first` first; `turn` if it is not there.
pub(crate) fn slot_of(set: &ModelSet, first: Option<&str>, turn: u64) -> u64 {
    let mut members = set.members().iter();
    let place = first.and_then(|first| members.position(|it| it.model() == first));
    place.map_or(turn, |place| place as u64)
}

/// What a prompt for one model looks like.
#[derive(Clone, Copy, Debug, Default)]
pub struct PromptForm<'prompt> {
    /// Titles of the ISA sections to show; absent for those that the kernel's
    /// names ask for.
    pub isa: Option<&'prompt [String]>,
    /// Whether the reply is held to a JSON schema.
    pub structured: bool,
}

pub(crate) fn draft_of(reply: Reply<(String, String)>) -> Reply<Draft> {
    let (source, proposer) = reply.value;
    Reply {
        value: Draft { source, proposer },
        exchanges: reply.exchanges,
    }
}

/// Returns the sample number of a plan: consecutive plans take consecutive
/// models, and the first model changes with parent and iteration, so that a
/// remainder does not always go to the same ones.
pub(crate) fn plan_slot(key: &TaskKey) -> u64 {
    u64::from(key.plan) + u64::from(key.parent) + u64::from(key.iteration)
}

/// Returns the sample number of a draft, likewise; shifted against the plan's,
/// so that plans and code of one chain come from different models.
pub(crate) fn draft_slot(key: &TaskKey, models: usize) -> u64 {
    let rounds = u64::from(key.iteration) / (models.max(1) as u64);
    plan_slot(key) + u64::from(key.draft) + 1 + rounds
}

/// Returns the journal's form of a call.
#[must_use]
pub fn exchange_of(attempt: &Attempt) -> Exchange {
    Exchange {
        model: attempt.model.clone(),
        prompt: attempt.prompt.clone(),
        reply: attempt.reply.clone(),
        error: attempt
            .error
            .as_ref()
            .map(|error| match attempt.error_kind {
                Some(kind) => format!("{}: {error}", kind.name()),
                None => error.clone(),
            }),
        usage: attempt.usage(),
        cost_is_estimate: attempt.estimated,
        latency_ms: attempt.latency.as_millis() as u64,
        reservation: attempt.reservation,
    }
}

/// Sums what exchanges used: the spent part of the budget of a resumed run.
#[must_use]
pub fn usage_of<'exchange>(exchanges: impl IntoIterator<Item = &'exchange Exchange>) -> Usage {
    let mut usage = Usage::default();
    for exchange in exchanges {
        usage.add(&exchange.usage);
    }
    usage
}
