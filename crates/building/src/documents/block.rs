//! The smallest pieces of a document.

use super::Place;

/// A heading, or a paragraph, list, table or piece of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// How deep the heading is, from 1; nothing if it is none.
    pub level: Option<u8>,
    /// What it says.
    pub text: String,
    /// Where it stands.
    pub place: Place,
}

impl Block {
    /// Makes a heading.
    pub fn heading(level: u8, text: impl Into<String>, place: Place) -> Self {
        Self {
            level: Some(level),
            text: text.into(),
            place,
        }
    }

    /// Makes a piece of text.
    pub fn text(text: impl Into<String>, place: Place) -> Self {
        Self {
            level: None,
            text: text.into(),
            place,
        }
    }
}
