//! Two loops of which one is all that the other holds change places.

use ruff_python_ast::Stmt;
use ruff_text_size::Ranged;

use super::super::operation::View;
use super::super::source::{Edits, names_in};
use super::{Change, each_place};

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    each_place(view, |place, _| {
        let Stmt::For(outer) = place.statement() else {
            return;
        };
        let [Stmt::For(inner)] = outer.body.as_slice() else {
            return;
        };
        let (Some(a), Some(b)) = (view.shapes.get_loop(outer), view.shapes.get_loop(inner)) else {
            return;
        };
        // Iterations of both are independent, and neither counts by the other.
        let independent = a.kind == "nl.affine_range" && b.kind == "nl.affine_range";
        if !independent || names_in(&inner.iter).contains(&a.variable.as_str()) {
            return;
        }
        let mut edits = Edits::default();
        for (to, from) in [(outer, inner), (inner, outer)] {
            edits.replace(to.target.range(), view.text(from.target.as_ref()));
            edits.replace(to.iter.range(), view.text(from.iter.as_ref()));
        }
        if let Some(source) = view.source.finish(edits) {
            found.push(Change {
                line: view.line(outer),
                variant: a.variable.clone(),
                sentence: format!(
                    "Interchange the loops `{}` and `{}`, so that `{}` runs outside.",
                    a.variable, b.variable, b.variable
                ),
                source,
            });
        }
    });
    found
}
