//! What no kernel for a problem can be faster than.

use super::CudaBench;
use autocomp_catalog::{Ranking, Tolerance};
use autocomp_core::Cost;
use autocomp_eval::doubts::Peaks;

impl CudaBench {
    /// Returns what a kernel must do at least, with nothing but that.
    pub(super) fn floor_parts(&self) -> (f64, f64) {
        let work = self.problem.work;
        let widths = self
            .problem
            .buffers
            .iter()
            .map(|it| it.dtype.bytes() as u32);
        let narrowest = widths.min().unwrap_or(4);
        // Where so much error is right, the matrix units may take shortened floats.
        let is_loose = match self.problem.tolerance {
            Tolerance::Exact {} => false,
            Tolerance::Close { relative, .. } => 1e-4 <= relative,
        };
        let matrix = (narrowest < 4 || is_loose).then_some(narrowest);
        let macs = self.machine.macs_ns(work.macs, matrix);
        // Results may stay in the L2: whoever times a kernel does not wait until they are in memory.
        let results = self.problem.buffers.iter().filter(|it| it.is_written());
        let results: u64 = results.map(|it| it.bytes() as u64).sum();
        let left = match results <= self.machine.l2_bytes {
            true => work.bytes.saturating_sub(results),
            false => work.bytes,
        };
        let bytes = self.machine.bytes_ns(left, self.is_in_l2());
        (macs, bytes)
    }

    /// Returns where it stands what the machine can do at most.
    pub(super) fn peaks(&self) -> Peaks {
        Peaks {
            file: format!("the file of machine {}", self.machine.name),
            macs: "`fp32_lanes`, `tensor_macs`, `sms` or `clock_mhz`".to_owned(),
            bytes: match self.is_in_l2() {
                true => "`l2_bytes_per_ns`".to_owned(),
                false => "`dram_peak_bytes_per_ns`".to_owned(),
            },
        }
    }

    /// Returns the cost that no right kernel can be below.
    pub(super) fn floor(&self) -> Cost {
        let (macs, bytes) = self.floor_parts();
        Cost::nanoseconds(macs.max(bytes).floor() as u64, 0)
    }

    /// Returns whether all buffers stay in the L2 from call to call.
    pub(super) fn is_in_l2(&self) -> bool {
        let bytes: u64 = self
            .problem
            .buffers
            .iter()
            .map(|it| it.bytes() as u64)
            .sum();
        self.problem.ranking == Ranking::Warm && bytes <= self.machine.l2_bytes
    }
}
