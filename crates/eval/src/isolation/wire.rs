//! What a child is asked and what it answers: JSON in frames that begin with its length,
//! eight bytes, least significant first.

use super::IsolationLimits;
use crate::evaluator::EvalError;
use autocomp_core::{ContentHash, Cost, Evaluation};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};

/// Bytes of the length before a message.
pub(super) const PREFIX: usize = 8;

/// What a child is asked.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Request {
    /// To open an evaluator and to keep to limits in each evaluation.
    Open {
        setup: String,
        limits: IsolationLimits,
    },
    /// To evaluate a kernel with the evaluator that is open, as far as a bound on its cost.
    Evaluate { source: String, bound: Option<Cost> },
    /// For the machine code of a kernel.
    MachineCode { source: String },
}

/// What it answers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    /// The evaluator is open; its key for the empty source.
    Opened { identity: ContentHash },
    /// The verdict.
    Evaluated(Box<Evaluation>),
    /// The hash of the machine code, if there is one.
    MachineCode { code: Option<ContentHash> },
    /// There is none.
    Failed(Failure),
    /// The evaluator panicked; the child must not be used any more.
    Panicked { message: String },
}

/// An [`EvalError`] on its way.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Failure {
    Environment {
        message: String,
        remedies: Vec<String>,
    },
    Input {
        message: String,
        remedies: Vec<String>,
    },
    Usage {
        message: String,
        remedies: Vec<String>,
    },
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
