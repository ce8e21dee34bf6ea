//! Calls one behind the other on a device: what variables of the module hold then may decide no
//! result.

use super::CudaBench;
use super::preparation::Ready;
use super::trial::{How, compared};
use crate::compiler::CALLED_AGAIN;
use crate::diagnosis::diagnose;
use crate::texts::TEXTS;
use autocomp_core::{Diagnostic, Outcome, Stage};
use autocomp_cuda_sim::machine::{DeviceMemory, Order};
use autocomp_eval::inputs::{Case, sets_alike_in_part};
use autocomp_eval::{EvalError, Verdict};

/// What is said of a call behind others that goes wrong.
const LATER: &str =
    "a later call goes wrong, with the variables of the module as the call before has left them";

/// What is said where it does so with other values in what others have left.
const OVERWRITTEN: &str = "what a call does depends on what calls on other inputs have left in variables of the module; with other values there";

impl CudaBench {
    /// Calls a kernel with the variables of the module as `kept` has them. Returns what a right
    /// call leaves.
    fn call_behind(
        &self,
        (source, ready): (&str, &Ready),
        case: &Case,
        kept: &DeviceMemory,
    ) -> Result<DeviceMemory, Box<(Outcome, Diagnostic)>> {
        let seed = self.seed.derive("poison of a second call");
        let mut memory = self.memory(ready, case, seed);
        memory.take_variables(kept);
        let called = self.call(ready, &mut memory, How::unwatched(Order::Forward));
        called.map_err(|finding| Box::new(diagnose(&self.problem, (source, ready), &finding)))?;
        let before = self.before(case, seed);
        let got = |number: usize| Some(memory.buffer(number as u32));
        match compared(&self.problem, case, &before, got) {
            Some(found) => Err(Box::new((Outcome::Wrong, found))),
            None => Ok(memory),
        }
    }

    /// The same; what goes wrong is the verdict, which begins with `why`.
    fn call_with(
        &self,
        kernel: (&str, &Ready),
        case: &Case,
        kept: &DeviceMemory,
        why: &str,
    ) -> Result<DeviceMemory, Box<Verdict>> {
        let called = self.call_behind(kernel, case, kept);
        called.map_err(|wrong| {
            let (outcome, mut found) = *wrong;
            found.message = format!("{why}: {}", found.message);
            decided_by_calls(outcome, found, case)
        })
    }

    fn call_later(
        &self,
        kernel: (&str, &Ready),
        case: &Case,
        kept: &DeviceMemory,
    ) -> Result<DeviceMemory, Box<Verdict>> {
        self.call_with(kernel, case, kept, LATER)
    }

    /// Calls a kernel that is right on `case` behind calls that have left `kept`. `left` is what
    /// it leaves as the first call; that is returned where those before have changed nothing.
    pub(super) fn call_again(
        &self,
        kernel: (&str, &Ready),
        case: &Case,
        kept: &DeviceMemory,
        left: DeviceMemory,
    ) -> Result<DeviceMemory, Box<Verdict>> {
        match kept.variables_differ(&DeviceMemory::new(&kernel.1.module)) {
            true => self.call_later(kernel, case, kept),
            false => Ok(left),
        }
    }

    /// Calls a kernel that is right on new inputs, behind calls on all input sets that have left
    /// `kept`. Returns what goes wrong then, or may go wrong later.
    ///
    /// # Errors
    /// [`EvalError`] if new inputs cannot be drawn.
    pub(super) fn call_on_new_inputs(
        &self,
        kernel: (&str, &Ready),
        kept: &DeviceMemory,
    ) -> Result<Result<(), Box<Verdict>>, EvalError> {
        let loaded = DeviceMemory::new(&kernel.1.module);
        let set = self.problem.timed_set();
        let Some(set) = set.filter(|_| kept.variables_differ(&loaded)) else {
            return Ok(Ok(()));
        };
        let seeds = ["new inputs", "more new inputs"].map(|name| self.seed.derive(name));
        let [other, last] = seeds.map(|seed| self.reference.case(set, seed));
        let cases = [other?, last?];
        let alike = sets_alike_in_part(set, &self.problem.buffers, seeds);
        let [first, second] = alike.map(|set| self.reference.case(&set, seeds[1]));
        let alike = [&cases[1], &first?, &second?];
        let forgotten = self.forget_calls(kernel, &cases, (kept, &loaded));
        Ok(forgotten.and_then(|()| self.call_in_turn(kernel, &alike, kept)))
    }

    /// Calls a kernel on inputs, each of which has a part in common with the one before: what is
    /// left by one may be taken for the result of the next.
    fn call_in_turn(
        &self,
        kernel: (&str, &Ready),
        cases: &[&Case],
        kept: &DeviceMemory,
    ) -> Result<(), Box<Verdict>> {
        let mut left = None;
        for case in cases {
            left = Some(self.call_later(kernel, case, left.as_ref().unwrap_or(kept))?);
        }
        Ok(())
    }

    /// What the last one of several calls leaves must be a matter of its inputs alone, as if it
    /// were the first. If it is not, it must be the same behind every such call, and no result may
    /// depend on it: with other values in its place, results must be right, too.
    fn forget_calls(
        &self,
        kernel: (&str, &Ready),
        [other, last]: &[Case; 2],
        (kept, loaded): (&DeviceMemory, &DeviceMemory),
    ) -> Result<(), Box<Verdict>> {
        // What goes wrong in a first call is no matter of later ones.
        let first = |case: &Case| {
            let called = self.call_behind(kernel, case, loaded);
            called.map_err(|wrong| {
                let (outcome, mut found) = *wrong;
                let note = format!("input set: {}, drawn anew", case.name);
                found.notes.insert(0, note);
                Box::new(Verdict::failed(outcome, vec![found]))
            })
        };
        first(other)?;
        let alone = first(last)?;
        let behind = |case: &Case, kept: &DeviceMemory| self.call_later(kernel, case, kept);
        let left = behind(last, &behind(other, kept)?)?;
        if !left.variables_differ(&alone) {
            return Ok(());
        }
        let again = behind(last, &left)?;
        let back = behind(last, &behind(other, &again)?)?;
        if [again, back].iter().any(|it| it.variables_differ(&left)) {
            let found = Diagnostic::error(Stage::Test,
                CALLED_AGAIN,
                "two calls on the same inputs leave different values in variables of the module; what a later call does cannot be known".to_owned(),
            );
            return Err(decided_by_calls(Outcome::Wrong, found, last));
        }
        // What is 0, below 0, large, and none of these.
        let mut random = self.seed.derive("what calls leave");
        let mut next = || (random.next_u64() as u32).to_le_bytes();
        for word in [Some([0; 4]), Some([0xff; 4]), Some([0x7f; 4]), None] {
            let mut memory = DeviceMemory::new(&kernel.1.module);
            memory.take_variables(&left);
            memory.overwrite_changed(&alone, || word.unwrap_or_else(&mut next));
            let called = self.call_with(kernel, last, &memory, OVERWRITTEN);
            // An address that only these values have led astray is a wrong result, too.
            called.map_err(|mut verdict| {
                verdict.outcome = Outcome::Wrong;
                verdict
            })?;
        }
        Ok(())
    }
}

fn decided_by_calls(outcome: Outcome, mut found: Diagnostic, case: &Case) -> Box<Verdict> {
    found.code = CALLED_AGAIN.into();
    found.remedy = TEXTS.remedy(CALLED_AGAIN);
    found.notes.insert(0, format!("input set: {}", case.name));
    Box::new(Verdict::failed(outcome, vec![found]))
}
