//! In which order a kernel is tested and timed. The verdict is that of testing
//! first and timing then, in whatever order they end and on however many threads.

use crate::cases::CaseOf;
use crate::platform::Platform;
use crate::separation::Separation;
use crate::timed_calls::{Judged, TimedAlone};
use crate::trial::Trial;
use autocomp_eval::EvalError;
use autocomp_eval::TierClock;
use autocomp_eval::Verdict;
use autocomp_eval::inputs::Case;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Of so many tests the thread that makes the cold call makes one, when it has done
/// with that: then both threads are busy for about as long.
const TESTS_OF_COLD: usize = 2;

/// Verdicts on tests.
type Verdicts = Vec<Option<Verdict>>;

/// What the two threads that judge a kernel tell each other.
#[derive(Default)]
struct Shared {
    apart: Separation,
    /// Nobody wants to know how long the kernel takes.
    abandoned: AtomicBool,
    /// One of them makes the last tests.
    last_taken: AtomicBool,
}

impl Shared {
    fn abandon(&self) {
        self.abandoned.store(true, Ordering::Relaxed);
        self.apart.give_up();
    }

    /// Notes verdicts on tests.
    fn note(&self, verdicts: &Verdicts) {
        if verdicts.iter().any(Option::is_some) {
            self.abandon();
        }
    }

    /// Returns whether the caller is to make the last tests.
    fn takes_last(&self) -> bool {
        !self.last_taken.swap(true, Ordering::Relaxed)
    }
}

/// Abandons timing when dropped.
struct Abandon<'s>(&'s Shared);

impl Drop for Abandon<'_> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// What the thread that makes the warm call finds.
struct Beside<'a, P: Platform> {
    first: Verdicts,
    /// If it made these tests.
    last: Option<Verdicts>,
    /// If all is well and it can be made without values.
    warm: Option<TimedAlone<'a, P>>,
}

impl<'a, P: Platform> Trial<'a, P> {
    /// Tests the kernel with the cases `tested` and then, if it passes, times it with
    /// `timed`, on this thread alone.
    pub fn test_then_time(
        &self,
        tested: &[CaseOf<'_, P>],
        timed: CaseOf<'_, P>,
        clock: &mut TierClock,
    ) -> Result<Judged<P>, EvalError> {
        let apart = Separation::default();
        let later = later(tested, timed);
        let verdicts = clock.measure("test", || self.test(tested, Some(&later), &apart))?;
        if let Some(failed) = self.verdict_on_tests(tested, verdicts)? {
            return Ok((failed, None));
        }
        let case = timed.get()?;
        if !apart.is_lost()
            && let Some(right) = clock.measure("test", || self.work_out(case, &apart))?
        {
            let judged = clock.measure("time", || {
                let cold = self.time_cold(case, &apart)?;
                let warm = self.time_alone(1, case, &apart)?;
                match warm {
                    Some(warm) if cold.is_some() || !self.cold_is_apart() => {
                        self.judge((cold, warm), &right, case)
                    }
                    _ => Ok(None),
                }
            })?;
            if let Some(judged) = judged {
                return Ok(judged);
            }
        }
        self.time_at_last(case, clock)
    }

    /// Does the same on two threads: what timing has found is dropped if the kernel
    /// does not pass the tests. This thread makes the cold call, works out what the
    /// timed calls result in and makes the last tests; the other one makes the first
    /// tests and the warm call.
    pub fn test_while_timing(
        &self,
        tested: &[CaseOf<'_, P>],
        timed: CaseOf<'_, P>,
        clock: &mut TierClock,
    ) -> Result<Judged<P>, EvalError> {
        // The first two are made in one machine.
        let of_cold = (tested.len() / TESTS_OF_COLD).min(tested.len().saturating_sub(2));
        let (first, last) = tested.split_at(tested.len() - of_cold);
        let later = later(tested, timed);
        let case = timed.get()?;
        let shared = Shared::default();
        let apart = &shared.apart;
        thread::scope(|scope| {
            let beside = scope.spawn(|| {
                let mut clock = TierClock::default();
                let found = self.test_and_warm([first, last, &later], case, &shared, &mut clock);
                (found, clock)
            });
            let mut own = TierClock::default();
            let cold = own.measure("time", || self.time_cold(case, apart));
            let right = match &cold {
                Ok(cold) if cold.is_some() || !self.cold_is_apart() => {
                    own.measure("test", || self.work_out(case, apart))
                }
                _ => Ok(None),
            };
            if !matches!(right, Ok(Some(_))) {
                apart.give_up();
            }
            let mut own_last = None;
            if !apart.is_lost() && shared.takes_last() {
                own_last = Some(own.measure("test", || self.test(last, None, apart)));
            }
            if let Some(Ok(verdicts)) = &own_last {
                shared.note(verdicts);
            }
            let together = match apart.is_lost() {
                true => own.measure("time", || self.time_together(case, &shared.abandoned)),
                false => Ok(None),
            };
            let (beside, clock_beside) = beside.join().unwrap_or_else(|panic| resume_unwind(panic));
            clock.append(clock_beside);
            let Beside {
                first: mut verdicts,
                last: last_beside,
                warm,
            } = beside?;
            match (own_last, last_beside) {
                (Some(made), _) => verdicts.extend(made?),
                (None, Some(made)) => verdicts.extend(made),
                (None, None) if stops(&verdicts) => {}
                (None, None) => {
                    verdicts.extend(clock.measure("test", || self.test(last, None, apart))?);
                }
            }
            if let Some(failed) = self.verdict_on_tests(tested, verdicts)? {
                // What has come of timing, an error even, is of no interest.
                return Ok((failed, None));
            }
            clock.append(own);
            if let (cold, Some(warm), Some(right), false) = (cold?, warm, right?, apart.is_lost())
                && (cold.is_some() || !self.cold_is_apart())
            {
                let judged = clock.measure("time", || self.judge((cold, warm), &right, case))?;
                if let Some(judged) = judged {
                    return Ok(judged);
                }
            }
            match together? {
                Some(judged) => Ok(judged),
                None => self.time_at_last(case, clock),
            }
        })
    }

    /// Makes the cold call, if it is made apart and comes to something.
    fn time_cold(
        &self,
        case: &Case,
        apart: &Separation,
    ) -> Result<Option<TimedAlone<'a, P>>, EvalError> {
        match self.cold_is_apart() {
            true => self.time_alone(0, case, apart),
            false => Ok(None),
        }
    }

    /// Makes the `first` tests, with the `later` calls, and, if the kernel passes them, the warm
    /// call, or the `last` tests if there is no point in that.
    fn test_and_warm(
        &self,
        [first, last, later]: [&[CaseOf<'_, P>]; 3],
        case: &Case,
        shared: &Shared,
        clock: &mut TierClock,
    ) -> Result<Beside<'a, P>, EvalError> {
        let apart = &shared.apart;
        // Also if testing is impossible or panics.
        let abandon = Abandon(shared);
        let first = clock.measure("test", || self.test(first, Some(later), apart))?;
        shared.note(&first);
        let mut found = Beside {
            last: None,
            warm: None,
            first,
        };
        if !apart.is_lost() {
            found.warm = clock.measure("time", || self.time_alone(1, case, apart))?;
            if found.warm.is_none() {
                apart.give_up();
            }
        }
        if apart.is_lost() && !stops(&found.first) && shared.takes_last() {
            let verdicts = clock.measure("test", || self.test(last, None, apart))?;
            shared.note(&verdicts);
            found.last = Some(verdicts);
        }
        std::mem::forget(abandon);
        Ok(found)
    }

    /// Times a kernel with values: nothing else has led to anything.
    fn time_at_last(&self, case: &Case, clock: &mut TierClock) -> Result<Judged<P>, EvalError> {
        let wanted = AtomicBool::new(false);
        let judged = clock.measure("time", || self.time_together(case, &wanted))?;
        judged.ok_or_else(|| EvalError::Fault("timing was abandoned without a reason".into()))
    }
}

/// Returns the cases that are called behind the first two in one program.
fn later<'c, P: Platform>(tested: &[CaseOf<'c, P>], timed: CaseOf<'c, P>) -> Vec<CaseOf<'c, P>> {
    let behind = tested.iter().skip(2).copied();
    behind.chain([timed]).collect()
}

/// Returns whether the last of the verdicts ends the test.
fn stops(verdicts: &[Option<Verdict>]) -> bool {
    let last = verdicts.last().and_then(Option::as_ref);
    last.is_some_and(Verdict::stops)
}
