//! Loops that the compiler of the device leaves as they are, one turn after the other.

use crate::decode::registers::{number, registers};
use crate::decode::{Bin, Kernel, Op, Reg};

/// Returns of each step whether it goes back in a loop whose counter goes on by a variable. The
/// vendor's compiler puts no turns of such a loop side by side, as it does with four where the
/// counter goes on by a constant: a warp takes 8 instructions for a turn that loads four floats,
/// adds them up and counts (H100, `reduce.float4` of counters.tsv).
pub(super) fn single_turns(kernel: &Kernel) -> Vec<bool> {
    let is_single = |last: usize| match kernel.steps[last].op {
        Op::Branch { target } => {
            let counts = Loop {
                kernel,
                first: target as usize,
                last,
            };
            counts.first <= last && counts.goes_on_by_a_variable()
        }
        _ => false,
    };
    (0..kernel.steps.len()).map(is_single).collect()
}

/// The steps from where a branch goes back to, up to it.
struct Loop<'k> {
    kernel: &'k Kernel,
    first: usize,
    last: usize,
}

impl Loop<'_> {
    /// Returns the step that has written what a register holds before the step `before`, and the
    /// registers that it reads; moves are passed over.
    fn origin(&self, mut register: u32, mut before: usize) -> Option<(usize, Vec<u32>)> {
        loop {
            let mut steps = (self.first..before).rev();
            let at = steps.find(|at| registers(self.kernel, *at).1.contains(&register))?;
            let reads = registers(self.kernel, at).0;
            match (&self.kernel.steps[at].op, &reads[..]) {
                (Op::MovWord { .. } | Op::MovDouble { .. }, [from, ..]) => register = *from,
                _ => return Some((at, reads)),
            }
            before = at;
        }
    }

    /// Returns whether the way back is decided by a counter to which each turn adds the same
    /// variable.
    fn goes_on_by_a_variable(&self) -> bool {
        let (guard, _) = registers(self.kernel, self.last);
        let decision = guard.first().and_then(|it| self.origin(*it, self.last));
        let Some((decision, compared)) = decision else {
            return false;
        };
        compared.iter().any(|register| {
            let Some((at, added)) = self.origin(*register, decision) else {
                return false;
            };
            let is_sum = match &self.kernel.steps[at].op {
                Op::Bin { op, num, .. } => matches!(op, Bin::Add | Bin::Sub) && !num.is_float(),
                _ => false,
            };
            let before_it = |it: &u32| self.origin(*it, self.last).map(|it| it.0);
            is_sum
                && added.iter().any(|it| before_it(it) == Some(at))
                && (added.iter()).any(|it| before_it(it).is_none() && !self.is_constant(*it))
        })
    }

    /// Returns whether a register holds a number that stands in the kernel.
    fn is_constant(&self, register: u32) -> bool {
        let words = self.kernel.word_constants.iter().map(|it| Reg::Word(it.0));
        let doubles = (self.kernel.double_constants.iter()).map(|it| Reg::Double(it.0));
        let mut constants = words.chain(doubles);
        constants.any(|it| number(self.kernel, it) == register)
    }
}
