//! Where the cycles of a kernel go, as data and in words.

pub use crate::cause::Cause;
pub use crate::merits::Habits;

use crate::texts::TEXTS;
pub use autocomp_bare_metal::CoreLine;
use serde::Serialize;
use std::collections::BTreeMap;

/// Cycles with one cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CauseCycles {
    /// The cause.
    pub cause: Cause,
    /// Cycles.
    pub cycles: u64,
    /// Share of all cycles, 0 to 1.
    pub share: f64,
    /// Why there are none, if there never are any on these machines.
    pub absent_because: Option<&'static str>,
}

/// What is taken away from the machine in an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Removal {
    /// No bank is ever in use when an operand is read.
    Banks,
    /// Moves in are complete at once.
    Loads,
    /// Moves out are complete at once.
    Stores,
    /// Dirty lines that the L2 writes behind it are acknowledged at once.
    WriteBacks,
    /// The reservation station has 16 entries of each kind.
    Entries,
    /// The core sends every command at once and waits in no fence.
    Core,
}

impl Removal {
    /// All experiments.
    pub const ALL: [Self; 6] = [
        Self::Banks,
        Self::Loads,
        Self::Stores,
        Self::WriteBacks,
        Self::Entries,
        Self::Core,
    ];

    /// Returns the serialised name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Banks => "banks",
            Self::Loads => "loads",
            Self::Stores => "stores",
            Self::WriteBacks => "write-backs",
            Self::Entries => "entries",
            Self::Core => "core",
        }
    }

    /// Returns the machine of the experiment, to follow "with".
    #[must_use]
    pub fn machine(self) -> &'static str {
        TEXTS.experiments.of(self.name())
    }
}

/// What the kernel would take on a machine without one of its costs: an
/// experiment with the whole simulator, not an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WhatIf {
    /// What was taken away.
    pub without: Removal,
    /// Cycles of the ranked call then.
    pub cycles: u64,
    /// Cycles gained: no change of the kernel that only removes this cost
    /// gains more.
    pub gain: u64,
}

/// Stretches in which a section of the reservation station was full.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FullStation {
    /// `load`, `store` or `array`.
    pub unit: &'static str,
    /// Cycles in which the next command found no entry.
    pub cycles: u64,
    /// Of these, cycles in which the oldest entry was being worked on.
    pub working_cycles: u64,
    /// Of those, cycles in which bytes moved in came through the port.
    pub arriving_cycles: u64,
    /// Of those, cycles in which none came and a read waited behind the L2.
    pub outer_wait_cycles: u64,
    /// Of these, cycles in which the oldest entry itself waited for a command
    /// of another unit.
    pub waiting_cycles: u64,
    /// Line of the commands that found no entry most often.
    pub line: Option<u32>,
    /// Line that the oldest entry waited for most.
    pub on_line: Option<u32>,
}

/// Cycles charged to one line of the kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineCycles {
    /// Line from 1; null for what belongs to none.
    pub line: Option<u32>,
    /// Its text without blanks around it.
    pub text: String,
    /// Cycles, all causes.
    pub cycles: u64,
    /// Cycles by cause.
    pub causes: BTreeMap<Cause, u64>,
    /// Whether a loop unit makes commands of it.
    pub loop_unit: bool,
}

/// Cycles that one line waited for another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineWait {
    /// Line that waits.
    pub line: u32,
    /// Line that is waited for.
    pub on_line: u32,
    /// Why.
    pub cause: Cause,
    /// Cycles.
    pub cycles: u64,
}

/// How busy a unit is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnitCycles {
    /// `array`, `load`, `store`, `port-in`, `port-out`, `outer-memory`, `l2-trackers`, `core`.
    pub unit: &'static str,
    /// Cycles in which it has something under way.
    pub busy_cycles: u64,
    /// Share of all cycles, 0 to 1.
    pub occupancy: f64,
    /// Commands; beats for the port, lines for the outer memory and for the
    /// L2's trackers, instructions for the core.
    pub commands: u64,
    /// Entries of the reservation station in use on average.
    pub mean_entries: Option<f64>,
}

/// Rows of a local memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LocalRows {
    /// Rows touched.
    pub used: u64,
    /// Rows there are.
    pub size: u64,
    /// Rows in use at once at most: written, with a read still to come. Null
    /// where it was not worked out.
    pub peak: Option<u64>,
    /// Rows in use on average in each of up to 64 equal parts of the call.
    pub over_time: Vec<u64>,
}

/// Bytes that the accelerator moves for one buffer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BufferTraffic {
    /// Parameter name; `elsewhere` for bytes in none.
    pub buffer: String,
    /// Bytes moved in.
    pub bytes_in: u64,
    /// Bytes moved out.
    pub bytes_out: u64,
    /// Bytes of the buffer: once is the least that can be moved.
    pub minimum: u64,
    /// Bytes moved, in and out, divided by the minimum; `None` if that is 0.
    pub times: Option<f64>,
    /// Multiply-accumulate steps of the problem per element moved.
    pub reuse: Option<f64>,
    /// Multiply-accumulate steps per element, if every element were moved once.
    pub reuse_possible: Option<f64>,
    /// Line that moves most of it.
    pub line: Option<u32>,
}

impl RooflinePosition {
    /// Returns the cycles that the moves take at least.
    #[must_use]
    pub fn moving_cycles(&self) -> u64 {
        self.memory_cycles
            .max(self.outer_cycles)
            .max(self.write_back_cycles)
            .max(self.tracker_cycles)
    }

    /// Returns whether the moves take longer than the multiplications.
    #[must_use]
    pub fn is_memory_bound(&self) -> bool {
        self.compute_cycles < self.moving_cycles()
    }
}

/// What the memory system did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MemoryTraffic {
    /// Requests of the accelerator that the L2 served by itself.
    pub l2_hits: u64,
    /// Requests of the accelerator that had to go behind the L2.
    pub l2_misses: u64,
    /// Lines of 64 bytes read from behind the L2.
    pub lines_read: u64,
    /// Lines written there.
    pub lines_written: u64,
    /// Cycles that these lines keep the L2's trackers at least, added up.
    pub tracked_cycles: u64,
    /// Lines that the core's L1 cache had to hand over.
    pub probes: u64,
    /// Requests of the core's L1 caches.
    pub core_requests: u64,
    /// Cycles in which bytes moved in came through the port.
    pub arriving_cycles: u64,
    /// Cycles in which a read for a move in waited behind the L2.
    pub outer_wait_cycles: u64,
    /// Address translation: always 0.
    pub tlb_miss_cycles: u64,
    /// Why there is no address translation.
    pub tlb_note: &'static str,
}

/// Where the kernel stands under the roofline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RooflinePosition {
    /// Useful multiply-accumulate steps per byte moved; `None` if none is.
    pub macs_per_byte: Option<f64>,
    /// Steps per byte from which on the array limits, not memory.
    pub ridge: f64,
    /// Steps per cycle reached.
    pub macs_per_cycle: f64,
    /// Steps per cycle possible with these bytes, and these lines behind the L2.
    pub attainable: f64,
    /// Cycles that the bytes moved take at the width of the port, which takes
    /// bytes in and out at the same time.
    pub memory_cycles: u64,
    /// Cycles that the lines moved behind the L2 take: those read or those written,
    /// whichever are more, as both go at the same time.
    pub outer_cycles: u64,
    /// Cycles that the lines written behind the L2 take: the line that takes the place of a
    /// dirty one has to wait with one of the L2's trackers until the write is acknowledged.
    pub write_back_cycles: u64,
    /// Cycles that the L2's trackers take for these and for the lines read: as many lines
    /// are under way at once as there are trackers.
    pub tracker_cycles: u64,
    /// Cycles in which a move in is under way, where the machine works on one at a time and
    /// those of the kernel are as wide as they can be; else 0.
    pub load_cycles: u64,
    /// Cycles that the steps take at peak.
    pub compute_cycles: u64,
}

/// What can be done about what limits a kernel most.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Remedy {
    /// What it is against.
    pub cause: Cause,
    /// What to do, an imperative.
    pub text: String,
    /// Cycles that are to be gained there at most.
    pub gain: u64,
    /// Items of the target's menu that carry it out.
    pub menu: &'static [String],
}

/// What the core does.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CoreCycles {
    /// Instructions retired.
    pub instructions: u64,
    /// Cycles until the kernel returned.
    pub issue_cycles: u64,
    /// Cycles waited for room in the accelerator's queue.
    pub accelerator_wait_cycles: u64,
    /// Cycles waited in fences.
    pub fence_wait_cycles: u64,
    /// Cycles waited for the data cache.
    pub data_miss_cycles: u64,
    /// Cycles waited for the instruction cache.
    pub fetch_miss_cycles: u64,
    /// Misses of both caches that the L2 served.
    pub misses_in_l2: u64,
    /// Misses of both caches that went behind the L2.
    pub misses_behind_l2: u64,
    /// Branches predicted wrongly.
    pub mispredictions: u64,
    /// What it spends its cycles on, most first; `issue_cycles` and
    /// `wait_cycles` of all lines add up to its own `issue_cycles`.
    pub lines: Vec<CoreLine>,
}

/// Where the cycles of one call go.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Profile {
    /// Cycles of the ranked call.
    pub cycles: u64,
    /// Cycles that no kernel can be below.
    pub ideal_cycles: u64,
    /// `100 * ideal_cycles / cycles`.
    pub percent_of_peak: f64,
    /// What limits the kernel, in a paragraph made of the numbers below.
    pub bottleneck: String,
    /// What can be done about the loss named first; null where nothing helps that is known,
    /// and the kernel does not do already.
    pub remedy: Option<Remedy>,
    /// What the kernel does already, and need not be told.
    pub habits: Habits,
    /// Cycles by cause, all causes, most first; they add up to `cycles`.
    pub causes: Vec<CauseCycles>,
    /// What the kernel would take without one of its costs; not all are tried.
    pub what_if: Vec<WhatIf>,
    /// Cycles by line, most first; they add up to `cycles`.
    pub lines: Vec<LineCycles>,
    /// Waits of one line for another, most first.
    pub waits: Vec<LineWait>,
    /// Units.
    pub units: Vec<UnitCycles>,
    /// Why the reservation station was full.
    pub station: Vec<FullStation>,
    /// The core.
    pub core: CoreCycles,
    /// The memory system.
    pub memory: MemoryTraffic,
    /// Scratchpad.
    pub scratchpad: LocalRows,
    /// Accumulator.
    pub accumulator: LocalRows,
    /// Traffic by buffer.
    pub buffers: Vec<BufferTraffic>,
    /// Bytes moved in and out.
    pub bytes_moved: u64,
    /// Least bytes of the problem.
    pub bytes_minimum: u64,
    /// Roofline.
    pub roofline: RooflinePosition,
    /// Commands of which nothing was recorded; 0 unless there are millions.
    pub unrecorded_commands: u64,
}

impl Profile {
    /// Returns the cycles of one cause.
    #[must_use]
    pub fn cycles_of(&self, cause: Cause) -> u64 {
        self.causes
            .iter()
            .find(|it| it.cause == cause)
            .map_or(0, |it| it.cycles)
    }
}
