//! Benches behind a wall: each evaluation is made by somebody else, with limits.
//!
//! A kernel that makes an evaluator panic, abort, exhaust memory or go on for ever takes
//! only a child process with it, and the caller gets an [`EvalError::Fault`] about this kernel.
//! Of a child the caller believes nothing but a reply of bounded size that parses.
//!
//! The wall knows nothing of what is evaluated: [`IsolatedBench`] stands for any [`Bench`], and
//! [`serve`] is the other side. Whoever asks needs neither the device nor the tools: what is
//! known of a bench comes from the other side ([`BenchFacts`]). Nor does it matter where that
//! is: a [`Link`] is the way there, and [`Pipes`] to a child on this machine are one.

mod child;
mod link;
mod pipes;
mod wire;

pub use child::serve;
pub use link::{Death, Link, Reply, Request};
pub use pipes::Pipes;
pub use wire::Failure;

use crate::evaluator::{EvalError, Evaluator};
use crate::facts::BenchFacts;
use crate::family::Bench;
use crate::profile::Profiled;
use autocomp_core::{ContentHash, Cost, Evaluation, Language};
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long a child may take to open a bench, which may install a compiler and build a runtime.
const OPENING: Duration = Duration::from_secs(2 * 60 * 60);

/// Evaluations in a row that end with the child's death and are blamed on their kernels: from so
/// many on, the machine is to blame.
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
    /// Returns none, for somebody who sees no kernel.
    fn none() -> Self {
        Self {
            memory_bytes: u64::MAX,
            cpu_seconds: u64::MAX,
            wall: OPENING,
        }
    }

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

/// Why there is nobody with an open bench.
enum Unopened {
    /// The process died before it had opened one; a second process may live.
    Died(EvalError),
    /// No process can open it.
    Refused(EvalError),
}

impl Unopened {
    fn error(self) -> EvalError {
        let (Self::Died(error) | Self::Refused(error)) = self;
        error
    }
}

/// Somebody who evaluates, and the setup whose bench is open there.
struct Worker {
    link: Box<dyn Link>,
    opened: Option<String>,
}

/// Makes a link to somebody who evaluates: starts a child, say.
pub type Connect = dyn Fn() -> io::Result<Box<dyn Link>> + Send + Sync;

/// Those who evaluate. Several benches may share them.
pub struct Isolation {
    connect: Box<Connect>,
    opener: Option<Box<Connect>>,
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
    /// Asks those to whom `connect` makes a link: programs that call [`serve`]. A link is made
    /// when an evaluation finds no idle one.
    #[must_use]
    pub fn new(connect: Box<Connect>, limits: IsolationLimits) -> Self {
        Self {
            connect,
            opener: None,
            limits,
            idle: Mutex::default(),
            deaths_in_a_row: AtomicU32::new(0),
        }
    }

    /// Has benches opened first by those to whom `opener` makes a link. They have no limits and
    /// evaluate nothing, so that they may be trusted with what installing tools needs.
    #[must_use]
    pub fn opened_by(self, opener: Box<Connect>) -> Self {
        Self {
            opener: Some(opener),
            ..self
        }
    }

    /// Has the bench of `setup` opened and returns what is known of it. Lines about what takes
    /// long go to `tell`.
    fn facts(&self, setup: &str, tell: &mut dyn FnMut(&str)) -> Result<BenchFacts, EvalError> {
        if let Some(opener) = &self.opener {
            let (_, facts) = Self::fresh(opener, &IsolationLimits::none(), setup, tell)?;
            return Ok(facts);
        }
        let (worker, facts) = Self::fresh(&self.connect, &self.limits, setup, tell)?;
        self.put_back(worker);
        Ok(facts)
    }

    /// Returns somebody who has opened the bench of `setup`, of which `facts` are known.
    fn worker(&self, setup: &str, facts: &BenchFacts) -> Result<Worker, EvalError> {
        let idle = {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            let has_opened = |worker: &Worker| worker.opened.as_deref() == Some(setup);
            let fitting = idle.iter().position(has_opened);
            let place = fitting.or_else(|| idle.len().checked_sub(1));
            place.map(|place| (idle.swap_remove(place), fitting.is_some()))
        };
        let silent = &mut |_: &str| {};
        let (connect, limits) = (&self.connect, &self.limits);
        let (worker, found) = match idle {
            Some((worker, true)) => return Ok(worker),
            Some((mut worker, false)) => match Self::open(&mut worker, limits, setup, silent) {
                Ok(found) => (worker, found),
                // It may have been killed meanwhile.
                Err(_) => Self::fresh(connect, limits, setup, silent)?,
            },
            None => Self::fresh(connect, limits, setup, silent)?,
        };
        // The floor of a machine may have been found to be lower.
        if (found.key_base, found.identity) != (facts.key_base, facts.identity) {
            return Err(EvalError::Environment {
                message: "the problem, the target or the compiler has changed since the program \
                          was started"
                    .to_owned(),
                remedies: vec!["restore it, or start again".to_owned()],
            });
        }
        Ok(worker)
    }

    fn fresh(
        connect: &Connect,
        limits: &IsolationLimits,
        setup: &str,
        tell: &mut dyn FnMut(&str),
    ) -> Result<(Worker, BenchFacts), EvalError> {
        match Self::fresh_worker(connect, limits, setup, tell) {
            // Somebody may have killed it.
            Err(Unopened::Died(_)) => Self::fresh_worker(connect, limits, setup, tell),
            other => other,
        }
        .map_err(Unopened::error)
    }

    fn fresh_worker(
        connect: &Connect,
        limits: &IsolationLimits,
        setup: &str,
        tell: &mut dyn FnMut(&str),
    ) -> Result<(Worker, BenchFacts), Unopened> {
        let link = connect().map_err(|error| {
            Unopened::Refused(EvalError::Environment {
                message: format!("failed to start a process that evaluates: {error}"),
                remedies: vec![
                    "allow more processes and open files (`ulimit -u`, `ulimit -n`), or free memory"
                        .to_owned(),
                    "or evaluate fewer kernels at a time with `--workers`".to_owned(),
                ],
            })
        })?;
        let mut worker = Worker { link, opened: None };
        let facts = Self::open(&mut worker, limits, setup, tell)?;
        Ok((worker, facts))
    }

    /// Has somebody open a bench. No candidate is known there yet, so whatever goes wrong is no
    /// fault of one.
    fn open(
        worker: &mut Worker,
        limits: &IsolationLimits,
        setup: &str,
        tell: &mut dyn FnMut(&str),
    ) -> Result<BenchFacts, Unopened> {
        let request = Request::Open {
            setup: setup.to_owned(),
            limits: limits.clone(),
        };
        let unusable = |message: String| EvalError::Environment {
            message,
            remedies: vec!["see what `autocomp doctor` says".to_owned()],
        };
        match worker.link.ask(&request, OPENING, tell) {
            Ok(Reply::Opened { facts }) => {
                worker.opened = Some(setup.to_owned());
                Ok(facts)
            }
            Ok(Reply::Failed(error)) => Err(Unopened::Refused(error.into())),
            Ok(Reply::Panicked { message }) => Err(Unopened::Refused(unusable(format!(
                "the process that evaluates did not get ready: it panicked: {message}"
            )))),
            Ok(_) => Err(Unopened::Refused(unusable(
                "the process that evaluates answered something else than it was asked".to_owned(),
            ))),
            Err(death) => Err(Unopened::Died(unusable(format!(
                "the process that evaluates did not get ready: it {}",
                death.text(&worker.link.last_words())
            )))),
        }
    }

    fn put_back(&self, worker: Worker) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(worker);
    }

    /// Asks about a kernel until there is an answer that `take` understands.
    fn ask<T>(
        &self,
        (setup, facts): (&str, &BenchFacts),
        request: &Request,
        take: impl Fn(Reply) -> Option<T>,
    ) -> Result<T, EvalError> {
        let mut is_repeated = false;
        loop {
            let mut worker = self.worker(setup, facts)?;
            let death = match worker.link.ask(request, self.limits.wall, &mut |_| {}) {
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
                        worker.link.last_words()
                    )));
                }
                Ok(reply) => match take(reply) {
                    Some(taken) => {
                        self.deaths_in_a_row.store(0, Ordering::Relaxed);
                        self.put_back(worker);
                        return Ok(taken);
                    }
                    None => {
                        Death::Garbled("it answers something else than it was asked".to_owned())
                    }
                },
                Err(death) => death,
            };
            let words = worker.link.last_words();
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
        facts: &BenchFacts,
        source: &str,
    ) -> Result<Option<ContentHash>, EvalError> {
        let request = Request::MachineCode {
            source: source.to_owned(),
        };
        let mut worker = self.worker(setup, facts)?;
        match worker.link.ask(&request, self.limits.wall, &mut |_| {}) {
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

/// A bench whose evaluations are made by others.
pub struct IsolatedBench {
    isolation: Arc<Isolation>,
    facts: BenchFacts,
    language: &'static dyn Language,
    setup: String,
}

impl std::fmt::Debug for IsolatedBench {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IsolatedBench")
            .field("facts", &self.facts)
            .finish_non_exhaustive()
    }
}

impl IsolatedBench {
    /// Has a bench opened from `setup`, a text that is for the other side to understand, for
    /// kernels in `language`. Lines about what takes long go to `tell`.
    ///
    /// # Errors
    /// What the other side says, or why there is none.
    pub fn open(
        isolation: Arc<Isolation>,
        setup: String,
        language: &'static dyn Language,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Self, EvalError> {
        let facts = isolation.facts(&setup, tell)?;
        Ok(Self::known(isolation, setup, language, facts))
    }

    /// As [`IsolatedBench::open`] where the facts are known. Nobody is asked before there is
    /// something to evaluate; whoever has other facts then is refused.
    #[must_use]
    pub fn known(
        isolation: Arc<Isolation>,
        setup: String,
        language: &'static dyn Language,
        facts: BenchFacts,
    ) -> Self {
        Self {
            isolation,
            facts,
            language,
            setup,
        }
    }

    fn ask<T>(&self, request: &Request, take: impl Fn(Reply) -> Option<T>) -> Result<T, EvalError> {
        self.isolation
            .ask((&self.setup, &self.facts), request, take)
    }

    /// As [`Bench::profile`], with the timeline only if it is wanted, which may be long.
    ///
    /// # Errors
    /// As [`Bench::profile`].
    pub fn profile_with(&self, source: &str, timeline: bool) -> Result<Profiled, EvalError> {
        let request = Request::Profile {
            source: source.to_owned(),
            timeline,
        };
        self.ask(&request, |reply| match reply {
            Reply::Profiled(profiled) => Some(profiled),
            _ => None,
        })
    }
}

impl Evaluator for IsolatedBench {
    fn key(&self, source: &str) -> ContentHash {
        self.facts.key(source)
    }

    fn identity(&self) -> ContentHash {
        self.facts.identity
    }

    fn normal_form(&self, source: &str) -> Option<String> {
        self.language.normal_form(source)
    }

    fn machine_code(&self, source: &str) -> Result<Option<ContentHash>, EvalError> {
        self.isolation
            .machine_code(&self.setup, &self.facts, source)
    }

    fn evaluate(&self, source: &str) -> Result<Evaluation, EvalError> {
        self.evaluate_within(source, None)
    }

    fn evaluate_within(&self, source: &str, bound: Option<Cost>) -> Result<Evaluation, EvalError> {
        let request = Request::Evaluate {
            source: source.to_owned(),
            bound,
        };
        let key = self.key(source);
        self.ask(&request, |reply| match reply {
            Reply::Evaluated(evaluation) if evaluation.key == key => Some(*evaluation),
            _ => None,
        })
    }
}

impl Bench for IsolatedBench {
    fn facts(&self) -> BenchFacts {
        self.facts.clone()
    }

    fn doubts(&self) -> Result<Vec<String>, EvalError> {
        self.ask(&Request::Doubts, |reply| match reply {
            Reply::Doubts(doubts) => Some(doubts),
            _ => None,
        })
    }

    fn profile(&self, source: &str) -> Result<Profiled, EvalError> {
        self.profile_with(source, true)
    }
}
