//! What benches have in common that measure what another bench of the same problem has simulated
//! before.

use crate::statistics::median;
use autocomp_core::{
    ContentHash, ContentHasher, Cost, Diagnostic, Evaluation, Measurement, Ratio, Severity, Stage,
};
use autocomp_eval::profile::{Profile, Profiled};
use autocomp_eval::{Bench, BenchFacts, EvalError, Evaluations, TierClock, Verdict};
use std::collections::BTreeMap;

/// By how much, as a share, a clock may change while a kernel is timed before that is told.
const STEADY_CLOCK: f64 = 0.03;

/// A bench that measures, beside the one that simulates.
#[derive(Debug)]
pub struct Twin {
    /// What measures.
    pub engine: String,
    /// What was measured.
    pub evaluations: Evaluations,
    /// What a run goes on with only if it is the same.
    pub identity: ContentHash,
}

impl Twin {
    /// Makes the twin of `simulated` that is called `engine`: what it measures is decided by
    /// the simulator, by code of its own of this `kind`, and by `texts` of its machine.
    pub fn new(
        engine: String,
        simulated: &dyn Bench,
        (kind, texts): (&str, &[&str]),
        use_cache: bool,
    ) -> Self {
        let hash = |code: ContentHash| {
            let mut hasher = ContentHasher::new(kind);
            hasher.update(&code.0);
            for text in texts {
                hasher.update(text.as_bytes());
            }
            hasher.finish()
        };
        let (base, identity) = (hash(simulated.key("")), hash(simulated.identity()));
        Self {
            engine,
            evaluations: Evaluations::measured(base, use_cache),
            identity,
        }
    }

    /// Returns what is known of the bench, of which `simulated` is the other half, and which
    /// measures on this device of several equal ones.
    pub fn facts(&self, simulated: BenchFacts, floor: Cost, device: u32) -> BenchFacts {
        BenchFacts {
            key_base: self.evaluations.base(),
            identity: self.identity,
            unit: floor.unit,
            engine: self.engine.clone(),
            floor,
            device: Some(device),
            ..simulated
        }
    }

    /// Evaluates a kernel that `judge` simulates and measures: `right` says what a measurement
    /// means.
    ///
    /// # Errors
    /// Those of `judge`.
    pub fn evaluate<M>(
        &self,
        source: &str,
        judge: impl FnOnce(&mut TierClock) -> Result<Result<M, Verdict>, EvalError>,
        right: impl FnOnce(&M) -> Verdict,
    ) -> Result<Evaluation, EvalError> {
        self.evaluations.get(source, None, |clock| {
            Ok(judge(clock)?.map_or_else(|verdict| verdict, |measured| right(&measured)))
        })
    }

    /// Profiles a kernel that `judge` simulates and measures: `profile` says what was measured.
    ///
    /// # Errors
    /// Those of `judge`.
    pub fn profile<M>(
        &self,
        source: &str,
        judge: impl FnOnce(&mut TierClock) -> Result<Result<M, Verdict>, EvalError>,
        profile: impl FnOnce(&M) -> Profile,
    ) -> Result<Profiled, EvalError> {
        let mut clock = TierClock::default();
        Ok(match judge(&mut clock)? {
            Ok(measured) => Profiled::Right(Box::new(profile(&measured))),
            Err(verdict) => {
                let evaluation = clock.finish(self.evaluations.key(source), verdict);
                Profiled::Failed(Box::new(evaluation))
            }
        })
    }

    /// Returns what a comparison with the problem's own kernel measured: nanoseconds, and the
    /// lower end of the interval of the ratio, its median and the upper end.
    pub fn measurement(
        &self,
        (candidate_ns, [low, value, high]): (&[f64], [f64; 3]),
        (floor, compiler): (Cost, String),
        figures: BTreeMap<String, u64>,
    ) -> Measurement {
        let ns = median(candidate_ns);
        let spread = ((high - low) / 2.0 / value * 1e6).clamp(0.0, 1e6);
        let cost = Cost::nanoseconds(ns.round().max(1.0) as u64, spread as u32);
        Measurement {
            cost,
            floor,
            percent_of_peak: floor.percent_of(cost),
            samples: candidate_ns.iter().map(|it| *it as u64).collect(),
            ratio_to_baseline: Some(Ratio { value, low, high }),
            engine: self.engine.clone(),
            compiler,
            figures,
        }
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
