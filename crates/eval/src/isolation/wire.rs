//! Questions and answers between processes: JSON in frames that begin with its length,
//! eight bytes, least significant first.

use crate::evaluator::EvalError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};

/// Bytes of the length before a message.
pub(super) const PREFIX: usize = 8;

/// An [`EvalError`] on its way.
#[derive(Debug, Serialize, Deserialize)]
pub enum Failure {
    /// See [`EvalError::Environment`].
    Environment {
        /// What failed.
        message: String,
        /// What the user can do, one line each.
        remedies: Vec<String>,
    },
    /// See [`EvalError::Input`].
    Input {
        /// What is wrong.
        message: String,
        /// What the user can do, one line each.
        remedies: Vec<String>,
    },
    /// See [`EvalError::Usage`].
    Usage {
        /// What was asked for.
        message: String,
        /// What the user can do, one line each.
        remedies: Vec<String>,
    },
    /// See [`EvalError::Fault`].
    Fault(String),
}

impl From<EvalError> for Failure {
    fn from(error: EvalError) -> Self {
        match error {
            EvalError::Environment { message, remedies } => Self::Environment { message, remedies },
            EvalError::Input { message, remedies } => Self::Input { message, remedies },
            EvalError::Usage { message, remedies } => Self::Usage { message, remedies },
            EvalError::Fault(message) => Self::Fault(message),
        }
    }
}

impl From<Failure> for EvalError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Environment { message, remedies } => Self::Environment { message, remedies },
            Failure::Input { message, remedies } => Self::Input { message, remedies },
            Failure::Usage { message, remedies } => Self::Usage { message, remedies },
            Failure::Fault(message) => Self::Fault(message),
        }
    }
}

/// Writes a message with its length.
pub(super) fn write_frame(stream: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut frame = vec![0; PREFIX];
    serde_json::to_writer(&mut frame, message)?;
    let length = (frame.len() - PREFIX) as u64;
    frame[..PREFIX].copy_from_slice(&length.to_le_bytes());
    stream.write_all(&frame)?;
    stream.flush()
}

/// Reads a message from somebody trusted.
///
/// # Errors
/// The stream is at its end, or what comes is no such message.
pub(super) fn read_frame<T: DeserializeOwned>(stream: &mut impl Read) -> io::Result<T> {
    let mut prefix = [0; PREFIX];
    stream.read_exact(&mut prefix)?;
    let mut text = Vec::new();
    let length = u64::from_le_bytes(prefix);
    let n_read = stream.take(length).read_to_end(&mut text)?;
    if (n_read as u64) < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_slice(&text)?)
}
