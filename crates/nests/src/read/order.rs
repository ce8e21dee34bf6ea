//! Whether the iterations of a loop may run in any order.

use super::super::code::{Action, Element, Loop, Statement, actions};
use super::super::jam::is_independent;
use super::super::wide::is_gathered;

/// Returns whether iterations meet nowhere but in sums and extremes.
pub(super) fn is_free(whole: &Loop) -> bool {
    let found = actions(&whole.body);
    let locals: Vec<String> = found
        .iter()
        .filter_map(|(_, action)| match action {
            Action::Declare { name, .. } => Some(name.clone()),
            Action::Assign { .. } => None,
        })
        .collect();
    // What is summed up is left out of what must not meet.
    let mut meeting: Vec<Element> = Vec::new();
    for (idx, (_, action)) in found.iter().enumerate() {
        let Action::Assign { target, .. } = action else {
            continue;
        };
        let others = found.iter().enumerate().filter(|(other, _)| *other != idx);
        let alone = others.into_iter().all(|(_, (_, other))| {
            let written = match other {
                Action::Assign { target, .. } => Some(&target.name),
                Action::Declare { .. } => None,
            };
            written != Some(&target.name) && other.reads().iter().all(|it| it.name != target.name)
        });
        if alone && !target.mentions(&whole.variable) && is_gathered(action) {
            meeting.push(target.clone());
        }
    }
    let summed: Vec<String> = meeting.into_iter().map(|it| it.name).collect();
    is_independent(whole, &[locals, summed].concat())
}

/// Returns whether a statement list changes a variable.
pub(super) fn assigns(statements: &[Statement], name: &str) -> bool {
    actions(statements).iter().any(|(_, action)| match action {
        Action::Assign { target, .. } => target.name == name,
        Action::Declare { .. } => false,
    })
}
