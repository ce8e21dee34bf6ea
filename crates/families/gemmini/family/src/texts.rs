//! What is said of causes, experiments and calls: data.

use autocomp_eval::{BuiltIn, ByName, Sentences};
use serde::Deserialize;

/// Everything that is said.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Texts {
    /// Of causes, by their names.
    pub causes: ByName<CauseText>,
    /// Machines of experiments, to follow "with".
    pub experiments: Sentences,
    /// Why the array stands idle, to follow "because".
    pub idle: Sentences,
    /// Of a call that was not recorded.
    pub sentences: Sentences,
    /// Of what limits a call.
    pub limits: Sentences,
    /// Ways to memory.
    pub ways: Sentences,
}

/// What is said of one cause.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CauseText {
    /// In a few words.
    pub summary: String,
    /// To follow "because".
    pub explanation: String,
    /// Why there never is any, if so.
    pub(crate) absent_because: Option<String>,
    /// Parts of what can be done about it.
    #[serde(default, rename = "remedy")]
    pub remedies: Vec<RemedyText>,
    /// Items of menus that carry these out.
    #[serde(default)]
    pub menu: Vec<String>,
    /// Whether fewer bytes are moved then.
    #[serde(default)]
    pub(crate) traffic: bool,
}

/// A part of what can be done about a cause.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemedyText {
    /// What to do.
    pub(crate) text: String,
    /// A habit of kernels that do so already.
    pub unless: Option<String>,
    /// Whether it is for commands that a loop unit makes.
    #[serde(default)]
    pub(crate) loop_unit: bool,
}

/// Everything that is said.
pub static TEXTS: BuiltIn<Texts> = BuiltIn::new(include_str!("../data/feedback.toml"));
