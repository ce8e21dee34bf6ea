//! How long launches take, estimated from what some of their blocks did.
//!
//! The compiler of the device is not asked, so what it makes of the steps is guessed
//! (`classes`). A launch takes as long as the busiest of: the pipes of an SM, its shared
//! memory, its L1, what warps wait for, the L2, the memory of the device; and some of the
//! others, since they do not overlap fully.

mod banks;
mod blocks;
mod classes;
mod clocks;
mod counts;
mod estimate;
mod folding;
mod items;
mod l2;
mod lasts;
mod lines;
mod loops;
mod machine;
mod machine_figures;
mod neighbours;
mod pairs;
mod paths;
mod places;
mod pressure;
mod rates;
mod registers;
mod removals;
mod tables;
mod trace;
mod traffic;

pub use counts::{Counts, LineCounts};
pub use estimate::{Estimate, Part};
pub use l2::L2;
pub use machine::Machine;
pub use pressure::MOST as MOST_REGISTERS;
pub use rates::rates;
pub use removals::Removal;
pub use tables::{Atomics, Barrier, Caches, Latencies, Overlap};

use crate::decode::{Kernel, Op};
use crate::machine::{DeviceMemory, Finding, Launch, Order, Run};
use blocks::{Share, Survey, Turn};
use l2::Ranges;
use std::collections::HashSet;
use trace::Tracer;

/// Registers are given out to a warp in parts of this many.
const REGISTERS_AT_ONCE: u32 = 256;
/// Shared memory that each block needs for the system, bytes.
const RESERVED_SHARED: u64 = 1024;

/// Which blocks of a launch are traced.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// How many, and the one that takes most steps.
    pub blocks: u32,
    /// Which ones.
    pub seed: u64,
    /// Steps of warps that the launch may take.
    pub most_steps: u64,
    /// Whether no other blocks run, so that none finds what they would have left, and which
    /// one takes most steps is not found out.
    pub alone: bool,
}

/// What blocks of a launch did.
#[derive(Debug)]
pub struct Watched {
    counts: Counts,
    blocks: u64,
    share: Share,
    /// Blocks that wait for each other, one after the other.
    waits: Turn,
    /// The part of all blocks that the one which goes on alone comes behind.
    behind: f64,
    /// The part of the time of the slowest block that passes until all is done.
    level: f64,
    resident: u32,
    registers: u32,
    /// The same if there were as many as it needs.
    wanted_registers: u32,
    /// What all blocks read of each buffer.
    read: Vec<Read>,
    /// What all blocks write.
    written: Ranges,
    /// Whether warps of a block wait for each other.
    has_barriers: bool,
    /// Whether it has copies to shared memory that nobody waits for at once.
    has_copies: bool,
    /// Warps of a block.
    warps: u32,
}

/// What all blocks read of a buffer.
#[derive(Clone, Copy, Debug)]
struct Read {
    /// The range of addresses that the buffer lies in.
    range: u64,
    /// Bytes that the L1s ask for.
    asked: f64,
    /// Bytes that the memory moves, each once.
    unique: f64,
    /// Bytes that the memory moves for each that is asked for: 1 to 2.
    scatter: f64,
}

/// Runs a launch on `memory` and estimates how long it takes with what `l2` holds.
///
/// # Errors
/// The first thing that is wrong in its blocks.
pub fn estimate(
    launch: &Launch,
    kernel: &Kernel,
    memory: &mut DeviceMemory,
    machine: &Machine,
    sampling: Sampling,
    l2: &mut L2,
) -> Result<Estimate, Box<Finding>> {
    let watched = watch(launch, kernel, memory, machine, sampling)?;
    Ok(watched.estimate(machine, l2))
}

/// Runs a launch on `memory` and watches some of its blocks.
///
/// # Errors
/// The first thing that is wrong in its blocks.
pub fn watch(
    launch: &Launch,
    kernel: &Kernel,
    memory: &mut DeviceMemory,
    machine: &Machine,
    sampling: Sampling,
) -> Result<Watched, Box<Finding>> {
    let pressure = pressure::pressure(kernel);
    let limit = most_registers(launch, kernel, machine);
    let registers = pressure.most().min(limit);
    let resident = resident_blocks(launch, kernel, machine, registers);
    let shared = launch.shared_memory(kernel) + RESERVED_SHARED;
    // As many as there are: an SM that could hold more shares its L1 among fewer.
    let there = launch.blocks().div_ceil(u64::from(machine.sms));
    let there = u64::from(resident).clamp(1, there.max(1));
    let l1_bytes = machine.l1_bytes.saturating_sub(there * shared);
    let mut survey = Survey::new(kernel, machine);
    let run = Run {
        order: Order::Forward,
        is_watched: false,
        most_steps: sampling.most_steps,
        limits: machine.limits(),
        together: match survey.is_queue() {
            true => machine.sms * resident,
            false => 1,
        },
    };
    if !sampling.alone {
        launch.run_observed(kernel, &mut memory.clone(), &mut survey, run)?;
    }
    let l1_bytes = survey.neighbours.share(l1_bytes, there as u32);
    let blocks = launch.blocks() as u32;
    let last = survey.last(machine.sms * resident);
    let chosen = survey.chosen(blocks, sampling.blocks, sampling.seed, last);
    let numbers: Vec<u32> = chosen.keys().copied().collect();
    let mut share = survey.share(&chosen, blocks, (machine.sms, resident), last);
    if machine.removed == Some(Removal::Tail) {
        share.level(f64::from(machine.sms), f64::from(resident), chosen.len());
    }
    let mut tracer = Tracer::new(kernel, machine, l1_bytes, chosen, (&pressure, limit), last);
    match sampling.alone {
        true => launch.run_blocks(kernel, memory, &mut tracer, run, &numbers)?,
        false => launch.run_observed(kernel, memory, &mut tracer, run)?,
    };
    tracer.finish();
    let counts = tracer.counts;
    let of_ranges = |set: &HashSet<u64>, each: u64| {
        let addresses = set.iter().map(|it| it * each);
        memory.footprints(addresses, each, share.all)
    };
    let granule = machine.caches.granule_bytes;
    let granules: HashSet<u64> = counts.read.iter().map(|it| it / (granule / 32)).collect();
    let (sectors, granules) = (of_ranges(&counts.read, 32), of_ranges(&granules, granule));
    let written = of_ranges(&counts.written, 32);
    let read = granules.into_iter().map(|(range, (traced, unique))| {
        let of_sectors = sectors.get(&range).map_or(traced, |it| it.0);
        Read {
            range,
            asked: counts.asked.get(&range).copied().unwrap_or(0.0) * 32.0 * share.all,
            unique,
            scatter: (traced / of_sectors).max(1.0),
        }
    });
    let read = read.collect();
    let has = |is: &dyn Fn(&Op) -> bool| kernel.steps.iter().any(|step| is(&step.op));
    Ok(Watched {
        blocks: launch.blocks(),
        share,
        waits: survey.longest(),
        behind: last.map_or(0.0, |it| it.behind),
        level: survey.level(),
        resident,
        registers,
        wanted_registers: pressure.most(),
        read,
        written: written
            .into_iter()
            .map(|(range, it)| (range, it.1))
            .collect(),
        has_barriers: has(&|op| matches!(op, Op::Barrier { .. })),
        has_copies: has(&|op| matches!(op, Op::CopyAsync { .. })),
        warps: launch.threads().div_ceil(32),
        counts,
    })
}

/// Returns the most registers that a thread of a launch may have: `__launch_bounds__` can ask for
/// several blocks of its number of threads.
fn most_registers(launch: &Launch, kernel: &Kernel, machine: &Machine) -> u32 {
    let asked = kernel.max_threads.div_ceil(32) * kernel.min_blocks;
    let warps = launch
        .threads()
        .div_ceil(32)
        .max(asked.min(machine.warps))
        .max(1);
    let of_warp = machine.registers / warps / REGISTERS_AT_ONCE * REGISTERS_AT_ONCE;
    (of_warp / 32).min(pressure::MOST)
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
