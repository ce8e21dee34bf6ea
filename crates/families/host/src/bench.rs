//! One problem on this computer: builds, tests and times its kernels.

mod preparation;
mod testing;
mod timing;

pub use testing::{Right, Tested};
pub use timing::{Timed, Timing};

use crate::detection::Processor;
use crate::machine::{Machine, machine_of};
use crate::peaks::Peaks;
use crate::timing_core::TimingCore;
use autocomp_catalog::{Buffer, DataType, Problem, Target};
use autocomp_core::{ContentHash, ContentHasher, Cost, Seed};
use autocomp_eval::doubts::WorkField;
use autocomp_eval::{CachePart, EvalError, FileStore};
use autocomp_measuring::Effort;
use autocomp_native::{Builder, WorkerSettings};
use autocomp_toolchain::Toolchain;
use preparation::Prepared;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;
use timing::Base;

/// Share of what the multiply-accumulate steps take at the measured peak that is certain.
const CERTAIN_COMPUTE: f64 = 0.85;
/// Share of what the bytes take at the measured peak that is certain: a first cache moves
/// about three times as much as a second one.
const CERTAIN_TRAFFIC: f64 = 0.25;

/// Hash of all code that decides results.
const SOURCES: &str = env!("AUTOCOMP_HOST_HASH");
/// Hash of what of it costs come from, which a run goes on with.
const IDENTITY: &str = env!("AUTOCOMP_HOST_IDENTITY");

/// What a bench is opened with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The compiler.
    pub toolchain: Toolchain,
    /// Folder for programs while they are in use.
    pub cache_folder: PathBuf,
    /// How long and how precisely kernels are timed.
    pub effort: Effort,
    /// Processor time that one command of a worker may take.
    pub command_time: Duration,
    /// Processor time that tests and timings of one kernel may take together.
    pub evaluation_time: Duration,
    /// Seed of test inputs, and of the order of measurements.
    pub seed: Seed,
    /// Seed of the inputs of timed calls. It should be nobody's to know.
    pub timed_seed: Seed,
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
    peaks: Mutex<Peaks>,
    /// What decides peaks, but for the problem's size.
    peaks_key: String,
    base_key: ContentHash,
    identity: ContentHash,
    prepared: OnceLock<Prepared>,
    preparing: Mutex<()>,
    base: Mutex<Option<Base>>,
    /// The least cost that was told of a kernel, nanoseconds. Changed by who holds the base.
    least_ns: Mutex<f64>,
}

impl HostBench {
    /// Finds out what the machine can do. Nothing is compiled before it is needed, so
    /// that a process costs little that opens a bench only to have another one evaluate.
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
        machine.check(&target.name, &processor)?;
        let flags = machine.flags_for(&processor.features);
        let builder = Builder::new(
            settings.toolchain.clone(),
            &machine.architecture,
            &flags,
            &problem,
            &settings.cache_folder,
        )?;
        let worker = WorkerSettings {
            core: None,
            tile_state: flags.iter().any(|flag| flag.starts_with("-mamx")),
            command_time: settings.command_time,
        };
        let features = processor.features.join(" ");
        let of_code = |code: &str| [code, &builder.key(), &processor.model, &features].join("\n");
        let key = of_code(SOURCES);
        let peaks = {
            let core = TimingCore::take(&settings.cache_folder)?;
            let store = FileStore::new(&settings.cache_folder, CachePart::Answers);
            Peaks::of(&problem, &machine, &builder, worker, &core, (&store, &key))?
        };
        let hash = |key: &str| {
            let mut hasher = ContentHasher::new("host evaluation");
            hasher.update(&problem.oracle_hash.0);
            hasher.update(key.as_bytes());
            hasher.update(&settings.seed.0.to_le_bytes());
            hasher.finish()
        };
        let (base_key, identity) = (hash(&key), hash(&of_code(IDENTITY)));
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
            peaks: Mutex::new(peaks),
            peaks_key: key,
            base_key,
            identity,
            prepared: OnceLock::new(),
            preparing: Mutex::new(()),
            base: Mutex::new(None),
            least_ns: Mutex::new(f64::INFINITY),
        })
    }

    /// Returns `source` with the declaration of the problem's function behind it, which makes
    /// the compiler compare the types of parameters, and what calls it with arguments.
    fn completed(&self, source: &str) -> String {
        let Problem { signature, .. } = &self.problem;
        format!("{source}\n{signature};\n{}", self.problem.wrapper())
    }

    /// Returns whether all buffers keep their alignment if they end where a page does.
    fn is_aligned_at_the_end(&self) -> bool {
        let buffers = &self.problem.buffers;
        buffers
            .iter()
            .all(|it| (it.bytes() as u64).is_multiple_of(it.alignment))
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
        *self.peaks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Measures peaks anew and keeps the greater ones: others may have had the processor when
    /// they were measured first.
    pub(crate) fn raise_peaks(&self) -> Result<(), EvalError> {
        let core = TimingCore::take(&self.settings.cache_folder)?;
        let (problem, machine) = (&self.problem, &self.machine);
        let anew = Peaks::measured(problem, machine, &self.builder, self.worker, &core)?;
        let mut peaks = self.peaks.lock().unwrap_or_else(PoisonError::into_inner);
        *peaks = peaks.greatest(anew);
        let store = FileStore::new(&self.settings.cache_folder, CachePart::Answers);
        peaks.keep(problem, (&store, &self.peaks_key));
        Ok(())
    }

    /// Returns the hash of everything but the kernel that decides results.
    pub(crate) fn base_key(&self) -> ContentHash {
        self.base_key
    }

    /// Returns the identity of what evaluates.
    pub(crate) fn identity(&self) -> ContentHash {
        self.identity
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
        self.peaks().float_macs_per_ns * factor
    }

    /// Returns what a kernel would cost that computes and moves at the measured peaks: what
    /// percentages of peak refer to.
    #[must_use]
    pub fn cost_at_peak(&self) -> Cost {
        let (compute, traffic) = self.at_peak();
        Cost::nanoseconds(compute.max(traffic).max(1.0) as u64, 0)
    }

    /// Returns the cost that no right kernel can be below: peaks are measured, too, and
    /// nearer caches move more than the copy whose peak was measured.
    #[must_use]
    pub fn floor_cost(&self) -> Cost {
        let (compute, traffic) = self.at_peak();
        let floor = (compute * CERTAIN_COMPUTE).max(traffic * CERTAIN_TRAFFIC);
        Cost::nanoseconds(floor.max(1.0) as u64, 0)
    }

    /// Returns the fields of `work` that say more than a right kernel of this cost can have
    /// done.
    pub(crate) fn refuted(&self, call_ns: f64) -> Vec<WorkField> {
        let (compute, traffic) = self.at_peak();
        let bounds = [
            (WorkField::Macs, compute * CERTAIN_COMPUTE),
            (WorkField::Bytes, traffic * CERTAIN_TRAFFIC),
        ];
        let refuted = bounds.iter().filter(|(_, bound)| call_ns < bound.floor());
        refuted.map(|(field, _)| *field).collect()
    }

    /// Returns what the multiply-accumulate steps and the bytes take at the measured peaks,
    /// nanoseconds.
    fn at_peak(&self) -> (f64, f64) {
        let work = self.problem.work;
        (
            work.macs as f64 / self.peak_macs_per_ns(),
            work.bytes as f64 / self.peaks().bytes_per_ns,
        )
    }
}
