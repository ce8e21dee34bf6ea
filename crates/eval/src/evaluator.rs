//! The trait that every kind of evaluator implements.

use autocomp_core::{ContentHash, Evaluation};

/// autocomp or its environment failed; says nothing about the candidate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// The environment does not allow to evaluate (no compiler, disk full).
    #[error("{message}")]
    Environment {
        /// What failed.
        message: String,
        /// What the user can do, one line each.
        remedies: Vec<String>,
    },
    /// A file of the problem is unusable (its reference does not build, its `work` is
    /// more than has to be done).
    #[error("{message}")]
    Input {
        /// What is wrong, with the file and the line.
        message: String,
        /// What the user can do, one line each.
        remedies: Vec<String>,
    },
    /// The evaluator contradicts itself (reference disagrees with itself,
    /// all the work done below the physical floor). Always reported loudly.
    #[error("evaluator fault: {0}")]
    Fault(String),
}

/// Evaluates kernels for one problem on one target.
///
/// Synchronous and callable from many threads at once.
pub trait Evaluator: Send + Sync {
    /// Returns the key under which the evaluation of `source` is cached.
    fn key(&self, source: &str) -> ContentHash;

    /// Returns the identity of what evaluates: problem, machine, tools, the family's own
    /// code. A run goes on only where it is the same.
    fn identity(&self) -> ContentHash {
        self.key("")
    }

    /// Evaluates a kernel. A failed kernel is an [`Evaluation`], not an error.
    ///
    /// # Errors
    /// An [`EvalError`] if autocomp or its environment failed.
    fn evaluate(&self, source: &str) -> Result<Evaluation, EvalError>;
}

impl<E: Evaluator + ?Sized> Evaluator for std::sync::Arc<E> {
    fn key(&self, source: &str) -> ContentHash {
        (**self).key(source)
    }

    fn identity(&self) -> ContentHash {
        (**self).identity()
    }

    fn evaluate(&self, source: &str) -> Result<Evaluation, EvalError> {
        (**self).evaluate(source)
    }
}
