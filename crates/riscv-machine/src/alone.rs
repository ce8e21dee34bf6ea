//! A core that stands alone, and the memory systems that it may have below its L1 caches.

use crate::l2::{Client, MemoryConfig, MemorySystem};
use autocomp_riscv::{BelowL1, Fault, FaultKind, LineAccess, Memory, Rocc, RoccCommand, RoccReply};
use std::collections::HashSet;

/// A core without an accelerator, which refuses custom instructions, with the memory system
/// `M` below its L1 caches.
#[derive(Clone, Debug, Default)]
pub struct Alone<M> {
    /// The memory system.
    pub memory: M,
}

/// A core without an accelerator and with a memory that answers after a constant time.
pub type NoAccelerator = Alone<ConstantLatency>;

impl NoAccelerator {
    /// Makes a memory that answers a miss in the L1 after `line_cycles` core cycles, or after
    /// `first_line_cycles` if the line is used for the first time.
    #[must_use]
    pub fn new(line_cycles: u64, first_line_cycles: u64) -> Self {
        let memory = ConstantLatency {
            line_cycles,
            first_line_cycles,
            used: HashSet::new(),
        };
        Self { memory }
    }
}

impl<M> Rocc for Alone<M> {
    fn execute(&mut self, command: RoccCommand, _memory: &mut Memory) -> Result<RoccReply, Fault> {
        Err(Fault {
            kind: FaultKind::IllegalCommand,
            rule: "no-accelerator",
            pc: command.pc,
            other_pc: None,
            address: None,
            message: format!(
                "custom-{} instruction with funct {}: this machine has no accelerator",
                command.custom, command.funct
            ),
        })
    }

    fn fence(&mut self, _pc: u64, cycle: u64, _memory: &mut Memory) -> Result<u64, Fault> {
        Ok(cycle)
    }

    fn cpu_access(
        &mut self,
        _address: u64,
        _bytes: u64,
        _store: bool,
        _pc: u64,
    ) -> Result<(), Fault> {
        Ok(())
    }
}

impl<M: BelowL1> BelowL1 for Alone<M> {
    fn line_access(&mut self, address: u64, access: LineAccess, cycle: u64) -> u64 {
        self.memory.line_access(address, access, cycle)
    }

    fn take_probes(&mut self, probes: &mut Vec<(u64, bool)>) {
        self.memory.take_probes(probes);
    }

    fn shares_lines(&self) -> bool {
        self.memory.shares_lines()
    }

    fn data_turn(&mut self, cycle: u64) -> u64 {
        self.memory.data_turn(cycle)
    }
}

/// A memory that answers after a constant time, which depends only on whether the line was
/// used before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConstantLatency {
    line_cycles: u64,
    first_line_cycles: u64,
    used: HashSet<u64>,
}

impl BelowL1 for ConstantLatency {
    fn line_access(&mut self, address: u64, access: LineAccess, cycle: u64) -> u64 {
        let first = self.used.insert(address >> 6);
        match access {
            // Nobody shares the line.
            LineAccess::WriteBack | LineAccess::Write => cycle,
            LineAccess::Fetch | LineAccess::Read | LineAccess::ReadToWrite => {
                let cycles = if first {
                    self.first_line_cycles
                } else {
                    self.line_cycles
                };
                cycle + cycles
            }
        }
    }

    fn take_probes(&mut self, _probes: &mut Vec<(u64, bool)>) {}
}

/// An L2 and the memory behind it that only the core uses.
#[derive(Clone, Debug)]
pub struct CoreL2 {
    memory: MemorySystem,
    /// The last cycle that was worked through.
    now: u64,
}

impl CoreL2 {
    /// Makes an empty L2.
    #[must_use]
    pub fn new(config: &MemoryConfig) -> Self {
        Self {
            memory: MemorySystem::new(config),
            now: 0,
        }
    }

    /// Works through the cycles up to `until`, or up to the one in which the core is
    /// answered; returns the cycle in which the line is at the core then.
    fn run(&mut self, until: u64) -> Option<u64> {
        loop {
            let next = self.memory.next_event();
            if until < next || next == u64::MAX {
                return None;
            }
            self.now = next;
            let reply = self.memory.advance(next);
            if let Some(reply) = reply.filter(|reply| reply.client == Client::Core) {
                return Some(reply.last);
            }
        }
    }
}

impl BelowL1 for CoreL2 {
    fn line_access(&mut self, address: u64, access: LineAccess, cycle: u64) -> u64 {
        self.run(cycle);
        // The core may fetch ahead of an access that it makes for an earlier instruction: a
        // request that is at the L2 only after what is worked through is not late.
        let at = match self.memory.arrival_from_core(cycle) > self.now {
            true => cycle,
            false => self.now,
        };
        match self.memory.core_access(address, access, at) {
            Some(usable) => usable.min(cycle),
            None => self.run(u64::MAX).unwrap_or(at),
        }
    }

    fn take_probes(&mut self, probes: &mut Vec<(u64, bool)>) {
        self.memory.take_probes(probes);
    }
}
