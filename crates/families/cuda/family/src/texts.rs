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
    /// What CUDA has and the simulated GPU does not.
    absent: Vec<Absent>,
    /// What to do about faults, by the code of their diagnostic.
    pub remedies: Sentences,
}

/// Something that CUDA has and the simulated GPU does not.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Absent {
    /// How names begin that a compiler misses then, or what else it says.
    names: Vec<String>,
    remedy: String,
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
    /// Returns what to do instead where a message of the compiler is on something that the
    /// simulated GPU does not have.
    pub(crate) fn instead_of_absent(&self, message: &str) -> Option<&str> {
        // Names stand in quotation marks.
        let quoted: Vec<&str> = message.split('\'').skip(1).step_by(2).collect();
        let is_missed = |name: &String| {
            name.contains(' ') && message.contains(name.as_str())
                || quoted.iter().any(|it| it.starts_with(name.as_str()))
        };
        let found = self.absent.iter().find(|it| it.names.iter().any(is_missed));
        found.map(|it| it.remedy.as_str())
    }

    /// Returns what to do about a fault of this code, if anything is said.
    pub(crate) fn remedy(&self, code: &str) -> Option<String> {
        self.remedies.get(code).cloned()
    }
}
