//! Texts that a family has as data.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::Deref;
use std::sync::OnceLock;

/// A TOML file of texts that is built in, read when it is first used.
#[derive(Debug)]
pub struct BuiltIn<T> {
    text: &'static str,
    read: OnceLock<T>,
}

impl<T> BuiltIn<T> {
    /// Returns the file with this text, which is not read yet.
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        let read = OnceLock::new();
        Self { text, read }
    }
}

impl<T: DeserializeOwned> Deref for BuiltIn<T> {
    type Target = T;

    /// Returns what the file says.
    ///
    /// # Panics
    /// If the file does not hold what is read from it. It is built in, so that each test that
    /// reads it sees that it does.
    fn deref(&self) -> &T {
        self.read
            .get_or_init(|| toml::from_str(self.text).expect("a test reads what is built in"))
    }
}

/// Texts by name. What has no text of its own has an empty one; tests of the family see that all
/// that can be named have one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "BTreeMap<String, T>")]
#[serde(bound(deserialize = "T: Deserialize<'de> + Default"))]
pub struct ByName<T> {
    texts: BTreeMap<String, T>,
    empty: T,
}

impl<T> ByName<T> {
    /// Returns the text of a name.
    #[must_use]
    pub fn of(&self, name: &str) -> &T {
        self.texts.get(name).unwrap_or(&self.empty)
    }

    /// Returns the text of a name, if it has one of its own.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&T> {
        self.texts.get(name)
    }

    /// Returns the names that have a text.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.texts.keys().map(String::as_str)
    }
}

impl<T: Default> From<BTreeMap<String, T>> for ByName<T> {
    fn from(texts: BTreeMap<String, T>) -> Self {
        let empty = T::default();
        Self { texts, empty }
    }
}

/// Returns a text with `values` in place of their names in braces. What values hold in braces stays
/// as it is.
#[must_use]
pub fn filled(text: &str, values: &[(&str, &dyn Display)]) -> String {
    let mut rest = text;
    let mut made = String::new();
    while let Some((before, behind)) = rest.split_once('{') {
        made += before;
        let named = behind.split_once('}').and_then(|(name, behind)| {
            let value = values.iter().find(|(it, _)| *it == name)?.1;
            Some((value, behind))
        });
        match named {
            Some((value, behind)) => {
                made += &value.to_string();
                rest = behind;
            }
            None => {
                made.push('{');
                rest = behind;
            }
        }
    }
    made + rest
}

/// Sentences by name, with names in braces where figures come: a table of a TOML file.
pub type Sentences = ByName<String>;

impl Sentences {
    /// Returns a sentence with `values` in place of their names in braces.
    #[must_use]
    pub fn filled(&self, name: &str, values: &[(&str, &dyn Display)]) -> String {
        filled(self.of(name), values)
    }

    /// Returns a paragraph of these sentences, with none in it yet.
    #[must_use]
    pub fn paragraph(&self) -> Paragraph<'_> {
        let text = String::new();
        Paragraph {
            sentences: self,
            text,
        }
    }
}

/// Sentences that follow each other, with a blank between them.
#[derive(Clone, Debug)]
pub struct Paragraph<'a> {
    sentences: &'a Sentences,
    text: String,
}

impl Paragraph<'_> {
    /// Adds a sentence, with `values` in place of their names in braces.
    pub fn say(&mut self, name: &str, values: &[(&str, &dyn Display)]) {
        let sentence = self.sentences.filled(name, values);
        self.add(&sentence);
    }

    /// Adds what was said elsewhere.
    pub fn add(&mut self, text: &str) {
        if !self.text.is_empty() && !text.is_empty() {
            self.text.push(' ');
        }
        self.text += text;
    }

    /// Returns all of it.
    #[must_use]
    pub fn text(self) -> String {
        self.text
    }
}
