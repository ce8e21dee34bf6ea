//! How long a right kernel takes.

use super::preparation::Ready;
use super::{CudaBench, MOST_STEPS};
use crate::diagnosis::diagnose;
use crate::feedback::Timed;
use crate::feedback::words::source_name;
use crate::requests::Request;
use crate::texts::TEXTS;
use autocomp_catalog::Ranking;
use autocomp_core::{Diagnostic, Severity, Stage};
use autocomp_cuda_sim::Kernel;
use autocomp_cuda_sim::machine::{Finding, Launch};
use autocomp_cuda_sim::timing::{self, Estimate, L2, Machine};
use autocomp_eval::inputs::Case;
use autocomp_eval::{EvalError, Verdict};

/// Blocks of a launch that tell how long all take.
const TIMED_BLOCKS: u32 = 12;

impl CudaBench {
    /// Estimates how long a right kernel takes on `case` on `machine`. No message may have told its
    /// answers.
    pub(super) fn time(
        &self,
        source: &str,
        ready: &Ready,
        case: &Case,
        machine: &Machine,
    ) -> Result<Result<Timed, Verdict>, EvalError> {
        let seed = self.seed.derive("poison of a device");
        let mut memory = self.memory(ready, case, seed);
        let is_warm = self.problem.ranking == Ranking::Warm;
        let mut l2 = match is_warm {
            true => {
                let buffers = self.problem.buffers.iter().map(|it| it.bytes() as u64);
                let scratch = ready.recording.memory.iter().copied();
                L2::warm(buffers.chain(scratch).sum())
            }
            false => L2::cold(),
        };
        let mut timed = Timed::new(machine, is_warm);
        let broken = |finding: Box<Finding>| {
            let (outcome, found) = diagnose(&self.problem, (source, ready), &finding);
            Ok(Err(Verdict::failed(outcome, vec![found])))
        };
        for request in &ready.recording.requests {
            match request {
                Request::Launch(launch) => {
                    let kernel = &ready.kernels[&launch.kernel];
                    let sampling = timing::Sampling {
                        blocks: TIMED_BLOCKS,
                        seed: self.seed.derive("traced blocks").0,
                        most_steps: MOST_STEPS,
                        alone: false,
                    };
                    let estimate =
                        timing::estimate(launch, kernel, &mut memory, machine, sampling, &mut l2);
                    match estimate {
                        Ok(estimate) => {
                            timed.told.extend(doubts(launch, kernel, &estimate));
                            timed.add(launch, estimate);
                        }
                        Err(finding) => return broken(finding),
                    }
                }
                Request::Put { to, content } => {
                    let address = to.address(&ready.module).unwrap_or(0);
                    let bytes = content.len() as u64;
                    timed.add_transfer(l2.put(machine, address, bytes));
                    if let Err(finding) = memory.put(address, content) {
                        return broken(finding);
                    }
                }
                Request::Free { address } => {
                    if let Err(finding) = memory.free(*address) {
                        return broken(finding);
                    }
                }
                Request::Set { to, value, bytes } => {
                    timed.add_transfer(l2.transfer(machine, None, *to, *bytes));
                    if let Err(finding) = memory.set(*to, *value, *bytes) {
                        return broken(finding);
                    }
                }
                Request::Copy { to, from, bytes } => {
                    let [to, from] = [to, from].map(|it| it.address(&ready.module).unwrap_or(0));
                    timed.add_transfer(l2.transfer(machine, Some(from), to, *bytes));
                    if let Err(finding) = memory.copy(to, from, *bytes) {
                        return broken(finding);
                    }
                }
            }
        }
        Ok(Ok(timed))
    }
}

/// Returns what there is to say against a launch and its estimate.
fn doubts(launch: &Launch, kernel: &Kernel, estimate: &Estimate) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let (wanted, most) = (estimate.wanted_registers, estimate.registers);
    if most < wanted.min(timing::MOST_REGISTERS) && kernel.max_threads == 0 {
        let threads = launch.threads();
        let mut doubt = Diagnostic::error(
            Stage::Test,
            "too-many-registers",
            format!(
                "{}: a thread needs {wanted} registers, by a guess, and in a block of {threads} threads may have {most}: a device may refuse the launch",
                source_name(&kernel.name)
            ),
        );
        doubt.remedy = Some(TEXTS.remedies.filled(
            "too-many-registers",
            &[("threads", &threads), ("most", &most)],
        ));
        found.push(doubt);
    }
    if 0 < estimate.waits {
        let mut doubt = Diagnostic::error(
            Stage::Test,
            "blocks-wait",
            format!(
                "{}: blocks wait for each other, {} times one after the other; the cost of that is a guess",
                source_name(&kernel.name),
                estimate.waits
            ),
        );
        doubt.remedy = TEXTS.remedy("blocks-wait");
        found.push(doubt);
    }
    for doubt in &mut found {
        doubt.severity = Severity::Warning;
    }
    found
}
