//! Where the cycles of a kernel go, as data and in words.

use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Share of all cycles from which on a loss is named.
const WORTH_NAMING: f64 = 0.05;

/// What a cycle of a call is spent on. Every cycle has exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The array takes a row of a multiplication.
    Mesh,
    /// The array takes a stationary operand and multiplies nothing meanwhile.
    PreloadAlone,
    /// Operands of one operation lie in one bank and are read in turns.
    BankConflict,
    /// A move uses the bank that an operand lies in.
    PortConflict,
    /// The array has no room for another operation's results.
    ArrayFull,
    /// A move in is waited for, and the way to memory and back is what takes time.
    LoadLatency,
    /// A move in is waited for, and bytes before it or its own are coming in.
    LoadBandwidth,
    /// A move out is waited for.
    Store,
    /// The result of an earlier operation is still in the array.
    Dependency,
    /// A change of settings waits until the array is empty.
    ConfigDrain,
    /// The core has not sent the command yet.
    CoreIssue,
    /// The same, while the core waits for a line of its caches.
    CacheMiss,
    /// The same, while the core waits in a fence.
    Fence,
    /// A loop unit has not made the command yet.
    LoopUnit,
    /// All load entries of the reservation station are in use.
    LoadEntries,
    /// All store entries of the reservation station are in use.
    StoreEntries,
    /// All execute entries of the reservation station are in use.
    ExecuteEntries,
    /// Commands are on their way through queues.
    Latency,
    /// The recording was too short to tell.
    Unrecorded,
}

impl Cause {
    /// Returns the serialised name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mesh => "mesh",
            Self::PreloadAlone => "preload-alone",
            Self::BankConflict => "bank-conflict",
            Self::PortConflict => "port-conflict",
            Self::ArrayFull => "array-full",
            Self::LoadLatency => "load-latency",
            Self::LoadBandwidth => "load-bandwidth",
            Self::Store => "store",
            Self::Dependency => "dependency",
            Self::ConfigDrain => "config-drain",
            Self::CoreIssue => "core-issue",
            Self::CacheMiss => "cache-miss",
            Self::Fence => "fence",
            Self::LoopUnit => "loop-unit",
            Self::LoadEntries => "load-entries",
            Self::StoreEntries => "store-entries",
            Self::ExecuteEntries => "execute-entries",
            Self::Latency => "latency",
            Self::Unrecorded => "unrecorded",
        }
    }

    /// Returns what happens, to follow "because".
    #[must_use]
    pub fn explanation(self) -> &'static str {
        match self {
            Self::Mesh => "the array multiplies",
            Self::PreloadAlone => {
                "the array takes a stationary operand while it multiplies nothing"
            }
            Self::BankConflict => {
                "operands that are used together lie in one scratchpad bank and are read in turns"
            }
            Self::PortConflict => "moves write to the scratchpad bank that an operand is read from",
            Self::ArrayFull => "the array has no room for the results of another operation",
            Self::LoadLatency => {
                "an operand is requested from memory only shortly before it is used"
            }
            Self::LoadBandwidth => "an operand is still being moved in behind other bytes",
            Self::Store => "results are still being moved out",
            Self::Dependency => "the result of an earlier operation is still in the array",
            Self::ConfigDrain => "a configuration command waits until the array is empty",
            Self::CoreIssue => "the core has not sent the next command yet",
            Self::CacheMiss => "the core waits for its caches before it can send the next command",
            Self::Fence => "the core waits in a fence and sends no commands",
            Self::LoopUnit => "the loop unit has not made the next command yet",
            Self::LoadEntries => "moves in fill their queue and block the commands behind them",
            Self::StoreEntries => "moves out fill their queue and block the commands behind them",
            Self::ExecuteEntries => {
                "compute commands fill their queue and block the commands behind them"
            }
            Self::Latency => "commands are on their way through the queues",
            Self::Unrecorded => "more commands came than were recorded",
        }
    }

    /// Returns what can be done about it.
    #[must_use]
    pub fn remedy(self) -> Option<&'static str> {
        Some(match self {
            Self::Mesh | Self::Latency | Self::Unrecorded => return None,
            Self::PreloadAlone => {
                "send each preload right behind the multiplication before it, so that both overlap"
            }
            Self::BankConflict => "put them into different banks",
            Self::PortConflict => {
                "move into a bank that is not being computed from (double buffering across banks)"
            }
            Self::ArrayFull => "use each stationary operand for more rows",
            Self::LoadLatency => "move it in earlier, into rows that are not in use",
            Self::LoadBandwidth => {
                "move in less often and in larger moves, and keep in local memory what is used again"
            }
            Self::Store => {
                "use other accumulator rows for the next tile and move out while it is computed"
            }
            Self::Dependency => "work on other tiles in between",
            Self::ConfigDrain => "configure once, outside loops",
            Self::CoreIssue => {
                "send fewer and larger commands, and spend fewer instructions between them (unroll, hoist address arithmetic)"
            }
            Self::CacheMiss => "touch less memory from the core, and keep code small",
            Self::Fence => "fence only where the core reads results",
            Self::LoopUnit => "give the loop unit larger loops",
            Self::LoadEntries => {
                "spread moves in between the computations that use them, in larger moves"
            }
            Self::StoreEntries => "spread moves out over the computation",
            Self::ExecuteEntries => "send moves in before the computations that do not need them",
        })
    }
}

/// Cycles with one cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CauseCycles {
    /// The cause.
    pub cause: Cause,
    /// Cycles.
    pub cycles: u64,
    /// Share of all cycles, 0 to 1.
    pub share: f64,
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
    /// `array`, `load`, `store`, `core`.
    pub unit: &'static str,
    /// Cycles in which it has something under way.
    pub busy_cycles: u64,
    /// Share of all cycles, 0 to 1.
    pub occupancy: f64,
    /// Commands; instructions for the core.
    pub commands: u64,
    /// Entries of the reservation station in use on average.
    pub mean_entries: Option<f64>,
}

/// Rows of a local memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LocalRows {
    /// Rows touched.
    pub used: u64,
    /// Rows there are.
    pub size: u64,
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
    /// Bytes moved, in and out, divided by the minimum.
    pub times: f64,
    /// Line that moves most of it.
    pub line: Option<u32>,
}

/// Where the kernel stands under the roofline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RooflinePosition {
    /// Useful multiply-accumulate steps per byte moved.
    pub macs_per_byte: f64,
    /// Steps per byte from which on the array limits, not memory.
    pub ridge: f64,
    /// Steps per cycle reached.
    pub macs_per_cycle: f64,
    /// Steps per cycle possible with these bytes.
    pub attainable: f64,
    /// Cycles that the bytes moved take at peak.
    pub memory_cycles: u64,
    /// Cycles that the steps take at peak.
    pub compute_cycles: u64,
}

/// What the core does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
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
    /// Branches predicted wrongly.
    pub mispredictions: u64,
}

/// Where the cycles of one call go.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    /// Cycles of the ranked call.
    pub cycles: u64,
    /// Cycles that no kernel can be below.
    pub ideal_cycles: u64,
    /// `100 * ideal_cycles / cycles`.
    pub percent_of_peak: f64,
    /// What limits the kernel, in a paragraph made of the numbers below.
    pub bottleneck: String,
    /// Cycles by cause, most first; they add up to `cycles`.
    pub causes: Vec<CauseCycles>,
    /// Cycles by line, most first; they add up to `cycles`.
    pub lines: Vec<LineCycles>,
    /// Waits of one line for another, most first.
    pub waits: Vec<LineWait>,
    /// Units.
    pub units: Vec<UnitCycles>,
    /// The core.
    pub core: CoreCycles,
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

    /// Writes the paragraph about what limits the kernel.
    pub(crate) fn describe(&mut self) {
        let cycles = self.cycles.max(1);
        let percent = |part: u64| 100.0 * part as f64 / cycles as f64;
        let mut text = format!(
            "The kernel takes {} cycles, {:.1} % of peak; the array multiplies in {:.0} % of them.",
            self.cycles,
            self.percent_of_peak,
            percent(self.cycles_of(Cause::Mesh)),
        );
        // Writing to a text cannot fail.
        let lost = self
            .causes
            .iter()
            .filter(|it| it.cause != Cause::Mesh && WORTH_NAMING <= it.share)
            .take(3);
        for (place, it) in lost.enumerate() {
            let gain = it.cycles.min(self.cycles.saturating_sub(self.ideal_cycles));
            let at = self.place(it.cause);
            let why = it.cause.explanation();
            let part = 100.0 * it.share;
            let _ = match place {
                0 => write!(
                    text,
                    " What limits it most: in {} cycles ({part:.0} %) {why}{at}; without that it would take {} cycles at best.",
                    it.cycles,
                    self.cycles - gain,
                ),
                _ => write!(
                    text,
                    " In another {} cycles ({part:.0} %) {why}{at}.",
                    it.cycles
                ),
            };
            if let (0, Some(remedy)) = (place, it.cause.remedy()) {
                let _ = write!(text, " Remedy: {remedy}.");
            }
        }
        let worth_it = |it: &CauseCycles| it.cause != Cause::Mesh && WORTH_NAMING <= it.share;
        if !self.causes.iter().any(worth_it) {
            let _ = write!(
                text,
                " No single loss takes {:.0} % of the cycles; all losses together take {}.",
                100.0 * WORTH_NAMING,
                self.cycles - self.cycles_of(Cause::Mesh).min(self.cycles),
            );
        }
        if self.bytes_moved == 0 {
            text += " It does not use the accelerator for moving data.";
        } else {
            let least = self.bytes_minimum.max(1);
            let _ = write!(
                text,
                " It moves {} bytes to and from memory, {:.1} times the least possible {least}",
                self.bytes_moved,
                self.bytes_moved as f64 / least as f64,
            );
            let worst = self
                .buffers
                .iter()
                .filter(|buffer| 1.5 <= buffer.times && buffer.minimum != 0)
                .max_by_key(|buffer| buffer.bytes_in + buffer.bytes_out - buffer.minimum);
            if let Some(worst) = worst {
                let at = worst
                    .line
                    .map(|line| format!(" (line {line})"))
                    .unwrap_or_default();
                let _ = write!(
                    text,
                    "; most of the excess is {}, moved {:.1} times{at}",
                    worst.buffer, worst.times
                );
            }
            let bound = if self.roofline.memory_cycles > self.roofline.compute_cycles {
                "memory-bound"
            } else {
                "compute-bound"
            };
            let _ = write!(
                text,
                ". These bytes alone take {} cycles at peak bandwidth and the multiplications {}: {bound} on the roofline.",
                self.roofline.memory_cycles, self.roofline.compute_cycles,
            );
        }
        let _ = write!(
            text,
            " It uses {} of {} scratchpad rows and {} of {} accumulator rows.",
            self.scratchpad.used,
            self.scratchpad.size,
            self.accumulator.used,
            self.accumulator.size,
        );
        self.bottleneck = text;
    }

    /// Returns where most cycles of a cause are charged, as ` at line 3`.
    fn place(&self, cause: Cause) -> String {
        let wait = self
            .waits
            .iter()
            .find(|wait| wait.cause == cause && wait.line != wait.on_line);
        let line = self
            .lines
            .iter()
            .filter(|line| line.line.is_some())
            .max_by_key(|line| line.causes.get(&cause).copied().unwrap_or(0))
            .filter(|line| line.causes.contains_key(&cause));
        let Some(line) = line else {
            return String::new();
        };
        let number = line.line.unwrap_or(0);
        let text: String = line.text.chars().take(80).collect();
        let mut place = format!(" (line {number}: `{text}`");
        if let Some(wait) = wait.filter(|wait| wait.on_line == number) {
            let _ = write!(place, ", waited for by line {}", wait.line);
        }
        place.push(')');
        place
    }
}
