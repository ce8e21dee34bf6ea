//! Sentences that a family has as data.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Display;

/// Sentences by name, with names in braces where figures come: a table of a TOML file that is
/// built in. One that is not there is empty; tests of the family see that all are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Sentences(BTreeMap<String, String>);

impl Sentences {
    /// Returns a sentence as it stands.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// Returns a sentence with `values` in place of their names in braces.
    #[must_use]
    pub fn filled(&self, name: &str, values: &[(&str, &dyn Display)]) -> String {
        let mut text = self.text(name).to_owned();
        for (name, value) in values {
            text = text.replace(&format!("{{{name}}}"), &value.to_string());
        }
        text
    }

    /// Returns the names that there are.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl FromIterator<(String, String)> for Sentences {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(sentences: I) -> Self {
        Self(sentences.into_iter().collect())
    }
}
