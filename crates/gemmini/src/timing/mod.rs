//! The cycle model: queues, reservation station, controllers, memory system.

use crate::ExecContext;
use crate::config::GemminiConfig;
use crate::isa::Instruction;
use autocomp_riscv::{LineAccess, RoccCommand, RoccReply};
use serde::{Deserialize, Serialize};

/// Constants of the cycle model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimingConfig {}

/// State of the cycle model.
#[derive(Clone, Debug)]
pub struct Engine {
    idle: u64,
}

impl Engine {
    /// Makes an idle engine.
    #[must_use]
    pub fn new(_config: &GemminiConfig, _timing: &TimingConfig) -> Self {
        Self { idle: 0 }
    }

    /// Takes a command whose functional effect has just happened.
    pub fn push(
        &mut self,
        command: &RoccCommand,
        _instruction: &Instruction,
        _context: &ExecContext<'_>,
    ) -> RoccReply {
        self.idle = self.idle.max(command.cycle);
        RoccReply {
            value: 0,
            accepted: command.cycle,
            value_ready: command.cycle,
        }
    }

    /// Returns the cycle, at least `cycle`, at which all work is done.
    pub fn fence(&mut self, cycle: u64) -> u64 {
        self.idle = self.idle.max(cycle);
        self.idle
    }

    /// The core accesses a line below its L1 caches.
    pub fn line_access(&mut self, _address: u64, _access: LineAccess, cycle: u64) -> u64 {
        cycle
    }

    /// Moves the probes for the L1 data cache into `probes`.
    pub fn take_probes(&mut self, _probes: &mut Vec<(u64, bool)>) {}

    /// Returns the cycle at which all work given so far is done.
    #[must_use]
    pub fn idle_cycle(&self) -> u64 {
        self.idle
    }
}
