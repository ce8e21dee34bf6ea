//! Whether a kernel is right whatever was called before: calls with all inputs in one program,
//! whose static data stay, and one with other content in what calls leave there.

use crate::cases::CaseOf;
use crate::findings;
use crate::platform::Platform;
use crate::separation::Separation;
use crate::session::{Session, SessionKind, Watch};
use crate::trial::{Called, Trial, depends_on, unwritten};
use autocomp_catalog::Tolerance;
use autocomp_core::{Outcome, Seed};
use autocomp_eval::inputs::{Case, sets_alike_in_part};
use autocomp_eval::{EvalError, Verdict};
use autocomp_riscv::Mode;

/// What static data are overwritten with; nothing stands for random bytes.
const PATTERNS: [Option<u8>; 3] = [Some(0), Some(0xff), None];

/// What calls have left in static data.
struct Left {
    first: Vec<u8>,
    /// Of each byte, whether some call has left another one there.
    varies: Vec<bool>,
}

impl Left {
    fn new(first: &[u8]) -> Self {
        Self {
            first: first.to_vec(),
            varies: vec![false; first.len()],
        }
    }

    /// Notes what one more call has left; returns how many bytes differ from the first.
    fn note(&mut self, now: &[u8]) -> usize {
        let mut count = 0;
        for ((now, first), varies) in now.iter().zip(&self.first).zip(&mut self.varies) {
            let differs = now != first;
            *varies |= differs;
            count += usize::from(differs);
        }
        count
    }
}

impl<'a, P: Platform> Trial<'a, P> {
    /// Runs one case in the machine of an earlier call, with the case `before`, that was
    /// right, and others behind it. Returns nothing if all is right there, and `case` also alone
    /// if results need not be exact.
    pub(crate) fn run_again(
        &self,
        mut session: Box<Session<'a, P>>,
        before: &Case,
        case: &Case,
        later: &[CaseOf<'_, P>],
        apart: &Separation,
    ) -> Result<Option<Verdict>, EvalError> {
        let seed = self.seed.derive(&case.name).derive("again");
        session.place(case, seed)?;
        session.fill_among(case)?;
        let failed = self.call_placed(&mut session, case, seed)?;
        if !session.core_stands_alone() {
            apart.give_up();
        }
        if let Some(verdict) = failed {
            return self.judged(verdict, case, "the second call", Some(apart));
        }
        let left = session.outputs();
        if let Some(verdict) = self.call_later(&mut session, [before, case], later, seed)? {
            return Ok(Some(verdict));
        }
        match self.evaluator.problem.tolerance {
            Tolerance::Exact {} => Ok(None),
            _ => Ok(self.run_beside(Some(&left), case, Some(apart))?.0),
        }
    }

    /// Makes more calls in the program of a session that was called with `before` and `case`, if
    /// it has data that it may write. Whoever computes from inputs alone leaves there, with
    /// the same inputs, the same again, whatever was called before, is right for all other
    /// inputs, also for new ones, and reads nothing that other calls have left there. Returns
    /// the verdict on the first call of which that is not true.
    fn call_later(
        &self,
        session: &mut Session<'a, P>,
        [before, case]: [&Case; 2],
        later: &[CaseOf<'_, P>],
        seed: Seed,
    ) -> Result<Option<Verdict>, EvalError> {
        if session.variables().is_empty() {
            return Ok(None);
        }
        let mut left = Left::new(session.variables());
        for (other, is_compared) in [(case, true), (before, false), (case, true)] {
            if let Some(verdict) = self.call_in(session, other, seed)? {
                return self.judged(verdict, other, "a later call", None);
            }
            let changed = left.note(session.variables());
            if is_compared && 0 < changed {
                let mut found = findings::still_changes(changed);
                found.notes.push(format!("with input set {}", case.name));
                return Ok(Some(Verdict::failed(Outcome::Wrong, vec![found])));
            }
        }
        for other in later {
            let other = other.get()?;
            if let Some(mut verdict) = self.call_in(session, other, seed)? {
                // What goes wrong in a first call, too, the test with these inputs tells.
                if self.run_alone(other, None)?.0.is_some() {
                    return Ok(None);
                }
                verdict.mark_state("a later call");
                return Ok(Some(verdict));
            }
            left.note(session.variables());
        }
        // The same for all kernels: their answers are computed once.
        let seeds = ["new inputs", "more new inputs"];
        let seeds = seeds.map(|name| self.evaluator.problem_seed().derive(name));
        let new = |seed| {
            let mut case = self.evaluator.drawn_case(seed)?;
            case.name += ", drawn anew";
            Ok::<_, EvalError>(case)
        };
        let [first, last] = [new(seeds[0])?, new(seeds[1])?];
        for new in [&first, &last] {
            if let Some(verdict) = self.call_in(session, new, seed)? {
                return self.judged(verdict, new, "a later call", None);
            }
            left.note(session.variables());
        }
        // What is left by inputs may be taken for the result of others that are alike in part.
        if left.varies.contains(&true) {
            let (set, buffers) = (self.evaluator.timed_set()?, &self.evaluator.problem.buffers);
            for set in sets_alike_in_part(set, buffers, seeds) {
                let new = self.evaluator.drawn(&set, seeds[1])?;
                if let Some(verdict) = self.call_in(session, &new, seed)? {
                    return self.judged(verdict, &new, "a later call", None);
                }
                left.note(session.variables());
            }
        }
        let last = &last;
        // Everything lies where it lies in the other program.
        let mut fresh = self.session(
            SessionKind::plain(Mode::Functional),
            self.seed.derive(&before.name),
        )?;
        if let Some(verdict) = self.call_in(&mut fresh, last, seed)? {
            return Ok(Some(verdict));
        }
        left.note(fresh.variables());
        self.call_overwritten(session, &left, [case, last], seed)
    }

    /// Calls the kernel with other content in all bytes of static data that calls do not all
    /// leave alike. Returns the verdict on the first of these calls that goes wrong.
    fn call_overwritten(
        &self,
        session: &mut Session<'a, P>,
        left: &Left,
        cases: [&Case; 2],
        seed: Seed,
    ) -> Result<Option<Verdict>, EvalError> {
        let count = left.varies.iter().filter(|varies| **varies).count();
        if count == 0 {
            return Ok(None);
        }
        let mut random = seed.derive("overwritten");
        let calls = PATTERNS
            .iter()
            .flat_map(|pattern| cases.map(|case| (pattern, case)));
        for (pattern, case) in calls {
            let pairs = session.variables().iter_mut().zip(&left.varies);
            for (byte, _) in pairs.filter(|(_, varies)| **varies) {
                *byte = pattern.unwrap_or_else(|| random.next_u64() as u8);
            }
            if let Some(verdict) = self.call_in(session, case, seed)? {
                let first = verdict.diagnostics.first();
                let found = first.map(|first| findings::depends_on_calls(count, first));
                let found = found.into_iter().collect();
                return Ok(Some(Verdict::failed(verdict.outcome, found)));
            }
        }
        Ok(None)
    }

    /// Returns what to tell of a `call` that went wrong: the verdict on a first call with the same
    /// inputs if that goes wrong, too.
    fn judged(
        &self,
        mut verdict: Verdict,
        case: &Case,
        call: &str,
        apart: Option<&Separation>,
    ) -> Result<Option<Verdict>, EvalError> {
        let (alone, mut session) = self.run_alone(case, apart)?;
        if alone.is_some() {
            return Ok(alone);
        }
        let seed = self.seed.derive(&case.name);
        if self.varies(case, seed, &session.outputs())? {
            return Ok(Some(unwritten(depends_on(&mut session).into(), case)));
        }
        verdict.mark_state(call);
        Ok(Some(verdict))
    }

    /// Makes a call in a session; returns the verdict if it goes wrong.
    fn call_in(
        &self,
        session: &mut Session<'a, P>,
        case: &Case,
        seed: Seed,
    ) -> Result<Option<Verdict>, EvalError> {
        session.place(case, seed)?;
        self.call_placed(session, case, seed)
    }

    fn call_placed(
        &self,
        session: &mut Session<'a, P>,
        case: &Case,
        seed: Seed,
    ) -> Result<Option<Verdict>, EvalError> {
        match self.call(session, case, seed, Watch::default())? {
            Called::Failed(verdict) => Ok(Some(verdict)),
            Called::Right(_) | Called::TooSlow | Called::Abandoned => Ok(None),
        }
    }
}
