//! One file for each kind of change.

mod accumulate;
mod affine;
mod counted_loops;
mod defer_scale;
mod drop_copies;
mod engines;
mod functions;
mod fuse;
mod gather_stores;
mod hoist;
mod inline;
mod interchange;
mod kept_tiles;
mod matrix_sums;
mod named_arguments;
mod names_of_results;
mod narrow;
mod narrow_tiles;
mod needless_masks;
mod own_buffer;
mod pieces;
mod pieces_written;
mod plain_indices;
mod plain_names;
mod precompute;
mod psum_tiles;
mod reduce;
mod resident;
mod shared_rows;
mod skip_masked;
mod split_loop;
mod split_written;
mod spread_pieces;
mod spread_rows;
mod through_psum;
mod tile_functions;
mod tile_parts;
mod tile_reductions;
mod tiles;
mod transposes;
mod versions;
mod windows;
mod windows_apart;
mod write_into_tiles;
mod write_out_loops;

use super::operation::{View, argument};
use super::source::{Edits, Place, each_expression_in, each_statement, name_of};
use ruff_python_ast::{Expr, Stmt, StmtFor};

pub(super) use inline::written_out;

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

/// What makes a kernel easier to see through without making it faster: done before anything else.
pub(super) const PLAIN: &[Transformation] = &[
    Transformation {
        name: "name-arguments",
        menu_item: "fuse-operations",
        changes: named_arguments::changes,
    },
    Transformation {
        name: "write-out-calls",
        menu_item: "hoist",
        changes: inline::changes,
    },
    Transformation {
        name: "leave-out-masks",
        menu_item: "shape-transfers",
        changes: needless_masks::changes,
    },
    Transformation {
        name: "name-windows",
        menu_item: "shape-transfers",
        changes: plain_indices::changes,
    },
    Transformation {
        name: "write-out-loops",
        menu_item: "hoist",
        changes: write_out_loops::changes,
    },
    Transformation {
        name: "settle-conditions",
        menu_item: "hoist",
        changes: plain_names::conditions,
    },
    Transformation {
        name: "name-each-result",
        menu_item: "hoist",
        changes: names_of_results::changes,
    },
    Transformation {
        name: "spread-rows",
        menu_item: "shape-transfers",
        changes: spread_rows::changes,
    },
    Transformation {
        name: "write-into-tiles",
        menu_item: "fuse-operations",
        changes: write_into_tiles::changes,
    },
    Transformation {
        name: "one-name-each",
        menu_item: "hoist",
        changes: plain_names::names,
    },
    Transformation {
        name: "tile-for-each-result",
        menu_item: "double-buffer",
        changes: versions::changes,
    },
];

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
        name: "spread-in-pieces",
        menu_item: "psum-operands",
        changes: spread_pieces::changes,
    },
    Transformation {
        name: "take-windows-apart",
        menu_item: "fuse-operations",
        changes: windows_apart::changes,
    },
    Transformation {
        name: "through-psum",
        menu_item: "psum-operands",
        changes: through_psum::changes,
    },
    Transformation {
        name: "defer-scale",
        menu_item: "fuse-operations",
        changes: defer_scale::changes,
    },
    Transformation {
        name: "drop-copies",
        menu_item: "fuse-operations",
        changes: drop_copies::changes,
    },
    Transformation {
        name: "skip-masked",
        menu_item: "other",
        changes: skip_masked::changes,
    },
    Transformation {
        name: "stay-in-psum",
        menu_item: "psum-operands",
        changes: psum_tiles::changes,
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
        name: "load-shared-rows-once",
        menu_item: "keep-resident",
        changes: shared_rows::changes,
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
        name: "split-loop",
        menu_item: "double-buffer",
        changes: split_loop::changes,
    },
    Transformation {
        name: "accumulate-in-psum",
        menu_item: "accumulate-in-psum",
        changes: accumulate::changes,
    },
    Transformation {
        name: "sum-by-identity",
        menu_item: "balance-engines",
        changes: matrix_sums::changes,
    },
    Transformation {
        name: "narrow-types",
        menu_item: "narrow-types",
        changes: narrow::changes,
    },
    Transformation {
        name: "narrow-tiles",
        menu_item: "narrow-types",
        changes: narrow_tiles::changes,
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

/// Every change that `look` finds at a statement, with the loops around it, of a kernel of the first
/// dialect; none in the second, in whose words these kinds do not write.
fn changes_in_first_dialect<'t>(
    view: &'t View<'_>,
    mut look: impl FnMut(&mut Vec<Change>, Place<'t>, &[&'t StmtFor]),
) -> Vec<Change> {
    let mut found = Vec::new();
    if view.source.first_dialect() {
        each_place(view, |place, loops| look(&mut found, place, loops));
    }
    found
}

/// Replaces an expression, and drops the statements that made what it replaces.
///
/// An instruction that writes to a tile is given without it: the new one writes to the same tile.
fn replaced(
    view: &View<'_>,
    expression: &Expr,
    text: String,
    dropped: &[Option<&Stmt>],
) -> Option<String> {
    replaced_with(view, expression, text, dropped, Edits::default())
}

/// The same with further edits.
fn replaced_with(
    view: &View<'_>,
    expression: &Expr,
    text: String,
    dropped: &[Option<&Stmt>],
    mut edits: Edits,
) -> Option<String> {
    let text = with_target(view, expression, text)?;
    edits.replace(ruff_text_size::Ranged::range(expression), text);
    for statement in dropped.iter().flatten() {
        edits.replace(view.source.lines(*statement)?, "");
        if let Some(tile) = view.written(statement).and_then(|it| name_of(it.dst)) {
            drop_tile(view, tile, &mut edits);
        }
    }
    view.source.finish(edits)
}

/// A column times -1: an expression in the first dialect; in the second an instruction of its own
/// before the statement, and a number as it is.
fn negated(view: &View<'_>, place: Place<'_>, operand: &Expr) -> Option<(String, Edits)> {
    let text = view.text(operand);
    let mut edits = Edits::default();
    if view.source.first_dialect() || view.shapes.is_number(operand) {
        return Some((format!("({text}) * -1.0"), edits));
    }
    let View { nl, nisa, .. } = view;
    let column = view.shapes.tile(operand).filter(|it| it.is_column())?;
    let (start, indent) = view.source.line_start(place.statement())?;
    let name = view.source.fresh("negated");
    edits.insert(
        start,
        format!(
            "{indent}{name} = {nl}.ndarray(({}, 1), dtype={nl}.float32, buffer={nl}.sbuf)\n{indent}{nisa}.tensor_scalar(dst={name}, data={text}, op0={nl}.multiply, operand0=-1.0)\n",
            column.shape[0]
        ),
    );
    Some((name, edits))
}

/// An instruction that stands for another one, with the target of that one if it names it.
fn with_target(view: &View<'_>, expression: &Expr, mut text: String) -> Option<String> {
    if !view.source.first_dialect() {
        let Expr::Call(call) = expression else {
            return None;
        };
        let dst = argument(call, usize::MAX, "dst")?;
        let at = text.find('(')? + 1;
        text.insert_str(at, &format!("dst={}, ", view.text(dst)));
    }
    Some(text)
}

/// Drops the statement that makes a tile that nothing writes or reads any more.
fn drop_tile(view: &View<'_>, name: &str, edits: &mut Edits) {
    each_place(view, |place, _| {
        if let Stmt::Assign(it) = place.statement()
            && let [target] = it.targets.as_slice()
            && name_of(target) == Some(name)
            && let Some(lines) = view.source.lines(place.statement())
        {
            edits.replace(lines, "");
        }
    });
}
