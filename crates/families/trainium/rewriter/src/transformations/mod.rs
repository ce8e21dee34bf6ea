//! One file for each kind of change.

mod accumulate;
mod affine;
mod at_once;
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
use autocomp_core::KindOfChange;
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
    pub(super) menu_items: &'static [&'static str],
    /// What changes, and in which kernels, without a full stop.
    pub(super) does: &'static str,
    /// Every change of this kind that keeps what the kernel computes, as far as can be seen.
    pub(super) changes: fn(&View<'_>) -> Vec<Change>,
}

/// What makes a kernel easier to see through without making it faster: done before anything else.
pub(super) const PLAIN: &[Transformation] = &[
    Transformation {
        name: "name-arguments",
        menu_items: &["fuse-operations"],
        does: "arguments of instructions by position get their names",
        changes: named_arguments::changes,
    },
    Transformation {
        name: "write-out-calls",
        menu_items: &["hoist"],
        does: "calls of functions of the file are written out",
        changes: inline::changes,
    },
    Transformation {
        name: "leave-out-masks",
        menu_items: &["shape-transfers"],
        does: "masks that keep everything are left out",
        changes: needless_masks::changes,
    },
    Transformation {
        name: "name-windows",
        menu_items: &["shape-transfers"],
        does: "index expressions that name a window become windows",
        changes: plain_indices::changes,
    },
    Transformation {
        name: "write-out-loops",
        menu_items: &["hoist"],
        does: "loops over listed values, over at most four numbers that a condition asks for, or from another number than zero are written out or counted from zero",
        changes: write_out_loops::changes,
    },
    Transformation {
        name: "settle-conditions",
        menu_items: &["hoist"],
        does: "conditions whose value is known are settled",
        changes: plain_names::conditions,
    },
    Transformation {
        name: "name-each-result",
        menu_items: &["hoist"],
        does: "a name that is given to one result after the other becomes one for each",
        changes: names_of_results::changes,
    },
    Transformation {
        name: "spread-rows",
        menu_items: &["shape-transfers"],
        does: "a row that is combined with tiles is loaded for all partitions, where that costs nothing",
        changes: spread_rows::changes,
    },
    Transformation {
        name: "write-into-tiles",
        menu_items: &["fuse-operations"],
        does: "functions of `nl` in the second dialect become tiles and the instructions that fill them",
        changes: write_into_tiles::changes,
    },
    Transformation {
        name: "one-name-each",
        menu_items: &["hoist"],
        does: "names that repeat others go",
        changes: plain_names::names,
    },
    Transformation {
        name: "tile-for-each-result",
        menu_items: &["double-buffer"],
        does: "a tile that holds several results in turn becomes one for each",
        changes: versions::changes,
    },
];

/// All kinds, in the order in which "everywhere" composites are tried.
pub(super) const ALL: &[Transformation] = &[
    Transformation {
        name: "known-function",
        menu_items: &["fuse-operations"],
        does: "sigmoid, SiLU, softplus, reciprocal root, square, quotient written out in several operations",
        changes: functions::changes,
    },
    Transformation {
        name: "fuse-operations",
        menu_items: &["fuse-operations"],
        does: "an operation with a number or column feeds another operation or a function, and nobody else reads it",
        changes: fuse::changes,
    },
    Transformation {
        name: "reduce-on-the-way",
        menu_items: &["fuse-operations"],
        does: "a sum over columns; its tile may have other readers",
        changes: reduce::changes,
    },
    Transformation {
        name: "at-once",
        menu_items: &["larger-tiles"],
        does: "in the second dialect, iterations that do the same to single columns, or to pieces side by side: one instruction on a view",
        changes: at_once::changes,
    },
    Transformation {
        name: "choose-engine",
        menu_items: &["balance-engines"],
        does: "operations that run on another engine too",
        changes: engines::changes,
    },
    Transformation {
        name: "spread-in-pieces",
        menu_items: &["psum-operands"],
        does: "a row spread over the partitions for one operation, wider than a bank",
        changes: spread_pieces::changes,
    },
    Transformation {
        name: "take-windows-apart",
        menu_items: &["fuse-operations"],
        does: "the largest, smallest or sum of windows, one axis after the other, with what lies between in PSUM where it fits",
        changes: windows_apart::changes,
    },
    Transformation {
        name: "through-psum",
        menu_items: &["psum-operands"],
        does: "both tiles of an operation in SBUF, one of at most 2048 float32 columns",
        changes: through_psum::changes,
    },
    Transformation {
        name: "defer-scale",
        menu_items: &["fuse-operations"],
        does: "rows of weights multiplied or divided by a column before a product: the result is, where there are fewer columns",
        changes: defer_scale::changes,
    },
    Transformation {
        name: "drop-copies",
        menu_items: &["fuse-operations"],
        does: "a copy that only rounds what an operation made",
        changes: drop_copies::changes,
    },
    Transformation {
        name: "skip-masked",
        menu_items: &["other"],
        does: "tiles of which a triangular mask keeps nothing, or everything",
        changes: skip_masked::changes,
    },
    Transformation {
        name: "stay-in-psum",
        menu_items: &["psum-operands"],
        does: "products that are copied to SBUF before they are read",
        changes: psum_tiles::changes,
    },
    Transformation {
        name: "resize-tiles",
        menu_items: &["larger-tiles"],
        does: "a number that tile sizes, strides and iterations are written with, in the whole kernel, in one loop or by its name",
        changes: tiles::changes,
    },
    Transformation {
        name: "turn-on-chip",
        menu_items: &["avoid-transposes"],
        does: "transposing loads",
        changes: transposes::changes,
    },
    Transformation {
        name: "hoist",
        menu_items: &["hoist"],
        does: "what an iteration makes of nothing that changes in the loop, calls of functions of the file included",
        changes: hoist::changes,
    },
    Transformation {
        name: "keep-resident",
        menu_items: &["keep-resident"],
        does: "loads in loops: one wide transfer, or one tile for each iteration that differs",
        changes: resident::changes,
    },
    Transformation {
        name: "load-shared-rows-once",
        menu_items: &["keep-resident"],
        does: "windows of rows that overlap from iteration to iteration: each partition gets rows that follow one another",
        changes: shared_rows::changes,
    },
    Transformation {
        name: "precompute",
        menu_items: &["keep-resident"],
        does: "tiles of an inner loop that an outer loop does not change",
        changes: precompute::changes,
    },
    Transformation {
        name: "keep-tiles",
        menu_items: &["keep-resident"],
        does: "in the second dialect, tiles that an outer loop does not change, with all that they are made from",
        changes: kept_tiles::changes,
    },
    Transformation {
        name: "gather-stores",
        menu_items: &["shape-transfers"],
        does: "stores of a loop that lie side by side in a row",
        changes: gather_stores::changes,
    },
    Transformation {
        name: "interchange",
        menu_items: &["loop-order"],
        does: "two affine loops without anything between them",
        changes: interchange::changes,
    },
    Transformation {
        name: "pieces",
        menu_items: &["double-buffer"],
        does: "element-wise work up to a store, wider than 512 columns",
        changes: pieces::changes,
    },
    Transformation {
        name: "own-buffer",
        menu_items: &["double-buffer"],
        does: "a tile that each iteration fills first",
        changes: own_buffer::changes,
    },
    Transformation {
        name: "affine-range",
        menu_items: &["double-buffer"],
        does: "a loop that carries nothing, or little enough to be written out",
        changes: affine::changes,
    },
    Transformation {
        name: "split-loop",
        menu_items: &["double-buffer"],
        does: "an affine loop that goes to the matrix engine twice in each iteration: what the first half makes has a tile for each iteration, and accumulators of the second half no longer hold up the first",
        changes: split_loop::changes,
    },
    Transformation {
        name: "accumulate-in-psum",
        menu_items: &["accumulate-in-psum"],
        does: "sums of products in SBUF that fit a bank, in both dialects",
        changes: accumulate::changes,
    },
    Transformation {
        name: "sum-by-identity",
        menu_items: &["balance-engines"],
        does: "a sum of tiles of at most 2048 float32 columns: products with the identity add in PSUM",
        changes: matrix_sums::changes,
    },
    Transformation {
        name: "narrow-types",
        menu_items: &["narrow-types"],
        does: "float32 operands of products, if the problem tolerates a relative error of 1/256; the evaluation has the last word",
        changes: narrow::changes,
    },
    Transformation {
        name: "narrow-tiles",
        menu_items: &["narrow-types"],
        does: "float32 tiles that are turned, if the problem tolerates a relative error of 1/256; the evaluation has the last word",
        changes: narrow_tiles::changes,
    },
];

/// Every kind of change, those that only make kernels plainer first.
pub(super) fn kinds() -> Vec<KindOfChange> {
    let all = PLAIN.iter().chain(ALL);
    all.map(|it| KindOfChange {
        name: it.name,
        menu_items: it.menu_items,
        does: it.does,
    })
    .collect()
}

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
