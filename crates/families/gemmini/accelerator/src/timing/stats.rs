//! Where the cycles went.

use serde::Serialize;
use std::collections::HashMap;

/// Places of the shortcut from addresses to their cycles.
const SHORTCUTS: usize = 512;

/// Why the array did not start the next operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdleReason {
    /// The core had not sent the command yet.
    Core,
    /// The reservation station had no free load entry.
    LoadEntries,
    /// The reservation station had no free store entry.
    StoreEntries,
    /// The reservation station had no free execute entry.
    ExecuteEntries,
    /// An operand was still being moved in.
    Load,
    /// The destination was still being moved out.
    Store,
    /// The result of an earlier operation was still in the array.
    Dependency,
    /// A configuration waits until the array is empty.
    ConfigDrain,
    /// The command was on its way through the queues.
    Latency,
}

impl IdleReason {
    /// All reasons, in the order of [`TimingStats::idle`].
    pub const ALL: [Self; 9] = [
        Self::Core,
        Self::LoadEntries,
        Self::StoreEntries,
        Self::ExecuteEntries,
        Self::Load,
        Self::Store,
        Self::Dependency,
        Self::ConfigDrain,
        Self::Latency,
    ];
}

/// Cycles charged to one instruction address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PcCycles {
    /// Commands from this address.
    pub commands: u64,
    /// Cycles in which the array took rows for it.
    pub array: u64,
    /// Cycles of those lost to bank conflicts.
    pub bank_conflict: u64,
    /// Cycles the array stood idle because of it (the load that was waited
    /// for, the store that filled the station).
    pub idle_caused: u64,
    /// Cycles from issue to completion, summed over its commands.
    pub in_flight: u64,
}

/// Counts and cycles since the engine was made or its statistics were reset.
#[derive(Clone, Debug, Default)]
pub struct TimingStats {
    /// Cycles in which the array took a row.
    pub array_busy: u64,
    /// Cycles in which an operation was under way but its rows waited for a
    /// scratchpad bank.
    pub bank_conflict: u64,
    /// Cycles in which rows waited for room in the array.
    pub array_full: u64,
    /// Cycles without an operation, by reason, in the order of
    /// [`IdleReason::ALL`].
    pub idle: [u64; 9],
    /// Load, store and execute commands issued.
    pub issued: [u64; 3],
    /// Beats read and written at the port.
    pub read_beats: u64,
    /// Beats written at the port.
    pub write_beats: u64,
    /// Packets read.
    pub read_packets: u64,
    /// Packets written.
    pub write_packets: u64,
    /// Cycles in which a command waited because the core's queue was full.
    pub core_blocked: u64,
    /// Cycles spent in fences.
    pub fence: u64,
    cycles: Vec<(u64, PcCycles)>,
    index: HashMap<u64, u32>,
    /// Address and index of what was looked up last, by low bits of the
    /// address.
    shortcuts: Vec<(u64, u32)>,
}

impl TimingStats {
    /// Returns the cycles charged to each instruction address, by address.
    #[must_use]
    pub fn by_pc(&self) -> Vec<(u64, PcCycles)> {
        let mut all = self.cycles.clone();
        all.sort_unstable_by_key(|(pc, _)| *pc);
        all
    }

    #[inline]
    pub(super) fn pc(&mut self, pc: u64) -> &mut PcCycles {
        let idx = match self.shortcuts.get((pc >> 1) as usize % SHORTCUTS) {
            Some(&(known, idx)) if known == pc && (idx as usize) < self.cycles.len() => idx,
            _ => self.find(pc),
        };
        &mut self.cycles[idx as usize].1
    }

    /// Returns the index of an address whose shortcut leads elsewhere.
    #[cold]
    #[inline(never)]
    fn find(&mut self, pc: u64) -> u32 {
        self.shortcuts.resize(SHORTCUTS, (0, u32::MAX));
        let next = self.cycles.len() as u32;
        let idx = *self.index.entry(pc).or_insert(next);
        if idx == next {
            self.cycles.push((pc, PcCycles::default()));
        }
        self.shortcuts[(pc >> 1) as usize % SHORTCUTS] = (pc, idx);
        idx
    }

    pub(super) fn idle(&mut self, reason: IdleReason, cycles: u64, pc: Option<u64>) {
        self.idle[reason as usize] += cycles;
        if let (Some(pc), true) = (pc, cycles > 0) {
            self.pc(pc).idle_caused += cycles;
        }
    }
}
