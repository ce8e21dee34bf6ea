//! One problem on this computer: builds, tests and times its kernels.

mod preparing;
mod testing;
mod timing;

pub use testing::{Right, Tested};
pub use timing::{Timed, Timing};

use crate::building::Builder;
use crate::detection::Processor;
use crate::machine::{Machine, machine_of};
use crate::pairs::Effort;
use crate::peaks::Peaks;
use crate::timing_core::TimingCore;
use crate::worker::WorkerSettings;
use autocomp_catalog::{Buffer, DataType, Problem, Target};
use autocomp_core::{ContentHash, ContentHasher, Cost, Seed};
use autocomp_eval::{CachePart, EvalError, FileStore};
use autocomp_toolchain::Toolchain;
use preparing::Prepared;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;
use timing::Base;

/// Hash of everything in this crate that decides results.
const SOURCES: &str = env!("AUTOCOMP_HOST_HASH");

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
    pub(crate) peaks: Peaks,
    base_key: ContentHash,
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
            &problem.entry,
            &settings.cache_folder,
        )?;
        let worker = WorkerSettings {
            core: None,
            tile_state: flags.iter().any(|flag| flag.starts_with("-mamx")),
            is_library: false,
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
}
