//! How models are asked: once for each request, whose reply is stored.

use crate::prompt::Prompts;
use crate::record::{Record, RecordError};
use autocomp_llm::{Availability, LlmErrorKind, Member, Message, ModelSet, Request, Role};

/// The most of an unusable reply that is sent back, in characters.
const LONGEST_ECHO: usize = 16 << 10;

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// It is not to be asked for.
    NotAsked,
    /// A cap is reached.
    Capped(String),
    /// No model gave one that can be used.
    Failed(String),
    /// The record cannot be written.
    Record(RecordError),
}

/// Who answers, and where answers are kept.
pub(crate) struct Asking<'a> {
    pub(crate) models: &'a ModelSet,
    pub(crate) record: &'a Record,
    pub(crate) prompts: &'a Prompts,
}

impl Asking<'_> {
    /// Returns the answer to a request: the stored one, or, if `may_ask`, a new one. `slot`
    /// decides which model is asked first.
    pub(crate) async fn answer<T>(
        &self,
        request: &Request,
        slot: u64,
        may_ask: bool,
        parse: &(dyn Fn(&str) -> Result<T, String> + Sync),
    ) -> Result<T, NoAnswer> {
        let stored = self.record.reply(request);
        if let Some(value) = stored.and_then(|it| parse(&it.reply).ok()) {
            return Ok(value);
        }
        if !may_ask {
            return Err(NoAnswer::NotAsked);
        }
        let mut failures = Vec::new();
        for member in self.models.order(slot) {
            match member.breaker().admit() {
                Availability::Available => {}
                Availability::SetAside { reason, .. } | Availability::Lost { reason } => {
                    failures.push(format!("{} is set aside ({reason})", member.model()));
                    continue;
                }
            }
            match self.ask(member, request, parse).await {
                Ok((value, reply)) => {
                    let stored = self.record.store(request, member.model(), &reply);
                    stored.map_err(NoAnswer::Record)?;
                    return Ok(value);
                }
                Err((LlmErrorKind::BudgetExhausted, message)) => {
                    return Err(NoAnswer::Capped(message));
                }
                Err((_, message)) => failures.push(message),
            }
        }
        Err(NoAnswer::Failed(failures.join("; ")))
    }

    /// Asks one model, and once again if its reply cannot be used.
    async fn ask<T>(
        &self,
        member: &Member,
        request: &Request,
        parse: &(dyn Fn(&str) -> Result<T, String> + Sync),
    ) -> Result<(T, String), (LlmErrorKind, String)> {
        let mut asked = request.clone();
        // Whoever has answered before is not to take the question for the same one.
        match self.record.n_earlier(request) {
            0 => {}
            n_earlier => asked.label.push_str(&format!("-{}", n_earlier + 1)),
        }
        let mut complaint = String::new();
        for _ in 0..2 {
            let reply = match member.complete(&asked).await {
                Ok(completion) => {
                    self.record.note(&asked.label, &completion.attempts);
                    completion.text
                }
                Err(error) => {
                    self.record.note(&asked.label, &error.attempts);
                    return Err((error.kind, error.to_string()));
                }
            };
            match parse(&reply) {
                Ok(value) => {
                    member.judge(Ok(()));
                    return Ok((value, reply));
                }
                Err(error) => complaint = error,
            }
            member.count_unusable();
            let echo: String = reply.chars().take(LONGEST_ECHO).collect();
            asked.messages.push(Message {
                role: Role::Assistant,
                text: echo,
            });
            asked.messages.push(Message {
                role: Role::User,
                text: self.prompts.again(&complaint),
            });
            asked.label.push_str("-again");
        }
        member.judge(Err(&complaint));
        let message = format!("{}: {complaint}", member.model());
        Err((LlmErrorKind::Malformed, message))
    }
}
