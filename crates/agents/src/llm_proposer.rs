//! The proposer that asks language models.

use crate::code_reply::{Complaint, extract_kernel};
use crate::edit_reply::{edits_schema, kernel_from_edits};
use crate::facts::PromptFacts;
use crate::isa_choice::IsaChoices;
use crate::llm_settings::{CodeForm, LlmProposerSettings, StructuredOutput};
use crate::llm_tasks::{combination, decided_later, undecided};
use crate::plan_reply::{parse_plan, parse_schedule, plan_schema};
use crate::prompt::{Phase, Prompt, PromptInput, TemplateError, Templates};
use crate::proposer::{
    Ancestor, Exchange, ImplementRequest, PlanRequest, ProposeError, ProposeErrorKind, Proposer,
    RepairRequest, Reply, Tried,
};
use autocomp_core::{Draft, Evaluation, Plan, Scope, TaskKey, Usage};
use autocomp_llm::{
    Attempt, Attempts, Availability, LlmError, LlmErrorKind, Member, Message, ModelSet,
    ReplySchema, Request, ReservationJournal, Role, Unclaimed,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The most of an unusable reply that is sent back when asking again, in bytes.
const LONGEST_ECHO: usize = 32 << 10;

/// How often samples look whether a model that is set aside is back.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// Asks language models for plans and code.
///
/// Samples are split over the models by task key: each takes its turn, for
/// plans and for code separately. A model that fails passes its sample on to
/// the next; one that keeps failing is set aside.
pub struct LlmProposer {
    pub(crate) facts: Arc<PromptFacts>,
    templates: Templates,
    planners: ModelSet,
    coders: ModelSet,
    settings: LlmProposerSettings,
    unclaimed: Arc<Unclaimed>,
    pub(crate) isa_choices: IsaChoices,
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
        }
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
        let input = PromptInput {
            menu: &request.menu,
            iteration: request.key.iteration,
            iterations: request.iterations,
            most_examples: self.settings.most_examples,
            ancestors: self.shown(&request.ancestors),
            tried: self.listed(&request.tried),
            isa: form.isa,
            structured: form.structured,
            ..PromptInput::new(&request.kernel, Some(&request.evaluation), request.seed)
        };
        self.render(plan_phase(request), &input)
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
            iteration: request.key.iteration,
            most_examples: self.settings.most_examples,
            ..PromptInput::new(&request.kernel, Some(&request.evaluation), request.seed)
        };
        self.templates
            .render(self.code_phase(), &self.facts, &input)
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
            plan: Some((&request.plan.menu_item, &request.plan.text)),
            failed: Some((&request.draft.source, &request.failure)),
            iteration: request.key.iteration,
            ..PromptInput::new(&request.kernel, Some(&request.evaluation), request.seed)
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

    /// Asks the models of `set` in the order of sample `slot` until one gives a
    /// reply that `parse` accepts. Models that can are held to `schema`; `prompt`
    /// is told whether the model is.
    pub(crate) async fn ask<T>(
        &self,
        label: &str,
        (set, slot): (&ModelSet, u64),
        prompt: impl Fn(bool) -> Result<Prompt, TemplateError> + Send + Sync,
        schema: Option<&ReplySchema>,
        parse: impl Fn(&str) -> Result<T, Complaint> + Send + Sync,
    ) -> Result<Reply<(T, String)>, ProposeError> {
        let mut attempts = Attempts::new(&self.unclaimed);
        let exhausted = |message: String, mut attempts: Attempts| {
            Err(ProposeError {
                kind: ProposeErrorKind::Exhausted,
                message,
                exchanges: exchanges_of(&mut attempts),
            })
        };
        let give_up = Instant::now() + self.settings.patience;
        loop {
            let mut failures = Vec::new();
            let mut asked = false;
            for member in set.order(slot) {
                match member.breaker().admit() {
                    Availability::Available => asked = true,
                    Availability::SetAside { reason, .. } | Availability::Lost { reason } => {
                        failures.push(format!("{} is set aside ({reason})", member.model()));
                        continue;
                    }
                }
                let schema = schema.filter(|_| member.has_structured_output());
                let prompt = match prompt(schema.is_some()) {
                    Ok(prompt) => prompt,
                    // The template is the same for every task, so none can succeed.
                    Err(error) => return exhausted(error.to_string(), attempts),
                };
                match self
                    .ask_member(member, label, &prompt, schema, &parse, &mut attempts)
                    .await
                {
                    Ok(value) => {
                        return Ok(Reply {
                            value: (value, member.model().to_owned()),
                            exchanges: exchanges_of(&mut attempts),
                        });
                    }
                    Err((LlmErrorKind::BudgetExhausted, message)) => {
                        return exhausted(message, attempts);
                    }
                    Err((_, message)) => failures.push(message),
                }
            }
            let message = failures.join("; ");
            if asked {
                return Err(ProposeError {
                    kind: ProposeErrorKind::Failed,
                    message,
                    exchanges: exchanges_of(&mut attempts),
                });
            }
            match set.next_probe() {
                Some(at) if at < give_up => {
                    // Looks more often than that: somebody else's probe may succeed first.
                    tokio::time::sleep_until(at.min(Instant::now() + LOOK_AGAIN)).await;
                }
                _ => return exhausted(format!("no model can be asked: {message}"), attempts),
            }
        }
    }

    /// Asks like [`ask`](Self::ask) about a kernel with its evaluation and task;
    /// prompts show the sections of the ISA chosen for the kernel. The calls for
    /// that choice come first among those of the reply or the error.
    async fn ask_about<T>(
        &self,
        (phase, kernel, evaluation, key): (Phase, &str, &Evaluation, &TaskKey),
        turn: (&ModelSet, u64),
        prompt: impl Fn(PromptForm<'_>) -> Result<Prompt, TemplateError> + Send + Sync,
        schema: Option<&ReplySchema>,
        parse: impl Fn(&str) -> Result<T, Complaint> + Send + Sync,
    ) -> Result<Reply<(T, String)>, ProposeError> {
        let (isa, exchanges) = self.isa_for(kernel, evaluation, plan_slot(key)).await;
        let prompt = |structured| {
            prompt(PromptForm {
                isa: isa.as_deref(),
                structured,
            })
        };
        let label = label(phase, key);
        let reply = self.ask(&label, turn, prompt, schema, parse).await;
        with_exchanges_before(exchanges, reply)
    }

    /// Asks one model, and once again if its reply cannot be used.
    async fn ask_member<T>(
        &self,
        member: &Member,
        label: &str,
        prompt: &Prompt,
        schema: Option<&ReplySchema>,
        parse: &(impl Fn(&str) -> Result<T, Complaint> + Send + Sync),
        attempts: &mut Attempts,
    ) -> Result<T, (LlmErrorKind, String)> {
        let mut request = Request::new(
            prompt.system.clone(),
            prompt.user.clone(),
            self.settings.max_output_tokens,
        );
        request.temperature = self.settings.temperature;
        request.reasoning = self.settings.reasoning;
        request.schema = schema.cloned();
        label.clone_into(&mut request.label);
        let mut complaint = String::new();
        for _ in 0..2 {
            let completion = match member.complete(&request).await {
                Ok(completion) => completion,
                // Half a reply is no more useful than a malformed one, and no less.
                Err(error) if complaint.is_empty() && is_half(&error) => {
                    attempts.extend(error.attempts.iter().cloned());
                    complaint = error.message;
                    self.ask_again(&mut request, error.partial, &complaint)?;
                    continue;
                }
                Err(error) => {
                    attempts.extend(error.attempts.iter().cloned());
                    return Err((error.kind, error.to_string()));
                }
            };
            attempts.extend(completion.attempts);
            match parse(&completion.text) {
                Ok(value) => {
                    member.judge(Ok(()));
                    return Ok(value);
                }
                Err(error) => complaint = error.0,
            }
            attempts.blame_last(&complaint);
            member.count_unusable();
            self.ask_again(&mut request, completion.text, &complaint)?;
        }
        member.judge(Err(&complaint));
        Err((
            LlmErrorKind::Malformed,
            format!("{}: {complaint}", member.model()),
        ))
    }
}

impl LlmProposer {
    /// Adds a reply that cannot be used, and the complaint, to a request.
    fn ask_again(
        &self,
        request: &mut Request,
        reply: String,
        complaint: &str,
    ) -> Result<(), (LlmErrorKind, String)> {
        let reask = self
            .templates
            .reask(complaint)
            .map_err(|error| (LlmErrorKind::InvalidRequest, error.to_string()))?;
        if !reply.trim().is_empty() {
            request.messages.push(Message {
                role: Role::Assistant,
                text: echo(reply),
            });
        }
        request.messages.push(Message {
            role: Role::User,
            text: reask,
        });
        request.label.push_str("-again");
        Ok(())
    }
}

#[async_trait::async_trait]
impl Proposer for LlmProposer {
    fn name(&self) -> &str {
        "llm"
    }

    async fn plan(&self, request: &PlanRequest) -> Result<Reply<Plan>, ProposeError> {
        if request.other.is_some() {
            return Ok(Reply {
                value: combination(request),
                exchanges: Vec::new(),
            });
        }
        if self.settings.direct {
            return Ok(Reply {
                value: undecided(request),
                exchanges: Vec::new(),
            });
        }
        let slot = plan_slot(&request.key);
        let prompt = |form: PromptForm<'_>| self.plan_prompt(request, form);
        let schema = plan_schema(&request.menu);
        let phase = plan_phase(request);
        let is_structured =
            self.settings.structured_output != StructuredOutput::Never && phase == Phase::Plan;
        let schema = is_structured.then_some(&schema);
        let parse = |text: &str| match (phase, request.menu.first()) {
            (Phase::Schedule, Some(item)) => parse_schedule(text, item),
            _ => parse_plan(text, &request.menu, &request.hidden),
        };
        let about = (phase, &*request.kernel, &request.evaluation, &request.key);
        let reply = self
            .ask_about(about, (&self.planners, slot), prompt, schema, parse)
            .await?;
        let (plan, proposer) = reply.value;
        Ok(Reply {
            value: Plan {
                menu_item: plan.menu_item,
                text: plan.text,
                payload: String::new(),
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
        let slot = draft_slot(&request.key, self.coders.members().len());
        let phase = self.code_phase();
        let about = (phase, &*request.kernel, &request.evaluation, &request.key);
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
        let about = (phase, &*request.kernel, &request.evaluation, &request.key);
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

/// Returns what a request is called: by its phase and its task.
pub(crate) fn label(phase: Phase, key: &TaskKey) -> String {
    format!("{}-{key}", phase.name())
}

/// Returns whether a reply came, once, and was too short or cut.
fn is_half(error: &LlmError) -> bool {
    let is_half = matches!(error.kind, LlmErrorKind::Truncated | LlmErrorKind::Empty);
    is_half && error.attempts.len() == 1
}

/// Returns the phase in which a plan is asked for.
fn plan_phase(request: &PlanRequest) -> Phase {
    match request.menu.first() {
        Some(item) if item.scope == Scope::Schedule => Phase::Schedule,
        _ => Phase::Plan,
    }
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

/// Puts calls that were made first before those of the reply or the error.
fn with_exchanges_before<T>(
    mut first: Vec<Exchange>,
    result: Result<Reply<T>, ProposeError>,
) -> Result<Reply<T>, ProposeError> {
    match result {
        Ok(mut reply) => {
            first.append(&mut reply.exchanges);
            reply.exchanges = first;
            Ok(reply)
        }
        Err(mut error) => {
            first.append(&mut error.exchanges);
            error.exchanges = first;
            Err(error)
        }
    }
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

fn echo(mut reply: String) -> String {
    if LONGEST_ECHO < reply.len() {
        let end = (0..=LONGEST_ECHO)
            .rev()
            .find(|end| reply.is_char_boundary(*end))
            .unwrap_or(0);
        reply.truncate(end);
    }
    reply
}

/// Hands attempts over in the journal's form.
fn exchanges_of(attempts: &mut Attempts) -> Vec<Exchange> {
    attempts.take().iter().map(exchange_of).collect()
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
