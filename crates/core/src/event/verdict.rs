//! What evaluators and confirmers said of a kernel.

use crate::evaluation::Evaluation;
use crate::hash::ContentHash;
use crate::ids::TaskKey;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// An evaluation ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluated {
    /// The task; [`TaskKey::BASELINE`] for the baseline.
    pub key: TaskKey,
    /// Blob that holds the kernel source.
    pub source: ContentHash,
    /// What happened to it.
    #[serde(with = "shared")]
    pub evaluation: Arc<Evaluation>,
    /// Source of the kernel that was evaluated in its place, because it is the same but
    /// for its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<ContentHash>,
    /// Hash of its machine code, if that was asked for and is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ContentHash>,
    /// Menu items that the kernel's text says nothing of, which no plan for it is offered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<String>,
}

/// The serialised form of a shared value: that of the value.
mod shared {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::sync::Arc;

    pub(super) fn serialize<T: Serialize, S: Serializer>(
        value: &Arc<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        T::serialize(value, serializer)
    }

    pub(super) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<T>, D::Error> {
        T::deserialize(deserializer).map(Arc::new)
    }
}

/// One of the best kernels was evaluated once more, before the run ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Confirmed {
    /// The task; it names the kernel and the confirmer.
    pub key: TaskKey,
    /// Blob that holds the kernel source.
    pub source: ContentHash,
    /// What happened to it.
    #[serde(with = "shared")]
    pub evaluation: Arc<Evaluation>,
}
