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

use crate::platform::Platform;
use crate::session::{Session, SessionKind, Watch};
use crate::trial::{Called, Trial};
use autocomp_core::{Diagnostic, Seed};
use autocomp_eval::EvalError;
use autocomp_eval::inputs::Case;
use autocomp_riscv::Mode;
use autocomp_riscv_machine::CallReport;
use std::sync::atomic::{AtomicBool, Ordering};

/// Number of timed calls: a cold one and a warm one.
pub const CALLS: usize = 2;

/// A call without a sense of time whose results are right.
pub struct RightCall<C> {
    /// What it took, in instructions.
    pub report: CallReport,
    /// What its unit counted.
    pub counts: C,
    /// What is doubtful in it.
    pub warnings: Vec<Diagnostic>,
}

/// Returns whether two calls did the same, as far as can be seen from outside: as many
/// instructions with the same result, where that is told, and the same work of what stands beside
/// the core.
pub fn does_the_same<P: Platform>(
    platform: &P,
    one: (&CallReport, &P::Counts),
    other: (&CallReport, &P::Counts),
) -> bool {
    let seen = |report: &CallReport| {
        let value = (!platform.leaves_choices_open()).then_some(report.value);
        (report.instructions, value)
    };
    seen(one.0) == seen(other.0) && platform.is_same(one.1, other.1)
}

/// Whether a kernel is timed apart from its values.
#[derive(Default)]
pub struct Separation {
    lost: AtomicBool,
}

impl Separation {
    /// Set if the kernel cannot be timed without values.
    pub fn lost(&self) -> &AtomicBool {
        &self.lost
    }

    /// Returns whether the kernel cannot be timed without values.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Says that the kernel cannot be timed without values.
    pub fn give_up(&self) {
        self.lost.store(true, Ordering::Relaxed);
    }
}

impl<P: Platform> Trial<'_, P> {
    /// Returns the seed of memory's contents before a timed call, inputs aside. All timed calls
    /// have the same, so that a kernel cannot tell one call from another by them.
    pub fn timed_seed(&self) -> Seed {
        self.seed.derive("timed")
    }

    /// Makes the timed call without a sense of time, but with values. Returns nothing
    /// if the outputs of such a call need not be those of the timed one, and then says so to
    /// `apart`, which is of no use any more.
    pub fn work_out(
        &self,
        case: &Case,
        apart: &Separation,
    ) -> Result<Option<RightCall<P::Counts>>, EvalError> {
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
    /// timed calls, and makes the timed call there, without a sense of time and with the choices
    /// of the timed calls where a core may choose. The timed calls
    /// themselves have the same inputs, so a kernel that found its own results again would
    /// be right in both: here it is wrong, or does more than there.
    ///
    /// If `apart` is given, notes whether the core stands alone, and is abandoned with it.
    pub fn call_behind_another(
        &self,
        case: &Case,
        apart: Option<&Separation>,
    ) -> Result<(Called, Box<Session<'_, P>>), EvalError> {
        let kind = SessionKind::plain(Mode::Functional);
        let mut session = self.session(kind, self.evaluator.problem_seed())?;
        session.leave_undisturbed();
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
                abandoned: apart.map(Separation::lost),
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
    /// it, or one of another input set where the problem has few symmetries, or another one
    /// that is drawn.
    pub(crate) fn other_inputs(&self, case: &Case) -> Result<Case, EvalError> {
        let (evaluator, seed) = (self.evaluator, self.seed.derive("other inputs"));
        if let Some(permuted) = case.permuted_unforeseen(&evaluator.problem, seed) {
            return Ok(permuted);
        }
        let mut others = evaluator.known_cases()?.iter();
        match others.find(|other| other.before != case.before) {
            Some(other) => Ok(other.clone()),
            None => evaluator.drawn_case(seed),
        }
    }
}
