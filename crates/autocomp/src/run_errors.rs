//! Errors of runs and evaluators as errors of the command.

use crate::error::{CliError, ErrorKind};
use autocomp_eval::EvalError;
use autocomp_runner::RunError;
use autocomp_store::StoreError;

/// Says what is wrong with a run.
pub fn run_error(error: &RunError) -> CliError {
    match error {
        RunError::Store(error) => store_error(error),
        RunError::Standstill { .. } => CliError::internal(error).hint(error.remedy()),
        _ => CliError::input(error).hint(error.remedy()),
    }
}

/// Says what is wrong with a run folder.
pub fn store_error(error: &StoreError) -> CliError {
    let kind = match error {
        StoreError::Exists { .. } | StoreError::NotARun { .. } | StoreError::NotStarted { .. } => {
            ErrorKind::Usage
        }
        StoreError::Locked { .. }
        | StoreError::Memory { .. }
        | StoreError::NoRoom { .. }
        | StoreError::TooMany { .. }
        | StoreError::NotWritable { .. }
        | StoreError::Io { .. } => ErrorKind::Environment,
        _ => ErrorKind::Input,
    };
    CliError::new(kind, error).hint(error.remedy())
}

/// Says why nothing could be evaluated.
pub fn eval_error(error: &EvalError) -> CliError {
    match error {
        EvalError::Environment { message, remedies } => {
            with_hints(CliError::environment(message), remedies)
        }
        EvalError::Input { message, remedies } => with_hints(CliError::input(message), remedies),
        EvalError::Usage { message, remedies } => with_hints(CliError::usage(message), remedies),
        _ => CliError::internal(error),
    }
}

fn with_hints(error: CliError, hints: &[String]) -> CliError {
    hints.iter().fold(error, |error, hint| error.hint(hint))
}
