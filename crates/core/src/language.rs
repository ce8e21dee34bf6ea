//! What the neutral parts must know about a language of kernels.

use std::fmt;

/// A language that kernels are written in.
///
/// Everything here is given hostile text and must not panic.
pub trait Language: fmt::Debug + Send + Sync {
    /// Returns the name in `target.toml` (`c`).
    fn id(&self) -> &'static str;

    /// Returns the name as people write it (`C`).
    fn name(&self) -> &'static str;

    /// Returns the ending of its files, without a dot (`c`).
    fn extension(&self) -> &'static str;

    /// Returns why `source` cannot be a whole kernel that defines `entry`; none
    /// if it may be one. Nothing depends on it for safety.
    fn flaw(&self, source: &str, entry: &str) -> Option<Flaw>;

    /// Returns the marks that comments begin with (`//`).
    fn comment_marks(&self) -> &'static [&'static str];

    /// Returns whether a file that defines `entry` may begin with this line,
    /// rather than prose about it.
    fn may_begin(&self, line: &str, entry: &str) -> bool;

    /// Returns whether a file may end with this line.
    fn may_end(&self, line: &str) -> bool;

    /// Returns a form that two texts share only if they are the same program: without
    /// comments and spaces, say, and with its own names for variables. Nothing if there
    /// is none.
    fn normal_form(&self, source: &str) -> Option<String> {
        let _ = source;
        None
    }

    /// Returns whether the spaces at the beginning of a line mean something, so that a line
    /// that only moved to the right or left has changed.
    fn has_meaningful_indentation(&self) -> bool {
        false
    }

    /// Returns the names that stand for other code in `source` (macros), in the
    /// order of their lines; good for hints only. None unless the language has such.
    fn expansions(&self, source: &str) -> Vec<Expansion> {
        let _ = source;
        Vec::new()
    }
}

/// A name that stands for other code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// The name.
    pub name: String,
    /// The line of its definition, from 1.
    pub line: u32,
    /// What it stands for, in one line; empty if for nothing.
    pub body: String,
}

/// Why a text cannot be a whole kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// It does not define the entry.
    NoEntry,
    /// It defines the entry, but is cut off or its brackets do not match.
    Incomplete,
}
