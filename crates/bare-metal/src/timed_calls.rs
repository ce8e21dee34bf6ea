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

use crate::core_lines::CoreTally;
use crate::findings;
use crate::platform::{Platform, WorkDone};
use crate::separation::{CALLS, RightCall, Separation, does_the_same};
use crate::session::{Session, SessionKind, Watch};
use crate::trial::{Called, Trial};
use autocomp_catalog::Ranking;
use autocomp_core::{Cost, Diagnostic, Feedback, Measurement, Outcome, Stage, Unit};
use autocomp_eval::Verdict;
use autocomp_eval::doubts::{Peaks, Refutation, WorkField};
use autocomp_eval::inputs::Case;
use autocomp_eval::timeline::Timeline;
use autocomp_eval::{EvalError, Evaluator};
use autocomp_riscv::Mode;
use autocomp_riscv_machine::{CallReport, ObservedBlock};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// Profile of a call, and its timeline if that was wanted.
pub type ProfiledCall<P> = (<P as Platform>::Profile, Option<Timeline>);

/// A verdict, and the profile of the ranked call if the kernel is right.
pub type Judged<P> = (Verdict, Option<ProfiledCall<P>>);

/// What was recorded of a call.
pub struct Recorded<R> {
    /// What the unit did.
    pub recording: R,
    /// Cycle at which the call began.
    pub start: u64,
    /// What it took.
    pub report: CallReport,
    /// What the core did, if that was observed.
    pub tally: Option<CoreTally>,
}

/// The call that counts, just made, with its counts reset before.
pub struct RankedCall<'t, 'a, P: Platform> {
    /// The kernel under test.
    pub trial: &'t Trial<'a, P>,
    /// The machine in which it was made.
    pub session: &'t mut Session<'a, P>,
    /// What it took.
    pub report: &'t CallReport,
    /// What the unit counted in the same call with values.
    pub counts: &'t P::Counts,
}

/// A timed call without values that has come to its end.
pub struct TimedAlone<'a, P: Platform> {
    session: Box<Session<'a, P>>,
    /// What the call took; nothing if it was ended because it took more cycles than the bound.
    report: Option<CallReport>,
    /// What the call before it took, if that took its time.
    before: Option<CallReport>,
    counts: P::Counts,
    recorded: Option<Recorded<P::Recording>>,
}

/// What was recorded of a call, if it was.
type RecordedCall<P> = Option<Recorded<<P as Platform>::Recording>>;

/// Feedback and profile of the call whose cycles count.
struct Look<P: Platform> {
    feedback: Feedback,
    profiled: Option<ProfiledCall<P>>,
}

impl<'a, P: Platform> Trial<'a, P> {
    /// Makes call number `call` of [`CALLS`] with inputs `case` without values, in a machine that
    /// those before it have warmed. Returns nothing if the call goes wrong, or has been given up
    /// because values turned out to decide its time.
    pub fn time_alone(
        &self,
        call: usize,
        case: &Case,
        apart: &Separation,
    ) -> Result<Option<TimedAlone<'a, P>>, EvalError> {
        let mut session = self.timed_session(false)?;
        let mut before = None;
        session.set_warming(true);
        for _ in 0..call {
            let seed = self.timed_seed();
            session.place(case, seed)?;
            let watch = Watch {
                abandoned: Some(apart.lost()),
                ..Watch::default()
            };
            let Called::Right(report) = self.call(&mut session, case, seed, watch)? else {
                return Ok(None);
            };
            before = Some(report).filter(|_| !self.platform.can_leave_out_values());
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
            before,
            recorded,
        }))
    }

    /// Returns whether the cold call is made in a machine of its own. Where a call that only
    /// warms caches takes as long as one that counts, the one before the warm call is the cold
    /// one.
    pub fn cold_is_apart(&self) -> bool {
        self.ranked() == 0 || self.platform.can_leave_out_values()
    }

    /// Returns the verdict on a kernel whose calls have been timed without values, `cold` if it
    /// is made apart, and whose result with them is `right`; nothing if these were not the same
    /// calls.
    pub fn judge(
        &self,
        (cold, warm): (Option<TimedAlone<'a, P>>, TimedAlone<'a, P>),
        right: &RightCall<P::Counts>,
        case: &Case,
    ) -> Result<Option<Judged<P>>, EvalError> {
        let platform = self.platform;
        let agrees = |timed: &TimedAlone<'a, P>| {
            let report = timed.report.as_ref();
            report.is_none_or(|report| {
                let right = (&right.report, &right.counts);
                does_the_same(platform, right, (report, &timed.counts))
            })
        };
        let seen = |report: &CallReport| (report.instructions, report.value);
        let is_same = |report: CallReport| seen(&report) == seen(&right.report);
        if !cold.iter().chain([&warm]).all(agrees) || !warm.before.is_none_or(is_same) {
            return Ok(None);
        }
        let cold_report = match &cold {
            Some(cold) => cold.report,
            None => warm.before,
        };
        let (Some(cold_report), Some(warm_report)) = (cold_report, warm.report) else {
            let bound = Cost::cycles(self.bound.unwrap_or_default());
            let verdict = Verdict::cut(bound, &self.work(&right.report));
            return Ok(Some((verdict, None)));
        };
        let reports = [cold_report, warm_report];
        let ranked = self.ranked();
        let mut alone = cold.filter(|_| ranked == 0).unwrap_or(warm);
        let counts = &right.counts;
        let mut look = self.look(&mut alone.session, alone.recorded, reports[ranked], counts);
        if let Some((profile, _)) = look.profiled.as_mut().filter(|_| self.experiments()) {
            platform.experiment(self, profile, case, ranked, false)?;
        }
        let mut warnings = right.warnings.clone();
        warnings.extend(platform.timed_warnings(&mut alone.session, self.kernel));
        self.measured(reports, look, warnings).map(Some)
    }

    /// Calls the kernel cold and then warm, in one machine, and compares what comes of
    /// both. Clocks and counters show it nothing of time, so that both calls are the same
    /// to it. If it asks them, both calls are made again in another machine that shows
    /// time as hardware does, and the slower ones count. Returns nothing if `abandoned`
    /// was set.
    pub fn time_together(
        &self,
        case: &Case,
        abandoned: &AtomicBool,
    ) -> Result<Option<Judged<P>>, EvalError> {
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
                            verdict.mark_state("the second call");
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
            let platform = self.platform;
            platform.experiment(self, profile, case, self.ranked(), true)?;
        }
        self.measured([cold, warm], look, warnings).map(Some)
    }

    /// Returns the verdict on a kernel whose `ranked` call is not what the same call is in a
    /// machine whose call before had other inputs; nothing if it is.
    fn differs_behind_another(
        &self,
        case: &Case,
        ranked: &(CallReport, P::Counts),
    ) -> Result<Option<Verdict>, EvalError> {
        let (called, mut session) = self.call_behind_another(case, None)?;
        let mut verdict = match called {
            Called::TooSlow | Called::Abandoned => return Ok(None),
            Called::Failed(mut verdict) => {
                // The other inputs may be wrong in a first call, too.
                let (other, _) = self.run_alone(&self.other_inputs(case)?, None)?;
                let alone = match other {
                    Some(verdict) => Some(verdict),
                    None => self.run_alone(case, None)?.0,
                };
                alone.unwrap_or_else(|| {
                    verdict.mark_state("the second call");
                    verdict
                })
            }
            Called::Right(report) => {
                let counts = session.counts();
                let platform = self.platform;
                if does_the_same(platform, (&report, &counts), (&ranked.0, &ranked.1)) {
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
    fn timed_session(&self, values: bool) -> Result<Box<Session<'a, P>>, EvalError> {
        let kind = SessionKind {
            values: values || !self.platform.can_leave_out_values(),
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
        session: &mut Session<'_, P>,
        call: usize,
        case: &Case,
        watch: Watch<'_>,
    ) -> Result<(Called, RecordedCall<P>), EvalError> {
        let seed = self.timed_seed();
        session.forget_calls()?;
        session.place(case, seed)?;
        let is_ranked = call == self.ranked();
        let is_observed = is_ranked && self.experiments();
        if is_ranked {
            session.record(self.with_timeline, is_observed);
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
        session: &mut Session<'a, P>,
        recorded: Option<Recorded<P::Recording>>,
        report: CallReport,
        counts: &P::Counts,
    ) -> Look<P> {
        let platform = self.platform;
        let mut call = RankedCall {
            trial: self,
            session,
            report: &report,
            counts,
        };
        let profiled = recorded.map(|recorded| {
            let profiled = platform.profile(&mut call, &recorded);
            // Long ones are made once.
            if !self.with_timeline {
                platform.recycle(recorded.recording);
            }
            profiled
        });
        Look {
            feedback: platform.feedback(&mut call),
            profiled,
        }
    }

    /// Returns the verdict on a kernel that is right.
    fn measured(
        &self,
        reports: [CallReport; 2],
        look: Look<P>,
        warnings: Vec<Diagnostic>,
    ) -> Result<Judged<P>, EvalError> {
        let evaluator = self.evaluator;
        let Look {
            mut feedback,
            profiled,
        } = look;
        let profile = profiled.as_ref().map(|(profile, _)| profile);
        if let Some(profile) = profile {
            evaluator
                .platform
                .refine(&mut feedback, profile, self.kernel);
        }
        for report in reports {
            if report.cycles < evaluator.ideal {
                return Err(self.below_floor(report.cycles, &feedback));
            }
        }
        let ranked = reports[self.ranked()];
        let mut figures = self.work(&ranked);
        figures.insert("cold_cycles".to_owned(), reports[0].cycles);
        let measurement = Measurement {
            cost: Cost::cycles(ranked.cycles),
            floor: Cost::cycles(evaluator.ideal),
            percent_of_peak: 100.0 * evaluator.ideal as f64 / ranked.cycles.max(1) as f64,
            samples: Vec::new(),
            ratio_to_baseline: None,
            engine: evaluator.platform.engine().to_owned(),
            compiler: evaluator.toolchain().name.clone(),
            figures,
        };
        let verdict = Verdict {
            outcome: Outcome::Ok,
            diagnostics: warnings,
            measurement: Some(measurement),
            feedback: Some(feedback),
        };
        Ok((verdict, profiled))
    }

    /// Returns the figures of a call that do not depend on its time.
    fn work(&self, report: &CallReport) -> BTreeMap<String, u64> {
        // The runtime's included, which are few and the same for all kernels.
        let code_bytes = self.program.code.end - self.program.code.start;
        let mut figures = BTreeMap::from([
            (Measurement::CODE_BYTES.to_owned(), code_bytes),
            (Measurement::INSTRUCTIONS.to_owned(), report.instructions),
        ]);
        if 0 < report.spills {
            figures.insert(Measurement::SPILLS.to_owned(), report.spills);
        }
        figures
    }

    /// Says why a right kernel cannot have taken only `cycles` cycles, by what `feedback`
    /// counted: `work` of the problem asks for more than has to be done, the roofline of the
    /// target says less than the machine can do, or the simulator does more than that.
    fn below_floor(&self, cycles: u64, feedback: &Feedback) -> EvalError {
        let evaluator = self.evaluator;
        let (work, problem) = (&evaluator.problem.work, &evaluator.problem.name);
        let done = evaluator.platform.work_done(feedback);
        let WorkDone { macs, bytes, text } = done.unwrap_or_default();
        let floor = evaluator.ideal;
        let kernel = evaluator.key(self.kernel.source).short();
        let mut fields = Vec::new();
        if cycles as f64 * evaluator.roofline.peak_macs < work.macs as f64
            && macs < work.macs as f64
        {
            fields.push(WorkField::Macs);
        }
        if (cycles as f64 * evaluator.roofline.bytes) < work.bytes as f64
            && bytes < work.bytes as f64
        {
            fields.push(WorkField::Bytes);
        }
        if fields.is_empty() {
            return EvalError::Fault(format!(
                "{cycles} cycles are below the physical floor of {floor} cycles for {problem}; \
                 `[roofline]` in {}/target.toml says less than the machine can do, or the simulator is wrong (kernel {kernel})",
                evaluator.target,
            ));
        }
        Refutation {
            problem: &evaluator.problem,
            fields: &fields,
            peaks: Some(Peaks::of_roofline(&evaluator.target, Unit::Cycles)),
            floor: Cost::cycles(floor),
            cost: Cost::cycles(cycles),
            did: text,
            kernel,
        }
        .error()
    }
}
