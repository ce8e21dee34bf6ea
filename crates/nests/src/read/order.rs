//! Whether the iterations of a loop may run in any order.

use super::super::code::{Action, Element, Loop, Named, Statement, actions};
use super::super::jam::is_independent;
use super::super::wide::is_gathered;
use autocomp_c_loops::affine::Affine;
use autocomp_c_loops::statement::substitute;
use std::collections::BTreeMap;

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

/// Returns a loop that writes arrays from their ends on as one that writes them from their
/// beginnings on, where the order makes no difference: vectors are written that way.
pub(super) fn forwards(whole: Loop, names: &BTreeMap<String, Named>) -> Loop {
    let is_turned = || {
        let mut strides = Vec::new();
        for statement in &whole.body {
            let Statement::Command(action) = statement else {
                return false;
            };
            if let Action::Assign { target, .. } = action
                && target.mentions(&whole.variable)
            {
                let extents = names.get(&target.name).map(|it| it.extents.as_slice());
                strides.extend(extents.map(|it| target.stride(&whole.variable, it)));
            }
        }
        let all_back = strides.iter().all(|it| it.is_some_and(|it| it < 0));
        !strides.is_empty() && all_back && whole.step == 1 && is_free(&whole)
    };
    if !is_turned() {
        return whole;
    }
    let last = whole.start + whole.end - 1;
    let value = Affine::variable(&whole.variable).times(-1);
    let value = value.and_then(|it| it.plus_constant(last));
    match value.and_then(|it| substitute(&whole.body, &whole.variable, &it)) {
        Some(body) => Loop { body, ..whole },
        None => whole,
    }
}

/// Returns whether a statement list changes a variable.
pub(super) fn assigns(statements: &[Statement], name: &str) -> bool {
    actions(statements).iter().any(|(_, action)| match action {
        Action::Assign { target, .. } => target.name == name,
        Action::Declare { .. } => false,
    })
}
