//! What lies below a core that stands alone.

use autocomp_riscv::{BelowL1, Fault, LineAccess, Memory, Rocc, RoccCommand, RoccReply};

/// Nothing below the caches.
pub struct Nothing;

impl Rocc for Nothing {
    fn execute(&mut self, _: RoccCommand, _: &mut Memory) -> Result<RoccReply, Fault> {
        Ok(RoccReply::default())
    }

    fn fence(&mut self, _: u64, cycle: u64, _: &mut Memory) -> Result<u64, Fault> {
        Ok(cycle)
    }

    fn cpu_access(&mut self, _: u64, _: u64, _: bool, _: u64) -> Result<(), Fault> {
        Ok(())
    }
}

impl BelowL1 for Nothing {
    fn line_access(&mut self, _: u64, _: LineAccess, cycle: u64) -> u64 {
        cycle + 20
    }

    fn take_probes(&mut self, _: &mut Vec<(u64, bool)>) {}
}
