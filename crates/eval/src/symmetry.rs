//! Whether the axes of a problem are symmetries of its reference.

use crate::comparison::compare;
use crate::evaluator::EvalError;
use crate::inputs::Case;
use autocomp_catalog::{Axis, Problem};
use autocomp_core::Seed;

/// What a reference leaves in each buffer that is written.
pub type Answer = Vec<Option<Vec<u8>>>;

/// Checks that the answer to `case` permuted along the axes of `problem` is its answer permuted.
/// `run` asks the reference; `tile` is as for [`compare`].
///
/// # Errors
/// [`EvalError::Input`] with the axis if it is not; those of `run`.
pub fn check(
    problem: &Problem,
    case: &Case,
    tile: usize,
    mut run: impl FnMut(&Case) -> Result<Answer, EvalError>,
) -> Result<(), EvalError> {
    if problem.axes.is_empty() {
        return Ok(());
    }
    let Some(of_all) = contradiction(problem, case, tile, &mut run)? else {
        return Ok(());
    };
    let alone = |axis: &Axis| Problem {
        axes: vec![axis.clone()],
        ..problem.clone()
    };
    for axis in &problem.axes {
        if let Some(found) = contradiction(&alone(axis), case, tile, &mut run)? {
            let what = format!("the axis `{}`", axis.name);
            return Err(no_symmetry(problem, &what, case, &found));
        }
    }
    Err(no_symmetry(problem, "all axes", case, &of_all))
}

/// Returns in what the reference contradicts the axes of `problem`: what is wrong in its answer
/// to `case` permuted.
fn contradiction(
    problem: &Problem,
    case: &Case,
    tile: usize,
    run: &mut impl FnMut(&Case) -> Result<Answer, EvalError>,
) -> Result<Option<String>, EvalError> {
    let permuted = case.permuted(problem, Seed(0)).with_filled_outputs();
    let given = run(&permuted)?;
    for (idx, buffer) in problem.buffers.iter().enumerate() {
        let (Some(right), Some(given)) = (&permuted.after[idx], &given[idx]) else {
            continue;
        };
        let before = permuted.before[idx].as_deref().unwrap_or(&[]);
        let found = compare(buffer, right, given, before, problem.tolerance, tile);
        if let Some(found) = found {
            return Ok(Some(found.message));
        }
    }
    Ok(None)
}

/// Says that indices are not alike.
fn no_symmetry(problem: &Problem, what: &str, case: &Case, found: &str) -> EvalError {
    EvalError::Input {
        message: format!(
            "with the indices of {what} of problem {} permuted (input set {}), the reference \
             does not give its results permuted: {found}",
            problem.name, case.name,
        ),
        remedies: vec![
            "in problem.toml, let `of` name every dimension that an index runs over".into(),
            "leave an axis out if its indices are not alike, as in a convolution".into(),
        ],
    }
}
