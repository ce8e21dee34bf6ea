//! A machine without an accelerator.

use std::collections::HashSet;

use autocomp_riscv::{Coprocessor, Fault, FaultKind, LineAccess, Memory, RoccCommand, RoccReply};

/// Rejects every custom instruction; memory behind the L1 caches answers after
/// a constant time that depends only on whether the line was used before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NoAccelerator {
    /// Core cycles from a miss in the L1 until a line used before is there.
    pub line_cycles: u64,
    /// The same for a line used for the first time.
    pub first_line_cycles: u64,
    used: HashSet<u64>,
}

impl NoAccelerator {
    /// Makes a machine's memory with these latencies.
    #[must_use]
    pub fn new(line_cycles: u64, first_line_cycles: u64) -> Self {
        Self {
            line_cycles,
            first_line_cycles,
            used: HashSet::new(),
        }
    }
}

impl Coprocessor for NoAccelerator {
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
