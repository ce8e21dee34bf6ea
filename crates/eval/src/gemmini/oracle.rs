//! Right answers: the problem's reference, run on the simulated core.

use super::engine::ENGINE_HASH;
use super::layout::Layout;
use crate::build::{Build, Builder, Loops, Source};
use crate::comparison::place;
use crate::evaluator::EvalError;
use crate::file_store::FileStore;
use crate::inputs::{Case, poison_output};
use autocomp_core::{ContentHash, ContentHasher, Seed};
use autocomp_riscv::{Limits, Mode};
use autocomp_sim::{Machine, MachineConfig, NoAccelerator, Program, Stop};
use autocomp_targets::{InputSet, Problem};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Instructions that a reference may take, per multiply-accumulate step.
const INSTRUCTIONS_PER_MAC: u64 = 200;

/// File name of references in messages.
const REFERENCE: &str = "reference.c";

/// Runs references, and keeps their answers.
pub(super) struct Oracle<'a> {
    pub(super) problem: &'a Problem,
    pub(super) builder: &'a Builder,
    pub(super) machine: &'a MachineConfig,
    pub(super) header: Option<&'a str>,
    pub(super) macros: &'a [(String, String)],
    pub(super) store: &'a FileStore,
    /// Threads that may compute at once.
    pub(super) threads: usize,
}

impl Oracle<'_> {
    /// Returns one case for each of `sets`, drawn with `seed`. If answers have to be
    /// computed and `is_first` is set, the reference is asked one of them twice, to see
    /// whether it writes its outputs.
    pub(super) fn cases(
        &self,
        sets: &[InputSet],
        seed: Seed,
        is_first: bool,
    ) -> Result<Vec<Case>, EvalError> {
        let mut cases: Vec<Case> = sets.iter().map(|set| self.inputs(set, seed)).collect();
        let mut missing = Vec::new();
        for (case, set) in cases.iter_mut().zip(sets) {
            match self.stored(&self.key(set, seed)) {
                Some(after) => case.after = after,
                None => missing.push((case, self.key(set, seed))),
            }
        }
        if missing.is_empty() {
            return Ok(cases);
        }
        let elf = self.reference()?;
        let workers = self.threads.clamp(1, missing.len());
        let unchecked = AtomicBool::new(is_first);
        let queue = Mutex::new(missing);
        let work = || -> Result<(), EvalError> {
            let program = parse(&elf)?;
            loop {
                let next = queue
                    .lock()
                    .map_err(|_| EvalError::Fault("a reference run panicked".into()))?
                    .pop();
                let Some((case, key)) = next else {
                    return Ok(());
                };
                case.after = self.run(&program, case)?;
                if unchecked.swap(false, Ordering::Relaxed) {
                    self.check_outputs(&program, case)?;
                }
                self.store.put(
                    &key,
                    &case
                        .after
                        .iter()
                        .flatten()
                        .flatten()
                        .copied()
                        .collect::<Vec<u8>>(),
                );
            }
        };
        std::thread::scope(|scope| {
            let handles: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            handles.into_iter().try_for_each(|handle| {
                handle
                    .join()
                    .map_err(|_| EvalError::Fault("a reference run panicked".into()))?
            })
        })?;
        drop(queue);
        Ok(cases)
    }

    fn inputs(&self, set: &InputSet, seed: Seed) -> Case {
        Case {
            name: set.name.clone(),
            before: self
                .problem
                .buffers
                .iter()
                .map(|buffer| {
                    if buffer.is_read() {
                        set.draw(buffer, seed)
                    } else {
                        None
                    }
                })
                .collect(),
            after: Vec::new(),
        }
    }

    fn key(&self, set: &InputSet, seed: Seed) -> ContentHash {
        let mut hasher = ContentHasher::new("autocomp answer");
        hasher.update(&self.problem.oracle_hash.0);
        hasher.update(&self.builder.runtime_key().0);
        hasher.update(ENGINE_HASH.as_bytes());
        hasher.update(set.name.as_bytes());
        hasher.update(&seed.0.to_le_bytes());
        hasher.finish()
    }

    fn stored(&self, key: &ContentHash) -> Option<Vec<Option<Vec<u8>>>> {
        let bytes = self.store.get(key)?;
        let mut rest = bytes.as_slice();
        let mut after = Vec::new();
        for buffer in &self.problem.buffers {
            after.push(if buffer.is_written() {
                let (content, others) = rest.split_at_checked(buffer.bytes())?;
                rest = others;
                Some(content.to_vec())
            } else {
                None
            });
        }
        rest.is_empty().then_some(after)
    }

    fn reference(&self) -> Result<Vec<u8>, EvalError> {
        let source = Source {
            name: REFERENCE,
            text: &self.problem.reference,
            header: self.header,
            macros: self.macros,
            loops: Loops::Unrolled,
        };
        match self.builder.build(&source)? {
            Build::Built(program) => Ok(program.elf),
            Build::Failed(diagnostics) => {
                let first = diagnostics.first().map(|found| {
                    let place = found.location.as_ref().map(|place| format!("{place}: "));
                    format!("{}{}", place.unwrap_or_default(), found.message)
                });
                Err(self.broken(format!("does not build: {}", first.unwrap_or_default())))
            }
        }
    }

    fn run(&self, program: &Program, case: &Case) -> Result<Vec<Option<Vec<u8>>>, EvalError> {
        let buffers = &self.problem.buffers;
        let lacks =
            |symbol| EvalError::Fault(format!("the linked reference lacks the symbol {symbol}"));
        let layout = Layout::new(program, buffers, Seed(0)).map_err(lacks)?;
        let accelerator = NoAccelerator::new(0, 0);
        let mut machine = Machine::with_memory(
            self.machine,
            accelerator,
            Mode::Functional,
            layout.memory_bytes,
        );
        machine.load(program).map_err(|error| {
            EvalError::Fault(format!("the linked reference cannot be loaded: {error}"))
        })?;
        layout.protect(machine.memory(), buffers, false);
        for (before, address) in case.before.iter().zip(&layout.addresses) {
            // Outputs are zero.
            if let Some(content) = before {
                let bytes = machine
                    .memory()
                    .host_mut(*address, content.len())
                    .expect("buffers lie in memory");
                bytes.copy_from_slice(content);
            }
        }
        let entry = program
            .symbol(&self.problem.entry)
            .ok_or_else(|| lacks("of the entry function"))?;
        let limits = Limits {
            instructions: (self.problem.work.macs + 1_000_000).saturating_mul(INSTRUCTIONS_PER_MAC),
            cycles: u64::MAX,
        };
        if let Err(stop) = machine.call(entry, &layout.addresses, layout.stack.end, limits) {
            return Err(self.broken(match stop {
                Stop::Limit(_) => {
                    format!("did not return within {} instructions", limits.instructions)
                }
                Stop::Fault(fault) => {
                    let line = program
                        .line(fault.pc, |_| false)
                        .map(|line| format!("{line}: "));
                    format!("stopped: {}{}", line.unwrap_or_default(), fault.message)
                }
            }));
        }
        Ok(buffers
            .iter()
            .zip(&layout.addresses)
            .map(|(buffer, address)| {
                let content = machine
                    .memory()
                    .host(*address, buffer.bytes())
                    .expect("buffers lie in memory");
                buffer.is_written().then(|| content.to_vec())
            })
            .collect())
    }

    /// Checks that the answer to `case` does not depend on what its outputs held before:
    /// that the reference writes every element of them, and reads none that it has not
    /// written. Asking once more with other content there shows both.
    fn check_outputs(&self, program: &Program, case: &Case) -> Result<(), EvalError> {
        let content = case.before.iter().zip(&case.after);
        let filled: Vec<Option<Vec<u8>>> = content
            .map(|(before, after)| match (before, after) {
                (None, Some(right)) => {
                    let mut bytes = vec![0; right.len()];
                    poison_output(&mut bytes, right, Seed(0));
                    Some(bytes)
                }
                (before, _) => before.clone(),
            })
            .collect();
        let again = Case {
            name: case.name.clone(),
            before: filled,
            after: Vec::new(),
        };
        let other = self.run(program, &again)?;
        for (idx, buffer) in self.problem.buffers.iter().enumerate() {
            let (Some(first), Some(second)) = (&case.after[idx], &other[idx]) else {
                continue;
            };
            let width = buffer.dtype.bytes();
            let mut elements = first.chunks(width).zip(second.chunks(width));
            let Some(element) = elements.position(|(a, b)| a != b) else {
                continue;
            };
            let at = place(buffer, element);
            let range = element * width..(element + 1) * width;
            let filled = again.before[idx]
                .as_ref()
                .map(|bytes| &bytes[range.clone()]);
            return Err(self.broken(if filled == Some(&second[range]) {
                format!(
                    "does not write {at} (with input set {}): every element of an output has to be written",
                    case.name
                )
            } else {
                format!(
                    "computes {at} from what the outputs held before (with input set {}): a buffer that is read is `inout`",
                    case.name
                )
            }));
        }
        Ok(())
    }

    fn broken(&self, what: String) -> EvalError {
        EvalError::Input {
            message: format!("the reference of problem {} {what}", self.problem.name),
            remedies: vec![format!("correct {REFERENCE} in the problem's folder")],
        }
    }
}

/// Parses a linked program.
pub(super) fn parse(elf: &[u8]) -> Result<Program, EvalError> {
    Program::parse(elf).map_err(|error| EvalError::Fault(format!("the linked program: {error}")))
}
