//! In which order a kernel is tested and timed. The verdict is that of testing
//! first and timing then, in whatever order they end.

use super::tier_clock::TierClock;
use super::trial::{Trial, Verdict};
use crate::evaluator::EvalError;
use crate::inputs::Case;
use std::borrow::Cow;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

impl Trial<'_> {
    /// Tests the kernel with the cases `tested` and then, if it passes, times
    /// it with `timed`.
    pub(super) fn test_then_time(
        &self,
        tested: &[Cow<'_, Case>],
        timed: &[Cow<'_, Case>],
        clock: &mut TierClock,
    ) -> Result<Verdict, EvalError> {
        if let Some(failed) = clock.measure("test", || self.test(tested))? {
            return Ok(failed);
        }
        let verdict = clock.measure("time", || self.time(timed, &AtomicBool::new(false)))?;
        wanted(verdict)
    }

    /// Does both at once, on a thread each; what timing has found is dropped if
    /// the kernel does not pass the tests.
    pub(super) fn test_while_timing(
        &self,
        tested: &[Cow<'_, Case>],
        timed: &[Cow<'_, Case>],
        clock: &mut TierClock,
    ) -> Result<Verdict, EvalError> {
        let abandoned = AtomicBool::new(false);
        thread::scope(|scope| {
            let timing = scope.spawn(|| {
                let mut clock = TierClock::default();
                let verdict = clock.measure("time", || self.time(timed, &abandoned));
                (verdict, clock)
            });
            // Whether testing fails, is impossible, or panics.
            let abandon = Abandon(&abandoned);
            let tested = clock.measure("test", || self.test(tested));
            if let Some(failed) = tested.transpose() {
                drop(abandon);
                // What has come of it, a panic even, is of no interest.
                let _ = timing.join();
                return failed;
            }
            let (verdict, timing) = timing.join().unwrap_or_else(|panic| resume_unwind(panic));
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
