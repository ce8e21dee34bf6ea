//! From proposers' answers to events.

use crate::error::RunError;
use autocomp_agents::{Exchange, ProposeError, ProposeErrorKind, Reply};
use autocomp_core::{
    ContentHash, Draft, DraftRecord, Drafted, Event, ExchangeRecord, Ideas, MenuItem, Plan,
    PlanRecord, Planned, Proposal, TaskKey,
};
use autocomp_store::Blobs;

/// What a proposer's answer means for the run.
pub(crate) enum Answered {
    /// The task has ended.
    Ended(Box<Event>),
    /// No further task of a proposer can succeed; this one has not ended.
    Exhausted {
        message: String,
        exchanges: Vec<ExchangeRecord>,
    },
}

impl Answered {
    fn ended(event: Event) -> Self {
        Self::Ended(Box::new(event))
    }
}

pub(crate) fn ideas(
    key: TaskKey,
    answer: Result<Reply<Vec<MenuItem>>, ProposeError>,
    blobs: &Blobs,
) -> Result<Answered, RunError> {
    Ok(match split(answer, blobs)? {
        Split::Exhausted { message, exchanges } => Answered::Exhausted { message, exchanges },
        Split::Ended(result, exchanges) => Answered::ended(Event::Ideas(Ideas {
            key,
            result,
            exchanges,
        })),
    })
}

pub(crate) fn planned(
    key: TaskKey,
    answer: Result<Reply<Plan>, ProposeError>,
    blobs: &Blobs,
) -> Result<Answered, RunError> {
    let (proposal, exchanges) = match split(answer, blobs)? {
        Split::Exhausted { message, exchanges } => {
            return Ok(Answered::Exhausted { message, exchanges });
        }
        Split::Ended(proposal, exchanges) => (proposal, exchanges),
    };
    let result = match proposal {
        Proposal::Made(plan) => {
            let text = serde_json::to_string(&plan).expect("plans have string keys only");
            let hash = blobs.put(text.as_bytes())?;
            let Plan {
                menu_item,
                proposer,
                ..
            } = plan;
            Proposal::Made(PlanRecord {
                menu_item,
                proposer,
                plan: hash,
            })
        }
        Proposal::Nothing { message } => Proposal::Nothing { message },
        Proposal::Failed { message } => Proposal::Failed { message },
    };
    Ok(Answered::ended(Event::Planned(Planned {
        key,
        result,
        exchanges,
    })))
}

pub(crate) fn drafted(
    key: TaskKey,
    answer: Result<Reply<Draft>, ProposeError>,
    blobs: &Blobs,
    form_of: impl Fn(&str) -> Option<ContentHash>,
) -> Result<Answered, RunError> {
    let (proposal, exchanges) = match split(answer, blobs)? {
        Split::Exhausted { message, exchanges } => {
            return Ok(Answered::Exhausted { message, exchanges });
        }
        Split::Ended(proposal, exchanges) => (proposal, exchanges),
    };
    let result = match proposal {
        Proposal::Made(draft) => Proposal::Made(DraftRecord {
            source: blobs.put(draft.source.as_bytes())?,
            form: form_of(&draft.source),
            proposer: draft.proposer,
        }),
        Proposal::Nothing { message } => Proposal::Nothing { message },
        Proposal::Failed { message } => Proposal::Failed { message },
    };
    Ok(Answered::ended(Event::Drafted(Drafted {
        key,
        result,
        exchanges,
    })))
}

enum Split<T> {
    Ended(Proposal<T>, Vec<ExchangeRecord>),
    Exhausted {
        message: String,
        exchanges: Vec<ExchangeRecord>,
    },
}

fn split<T>(answer: Result<Reply<T>, ProposeError>, blobs: &Blobs) -> Result<Split<T>, RunError> {
    let (proposal, exchanges) = match answer {
        Ok(Reply { value, exchanges }) => (Proposal::Made(value), exchanges),
        Err(ProposeError {
            kind,
            message,
            exchanges,
        }) => match kind {
            ProposeErrorKind::Nothing => (Proposal::Nothing { message }, exchanges),
            ProposeErrorKind::Failed => (Proposal::Failed { message }, exchanges),
            ProposeErrorKind::Exhausted => {
                let exchanges = record_exchanges(exchanges, blobs)?;
                return Ok(Split::Exhausted { message, exchanges });
            }
        },
    };
    Ok(Split::Ended(proposal, record_exchanges(exchanges, blobs)?))
}

pub(crate) fn record_exchanges(
    exchanges: Vec<Exchange>,
    blobs: &Blobs,
) -> Result<Vec<ExchangeRecord>, RunError> {
    let mut records = Vec::new();
    for Exchange {
        model,
        prompt,
        reply,
        error,
        usage,
        cost_is_estimate,
        latency_ms,
        reservation,
    } in exchanges
    {
        records.push(ExchangeRecord {
            model,
            prompt: blobs.put(prompt.as_bytes())?,
            reply: blobs.put(reply.as_bytes())?,
            error,
            usage,
            cost_is_estimate,
            latency_ms,
            reservation,
        });
    }
    Ok(records)
}
