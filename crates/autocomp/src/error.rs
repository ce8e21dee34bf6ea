//! Errors as the user sees them: one message, the remedies, an exit code.

use crate::exit_code;
use serde::Serialize;
use std::fmt;

/// The class of a [`CliError`]; decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The command line names something that does not exist or makes no sense.
    Usage,
    /// A file given is unusable.
    Input,
    /// The machine does not allow it.
    Environment,
    /// autocomp contradicts itself.
    Internal,
    /// Ctrl-C or a termination signal.
    Interrupted,
}

/// Why a command failed.
#[derive(Clone, Debug, Serialize)]
pub struct CliError {
    /// The class.
    pub kind: ErrorKind,
    /// What failed, with the place.
    pub message: String,
    /// What the user can do, one line each.
    pub hints: Vec<String>,
}

impl CliError {
    /// Makes an error of class `kind`.
    pub fn new(kind: ErrorKind, message: impl fmt::Display) -> Self {
        Self {
            kind,
            message: message.to_string(),
            hints: Vec::new(),
        }
    }

    /// Makes an error about the command line.
    pub fn usage(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Makes an error about a file given.
    pub fn input(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Input, message)
    }

    /// Makes an error about the machine.
    pub fn environment(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Environment, message)
    }

    /// Makes an error about autocomp itself.
    pub fn internal(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Internal, message)
            .hint("this is a fault of autocomp, not of your kernel; please report it")
    }

    /// Adds a remedy.
    #[must_use]
    pub fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.hints.push(hint.to_string());
        self
    }

    /// Returns the exit code.
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            ErrorKind::Usage => exit_code::USAGE,
            ErrorKind::Input => exit_code::INPUT,
            ErrorKind::Environment => exit_code::ENVIRONMENT,
            ErrorKind::Internal => exit_code::INTERNAL,
            ErrorKind::Interrupted => exit_code::INTERRUPTED,
        }
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        for hint in &self.hints {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for CliError {}
