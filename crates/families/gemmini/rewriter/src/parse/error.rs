//! Why a source cannot be read.

/// The largest source that is read, in bytes.
pub(super) const SOURCE_LIMIT: usize = 1 << 20;

/// Why a source could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// It is longer than a mebibyte.
    #[error("kernel is longer than {SOURCE_LIMIT} bytes")]
    TooLong,
    /// It is not C, or nests too deeply.
    #[error("kernel does not parse as C")]
    Syntax,
    /// The entry function is missing.
    #[error("kernel has no function `{0}`")]
    NoEntry(String),
    /// A directive or macro is not understood.
    #[error("{1}")]
    Directive(usize, String),
    /// Reading it takes too long.
    #[error("kernel takes too many steps to read")]
    Endless,
}

impl ParseError {
    /// Returns the line that is to blame, from 1.
    pub(crate) fn line(&self) -> usize {
        match self {
            Self::Directive(line, _) => *line,
            _ => 1,
        }
    }
}

impl From<ParseError> for autocomp_core::RewriteError {
    fn from(error: ParseError) -> Self {
        Self::NotUnderstood(error.to_string())
    }
}
