//! Loops around several other loops become one loop around each, where the order of these does not
//! matter: edges of arrays are gone along by themselves, and what lies between them is a whole nest.

use crate::code::{Action, Loop, Statement, actions};
use crate::jam::is_independent;
use autocomp_c_loops::affine::Affine;
use autocomp_c_loops::statement::substitute;

/// Returns statements with loops around several innermost loops apart, and without loops of one
/// iteration in them.
pub(super) fn apart(statements: &[Statement]) -> Option<Vec<Statement>> {
    let mut result = Vec::new();
    for statement in statements {
        let Statement::Loop(whole) = statement else {
            result.push(statement.clone());
            continue;
        };
        let pieces = match is_around_innermost(whole) {
            true => pieces(whole),
            false => vec![Loop {
                body: apart(&whole.body)?,
                ..whole.clone()
            }],
        };
        for piece in pieces {
            result.push(Statement::Loop(without_single(&piece)?));
        }
    }
    Some(result)
}

/// Returns whether a loop has nothing inside but loops without loops.
fn is_around_innermost(whole: &Loop) -> bool {
    whole.body.iter().all(|it| match it {
        Statement::Loop(inner) => inner
            .body
            .iter()
            .all(|it| matches!(it, Statement::Command(_))),
        _ => false,
    })
}

/// Returns a loop for each loop inside, if iterations do not depend on one another.
fn pieces(whole: &Loop) -> Vec<Loop> {
    let declared = actions(&whole.body).into_iter();
    let locals = declared.filter_map(|(_, action)| match action {
        Action::Declare { name, .. } => Some(name.clone()),
        Action::Assign { .. } => None,
    });
    let locals: Vec<String> = locals.collect();
    if !is_independent(whole, &locals) {
        return vec![whole.clone()];
    }
    let pieces = whole.body.iter().map(|inner| Loop {
        body: vec![inner.clone()],
        ..whole.clone()
    });
    pieces.collect()
}

/// Returns a loop with the body of the loop inside in its place, where that has one iteration and
/// nothing stands beside it.
fn without_single(whole: &Loop) -> Option<Loop> {
    match whole.body.as_slice() {
        [Statement::Loop(inner)] if inner.trips() == 1 && 1 < whole.trips() => {
            let value = Affine::constant(inner.start);
            Some(Loop {
                body: substitute(&inner.body, &inner.variable, &value)?,
                ..whole.clone()
            })
        }
        _ => Some(whole.clone()),
    }
}
