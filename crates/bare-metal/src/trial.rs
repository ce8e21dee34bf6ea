//! One kernel's program under test: what a whole trial finds.

use crate::cases::CaseOf;
use crate::evaluator::KernelEvaluator;
use crate::findings::{self, Kernel};
use crate::image::Image;
use crate::platform::Platform;
use crate::separation::Separation;
use crate::session::{Session, SessionKind, Watch};
use autocomp_catalog::Tolerance;
use autocomp_core::{Diagnostic, Outcome, Seed, Stage};
use autocomp_eval::comparison::compare;
use autocomp_eval::inputs::Case;
use autocomp_eval::{EvalError, Verdict};
use autocomp_riscv::{Limits, Mode};
use autocomp_riscv_machine::{CallReport, Stop};
use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};

/// What is said about a kernel whose result depends on the pattern in memory.
const DEPENDS_ON_POISON: &str =
    "the result depends on memory that was never written: two runs with the same inputs differ";

/// What is said about such a kernel where the core has vectors.
const DEPENDS_ON_VECTORS: &str = "the result depends on memory that was never written, or on elements of vectors that hold nothing (those behind `vl`, those that a mask leaves out, and registers before anything is in them): two runs with the same inputs differ";

/// How a call ended.
pub enum Called {
    /// Its results are right, or the session has none.
    Right(CallReport),
    /// Something is wrong with the kernel.
    Failed(Verdict),
    /// It was ended because it took more cycles than the bound of its watch.
    TooSlow,
    /// It was ended because its watch said that the result is of no use any more.
    Abandoned,
}

/// One kernel's program under test.
pub struct Trial<'a, P: Platform> {
    /// What evaluates it.
    pub evaluator: &'a KernelEvaluator<P>,
    /// The machines that it runs on: those of the evaluator, or others where it must be right.
    pub platform: &'a P,
    /// The kernel as it was linked.
    pub program: &'a Image,
    /// The kernel as it was written.
    pub kernel: Kernel<'a>,
    /// What differs from kernel to kernel comes from it.
    pub seed: Seed,
    /// Whether a profile with a timeline of the ranked call is wanted.
    pub with_timeline: bool,
    /// Cycles of the ranked call beyond which nobody wants to know how many it takes.
    pub bound: Option<u64>,
    /// What the kernel has seen of the machine so far, see [`Platform::has_shown`].
    pub has_seen: &'a AtomicU8,
}

impl<'a, P: Platform> Trial<'a, P> {
    /// Makes a session with the kernel.
    pub fn session(&self, kind: SessionKind, seed: Seed) -> Result<Box<Session<'a, P>>, EvalError> {
        let evaluator = self.evaluator;
        Session::new(self.platform, self.program, &evaluator.problem, kind, seed)
    }

    /// Returns the verdict on all of `cases` from those on each of them, up to one
    /// that ends the test; nothing if all are right.
    pub fn verdict_on_tests(
        &self,
        cases: &[CaseOf<'_, P>],
        verdicts: Vec<Option<Verdict>>,
    ) -> Result<Option<Verdict>, EvalError> {
        let mut failed: Option<Verdict> = None;
        let (mut right, mut wrong) = (Vec::new(), Vec::new());
        for (case, verdict) in cases.iter().zip(verdicts) {
            match verdict {
                None => right.push(case.get()?.name.as_str()),
                Some(verdict) => {
                    wrong.push(case.get()?.name.as_str());
                    let stops = verdict.stops();
                    failed.get_or_insert(verdict);
                    if stops {
                        break;
                    }
                }
            }
        }
        let first = failed
            .as_mut()
            .and_then(|verdict| verdict.diagnostics.first_mut());
        if let Some(first) = first.filter(|_| 1 < right.len() + wrong.len()) {
            let list = |names: &[&str]| {
                if names.is_empty() {
                    "none".into()
                } else {
                    names.join(", ")
                }
            };
            first.notes.push(format!(
                "input sets that go wrong: {}; right: {}",
                list(&wrong),
                list(&right)
            ));
        }
        Ok(failed)
    }

    /// Runs `cases`, each in a machine of its own, but for the second one if `later` is given:
    /// that is a second call in the machine of the first one, whose static data stay, and calls
    /// with the cases `later` and others come behind it. If there is no second case the second
    /// call has other inputs of the first one. Returns the verdicts on them, nothing for those
    /// that are right, up to one that ends the test.
    ///
    /// Gives `apart` up as soon as a kernel shows that it cannot be timed without
    /// values.
    pub fn test(
        &self,
        cases: &[CaseOf<'_, P>],
        later: Option<&[CaseOf<'_, P>]>,
        apart: &Separation,
    ) -> Result<Vec<Option<Verdict>>, EvalError> {
        let behind = later.unwrap_or_default();
        let mut verdicts = Vec::new();
        let mut called = None;
        for (idx, case) in cases.iter().enumerate() {
            let case = case.get()?;
            let mut verdict = match called.take() {
                Some((session, before)) => self.run_again(session, before, case, behind, apart)?,
                None => {
                    let (verdict, session) = self.run_alone(case, Some(apart))?;
                    called = (later.is_some() && idx == 0 && verdict.is_none())
                        .then_some((session, case));
                    verdict
                }
            };
            if cases.len() == 1
                && let Some((session, before)) = called.take()
            {
                let other = self.other_inputs(case)?;
                verdict = self.run_again(session, before, &other, behind, apart)?;
            }
            let stops = verdict.as_ref().is_some_and(Verdict::stops);
            verdicts.push(verdict);
            if stops {
                break;
            }
        }
        Ok(verdicts)
    }

    /// Runs one case in a machine of its own. Returns no verdict if it is right, and the
    /// machine.
    pub fn run_alone(
        &self,
        case: &Case,
        apart: Option<&Separation>,
    ) -> Result<(Option<Verdict>, Box<Session<'a, P>>), EvalError> {
        self.run_beside(None, case, apart)
    }

    /// The same, if the outputs of a call are known that had other content in memory which
    /// results must not depend on: a kernel that leaves the same is not called for that again.
    pub(crate) fn run_beside(
        &self,
        known: Option<&[Vec<u8>]>,
        case: &Case,
        apart: Option<&Separation>,
    ) -> Result<(Option<Verdict>, Box<Session<'a, P>>), EvalError> {
        let kind = SessionKind::plain(Mode::Functional);
        let seed = self.seed.derive(&case.name);
        let mut session = self.session(kind, seed)?;
        session.place(case, seed)?;
        if apart.is_some() {
            session.note_origins();
        }
        let called = self.call(&mut session, case, seed, Watch::default())?;
        if let Some(apart) = apart.filter(|_| !session.core_stands_alone()) {
            apart.give_up();
        }
        let verdict = match called {
            Called::Failed(verdict) => Some(verdict),
            Called::Right(_) | Called::TooSlow | Called::Abandoned => None,
        };
        let exact = matches!(self.evaluator.problem.tolerance, Tolerance::Exact {});
        let verdict = match verdict {
            // Right exactly, in spite of poison that is nowhere right.
            None if exact => None,
            None if known.is_some_and(|known| known == session.outputs()) => None,
            None if !self.varies(case, seed, &session.outputs())? => None,
            None => {
                let what = depends_on(&mut session);
                let message = format!("{what}, though both are within the tolerance");
                Some(unwritten(message, case))
            }
            Some(mut verdict) => {
                let found = verdict.diagnostics.first_mut();
                if let Some(found) = found.filter(|found| found.code == "output-mismatch")
                    && self.varies(case, seed, &session.outputs())?
                {
                    found.notes.push(depends_on(&mut session).into());
                }
                Some(verdict)
            }
        };
        Ok((verdict, session))
    }

    /// Runs a case again with other content in memory that it must not depend
    /// on; returns whether the outputs differ from `outputs`.
    pub(crate) fn varies(
        &self,
        case: &Case,
        seed: Seed,
        outputs: &[Vec<u8>],
    ) -> Result<bool, EvalError> {
        let kind = SessionKind::plain(Mode::Functional);
        let mut session = self.session(kind, seed)?;
        session.place(case, seed.derive("other poison"))?;
        session.fill_among(case)?;
        // Where nothing was written the poison shows through, which is no result.
        let before = session.outputs();
        if session.call(self.evaluator.limits()).is_err() {
            return Ok(true);
        }
        let after = session.outputs();
        let differs = |idx: usize| {
            let bytes = outputs[idx].iter().zip(&before[idx]).zip(&after[idx]);
            bytes
                .filter(|((_, before), after)| before != after)
                .any(|((first, _), second)| first != second)
        };
        Ok((0..outputs.len()).any(differs))
    }

    /// Calls the kernel and compares everything.
    pub fn call(
        &self,
        session: &mut Session<'_, P>,
        case: &Case,
        seed: Seed,
        watch: Watch<'_>,
    ) -> Result<Called, EvalError> {
        let bound = watch.bound.unwrap_or(u64::MAX);
        let limits = self.evaluator.limits();
        let is_bound = bound < limits.cycles;
        let limits = Limits {
            // A call that takes as many as the bound is within it.
            cycles: limits.cycles.min(bound.saturating_add(1)),
            ..limits
        };
        let begun = session.cycle();
        let ended = session.call_watched(limits, watch);
        let seen = self.platform.has_shown(session.hart());
        self.has_seen.fetch_or(seen, Ordering::Relaxed);
        let report = match ended {
            Ok(Some(report)) => report,
            Ok(None) => return Ok(Called::Abandoned),
            Err(Stop::Limit(_)) if is_bound && bound < session.cycle() - begun => {
                return Ok(Called::TooSlow);
            }
            Err(stop) => {
                let (outcome, mut found) = findings::stopped(&stop, session, self.kernel, limits);
                found.notes.push(format!("with input set {}", case.name));
                return Ok(self.refused(outcome, vec![found], session));
            }
        };
        if let Some(unused) = session.stray_write() {
            return self.stray_write(case, seed, unused);
        }
        let platform = self.platform;
        if let Some(mut found) = platform.unfinished(session, self.kernel) {
            found.notes.push(format!("with input set {}", case.name));
            return Ok(Called::Failed(Verdict::failed(
                Outcome::Illegal,
                vec![found],
            )));
        }
        if !session.has_values() {
            return Ok(Called::Right(report));
        }
        let mut found = Vec::new();
        for (idx, buffer) in self.evaluator.problem.buffers.iter().enumerate() {
            match (&case.before[idx], &case.after[idx]) {
                (Some(before), None) if session.content(idx) != before => {
                    let after = session.content(idx).to_vec();
                    let mut explained = self.explained(case, seed)?;
                    let writer = explained
                        .first_write(idx)
                        .and_then(|pc| self.kernel.location(self.program, pc));
                    found.push(findings::input_changed(
                        buffer,
                        before,
                        &after,
                        writer,
                        self.kernel,
                    ));
                }
                (Some(_), None) if session.first_write(idx).is_some() => {
                    let writer = session
                        .first_write(idx)
                        .and_then(|pc| self.kernel.location(self.program, pc));
                    found.push(findings::input_restored(buffer, writer, self.kernel));
                }
                (before, Some(after)) => {
                    let poison = if before.is_none() {
                        session.poison(idx).to_vec()
                    } else {
                        Vec::new()
                    };
                    let poison = before.as_ref().unwrap_or(&poison);
                    let tolerance = self.evaluator.problem.tolerance;
                    let tile = platform.tile();
                    found.extend(compare(
                        buffer,
                        after,
                        session.content(idx),
                        poison,
                        tolerance,
                        tile,
                    ));
                }
                _ => {}
            }
        }
        if found.is_empty() {
            return Ok(Called::Right(report));
        }
        for diagnostic in &mut found {
            diagnostic
                .notes
                .push(format!("with input set {}", case.name));
        }
        if found.iter().any(|found| found.code == "output-mismatch") {
            found.extend(platform.doubts(&mut *self.explained(case, seed)?, self.kernel));
        }
        Ok(self.refused(Outcome::Wrong, found, session))
    }

    /// Returns what was doubtful in a call that has come to its end.
    pub fn warnings_at_end(&self, session: &mut Session<'_, P>) -> Vec<Diagnostic> {
        let platform = self.platform;
        let mut found = platform.warnings(session, self.kernel);
        found.extend(platform.end_warning(session, self.kernel));
        found
    }

    /// Returns the verdict on a call that went wrong: what was found, and what
    /// was doubtful before, which may be the reason.
    fn refused(
        &self,
        outcome: Outcome,
        mut found: Vec<Diagnostic>,
        session: &mut Session<'_, P>,
    ) -> Called {
        found.extend(self.platform.warnings(session, self.kernel));
        Called::Failed(Verdict::failed(outcome, found))
    }

    /// Returns the verdict on a call that has written to a part of the stack that it never had:
    /// that of one more call, which stops there.
    fn stray_write(
        &self,
        case: &Case,
        seed: Seed,
        unused: Range<u64>,
    ) -> Result<Called, EvalError> {
        let limits = self.evaluator.limits();
        let mut session = self.session(SessionKind::plain(Mode::Functional), seed)?;
        session.place(case, seed)?;
        let place = session
            .layout()
            .describe(unused.start, session.buffers(), None);
        session.forbid(unused);
        let (outcome, mut found) = match session.call(limits) {
            Err(stop) => findings::stopped(&stop, &mut session, self.kernel, limits),
            // Behind a call with other inputs only.
            Ok(_) => (
                Outcome::Illegal,
                Diagnostic::error(
                    Stage::Test,
                    "out-of-bounds-write",
                    format!("the kernel writes to {place}"),
                ),
            ),
        };
        found.notes.push(format!("with input set {}", case.name));
        Ok(self.refused(outcome, vec![found], &mut session))
    }

    /// Calls the kernel once more, in a machine that notes what may explain a wrong result.
    fn explained(&self, case: &Case, seed: Seed) -> Result<Box<Session<'a, P>>, EvalError> {
        let kind = SessionKind {
            explains: true,
            ..SessionKind::plain(Mode::Functional)
        };
        let mut session = self.session(kind, seed)?;
        session.place(case, seed)?;
        // It may stop for another reason now; the notes are there or are not.
        let _ = session.call(self.evaluator.limits());
        Ok(session)
    }
}

/// Returns what is said about a kernel whose result depends on what nothing has written.
pub(crate) fn depends_on<P: Platform>(session: &mut Session<'_, P>) -> &'static str {
    match session.hart().vectors() {
        Some(_) => DEPENDS_ON_VECTORS,
        None => DEPENDS_ON_POISON,
    }
}

/// Returns the verdict on such a kernel.
pub(crate) fn unwritten(message: String, case: &Case) -> Verdict {
    let mut found = Diagnostic::error(Stage::Test, "uninitialized-memory", message);
    found.notes.push(format!("with input set {}", case.name));
    found.remedy = Some("write variables, outputs and local memory before they are read".into());
    Verdict::failed(Outcome::Wrong, vec![found])
}
