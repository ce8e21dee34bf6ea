//! The timed calls of a kernel: cold, then warm, in one machine.

use super::apart::{Apart, CALLS};
use super::cases::CaseOf;
use super::core_lines::CoreTally;
use super::feedback::feedback;
use super::findings;
use super::profiling::{Recorded, profile};
use super::session::{SessionKind, Watch};
use super::trial::{Called, Trial, Verdict};
use crate::evaluator::{EvalError, Evaluator};
use crate::profile::Profile;
use crate::timeline::Timeline;
use autocomp_core::{Cycles, Measurement, Outcome, Stage};
use autocomp_riscv::Mode;
use autocomp_sim::ObservedBlock;
use autocomp_targets::Ranking;
use std::cell::OnceCell;
use std::sync::atomic::{AtomicBool, Ordering};

/// Commands recorded of the ranked call for feedback; memory for more is not
/// worth it, and counters then say less.
const RECORDED_COMMANDS: usize = 400_000;

/// Commands recorded when a profile is asked for.
const PROFILED_COMMANDS: usize = 4_000_000;

/// Profile of a call, and its timeline if that was wanted.
pub(super) type ProfiledCall = (Profile, Option<Timeline>);

/// How calls are timed.
#[derive(Clone, Copy)]
struct How<'h> {
    /// Whether a timeline is wanted.
    with_timeline: bool,
    /// Set when nobody wants to know any more.
    abandoned: &'h AtomicBool,
    /// Who works out the results; if nobody, the timed calls do it.
    apart: Option<&'h Apart>,
}

impl Trial<'_> {
    /// Calls the kernel cold and then warm, in one machine and with different
    /// inputs, and compares both. Returns nothing if `abandoned` was set.
    pub(super) fn time(
        &self,
        cases: &[CaseOf<'_>],
        abandoned: &AtomicBool,
    ) -> Result<Option<Verdict>, EvalError> {
        let how = How {
            with_timeline: false,
            abandoned,
            apart: None,
        };
        let timed = self.time_as(cases, how)?;
        Ok(timed.map(|(verdict, _)| verdict))
    }

    /// The same without values, of which another thread is to take care; see
    /// [`apart`](super::apart). Returns nothing if that does not do for this
    /// kernel.
    pub(super) fn time_apart(
        &self,
        cases: &[CaseOf<'_>],
        apart: &Apart,
    ) -> Result<Option<Verdict>, EvalError> {
        let how = How {
            with_timeline: false,
            abandoned: apart.lost(),
            apart: Some(apart),
        };
        let timed = self.time_as(cases, how)?;
        Ok(timed.map(|(verdict, _)| verdict))
    }

    /// Returns the profile of the ranked call with its timeline, if the kernel
    /// is right.
    pub(super) fn profiled(&self, cases: &[CaseOf<'_>]) -> Result<Option<ProfiledCall>, EvalError> {
        let how = How {
            with_timeline: true,
            abandoned: &AtomicBool::new(false),
            apart: None,
        };
        Ok(self.time_as(cases, how)?.and_then(|(_, profiled)| profiled))
    }

    fn time_as(
        &self,
        cases: &[CaseOf<'_>],
        how: How<'_>,
    ) -> Result<Option<(Verdict, Option<ProfiledCall>)>, EvalError> {
        let How {
            with_timeline,
            abandoned,
            apart,
        } = how;
        let evaluator = self.evaluator;
        let Some((cold_case, rest)) = cases.split_first() else {
            return Err(EvalError::Fault("the problem has no input set".into()));
        };
        let other = OnceCell::new();
        let case = |call: usize| match (call, rest.last()) {
            (0, _) => cold_case.get(),
            (_, Some(case)) => case.get(),
            (_, None) => {
                let (problem, seed) = (&evaluator.problem, self.seed.derive("warm"));
                let cold = cold_case.get()?;
                Ok(other.get_or_init(|| cold.permuted(problem, seed)))
            }
        };
        // The same places for every kernel: addresses decide about conflicts
        // in caches, and kernels are compared with each other.
        let kind = SessionKind {
            values: apart.is_none(),
            ..SessionKind::plain(Mode::Timed)
        };
        let mut session = self.session(kind, evaluator.problem_seed())?;
        let (mut reports, mut counted) = (Vec::new(), Vec::new());
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
        for (call, name) in CALLS.into_iter().enumerate() {
            let (case, seed) = (case(call)?, self.seed.derive(name));
            session.place(case, seed);
            session.reset_statistics();
            let is_ranked = reports.len() == ranked_idx;
            if is_ranked {
                session.record(limit, experiments);
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
            let watch = Watch {
                observer,
                abandoned: Some(abandoned),
            };
            match self.call(&mut session, case, seed, watch)? {
                Called::Abandoned => return Ok(None),
                Called::Right(report) => {
                    reports.push(report);
                    counted.push(session.counts());
                    if !is_ranked {
                        continue;
                    }
                    let counts = match apart {
                        None => &counted[ranked_idx],
                        Some(apart) => match apart.calls() {
                            Some(calls) => &calls[ranked_idx].counts,
                            None => return Ok(None),
                        },
                    };
                    if let Some(recording) = session.take_recording() {
                        let recorded = Recorded {
                            recording,
                            start,
                            report,
                            tally,
                        };
                        profiled = Some(profile(
                            &mut session,
                            &recorded,
                            counts,
                            evaluator,
                            self.kernel,
                            with_timeline,
                        ));
                        // Long ones are made once.
                        if !with_timeline {
                            evaluator.engine.recordings.give(recorded.recording);
                        }
                    }
                    let (ideal, problem) = (evaluator.ideal, &evaluator.problem);
                    let found =
                        feedback(&mut session, &report, counts, ideal, problem, self.kernel);
                    ranked_feedback = Some(found);
                }
                Called::Failed(mut verdict) => {
                    // A limit has been reached: what to say depends on values.
                    if apart.is_some() || abandoned.load(Ordering::Relaxed) {
                        return Ok(None);
                    }
                    let first_call = reports.is_empty();
                    if !first_call && self.run_alone(case, None)?.is_none() {
                        mark_state(&mut verdict);
                    }
                    for diagnostic in &mut verdict.diagnostics {
                        diagnostic.stage = Stage::Time;
                    }
                    return Ok(Some((verdict, None)));
                }
            }
        }
        if abandoned.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let warnings = match apart {
            None => findings::warnings(&mut session, self.kernel),
            Some(apart) => {
                let Some(calls) = apart.calls() else {
                    return Ok(None);
                };
                let mut pairs = calls.iter().zip(reports.iter().zip(&counted));
                if !pairs.all(|(call, (report, counts))| call.agrees(report, counts)) {
                    return Ok(None);
                }
                calls[1].warnings.clone()
            }
        };
        if let Some((profile, _)) = &mut profiled {
            if experiments {
                self.experiment(profile, [case(0)?, case(1)?], ranked_idx, apart.is_none())?;
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
            diagnostics: warnings,
            measurement: Some(measurement),
            feedback: ranked_feedback,
        };
        Ok(Some((verdict, profiled)))
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
