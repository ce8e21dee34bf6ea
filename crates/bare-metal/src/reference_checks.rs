//! Whether a reference and the description of its problem fit together: outputs that
//! are written, and axes that are symmetries.

use crate::oracle::{Asked, Oracle};
use crate::platform::Platform;
use autocomp_catalog::{Axis, Problem, Tolerance};
use autocomp_core::Seed;
use autocomp_eval::EvalError;
use autocomp_eval::comparison::{compare, place};
use autocomp_eval::inputs::{Case, poison_output};

impl<P: Platform> Oracle<'_, P> {
    /// Checks the reference with a case that it has answered.
    pub fn check(&self, reference: &Asked, case: &Case) -> Result<(), EvalError> {
        let problem = self.problem;
        // Where answers are exact, a permuted case shows both.
        let is_exact = matches!(problem.tolerance, Tolerance::Exact {});
        if !is_exact || problem.axes.is_empty() {
            self.check_outputs(reference, case)?;
        }
        if problem.axes.is_empty() || self.contradiction(reference, case, problem)?.is_none() {
            return Ok(());
        }
        if is_exact {
            self.check_outputs(reference, case)?;
        }
        let alone = |axis: &Axis| Problem {
            axes: vec![axis.clone()],
            ..problem.clone()
        };
        for axis in &problem.axes {
            if let Some(found) = self.contradiction(reference, case, &alone(axis))? {
                return Err(self.no_symmetry(&format!("the axis `{}`", axis.name), case, &found));
            }
        }
        match self.contradiction(reference, case, problem)? {
            Some(found) => Err(self.no_symmetry("all axes", case, &found)),
            None => Ok(()),
        }
    }

    /// Checks that the answer to `case` does not depend on what its outputs held before:
    /// that the reference writes every element of them, and reads none that it has not
    /// written. Asking once more with other content there shows both.
    fn check_outputs(&self, reference: &Asked, case: &Case) -> Result<(), EvalError> {
        let again = with_filled_outputs(case);
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

    /// Returns in what the reference contradicts the axes of `problem`, which is this one
    /// with all or some of them: what is wrong in its answer to `case` permuted.
    fn contradiction(
        &self,
        reference: &Asked,
        case: &Case,
        problem: &Problem,
    ) -> Result<Option<String>, EvalError> {
        let permuted = with_filled_outputs(&case.permuted(problem, Seed(0)));
        let given = self.run(reference, &permuted)?;
        for (idx, buffer) in problem.buffers.iter().enumerate() {
            let (Some(right), Some(given)) = (&permuted.after[idx], &given[idx]) else {
                continue;
            };
            let before = permuted.before[idx].as_deref().unwrap_or(&[]);
            let tile = self.platform.tile();
            let found = compare(buffer, right, given, before, problem.tolerance, tile);
            if let Some(found) = found {
                return Ok(Some(found.message));
            }
        }
        Ok(None)
    }

    /// Says that indices are not alike.
    fn no_symmetry(&self, what: &str, case: &Case, found: &str) -> EvalError {
        EvalError::Input {
            message: format!(
                "with the indices of {what} of problem {} permuted (input set {}), the reference \
                 does not give its results permuted: {found}",
                self.problem.name, case.name,
            ),
            remedies: vec![
                "in problem.toml, let `of` name every dimension that an index runs over".into(),
                "leave an axis out if its indices are not alike, as in a convolution".into(),
            ],
        }
    }
}

/// Returns `case` with content in its outputs that is nowhere right.
fn with_filled_outputs(case: &Case) -> Case {
    let content = case.before.iter().zip(&case.after);
    let before = content.map(|(before, after)| match (before, after) {
        (None, Some(right)) => {
            let mut bytes = vec![0; right.len()];
            poison_output(&mut bytes, right, Seed(0));
            Some(bytes)
        }
        (before, _) => before.clone(),
    });
    Case {
        name: case.name.clone(),
        before: before.collect(),
        after: case.after.clone(),
    }
}
