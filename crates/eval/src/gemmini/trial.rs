//! One kernel's program under test: what a whole trial finds.

use super::core_lines::CoreTally;
use super::evaluator::GemminiEvaluator;
use super::feedback::feedback;
use super::findings::{self, Kernel};
use super::profiling::{Recorded, profile};
use super::session::{Session, SessionKind};
use crate::comparison::compare;
use crate::evaluator::{EvalError, Evaluator};
use crate::inputs::Case;
use crate::profile::Profile;
use crate::timeline::Timeline;
use autocomp_core::{Cycles, Diagnostic, Feedback, Measurement, Outcome, Seed, Stage};
use autocomp_riscv::{Limits, Mode};
use autocomp_sim::{CallReport, ObservedBlock, Program};
use autocomp_targets::{Ranking, Role, Tolerance};
use std::borrow::Cow;
use std::panic::resume_unwind;
use std::thread;

/// What is said about a kernel whose result depends on the pattern in memory.
const DEPENDS_ON_POISON: &str =
    "the result depends on memory that was never written: two runs with the same inputs differ";

/// Commands recorded of the ranked call for feedback; memory for more is not
/// worth it, and counters then say less.
const RECORDED_COMMANDS: usize = 400_000;

/// Commands recorded when a profile is asked for.
const PROFILED_COMMANDS: usize = 4_000_000;

/// Profile of a call, and its timeline if that was wanted.
pub(super) type ProfiledCall = (Profile, Option<Timeline>);

/// What the cascade found.
pub(super) struct Verdict {
    pub(super) outcome: Outcome,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) measurement: Option<Measurement>,
    pub(super) feedback: Option<Feedback>,
}

impl Verdict {
    pub(super) fn failed(outcome: Outcome, diagnostics: Vec<Diagnostic>) -> Self {
        Self {
            outcome,
            diagnostics,
            measurement: None,
            feedback: None,
        }
    }

    /// Returns whether it says enough, so that no other case need run: a crash
    /// or an endless loop, but not a wrong result.
    fn stops(&self) -> bool {
        self.outcome != Outcome::Wrong
    }
}

/// One kernel's program under test.
pub(super) struct Trial<'a> {
    pub(super) evaluator: &'a GemminiEvaluator,
    pub(super) program: &'a Program,
    pub(super) kernel: Kernel<'a>,
    pub(super) seed: Seed,
}

impl<'a> Trial<'a> {
    fn session(&self, kind: SessionKind, seed: Seed) -> Result<Session<'a>, EvalError> {
        let evaluator = self.evaluator;
        Session::new(
            &evaluator.engine,
            self.program,
            &evaluator.problem,
            kind,
            seed,
        )
    }

    /// Runs `cases`, each in a machine of its own. Returns nothing if all are right.
    pub(super) fn test(&self, cases: &[Cow<'_, Case>]) -> Result<Option<Verdict>, EvalError> {
        let mut failed: Option<Verdict> = None;
        let (mut right, mut wrong) = (Vec::new(), Vec::new());
        for (case, verdict) in cases.iter().zip(self.run_all(cases)?) {
            match verdict {
                None => right.push(case.name.as_str()),
                Some(verdict) => {
                    wrong.push(case.name.as_str());
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

    /// Returns the verdicts on the first cases, up to one that ends the test at
    /// least. The first case runs alone, because most kernels that fail do so in
    /// it; the others take two threads.
    fn run_all(&self, cases: &[Cow<'_, Case>]) -> Result<Vec<Option<Verdict>>, EvalError> {
        let Some((first, rest)) = cases.split_first() else {
            return Ok(Vec::new());
        };
        let mut verdicts = vec![self.run_alone(first)?];
        if verdicts[0].as_ref().is_some_and(Verdict::stops) {
            return Ok(verdicts);
        }
        let (here, there) = rest.split_at(rest.len() / 2);
        let (here, there) = thread::scope(|scope| {
            let there = scope.spawn(|| self.run_in_turn(there));
            let here = self.run_in_turn(here);
            let there = there.join();
            (here, there.unwrap_or_else(|panic| resume_unwind(panic)))
        });
        let here = here?;
        let is_whole = !here.iter().flatten().any(Verdict::stops);
        verdicts.extend(here);
        if is_whole {
            verdicts.extend(there?);
        }
        Ok(verdicts)
    }

    /// Returns the verdicts on the cases up to one that ends the test.
    fn run_in_turn(&self, cases: &[Cow<'_, Case>]) -> Result<Vec<Option<Verdict>>, EvalError> {
        let mut verdicts = Vec::new();
        for case in cases {
            let verdict = self.run_alone(case)?;
            let stops = verdict.as_ref().is_some_and(Verdict::stops);
            verdicts.push(verdict);
            if stops {
                break;
            }
        }
        Ok(verdicts)
    }

    /// Runs one case in a machine of its own. Returns nothing if it is right.
    fn run_alone(&self, case: &Case) -> Result<Option<Verdict>, EvalError> {
        let kind = SessionKind {
            mode: Mode::Functional,
            note_writes: false,
        };
        let seed = self.seed.derive(&case.name);
        let mut session = self.session(kind, seed)?;
        session.place(case, seed);
        let verdict = self.call(&mut session, case, seed, None)?.err();
        let exact = matches!(self.evaluator.problem.tolerance, Tolerance::Exact {});
        match verdict {
            // Right exactly, in spite of poison that is nowhere right.
            None if exact => Ok(None),
            None if !self.varies(case, seed, &session.outputs())? => Ok(None),
            None => {
                let message = format!("{DEPENDS_ON_POISON}, though both are within the tolerance");
                let found = findings::diagnostic("uninitialized-memory", message);
                Ok(Some(Verdict::failed(Outcome::Wrong, vec![found])))
            }
            Some(mut verdict) => {
                let found = verdict.diagnostics.first_mut();
                if let Some(found) = found.filter(|found| found.code == "output-mismatch")
                    && self.varies(case, seed, &session.outputs())?
                {
                    found.notes.push(DEPENDS_ON_POISON.into());
                }
                Ok(Some(verdict))
            }
        }
    }

    /// Runs a case again with other content in memory that it must not depend
    /// on; returns whether the outputs differ from `outputs`.
    fn varies(&self, case: &Case, seed: Seed, outputs: &[Vec<u8>]) -> Result<bool, EvalError> {
        let kind = SessionKind {
            mode: Mode::Functional,
            note_writes: false,
        };
        let mut session = self.session(kind, seed)?;
        session.place(case, seed.derive("other poison"));
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

    /// Calls the kernel and compares everything. The outer result is about
    /// the evaluator, the inner one about the kernel.
    fn call(
        &self,
        session: &mut Session<'_>,
        case: &Case,
        seed: Seed,
        observer: Option<&mut dyn FnMut(&ObservedBlock)>,
    ) -> Result<Result<CallReport, Verdict>, EvalError> {
        let limits = self.evaluator.limits();
        let limits = match session.mode() {
            Mode::Functional => Limits {
                cycles: u64::MAX,
                ..limits
            },
            Mode::Timed => limits,
        };
        let report = match session.call_observed(limits, observer) {
            Ok(report) => report,
            Err(stop) => {
                let (outcome, mut found) = findings::stopped(&stop, session, self.kernel, limits);
                found.notes.push(format!("with input set {}", case.name));
                return Ok(Err(Verdict::failed(outcome, vec![found])));
            }
        };
        let mut found = Vec::new();
        for (idx, buffer) in self.evaluator.problem.buffers.iter().enumerate() {
            match (&case.before[idx], &case.after[idx]) {
                (Some(before), None) if session.content(idx) != before => {
                    let after = session.content(idx).to_vec();
                    let writer = self.writer(idx, case, seed)?;
                    found.push(findings::input_changed(
                        buffer,
                        before,
                        &after,
                        writer,
                        self.kernel,
                    ));
                }
                (before, Some(after)) => {
                    let poison = if before.is_none() {
                        session.poison(idx).to_vec()
                    } else {
                        Vec::new()
                    };
                    let poison = before.as_ref().unwrap_or(&poison);
                    let tolerance = self.evaluator.problem.tolerance;
                    let tile = self.evaluator.engine.tile();
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
            return Ok(Ok(report));
        }
        for diagnostic in &mut found {
            diagnostic
                .notes
                .push(format!("with input set {}", case.name));
        }
        Ok(Err(Verdict::failed(Outcome::Wrong, found)))
    }

    /// Returns the line that first writes to input `idx`, by running once more.
    fn writer(
        &self,
        idx: usize,
        case: &Case,
        seed: Seed,
    ) -> Result<Option<autocomp_core::SourceLocation>, EvalError> {
        debug_assert_eq!(self.evaluator.problem.buffers[idx].role, Role::Input);
        let kind = SessionKind {
            mode: Mode::Functional,
            note_writes: true,
        };
        let mut session = self.session(kind, seed)?;
        session.place(case, seed);
        // It may stop for another reason now; the note is there or is not.
        let _ = session.call(self.evaluator.limits());
        Ok(session
            .first_write(idx)
            .and_then(|pc| self.kernel.location(self.program, pc)))
    }

    /// Calls the kernel cold and then warm, in one machine and with different
    /// inputs, and compares both.
    pub(super) fn time(&self, cases: &[Cow<'_, Case>]) -> Result<Verdict, EvalError> {
        Ok(self.time_recorded(cases, false)?.0)
    }

    /// The same; returns the profile of the ranked call too, if the kernel is
    /// right, and its timeline, if that is wanted.
    pub(super) fn time_recorded(
        &self,
        cases: &[Cow<'_, Case>],
        with_timeline: bool,
    ) -> Result<(Verdict, Option<ProfiledCall>), EvalError> {
        let evaluator = self.evaluator;
        let Some((cold_case, rest)) = cases.split_first() else {
            return Err(EvalError::Fault("the problem has no input set".into()));
        };
        let other;
        let warm_case = match rest.last() {
            Some(case) => case.as_ref(),
            None => {
                other = cold_case.permuted(&evaluator.problem, self.seed.derive("warm"));
                &other
            }
        };
        // The same places for every kernel: addresses decide about conflicts
        // in caches, and kernels are compared with each other.
        let kind = SessionKind {
            mode: Mode::Timed,
            note_writes: false,
        };
        let mut session = self.session(kind, evaluator.problem_seed())?;
        let mut reports = Vec::new();
        let mut ranked_feedback = None;
        let mut profiled = None;
        let ranked_idx = match evaluator.problem.ranking {
            Ranking::Warm => 1,
            Ranking::Cold => 0,
        };
        let experiments = with_timeline || evaluator.settings.experiments;
        let limit = if with_timeline {
            PROFILED_COMMANDS
        } else {
            RECORDED_COMMANDS
        };
        for (call, case) in [("cold", cold_case.as_ref()), ("warm", warm_case)] {
            let seed = self.seed.derive(call);
            session.place(case, seed);
            session.reset_statistics();
            let is_ranked = reports.len() == ranked_idx;
            if let Some(engine) = session.accelerator().timing_mut().filter(|_| is_ranked) {
                engine.record(limit);
            }
            let start = session.cycle();
            let mut tally = (is_ranked && experiments).then(CoreTally::default);
            let mut observe = |block: &ObservedBlock| {
                if let Some(tally) = &mut tally {
                    tally.add(block);
                }
            };
            let observer: Option<&mut dyn FnMut(&ObservedBlock)> = if is_ranked && experiments {
                Some(&mut observe)
            } else {
                None
            };
            match self.call(&mut session, case, seed, observer)? {
                Ok(report) => {
                    reports.push(report);
                    if !is_ranked {
                        continue;
                    }
                    let engine = session.accelerator().timing_mut();
                    if let Some(recording) = engine.and_then(|engine| engine.take_recording()) {
                        let recorded = Recorded {
                            recording,
                            start,
                            report,
                            tally,
                        };
                        profiled = Some(profile(
                            &mut session,
                            &recorded,
                            evaluator,
                            self.kernel,
                            with_timeline,
                        ));
                    }
                    let (ideal, problem) = (evaluator.ideal, &evaluator.problem);
                    let found = feedback(&mut session, &report, ideal, problem, self.kernel);
                    ranked_feedback = Some(found);
                }
                Err(mut verdict) => {
                    let first_call = reports.is_empty();
                    if !first_call && self.run_alone(case)?.is_none() {
                        mark_state(&mut verdict);
                    }
                    for diagnostic in &mut verdict.diagnostics {
                        diagnostic.stage = Stage::Time;
                    }
                    return Ok((verdict, None));
                }
            }
        }
        if let Some((profile, _)) = &mut profiled {
            if experiments {
                self.experiment(profile, [cold_case.as_ref(), warm_case], ranked_idx)?;
            }
            let found = ranked_feedback.as_mut();
            if let Some(found) = found.filter(|_| profile.unrecorded_commands == 0) {
                super::feedback::refine(found, profile, self.kernel);
            }
        }
        let (cold, warm) = (reports[0], reports[1]);
        let ranked = reports[ranked_idx];
        for report in [cold, warm] {
            if report.cycles < evaluator.ideal.0 {
                return Err(EvalError::Fault(format!(
                    "{} cycles are below the physical floor of {} cycles for {}; \
                     the simulator or the problem's work is wrong (kernel {})",
                    report.cycles,
                    evaluator.ideal,
                    evaluator.problem.name,
                    evaluator.key(self.kernel.source).short(),
                )));
            }
        }
        let measurement = Measurement {
            cycles: Cycles(ranked.cycles),
            cold_cycles: Cycles(cold.cycles),
            instructions: ranked.instructions,
            ideal_cycles: evaluator.ideal,
            percent_of_peak: 100.0 * evaluator.ideal.0 as f64 / ranked.cycles.max(1) as f64,
            engine: evaluator.engine.name.clone(),
            compiler: evaluator.toolchain().name.clone(),
        };
        let verdict = Verdict {
            outcome: Outcome::Ok,
            diagnostics: findings::warnings(&mut session, self.kernel),
            measurement: Some(measurement),
            feedback: ranked_feedback,
        };
        Ok((verdict, profiled))
    }
}

/// Says that a kernel is right when called once and not when called again.
fn mark_state(verdict: &mut Verdict) {
    if let Some(first) = verdict.diagnostics.first_mut() {
        first.code = "state-between-calls".into();
        first.message = format!(
            "the second call in the same program goes wrong, though the same inputs are right in a first call: {}",
            first.message
        );
        first.remedy = Some(
            "compute everything anew in every call; static data must not carry results over".into(),
        );
    }
}
