//! One worker, from its start to the comparison of what it left.

use crate::building::Program;
use crate::cases::{self, Case, SLACK_BYTE};
use crate::shared_memory::SharedMemory;
use crate::worker::{Death, Spent, Worker, WorkerSettings};
use autocomp_catalog::Problem;
use autocomp_core::{Diagnostic, Seed, Severity, Stage};
use autocomp_eval::EvalError;

/// What a kernel did that it must not do, in one of its calls.
#[derive(Clone, Debug)]
pub(crate) enum Offence {
    /// It did not come to an end of its own.
    Died(Death),
    /// It gave a wrong result, or wrote beside its buffers.
    Wrong(Box<Diagnostic>),
    /// It left modes of floating point changed.
    ChangedModes,
}

/// A kernel in a worker of its own, and the memory it works on.
#[derive(Debug)]
pub(crate) struct Calls<'p> {
    problem: &'p Problem,
    memory: SharedMemory,
}

impl<'p> Calls<'p> {
    /// Makes memory for `sets` calls.
    pub(crate) fn new(problem: &'p Problem, sets: usize, seed: Seed) -> Result<Self, EvalError> {
        let mut memory = SharedMemory::new(&problem.buffers, sets, seed).map_err(|error| {
            EvalError::Environment {
                message: format!("no memory for the buffers of {sets} calls: {error}"),
                remedies: vec!["end other programs".into()],
            }
        })?;
        for set in 0..sets {
            for buffer in 0..problem.buffers.len() {
                memory.fill_slack(set, buffer, SLACK_BYTE);
            }
        }
        Ok(Self { problem, memory })
    }

    /// Gives the buffers other addresses for the next worker.
    pub(crate) fn shuffle(&mut self, seed: Seed) {
        self.memory.shuffle(&self.problem.buffers, seed);
    }

    /// Starts a worker.
    pub(crate) fn start(
        &mut self,
        program: &Program,
        settings: WorkerSettings,
    ) -> Result<Worker, EvalError> {
        let settings = WorkerSettings {
            is_library: program.is_library,
            ..settings
        };
        Worker::start(&program.path(), &mut self.memory, settings)
    }

    /// Fills a set with what it holds before a call. Nothing of it is there
    /// for a worker to see until then.
    pub(crate) fn fill(&mut self, set: usize, case: &Case) {
        for (idx, content) in case.before.iter().enumerate() {
            self.memory.buffer_mut(set, idx).copy_from_slice(content);
        }
    }

    /// Takes sets out of the caches.
    pub(crate) fn flush(&self, sets: std::ops::Range<usize>) {
        self.memory.flush(sets);
    }

    /// Returns the content of a buffer.
    pub(crate) fn content(&self, set: usize, buffer: usize) -> &[u8] {
        self.memory.buffer(set, buffer)
    }

    /// Makes the calls on `count` sets from `first` on, which were filled with
    /// `cases`, and looks at everything they left.
    pub(crate) fn call(
        &self,
        worker: &mut Worker,
        first: usize,
        cases: &[&Case],
    ) -> Result<Spent, Offence> {
        let spent = worker.call(first, cases.len()).map_err(Offence::Died)?;
        for (offset, case) in cases.iter().enumerate() {
            self.check(first + offset, case).map_err(Offence::Wrong)?;
        }
        match spent.changed_modes {
            0 => Ok(spent),
            _ => Err(Offence::ChangedModes),
        }
    }

    fn check(&self, set: usize, case: &Case) -> Result<(), Box<Diagnostic>> {
        for (idx, buffer) in self.problem.buffers.iter().enumerate() {
            let got = self.memory.buffer(set, idx);
            match &case.after[idx] {
                Some(right) => {
                    if !cases::is_right(buffer, right, got, self.problem.tolerance) {
                        let before = &case.before[idx];
                        let mut found =
                            cases::describe(buffer, right, got, before, self.problem.tolerance);
                        found.notes.insert(0, format!("input set: {}", case.name));
                        return Err(Box::new(found));
                    }
                }
                // Workers cannot write to inputs: their pages are read-only.
                None if buffer.is_written() => {}
                None => continue,
            }
            let [before, behind] = self.memory.slack(set, idx);
            let changed = |bytes: &[u8]| bytes.iter().filter(|byte| **byte != SLACK_BYTE).count();
            for (bytes, side) in [(before, "in front of"), (behind, "behind")] {
                let count = changed(bytes);
                if 0 < count {
                    return Err(Box::new(Diagnostic {
                        stage: Stage::Test,
                        severity: Severity::Error,
                        code: "out-of-bounds-write".into(),
                        message: format!("{count} bytes were written {side} {}", buffer.name),
                        location: None,
                        notes: vec![format!("input set: {}", case.name)],
                        remedy: Some("write to the elements of the buffers only".into()),
                    }));
                }
            }
        }
        Ok(())
    }

    /// Returns what lies at an address of the worker, and how far from it.
    pub(crate) fn at(&self, address: u64) -> Option<String> {
        let mut nearest: Option<(u64, String)> = None;
        for of_set in self.memory.places() {
            for (place, buffer) in of_set.iter().zip(&self.problem.buffers) {
                let start = place.address + place.inset as u64;
                let end = start + place.bytes as u64;
                let name = &buffer.name;
                let found = if (start..end).contains(&address) {
                    let element = (address - start) as usize / buffer.dtype.bytes();
                    (0, cases::place(buffer, element))
                } else if end <= address {
                    let by = address - end;
                    (by + 1, format!("{by} bytes behind the end of {name}"))
                } else {
                    let by = start - address;
                    (by, format!("{by} bytes in front of {name}"))
                };
                if nearest
                    .as_ref()
                    .is_none_or(|(distance, _)| found.0 < *distance)
                {
                    nearest = Some(found);
                }
            }
        }
        // Further off it is no wrong index but a wild pointer.
        nearest
            .filter(|(distance, _)| *distance < 16 << 20)
            .map(|(_, text)| text)
    }
}
