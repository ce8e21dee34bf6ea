//! Runs of a kernel on the input sets, compared with what is right.

use super::preparation::Ready;
use super::{CudaBench, MOST_STEPS};
use crate::compiler::KERNEL_FILE;
use crate::diagnosis::{diagnose, named};
use crate::requests::Request;
use crate::texts::TEXTS;
use autocomp_catalog::Problem;
use autocomp_core::{Diagnostic, Outcome, Seed, Severity, SourceLocation, Stage};
use autocomp_cuda_sim::machine::{DeviceMemory, Finding, LateRead, Order, Run};
use autocomp_eval::inputs::Case;
use autocomp_eval::{EvalError, Verdict, comparison};
use std::sync::Arc;

/// Instructions of warps in which races and reads of unwritten memory are looked for.
const MOST_WATCHED_STEPS: u64 = 20_000_000;
/// Blocks that take turns in the mixed run.
const TOGETHER: u32 = 4;
/// Side of what a mismatch is said to be a part of.
const TILE: usize = 32;

/// How a kernel is run.
#[derive(Clone, Copy)]
pub(super) struct How {
    order: Order,
    is_watched: bool,
    most_steps: u64,
}

impl How {
    /// Only results count.
    pub(super) const fn unwatched(order: Order) -> Self {
        Self {
            order,
            is_watched: false,
            most_steps: MOST_STEPS,
        }
    }
}

/// What a kernel that is right has shown.
pub(super) struct Right {
    /// What there is to say of it.
    pub(super) told: Vec<Diagnostic>,
    /// The last case that it was tested on, which is its own if a set is fresh.
    pub(super) case: Arc<Case>,
}

/// Compares what a call left, which began with `before`, with what is right. `got` returns what
/// a buffer holds, nothing for one that is not to be looked at.
pub(crate) fn compared<'c>(
    problem: &Problem,
    case: &Case,
    before: &[Vec<u8>],
    got: impl Fn(usize) -> Option<&'c [u8]>,
) -> Option<Diagnostic> {
    let buffers = problem.buffers.iter().zip(&case.after).zip(before);
    for (number, ((buffer, right), before)) in buffers.enumerate() {
        let Some(got) = got(number) else {
            continue;
        };
        let Some(right) = right else {
            if got != before {
                return Some(Diagnostic::error(
                    Stage::Test,
                    "input-changed",
                    format!("the kernel changes {}, which is an input", buffer.name),
                ));
            }
            continue;
        };
        let found = comparison::compare(buffer, right, got, before, problem.tolerance, TILE);
        if found.is_some() {
            return found;
        }
    }
    None
}

impl CudaBench {
    /// Returns the memory of a device before a call.
    pub(super) fn memory(&self, ready: &Ready, case: &Case, seed: Seed) -> DeviceMemory {
        let mut memory = DeviceMemory::new(&ready.module);
        let poisoned = case.clone().poisoned(&self.problem, seed);
        for (buffer, content) in self.problem.buffers.iter().zip(poisoned.before) {
            let content = content.unwrap_or_default();
            match buffer.is_written() {
                true => memory.add_buffer(content, buffer.is_read()),
                false => memory.add_input(content),
            };
        }
        for bytes in &ready.recording.memory {
            let mut content = vec![0; *bytes as usize];
            autocomp_eval::inputs::poison(&mut content, autocomp_catalog::DataType::Float32, seed);
            memory.add_scratch(content);
        }
        memory
    }

    /// Does what the host part asked for.
    pub(super) fn call(
        &self,
        ready: &Ready,
        memory: &mut DeviceMemory,
        how: How,
    ) -> Result<u64, Box<Finding>> {
        let mut steps = 0;
        for request in &ready.recording.requests {
            match request {
                Request::Launch(launch) => {
                    let run = Run {
                        order: how.order,
                        is_watched: how.is_watched,
                        most_steps: how.most_steps.saturating_sub(steps),
                        limits: self.machine.limits(),
                        together: match how.order {
                            Order::Mixed(_) => TOGETHER,
                            _ => 1,
                        },
                    };
                    steps += launch.run(&ready.kernels[&launch.kernel], memory, run)?;
                }
                Request::Set { to, value, bytes } => memory.set(*to, *value, *bytes)?,
                Request::Copy { to, from, bytes } => {
                    let [to, from] = [to, from].map(|it| it.address(&ready.module).unwrap_or(0));
                    memory.copy(to, from, *bytes)?;
                }
                Request::Put { to, content } => {
                    memory.put(to.address(&ready.module).unwrap_or(0), content)?;
                }
                Request::Free { address } => memory.free(*address)?,
            }
        }
        Ok(steps)
    }

    /// Returns what buffers hold before a call.
    pub(super) fn before(&self, case: &Case, seed: Seed) -> Vec<Vec<u8>> {
        let poisoned = Case::clone(case).poisoned(&self.problem, seed).before;
        poisoned
            .into_iter()
            .map(Option::unwrap_or_default)
            .collect()
    }

    /// Tests a kernel on every input set, the first one in three orders of blocks. Returns what
    /// a right one has shown.
    pub(super) fn test(
        &self,
        source: &str,
        ready: &Ready,
    ) -> Result<Result<Right, Verdict>, EvalError> {
        const ORDERS: [Order; 3] = [
            Order::Forward,
            Order::Backward,
            Order::Mixed(0x9e37_79b9_7f4a_7c15),
        ];
        let seed = self.seed.derive("poison of a device");
        let mut last = None;
        // What calls on the sets, one behind the other, have left in the module.
        let mut kept = None;
        let mut watched = MOST_WATCHED_STEPS;
        let mut is_cut = false;
        for (case, number) in self.reference.cases(source, self.seed)?.zip(0..) {
            let case = &*last.insert(case?);
            let orders = if number == 0 {
                &ORDERS[..]
            } else {
                &ORDERS[..1]
            };
            for order in orders {
                let failed = |finding: &Finding| {
                    let (outcome, mut found) = diagnose(&self.problem, (source, ready), finding);
                    found.notes.push(format!("input set: {}", case.name));
                    Verdict::failed(outcome, vec![found])
                };
                let mut result = None;
                if *order == Order::Forward && 0 < watched {
                    let mut memory = self.memory(ready, case, seed);
                    let how = How {
                        order: *order,
                        is_watched: true,
                        most_steps: watched,
                    };
                    match self.call(ready, &mut memory, how) {
                        Ok(steps) => {
                            watched -= steps.min(watched);
                            result = Some(memory);
                        }
                        // It goes on without being watched.
                        Err(finding) if finding.fault.is_out_of_steps() => {
                            is_cut |= number == 0;
                            watched = 0;
                        }
                        Err(finding) => return Ok(Err(failed(&finding))),
                    }
                }
                let memory = match result {
                    Some(memory) => memory,
                    None => {
                        let mut memory = self.memory(ready, case, seed);
                        let how = How::unwatched(*order);
                        if let Err(finding) = self.call(ready, &mut memory, how) {
                            return Ok(Err(failed(&finding)));
                        }
                        memory
                    }
                };
                let before = self.before(case, seed);
                let got = |number: usize| Some(memory.buffer(number as u32));
                if let Some(mut found) = compared(&self.problem, case, &before, got) {
                    if *order != Order::Forward {
                        found.code = "depends-on-block-order".into();
                        found.message = format!(
                            "the result is wrong when blocks, and warps of a block, run in another order, though it is right when they run as they are numbered: {}",
                            found.message
                        );
                        found.remedy = TEXTS.remedy(&found.code);
                        if let Some(read) = &memory.late_read {
                            tell_late_read(&mut found, read, source);
                        }
                    }
                    found.notes.insert(0, format!("input set: {}", case.name));
                    return Ok(Err(Verdict::failed(Outcome::Wrong, vec![found])));
                }
                if *order == Order::Forward {
                    kept = Some(match &kept {
                        None => memory,
                        Some(before) => {
                            match self.call_again((source, ready), case, before, memory) {
                                Ok(left) => left,
                                Err(verdict) => return Ok(Err(*verdict)),
                            }
                        }
                    });
                }
            }
        }
        if let Some(kept) = kept
            && let Err(verdict) = self.call_on_new_inputs((source, ready), &kept)?
        {
            return Ok(Err(*verdict));
        }
        let mut told = Vec::new();
        if is_cut {
            let mut found = Diagnostic::error(
                Stage::Test,
                "watched-in-part",
                format!(
                    "races and reads of what nobody wrote were looked for in a first part of the run only: in {MOST_WATCHED_STEPS} instructions of warps at most, and as long as what blocks pass on by atomic operations and fences fits into 256 MiB"
                ),
            );
            found.severity = Severity::Warning;
            told.push(found);
        }
        let last = last.ok_or_else(|| EvalError::Input {
            message: format!("{} has no input set", self.problem.name),
            remedies: vec!["add an `[[input_set]]` to its problem.toml".into()],
        })?;
        Ok(Ok(Right { told, case: last }))
    }
}

/// Says which read got what was there before a store of another thread.
fn tell_late_read(found: &mut Diagnostic, read: &LateRead, source: &str) {
    let line = read.line.0 as usize;
    found.location = (line != 0).then(|| SourceLocation {
        file: KERNEL_FILE.to_owned(),
        line: read.line.0,
        column: None,
    });
    let text = source.lines().nth(line.wrapping_sub(1));
    found.notes.extend(text.map(|it| it.trim().to_owned()));
    found.notes.push(format!(
        "{} reads here what {} has stored, and gets what was there before: volatile and relaxed accesses order nothing",
        named(&read.reader),
        named(&read.writer),
    ));
    found.remedy = TEXTS.remedy("depends-on-block-order-by-a-late-read");
}
