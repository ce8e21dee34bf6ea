//! Why a call of a model gave no usable reply.

use crate::completion::{Attempt, TokenCount};
use std::time::Duration;

/// The class of an [`LlmError`]; decides whether it is retried, and whether the
/// model is set aside.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LlmErrorKind {
    /// The key is missing, wrong, or may not use this model.
    Auth,
    /// The account has no credit left, or its quota is used up.
    Quota,
    /// Too many requests for now.
    RateLimit,
    /// The provider is overloaded or broken (5xx).
    Overload,
    /// No complete reply within the time limit.
    Timeout,
    /// The connection could not be made, or was cut.
    Connection,
    /// The provider answered with something that is not its documented form.
    Malformed,
    /// The reply holds no text, and nothing else.
    Empty,
    /// The reply holds no text but something else: thoughts alone, or the call of a tool.
    NoAnswer,
    /// The reply was cut at the output limit.
    Truncated,
    /// The reply is larger than any model's; the rest of it was not read.
    Oversized,
    /// The model or a filter of the provider declined to answer.
    Refused,
    /// The prompt does not fit into the model's context.
    ContextTooLong,
    /// The provider rejects the request for another reason (unknown model, unsupported setting).
    InvalidRequest,
    /// The money, token or request cap of the run does not allow the call.
    BudgetExhausted,
    /// The call itself could not be made: program missing, folder not writable.
    Unavailable,
    /// The program of a `command::` model ended with an exit status other than zero.
    ProgramFailed,
    /// The caller went away before the reply was complete, as when a run stops.
    Cancelled,
}

impl LlmErrorKind {
    /// Returns whether the same request may succeed when sent again.
    #[must_use]
    pub fn is_retryable(self) -> bool {
        matches!(
            self,
            Self::RateLimit
                | Self::Overload
                | Self::Timeout
                | Self::Connection
                | Self::Malformed
                | Self::Empty
        )
    }

    /// Returns whether no later request to the same model can succeed
    /// before a person has acted.
    #[must_use]
    pub fn is_permanent(self) -> bool {
        matches!(self, Self::Auth | Self::Quota)
    }

    /// Returns whether the provider may have done work, and billed it, although
    /// no usage was reported.
    #[must_use]
    pub fn may_have_cost(self) -> bool {
        matches!(
            self,
            Self::Timeout
                | Self::Connection
                | Self::Malformed
                | Self::Empty
                | Self::NoAnswer
                | Self::Oversized
        )
    }

    /// Returns whether the failure points at the set-up (a wrong model name, a
    /// program that is not there or always fails) rather than at the moment: a
    /// model that never answered and fails like this is not worth waiting for.
    #[must_use]
    pub fn blames_the_setup(self) -> bool {
        matches!(
            self,
            Self::InvalidRequest | Self::Unavailable | Self::ProgramFailed
        )
    }

    /// Returns the serialised name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::Quota => "quota",
            Self::RateLimit => "rate_limit",
            Self::Overload => "overload",
            Self::Timeout => "timeout",
            Self::Connection => "connection",
            Self::Malformed => "malformed",
            Self::Empty => "empty",
            Self::NoAnswer => "no_answer",
            Self::Truncated => "truncated",
            Self::Oversized => "oversized",
            Self::Refused => "refused",
            Self::ContextTooLong => "context_too_long",
            Self::InvalidRequest => "invalid_request",
            Self::BudgetExhausted => "budget_exhausted",
            Self::Unavailable => "unavailable",
            Self::ProgramFailed => "program_failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A call of a model failed. Never turned into a plan or a draft.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{model}: {message} ({})", kind.name())]
pub struct LlmError {
    /// The class.
    pub kind: LlmErrorKind,
    /// The model string.
    pub model: Box<str>,
    /// What happened and what to do, without secrets.
    pub message: String,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
    /// Tokens that were used all the same, as far as the provider told.
    pub tokens: Box<TokenCount>,
    /// The text that did arrive (a truncated or refused reply).
    pub partial: Box<str>,
    /// What is different from now on because of this error, so that the same request can be
    /// sent again at once: "is asked without `temperature`".
    pub learnt: Option<Box<str>>,
    /// Every call made for the request, this one last; empty below the metering layer.
    pub attempts: Box<[Attempt]>,
}

impl LlmError {
    /// Creates an error without usage, text or attempts.
    #[must_use]
    pub fn new(kind: LlmErrorKind, model: &str, message: impl Into<String>) -> Self {
        Self {
            kind,
            model: model.into(),
            message: message.into(),
            retry_after: None,
            tokens: Box::default(),
            partial: Box::default(),
            learnt: None,
            attempts: Box::default(),
        }
    }
}
