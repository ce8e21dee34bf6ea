//! The cases of one kernel.

use crate::evaluator::KernelEvaluator;
use crate::platform::Platform;
use autocomp_catalog::{Buffer, InputSet};
use autocomp_core::Seed;
use autocomp_eval::EvalError;
use autocomp_eval::inputs::Case;
use std::sync::{Mutex, OnceLock};

/// Multiply-accumulates from which on a reference takes so long that new inputs are permuted ones,
/// whose answers need not be computed.
const LONG_REFERENCE: u64 = 1 << 24;

/// Elements of outputs up to which a kernel may know by heart what permuting inputs does not change,
/// such as sums.
const KNOWN_BY_HEART: usize = 1 << 14;

/// The cases of all input sets for one kernel. Those of fresh sets are its own;
/// they are made by the thread that first wants them.
pub struct Cases<'a, P: Platform> {
    evaluator: &'a KernelEvaluator<P>,
    known: &'a [Case],
    seed: Seed,
    own: Vec<OnceLock<Case>>,
    /// Held while a case is made.
    making: Mutex<()>,
}

/// One of the cases.
pub struct CaseOf<'c, P: Platform> {
    cases: &'c Cases<'c, P>,
    idx: usize,
}

impl<P: Platform> Clone for CaseOf<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Platform> Copy for CaseOf<'_, P> {}

impl<'a, P: Platform> Cases<'a, P> {
    /// `known` are the cases for all kernels, `seed` is what its own are made with.
    pub fn new(evaluator: &'a KernelEvaluator<P>, known: &'a [Case], seed: Seed) -> Self {
        Self {
            evaluator,
            known,
            seed,
            own: known.iter().map(|_| OnceLock::new()).collect(),
            making: Mutex::new(()),
        }
    }

    /// Returns all of them in the order of the input sets.
    pub fn all(&self) -> Vec<CaseOf<'_, P>> {
        let indices = 0..self.known.len();
        indices.map(|idx| CaseOf { cases: self, idx }).collect()
    }

    fn make(&self, set: &InputSet, known: &Case) -> Result<Case, EvalError> {
        let problem = &self.evaluator.problem;
        let outputs = problem.buffers.iter().filter(|it| it.is_written());
        let permuted = (LONG_REFERENCE <= problem.work.macs
            && KNOWN_BY_HEART < outputs.map(Buffer::elements).sum())
        .then(|| known.permuted_unforeseen(problem, self.seed))
        .flatten();
        permuted.map_or_else(|| self.evaluator.drawn(set, self.seed), Ok)
    }
}

impl<'c, P: Platform> CaseOf<'c, P> {
    /// Returns the case.
    pub fn get(self) -> Result<&'c Case, EvalError> {
        let Self { cases, idx } = self;
        let set = &cases.evaluator.problem.input_sets[idx];
        let (known, own) = (&cases.known[idx], &cases.own[idx]);
        if !set.fresh {
            return Ok(known);
        }
        let poisoned = |_| EvalError::Fault("making a case panicked".into());
        let _guard = cases.making.lock().map_err(poisoned)?;
        if own.get().is_none() {
            // Nobody else sets it while the guard is held.
            let _ = own.set(cases.make(set, known)?);
        }
        Ok(own.get().unwrap_or(known))
    }
}
