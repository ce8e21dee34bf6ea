//! Loops in order whose iterations are independent become affine ones.

use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;

use super::super::operation::View;
use super::super::source::Edits;
use super::{Change, each_place};

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    each_place(view, |place, _| {
        let Stmt::For(it) = place.statement() else {
            return;
        };
        let Some(known) = view.shapes.get_loop(it) else {
            return;
        };
        if known.kind == "nl.affine_range" || !view.source.first_dialect() {
            return;
        }
        // What is bound or changed inside must be made inside, too; outputs are written apart,
        // which the check for hazards sees to.
        let inside = it.range();
        let within = |at: &ruff_text_size::TextRange| inside.contains_range(*at);
        let outer = |name: &String| {
            view.shapes
                .bound
                .get(name)
                .is_none_or(|it| it.iter().any(|at| !within(at)))
        };
        let carried = view
            .shapes
            .changed
            .iter()
            .any(|(name, at)| at.iter().any(within) && outer(name));
        let rebound = view.shapes.bound.iter().any(|(name, at)| {
            at.iter().any(within) && at.iter().any(|at| !within(at)) && *name != known.variable
        });
        if carried || rebound {
            return;
        }
        let Expr::Call(call) = it.iter.as_ref() else {
            return;
        };
        let mut edits = Edits::default();
        edits.replace(call.func.range(), format!("{}.affine_range", view.nl));
        if let Some(source) = view.source.finish(edits) {
            found.push(Change {
                line: view.line(it),
                variant: known.variable.clone(),
                sentence: format!(
                    "Make the loop `{}` an nl.affine_range: no iteration needs another.",
                    known.variable
                ),
                source,
            });
        }
    });
    found
}
