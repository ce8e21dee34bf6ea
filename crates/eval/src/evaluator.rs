//! The trait that every kind of evaluator implements.

use autocomp_core::{ContentHash, Cost, Evaluation};

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
    /// What was asked for does not exist or makes no sense.
    #[error("{message}")]
    Usage {
        /// What was asked for.
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

    /// Returns the identity of what evaluates: problem, machine, tools, and the code that costs
    /// come from, which is the family's own and the simulators that it stands on, in whatever
    /// crate they are. A run goes on only where it is the same.
    fn identity(&self) -> ContentHash {
        self.key("")
    }

    /// Returns the form of `source` as [`Language::normal_form`](autocomp_core::Language)
    /// gives it.
    fn normal_form(&self, source: &str) -> Option<String> {
        let _ = source;
        None
    }

    /// Returns a hash of the machine code that `source` is made into: kernels with equal
    /// ones get equal verdicts. Nothing if there is none, or it is not known.
    ///
    /// # Errors
    /// An [`EvalError`] if autocomp or its environment failed.
    fn machine_code(&self, source: &str) -> Result<Option<ContentHash>, EvalError> {
        let _ = source;
        Ok(None)
    }

    /// Evaluates a kernel. A failed kernel is an [`Evaluation`], not an error.
    ///
    /// # Errors
    /// An [`EvalError`] if autocomp or its environment failed.
    fn evaluate(&self, source: &str) -> Result<Evaluation, EvalError>;

    /// Evaluates a kernel of which nobody wants to know more than that it is right once it
    /// is sure to cost more than `bound`, which is in the unit of the target: it may end
    /// there with [`Evaluation::cut`].
    ///
    /// What comes of it depends on kernel and bound alone, not on what lies in a cache, and
    /// a kernel that is not right gets the same verdict as without a bound. An evaluator
    /// that saves nothing by it does without.
    ///
    /// # Errors
    /// An [`EvalError`] if autocomp or its environment failed.
    fn evaluate_within(&self, source: &str, bound: Option<Cost>) -> Result<Evaluation, EvalError> {
        let _ = bound;
        self.evaluate(source)
    }
}

impl<E: Evaluator + ?Sized> Evaluator for std::sync::Arc<E> {
    fn key(&self, source: &str) -> ContentHash {
        (**self).key(source)
    }

    fn identity(&self) -> ContentHash {
        (**self).identity()
    }

    fn normal_form(&self, source: &str) -> Option<String> {
        (**self).normal_form(source)
    }

    fn machine_code(&self, source: &str) -> Result<Option<ContentHash>, EvalError> {
        (**self).machine_code(source)
    }

    fn evaluate(&self, source: &str) -> Result<Evaluation, EvalError> {
        (**self).evaluate(source)
    }

    fn evaluate_within(&self, source: &str, bound: Option<Cost>) -> Result<Evaluation, EvalError> {
        (**self).evaluate_within(source, bound)
    }
}
