//! Two kernels on a board, measured against each other.

use crate::device::{Board, Ran};
use autocomp_core::{Diagnostic, Outcome, Seed, Severity, Stage};
use autocomp_eval::{EvalError, Verdict};
use autocomp_measuring::statistics::{Interval, median};
use autocomp_measuring::{Side, Sides};
use std::time::Duration;

/// What a measurement should take at least, nanoseconds.
const LONG_NS: f64 = 2e7;

/// Calls of a measurement.
const FEWEST_CALLS: f64 = 3.0;
const MOST_CALLS: f64 = 500.0;

/// Why two kernels could not be measured.
pub(crate) enum Failure {
    /// The kernel of this side did something else than in tests.
    Kernel(Side, Box<Verdict>),
    /// Autocomp or the board failed.
    Board(EvalError),
}

impl From<EvalError> for Failure {
    fn from(error: EvalError) -> Self {
        Self::Board(error)
    }
}

/// Returns the verdict on a kernel that is right in the simulator and does something else on a
/// board.
fn otherwise(outcome: Outcome, stage: Stage, code: &str, message: String) -> Box<Verdict> {
    let found = Diagnostic {
        stage,
        severity: Severity::Error,
        code: code.to_owned(),
        message,
        location: None,
        notes: vec!["the simulator accepts this kernel".to_owned()],
        remedy: None,
    };
    Box::new(Verdict::failed(outcome, vec![found]))
}

/// Returns the nanoseconds of the calls of a run and the digest of their results, or the verdict on
/// a run that has none.
pub(crate) fn alike(
    ran: Ran,
    seconds: u64,
    instructions: &str,
) -> Result<(Vec<f64>, u64), Box<Verdict>> {
    let (outcome, code, message) = match ran {
        Ran::Alike(times, left) => return Ok((times, left)),
        Ran::Varied => return Err(varied()),
        Ran::Late => (
            Outcome::TimedOut,
            "board-hang",
            format!("its calls on the board had not ended after {seconds} seconds"),
        ),
        Ran::Died(code) => (
            Outcome::Crashed,
            "board-crash",
            format!(
                "on the board its process ends with exit code {code}{}",
                signal(code, instructions)
            ),
        ),
    };
    Err(otherwise(outcome, Stage::Test, code, message))
}

fn varied() -> Box<Verdict> {
    let message = "calls with the same inputs leave different results on the board";
    otherwise(Outcome::Wrong, Stage::Test, "calls-differ", message.into())
}

fn signal(code: i32, instructions: &str) -> String {
    match code - 128 {
        4 => {
            return format!(
                ", an illegal instruction: the board's core or its Linux has not all of `{instructions}`"
            );
        }
        7 => ", a bus error",
        8 => ", an arithmetic error",
        11 => ", an access to memory that is not the kernel's",
        _ => "",
    }
    .to_owned()
}

/// A candidate and the problem's own kernel, with their jobs on a board: one for each input set.
pub(crate) struct Duel<'b, 'a> {
    pub board: &'b Board<'a>,
    /// Names of the jobs, and digests of their right results.
    pub jobs: [&'b [(String, u64)]; 2],
    /// Calls of a measurement, by side.
    pub calls: [usize; 2],
    /// Bytes that are flushed before a call.
    pub flushed: usize,
    /// Draws the input set.
    pub seed: Seed,
    pub seconds: u64,
    /// What compilers call the instructions that kernels are compiled to.
    pub instructions: &'b str,
    pub spent_ns: f64,
}

/// Returns how often a kernel is called in a measurement.
pub(crate) fn calls_for(ns: f64) -> usize {
    (LONG_NS / ns.max(1.0)).clamp(FEWEST_CALLS, MOST_CALLS) as usize
}

impl Sides for Duel<'_, '_> {
    type Failure = Failure;

    fn measure(&mut self, side: Side) -> Result<f64, Failure> {
        let idx = usize::from(side == Side::Base);
        let jobs = self.jobs[idx];
        let (job, right) = &jobs[self.seed.below(jobs.len())];
        let ran = self.board.run(job, self.calls[idx], self.flushed)?;
        let found =
            alike(ran, self.seconds, self.instructions).and_then(|(times, left)| {
                match left == *right {
                    true => Ok(times),
                    false => Err(varied()),
                }
            });
        let times = found.map_err(|verdict| Failure::Kernel(side, verdict))?;
        self.spent_ns += times.iter().sum::<f64>();
        Ok(median(&times))
    }

    fn unsteady(&self, side: Side, times: Interval) -> Failure {
        let message = format!(
            "calls on inputs of the same kind take between {:.0} and {:.0} ns",
            times.low, times.high
        );
        let verdict = otherwise(Outcome::Wrong, Stage::Time, "unsteady-time", message);
        Failure::Kernel(side, verdict)
    }

    fn spent(&self) -> Duration {
        Duration::from_nanos(self.spent_ns as u64)
    }

    fn calls(&self) -> usize {
        self.calls[0].max(self.calls[1])
    }
}
