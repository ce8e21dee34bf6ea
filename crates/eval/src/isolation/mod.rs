//! Evaluators behind a wall: each evaluation is made by a child process with limits.
//!
//! A kernel that makes an evaluator panic, abort, exhaust memory or go on for ever takes
//! only the child with it, and the caller gets an [`EvalError::Fault`] about this kernel.
//! Of a child the caller believes nothing but a reply of bounded size that parses.
//!
//! The wall knows nothing of what is evaluated: [`IsolatedEvaluator`] stands for any
//! [`Evaluator`], and [`serve`] is the child's side. The program says how a child is started
//! and how it opens the evaluator.

mod child;
mod wire;
mod worker;

pub use child::serve;

use crate::evaluator::{EvalError, Evaluator};
use autocomp_core::{ContentHash, Cost, Evaluation};
use serde::{Deserialize, Serialize};
use std::io;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use wire::{Reply, Request};
use worker::{Death, Worker};

/// How long a child may take to open an evaluator, which may build a runtime.
const OPENING: Duration = Duration::from_secs(1200);

/// So many evaluations in a row that end with the child's death are blamed on the machine.
const DEATHS_OF_A_BROKEN_MACHINE: u32 = 8;

/// What one evaluation may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IsolationLimits {
    /// Address space of the child, bytes.
    pub memory_bytes: u64,
    /// Processor time of the child, seconds, at least 1; compilers that it starts have
    /// limits of their own.
    pub cpu_seconds: u64,
    /// Wall time, for a child that waits for ever. Far above what an evaluation takes on a
    /// busy machine.
    pub wall: Duration,
}

impl IsolationLimits {
    /// Returns limits that no sound evaluation comes near: 4 GiB where 0.1 are usual, and
    /// half an hour where the slowest kernel that is told to be too slow takes minutes.
    #[must_use]
    pub fn standard() -> Self {
        Self {
            memory_bytes: 4 << 30,
            cpu_seconds: 30 * 60,
            wall: Duration::from_secs(2 * 60 * 60),
        }
    }
}

/// Why there is no child with an evaluator.
enum Unopened {
    /// It died before; a second one may live.
    Died(EvalError),
    /// There can be none.
    Refused(EvalError),
}

/// Starts the command of a child.
pub type StartChild = dyn Fn() -> io::Result<Command> + Send + Sync;

/// Child processes that evaluate. Several evaluators may share them.
pub struct Isolation {
    start: Box<StartChild>,
    limits: IsolationLimits,
    idle: Mutex<Vec<Worker>>,
    deaths_in_a_row: AtomicU32,
}

impl std::fmt::Debug for Isolation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Isolation")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Isolation {
    /// Makes children with the command that `start` returns: a program that calls [`serve`]
    /// on its standard input and output. A child is started when an evaluation finds no
    /// idle one.
    #[must_use]
    pub fn new(start: Box<StartChild>, limits: IsolationLimits) -> Self {
        Self {
            start,
            limits,
            idle: Mutex::default(),
            deaths_in_a_row: AtomicU32::new(0),
        }
    }

    /// Returns a child that has opened the evaluator of `setup`, whose key for the empty
    /// source is `identity`.
    fn worker(&self, setup: &str, identity: ContentHash) -> Result<Worker, EvalError> {
        let idle = {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            let fitting = idle.iter().position(|worker| worker.has_opened(setup));
            let place = fitting.or_else(|| idle.len().checked_sub(1));
            place.map(|place| idle.swap_remove(place))
        };
        // An idle child may have been killed meanwhile.
        if let Some(mut worker) = idle
            && (worker.has_opened(setup) || self.open(&mut worker, setup, identity).is_ok())
        {
            return Ok(worker);
        }
        match self.fresh_worker(setup, identity) {
            // Somebody may have killed it.
            Err(Unopened::Died(_)) => self.fresh_worker(setup, identity),
            other => other,
        }
        .map_err(|(Unopened::Died(error) | Unopened::Refused(error))| error)
    }

    fn fresh_worker(&self, setup: &str, identity: ContentHash) -> Result<Worker, Unopened> {
        let started = (self.start)().and_then(Worker::start);
        let mut worker = started.map_err(|error| {
            Unopened::Refused(EvalError::Environment {
                message: format!("failed to start a process that evaluates: {error}"),
                remedies: vec![
                    "allow more processes and open files (`ulimit -u`, `ulimit -n`), or free memory"
                        .to_owned(),
                    "or evaluate fewer kernels at a time with `--workers`".to_owned(),
                ],
            })
        })?;
        self.open(&mut worker, setup, identity)?;
        Ok(worker)
    }

    /// Has a child open an evaluator. No candidate is known to it yet, so whatever goes
    /// wrong is no fault of one.
    fn open(
        &self,
        worker: &mut Worker,
        setup: &str,
        identity: ContentHash,
    ) -> Result<(), Unopened> {
        let request = Request::Open {
            setup: setup.to_owned(),
            limits: self.limits.clone(),
        };
        let unusable = |message: String| EvalError::Environment {
            message,
            remedies: vec!["see what `autocomp doctor` says".to_owned()],
        };
        match worker.ask(&request, OPENING) {
            Ok(Reply::Opened { identity: found }) if found == identity => {
                worker.set_opened(setup);
                Ok(())
            }
            Ok(Reply::Opened { .. }) => Err(Unopened::Refused(EvalError::Environment {
                message: "the problem, the target or the compiler has changed since the program \
                          was started"
                    .to_owned(),
                remedies: vec!["restore it, or start again".to_owned()],
            })),
            Ok(Reply::Failed(error)) => Err(Unopened::Refused(error.into())),
            Ok(Reply::Panicked { message }) => Err(Unopened::Refused(unusable(format!(
                "the process that evaluates did not get ready: it panicked: {message}"
            )))),
            Ok(_) => Err(Unopened::Refused(unusable(
                "the process that evaluates answered something else than it was asked".to_owned(),
            ))),
            Err(death) => Err(Unopened::Died(unusable(format!(
                "the process that evaluates did not get ready: it {}",
                death.text(&worker.last_words())
            )))),
        }
    }

    fn put_back(&self, worker: Worker) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(worker);
    }

    fn evaluate(
        &self,
        setup: &str,
        identity: ContentHash,
        key: ContentHash,
        source: &str,
        bound: Option<Cost>,
    ) -> Result<Evaluation, EvalError> {
        let request = Request::Evaluate {
            source: source.to_owned(),
            bound,
        };
        let mut is_repeated = false;
        loop {
            let mut worker = self.worker(setup, identity)?;
            let death = match worker.ask(&request, self.limits.wall) {
                Ok(Reply::Evaluated(evaluation)) if evaluation.key == key => {
                    self.deaths_in_a_row.store(0, Ordering::Relaxed);
                    self.put_back(worker);
                    return Ok(*evaluation);
                }
                Ok(Reply::Failed(error)) => {
                    self.deaths_in_a_row.store(0, Ordering::Relaxed);
                    self.put_back(worker);
                    return Err(error.into());
                }
                // What a panic leaves behind is not used again.
                Ok(Reply::Panicked { message }) => {
                    self.deaths_in_a_row.store(0, Ordering::Relaxed);
                    return Err(EvalError::Fault(format!(
                        "it panicked: {message}{}",
                        worker.last_words()
                    )));
                }
                Ok(_) => Death::Garbled("it answers something else than it was asked".to_owned()),
                Err(death) => death,
            };
            let words = worker.last_words();
            drop(worker);
            // Somebody may have killed the child: only a kernel that is the death of a
            // fresh one too is to blame. Limits are long enough as they are.
            if !is_repeated && !death.is_limit() {
                is_repeated = true;
                continue;
            }
            return Err(self.blame(&death, &words));
        }
    }

    /// Asks for the machine code of a kernel. One that is the end of a child has none:
    /// what is to be said about it is said when it is evaluated.
    fn machine_code(
        &self,
        setup: &str,
        identity: ContentHash,
        source: &str,
    ) -> Result<Option<ContentHash>, EvalError> {
        let request = Request::MachineCode {
            source: source.to_owned(),
        };
        let mut worker = self.worker(setup, identity)?;
        match worker.ask(&request, self.limits.wall) {
            Ok(Reply::MachineCode { code }) => {
                self.put_back(worker);
                Ok(code)
            }
            Ok(Reply::Failed(error)) => {
                self.put_back(worker);
                Err(error.into())
            }
            Ok(_) | Err(_) => Ok(None),
        }
    }

    /// Says whose fault a death is: the kernel's, unless children do nothing but die.
    fn blame(&self, death: &Death, words: &str) -> EvalError {
        let n_deaths = 1 + self.deaths_in_a_row.fetch_add(1, Ordering::Relaxed);
        let text = death.text(words);
        if n_deaths < DEATHS_OF_A_BROKEN_MACHINE {
            return EvalError::Fault(format!("the process that evaluated the kernel {text}"));
        }
        self.deaths_in_a_row.store(0, Ordering::Relaxed);
        EvalError::Environment {
            message: format!(
                "{n_deaths} evaluations in a row ended with the death of the process that made \
                 them; the last one {text}"
            ),
            remedies: vec![
                "see whether the machine is out of memory, and what `autocomp doctor` says"
                    .to_owned(),
            ],
        }
    }
}

/// An evaluator whose evaluations are made by child processes.
pub struct IsolatedEvaluator {
    isolation: Arc<Isolation>,
    keys: Arc<dyn Evaluator>,
    identity: ContentHash,
    setup: String,
}

impl std::fmt::Debug for IsolatedEvaluator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IsolatedEvaluator")
            .field("setup", &self.setup)
            .finish_non_exhaustive()
    }
}

impl IsolatedEvaluator {
    /// Evaluates what `evaluator` would, in a child that opens its like from `setup`, a text
    /// that is for the program's child to understand. Keys are those of `evaluator`; a child
    /// that has others is refused.
    #[must_use]
    pub fn new(isolation: Arc<Isolation>, evaluator: Arc<dyn Evaluator>, setup: String) -> Self {
        Self {
            identity: evaluator.key(""),
            keys: evaluator,
            isolation,
            setup,
        }
    }
}

impl Evaluator for IsolatedEvaluator {
    fn key(&self, source: &str) -> ContentHash {
        self.keys.key(source)
    }

    fn identity(&self) -> ContentHash {
        self.keys.identity()
    }

    fn normal_form(&self, source: &str) -> Option<String> {
        self.keys.normal_form(source)
    }

    fn machine_code(&self, source: &str) -> Result<Option<ContentHash>, EvalError> {
        self.isolation
            .machine_code(&self.setup, self.identity, source)
    }

    fn evaluate(&self, source: &str) -> Result<Evaluation, EvalError> {
        self.evaluate_within(source, None)
    }

    fn evaluate_within(&self, source: &str, bound: Option<Cost>) -> Result<Evaluation, EvalError> {
        self.isolation
            .evaluate(&self.setup, self.identity, self.key(source), source, bound)
    }
}
