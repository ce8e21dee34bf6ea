//! Loops in order whose iterations are independent become affine ones; short ones whose iterations
//! are not are written out.
//!
//! Fact: a loop in order runs as it is written, and loads wait for the iteration before. Written
//! out, they wait for what they need only.

use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;

use super::super::operation::View;
use super::super::source::Edits;
use super::{Change, each_place};

/// Most iterations that are written out.
const LONGEST: i64 = 64;

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
        let Expr::Call(call) = it.iter.as_ref() else {
            return;
        };
        if carried || rebound {
            if known.kind != "nl.sequential_range" || LONGEST < known.trips {
                return;
            }
            let mut edits = Edits::default();
            edits.replace(call.func.range(), format!("{}.static_range", view.nl));
            found.extend(view.source.finish(edits).map(|source| Change {
                line: view.line(it),
                variant: format!("{} written out", known.variable),
                sentence: format!(
                    "Write the {} iterations of the loop `{}` out, so that loads need not wait for the iteration before.",
                    known.trips, known.variable
                ),
                source,
            }));
            return;
        }
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
