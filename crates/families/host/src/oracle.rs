//! Right answers: the problem's reference, compiled for the host and run in a
//! worker like any kernel.

use crate::building::Program;
use crate::calls::Calls;
use crate::cases::Case;
use crate::worker::WorkerSettings;
use autocomp_catalog::{Problem, Role};
use autocomp_core::Seed;
use autocomp_eval::EvalError;

/// Sets of buffers that a worker of the reference gets at once.
const AT_ONCE: usize = 4;

/// Fills in the right answers of `cases`.
///
/// # Errors
/// [`EvalError::Input`] if the reference does not run, or gives another answer
/// when it is asked again.
pub(crate) fn answer(
    problem: &Problem,
    reference: &Program,
    settings: WorkerSettings,
    cases: &mut [Case],
) -> Result<(), EvalError> {
    let Some(sets) = (!cases.is_empty()).then(|| cases.len().min(AT_ONCE)) else {
        return Ok(());
    };
    let input = |what: String| EvalError::Input {
        message: format!("the reference of {} {what}", problem.name),
        remedies: vec!["correct reference.c of the problem".into()],
    };
    let mut calls = Calls::new(problem, sets, Seed(0))?;
    let mut worker = calls.start(reference, settings)?;
    for (idx, case) in cases.iter_mut().enumerate() {
        let set = idx % sets;
        calls.fill(set, case);
        worker.call(set, 1).map_err(|death| {
            input(format!(
                "does not return on input set {}: {death:?}",
                case.name
            ))
        })?;
        for (idx, buffer) in problem.buffers.iter().enumerate() {
            if !buffer.is_written() {
                continue;
            }
            let right = calls.content(set, idx).to_vec();
            if buffer.role == Role::Output {
                let width = buffer.dtype.bytes();
                let poison = case.before[idx].chunks_mut(width);
                // The poison has the right value nowhere, so that no element
                // left out is right by chance.
                for (poison, right) in poison.zip(right.chunks(width)) {
                    if poison == right {
                        poison[0] ^= 0x55;
                    }
                }
            }
            case.after[idx] = Some(right);
        }
    }
    // A reference that keeps something from call to call is found by its first case.
    if let Some(first) = cases.first() {
        calls.fill(0, first);
        let again = calls.call(&mut worker, 0, &[first]);
        again.map_err(|offence| input(format!("contradicts itself: {offence:?}")))?;
    }
    Ok(())
}
