//! What is told of kernels: data, read once.

use autocomp_eval::Sentences;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Everything that is said.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Texts {
    /// Of the parts of a launch's time, by their names.
    pub parts: BTreeMap<String, PartText>,
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

/// Returns everything that is said.
pub fn texts() -> &'static Texts {
    static TEXTS: OnceLock<Texts> = OnceLock::new();
    TEXTS.get_or_init(|| {
        toml::from_str(include_str!("../data/feedback.toml"))
            .expect("a test reads what is built in")
    })
}

impl Texts {
    /// Returns what to do about a fault of this code, if anything is said.
    pub(crate) fn remedy(&self, code: &str) -> Option<String> {
        let text = self.remedies.text(code);
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Returns what is said of a part.
    pub(crate) fn part(&self, name: &str) -> &PartText {
        static NOTHING: OnceLock<PartText> = OnceLock::new();
        let nothing = || NOTHING.get_or_init(PartText::default);
        self.parts.get(name).unwrap_or_else(nothing)
    }
}
