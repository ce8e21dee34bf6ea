//! What is said of causes and experiments: data, read once.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Everything that is said.
#[derive(Debug)]
pub(crate) struct Texts {
    causes: BTreeMap<String, CauseText>,
    experiments: BTreeMap<String, String>,
    idle: BTreeMap<String, String>,
}

/// What is said of one cause.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CauseText {
    name: String,
    /// In a few words.
    pub(crate) summary: String,
    /// To follow "because".
    pub(crate) explanation: String,
    /// Why there never is any, if so.
    pub(crate) absent_because: Option<String>,
    /// Parts of what can be done about it.
    #[serde(default, rename = "remedy")]
    pub(crate) remedies: Vec<RemedyText>,
    /// Items of menus that carry these out.
    #[serde(default)]
    pub(crate) menu: Vec<String>,
    /// Whether fewer bytes are moved then.
    #[serde(default)]
    pub(crate) traffic: bool,
}

/// A part of what can be done about a cause.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RemedyText {
    /// What to do.
    pub(crate) text: String,
    /// A habit of kernels that do so already.
    pub(crate) unless: Option<String>,
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
        self.idle.get(name).map_or("", String::as_str)
    }
}

/// Returns everything that is said.
pub(crate) fn texts() -> &'static Texts {
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
        }
    })
}

#[cfg(test)]
mod tests {
    use super::texts;
    use crate::habits::Habits;
    use crate::profile::{Cause, Removal};
    use autocomp_catalog::Catalog;
    use std::collections::BTreeSet;

    #[test]
    fn all_that_can_be_named_has_its_words_and_nothing_else_has() {
        let found = texts();
        assert_eq!(found.causes.len(), Cause::ALL.len());
        assert_eq!(found.experiments.len(), Removal::ALL.len());
        let catalog = Catalog::built_in().expect("built-in data");
        let target = catalog.target("gemmini-int8-16").expect("a target");
        let menu: BTreeSet<&str> = target.menu.iter().map(|it| it.id.as_str()).collect();
        for cause in Cause::ALL {
            let text = cause.text();
            assert!(!text.summary.is_empty(), "{cause:?}");
            assert!(!text.explanation.is_empty(), "{cause:?}");
            assert_eq!(text.remedies.is_empty(), text.menu.is_empty(), "{cause:?}");
            for item in &text.menu {
                assert!(menu.contains(item.as_str()), "{cause:?}: {item}");
            }
            for habit in text.remedies.iter().filter_map(|it| it.unless.as_deref()) {
                assert!(Habits::NAMES.contains(&habit), "{cause:?}: {habit}");
            }
        }
        for removal in Removal::ALL {
            assert!(!removal.machine().is_empty(), "{removal:?}");
        }
    }
}
