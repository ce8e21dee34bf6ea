//! Costs that a machine may lack: what is gained without one is found by simulating anew.

use super::estimate::Estimate;
use super::machine::Machine;

/// Bytes in a nanosecond that take no time.
const AT_ONCE: f64 = 1e15;
/// Registers of an SM that all blocks find room in.
const MANY: u32 = 1 << 24;

/// A cost that a machine lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// Launches take nothing beside what they do.
    Launches,
    /// The memory of the device is as fast as the L2.
    Memory,
    /// All data lie in the L1.
    L2,
    /// The L1 gives any number of sectors at once.
    L1,
    /// Threads that meet in a bank of shared memory do not wait.
    Conflicts,
    /// Nothing has to be waited for.
    Waits,
    /// Instructions take no time to issue.
    Issue,
    /// The arithmetic units take no time.
    Arithmetic,
    /// Registers are enough for all threads that an SM may hold, and none is spilled.
    Registers,
    /// All SMs have the same work.
    Tail,
    /// Atomic operations take no time.
    Atomics,
}

impl Removal {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Launches,
        Self::Memory,
        Self::L2,
        Self::L1,
        Self::Conflicts,
        Self::Waits,
        Self::Issue,
        Self::Arithmetic,
        Self::Registers,
        Self::Tail,
        Self::Atomics,
    ];

    /// Returns the name that texts have for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Launches => "launches",
            Self::Memory => "memory",
            Self::L2 => "l2",
            Self::L1 => "l1",
            Self::Conflicts => "conflicts",
            Self::Waits => "waits",
            Self::Issue => "issue",
            Self::Arithmetic => "arithmetic",
            Self::Registers => "registers",
            Self::Tail => "tail",
            Self::Atomics => "atomics",
        }
    }

    /// Returns whether a launch may take a hundredth less without it; a part's share is the most
    /// that can be gained without the part.
    #[must_use]
    pub fn matters(self, to: &Estimate) -> bool {
        let parts = self.parts();
        let own = to.parts.iter().filter(|it| parts.contains(&it.name));
        match self {
            Self::Conflicts => to.counts.shared_ideal < to.counts.shared_wavefronts,
            _ => parts.is_empty() || 0.01 <= own.map(|it| it.share).sum(),
        }
    }

    /// Returns the parts of a launch's time that take nothing.
    pub(super) const fn parts(self) -> &'static [&'static str] {
        match self {
            Self::L1 => &["l1"],
            Self::Waits => &["latency", "alone"],
            Self::Issue => &["issue"],
            Self::Arithmetic => &["fma", "alu", "int", "special", "double", "tensor"],
            Self::Atomics => &["atomics"],
            _ => &[],
        }
    }
}

impl Machine {
    /// Returns the same machine without one of its costs.
    #[must_use]
    pub fn without(&self, removal: Removal) -> Self {
        let mut machine = self.clone();
        machine.removed = Some(removal);
        match removal {
            Removal::Launches => machine.launch_ns = 0.0,
            Removal::Memory => {
                machine.dram_bytes_per_ns = machine.l2_bytes_per_ns;
                machine.dram_write_bytes_per_ns = machine.l2_write_bytes_per_ns;
                machine.dram_latency = machine.l2_latency;
            }
            Removal::L2 => {
                machine.dram_bytes_per_ns = AT_ONCE;
                machine.dram_write_bytes_per_ns = None;
                machine.l2_bytes_per_ns = AT_ONCE;
                machine.l2_write_bytes_per_ns = None;
                machine.dram_latency = machine.l1_latency;
                machine.l2_latency = machine.l1_latency;
            }
            Removal::Registers => machine.registers = MANY,
            _ => {}
        }
        machine
    }
}
