//! Whether a reference and the description of its problem fit together: outputs that
//! are written, and axes that are symmetries.

use crate::oracle::{Asked, Oracle};
use crate::platform::Platform;
use autocomp_catalog::Tolerance;
use autocomp_eval::comparison::place;
use autocomp_eval::inputs::Case;
use autocomp_eval::{EvalError, symmetry};

impl<P: Platform> Oracle<'_, P> {
    /// Checks the reference with a case that it has answered.
    pub fn check(&self, reference: &Asked, case: &Case) -> Result<(), EvalError> {
        let problem = self.problem;
        // Where answers are exact, a permuted case shows both.
        let is_exact = matches!(problem.tolerance, Tolerance::Exact {});
        if !is_exact || problem.axes.is_empty() {
            self.check_outputs(reference, case)?;
        }
        let tile = self.platform.tile();
        let found = symmetry::check(problem, case, tile, |case| self.run(reference, case));
        if found.is_err() && is_exact {
            self.check_outputs(reference, case)?;
        }
        found
    }

    /// Checks that the answer to `case` does not depend on what its outputs held before:
    /// that the reference writes every element of them, and reads none that it has not
    /// written. Asking once more with other content there shows both.
    fn check_outputs(&self, reference: &Asked, case: &Case) -> Result<(), EvalError> {
        let again = case.clone().with_filled_outputs();
        let other = self.run(reference, &again)?;
        for (idx, buffer) in self.problem.buffers.iter().enumerate() {
            let (Some(first), Some(second)) = (&case.after[idx], &other[idx]) else {
                continue;
            };
            let width = buffer.dtype.bytes();
            let mut elements = first.chunks(width).zip(second.chunks(width));
            let Some(element) = elements.position(|(a, b)| a != b) else {
                continue;
            };
            let at = place(buffer, element);
            let range = element * width..(element + 1) * width;
            let filled = again.before[idx]
                .as_ref()
                .map(|bytes| &bytes[range.clone()]);
            return Err(self.broken(if filled == Some(&second[range]) {
                format!(
                    "does not write {at} (with input set {}): every element of an output has to be written",
                    case.name
                )
            } else {
                format!(
                    "computes {at} from what the outputs held before (with input set {}): a buffer that is read is `inout`",
                    case.name
                )
            }));
        }
        Ok(())
    }
}
