//! What all kernels of a problem have in common and takes time to find out.

use super::HostBench;
use crate::overhead::Overhead;
use crate::timing_core::TimingCore;
use autocomp_catalog::{Buffer, InputSet, Problem};
use autocomp_core::Seed;
use autocomp_eval::EvalError;
use autocomp_eval::inputs::{Case, sets_alike_in_part};
use autocomp_native::{Kind, Oracle, WorkerSettings, answer, built};
use std::sync::{OnceLock, PoisonError};

/// Bytes that the buffers of all timed calls may take together.
const TIMED_BYTES: usize = 48 << 20;
/// Most calls of one measurement.
const MOST_CALLS: usize = 64;

/// What all kernels have in common and takes time to find out.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) tests: Vec<Case>,
    pub(super) timed: Vec<Case>,
    /// Others, on which a kernel is timed again that seems to be the best one.
    fresh: OnceLock<Vec<Case>>,
    /// Inputs of timed calls, and others that are alike in part.
    alike: OnceLock<Vec<Case>>,
    pub(super) overhead: Overhead,
}

impl HostBench {
    /// Computes right answers and the cost of a command, unless that was done.
    ///
    /// # Errors
    /// [`EvalError::Input`] if the reference is broken.
    pub(super) fn prepared(&self) -> Result<&Prepared, EvalError> {
        let _guard = self
            .preparing
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if self.prepared.get().is_none() {
            let prepared = self.make_ready()?;
            // Nobody else sets it while the guard is held.
            let _ = self.prepared.set(prepared);
        }
        let unset = || EvalError::Fault("right answers got lost".into());
        self.prepared.get().ok_or_else(unset)
    }

    fn make_ready(&self) -> Result<Prepared, EvalError> {
        let (problem, settings) = (&self.problem, &self.settings);
        let tests = self.tests()?;
        let mut timed = timed_cases(problem, settings.timed_seed);
        answer(problem, &self.reference()?, self.worker, &mut timed)?;
        Ok(Prepared {
            tests,
            timed,
            fresh: OnceLock::new(),
            alike: OnceLock::new(),
            overhead: self.overhead()?,
        })
    }

    /// Returns inputs with right answers on which no kernel was timed the first time. The
    /// caller holds the base.
    pub(super) fn fresh<'p>(&self, prepared: &'p Prepared) -> Result<&'p [Case], EvalError> {
        if let Some(fresh) = prepared.fresh.get() {
            return Ok(fresh);
        }
        let mut fresh = timed_cases(&self.problem, self.settings.timed_seed.derive("fresh"));
        answer(&self.problem, &self.reference()?, self.worker, &mut fresh)?;
        Ok(prepared.fresh.get_or_init(|| fresh))
    }

    /// Returns inputs with right answers, each of which has a part in common with the one before.
    pub(super) fn alike<'p>(&self, prepared: &'p Prepared) -> Result<&'p [Case], EvalError> {
        if let Some(alike) = prepared.alike.get() {
            return Ok(alike);
        }
        let problem = &self.problem;
        let seeds = ["not alike", "alike"].map(|name| self.settings.seed.derive(name));
        let mut alike = Vec::new();
        if let Some(set) = problem.timed_set() {
            let others = sets_alike_in_part(set, &problem.buffers, seeds);
            let sets = std::iter::once(set).chain(&others);
            alike.extend(sets.map(|set| drawn(problem, set, seeds[1])));
        }
        answer(problem, &self.reference()?, self.worker, &mut alike)?;
        Ok(prepared.alike.get_or_init(|| alike))
    }

    /// Returns the input sets of tests with their right answers.
    ///
    /// # Errors
    /// [`EvalError::Input`] if the reference is broken.
    pub(crate) fn known_answers(&self) -> Result<Vec<Case>, EvalError> {
        let tests = match self.prepared.get() {
            Some(prepared) => prepared.tests.clone(),
            None => self.tests()?,
        };
        let cases = tests
            .into_iter()
            .map(|case| case.without_poison(&self.problem));
        Ok(cases.collect())
    }

    /// Draws the input sets of tests and computes their right answers.
    fn tests(&self) -> Result<Vec<Case>, EvalError> {
        let (problem, settings) = (&self.problem, &self.settings);
        let seed_of = |fresh| {
            if fresh {
                settings.timed_seed
            } else {
                settings.seed
            }
        };
        let sets = problem.input_sets.iter();
        let mut tests: Vec<Case> = sets
            .map(|set| drawn(problem, set, seed_of(set.fresh)))
            .collect();
        let reference = self.reference()?;
        answer(problem, &reference, self.worker, &mut tests)?;
        reference.check_axes(problem, self.worker, &tests)?;
        Ok(tests)
    }

    fn reference(&self) -> Result<Oracle, EvalError> {
        let folder = &self.settings.cache_folder;
        Oracle::new(&self.problem, &self.builder, Kind::Reference, folder)
    }

    /// Returns what running a kernel costs that does nothing.
    fn overhead(&self) -> Result<Overhead, EvalError> {
        let source = self.completed(&format!("{} {{}}", self.problem.signature));
        let program = built(&self.builder, "empty.c", &source, Kind::Kernel)?;
        let core = TimingCore::take(&self.settings.cache_folder)?;
        let settings = WorkerSettings {
            core: core.core(),
            ..self.worker
        };
        Overhead::of(program, &self.problem, settings)
    }
}

/// Draws the inputs of timed calls: of the problem's set of those, no two alike, as
/// many as one measurement may need and one to warm up.
fn timed_cases(problem: &Problem, seed: Seed) -> Vec<Case> {
    let bytes: usize = problem.buffers.iter().map(Buffer::bytes).sum();
    let count = (TIMED_BYTES / bytes.max(1)).clamp(2, MOST_CALLS + 1);
    problem.timed_set().map_or_else(Vec::new, |set| {
        (0..count)
            .map(|idx| drawn(problem, set, seed.derive(&format!("timed {idx}"))))
            .collect()
    })
}

/// Draws inputs; outputs hold what is no likely result.
fn drawn(problem: &Problem, set: &InputSet, seed: Seed) -> Case {
    Case::draw(problem, set, seed).poisoned(problem, seed)
}
