//! What is told of kernels: data.

use autocomp_eval::{BuiltIn, ByName, Sentences};
use serde::Deserialize;

/// Everything that is said.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Texts {
    /// Of the parts of a launch's time, by their names.
    pub parts: ByName<PartText>,
    /// Of a call and its launches.
    pub sentences: Sentences,
    /// What is otherwise on machines that lack a cost, by its name, in words that begin with "if".
    pub experiments: Sentences,
    /// Rows of the table of what things cost, with figures in braces.
    pub rates: String,
    /// What to do about faults, by the code of their diagnostic.
    pub remedies: Sentences,
}

/// What is said of a part of a launch's time.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartText {
    /// What it is.
    pub words: String,
    /// What helps where it limits a launch.
    pub remedy: String,
}

/// Everything that is said.
pub static TEXTS: BuiltIn<Texts> = BuiltIn::new(include_str!("../data/feedback.toml"));

impl Texts {
    /// Returns what to do about a fault of this code, if anything is said.
    pub(crate) fn remedy(&self, code: &str) -> Option<String> {
        self.remedies.get(code).cloned()
    }
}
