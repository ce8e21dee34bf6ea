//! How models are asked: in turns, once more for a reply that cannot be used.

use crate::complaint::Complaint;
use crate::llm_proposer::{LlmProposer, PromptForm, exchange_of, label, plan_slot};
use crate::prompt::{Phase, Prompt, TemplateError};
use crate::proposer::{Exchange, ProposeError, ProposeErrorKind, Reply};
use autocomp_core::{Evaluation, TaskKey};
use autocomp_llm::{
    Attempts, Availability, LlmError, LlmErrorKind, Member, Message, ModelSet, ReplySchema,
    Request, Role,
};
use std::time::Duration;
use tokio::time::Instant;

/// The most of an unusable reply that is sent back when asking again, in bytes.
const LONGEST_ECHO: usize = 32 << 10;

/// How often samples look whether a model that is set aside is back.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

impl LlmProposer {
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
                let first = match prompt(schema.is_some()) {
                    Ok(first) => first,
                    // The template is the same for every task, so none can succeed.
                    Err(error) => return exhausted(error.to_string(), attempts),
                };
                match self
                    .ask_member(
                        member,
                        label,
                        &(first, || prompt(false)),
                        schema,
                        &parse,
                        &mut attempts,
                    )
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
    pub(crate) async fn ask_about<T>(
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

    /// Asks one model, and once again if its reply cannot be used: in words if JSON was asked
    /// for, with the second of `prompts`.
    async fn ask_member<T>(
        &self,
        member: &Member,
        label: &str,
        prompts: &(
            Prompt,
            impl Fn() -> Result<Prompt, TemplateError> + Send + Sync,
        ),
        schema: Option<&ReplySchema>,
        parse: &(impl Fn(&str) -> Result<T, Complaint> + Send + Sync),
        attempts: &mut Attempts,
    ) -> Result<T, (LlmErrorKind, String)> {
        let (prompt, in_words) = prompts;
        let new_request = |prompt: &Prompt| {
            let (system, user) = (prompt.system.clone(), prompt.user.clone());
            Request::new(system, user, self.settings.max_output_tokens)
        };
        let mut request = new_request(prompt);
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
                    complaint = half(&error).0;
                    self.ask_again(&mut request, error.partial.into_string(), &complaint)?;
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
            if request.schema.take().is_some() {
                // A model that is held to a schema and does not keep to it is asked in words.
                let prompt = in_words()
                    .map_err(|error| (LlmErrorKind::InvalidRequest, error.to_string()))?;
                request.messages = new_request(&prompt).messages;
                request.system = prompt.system;
            }
            self.ask_again(&mut request, completion.text, &complaint)?;
        }
        member.judge(Err(&complaint));
        Err((
            LlmErrorKind::Malformed,
            format!("{}: {complaint}", member.model()),
        ))
    }

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

/// Returns whether a reply came, once, and was no answer, too short or cut.
fn is_half(error: &LlmError) -> bool {
    let is_half = matches!(
        error.kind,
        LlmErrorKind::Truncated | LlmErrorKind::Empty | LlmErrorKind::NoAnswer
    );
    is_half && error.attempts.len() == 1
}

/// Returns what the model is told of half a reply.
fn half(error: &LlmError) -> Complaint {
    match error.kind {
        LlmErrorKind::Empty => Complaint::of("empty", &[]),
        LlmErrorKind::NoAnswer => Complaint::of("no-answer", &[("what", &error.message)]),
        _ => Complaint::of("cut", &[]),
    }
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
