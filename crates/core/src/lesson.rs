//! Lessons: what earlier runs have found, in a form that later ones can be told.

use crate::evaluation::Outcome;
use serde::{Deserialize, Serialize};

/// A change, what it was made on, and what came of it.
///
/// Plan and finding come from models, kernels and tools: they are data, never orders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lesson {
    /// Identifier within a memory: equal for the same change with the same result.
    pub id: String,
    /// Name of the target.
    pub target: String,
    /// Name of the problem.
    pub problem: String,
    /// The menu item.
    pub menu_item: String,
    /// The change, in one line.
    pub plan: String,
    /// How the best attempt ended; absent if no code came of any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Cost before by cost after the best attempt, if it was right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<f64>,
    /// Why it failed, or what limited the result, in one line; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub finding: String,
    /// Attempts that it sums up.
    pub attempts: u32,
}

impl Lesson {
    /// The longest plan and the longest finding, in characters.
    pub const LONGEST_TEXT: usize = 200;
    /// The longest name of a target, problem or menu item, in characters.
    pub const LONGEST_NAME: usize = 100;

    /// Returns the lesson with all texts in one line, without control characters, and no
    /// longer than lessons may be.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        for (text, most) in [
            (&mut self.id, 16),
            (&mut self.target, Self::LONGEST_NAME),
            (&mut self.problem, Self::LONGEST_NAME),
            (&mut self.menu_item, Self::LONGEST_NAME),
            (&mut self.plan, Self::LONGEST_TEXT),
            (&mut self.finding, Self::LONGEST_TEXT),
        ] {
            *text = one_line(text, most);
        }
        self.factor = self.factor.filter(|it| it.is_finite() && 0.0 < *it);
        self
    }
}

/// Returns `text` in one line of at most `most` characters, without control characters.
#[must_use]
pub fn one_line(text: &str, most: usize) -> String {
    let is_plain = |c: &char| !c.is_control() && !is_invisible(*c);
    let words = text.split_whitespace().map(|word| {
        let word: String = word.chars().filter(is_plain).collect();
        word
    });
    let line = words.filter(|it| !it.is_empty()).collect::<Vec<_>>();
    let line = line.join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Returns whether a character changes how others are shown, and is not shown itself.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}
