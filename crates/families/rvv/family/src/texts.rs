//! What is told of kernels: data.

use autocomp_eval::{BuiltIn, ByName, Sentences};
use serde::Deserialize;

/// Everything that is said.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Texts {
    /// Of the causes that cycles go to, by their names.
    pub causes: ByName<CauseText>,
    /// Of a call and its vectors.
    pub sentences: Sentences,
    /// What machines of experiments lack, by the names of what is left out.
    pub experiments: Sentences,
    /// Of other cores that a kernel must be right on.
    pub others: Sentences,
    /// What to write in place of intrinsics that are misused.
    pub remedies: Sentences,
}

/// What is said of a cause.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CauseText {
    /// What it is, to follow a number of cycles.
    pub meaning: String,
    /// What helps against it.
    pub remedy: String,
    /// What helps where a kernel is near the best that there can be.
    pub remedy_near_best: Option<String>,
}

/// Everything that is said.
pub static TEXTS: BuiltIn<Texts> = BuiltIn::new(include_str!("../data/feedback.toml"));
