//! What benches have in common that measure what another bench of the same problem has simulated
//! before.

use autocomp_core::{ContentHash, ContentHasher, Cost, Diagnostic, Evaluation, Severity, Stage};
use autocomp_eval::profile::{Profile, Profiled};
use autocomp_eval::{Bench, BenchFacts, EvalError, Evaluations, Evaluator, TierClock, Verdict};

/// By how much, as a share, a clock may change while a kernel is timed before that is told.
const STEADY_CLOCK: f64 = 0.03;

/// What measures, beside a bench that simulates the same: the family's part of a [`TwinBench`].
pub trait Twin: Send + Sync {
    /// What is found out about a right kernel.
    type Measured;

    /// Returns the bench that simulates.
    fn simulated(&self) -> &dyn Bench;

    /// Returns which one it is of several equal devices of the computer, counted from 0.
    fn number(&self) -> u32 {
        0
    }

    /// Returns the cost that no right kernel can be below.
    fn floor(&self) -> Cost;

    /// Simulates a kernel, and measures it if it is right. Its evaluation has this `key`.
    ///
    /// # Errors
    /// An [`EvalError`] if the device or the environment failed.
    fn judge(
        &self,
        source: &str,
        key: ContentHash,
        clock: &mut TierClock,
    ) -> Result<Result<Self::Measured, Verdict>, EvalError>;

    /// Says what a measurement by `engine` means.
    fn verdict(&self, measured: &Self::Measured, engine: &str) -> Verdict;

    /// Says what was measured at more length.
    fn profile(&self, measured: &Self::Measured) -> Profile;
}

/// A bench that measures, beside the one that simulates.
#[derive(Debug)]
pub struct TwinBench<T> {
    device: T,
    engine: String,
    evaluations: Evaluations,
    identity: ContentHash,
}

impl<T: Twin> TwinBench<T> {
    /// Makes the bench of `device` that is called `engine`: what it measures is decided by the
    /// simulator, by code of its own of this `kind`, and by `texts` of its machine.
    pub fn new(device: T, engine: String, (kind, texts): (&str, &[&str]), use_cache: bool) -> Self {
        let hash = |code: ContentHash| {
            let mut hasher = ContentHasher::new(kind);
            hasher.update(&code.0);
            for text in texts {
                hasher.update(text.as_bytes());
            }
            hasher.finish()
        };
        let simulated = device.simulated();
        let (base, identity) = (hash(simulated.key("")), hash(simulated.identity()));
        Self {
            device,
            engine,
            evaluations: Evaluations::measured(base, use_cache),
            identity,
        }
    }
}

impl<T: Twin> Evaluator for TwinBench<T> {
    fn key(&self, source: &str) -> ContentHash {
        self.evaluations.key(source)
    }

    fn identity(&self) -> ContentHash {
        self.identity
    }

    fn evaluate(&self, source: &str) -> Result<Evaluation, EvalError> {
        self.evaluations.get(source, None, |clock| {
            let judged = self.device.judge(source, self.key(source), clock)?;
            Ok(judged.map_or_else(
                |verdict| verdict,
                |measured| self.device.verdict(&measured, &self.engine),
            ))
        })
    }
}

impl<T: Twin> Bench for TwinBench<T> {
    fn facts(&self) -> BenchFacts {
        let floor = self.device.floor();
        BenchFacts {
            key_base: self.evaluations.base(),
            identity: self.identity,
            unit: floor.unit,
            engine: self.engine.clone(),
            floor,
            device: Some(self.device.number()),
            ..self.device.simulated().facts()
        }
    }

    fn doubts(&self) -> Result<Vec<String>, EvalError> {
        self.device.simulated().doubts()
    }

    fn profile(&self, source: &str) -> Result<Profiled, EvalError> {
        let mut clock = TierClock::default();
        let key = self.key(source);
        Ok(match self.device.judge(source, key, &mut clock)? {
            Ok(measured) => Profiled::Right(Box::new(self.device.profile(&measured))),
            Err(verdict) => Profiled::Failed(Box::new(clock.finish(key, verdict))),
        })
    }
}

/// Returns what is told where the clock of `whose` changed while a kernel was timed.
#[must_use]
pub fn clock_changed(whose: &str, before: f64, after: f64) -> Option<Diagnostic> {
    let has_changed = STEADY_CLOCK < (after / before - 1.0).abs();
    has_changed.then(|| Diagnostic {
        stage: Stage::Time,
        severity: Severity::Warning,
        code: "clock-changed".to_owned(),
        message: format!(
            "the clock of {whose} went from {before:.0} to {after:.0} MHz while the kernel was timed"
        ),
        location: None,
        notes: Vec::new(),
        remedy: None,
    })
}
