//! Why a kernel is not read.

use autocomp_core::RewriteError;
use std::fmt;
use tree_sitter::Node;

/// Why a kernel is not read, in words that follow the line where there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The line, from 1; none for the whole kernel.
    pub line: Option<usize>,
    /// What is wrong with it.
    pub why: String,
}

impl Refusal {
    /// Says what is wrong with a line.
    pub(crate) fn at(line: usize, why: String) -> Self {
        Self {
            line: Some(line),
            why,
        }
    }

    /// Says what is wrong with a node of a source, of which the first words are shown.
    #[must_use]
    pub fn of(source: &str, node: Node<'_>, why: &str) -> Self {
        let first = source[node.byte_range()].lines().next().unwrap_or("");
        let first = first.trim_end_matches([';', '{', ' ']);
        let shown: String = first.chars().take(60).collect();
        Self::at(1 + node.start_position().row, format!("{why}: {shown}"))
    }

    /// Returns the reason in words that need no line before them.
    #[must_use]
    pub fn reason(&self) -> String {
        match self.line {
            Some(_) => format!("it {}", self.why),
            None => self.why.clone(),
        }
    }

    /// Adds what to write instead.
    pub(crate) fn with_remedy(mut self, remedy: &str) -> Self {
        self.why = format!("{}; {remedy}", self.why);
        self
    }
}

impl From<&str> for Refusal {
    fn from(why: &str) -> Self {
        Self {
            line: None,
            why: why.to_owned(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line} {}", self.why),
            None => f.write_str(&self.why),
        }
    }
}

impl From<Refusal> for RewriteError {
    fn from(refusal: Refusal) -> Self {
        Self::NotUnderstood(refusal.to_string())
    }
}
