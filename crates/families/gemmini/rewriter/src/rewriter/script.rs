//! Steps as scripts have them.

use crate::proposal::RESCHEDULE;
use crate::transformation::Step;
use crate::transformations::TRANSFORMATIONS;
use crate::tree::Path;
use serde::{Deserialize, Serialize};

/// A step as scripts have it: what it does not need may be left out.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Scripted(#[serde(with = "ScriptStep")] pub(super) Step);

/// How such a step is written: the fields of [`Step`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "Step", deny_unknown_fields)]
struct ScriptStep {
    transformation: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    at: Path,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    with: Path,
    #[serde(default, skip_serializing_if = "is_default")]
    operand: usize,
    #[serde(default, skip_serializing_if = "is_default")]
    count: i64,
    #[serde(default, skip_serializing_if = "is_default")]
    stride: i64,
    #[serde(default, skip_serializing_if = "is_default")]
    variant: usize,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parameters: Vec<i64>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Returns steps as a script.
pub(super) fn script(steps: &[Step]) -> Option<String> {
    let steps: Vec<Scripted> = steps.iter().cloned().map(Scripted).collect();
    serde_json::to_string(&steps).ok()
}

/// Returns the names of all transformations.
pub(super) fn names() -> Vec<&'static str> {
    let single = TRANSFORMATIONS.iter().map(|it| it.name());
    [RESCHEDULE].into_iter().chain(single).collect()
}
