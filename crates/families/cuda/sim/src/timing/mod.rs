//! How long launches take, estimated from what some of their blocks did.
//!
//! The compiler of the device is not asked, so what it makes of the steps is guessed
//! (`classes`). A launch takes as long as the busiest of: the pipes of an SM, its shared
//! memory, its L1, what warps wait for, the L2, the memory of the device; and some of the
//! others, since they do not overlap fully.

mod classes;
mod machine;
mod pressure;
mod trace;

pub use machine::Machine;
pub use trace::{Counts, LineCounts};

use crate::decode::Kernel;
use crate::machine::{Access, DeviceMemory, Finding, Launch, Observer, Order, Run};
use serde::Serialize;
use std::collections::BTreeSet;
use trace::Tracer;

/// Registers are given out to a warp in parts of this many.
const REGISTERS_AT_ONCE: u32 = 256;
/// Shared memory that each block needs for the system, bytes.
const RESERVED_SHARED: u64 = 1024;
/// How far several limits add up: the sum of their powers.
const POWER: f64 = 3.0;

/// What is known about the caches before a launch.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings {
    /// Bytes that all launches of the kernel touch, over and over.
    pub footprint: u64,
    /// Whether the L2 holds of them what it can.
    pub is_warm: bool,
}

/// What limits a launch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// What it is.
    pub name: &'static str,
    /// Nanoseconds that it alone would take.
    pub ns: f64,
}

/// How long a launch takes.
#[derive(Clone, Debug, Serialize)]
pub struct Estimate {
    /// Nanoseconds, the launch itself included.
    pub ns: f64,
    /// What limits it, the longest first.
    pub parts: Vec<Part>,
    /// Blocks that an SM holds at once.
    pub resident_blocks: u32,
    /// Registers of a thread, guessed.
    pub registers: u32,
    /// Waves of blocks.
    pub waves: f64,
    /// Bytes between L1 and L2.
    pub l2_bytes: f64,
    /// Bytes between L2 and memory.
    pub dram_bytes: f64,
    /// What the blocks that were watched did.
    #[serde(skip)]
    pub counts: Counts,
}

/// Runs a launch on `memory` and estimates how long it takes, by `sample` of its blocks that
/// `seed` chooses and the one that takes most steps. All blocks run, so that each finds what
/// others left.
///
/// # Errors
/// The first thing that is wrong in these blocks.
pub fn estimate(
    launch: &Launch,
    kernel: &Kernel,
    memory: &mut DeviceMemory,
    machine: &Machine,
    (sample, seed, most_steps): (u32, u64, u64),
    surroundings: Surroundings,
) -> Result<Estimate, Box<Finding>> {
    let registers = pressure::pressure(kernel).min(pressure::MOST);
    let resident = resident_blocks(launch, kernel, machine, registers);
    let shared = launch.shared_memory(kernel) + RESERVED_SHARED;
    let l1_bytes = machine
        .l1_bytes
        .saturating_sub(u64::from(resident) * shared);
    let run = Run {
        order: Order::Forward,
        is_watched: false,
        most_steps,
        limits: machine.limits(),
    };
    let mut steps = BlockSteps::default();
    launch.run_observed(kernel, &mut memory.clone(), &mut steps, run)?;
    let chosen = chosen(&steps, launch.blocks() as u32, sample, seed);
    let l1_bytes = l1_bytes / u64::from(resident.max(1));
    let mut tracer = Tracer::new(kernel, machine, l1_bytes, chosen);
    launch.run_observed(kernel, memory, &mut tracer, run)?;
    tracer.finish();
    let counts = tracer.counts;
    Ok(of_counts(
        launch,
        machine,
        resident,
        registers,
        counts,
        surroundings,
        memory,
    ))
}

/// Counts the steps of each block.
#[derive(Default)]
struct BlockSteps {
    steps: Vec<u64>,
}

impl Observer for BlockSteps {
    fn block(&mut self, _number: u32, _warps: u32) {
        self.steps.push(0);
    }

    fn step(&mut self, _warp: u32, _at: u32, _lanes: u32) {
        if let Some(steps) = self.steps.last_mut() {
            *steps += 1;
        }
    }

    fn access(&mut self, _warp: u32, _access: Access<'_>) {}
}

/// Returns the blocks to trace: `sample` of all, and the first one of those with most steps.
fn chosen(steps: &BlockSteps, blocks: u32, sample: u32, seed: u64) -> BTreeSet<u32> {
    let sample = sample.clamp(1, blocks.max(1));
    let mut chosen: BTreeSet<u32> = (0..sample)
        .map(|place| sampled(place, blocks, sample, seed))
        .collect();
    let numbered = (0..).zip(&steps.steps);
    let heaviest = numbered.max_by_key(|(number, steps)| (**steps, std::cmp::Reverse(*number)));
    chosen.extend(heaviest.map(|(number, _)| number));
    chosen
}

/// Returns the number of a block in part `place` of `count` equal parts of `blocks`; in which
/// place of its part is a matter of `seed`, so that a kernel cannot spare these blocks.
fn sampled(place: u32, blocks: u32, count: u32, seed: u64) -> u32 {
    let start = |place: u32| u64::from(place) * u64::from(blocks) / u64::from(count);
    let (first, behind) = (start(place), start(place + 1));
    // The finalizer of splitmix64 (Steele, Lea, Flood 2014).
    let mut word = seed.wrapping_add(u64::from(place + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^= word >> 31;
    (first + word % (behind - first).max(1)) as u32
}

/// Returns how many blocks an SM holds at once.
fn resident_blocks(launch: &Launch, kernel: &Kernel, machine: &Machine, registers: u32) -> u32 {
    let warps = launch.threads().div_ceil(32).max(1);
    let of_warp = (registers * 32).next_multiple_of(REGISTERS_AT_ONCE);
    let by_registers = machine.registers / (of_warp * warps).max(1);
    let by_shared = machine.shared_bytes / (launch.shared_memory(kernel) + RESERVED_SHARED);
    let by_shared = u32::try_from(by_shared).unwrap_or(u32::MAX);
    let most = machine.blocks.min(machine.warps / warps);
    // The compiler spills before a block does not fit at all.
    most.min(by_registers).min(by_shared).max(1)
}

fn of_counts(
    launch: &Launch,
    machine: &Machine,
    resident: u32,
    registers: u32,
    counts: Counts,
    surroundings: Surroundings,
    memory: &DeviceMemory,
) -> Estimate {
    let blocks = launch.blocks() as f64;
    let sms = f64::from(machine.sms);
    let cycle_ns = 1000.0 / machine.clock_mhz;
    let per_block = 1.0 / f64::from(counts.blocks.max(1));
    // The SM that has the most blocks.
    let of_sm = (blocks / sms).ceil();
    let waves = blocks / (sms * f64::from(resident));
    let pipe = |warps: f64, lanes: f64| warps * per_block * of_sm * 32.0 / lanes * cycle_ns;
    let per_cycle = |count: f64| count * per_block * of_sm * cycle_ns;
    let mean_latency = counts.latency_sum * per_block;
    let rounds = (of_sm / f64::from(resident)).ceil().max(1.0);
    let scale = blocks * per_block;
    let read = counts.l2_read_sectors as f64 * 32.0 * scale;
    let written = counts.l2_write_sectors as f64 * 32.0 * scale;
    let unique = |set: &std::collections::HashSet<u64>| {
        memory.footprint(set.iter().map(|it| it * 32), scale)
    };
    let (unique_read, unique_written) = (unique(&counts.read), unique(&counts.written));
    let footprint = surroundings.footprint.max(1) as f64;
    let held = (machine.l2_bytes as f64 / footprint).min(1.0);
    // What does not stay in the L2 is read again.
    let again = (read - unique_read).max(0.0)
        * (1.0 - (machine.l2_bytes as f64 / unique_read.max(1.0)).min(1.0))
        * 0.5;
    let dram_bytes = match surroundings.is_warm && held == 1.0 {
        true => 0.0,
        false => unique_read.min(read) + unique_written.min(written) + again,
    };
    let mut parts = vec![
        Part {
            name: "issue",
            ns: per_cycle(counts.issue / 4.0),
        },
        Part {
            name: "fma",
            ns: pipe(counts.fma, machine.fp32_lanes),
        },
        Part {
            name: "int",
            ns: pipe(counts.int, machine.int_lanes),
        },
        Part {
            name: "special",
            ns: pipe(counts.special, machine.special_lanes),
        },
        Part {
            name: "double",
            ns: pipe(counts.double, machine.fp64_lanes),
        },
        Part {
            name: "tensor",
            ns: per_cycle(counts.tensor / machine.tensor_macs),
        },
        Part {
            name: "shared",
            ns: per_cycle(counts.shared_wavefronts as f64),
        },
        Part {
            name: "l1",
            ns: per_cycle(counts.l1_cycles),
        },
        Part {
            name: "latency",
            // A launch ends with its last warp, however many have nothing to do.
            ns: (rounds * mean_latency).max(counts.latency) * cycle_ns,
        },
        Part {
            name: "l2",
            ns: (read + written) / machine.l2_bytes_per_ns,
        },
        Part {
            name: "atomics",
            ns: counts.atomic_sectors as f64 * scale / (machine.l2_bytes_per_ns / 32.0),
        },
        Part {
            name: "dram",
            ns: dram_bytes / machine.dram_bytes_per_ns,
        },
    ];
    parts.sort_by(|a, b| b.ns.total_cmp(&a.ns));
    let sum: f64 = parts.iter().map(|part| part.ns.max(0.0).powf(POWER)).sum();
    Estimate {
        ns: sum.powf(1.0 / POWER) + machine.launch_ns,
        parts,
        resident_blocks: resident,
        registers,
        waves,
        l2_bytes: read + written,
        dram_bytes,
        counts,
    }
}
