//! Sizes of the target that the rewriter must respect.

use autocomp_gemmini::GemminiConfig;
use autocomp_gemmini::timing::TimingConfig;

/// Sizes of a Gemmini-like accelerator in a machine, given by the target's data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HardwareLimits {
    /// The accelerator.
    pub accelerator: GemminiConfig,
    /// What the memory behind it costs.
    pub costs: MachineCosts,
}

/// Sizes of the machine by which schedules are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineCosts {
    /// Bytes that the L2 holds.
    pub l2_bytes: i64,
    /// Bytes that come from behind the L2 in a cycle.
    pub behind_l2: i64,
}

impl MachineCosts {
    /// Returns those of a machine.
    #[must_use]
    pub fn of(timing: &TimingConfig) -> Self {
        Self {
            l2_bytes: i64::from(timing.memory.l2_kib) * 1024,
            behind_l2: timing.memory.outer_bytes_per_cycle.into(),
        }
    }
}
