//! Sizes of the target that the rewriter must respect.

use crate::costs::RankingCosts;
use autocomp_gemmini::GemminiConfig;
use autocomp_gemmini::timing::TimingConfig;

/// Sizes of a Gemmini-like accelerator in a machine, given by the target's data.
#[derive(Clone, Debug, PartialEq)]
pub struct HardwareLimits {
    /// The accelerator.
    pub accelerator: GemminiConfig,
    /// What moving and computing costs there.
    pub costs: MachineCosts,
}

/// What of a machine schedules are ranked by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineCosts {
    /// Bytes that the L2 holds.
    pub l2_bytes: i64,
    /// Bytes that come from behind the L2 in a cycle.
    pub behind_l2: i64,
    /// What its file gives for the ranking alone.
    pub ranking: RankingCosts,
}

impl MachineCosts {
    /// Returns those of a machine.
    #[must_use]
    pub fn of(timing: &TimingConfig, ranking: RankingCosts) -> Self {
        Self {
            l2_bytes: i64::from(timing.memory.l2_kib) * 1024,
            behind_l2: timing.memory.outer_bytes_per_cycle.into(),
            ranking,
        }
    }
}
