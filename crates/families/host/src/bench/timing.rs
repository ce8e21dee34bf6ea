//! What a right kernel costs, compared with one that others are compared with, too.

use super::preparation::Prepared;
use super::{HostBench, Right, Tested};
use crate::pairs::{Failure, Kernel, Pairs};
use crate::timing_core::TimingCore;
use autocomp_core::{Diagnostic, Outcome};
use autocomp_eval::EvalError;
use autocomp_eval::inputs::Case;
use autocomp_measuring::statistics::{Difference, Interval, difference, median};
use autocomp_measuring::{Effort, Paired, SharedBase};
use autocomp_native::{Kind, Offence, Program, WorkerSettings, built, verdict};
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

/// How the problem's own kernel is timed against itself: for its absolute cost, and for the
/// noise of the machine.
const NOISE_EFFORT: Effort = Effort {
    least_rounds: 5,
    most_rounds: 9,
    wall: Duration::from_secs(2),
    half_width: 0.01,
    confidence: 0.9,
    confirmation: 1,
    far: f64::INFINITY,
};
/// Calls that timing makes of each of two kernels at least.
const LEAST_MEASUREMENTS: f64 = 2.0;
/// A kernel that takes less than this share of the base is the next base.
const NEW_BASE: f64 = 0.7;
/// Least difference that is told apart from none, as a share.
const LEAST_BAND: f64 = 0.005;

/// What timing found.
#[derive(Debug)]
pub enum Timed {
    /// The cost.
    Cost(Timing),
    /// A timed call went wrong.
    Failed(Outcome, Box<Diagnostic>),
}

/// The cost of a kernel.
#[derive(Clone, Debug)]
pub struct Timing {
    /// Processor time of a call, nanoseconds: the cost of the base times the
    /// median ratio to it.
    pub call_ns: f64,
    /// Half width of the interval of the ratio, millionths.
    pub spread_ppm: u32,
    /// The measurements.
    pub paired: Paired,
    /// The cost divided by that of the problem's own kernel, with the interval
    /// of the last comparison.
    pub to_baseline: Interval,
    /// What is said of the kernel compared with the base.
    pub difference: Difference,
    /// How far from itself the problem's own kernel seemed to be, as a share: what the
    /// machine's noise makes of no difference.
    pub noise: f64,
}

/// The kernel that others are timed against.
#[derive(Debug)]
pub(super) struct Base {
    shared: SharedBase,
    program: Program,
}

impl HostBench {
    /// Times a kernel that is right against a base that others are timed against, too. One
    /// that seems to be better than all before is timed once more, longer and on inputs of
    /// its own, and only that counts: the best of many measurements is better than its kernel.
    /// The base is not: its ratio to itself is known.
    ///
    /// # Errors
    /// [`EvalError`] if the machine does not allow to time kernels, or the
    /// problem's own kernel is not right.
    pub fn time(&self, program: Program, source: &str, right: Right) -> Result<Timed, EvalError> {
        let prepared = self.prepared()?;
        let call_ns = right.call_ns;
        let allowed = self.settings.evaluation_time;
        let left = allowed.saturating_sub(right.spent);
        if left.as_nanos() as f64 <= LEAST_MEASUREMENTS * call_ns {
            let too_slow = Offence::TooSlow { call_ns, allowed };
            let (outcome, found) = verdict(too_slow, &program, source);
            return Ok(Timed::Failed(outcome, Box::new(found)));
        }
        let mut base = self.base();
        let core = TimingCore::take(&self.settings.cache_folder)?;
        let mut pairs = self.pairs(&core, prepared, &prepared.timed);
        let itself = self.find_base(&mut base, &mut pairs, (source, right))?;
        let Some(known) = base.as_ref() else {
            return Err(EvalError::Fault(
                "there is no kernel to time against".into(),
            ));
        };
        let candidate = Kernel {
            program: &program,
            call_ns,
        };
        let other = Kernel {
            program: &known.program,
            call_ns: known.shared.call_ns,
        };
        let mut least_ns = self.least_ns.lock().unwrap_or_else(PoisonError::into_inner);
        let effort = self.settings.effort;
        let is_base = source == known.shared.source;
        // Nothing is better than what is alone, so that it may as well be timed longer at once.
        let is_first = least_ns.is_infinite() && !is_base;
        let first_effort = if is_first {
            effort.confirming()
        } else {
            effort
        };
        let mut compared = match itself.filter(|_| is_base) {
            // It was timed against itself just now.
            Some(paired) => Ok(paired.with_confidence(effort.confidence)),
            None => pairs.compare(candidate, other, first_effort, left),
        };
        if let Ok(paired) = &compared
            && !is_first
            && !is_base
            && known.shared.call_ns * paired.interval.median < *least_ns
        {
            let left = left.saturating_sub(pairs.spent());
            // Slow kernels are timed on few inputs, and not twice.
            if LEAST_MEASUREMENTS * (call_ns + other.call_ns) < left.as_nanos() as f64 {
                pairs = self.pairs(&core, prepared, self.fresh(prepared)?);
                compared = pairs.compare(candidate, other, effort.confirming(), left);
            }
        }
        let paired = match compared {
            Ok(paired) => paired,
            Err(Failure::Candidate(offence)) => {
                let (outcome, found) = verdict(offence, &program, source);
                return Ok(Timed::Failed(outcome, Box::new(found)));
            }
            Err(Failure::Base(offence)) => {
                // The next one begins with the problem's own kernel.
                SharedBase::forget(&self.settings.cache_folder, &self.base_key);
                *base = None;
                return Err(EvalError::Fault(format!(
                    "a kernel that was right before is not any more: {offence:?}"
                )));
            }
            Err(Failure::Environment(error)) => return Err(error),
        };
        let interval = paired.interval;
        let SharedBase {
            call_ns: base_ns,
            baseline_ns,
            noise,
            ..
        } = known.shared;
        let scale = base_ns / baseline_ns;
        let timing = Timing {
            call_ns: base_ns * interval.median,
            spread_ppm: (interval.half_width() * 1e6).min(1e6) as u32,
            to_baseline: Interval {
                low: interval.low * scale,
                median: interval.median * scale,
                high: interval.high * scale,
            },
            difference: difference(&interval, LEAST_BAND),
            paired,
            noise,
        };
        *least_ns = least_ns.min(timing.call_ns);
        if interval.high < NEW_BASE && !program.is_library() {
            let shared = SharedBase {
                source: source.to_owned(),
                call_ns: timing.call_ns,
                baseline_ns,
                noise,
                timed_at: SharedBase::now(),
            };
            shared.write(&self.settings.cache_folder, &self.base_key);
            *base = Some(Base { shared, program });
        }
        Ok(Timed::Cost(timing))
    }

    /// Times one program against another, both of them right.
    ///
    /// # Errors
    /// [`EvalError`] if one of them is not, or the machine does not allow it.
    pub fn compare(
        &self,
        candidate: (&Program, f64),
        base: (&Program, f64),
        effort: Effort,
    ) -> Result<Paired, EvalError> {
        let prepared = self.prepared()?;
        let core = TimingCore::take(&self.settings.cache_folder)?;
        let mut pairs = self.pairs(&core, prepared, &prepared.timed);
        let side = |(program, call_ns)| Kernel { program, call_ns };
        let compared = pairs.compare(side(candidate), side(base), effort, Duration::MAX);
        compared.map_err(|failure| match failure {
            Failure::Environment(error) => error,
            Failure::Candidate(offence) | Failure::Base(offence) => EvalError::Fault(format!(
                "a kernel that was right is not any more: {offence:?}"
            )),
        })
    }

    fn pairs<'b>(
        &'b self,
        core: &TimingCore,
        prepared: &'b Prepared,
        cases: &'b [Case],
    ) -> Pairs<'b> {
        let settings = WorkerSettings {
            core: core.core(),
            ..self.worker
        };
        Pairs::new(
            &self.problem,
            cases,
            settings,
            &prepared.overhead,
            core.seed(),
        )
    }

    fn base(&self) -> MutexGuard<'_, Option<Base>> {
        // A panic leaves either base in place.
        self.base.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes `base` the one that all processes share, the first one if there
    /// is none yet: then it returns how that is timed against itself. `tested` is a kernel
    /// that is right, and roughly what a call takes. The caller has the timing core.
    fn find_base(
        &self,
        base: &mut Option<Base>,
        pairs: &mut Pairs<'_>,
        tested: (&str, Right),
    ) -> Result<Option<Paired>, EvalError> {
        let folder = &self.settings.cache_folder;
        let shared = SharedBase::read(folder, &self.base_key);
        let is_new = shared.is_none();
        if let Some(shared) = shared {
            if base.as_ref().is_some_and(|own| own.shared == shared) {
                return Ok(None);
            }
            if let Ok(program) = self.build(&shared.source)? {
                *base = Some(Base { shared, program });
                return Ok(None);
            }
        }
        let (first, itself) = self.first_base(pairs, tested)?;
        if is_new {
            first.shared.write(folder, &self.base_key);
        }
        *base = Some(first);
        Ok(Some(itself))
    }

    /// Makes the problem's own kernel the first base.
    fn first_base(
        &self,
        pairs: &mut Pairs<'_>,
        tested: (&str, Right),
    ) -> Result<(Base, Paired), EvalError> {
        let name = &self.problem.name;
        let wrong = |what: &str| EvalError::Input {
            message: format!("baseline.c of {name} is not right: {what}"),
            remedies: vec!["correct baseline.c, reference.c or the tolerance".into()],
        };
        let source = self
            .problem
            .kernel("baseline")
            .map_err(|error| EvalError::Input {
                message: error.to_string(),
                remedies: vec!["add baseline.c to the problem".into()],
            })?;
        let program = built(
            &self.builder,
            "baseline.c",
            &self.completed(source),
            Kind::Kernel,
        )?;
        let right = if tested.0 == source {
            tested.1
        } else {
            match self.test(&program, source)? {
                Tested::Right(right) => right,
                Tested::Failed(_, found) => return Err(wrong(&found.message)),
            }
        };
        let side = Kernel {
            program: &program,
            call_ns: right.call_ns,
        };
        let left = self.settings.evaluation_time.saturating_sub(right.spent);
        let itself =
            pairs
                .compare(side, side, NOISE_EFFORT, left)
                .map_err(|failure| match failure {
                    Failure::Environment(error) => error,
                    Failure::Candidate(offence) | Failure::Base(offence) => {
                        wrong(&format!("{offence:?}"))
                    }
                })?;
        let times: Vec<f64> = [itself.candidate_ns.as_slice(), &itself.base_ns].concat();
        let call_ns = median(&times);
        let base = Base {
            shared: SharedBase {
                source: source.to_owned(),
                call_ns,
                baseline_ns: call_ns,
                noise: itself.interval.half_width(),
                timed_at: SharedBase::now(),
            },
            program,
        };
        Ok((base, itself))
    }
}
