//! Machines as data.
//!
//! Clocks, queues and bytes are those of the vendor's guides to the architecture; of each machine's
//! other figures its file says in `basis` what they rest on: documents, or a fit to published
//! latencies.

use serde::{Deserialize, Serialize};

use crate::diagnostic::{Failure, FailureKind, Outcome};
use crate::trace::Transfer;

/// One engine's rates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineRates {
    /// Clock in GHz.
    pub ghz: f64,
    /// Cycles added to each instruction's formula.
    pub overhead_cycles: f64,
    /// The same for copies out of the accumulators.
    pub psum_overhead_cycles: f64,
    /// Fewest cycles between two instructions.
    pub floor_cycles: f64,
    /// The same where the accumulators are read or written.
    pub psum_floor_cycles: f64,
    /// Cycles that are needed over those of the formula, as a factor.
    pub slowdown: f64,
    /// Slow-down of the matrix engine for four-byte inputs.
    #[serde(default)]
    pub fp32_factor: f64,
    /// Slow-down of the matrix engine where it spreads one row of four-byte elements over the
    /// partitions.
    #[serde(default)]
    pub spread_factor: f64,
}

/// Rates of the DMA queues.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransferRates {
    /// Number of queues.
    pub queues: usize,
    /// Bytes per nanosecond of one queue.
    pub bytes_per_ns: f64,
    /// Nanoseconds for each contiguous run.
    pub descriptor_ns: f64,
    /// Nanoseconds from the start to the first use of the data, beyond the transfer itself.
    pub latency_ns: f64,
    /// Nanoseconds for each element that a queue turns around one by one.
    pub transpose_ns: f64,
    /// Shares of the rate of a copy at which tiles are turned as blocks, from main memory and within
    /// the on-chip memory; 0 where all are turned one by one.
    #[serde(default)]
    pub turned_share: [f64; 2],
    /// Bytes per nanosecond of main memory.
    pub hbm_bytes_per_ns: f64,
    /// How many bytes that are read from main memory take the time of one that is written.
    #[serde(default = "one")]
    pub hbm_write_weight: f64,
    /// Nanoseconds that it takes to make the descriptors of a transfer while the kernel runs, one
    /// transfer after the other; 0 where the machine has them all made before.
    pub dynamic_ns: f64,
    /// Nanoseconds of work in each queue from which on no further transfer is started.
    #[serde(default = "backlog")]
    pub backlog_ns: f64,
    /// Longest loop whose transfers are written out before the kernel runs.
    pub unrolled_trips: u64,
    /// Partitions that share a queue, counted from the first of the on-chip memory; 0 where rows
    /// go to whatever queues have least to do.
    #[serde(default)]
    pub queue_partitions: u16,
    /// Nanoseconds for which all queues rest before each iteration of an affine loop that runs a
    /// number of times that is no multiple of [`Self::even_trips`].
    #[serde(default)]
    pub uneven_gap_ns: f64,
    /// See [`Self::uneven_gap_ns`].
    #[serde(default)]
    pub even_trips: u32,
    /// Bytes of main memory at a multiple of which a run begins that takes one descriptor; elsewhere
    /// it takes two. 0 where that does not matter.
    #[serde(default)]
    pub aligned_bytes: u32,
}

/// Factors of single instructions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstructionRates {
    /// Cycles for each element of a reciprocal on the vector engine.
    pub reciprocal: f64,
    /// Cycles for each element of an operation of the vector engine on two operands in the on-chip
    /// memory.
    pub two_operands: f64,
    /// Elements in each partition up to which the compiler joins iterations that move small pieces;
    /// 0 where it does not.
    #[serde(default)]
    pub joined_elements: u32,
    /// Whether copies and sums of two-byte types run at multiples of the rate.
    pub fast_sixteen_bit: bool,
}

/// A machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Short name.
    pub name: String,
    /// One line on it.
    pub description: String,
    /// What its figures rest on.
    pub basis: String,
    /// Generation of the core: 2, 3 or 4.
    pub generation: u8,
    /// On how many cores that share their main memory a kernel may be launched.
    #[serde(default = "one_core")]
    pub cores: usize,
    /// Nanoseconds of this file for one of the profiles that it is compared with. Every duration
    /// is divided by it and every rate multiplied when the file is read, so that latencies come
    /// out in nanoseconds of those profiles.
    #[serde(default = "one")]
    pub clock: f64,
    /// Bytes of on-chip memory for tiles in each partition.
    pub sbuf_bytes: u64,
    /// Bytes of accumulators in each partition.
    pub psum_bytes: u64,
    /// Nanoseconds before the first and after the last instruction.
    pub launch_ns: f64,
    /// Nanoseconds from the end of an instruction to the use of its result by another engine.
    pub tail_ns: f64,
    /// How many instructions ahead of the oldest unfinished one an engine may start.
    pub window: usize,
    /// Whether the vector engine excludes the others on the memories that they share.
    pub exclusions: bool,
    /// Whether iterations of loops in order overlap in kernels that the compiler rewrites.
    #[serde(default)]
    pub overlapping_loops: bool,
    /// The matrix engine.
    pub tensor: EngineRates,
    /// The vector engine.
    pub vector: EngineRates,
    /// The scalar engine.
    pub scalar: EngineRates,
    /// The general-purpose engine.
    pub gpsimd: EngineRates,
    /// The DMA queues.
    pub dma: TransferRates,
    /// Single instructions.
    pub rates: InstructionRates,
}

impl TransferRates {
    /// Nanoseconds that a transfer takes of all queues together.
    pub(crate) fn work_ns(&self, transfer: &Transfer) -> f64 {
        let descriptors = if transfer.aligned < self.aligned_bytes {
            2.0
        } else {
            1.0
        };
        let runs = f64::from(transfer.rows.max(1)) * f64::from(transfer.runs);
        let of_run =
            descriptors * self.descriptor_ns + f64::from(transfer.run_bytes) / self.bytes_per_ns;
        self.turned_ns(transfer, runs * of_run)
    }

    /// Nanoseconds of one queue for all of a transfer that would take it `copied` without turning
    /// anything around.
    pub(crate) fn turned_ns(&self, transfer: &Transfer, copied: f64) -> f64 {
        let is_from_hbm = 0 < transfer.hbm_read;
        let share = self.turned_share[usize::from(!is_from_hbm)];
        match (transfer.transposed, transfer.turned_blocks) {
            (0, _) => copied,
            (_, bytes) if 0 < bytes && 0.0 < share => bytes as f64 / (share * self.bytes_per_ns),
            (elements, _) => copied.max(elements as f64 * self.transpose_ns),
        }
    }
}

const fn one() -> f64 {
    1.0
}

const fn one_core() -> usize {
    1
}

const fn backlog() -> f64 {
    4000.0
}

const BUILT_IN: &[(&str, &str)] = &[
    (
        "trn1",
        include_str!("../../../../../../targets/trainium-trn1/machines/trn1.toml"),
    ),
    (
        "trn2",
        include_str!("../../../../../../targets/trainium-trn2/machines/trn2.toml"),
    ),
    (
        "trn3",
        include_str!("../../../../../../targets/trainium-trn3/machines/trn3.toml"),
    ),
];

impl Machine {
    /// Names of the machines that come with the crate.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// A machine that comes with the crate.
    ///
    /// # Errors
    /// `unknown-machine`.
    pub fn built_in(name: &str) -> Outcome<Self> {
        let text = BUILT_IN
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, text)| *text);
        match text {
            Some(text) => Self::parse(text),
            None => Err(Failure::new(
                FailureKind::Input,
                "unknown-machine",
                format!("there is no machine `{name}`"),
                "use trn1, trn2 or trn3, or a file of your own",
            )),
        }
    }

    /// Reads a machine from TOML.
    ///
    /// # Errors
    /// `machine-file` with what is wrong.
    pub fn parse(text: &str) -> Outcome<Self> {
        let mut machine: Self = toml::from_str(text).map_err(|error| {
            Failure::new(
                FailureKind::Input,
                "machine-file",
                error.to_string(),
                "compare with the machines that come with the program",
            )
        })?;
        let rates = [
            machine.clock,
            machine.tensor.ghz,
            machine.vector.ghz,
            machine.scalar.ghz,
            machine.gpsimd.ghz,
            machine.dma.bytes_per_ns,
            machine.dma.hbm_bytes_per_ns,
        ];
        if rates.iter().any(|r| !(r.is_finite() && *r > 0.0))
            || machine.dma.queues == 0
            || machine.window == 0
        {
            return Err(Failure::new(
                FailureKind::Input,
                "machine-file",
                "rates, queues and window must be positive",
                "correct the file",
            ));
        }
        machine.speed_up(machine.clock);
        Ok(machine)
    }

    /// Divides every duration by a factor.
    fn speed_up(&mut self, factor: f64) {
        let Self { dma, .. } = self;
        for rate in [
            &mut self.tensor.ghz,
            &mut self.vector.ghz,
            &mut self.scalar.ghz,
            &mut self.gpsimd.ghz,
            &mut dma.bytes_per_ns,
            &mut dma.hbm_bytes_per_ns,
        ] {
            *rate *= factor;
        }
        for duration in [
            &mut self.launch_ns,
            &mut self.tail_ns,
            &mut dma.descriptor_ns,
            &mut dma.latency_ns,
            &mut dma.transpose_ns,
            &mut dma.dynamic_ns,
            &mut dma.uneven_gap_ns,
            &mut dma.backlog_ns,
        ] {
            *duration /= factor;
        }
    }
}

/// Bytes of on-chip memory in each partition that the compiler of the first dialect keeps for
/// itself. The second dialect has all of it.
pub(crate) const COMPILER_SBUF: u64 = 16 << 10;

impl Machine {
    /// Returns the machine as kernels of a dialect find it.
    #[must_use]
    pub fn for_dialect(mut self, dialect: crate::Dialect) -> Self {
        if dialect == crate::Dialect::V2 {
            self.sbuf_bytes += COMPILER_SBUF;
        }
        self
    }
}

/// Habits of the compiler that are imitated; all can be switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passes {
    /// Loads of inputs that fit the on-chip memory as a whole are done once.
    pub load_cache: bool,
    /// Operations that give the same in every iteration of a loop are done once; sums into
    /// accumulators that hold zeros are left out.
    pub simplify: bool,
    /// Loops in order are run as written: what they load, they load when the last iteration is
    /// through with its work.
    pub rolled_loops: bool,
    /// Neighbouring instructions of an affine loop become one.
    pub vectorise: bool,
    /// Single-use results of the scalar engine go to the accumulators, which halves the time of
    /// the operation of the vector engine that reads them.
    pub accumulator_operands: bool,
    /// Descriptors of transfers are made as they run, unless the kernel says otherwise, on machines
    /// that can.
    pub dynamic_transfers: bool,
    /// Long loops are not written out: descriptors of their transfers are made as they run, on
    /// machines that can.
    pub dynamic_loops: bool,
    /// What does not fit the on-chip memory is spilled and re-loaded.
    pub spill: bool,
    /// Loops that are not written out evenly let the queues rest between iterations.
    pub uneven_loops: bool,
}

impl Passes {
    /// Nothing but spills.
    pub const PLAIN: Self = Self {
        load_cache: false,
        simplify: false,
        rolled_loops: false,
        vectorise: false,
        accumulator_operands: false,
        dynamic_transfers: false,
        dynamic_loops: false,
        spill: true,
        uneven_loops: false,
    };

    /// What is done to a kernel.
    #[must_use]
    pub fn of(evaluation: &crate::Evaluation) -> Self {
        if !evaluation.rewritten {
            return Self {
                dynamic_loops: evaluation.dialect == crate::Dialect::V1,
                dynamic_transfers: evaluation.dialect == crate::Dialect::V2,
                ..Self::PLAIN
            };
        }
        Self {
            load_cache: true,
            simplify: true,
            rolled_loops: true,
            vectorise: true,
            accumulator_operands: true,
            dynamic_transfers: false,
            dynamic_loops: false,
            spill: true,
            uneven_loops: true,
        }
    }
}
