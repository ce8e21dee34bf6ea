//! What is said of causes and experiments: data, read once.

use autocomp_eval::Sentences;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::OnceLock;

/// Everything that is said.
#[derive(Debug)]
pub struct Texts {
    pub causes: BTreeMap<String, CauseText>,
    pub experiments: BTreeMap<String, String>,
    idle: Sentences,
    sentences: Sentences,
}

/// What is said of one cause.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CauseText {
    name: String,
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    cause: Vec<CauseText>,
    experiment: Vec<Experiment>,
    idle: Vec<Idle>,
    sentence: Vec<Idle>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Experiment {
    name: String,
    machine: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Idle {
    name: String,
    text: String,
}

impl Texts {
    /// Returns what is said of a cause.
    pub(crate) fn cause(&self, name: &str) -> &CauseText {
        static NOTHING: OnceLock<CauseText> = OnceLock::new();
        let nothing = || NOTHING.get_or_init(CauseText::default);
        self.causes.get(name).unwrap_or_else(nothing)
    }

    /// Returns the machine of an experiment, to follow "with".
    pub(crate) fn machine(&self, name: &str) -> &str {
        self.experiments.get(name).map_or("", String::as_str)
    }

    /// Returns why the array stands idle, to follow "because".
    pub(crate) fn idle(&self, name: &str) -> &str {
        self.idle.of(name)
    }

    /// Returns a sentence with `values` in place of their names in braces.
    pub fn sentence(&self, name: &str, values: &[(&str, &dyn Display)]) -> String {
        self.sentences.filled(name, values)
    }
}

/// Returns everything that is said.
pub fn texts() -> &'static Texts {
    static TEXTS: OnceLock<Texts> = OnceLock::new();
    TEXTS.get_or_init(|| {
        let file: File = toml::from_str(include_str!("../data/causes.toml"))
            .expect("a test reads what is built in");
        let causes = file.cause.into_iter();
        let experiments = file.experiment.into_iter();
        Texts {
            causes: causes.map(|it| (it.name.clone(), it)).collect(),
            experiments: experiments.map(|it| (it.name, it.machine)).collect(),
            idle: file.idle.into_iter().map(|it| (it.name, it.text)).collect(),
            sentences: file
                .sentence
                .into_iter()
                .map(|it| (it.name, it.text))
                .collect(),
        }
    })
}
