//! One worker, from its start to the comparison of what it left.

use crate::builder::Program;
use crate::shared_memory::{Placement, SharedMemory};
use crate::slack::{Numbers, Pattern};
use crate::worker::{Death, Spent, Worker, WorkerSettings};
use autocomp_catalog::{Buffer, Problem};
use autocomp_core::{Diagnostic, Seed, Severity, Stage};
use autocomp_eval::inputs::Case;
use autocomp_eval::{EvalError, comparison};
use std::fmt;
use std::time::Duration;

/// Elements of a line in messages: what vectors and unrolled loops leave out.
const TILE: usize = 16;

/// What a kernel did that it must not do, in one of its calls or before.
#[derive(Clone, Debug)]
pub enum Offence {
    /// It did not come to an end of its own.
    Died {
        /// Why.
        death: Death,
        /// What lies at the address that was accessed, if something is near.
        place: Option<Place>,
    },
    /// It gave a wrong result.
    Wrong(Box<Diagnostic>),
    /// It wrote beside its buffers.
    WroteBeside(Box<Diagnostic>),
    /// It left modes of floating point changed.
    ChangedModes,
    /// Tests and timings of it would take more than one evaluation may.
    TooSlow {
        /// Processor time of a call, nanoseconds.
        call_ns: f64,
        /// Processor time of one evaluation.
        allowed: Duration,
    },
    /// Its calls on inputs of one kind took times too far apart.
    Unsteady {
        /// The shortest, nanoseconds.
        least_ns: f64,
        /// The longest.
        greatest_ns: f64,
    },
}

/// What lies at an address, in words that follow "reads".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// An element of a buffer.
    Element(String),
    /// Memory beside a buffer.
    Beside(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Element(words) | Self::Beside(words)) = self;
        f.write_str(words)
    }
}

/// A kernel in a worker of its own, and the memory it works on. Nothing that another worker
/// was given or gave is in there; each set of buffers is empty but while a call is made.
#[derive(Debug)]
pub struct Calls<'p> {
    problem: &'p Problem,
    memory: SharedMemory,
    worker: Worker,
    /// How often each set was filled.
    fillings: Vec<usize>,
    /// What is around each buffer of each set.
    patterns: Vec<Vec<Pattern>>,
}

impl<'p> Calls<'p> {
    /// Starts `program` in a worker with memory for one set of buffers per placement. The
    /// inner error is the one of [`Worker::start`].
    pub fn start(
        problem: &'p Problem,
        program: &Program,
        sets: &[Placement],
        settings: WorkerSettings,
        seed: Seed,
    ) -> Result<Result<Self, Death>, EvalError> {
        let n_sets = sets.len();
        let mut memory = SharedMemory::new(&problem.buffers, sets, seed).map_err(|error| {
            EvalError::Environment {
                message: format!("no memory for the buffers of {n_sets} calls: {error}"),
                remedies: vec!["end other programs".into()],
            }
        })?;
        let worker = Worker::start(program, &mut memory, settings)?;
        Ok(worker.map(|worker| Self {
            problem,
            memory,
            worker,
            fillings: vec![0; n_sets],
            patterns: vec![Vec::new(); n_sets],
        }))
    }

    /// Fills a set with what it holds before a call, zeros where the case has nothing. Nothing of
    /// it is there for a worker to see until then. Around buffers is something else each time that the set is
    /// filled: numbers that are none, or infinite ones.
    pub fn fill(&mut self, set: usize, case: &Case) {
        let is_odd = self.fillings[set] % 2 == 1;
        self.fillings[set] += 1;
        self.fill_around(set, case, |buffer, _| Pattern::around(buffer, is_odd));
    }

    /// Fills buffers for an input set, with ordinary numbers around them.
    pub fn fill_among_numbers(&mut self, set: usize, case: &Case, numbers: Numbers) {
        self.fill_around(set, case, |buffer, content| {
            Pattern::ordinary(buffer, content, numbers)
        });
    }

    fn fill_around(
        &mut self,
        set: usize,
        case: &Case,
        pattern: impl Fn(&Buffer, &[u8]) -> Pattern,
    ) {
        self.patterns[set].clear();
        for (idx, buffer) in self.problem.buffers.iter().enumerate() {
            let (before, after) = (&case.before[idx], &case.after[idx]);
            let content = before.as_ref().or(after.as_ref()).map_or(&[][..], |it| it);
            let pattern = pattern(buffer, content);
            self.patterns[set].push(pattern);
            self.memory.fill_slack(set, idx, pattern);
            let bytes = self.memory.buffer_mut(set, idx);
            match before {
                Some(content) => bytes.copy_from_slice(content),
                None => bytes.fill(0),
            }
        }
    }

    /// Takes sets out of the caches.
    pub fn flush(&self, sets: std::ops::Range<usize>) {
        self.memory.flush(sets);
    }

    /// Returns the content of a buffer.
    pub fn content(&self, set: usize, buffer: usize) -> &[u8] {
        self.memory.buffer(set, buffer)
    }

    /// Empties a set.
    pub fn wipe(&mut self, set: usize) {
        self.memory.wipe(set);
    }

    /// Returns the number of the worker's process.
    pub fn process(&self) -> i32 {
        self.worker.process()
    }

    /// Makes one call on each of `sets`, for which the worker has `time` of a processor.
    pub fn run(&mut self, sets: std::ops::Range<usize>, time: Duration) -> Result<Spent, Offence> {
        let addresses = |set: usize| {
            let places = self.memory.places()[set].iter();
            places.map(|it| it.address + it.inset as u64).collect()
        };
        let calls: Vec<Vec<u64>> = sets.map(addresses).collect();
        self.worker
            .call(&calls, time)
            .map_err(|death| Offence::Died {
                place: match death {
                    Death::Fault { address, .. } => self.at(address),
                    _ => None,
                },
                death,
            })
    }

    /// Makes the calls on the sets from `first` on, which were filled with `cases`, looks at
    /// everything they left, and empties the sets.
    pub fn call(
        &mut self,
        first: usize,
        cases: &[&Case],
        time: Duration,
    ) -> Result<Spent, Offence> {
        let spent = self.run(first..first + cases.len(), time)?;
        for (offset, case) in cases.iter().enumerate() {
            self.check(first + offset, case)?;
            self.wipe(first + offset);
        }
        match spent.changed_modes {
            0 => Ok(spent),
            _ => Err(Offence::ChangedModes),
        }
    }

    fn check(&self, set: usize, case: &Case) -> Result<(), Offence> {
        for (idx, buffer) in self.problem.buffers.iter().enumerate() {
            let got = self.memory.buffer(set, idx);
            match &case.after[idx] {
                Some(right) => {
                    let before = case.before[idx].as_deref().unwrap_or(&[]);
                    let tolerance = self.problem.tolerance;
                    let found = comparison::compare(buffer, right, got, before, tolerance, TILE);
                    if let Some(mut found) = found {
                        found.notes.insert(0, format!("input set: {}", case.name));
                        return Err(Offence::Wrong(Box::new(found)));
                    }
                }
                // Workers cannot write to inputs: their pages are read-only.
                None if buffer.is_written() => {}
                None => continue,
            }
            let [before, behind] = self.memory.slack(set, idx);
            let pattern = self.patterns[set][idx];
            for (bytes, side) in [(before, "in front of"), (behind, "behind")] {
                let count = pattern.changed(bytes);
                if 0 < count {
                    return Err(Offence::WroteBeside(Box::new(Diagnostic {
                        stage: Stage::Test,
                        severity: Severity::Error,
                        code: "out-of-bounds-write".into(),
                        message: format!("{count} bytes were written {side} {}", buffer.name),
                        location: None,
                        notes: vec![format!("input set: {}", case.name)],
                        remedy: Some("write to the elements of the buffers only".into()),
                    })));
                }
            }
        }
        Ok(())
    }

    /// Returns what lies at an address of the worker, and how far from it.
    fn at(&self, address: u64) -> Option<Place> {
        let mut nearest: Option<(u64, Place)> = None;
        for of_set in self.memory.places() {
            for (place, buffer) in of_set.iter().zip(&self.problem.buffers) {
                let start = place.address + place.inset as u64;
                let end = start + place.bytes as u64;
                let name = &buffer.name;
                let found = if (start..end).contains(&address) {
                    let element = (address - start) as usize / buffer.dtype.bytes();
                    (0, Place::Element(comparison::place(buffer, element)))
                } else if end <= address {
                    let by = address - end;
                    let words = match by {
                        0 => format!("the first byte behind the end of {name}"),
                        _ => format!("{by} bytes behind the end of {name}"),
                    };
                    (by + 1, Place::Beside(words))
                } else {
                    let by = start - address;
                    (by, Place::Beside(format!("{by} bytes in front of {name}")))
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
            .map(|(_, place)| place)
    }
}
