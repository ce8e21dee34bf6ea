//! One file for each kind of change.

mod accumulate;
mod affine;
mod engines;
mod functions;
mod fuse;
mod gather_stores;
mod hoist;
mod interchange;
mod kept_tiles;
mod narrow;
mod own_buffer;
mod pieces;
mod precompute;
mod reduce;
mod resident;
mod through_psum;
mod tiles;
mod transposes;
mod windows;

use super::operation::View;
use super::source::{Edits, Place, each_expression_in, each_statement};
use ruff_python_ast::{Expr, Stmt, StmtFor};

/// A kernel after one change.
#[derive(Clone, Debug)]
pub(super) struct Change {
    /// Line that it is about, from 1.
    pub(super) line: usize,
    /// Which of several changes at that line.
    pub(super) variant: String,
    /// What changes, in words.
    pub(super) sentence: String,
    /// The new text.
    pub(super) source: String,
}

/// One kind of change.
pub(super) struct Transformation {
    pub(super) name: &'static str,
    pub(super) menu_item: &'static str,
    /// Every change of this kind that keeps what the kernel computes, as far as can be seen.
    pub(super) changes: fn(&View<'_>) -> Vec<Change>,
}

/// All kinds, in the order in which "everywhere" composites are tried.
pub(super) const ALL: &[Transformation] = &[
    Transformation {
        name: "known-function",
        menu_item: "fuse-operations",
        changes: functions::changes,
    },
    Transformation {
        name: "fuse-operations",
        menu_item: "fuse-operations",
        changes: fuse::changes,
    },
    Transformation {
        name: "reduce-on-the-way",
        menu_item: "fuse-operations",
        changes: reduce::changes,
    },
    Transformation {
        name: "choose-engine",
        menu_item: "balance-engines",
        changes: engines::changes,
    },
    Transformation {
        name: "through-psum",
        menu_item: "psum-operands",
        changes: through_psum::changes,
    },
    Transformation {
        name: "resize-tiles",
        menu_item: "larger-tiles",
        changes: tiles::changes,
    },
    Transformation {
        name: "turn-on-chip",
        menu_item: "avoid-transposes",
        changes: transposes::changes,
    },
    Transformation {
        name: "hoist",
        menu_item: "hoist",
        changes: hoist::changes,
    },
    Transformation {
        name: "keep-resident",
        menu_item: "keep-resident",
        changes: resident::changes,
    },
    Transformation {
        name: "precompute",
        menu_item: "keep-resident",
        changes: precompute::changes,
    },
    Transformation {
        name: "keep-tiles",
        menu_item: "keep-resident",
        changes: kept_tiles::changes,
    },
    Transformation {
        name: "gather-stores",
        menu_item: "shape-transfers",
        changes: gather_stores::changes,
    },
    Transformation {
        name: "interchange",
        menu_item: "loop-order",
        changes: interchange::changes,
    },
    Transformation {
        name: "pieces",
        menu_item: "double-buffer",
        changes: pieces::changes,
    },
    Transformation {
        name: "own-buffer",
        menu_item: "double-buffer",
        changes: own_buffer::changes,
    },
    Transformation {
        name: "affine-range",
        menu_item: "double-buffer",
        changes: affine::changes,
    },
    Transformation {
        name: "accumulate-in-psum",
        menu_item: "accumulate-in-psum",
        changes: accumulate::changes,
    },
    Transformation {
        name: "narrow-types",
        menu_item: "narrow-types",
        changes: narrow::changes,
    },
];

/// Calls `visit` on every expression of every simple statement of the kernel.
fn each_site<'t>(view: &'t View<'_>, mut visit: impl FnMut(Place<'t>, &'t Expr)) {
    each_statement(
        &view.source.function().body,
        &mut Vec::new(),
        &mut |place, _| {
            if matches!(
                place.statement(),
                Stmt::Assign(_) | Stmt::AugAssign(_) | Stmt::Expr(_) | Stmt::Return(_)
            ) {
                each_expression_in(place.statement(), &mut |it| visit(place, it));
            }
        },
    );
}

/// Calls `visit` on every statement with the loops around it.
fn each_place<'t>(view: &'t View<'_>, mut visit: impl FnMut(Place<'t>, &[&'t StmtFor])) {
    each_statement(&view.source.function().body, &mut Vec::new(), &mut visit);
}

/// Replaces an expression, and drops the statements that made what it replaces.
fn replaced(
    view: &View<'_>,
    expression: &Expr,
    text: String,
    dropped: &[Option<&Stmt>],
) -> Option<String> {
    let mut edits = Edits::default();
    edits.replace(ruff_text_size::Ranged::range(expression), text);
    for statement in dropped.iter().flatten() {
        edits.replace(view.source.lines(*statement)?, "");
    }
    view.source.finish(edits)
}
