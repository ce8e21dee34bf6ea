//! One problem on this computer: builds, tests and times its kernels.

use crate::building::{Builder, Kind, Program};
use crate::calls::Calls;
use crate::cases::Case;
use crate::detection::Processor;
use crate::machine::Machine;
use crate::offences;
use crate::oracle;
use crate::pairs::{Effort, Failure, Paired, Pairs, Side};
use crate::statistics::{Difference, difference, median};
use crate::timing_core::TimingCore;
use crate::worker::WorkerSettings;
use autocomp_core::{Diagnostic, Outcome, Seed};
use autocomp_eval::EvalError;
use autocomp_toolchain::Toolchain;
use autocomp_catalog::{Problem, Target};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Bytes that the buffers of all timed calls may take together.
const TIMED_BYTES: usize = 48 << 20;
/// Most calls of one measurement.
const MOST_CALLS: usize = 64;
/// A kernel that takes longer is tested on each input set only once, nanoseconds.
const TEST_ONCE_NS: f64 = 1e8;
/// Calls of a kernel that does nothing, from which the cost of a command is taken.
const OVERHEAD_CALLS: usize = 31;
/// Measurements from which the absolute cost of the first base is taken.
const BASE_MEASUREMENTS: usize = 5;
/// A kernel that takes less than this share of the base is the next base.
const NEW_BASE: f64 = 0.7;
/// Least difference that is told apart from none, as a share.
const LEAST_BAND: f64 = 0.005;

/// What a bench is opened with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The compiler.
    pub toolchain: Toolchain,
    /// Folder for programs while they are in use.
    pub cache_folder: PathBuf,
    /// How long and how precisely kernels are timed.
    pub effort: Effort,
    /// Wall time that one command of a worker may take.
    pub command_time: Duration,
    /// Seed of test inputs, and of the order of measurements.
    pub seed: Seed,
    /// Seed of the inputs of timed calls. It should be nobody's to know.
    pub timed_seed: Seed,
}

/// What tests found.
#[derive(Debug)]
pub enum Tested {
    /// All outputs are right; roughly what a call takes, nanoseconds.
    Right {
        /// Processor time of the fastest call.
        call_ns: f64,
    },
    /// Something is wrong.
    Failed(Outcome, Box<Diagnostic>),
}

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
    /// What is said of the kernel compared with the base.
    pub difference: Difference,
}

/// The kernel that others are timed against.
#[derive(Debug)]
struct Base {
    program: Program,
    call_ns: f64,
}

/// One problem on this computer.
#[derive(Debug)]
pub struct Bench {
    problem: Problem,
    builder: Builder,
    settings: Settings,
    worker: WorkerSettings,
    tests: Vec<Case>,
    timed: Vec<Case>,
    overhead_ns: f64,
    base: Mutex<Option<Base>>,
}

impl Bench {
    /// Prepares everything that the kernels of `problem` have in common: the
    /// runtime, inputs and their right answers.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if this computer lacks what the target needs.
    pub fn open(
        problem: Problem,
        target: &Target,
        machine: Option<&str>,
        settings: Settings,
    ) -> Result<Self, EvalError> {
        let input = |message: String| EvalError::Input {
            message,
            remedies: vec!["correct the machine's file of the target".into()],
        };
        let text = target
            .machine(machine)
            .map_err(|error| input(error.to_string()))?;
        let machine = Machine::parse(text).map_err(input)?;
        let processor = Processor::detect();
        check_processor(target, &machine, &processor)?;
        let flags = machine.flags_for(&processor.features);
        let builder = Builder::new(
            settings.toolchain.clone(),
            &machine.architecture,
            &flags,
            &problem.entry,
            &settings.cache_folder,
        )?;
        let worker = WorkerSettings {
            core: None,
            tile_state: flags.iter().any(|flag| flag.starts_with("-mamx")),
            command_time: settings.command_time,
        };
        let reference = built(&builder, "reference.c", &problem.reference, Kind::Reference)?;
        let mut tests: Vec<Case> = problem
            .input_sets
            .iter()
            .map(|set| Case::draw(&problem, set, settings.seed))
            .collect();
        oracle::answer(&problem, &reference, worker, &mut tests)?;
        let mut timed = timed_cases(&problem, settings.timed_seed);
        oracle::answer(&problem, &reference, worker, &mut timed)?;
        let overhead_ns = overhead(&builder, &problem, worker, &settings)?;
        Ok(Self {
            problem,
            builder,
            settings,
            worker,
            tests,
            timed,
            overhead_ns,
            base: Mutex::new(None),
        })
    }

    /// Returns the problem.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Returns what builds kernels.
    #[must_use]
    pub fn builder(&self) -> &Builder {
        &self.builder
    }

    /// Returns the processor time that a command takes without any call, nanoseconds.
    #[must_use]
    pub fn overhead_ns(&self) -> f64 {
        self.overhead_ns
    }

    /// Builds a kernel.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the machine does not allow to build.
    pub fn build(&self, source: &str) -> Result<Result<Program, Vec<Diagnostic>>, EvalError> {
        self.builder.build("kernel.c", source, Kind::Kernel)
    }

    /// Tests a kernel on every input set, in one worker: in order, and again
    /// in the opposite order, which shows what is kept between calls.
    ///
    /// # Errors
    /// [`EvalError`] if the machine does not allow to run kernels.
    pub fn test(&self, program: &Program, source: &str) -> Result<Tested, EvalError> {
        let mut calls = Calls::new(&self.problem, self.tests.len(), self.settings.seed)?;
        let mut worker = calls.start(program, self.worker)?;
        let mut call_ns = f64::INFINITY;
        let forward: Vec<usize> = (0..self.tests.len()).collect();
        let backward: Vec<usize> = forward.iter().rev().copied().collect();
        for (pass, order) in [forward, backward].into_iter().enumerate() {
            for set in order {
                let case = &self.tests[set];
                calls.fill(set, case);
                match calls.call(&mut worker, set, &[case]) {
                    Ok(spent) => {
                        let own = spent.cpu_ns as f64 - self.overhead_ns;
                        call_ns = call_ns.min(own.max(1.0));
                    }
                    Err(offence) => {
                        let (outcome, found) = offences::verdict(offence, &calls, program, source);
                        return Ok(Tested::Failed(outcome, Box::new(found)));
                    }
                }
            }
            if pass == 0 && TEST_ONCE_NS < call_ns {
                break;
            }
        }
        Ok(Tested::Right { call_ns })
    }

    /// Times a kernel that is right against the fastest one known so far.
    ///
    /// # Errors
    /// [`EvalError`] if the machine does not allow to time kernels, or the
    /// problem's own kernel is not right.
    pub fn time(&self, program: Program, source: &str, call_ns: f64) -> Result<Timed, EvalError> {
        let core = TimingCore::take(&self.settings.cache_folder)?;
        let mut pairs = self.pairs(&core)?;
        let mut base = self.base();
        if base.is_none() {
            *base = Some(self.first_base(&mut pairs)?);
        }
        let Some(known) = base.as_mut() else {
            return Err(EvalError::Fault("there is no kernel to time against".into()));
        };
        let candidate = Side { program: &program, call_ns };
        let other = Side { program: &known.program, call_ns: known.call_ns };
        let paired = match pairs.compare(candidate, other, self.settings.effort) {
            Ok(paired) => paired,
            Err(Failure::Candidate(offence)) => {
                let (outcome, found) = offences::verdict(offence, pairs.calls(), &program, source);
                return Ok(Timed::Failed(outcome, Box::new(found)));
            }
            Err(Failure::Base(offence)) => {
                return Err(EvalError::Fault(format!(
                    "a kernel that was right before is not any more: {offence:?}"
                )));
            }
            Err(Failure::Environment(error)) => return Err(error),
        };
        let interval = paired.interval;
        let timing = Timing {
            call_ns: known.call_ns * interval.median,
            spread_ppm: (interval.half_width() * 1e6).min(1e6) as u32,
            difference: difference(&interval, LEAST_BAND),
            paired,
        };
        if interval.high < NEW_BASE {
            *known = Base { program, call_ns: timing.call_ns };
        }
        Ok(Timed::Cost(timing))
    }

    /// Times one program against another, both of them right.
    ///
    /// # Errors
    /// [`EvalError`] if one of them is not, or the machine does not allow it.
    pub fn compare(&self, candidate: (&Program, f64), base: (&Program, f64), effort: Effort) -> Result<Paired, EvalError> {
        let core = TimingCore::take(&self.settings.cache_folder)?;
        let mut pairs = self.pairs(&core)?;
        let side = |(program, call_ns)| Side { program, call_ns };
        pairs
            .compare(side(candidate), side(base), effort)
            .map_err(|failure| match failure {
                Failure::Environment(error) => error,
                Failure::Candidate(offence) | Failure::Base(offence) => {
                    EvalError::Fault(format!("a kernel that was right is not any more: {offence:?}"))
                }
            })
    }

    fn pairs(&self, core: &TimingCore) -> Result<Pairs<'_>, EvalError> {
        let settings = WorkerSettings {
            core: core.core(),
            ..self.worker
        };
        Pairs::new(&self.problem, &self.timed, settings, self.overhead_ns, core.seed())
    }

    fn base(&self) -> MutexGuard<'_, Option<Base>> {
        // A panic leaves either base in place.
        self.base.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the problem's own kernel the first base.
    fn first_base(&self, pairs: &mut Pairs<'_>) -> Result<Base, EvalError> {
        let source = self
            .problem
            .kernel("baseline")
            .map_err(|error| EvalError::Input {
                message: error.to_string(),
                remedies: vec!["add baseline.c to the problem".into()],
            })?;
        let program = built(&self.builder, "baseline.c", source, Kind::Kernel)?;
        let call_ns = match self.test(&program, source)? {
            Tested::Right { call_ns } => call_ns,
            Tested::Failed(_, found) => {
                return Err(EvalError::Input {
                    message: format!("baseline.c of {} is not right: {}", self.problem.name, found.message),
                    remedies: vec!["correct baseline.c, reference.c or the tolerance".into()],
                });
            }
        };
        let mut times = Vec::new();
        for _ in 0..BASE_MEASUREMENTS {
            let side = Side { program: &program, call_ns };
            let time = pairs.measured(side, (1, 1)).map_err(|failure| match failure {
                Failure::Environment(error) => error,
                Failure::Candidate(offence) | Failure::Base(offence) => EvalError::Input {
                    message: format!("baseline.c of {} is not right: {offence:?}", self.problem.name),
                    remedies: vec!["correct baseline.c".into()],
                },
            })?;
            times.push(time);
        }
        Ok(Base { program, call_ns: median(&times) })
    }
}

/// Draws the inputs of timed calls: of the first input set, no two alike, as
/// many as one measurement may need and one to warm up.
fn timed_cases(problem: &Problem, seed: Seed) -> Vec<Case> {
    let bytes: usize = problem.buffers.iter().map(autocomp_catalog::Buffer::bytes).sum();
    let count = (TIMED_BYTES / bytes.max(1)).clamp(2, MOST_CALLS + 1);
    problem.input_sets.first().map_or_else(Vec::new, |set| {
        (0..count)
            .map(|idx| Case::draw(problem, set, seed.derive(&format!("timed {idx}"))))
            .collect()
    })
}

fn check_processor(target: &Target, machine: &Machine, processor: &Processor) -> Result<(), EvalError> {
    let lacking = if machine.architecture == processor.architecture {
        machine.missing(&processor.features).join(", ")
    } else {
        format!("an {} processor", machine.architecture)
    };
    if lacking.is_empty() {
        return Ok(());
    }
    Err(EvalError::Environment {
        message: format!(
            "kernels for {} cannot run on this computer ({}), which lacks {lacking}",
            target.name,
            match processor.model.as_str() {
                "" => &processor.architecture,
                model => model,
            }
        ),
        remedies: match processor.target() {
            Some(name) => vec![format!("choose the target that fits: {name}")],
            None => vec!["use a computer with AVX2 or Neon".into()],
        },
    })
}

fn built(builder: &Builder, name: &str, source: &str, kind: Kind) -> Result<Program, EvalError> {
    builder.build(name, source, kind)?.map_err(|found| {
        let said: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
        EvalError::Input {
            message: format!("{name} does not build: {}", said.join("; ")),
            remedies: vec![format!("correct {name} of the problem")],
        }
    })
}

/// Returns what a command costs whose calls do nothing.
fn overhead(
    builder: &Builder,
    problem: &Problem,
    worker: WorkerSettings,
    settings: &Settings,
) -> Result<f64, EvalError> {
    let source = format!("{} {{}}\n", problem.signature);
    let program = built(builder, "empty.c", &source, Kind::Kernel)?;
    let core = TimingCore::take(&settings.cache_folder)?;
    let mut calls = Calls::new(problem, 1, settings.seed)?;
    let settings = WorkerSettings { core: core.core(), ..worker };
    let mut worker = calls.start(&program, settings)?;
    let mut times = Vec::new();
    for _ in 0..OVERHEAD_CALLS {
        let spent = worker
            .call(0, 1)
            .map_err(|death| EvalError::Fault(format!("a kernel that does nothing fails: {death:?}")))?;
        times.push(spent.cpu_ns as f64);
    }
    Ok(median(&times))
}
