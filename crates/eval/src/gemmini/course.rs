//! In which order a kernel is tested and timed. The verdict is that of testing
//! first and timing then, in whatever order they end.

use super::apart::{Apart, Promise};
use super::cases::CaseOf;
use super::tier_clock::TierClock;
use super::trial::{Trial, Verdict};
use crate::evaluator::EvalError;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

impl Trial<'_> {
    /// Tests the kernel with the cases `tested` and then, if it passes, times
    /// it with `timed`.
    pub(super) fn test_then_time(
        &self,
        tested: &[CaseOf<'_>],
        timed: &[CaseOf<'_>],
        clock: &mut TierClock,
    ) -> Result<Verdict, EvalError> {
        if let Some(failed) = clock.measure("test", || self.test(tested, None))? {
            return Ok(failed);
        }
        let verdict = clock.measure("time", || self.time(timed, &AtomicBool::new(false)))?;
        wanted(verdict)
    }

    /// Does both at once, on a thread each; what timing has found is dropped if
    /// the kernel does not pass the tests. The thread that tests works the
    /// results of the timed calls out too, unless `mixed`, if the kernel allows
    /// that. `mixed` says whether the kernel before did not; afterwards, whether
    /// this one does not.
    pub(super) fn test_while_timing(
        &self,
        tested: &[CaseOf<'_>],
        timed: &[CaseOf<'_>],
        clock: &mut TierClock,
        mixed: &AtomicBool,
    ) -> Result<Verdict, EvalError> {
        let (abandoned, apart) = (AtomicBool::new(false), Apart::default());
        let try_apart = !mixed.load(Ordering::Relaxed);
        thread::scope(|scope| {
            let testing = scope.spawn(|| {
                let _promise = Promise(&apart);
                // Whether testing fails, is impossible, or panics.
                let abandon = Abandon(&abandoned);
                let mut clock = TierClock::default();
                let tested = clock.measure("test", || self.test(tested, Some(&apart)));
                if let Some(failed) = tested.transpose() {
                    return (Some(failed), clock);
                }
                std::mem::forget(abandon);
                mixed.store(apart.is_lost(), Ordering::Relaxed);
                let worked_out = match try_apart {
                    true => self.work_out(timed, &apart),
                    false => Ok(()),
                };
                (worked_out.err().map(Err), clock)
            });
            let mut timing = TierClock::default();
            let verdict = timing.measure("time", || {
                let verdict = match try_apart {
                    true => self.time_apart(timed, &apart)?,
                    false => None,
                };
                match verdict {
                    None => self.time(timed, &abandoned),
                    verdict => Ok(verdict),
                }
            });
            let (failed, tested) = testing.join().unwrap_or_else(|panic| resume_unwind(panic));
            clock.append(tested);
            if let Some(failed) = failed {
                // What has come of timing, an error even, is of no interest.
                return failed;
            }
            clock.append(timing);
            wanted(verdict?)
        })
    }
}

fn wanted(verdict: Option<Verdict>) -> Result<Verdict, EvalError> {
    verdict.ok_or_else(|| EvalError::Fault("timing was abandoned without a reason".into()))
}

/// Sets a flag when dropped.
struct Abandon<'a>(&'a AtomicBool);

impl Drop for Abandon<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
