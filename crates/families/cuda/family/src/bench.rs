//! One problem on one simulated GPU: runs, compares and times kernels.

mod clock;
mod experiment;
mod floor;
mod later_calls;
mod preparation;

mod trial;

pub(crate) use preparation::Ready;
pub(crate) use trial::compared;

use crate::compiler::KernelCompiler;
use crate::feedback::{self, Timed};
use autocomp_catalog::Problem;
use autocomp_core::{
    ContentHash, ContentHasher, Cost, Evaluation, Measurement, Outcome, Seed, Unit,
};
use autocomp_cuda_sim::timing::Machine;
use autocomp_eval::Evaluations;
use autocomp_eval::doubts::{self, Refutation, WorkField};
use autocomp_eval::inputs::Case;
use autocomp_eval::profile::{Profile, Profiled};
use autocomp_eval::{
    Bench, BenchFacts, EvalError, Evaluator, Opening, ThreadCount, TierClock, Verdict,
};
use autocomp_native::Reference;
use std::collections::BTreeMap;

/// Hash of everything in this crate and the simulator that decides results.
const SOURCES: &str = env!("AUTOCOMP_CUDA_HASH");
/// Hash of what of them costs come from, which a run goes on with.
const IDENTITY: &str = env!("AUTOCOMP_CUDA_IDENTITY");
/// Instructions of warps that one run of a kernel may take: some ten seconds of a processor.
const MOST_STEPS: u64 = 200_000_000;

/// One problem on one simulated GPU.
#[derive(Debug)]
pub struct CudaBench {
    problem: Problem,
    machine: Machine,
    engine: String,
    seed: Seed,
    reference: Reference,
    compiler: KernelCompiler,
    evaluations: Evaluations,
    identity: ContentHash,
    threads: ThreadCount,
    /// Whether the feedback on a right kernel tells what it would take without each cost.
    experiments: bool,
}

impl CudaBench {
    /// Finds the compiler and makes ready what is known of the problem.
    ///
    /// # Errors
    /// [`EvalError`] if the environment does not allow it.
    pub fn open(opening: Opening<'_>, machine: Machine) -> Result<Self, EvalError> {
        let (problem, target) = (opening.problem, opening.target);
        autocomp_eval::check_arguments(problem)?;
        let folder = &opening.surroundings.cache_folder;
        let toolchain = autocomp_toolchain::find_toolchain(opening.surroundings, opening.progress)?;
        let reference = Reference::new(problem, toolchain.clone(), folder)?;
        let compiler = KernelCompiler::new(problem, toolchain, &machine, folder)?;
        let text = target.machine(Some(opening.machine)).unwrap_or_default();
        let hash = |code: &str| {
            let mut hasher = ContentHasher::new("cuda evaluation");
            hasher.update(&problem.oracle_hash.0);
            hasher.update(code.as_bytes());
            hasher.update(reference.key().as_bytes());
            hasher.update(compiler.key().as_bytes());
            hasher.update(text.as_bytes());
            hasher.update(&opening.settings.seed.0.to_le_bytes());
            hasher.update(&[u8::from(opening.settings.experiments)]);
            hasher.finish()
        };
        let (base, identity) = (hash(SOURCES), hash(IDENTITY));
        Ok(Self {
            problem: problem.clone(),
            engine: format!("sim {} machine={} model=ptx", target.name, opening.machine),
            machine,
            seed: opening.settings.seed,
            reference,
            compiler,
            evaluations: Evaluations::simulated(
                base,
                opening.settings.use_cache.then_some(folder.as_path()),
            ),
            identity,
            threads: ThreadCount::new(opening.settings.threads),
            experiments: opening.settings.experiments,
        })
    }

    /// Says whether a kernel is right and how long it takes, if `with_experiments` without each
    /// of the costs too, and returns what runs.
    pub(crate) fn judge(
        &self,
        source: &str,
        clock: &mut TierClock,
        with_experiments: bool,
    ) -> Result<Result<(Timed, Ready), Verdict>, EvalError> {
        let _busy = self.threads.take();
        let ready = match clock.measure("build", || self.prepare(source))? {
            Ok(ready) => ready,
            Err(verdict) => return Ok(Err(verdict)),
        };
        let right = match clock.measure("test", || self.test(source, &ready))? {
            Ok(right) => right,
            Err(verdict) => return Ok(Err(verdict)),
        };
        let time = || self.time(source, &ready, &right.case, &self.machine);
        let mut timed = match clock.measure("time", time)? {
            Ok(timed) => timed,
            Err(verdict) => return Ok(Err(verdict)),
        };
        if with_experiments {
            clock.measure("time", || {
                self.experiment(source, &ready, &right.case, &mut timed)
            })?;
        }
        let (macs, bytes) = self.floor_parts();
        let refuted = [(WorkField::Macs, macs), (WorkField::Bytes, bytes)];
        let fields: Vec<WorkField> = refuted
            .into_iter()
            .filter(|(_, floor)| timed.ns < *floor)
            .map(|(field, _)| field)
            .collect();
        if !fields.is_empty() {
            let refutation = Refutation {
                problem: &self.problem,
                fields: &fields,
                peaks: Some(self.peaks()),
                floor: self.floor(),
                cost: self.cost(&timed),
                did: String::new(),
                kernel: self.key(source).short(),
            };
            return Err(refutation.error());
        }
        timed.told.extend(right.told);
        Ok(Ok((timed, ready)))
    }

    /// Returns the problem.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Returns what gives right answers.
    #[must_use]
    pub fn reference(&self) -> &Reference {
        &self.reference
    }

    /// Returns the seed of inputs.
    pub(crate) fn seed(&self) -> Seed {
        self.seed
    }

    /// Returns the name of the compiler.
    pub(crate) fn compiler(&self) -> &str {
        self.compiler.name()
    }

    pub(crate) fn cost(&self, timed: &Timed) -> Cost {
        let spread = (self.machine.spread_percent * 10_000.0) as u32;
        Cost::nanoseconds(timed.ns.round().max(1.0) as u64, spread)
    }

    fn right(&self, timed: &Timed) -> Verdict {
        let cost = self.cost(timed);
        Verdict {
            outcome: Outcome::Ok,
            diagnostics: timed.told.clone(),
            measurement: Some(Measurement {
                cost,
                floor: self.floor(),
                percent_of_peak: self.floor().percent_of(cost),
                samples: Vec::new(),
                ratio_to_baseline: None,
                engine: self.engine.clone(),
                compiler: self.compiler.name().to_owned(),
                figures: BTreeMap::from([("launches".to_owned(), timed.launches.len() as u64)]),
            }),
            feedback: Some(feedback::feedback(timed)),
        }
    }
}

impl Evaluator for CudaBench {
    fn key(&self, source: &str) -> ContentHash {
        self.evaluations.key(source)
    }

    fn identity(&self) -> ContentHash {
        self.identity
    }

    fn evaluate(&self, source: &str) -> Result<Evaluation, EvalError> {
        self.evaluations.get(source, None, |clock| {
            let judged = self.judge(source, clock, self.experiments)?;
            Ok(judged.map_or_else(|verdict| verdict, |(timed, _)| self.right(&timed)))
        })
    }
}

impl Bench for CudaBench {
    fn doubts(&self) -> Result<Vec<String>, EvalError> {
        let cases = self.reference.cases("", self.seed)?;
        let cases = cases.map(|case| Ok((*case?).clone()));
        let cases: Vec<Case> = cases.collect::<Result<_, EvalError>>()?;
        Ok(doubts::of_problem(&self.problem, &cases))
    }

    fn facts(&self) -> BenchFacts {
        BenchFacts {
            key_base: self.evaluations.base(),
            identity: self.identity,
            unit: Unit::Nanoseconds,
            engine: self.engine.clone(),
            tools: vec![self.compiler.name().to_owned()],
            floor: self.floor(),
            device: None,
        }
    }

    fn profile(&self, source: &str) -> Result<Profiled, EvalError> {
        let mut clock = TierClock::default();
        let timed = match self.judge(source, &mut clock, true)? {
            Ok((timed, _)) => timed,
            Err(verdict) => {
                let evaluation = clock.finish(self.key(source), verdict);
                return Ok(Profiled::Failed(Box::new(evaluation)));
            }
        };
        Ok(Profiled::Right(Box::new(Profile {
            sections: feedback::sections(&timed, source),
            data: feedback::data(&timed),
            timeline: None,
        })))
    }
}
