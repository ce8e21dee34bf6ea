//! What a GPU is made of and how fast its parts are.

use super::machine_figures::{misread, placed};
use super::removals::Removal;
use super::tables::{Atomics, Barrier, Caches, Latencies, Overlap};
use crate::machine::Limits;
use serde::Deserialize;

/// A GPU. Rates are those of one SM in a cycle unless said.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Its name.
    pub name: String,
    /// What it is, in a sentence.
    pub description: String,
    /// Where the figures come from.
    pub basis: String,
    /// What the driver calls such GPUs.
    #[serde(default)]
    pub driver_names: Vec<String>,
    /// Architecture the compiler makes code for (`sm_89`).
    pub architecture: String,
    /// Multiprocessors.
    pub sms: u32,
    /// Clock under load, MHz.
    pub clock_mhz: f64,
    /// Clock while matrix units are used, MHz, if it is another.
    #[serde(default)]
    pub matrix_clock_mhz: Option<f64>,
    /// Threads of single-precision multiply-adds.
    pub fp32_lanes: f64,
    /// Threads of logic, shifts, comparisons, minima and additions of integers.
    pub alu_lanes: f64,
    /// Threads of integer multiplications.
    pub int_lanes: f64,
    /// Threads of double-precision multiply-adds.
    pub fp64_lanes: f64,
    /// Threads of the special functions and of most conversions.
    pub special_lanes: f64,
    /// Multiply-adds of halves with sums in single precision in the matrix units.
    pub tensor_macs: f64,
    /// Warps that an SM holds.
    pub warps: u32,
    /// Blocks that an SM holds.
    pub blocks: u32,
    /// Registers of an SM, 32 bits each.
    pub registers: u32,
    /// Bytes of shared memory of an SM.
    pub shared_bytes: u64,
    /// Bytes of shared memory that a block may have.
    pub block_shared_bytes: u64,
    /// Bytes of L1 and shared memory of an SM together.
    pub l1_bytes: u64,
    /// Bytes of the L1 in a cycle.
    pub l1_bytes_per_cycle: f64,
    /// Bytes of the L2 of the device.
    pub l2_bytes: u64,
    /// How many copies the L2 holds of what all SMs read: one in each of its parts.
    #[serde(default = "one")]
    pub l2_copies: f64,
    /// Bytes of the L2 of the device in a nanosecond.
    pub l2_bytes_per_ns: f64,
    /// Bytes that the L2 of the device takes in a nanosecond, if they were measured.
    #[serde(default)]
    pub l2_write_bytes_per_ns: Option<f64>,
    /// Bytes that are written to the memory of the device in a nanosecond while others are
    /// read, if they were measured.
    #[serde(default)]
    pub dram_write_bytes_per_ns: Option<f64>,
    /// Bytes of the memory of the device in a nanosecond, as reads reach it, or copies.
    pub dram_bytes_per_ns: f64,
    /// Bytes of the memory of the device in a nanosecond, as the data sheet says.
    pub dram_peak_bytes_per_ns: f64,
    /// Cycles until a load from shared memory is there.
    pub shared_latency: f64,
    /// Cycles until a load that hits the L1 is there.
    pub l1_latency: f64,
    /// Cycles until a load that hits the L2 is there.
    pub l2_latency: f64,
    /// Cycles until a load from the memory of the device is there.
    pub dram_latency: f64,
    /// Nanoseconds from one launch to the next of kernels that do nothing.
    pub launch_ns: f64,
    /// Nanoseconds from the start of one block to that of the next, on all SMs together.
    pub block_ns: f64,
    /// Bytes in a nanosecond from the computer to the device.
    pub host_bytes_per_ns: f64,
    /// How far estimates are from measured times, percent: half of the interval that a time
    /// lies in.
    pub spread_percent: f64,
    /// What warps of a block wait for that meet.
    pub barrier: Barrier,
    /// How caches and memory pass sectors on.
    pub caches: Caches,
    /// What atomic operations on memory of the device take.
    pub atomics: Atomics,
    /// How far what limits a launch goes on at the same time.
    pub overlap: Overlap,
    /// When results of instructions are there.
    pub latencies: Latencies,
    /// A cost that it lacks, in an experiment.
    #[serde(skip)]
    pub removed: Option<Removal>,
}

fn one() -> f64 {
    1.0
}

impl Machine {
    /// Reads a machine.
    ///
    /// # Errors
    /// What is wrong: the line where it has one, the key, the value and what that may be.
    pub fn parse(text: &str) -> Result<Self, String> {
        let machine: Self = toml::from_str(text).map_err(|error| misread(text, &error))?;
        match machine.misfit() {
            None => Ok(machine),
            Some((key, message)) => Err(placed(text, &key, message)),
        }
    }

    /// Returns the bytes that the L2 takes in a nanosecond: as measured, or as many as it gives.
    #[must_use]
    pub fn l2_write_bytes_per_ns(&self) -> f64 {
        self.l2_write_bytes_per_ns.unwrap_or(self.l2_bytes_per_ns)
    }

    /// Returns the bytes that are written to memory in a nanosecond.
    #[must_use]
    pub fn dram_write_bytes_per_ns(&self) -> f64 {
        self.dram_write_bytes_per_ns
            .unwrap_or(self.dram_bytes_per_ns)
    }

    /// Returns what it accepts.
    #[must_use]
    pub fn limits(&self) -> Limits {
        Limits {
            threads: 1024,
            shared_bytes: self.block_shared_bytes,
            static_shared_bytes: 49_152,
        }
    }

    /// Returns the nanoseconds of `macs` multiply-adds at peak: those of the matrix units, as
    /// wide as elements of `matrix_bytes` bytes allow, or else those in single precision.
    #[must_use]
    pub fn macs_ns(&self, macs: u64, matrix_bytes: Option<u32>) -> f64 {
        let lanes = match matrix_bytes {
            Some(bytes) => self.tensor_macs * 2.0 / f64::from(bytes.clamp(1, 4)),
            None => self.fp32_lanes,
        };
        macs as f64 / (lanes * f64::from(self.sms) * self.clock_mhz / 1000.0)
    }

    /// Returns the nanoseconds that `bytes` bytes take at least.
    #[must_use]
    pub fn bytes_ns(&self, bytes: u64, is_in_l2: bool) -> f64 {
        let rate = if is_in_l2 {
            self.l2_bytes_per_ns
        } else {
            self.dram_peak_bytes_per_ns
        };
        bytes as f64 / rate
    }
}
