//! One problem on this computer: builds, tests and times its kernels.

use crate::base::SharedBase;
use crate::building::{Builder, Kind, Program};
use crate::calls::Calls;
use crate::cases::Case;
use crate::detection::Processor;
use crate::machine::Machine;
use crate::offences;
use crate::oracle;
use crate::pairs::{Effort, Failure, Paired, Pairs, Side};
use crate::peaks::Peaks;
use crate::statistics::{Difference, Interval, difference, median};
use crate::timing_core::TimingCore;
use crate::worker::WorkerSettings;
use autocomp_catalog::{Buffer, DataType, Problem, Target};
use autocomp_core::{ContentHash, ContentHasher, Cost, Diagnostic, Outcome, Seed};
use autocomp_eval::{CachePart, EvalError, FileStore};
use autocomp_toolchain::Toolchain;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// Hash of everything in this crate that decides results.
const SOURCES: &str = env!("AUTOCOMP_HOST_HASH");
/// Bytes that the buffers of all timed calls may take together.
const TIMED_BYTES: usize = 48 << 20;
/// Most calls of one measurement.
const MOST_CALLS: usize = 64;
/// A kernel that takes longer is tested on each input set only once, nanoseconds.
const TEST_ONCE_NS: f64 = 1e8;
/// Calls of a kernel that does nothing, from which the cost of a command is taken.
const OVERHEAD_CALLS: usize = 31;
/// How the problem's own kernel is timed against itself: for its absolute cost, and for the
/// noise of the machine.
const NOISE_EFFORT: Effort = Effort {
    least_rounds: 5,
    most_rounds: 9,
    wall: Duration::from_secs(2),
    half_width: 0.01,
    confidence: 0.9,
};
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
struct Base {
    shared: SharedBase,
    program: Program,
}

/// What all kernels have in common and takes time to find out.
#[derive(Debug)]
struct Prepared {
    tests: Vec<Case>,
    timed: Vec<Case>,
    /// Others, on which a kernel is timed again that seems to be the best one.
    fresh: OnceLock<Vec<Case>>,
    overhead_ns: f64,
}

/// One problem on this computer.
#[derive(Debug)]
pub struct HostBench {
    problem: Problem,
    pub(crate) machine: Machine,
    pub(crate) processor: Processor,
    builder: Builder,
    settings: Settings,
    worker: WorkerSettings,
    pub(crate) engine: String,
    pub(crate) peaks: Peaks,
    base_key: ContentHash,
    prepared: OnceLock<Prepared>,
    preparing: Mutex<()>,
    base: Mutex<Option<Base>>,
    /// The least cost that was told of a kernel, nanoseconds. Changed by who holds the base.
    least_ns: Mutex<f64>,
}

impl HostBench {
    /// Prepares what is needed before any kernel is there: the runtime, and
    /// what the machine can do.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if this computer lacks what the target needs.
    pub fn open(
        problem: Problem,
        target: &Target,
        machine_name: &str,
        settings: Settings,
    ) -> Result<Self, EvalError> {
        let machine = machine_of(target, machine_name)?;
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
        let features = processor.features.join(" ");
        let key = [SOURCES, &builder.key(), &processor.model, &features].join("\n");
        let peaks = {
            let core = TimingCore::take(&settings.cache_folder)?;
            let store = FileStore::new(&settings.cache_folder, CachePart::Answers);
            Peaks::of(&problem, &machine, &builder, worker, &core, (&store, &key))?
        };
        let mut hasher = ContentHasher::new("host evaluation");
        hasher.update(&problem.oracle_hash.0);
        hasher.update(key.as_bytes());
        hasher.update(&settings.seed.0.to_le_bytes());
        let base_key = hasher.finish();
        let model = match processor.model.as_str() {
            "" => "unnamed processor",
            model => model,
        };
        Ok(Self {
            engine: format!("{} machine={machine_name} on {model}", target.name),
            problem,
            machine,
            processor,
            builder,
            settings,
            worker,
            peaks,
            base_key,
            prepared: OnceLock::new(),
            preparing: Mutex::new(()),
            base: Mutex::new(None),
            least_ns: Mutex::new(f64::INFINITY),
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

    /// Returns what this machine can do.
    #[must_use]
    pub fn peaks(&self) -> Peaks {
        self.peaks
    }

    /// Returns the hash of everything but the kernel that decides results.
    pub(crate) fn base_key(&self) -> ContentHash {
        self.base_key
    }

    /// Returns the multiply-accumulate steps per nanosecond that a core does
    /// at most on the problem's operands.
    #[must_use]
    pub fn peak_macs_per_ns(&self) -> f64 {
        let is_narrow = |buffer: &Buffer| matches!(buffer.dtype, DataType::Int8 | DataType::UInt8);
        let has = |name: &str| {
            self.processor
                .features
                .iter()
                .any(|feature| feature == name)
        };
        let used = |name: &str| has(name) && self.machine.uses(name);
        let factor = if !self.problem.buffers.iter().any(is_narrow) {
            1.0
        } else if used("amx-int8") {
            // A tile product: 16 x 16 x 64 steps in 16 cycles.
            32.0
        } else if used("avx512vnni") || used("avxvnni") || used("dotprod") {
            // Four products for each lane of 32 bits.
            4.0
        } else {
            // Two of them, as 16-bit numbers.
            2.0
        };
        self.peaks.float_macs_per_ns * factor
    }

    /// Returns the cost that no right kernel can be below, as far as the
    /// measured peaks are the machine's.
    #[must_use]
    pub fn floor_cost(&self) -> Cost {
        let work = self.problem.work;
        let compute = work.macs as f64 / self.peak_macs_per_ns();
        let traffic = work.bytes as f64 / self.peaks.bytes_per_ns;
        Cost::nanoseconds(compute.max(traffic).max(1.0) as u64, 0)
    }

    /// Computes right answers and the cost of a command, unless that was done.
    ///
    /// # Errors
    /// [`EvalError::Input`] if the reference is broken.
    fn prepared(&self) -> Result<&Prepared, EvalError> {
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
        let reference = built(
            &self.builder,
            "reference.c",
            &problem.reference,
            Kind::Reference,
        )?;
        let seed_of = |fresh| {
            if fresh {
                settings.timed_seed
            } else {
                settings.seed
            }
        };
        let sets = problem.input_sets.iter();
        let mut tests: Vec<Case> = sets
            .map(|set| Case::draw(problem, set, seed_of(set.fresh)))
            .collect();
        oracle::answer(problem, &reference, self.worker, &mut tests)?;
        let mut timed = timed_cases(problem, settings.timed_seed);
        oracle::answer(problem, &reference, self.worker, &mut timed)?;
        Ok(Prepared {
            tests,
            timed,
            fresh: OnceLock::new(),
            overhead_ns: self.overhead()?,
        })
    }

    /// Returns inputs with right answers on which no kernel was timed the first time. The
    /// caller holds the base.
    fn fresh<'p>(&self, prepared: &'p Prepared) -> Result<&'p [Case], EvalError> {
        if let Some(fresh) = prepared.fresh.get() {
            return Ok(fresh);
        }
        let reference = built(
            &self.builder,
            "reference.c",
            &self.problem.reference,
            Kind::Reference,
        )?;
        let mut fresh = timed_cases(&self.problem, self.settings.timed_seed.derive("fresh"));
        oracle::answer(&self.problem, &reference, self.worker, &mut fresh)?;
        Ok(prepared.fresh.get_or_init(|| fresh))
    }

    /// Computes right answers, unless that was done.
    ///
    /// # Errors
    /// [`EvalError::Input`] if the reference is broken.
    pub fn make_answers(&self) -> Result<(), EvalError> {
        self.prepared().map(|_| ())
    }

    /// Builds a kernel.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the machine does not allow to build.
    pub fn build(&self, source: &str) -> Result<Result<Program, Vec<Diagnostic>>, EvalError> {
        // The declaration makes the compiler compare the types of parameters.
        let text = format!("{source}\n{};\n", self.problem.signature);
        let built = self.builder.build("kernel.c", &text, Kind::Kernel)?;
        let lines = source.lines().count() as u32;
        Ok(built.map_err(|mut found| {
            for diagnostic in &mut found {
                if diagnostic
                    .location
                    .take_if(|place| lines < place.line)
                    .is_some()
                {
                    diagnostic.notes.clear();
                    diagnostic.remedy =
                        Some(format!("define `{} {{ … }}`", self.problem.signature));
                }
            }
            found
        }))
    }

    /// Tests a kernel on every input set, in one worker: in order, and again
    /// in the opposite order, which shows what is kept between calls.
    ///
    /// # Errors
    /// [`EvalError`] if the machine does not allow to run kernels.
    pub fn test(&self, program: &Program, source: &str) -> Result<Tested, EvalError> {
        let prepared = self.prepared()?;
        let tests = &prepared.tests;
        let mut calls = Calls::new(&self.problem, tests.len(), self.settings.seed)?;
        let mut worker = calls.start(program, self.worker)?;
        let mut call_ns = f64::INFINITY;
        let forward: Vec<usize> = (0..tests.len()).collect();
        let backward: Vec<usize> = forward.iter().rev().copied().collect();
        for (pass, order) in [forward, backward].into_iter().enumerate() {
            for set in order {
                let case = &tests[set];
                calls.fill(set, case);
                match calls.call(&mut worker, set, &[case]) {
                    Ok(spent) => {
                        let own = spent.cpu_ns as f64 - prepared.overhead_ns;
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

    /// Times a kernel that is right against a base that others are timed against, too. One
    /// that seems to be better than all before is timed once more, on inputs of its own,
    /// and only that counts: the best of many measurements is better than its kernel.
    ///
    /// # Errors
    /// [`EvalError`] if the machine does not allow to time kernels, or the
    /// problem's own kernel is not right.
    pub fn time(&self, program: Program, source: &str, call_ns: f64) -> Result<Timed, EvalError> {
        let prepared = self.prepared()?;
        let mut base = self.base();
        let core = TimingCore::take(&self.settings.cache_folder)?;
        let mut pairs = self.pairs(&core, prepared, &prepared.timed)?;
        self.find_base(&mut base, &mut pairs)?;
        let Some(known) = base.as_ref() else {
            return Err(EvalError::Fault(
                "there is no kernel to time against".into(),
            ));
        };
        let candidate = Side {
            program: &program,
            call_ns,
        };
        let other = Side {
            program: &known.program,
            call_ns: known.shared.call_ns,
        };
        let mut least_ns = self.least_ns.lock().unwrap_or_else(PoisonError::into_inner);
        let mut compared = pairs.compare(candidate, other, self.settings.effort);
        if let Ok(paired) = &compared
            && known.shared.call_ns * paired.interval.median < *least_ns
        {
            pairs = self.pairs(&core, prepared, self.fresh(prepared)?)?;
            compared = pairs.compare(candidate, other, self.settings.effort);
        }
        let paired = match compared {
            Ok(paired) => paired,
            Err(Failure::Candidate(offence)) => {
                let (outcome, found) = offences::verdict(offence, pairs.calls(), &program, source);
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
        if interval.high < NEW_BASE {
            let shared = SharedBase {
                source: source.to_owned(),
                call_ns: timing.call_ns,
                baseline_ns,
                noise,
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
        let mut pairs = self.pairs(&core, prepared, &prepared.timed)?;
        let side = |(program, call_ns)| Side { program, call_ns };
        let compared = pairs.compare(side(candidate), side(base), effort);
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
    ) -> Result<Pairs<'b>, EvalError> {
        let settings = WorkerSettings {
            core: core.core(),
            ..self.worker
        };
        Pairs::new(
            &self.problem,
            cases,
            settings,
            prepared.overhead_ns,
            core.seed(),
        )
    }

    fn base(&self) -> MutexGuard<'_, Option<Base>> {
        // A panic leaves either base in place.
        self.base.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes `base` the one that all processes share, the first one if there
    /// is none yet. The caller has the timing core.
    fn find_base(&self, base: &mut Option<Base>, pairs: &mut Pairs<'_>) -> Result<(), EvalError> {
        let folder = &self.settings.cache_folder;
        match SharedBase::read(folder, &self.base_key) {
            Some(shared) if base.as_ref().is_some_and(|own| own.shared == shared) => {}
            Some(shared) => {
                let program = self.build(&shared.source)?;
                *base = match program {
                    Ok(program) => Some(Base { shared, program }),
                    Err(_) => Some(self.first_base(pairs)?),
                };
            }
            None => {
                let first = self.first_base(pairs)?;
                first.shared.write(folder, &self.base_key);
                *base = Some(first);
            }
        }
        Ok(())
    }

    /// Makes the problem's own kernel the first base.
    fn first_base(&self, pairs: &mut Pairs<'_>) -> Result<Base, EvalError> {
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
        let program = built(&self.builder, "baseline.c", source, Kind::Kernel)?;
        let call_ns = match self.test(&program, source)? {
            Tested::Right { call_ns } => call_ns,
            Tested::Failed(_, found) => return Err(wrong(&found.message)),
        };
        let side = Side {
            program: &program,
            call_ns,
        };
        let itself = pairs
            .compare(side, side, NOISE_EFFORT)
            .map_err(|failure| match failure {
                Failure::Environment(error) => error,
                Failure::Candidate(offence) | Failure::Base(offence) => {
                    wrong(&format!("{offence:?}"))
                }
            })?;
        let times: Vec<f64> = [itself.candidate_ns, itself.base_ns].concat();
        let call_ns = median(&times);
        Ok(Base {
            shared: SharedBase {
                source: source.to_owned(),
                call_ns,
                baseline_ns: call_ns,
                noise: itself.interval.half_width(),
            },
            program,
        })
    }

    /// Returns what a command costs whose calls do nothing.
    fn overhead(&self) -> Result<f64, EvalError> {
        let source = format!("{} {{}}\n", self.problem.signature);
        let program = built(&self.builder, "empty.c", &source, Kind::Kernel)?;
        let core = TimingCore::take(&self.settings.cache_folder)?;
        let mut calls = Calls::new(&self.problem, 1, self.settings.seed)?;
        let settings = WorkerSettings {
            core: core.core(),
            ..self.worker
        };
        let mut worker = calls.start(&program, settings)?;
        let mut times = Vec::new();
        for _ in 0..OVERHEAD_CALLS {
            let spent = worker.call(0, 1).map_err(|death| {
                EvalError::Fault(format!("a kernel that does nothing fails: {death:?}"))
            })?;
            times.push(spent.cpu_ns as f64);
        }
        Ok(median(&times))
    }
}

/// Reads the description of a machine of `target`.
///
/// # Errors
/// [`EvalError::Input`] with the file and what is wrong in it.
pub fn machine_of(target: &Target, name: &str) -> Result<Machine, EvalError> {
    let unusable = |message: String| EvalError::Input {
        message,
        remedies: vec![format!(
            "correct machines/{name}.toml in the folder of target {}",
            target.name
        )],
    };
    let text = target
        .machine(Some(name))
        .map_err(|error| unusable(error.to_string()))?;
    Machine::parse(text)
        .map_err(|error| unusable(format!("machine {name} of target {}: {error}", target.name)))
}

/// Draws the inputs of timed calls: of the first input set, no two alike, as
/// many as one measurement may need and one to warm up.
fn timed_cases(problem: &Problem, seed: Seed) -> Vec<Case> {
    let bytes: usize = problem.buffers.iter().map(Buffer::bytes).sum();
    let count = (TIMED_BYTES / bytes.max(1)).clamp(2, MOST_CALLS + 1);
    problem.input_sets.first().map_or_else(Vec::new, |set| {
        (0..count)
            .map(|idx| Case::draw(problem, set, seed.derive(&format!("timed {idx}"))))
            .collect()
    })
}

fn check_processor(
    target: &Target,
    machine: &Machine,
    processor: &Processor,
) -> Result<(), EvalError> {
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

pub(crate) fn built(
    builder: &Builder,
    name: &str,
    source: &str,
    kind: Kind,
) -> Result<Program, EvalError> {
    builder.build(name, source, kind)?.map_err(|found| {
        let said: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
        EvalError::Input {
            message: format!("{name} does not build: {}", said.join("; ")),
            remedies: vec![format!("correct {name} of the problem")],
        }
    })
}
