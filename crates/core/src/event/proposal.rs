//! What proposers gave, and the calls of models that it took.

use crate::hash::ContentHash;
use crate::ids::TaskKey;
use crate::menu::MenuItem;
use crate::plan::Usage;
use serde::{Deserialize, Serialize};

/// A call of a model is about to be sent: written before it, so that its cost
/// is known even if the process does not live to see the reply. The
/// [`ExchangeRecord`] with the same number settles it; one that no process is
/// left to settle counts in full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reserved {
    /// Its number within the run, from 0, without gaps.
    pub reservation: u64,
    /// Model string.
    pub model: String,
    /// What is asked for: phase and task.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// The most that the call may use.
    pub most: Usage,
}

/// A task ended that writes menu items for a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ideas {
    /// The task.
    pub key: TaskKey,
    /// The items, or why there are none.
    pub result: Proposal<Vec<MenuItem>>,
    /// Calls of models made for it.
    #[serde(default)]
    pub exchanges: Vec<ExchangeRecord>,
}

/// A plan task ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Planned {
    /// The task.
    pub key: TaskKey,
    /// The plan, or why there is none.
    pub result: Proposal<PlanRecord>,
    /// Calls of models made for it.
    #[serde(default)]
    pub exchanges: Vec<ExchangeRecord>,
}

/// A draft task or a repair task ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drafted {
    /// The task.
    pub key: TaskKey,
    /// The draft, or why there is none.
    pub result: Proposal<DraftRecord>,
    /// Calls of models made for it.
    #[serde(default)]
    pub exchanges: Vec<ExchangeRecord>,
}

/// What a proposer gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proposal<T> {
    /// Something.
    Made(T),
    /// Nothing to propose here; not a fault.
    Nothing {
        /// Why, for people.
        message: String,
    },
    /// The attempt failed. An error text is never a plan or a draft.
    Failed {
        /// What happened, without secrets.
        message: String,
    },
}

/// A plan by reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRecord {
    /// The chosen menu item.
    pub menu_item: String,
    /// Who made it.
    pub proposer: String,
    /// Blob that holds the whole [`Plan`](crate::Plan) as JSON.
    pub plan: ContentHash,
}

/// A draft by reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftRecord {
    /// Who made it.
    pub proposer: String,
    /// Blob that holds the kernel source.
    pub source: ContentHash,
    /// Hash of the form that it shares with kernels which differ in nothing that counts
    /// (comments, spaces, names); absent if its language knows none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<ContentHash>,
}

/// One call of a model, texts by reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExchangeRecord {
    /// Model string.
    pub model: String,
    /// Blob that holds the exact prompt.
    pub prompt: ContentHash,
    /// Blob that holds the exact reply.
    pub reply: ContentHash,
    /// The error, if the call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What it used.
    pub usage: Usage,
    /// The provider did not tell what it used: tokens and cost are a careful guess.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cost_is_estimate: bool,
    /// Wall time in milliseconds. Not part of the canonical history.
    pub latency_ms: u64,
    /// The number of the [`Reserved`] that it settles; absent in runs of older
    /// programs. Not part of the canonical history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reservation: Option<u64>,
}
