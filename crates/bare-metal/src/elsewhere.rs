//! Tests on other machines where a kernel must be right.

use crate::cases::CaseOf;
use crate::platform::{Other, Platform};
use crate::session::{SessionKind, Watch};
use crate::trial::{Called, Trial};
use autocomp_core::{Diagnostic, Severity};
use autocomp_eval::{EvalError, Verdict};
use autocomp_riscv::Mode;
use std::panic::resume_unwind;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// What came of a test, if anything is to be told of it, by the number of the machine.
type Found = (usize, Result<Verdict, EvalError>);

impl<P: Platform> Trial<'_, P> {
    /// Calls the kernel, which is right on its own machine, once on each of the other machines
    /// where it must be right, with the input sets by turns; on two threads if `has_two`. Returns
    /// the verdict on the first call that is not.
    pub fn test_elsewhere(
        &self,
        cases: &[CaseOf<'_, P>],
        has_two: bool,
    ) -> Result<Option<Verdict>, EvalError> {
        let seen = self.has_seen.load(Ordering::Relaxed);
        self.first_wrong(&self.platform.others(seen), cases, has_two)
    }

    /// Returns a warning if the kernel is not right on one of the machines where it need not be.
    pub fn told_elsewhere(
        &self,
        cases: &[CaseOf<'_, P>],
        has_two: bool,
    ) -> Result<Option<Diagnostic>, EvalError> {
        let seen = self.has_seen.load(Ordering::Relaxed);
        let others = self.platform.others_told(self.kernel.source, seen);
        let wrong = self.first_wrong(&others, cases, has_two)?;
        let found = wrong.and_then(|verdict| verdict.diagnostics.into_iter().next());
        Ok(found.map(|found| Diagnostic {
            code: "right-here-only".into(),
            severity: Severity::Warning,
            ..found
        }))
    }

    /// Calls the kernel once on each of these machines, with the input sets by turns, and returns
    /// the verdict on the first call that is not right.
    fn first_wrong(
        &self,
        others: &[Other<P>],
        cases: &[CaseOf<'_, P>],
        has_two: bool,
    ) -> Result<Option<Verdict>, EvalError> {
        if others.is_empty() {
            return Ok(None);
        }
        let left = Mutex::new(others.iter().zip(cases.iter().cycle()).enumerate());
        let work = || -> Option<Found> {
            loop {
                let next = left.lock().unwrap_or_else(PoisonError::into_inner).next();
                let (idx, (other, case)) = next?;
                let tested = self.test_on(other, case);
                if let Some(found) = tested.transpose() {
                    return Some((idx, found));
                }
            }
        };
        let found = match has_two {
            false => [work(), None],
            true => thread::scope(|scope| {
                let beside = scope.spawn(work);
                let own = work();
                [
                    own,
                    beside.join().unwrap_or_else(|panic| resume_unwind(panic)),
                ]
            }),
        };
        // All before the first one that is told have been tested.
        let first = found.into_iter().flatten().min_by_key(|(idx, _)| *idx);
        first.map(|(_, found)| found).transpose()
    }

    /// Returns the verdict on a call on another machine, if the kernel is not right there.
    fn test_on(
        &self,
        other: &Other<P>,
        case: &CaseOf<'_, P>,
    ) -> Result<Option<Verdict>, EvalError> {
        let trial = Trial {
            platform: &other.platform,
            ..*self
        };
        let case = case.get()?;
        let seed = self.seed.derive(&case.name);
        let mut session = trial.session(SessionKind::plain(Mode::Functional), seed)?;
        session.place(case, seed)?;
        let called = trial.call(&mut session, case, seed, Watch::default())?;
        let failed = match called {
            Called::Failed(failed) => Some(failed),
            _ if other.leaves_more => trial.test_fillings()?,
            _ => None,
        };
        let Some(mut failed) = failed else {
            return Ok(None);
        };
        if let Some(first) = failed.diagnostics.first_mut() {
            first.message = format!(
                "right with {}, but not with {}: {}",
                other.instead_of, other.with, first.message
            );
            first.notes.push(other.claim.to_owned());
        }
        Ok(Some(failed))
    }
}
