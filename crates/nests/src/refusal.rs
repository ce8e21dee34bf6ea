//! Why a kernel is not read.

use autocomp_core::RewriteError;
use std::fmt;

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
