//! The timed calls of a kernel: cold, then warm, in one machine.

use super::core_lines::CoreTally;
use super::feedback::feedback;
use super::findings;
use super::profiling::{Recorded, profile};
use super::session::{SessionKind, Watch};
use super::trial::{Called, Trial, Verdict};
use crate::evaluator::{EvalError, Evaluator};
use crate::inputs::Case;
use crate::profile::Profile;
use crate::timeline::Timeline;
use autocomp_core::{Cycles, Measurement, Outcome, Stage};
use autocomp_riscv::Mode;
use autocomp_sim::ObservedBlock;
use autocomp_targets::Ranking;
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

/// Commands recorded of the ranked call for feedback; memory for more is not
/// worth it, and counters then say less.
const RECORDED_COMMANDS: usize = 400_000;

/// Commands recorded when a profile is asked for.
const PROFILED_COMMANDS: usize = 4_000_000;

/// Profile of a call, and its timeline if that was wanted.
pub(super) type ProfiledCall = (Profile, Option<Timeline>);

impl Trial<'_> {
    /// Calls the kernel cold and then warm, in one machine and with different
    /// inputs, and compares both. Returns nothing if `abandoned` was set.
    pub(super) fn time(
        &self,
        cases: &[Cow<'_, Case>],
        abandoned: &AtomicBool,
    ) -> Result<Option<Verdict>, EvalError> {
        let timed = self.time_recorded(cases, false, abandoned)?;
        Ok(timed.map(|(verdict, _)| verdict))
    }

    /// The same; returns the profile of the ranked call too, if the kernel is
    /// right, and its timeline, if that is wanted.
    pub(super) fn time_recorded(
        &self,
        cases: &[Cow<'_, Case>],
        with_timeline: bool,
        abandoned: &AtomicBool,
    ) -> Result<Option<(Verdict, Option<ProfiledCall>)>, EvalError> {
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
            if is_ranked {
                session.record(limit);
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
                    if !is_ranked {
                        continue;
                    }
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
                    let found = feedback(&mut session, &report, ideal, problem, self.kernel);
                    ranked_feedback = Some(found);
                }
                Called::Failed(mut verdict) => {
                    if abandoned.load(Ordering::Relaxed) {
                        return Ok(None);
                    }
                    let first_call = reports.is_empty();
                    if !first_call && self.run_alone(case)?.is_none() {
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
