//! The way to somebody who evaluates: what is asked, what is answered, what goes wrong.

use super::IsolationLimits;
use super::wire::Failure;
use crate::evaluator::EvalError;
use crate::facts::BenchFacts;
use crate::family::Bench;
use crate::profile::Profiled;
use autocomp_core::{ContentHash, Cost, Evaluation};
use serde::{Deserialize, Serialize};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

/// The longest answer that is believed, bytes.
const LONGEST_REPLY: u64 = 16 << 20;

/// The longest answer with a profile, whose timeline may be long, bytes.
const LONGEST_PROFILE: u64 = 1 << 30;

/// `SIGXCPU`, with which the system ends processes whose processor time is spent.
const PROCESSOR_TIME_SPENT: i32 = rustix::process::Signal::XCPU.as_raw();

/// What somebody who evaluates is asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Request {
    /// To open a bench and to keep to limits in each evaluation.
    Open {
        /// What to open, a text that is for the program to understand.
        setup: String,
        /// What an evaluation may use.
        limits: IsolationLimits,
    },
    /// To evaluate a kernel with the bench that is open, as far as a bound on its cost.
    Evaluate {
        /// The kernel.
        source: String,
        /// Beyond it nobody wants to know more.
        bound: Option<Cost>,
    },
    /// For the machine code of a kernel.
    MachineCode {
        /// The kernel.
        source: String,
    },
    /// What the tests of the problem leave open.
    Doubts,
    /// Where the cost of a kernel goes.
    Profile {
        /// The kernel.
        source: String,
        /// Whether the timeline is wanted.
        timeline: bool,
    },
}

impl Request {
    /// Returns the length of the longest answer that is believed, bytes.
    pub(super) fn longest_reply(&self) -> u64 {
        match self {
            Self::Profile { .. } => LONGEST_PROFILE,
            _ => LONGEST_REPLY,
        }
    }

    /// Asks a bench that is open, and returns its answer.
    ///
    /// # Errors
    /// The bench cannot answer, or the request is to open another one.
    pub fn ask(self, bench: &dyn Bench) -> Result<Reply, EvalError> {
        Ok(match self {
            Self::Open { .. } => return Err(EvalError::Fault("a bench is open".to_owned())),
            Self::Evaluate { source, bound } => {
                Reply::Evaluated(Box::new(bench.evaluate_within(&source, bound)?))
            }
            Self::MachineCode { source } => Reply::MachineCode {
                code: bench.machine_code(&source)?,
            },
            Self::Doubts => Reply::Doubts(bench.doubts()?),
            Self::Profile { source, timeline } => {
                let mut profiled = bench.profile(&source)?;
                if let Profiled::Right(profile) = &mut profiled
                    && !timeline
                {
                    profile.timeline = None;
                }
                Reply::Profiled(profiled)
            }
        })
    }
}

/// What somebody who evaluates answers.
#[derive(Debug, Serialize, Deserialize)]
pub enum Reply {
    /// A line to be told meanwhile; the answer is still to come.
    Told {
        /// The line.
        line: String,
    },
    /// The bench is open.
    Opened {
        /// What is known of it.
        facts: BenchFacts,
    },
    /// The verdict.
    Evaluated(Box<Evaluation>),
    /// The hash of the machine code, if there is one.
    MachineCode {
        /// The hash.
        code: Option<ContentHash>,
    },
    /// What the tests leave open, one sentence each.
    Doubts(Vec<String>),
    /// Where the cost goes.
    Profiled(Profiled),
    /// There is none.
    Failed(Failure),
    /// The bench panicked; it must not be asked any more.
    Panicked {
        /// What the panic said.
        message: String,
    },
}

/// Somebody who evaluates and can be asked, one question after the other: a child behind pipes,
/// or whoever takes requests from a queue on another machine.
pub trait Link: Send {
    /// Asks and waits for the answer, no longer than `wall`. Lines that come before it go to
    /// `tell`. No answer is a [`Reply::Told`].
    ///
    /// # Errors
    /// Why there is no answer; the link must not be asked again.
    fn ask(
        &mut self,
        request: &Request,
        wall: Duration,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Reply, Death>;

    /// Returns what the other side has said last beside its answers, in parentheses and behind
    /// a space; nothing if it has said nothing.
    fn last_words(&mut self) -> String {
        String::new()
    }
}

/// Why somebody does not answer, and must not be asked again.
#[derive(Debug)]
pub enum Death {
    /// It has ended.
    Ended(Option<ExitStatus>),
    /// It takes too long.
    Late(Duration),
    /// It answers what cannot be understood.
    Garbled(String),
}

impl Death {
    /// Returns whether a limit on time was reached.
    pub(super) fn is_limit(&self) -> bool {
        match self {
            Self::Ended(status) => {
                status.and_then(|status| status.signal()) == Some(PROCESSOR_TIME_SPENT)
            }
            Self::Late(_) => true,
            Self::Garbled(_) => false,
        }
    }

    /// Returns what happened, as the end of a sentence about the process.
    pub(super) fn text(&self, words: &str) -> String {
        let what = match self {
            Self::Ended(Some(status)) if self.is_limit() => {
                format!("used up the processor time that it may take ({status})")
            }
            Self::Ended(Some(status)) => format!("ended without an answer ({status})"),
            Self::Ended(None) => "ended without an answer".to_owned(),
            Self::Late(limit) => format!("gave no answer within {} seconds", limit.as_secs()),
            Self::Garbled(how) => format!("is not to be understood: {how}"),
        };
        what + words
    }
}
