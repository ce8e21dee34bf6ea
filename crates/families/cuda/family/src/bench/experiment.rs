//! Experiments: what a call would take on a machine that lacks one of its costs. Nothing is put
//! down to shares: the launches are simulated anew.

use super::CudaBench;
use super::preparation::Ready;
use crate::feedback::Timed;
use crate::texts::TEXTS;
use autocomp_cuda_sim::timing::Removal;
use autocomp_eval::EvalError;
use autocomp_eval::inputs::Case;

impl CudaBench {
    /// Leaves out one cost after the other, and notes in `timed` what the call takes then; what
    /// changes less than a hundredth is not told.
    pub(super) fn experiment(
        &self,
        source: &str,
        ready: &Ready,
        case: &Case,
        timed: &mut Timed,
    ) -> Result<(), EvalError> {
        for removal in Removal::ALL {
            if !timed.launches.iter().any(|it| removal.matters(&it.1)) {
                continue;
            }
            let machine = self.machine.without(removal);
            if let Ok(other) = self.time(source, ready, case, &machine)?
                && other.ns < 0.99 * timed.ns
            {
                let cost = TEXTS.experiments.of(removal.name());
                timed.without.push((cost, other.ns));
            }
        }
        timed.without.sort_by(|a, b| a.1.total_cmp(&b.1));
        Ok(())
    }
}
