//! How long a right kernel takes.

use super::preparation::Ready;
use super::{CudaBench, MOST_STEPS};
use crate::diagnosis::diagnose;
use crate::feedback::Timed;
use crate::requests::Request;
use autocomp_catalog::Ranking;
use autocomp_core::ContentHash;
use autocomp_cuda_sim::machine::Finding;
use autocomp_cuda_sim::timing;
use autocomp_eval::inputs::Case;
use autocomp_eval::{EvalError, Verdict};

/// Blocks of a launch that tell how long all take.
const TIMED_BLOCKS: u32 = 12;

impl CudaBench {
    /// Estimates how long a right kernel takes on `case`. No message may have told its answers.
    pub(super) fn time(
        &self,
        source: &str,
        ready: &Ready,
        case: &Case,
    ) -> Result<Result<Timed, Verdict>, EvalError> {
        let seed = self.seed.derive("poison of a device");
        let mut memory = self.memory(ready, case, seed);
        let buffers: u64 = self
            .problem
            .buffers
            .iter()
            .map(|it| it.bytes() as u64)
            .sum();
        let surroundings = timing::Surroundings {
            footprint: buffers + ready.recording.memory.iter().sum::<u64>(),
            is_warm: self.problem.ranking == Ranking::Warm,
        };
        // Which blocks are traced follows from the text, so that a kernel cannot spare them.
        let mut word = [0; 8];
        word.copy_from_slice(&ContentHash::of(source.as_bytes()).0[..8]);
        let of_source = u64::from_le_bytes(word);
        let mut timed = Timed::default();
        let broken = |finding: Box<Finding>| {
            let (outcome, found) = diagnose(&self.problem, source, &finding);
            Ok(Err(Verdict::failed(outcome, vec![found])))
        };
        for request in &ready.recording.requests {
            match request {
                Request::Launch(launch) => {
                    let kernel = &ready.kernels[&launch.kernel];
                    let sampling = timing::Sampling {
                        blocks: TIMED_BLOCKS,
                        seed: of_source,
                        most_steps: MOST_STEPS,
                        alone: false,
                    };
                    let estimate = timing::estimate(
                        launch,
                        kernel,
                        &mut memory,
                        &self.machine,
                        sampling,
                        surroundings,
                    );
                    match estimate {
                        Ok(estimate) => timed.add(launch, estimate),
                        Err(finding) => return broken(finding),
                    }
                }
                Request::Set { to, value, bytes } => {
                    timed.add_transfer(
                        *bytes as f64 / self.machine.dram_bytes_per_ns + self.machine.launch_ns,
                    );
                    if let Err(finding) = memory.set(*to, *value, *bytes) {
                        return broken(finding);
                    }
                }
                Request::Copy { to, from, bytes } => {
                    timed.add_transfer(
                        2.0 * *bytes as f64 / self.machine.dram_bytes_per_ns
                            + self.machine.launch_ns,
                    );
                    if let Err(finding) = memory.copy(*to, *from, *bytes) {
                        return broken(finding);
                    }
                }
            }
        }
        Ok(Ok(timed))
    }
}
