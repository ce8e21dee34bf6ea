//! Language-model providers, retry, budgets, recording.
//!
//! One trait, [`LlmClient`], with one implementation per way to reach a model
//! and one wrapper per concern. [`Connector`] puts them together. No key
//! leaves this crate in a text.

mod aws_signature;
mod breaker;
mod budget;
mod check;
mod classify;
mod client;
mod command;
mod completion;
mod connector;
mod dialect;
mod error;
mod google_token;
mod http;
mod mailbox;
mod member;
mod meter;
mod model;
mod network_client;
mod price;
mod retries;
mod script;
mod secrets;
mod stray_calls;
mod throttle;
mod time_limit;
mod variables;
mod wire;

pub use breaker::{Availability, Breaker, BreakerPolicy};
pub use budget::{
    Amount, Budget, CapReached, Caps, Reservation, ReservationError, ReservationJournal, dollars,
};
pub use check::{CheckSettings, ModelCheck, check_models};
pub use client::LlmClient;
pub use command::CommandClient;
pub use completion::{
    Attempt, Completion, Message, ReasoningEffort, ReplySchema, Request, Role, TokenCount,
    estimate_tokens,
};
pub use connector::{ConnectError, ConnectSettings, Connector};
pub use error::{LlmError, LlmErrorKind};
pub use mailbox::MailboxClient;
pub use member::{Member, MemberHealth, ModelSet};
pub use meter::{Metered, total_cost};
pub use model::{Caching, ModelSpec, PROVIDERS, ParseModelError, Provider, ProviderInfo};
pub use network_client::NetworkClient;
pub use price::{Price, PriceError, PriceTable};
pub use retries::{Retried, RetryPolicy};
pub use script::ScriptedClient;
pub use secrets::{Secrets, SecretsError, conceal};
pub use stray_calls::{Attempts, Unclaimed};
pub use throttle::{Gate, Throttled};
pub use time_limit::Timed;
pub use variables::Variables;

/// Parts that `tests/suite` looks at one by one. Tests inside would have all of the crate
/// compiled a second time. No interface.
#[doc(hidden)]
pub mod inside {
    pub use crate::aws_signature::{AccessKey, Signing, basic_time};
    pub use crate::classify::{kind_of_status, message_of_body, retry_after};
    pub use crate::command::split_words;
    pub use crate::network_client::join;
    pub use crate::wire::chat::Chat;
    pub use crate::wire::responses::Responses;
    pub use crate::wire::{Wire, version_after};
}
