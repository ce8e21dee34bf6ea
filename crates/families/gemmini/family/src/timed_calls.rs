//! The timed calls of a kernel, cold and warm.
//!
//! If values have no part in how long they take, each is made in a machine of its own,
//! and both at once if there is a thread for that. The machine of the warm call makes
//! the cold one before, which only warms caches and takes no time. A kernel whose core
//! looks at values or clocks is called cold and then warm in one machine.
//!
//! Both calls have the same inputs, and all that a kernel could keep from one to the
//! other is put back to what it was: its static data are as loaded, the accelerator is as
//! after reset. Clocks and counters count instructions and bytes, from the beginning of
//! the call. So a kernel cannot tell the calls from each other, and cannot do in the one
//! that does not count what the other one needs. One that looks at clocks is then called
//! with clocks that show time, too, and must be right there: the slower calls count.

use super::apart::{Apart, CALLS, CallCounts, RightCall, does_the_same};
use super::core_lines::CoreTally;
use super::feedback::{feedback, refine};
use super::findings;
use super::profiling::{Recorded, profile};
use super::session::{Session, SessionKind, Watch};
use super::trial::{Called, Trial};
use crate::profile::Profile;
use autocomp_catalog::Ranking;
use autocomp_core::{Cost, Diagnostic, Feedback, Measurement, Outcome, Stage};
use autocomp_eval::Verdict;
use autocomp_eval::doubts::{Refutation, WorkField};
use autocomp_eval::inputs::Case;
use autocomp_eval::timeline::Timeline;
use autocomp_eval::{EvalError, Evaluator};
use autocomp_riscv::Mode;
use autocomp_riscv_machine::{CallReport, ObservedBlock};
use std::sync::atomic::{AtomicBool, Ordering};

/// Commands recorded of the ranked call for feedback; memory for more is not
/// worth it, and counters then say less.
const RECORDED_COMMANDS: usize = 400_000;

/// Commands recorded when a profile is asked for.
const PROFILED_COMMANDS: usize = 4_000_000;

/// Profile of a call, and its timeline if that was wanted.
pub(super) type ProfiledCall = (Profile, Option<Timeline>);

/// A verdict, and the profile of the ranked call if the kernel is right.
pub(super) type Judged = (Verdict, Option<ProfiledCall>);

/// A timed call without values that has come to its end.
pub(super) struct TimedAlone<'a> {
    session: Box<Session<'a>>,
    /// Nothing if it takes more cycles than anybody wants to know.
    report: Option<CallReport>,
    counts: CallCounts,
    recorded: Option<Recorded>,
}

/// What the ranked call looks like from inside.
struct Look {
    feedback: Feedback,
    profiled: Option<ProfiledCall>,
}

impl<'a> Trial<'a> {
    /// Makes call number `call` of [`CALLS`] with inputs `case` without values, in a machine that
    /// those before it have warmed. Returns nothing if that comes to nothing, or
    /// to nothing any more.
    pub(super) fn time_alone(
        &self,
        call: usize,
        case: &Case,
        apart: &Apart,
    ) -> Result<Option<TimedAlone<'a>>, EvalError> {
        let mut session = self.timed_session(false)?;
        session.set_warming(true);
        for _ in 0..call {
            let seed = self.timed_seed();
            session.place(case, seed)?;
            let watch = Watch {
                abandoned: Some(apart.lost()),
                ..Watch::default()
            };
            let Called::Right(_) = self.call(&mut session, case, seed, watch)? else {
                return Ok(None);
            };
        }
        session.set_warming(false);
        let bound = self.bound.filter(|_| call == self.ranked());
        let watch = Watch {
            abandoned: Some(apart.lost()),
            bound,
            ..Watch::default()
        };
        let (called, recorded) = self.call_timed(&mut session, call, case, watch)?;
        let report = match called {
            Called::Right(report) => Some(report),
            Called::TooSlow => None,
            Called::Failed(_) | Called::Abandoned => return Ok(None),
        };
        Ok(Some(TimedAlone {
            counts: session.counts(),
            session,
            report,
            recorded,
        }))
    }

    /// Returns the verdict on a kernel whose calls have been `timed` without values
    /// and whose result with them is `right`; nothing if these were not the same calls.
    pub(super) fn judge(
        &self,
        timed: [TimedAlone<'_>; 2],
        right: &RightCall,
        case: &Case,
    ) -> Result<Option<Judged>, EvalError> {
        let agrees = |timed: &TimedAlone<'_>| {
            let report = timed.report.as_ref();
            report.is_none_or(|report| right.agrees(report, &timed.counts))
        };
        if !timed.iter().all(agrees) {
            return Ok(None);
        }
        let [Some(cold), Some(warm)] = [timed[0].report, timed[1].report] else {
            return Ok(Some((
                Verdict::cut(Cost::cycles(self.bound.unwrap_or_default())),
                None,
            )));
        };
        let reports = [cold, warm];
        let ranked = self.ranked();
        let [cold, warm] = timed;
        let mut alone = if ranked == 0 { cold } else { warm };
        let counts = &right.counts;
        let mut look = self.look(&mut alone.session, alone.recorded, reports[ranked], counts);
        if let Some((profile, _)) = look.profiled.as_mut().filter(|_| self.experiments()) {
            self.experiment(profile, case, ranked, false)?;
        }
        let mut warnings = right.warnings.clone();
        warnings.extend(findings::timed_warnings(&mut alone.session, self.kernel));
        self.measured(reports, look, warnings).map(Some)
    }

    /// Calls the kernel cold and then warm, in one machine, and compares what comes of
    /// both. Clocks and counters show it nothing of time, so that both calls are the same
    /// to it. If it asks them, both calls are made again in another machine that shows
    /// time as hardware does, and the slower ones count. Returns nothing if `abandoned`
    /// was set.
    pub(super) fn time_together(
        &self,
        case: &Case,
        abandoned: &AtomicBool,
    ) -> Result<Option<Judged>, EvalError> {
        let mut reports: [Option<CallReport>; CALLS] = [None; CALLS];
        let mut look = None;
        let mut warnings = Vec::new();
        for shows_time in [false, true] {
            if abandoned.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let mut session = self.timed_session(true)?;
            session.set_time_hidden(!shows_time);
            let (mut asks_time, mut ranked) = (false, None);
            for (call, slower) in reports.iter_mut().enumerate() {
                let watch = Watch {
                    abandoned: Some(abandoned),
                    ..Watch::default()
                };
                match self.call_timed(&mut session, call, case, watch)? {
                    (Called::TooSlow | Called::Abandoned, _) => return Ok(None),
                    (Called::Right(report), recorded) => {
                        asks_time |= session.core_knows_time();
                        if call == self.ranked() {
                            ranked = Some((report, session.counts()));
                        }
                        if slower.is_none_or(|before| before.cycles < report.cycles) {
                            *slower = Some(report);
                            if call == self.ranked() {
                                let counts = session.counts();
                                look = Some(self.look(&mut session, recorded, report, &counts));
                            }
                        }
                    }
                    (Called::Failed(mut verdict), _) => {
                        // A limit has been reached: what to say depends on values.
                        if abandoned.load(Ordering::Relaxed) {
                            return Ok(None);
                        }
                        if shows_time {
                            verdict.mark_time();
                        } else if call > 0 && self.run_alone(case, None)?.0.is_none() {
                            verdict.mark_state();
                        }
                        for diagnostic in &mut verdict.diagnostics {
                            diagnostic.stage = Stage::Time;
                        }
                        return Ok(Some((verdict, None)));
                    }
                }
            }
            warnings = self.warnings_at_end(&mut session);
            if let (false, Some(ranked)) = (shows_time, ranked.take())
                && let Some(verdict) = self.differs_behind_another(case, &ranked)?
            {
                return Ok(Some((verdict, None)));
            }
            if !asks_time {
                break;
            }
        }
        let ([Some(cold), Some(warm)], Some(mut look)) = (reports, look) else {
            return Err(EvalError::Fault("a timed call is missing".into()));
        };
        if let Some((profile, _)) = look.profiled.as_mut().filter(|_| self.experiments()) {
            self.experiment(profile, case, self.ranked(), true)?;
        }
        self.measured([cold, warm], look, warnings).map(Some)
    }

    /// Returns the verdict on a kernel whose `ranked` call is not what the same call is in a
    /// machine whose call before had other inputs; nothing if it is.
    fn differs_behind_another(
        &self,
        case: &Case,
        ranked: &(CallReport, CallCounts),
    ) -> Result<Option<Verdict>, EvalError> {
        let (called, mut session) = self.call_behind_another(case, None)?;
        let mut verdict = match called {
            Called::TooSlow | Called::Abandoned => return Ok(None),
            Called::Failed(mut verdict) => {
                if self.run_alone(case, None)?.0.is_none() {
                    verdict.mark_state();
                }
                verdict
            }
            Called::Right(report) => {
                let counts = session.counts();
                if does_the_same((&report, &counts), (&ranked.0, &ranked.1)) {
                    return Ok(None);
                }
                Verdict::failed(
                    Outcome::Wrong,
                    vec![findings::does_less(
                        ranked.0.instructions,
                        report.instructions,
                    )],
                )
            }
        };
        for diagnostic in &mut verdict.diagnostics {
            diagnostic.stage = Stage::Time;
        }
        Ok(Some(verdict))
    }

    /// Returns a machine for timed calls.
    fn timed_session(&self, values: bool) -> Result<Box<Session<'a>>, EvalError> {
        let kind = SessionKind {
            values,
            ..SessionKind::plain(Mode::Timed)
        };
        // The same places for every kernel: addresses decide about conflicts
        // in caches, and kernels are compared with each other.
        self.session(kind, self.evaluator.problem_seed())
    }

    /// Returns which of the calls counts.
    fn ranked(&self) -> usize {
        match self.evaluator.problem.ranking {
            Ranking::Warm => 1,
            Ranking::Cold => 0,
        }
    }

    fn experiments(&self) -> bool {
        self.with_timeline || self.evaluator.settings.experiments
    }

    /// Makes call number `call` under the eyes of `watch`, and records it if it is the
    /// ranked one.
    fn call_timed(
        &self,
        session: &mut Session<'_>,
        call: usize,
        case: &Case,
        watch: Watch<'_>,
    ) -> Result<(Called, Option<Recorded>), EvalError> {
        let seed = self.timed_seed();
        session.forget_calls()?;
        session.place(case, seed)?;
        let is_ranked = call == self.ranked();
        let is_observed = is_ranked && self.experiments();
        if is_ranked {
            let limit = if self.with_timeline {
                PROFILED_COMMANDS
            } else {
                RECORDED_COMMANDS
            };
            session.record(limit, is_observed);
        }
        let start = session.cycle();
        let mut tally = is_observed.then(CoreTally::default);
        let mut observe = |block: &ObservedBlock| {
            if let Some(tally) = &mut tally {
                tally.add(block);
            }
        };
        let observer: Option<&mut dyn FnMut(&ObservedBlock)> = if is_observed {
            Some(&mut observe)
        } else {
            None
        };
        let watch = Watch {
            observer,
            abandoned: watch.abandoned,
            bound: watch.bound,
        };
        let called = self.call(session, case, seed, watch)?;
        let recorded = match &called {
            Called::Right(report) => session.take_recording().map(|recording| Recorded {
                recording,
                start,
                report: *report,
                tally,
            }),
            _ => None,
        };
        Ok((called, recorded))
    }

    /// Looks into the ranked call, which `session` has just made.
    fn look(
        &self,
        session: &mut Session<'_>,
        recorded: Option<Recorded>,
        report: CallReport,
        counts: &CallCounts,
    ) -> Look {
        let evaluator = self.evaluator;
        let profiled = recorded.map(|recorded| {
            let (kernel, with_timeline) = (self.kernel, self.with_timeline);
            let profiled = profile(session, &recorded, counts, evaluator, kernel, with_timeline);
            // Long ones are made once.
            if !with_timeline {
                evaluator.engine.recordings.give(recorded.recording);
            }
            profiled
        });
        let (ideal, problem) = (evaluator.ideal, &evaluator.problem);
        Look {
            feedback: feedback(session, &report, counts, ideal, problem, self.kernel),
            profiled,
        }
    }

    /// Returns the verdict on a kernel that is right.
    fn measured(
        &self,
        reports: [CallReport; 2],
        look: Look,
        warnings: Vec<Diagnostic>,
    ) -> Result<Judged, EvalError> {
        let evaluator = self.evaluator;
        let Look {
            mut feedback,
            profiled,
        } = look;
        let profile = profiled.as_ref().map(|(profile, _)| profile);
        if let Some(profile) = profile.filter(|profile| profile.unrecorded_commands == 0) {
            refine(&mut feedback, profile, self.kernel);
        }
        for report in reports {
            if report.cycles < evaluator.ideal {
                return Err(self.below_floor(report.cycles, &feedback));
            }
        }
        let ranked = reports[self.ranked()];
        let measurement = Measurement {
            cost: Cost::cycles(ranked.cycles),
            floor: Cost::cycles(evaluator.ideal),
            percent_of_peak: 100.0 * evaluator.ideal as f64 / ranked.cycles.max(1) as f64,
            samples: Vec::new(),
            ratio_to_baseline: None,
            engine: evaluator.engine.name.clone(),
            compiler: evaluator.toolchain().name.clone(),
            figures: [
                // The runtime's included, which are few and the same for all kernels.
                (
                    "code_bytes".to_owned(),
                    self.program.code.end - self.program.code.start,
                ),
                ("cold_cycles".to_owned(), reports[0].cycles),
                ("instructions".to_owned(), ranked.instructions),
            ]
            .into(),
        };
        let verdict = Verdict {
            outcome: Outcome::Ok,
            diagnostics: warnings,
            measurement: Some(measurement),
            feedback: Some(feedback),
        };
        Ok((verdict, profiled))
    }

    /// Says why a right kernel cannot have taken only `cycles` cycles, by what `feedback`
    /// counted: either `work` of the problem asks for more than has to be done, or the
    /// simulator does more in a cycle than the machine can.
    fn below_floor(&self, cycles: u64, feedback: &Feedback) -> EvalError {
        let evaluator = self.evaluator;
        let (work, problem) = (&evaluator.problem.work, &evaluator.problem.name);
        let count = |name: &str| feedback.counters.get(name).copied().unwrap_or(0.0);
        let multiplied = count("macs_issued");
        let moved = count("bytes_read") + count("bytes_written");
        let floor = evaluator.ideal;
        let kernel = evaluator.key(self.kernel.source).short();
        let mut fields = Vec::new();
        if cycles as f64 * evaluator.roofline.peak_macs < work.macs as f64
            && multiplied < work.macs as f64
        {
            fields.push(WorkField::Macs);
        }
        if (cycles as f64 * evaluator.roofline.bytes) < work.bytes as f64
            && moved < work.bytes as f64
        {
            fields.push(WorkField::Bytes);
        }
        if fields.is_empty() {
            return EvalError::Fault(format!(
                "{cycles} cycles are below the physical floor of {floor} cycles for {problem}; \
                 `roofline` of the target says less than the machine can do, or the simulator is wrong (kernel {kernel})",
            ));
        }
        Refutation {
            problem: &evaluator.problem,
            fields: &fields,
            floor: Cost::cycles(floor),
            cost: Cost::cycles(cycles),
            did: format!(
                " with {multiplied} multiply-accumulate steps of the array and {moved} bytes moved"
            ),
            kernel,
        }
        .error()
    }
}
