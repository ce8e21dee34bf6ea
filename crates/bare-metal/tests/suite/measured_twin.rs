//! The measured twin of a core alone: what a family adds for a machine that is measured beside the
//! one that is simulated. The device is made up: a core of 500 MHz whose times scatter by one per
//! cent.

use crate::plain::{DEVICE, PlainPlatform};
use autocomp_bare_metal::KernelEvaluator;
use autocomp_catalog::Target;
use autocomp_core::{ContentHash, Cost, Seed};
use autocomp_eval::profile::Profile;
use autocomp_eval::{Bench, EvalError, Evaluator, Opening, TierClock, Verdict, read_machine};
use autocomp_measuring::statistics::Interval;
use autocomp_measuring::{
    Compared, Effort, Paired, Side, Sides, Twin, TwinBench, compare, measured_profile,
};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// Nanoseconds of a cycle.
const CYCLE_NS: f64 = 2.0;
/// Share by which times scatter to either side.
const SCATTER: f64 = 0.01;
/// What the device has to say.
const WORDS: &str = "The kernel was measured.";

/// The file of the device.
#[derive(Deserialize)]
struct DeviceFile {
    simulated: String,
}

/// Returns the machine that simulates one: that itself, unless it is the device.
pub fn simulated_by(target: &Target, machine: &str) -> Result<String, EvalError> {
    if machine != DEVICE {
        return Ok(machine.to_owned());
    }
    let file: DeviceFile = read_machine(target, machine, |text| toml::from_str(text))?;
    Ok(file.simulated)
}

/// One problem on the device.
#[derive(Debug)]
pub struct Measured {
    simulated: KernelEvaluator<PlainPlatform>,
}

impl Measured {
    /// Makes the other half of `simulated`.
    pub fn open(
        opening: &Opening<'_>,
        simulated: KernelEvaluator<PlainPlatform>,
    ) -> TwinBench<Self> {
        let engine = format!("made-up device machine={}", opening.machine);
        let use_cache = opening.settings.use_cache;
        let device = Self { simulated };
        TwinBench::new(device, engine, ("made-up device", &[]), use_cache)
    }
}

impl Twin for Measured {
    type Measured = Paired;

    fn simulated(&self) -> &dyn Bench {
        &self.simulated
    }

    fn judge(
        &self,
        source: &str,
        _: ContentHash,
        clock: &mut TierClock,
    ) -> Result<Result<Paired, Verdict>, EvalError> {
        let evaluation = clock.measure("simulate", || self.simulated.evaluate(source))?;
        let Some(candidate) = evaluation.cost() else {
            let found = evaluation.diagnostics;
            return Ok(Err(Verdict::failed(evaluation.outcome, found)));
        };
        let baseline = self.simulated.problem().kernel("baseline");
        let baseline = baseline.map_err(|error| EvalError::Fault(error.to_string()))?;
        let base = self.simulated.evaluate(baseline)?.cost();
        let base = base.ok_or_else(|| EvalError::Fault("the baseline is not right".into()))?;
        let mut device = Device {
            cycles: [candidate, base].map(|it| it.value as f64),
            noise: Seed(3),
        };
        let effort = Effort {
            wall: Duration::MAX,
            ..Effort::default()
        };
        let paired = clock.measure("measure", || {
            compare(&mut device, Seed(4), effort, Duration::MAX)
        });
        paired
            .map(Ok)
            .map_err(|unsteady| EvalError::Fault(format!("the device is not steady: {unsteady:?}")))
    }

    fn floor(&self) -> Cost {
        let cycles = self.simulated.facts().floor.value as f64;
        Cost::nanoseconds((cycles * CYCLE_NS * (1.0 - SCATTER)) as u64, 0)
    }

    fn verdict(&self, paired: &Paired, engine: &str) -> Verdict {
        let compiler = self.simulated.facts().compiler();
        compared(paired).verdict(
            engine,
            (self.floor(), compiler),
            BTreeMap::new(),
            (WORDS.to_owned(), Vec::new()),
        )
    }

    fn profile(&self, paired: &Paired) -> Profile {
        let data = serde_json::json!({ "candidate_ns": paired.candidate_ns });
        measured_profile(WORDS, data)
    }
}

fn compared(paired: &Paired) -> Compared<'_> {
    Compared {
        candidate_ns: &paired.candidate_ns,
        ratio: paired.interval.ends(),
    }
}

/// A candidate and the problem's own kernel on the device.
struct Device {
    /// Cycles of a call, by side.
    cycles: [f64; 2],
    noise: Seed,
}

impl Sides for Device {
    type Failure = Interval;

    fn measure(&mut self, side: Side) -> Result<f64, Interval> {
        let share = self.noise.below(1001) as f64 / 500.0 - 1.0;
        let cycles = self.cycles[usize::from(side == Side::Base)];
        Ok(cycles * CYCLE_NS * (1.0 + SCATTER * share))
    }

    fn unsteady(&self, _: Side, times: Interval) -> Interval {
        times
    }

    fn spent(&self) -> Duration {
        Duration::ZERO
    }

    fn calls(&self) -> usize {
        1
    }
}
