//! What is told of kernels: data, read once.

use autocomp_eval::Sentences;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Everything that is said.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Texts {
    /// Of the causes that cycles go to, by their names.
    pub causes: BTreeMap<String, CauseText>,
    /// Of vectors.
    pub sentences: Sentences,
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

/// Returns everything that is said.
pub fn texts() -> &'static Texts {
    static TEXTS: OnceLock<Texts> = OnceLock::new();
    TEXTS.get_or_init(|| {
        toml::from_str(include_str!("../data/feedback.toml"))
            .expect("a test reads what is built in")
    })
}

impl Texts {
    /// Returns what is said of a cause.
    pub(crate) fn cause(&self, name: &str) -> &CauseText {
        static NOTHING: OnceLock<CauseText> = OnceLock::new();
        let nothing = || NOTHING.get_or_init(CauseText::default);
        self.causes.get(name).unwrap_or_else(nothing)
    }
}
