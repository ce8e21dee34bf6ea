//! The results of a kernel's timed calls, worked out beside them.
//!
//! What the accelerator computes has no part in how long a call takes unless
//! the core looks at it: cycles come from commands, their operands and the
//! addresses of the core. So the timed calls leave values out, and the same call,
//! without a sense of time but with values, shows what they result in: all begin with
//! the same inputs and with static data as loaded, so that they are one call.
//!
//! Both do the same, instruction by instruction, if the core reads nothing that
//! could differ. That is observed, not assumed: it must load nothing from pages
//! that the accelerator has written to, execute nothing but write-protected
//! code, and read neither its counters nor the accelerator's. The call with
//! values never differs from those that were timed in anything else, so it sees
//! the first such access itself. If there is one, or anything is wrong with
//! the kernel, the calls are timed again with values, and only that counts.

#![allow(missing_docs, reason = "public for the suite alone, see `inside`")]

use super::session::{Session, SessionKind, Watch};
use super::trial::{Called, Trial};
use autocomp_core::{Diagnostic, Seed};
use autocomp_eval::EvalError;
use autocomp_eval::inputs::Case;
use autocomp_gemmini::Statistics;
use autocomp_riscv::Mode;
use autocomp_riscv_machine::CallReport;
use std::sync::atomic::{AtomicBool, Ordering};

/// Number of timed calls: a cold one and a warm one.
pub(super) const CALLS: usize = 2;

/// What the functional model counted during a call.
pub struct CallCounts {
    pub statistics: Statistics,
    /// Whether each row of the scratchpad and of the accumulator was written.
    pub rows_touched: [Vec<bool>; 2],
}

/// A call without a sense of time whose results are right.
pub struct RightCall {
    pub report: CallReport,
    pub counts: CallCounts,
    pub warnings: Vec<Diagnostic>,
}

impl CallCounts {
    /// Returns how many rows of the scratchpad and of the accumulator were written.
    pub(super) fn rows_used(&self) -> [u64; 2] {
        let count = |rows: &Vec<bool>| rows.iter().filter(|touched| **touched).count() as u64;
        self.rows_touched.each_ref().map(count)
    }
}

impl RightCall {
    /// Returns whether a timed call did the same, as far as can be seen from
    /// outside.
    pub fn agrees(&self, timed: &CallReport, counts: &CallCounts) -> bool {
        does_the_same((&self.report, &self.counts), (timed, counts))
    }
}

/// Returns whether two calls did the same, as far as can be seen from outside: as many
/// instructions, and the same commands with the same operands.
pub(super) fn does_the_same(
    one: (&CallReport, &CallCounts),
    other: (&CallReport, &CallCounts),
) -> bool {
    let seen = |(report, counts): (&CallReport, &CallCounts)| {
        let statistics = &counts.statistics;
        (
            (report.instructions, report.value),
            (statistics.commands, statistics.digest),
        )
    };
    seen(one) == seen(other)
}

/// Whether a kernel is timed apart from its values.
#[derive(Default)]
pub(super) struct Apart {
    lost: AtomicBool,
}

impl Apart {
    /// Set if timing without values leads to nothing.
    pub(super) fn lost(&self) -> &AtomicBool {
        &self.lost
    }

    /// Returns whether it does.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Says that it leads to nothing.
    pub(super) fn give_up(&self) {
        self.lost.store(true, Ordering::Relaxed);
    }
}

impl Trial<'_> {
    /// Returns what decides about what lies in memory before a timed call, apart from
    /// its inputs: nothing there tells a kernel which of the calls it is.
    pub(super) fn timed_seed(&self) -> Seed {
        self.seed.derive("timed")
    }

    /// Makes the timed call without a sense of time, but with values. Returns nothing,
    /// and gives `apart` up, if that does not show what it results in when it is timed.
    pub(super) fn work_out(
        &self,
        case: &Case,
        apart: &Apart,
    ) -> Result<Option<RightCall>, EvalError> {
        let (called, mut session) = self.call_behind_another(case, Some(apart))?;
        let (Called::Right(report), true) = (called, session.core_stands_alone()) else {
            apart.give_up();
            return Ok(None);
        };
        Ok(Some(RightCall {
            report,
            counts: session.counts(),
            warnings: self.warnings_at_end(&mut session),
        }))
    }

    /// Makes a call with other inputs in a new machine, puts the machine back as between the
    /// timed calls, and makes the timed call there, without a sense of time. The timed calls
    /// themselves have the same inputs, so a kernel that found its own results again would
    /// be right in both: here it is wrong, or does more than there.
    ///
    /// If `apart` is given, notes whether the core stands alone, and is abandoned with it.
    pub(super) fn call_behind_another(
        &self,
        case: &Case,
        apart: Option<&Apart>,
    ) -> Result<(Called, Box<Session<'_>>), EvalError> {
        let kind = SessionKind::plain(Mode::Functional);
        let mut session = self.session(kind, self.evaluator.problem_seed())?;
        if apart.is_some() {
            session.note_origins();
        }
        let seed = self.timed_seed();
        let other = self.other_inputs(case)?;
        let mut called = Called::Abandoned;
        for (case, seed) in [(&other, seed.derive("other")), (case, seed)] {
            session.forget_calls()?;
            session.place(case, seed)?;
            let watch = Watch {
                abandoned: apart.map(Apart::lost),
                ..Watch::default()
            };
            called = self.call(&mut session, case, seed, watch)?;
            if !matches!(called, Called::Right(_)) {
                break;
            }
        }
        Ok((called, session))
    }

    /// Returns a case with other inputs than `case` has and known answers: a permutation of
    /// it, or one of another input set where the problem has no symmetries.
    fn other_inputs(&self, case: &Case) -> Result<Case, EvalError> {
        let evaluator = self.evaluator;
        if !evaluator.problem.axes.is_empty() {
            return Ok(case.permuted(&evaluator.problem, self.seed.derive("other inputs")));
        }
        let mut others = evaluator.known_cases()?.iter();
        let other = others.find(|other| other.name != case.name);
        Ok(other.unwrap_or(case).clone())
    }
}

impl Session<'_> {
    /// Returns what was counted since the statistics were last reset.
    pub(super) fn counts(&mut self) -> CallCounts {
        let functional = self.accelerator().functional();
        CallCounts {
            statistics: functional.statistics().clone(),
            rows_touched: [false, true].map(|accumulator| functional.rows_touched(accumulator)),
        }
    }
}
