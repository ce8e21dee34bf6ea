//! One file for each kind of change.

mod accumulate;
mod affine;
mod at_once;
mod columns_outside;
mod copies_at_once;
mod counted_loops;
mod defer_scale;
mod descriptors;
mod drop_copies;
mod engines;
mod fill_partitions;
mod filled_tiles;
mod functions;
mod fuse;
mod gather_stores;
mod hoist;
mod inline;
mod interchange;
mod kept_tiles;
mod kinds;
mod matrix_sums;
mod named_arguments;
mod names_of_results;
mod narrow;
mod narrow_tiles;
mod needless_masks;
mod own_buffer;
mod piece_reductions;
mod piece_stores;
mod pieces;
mod plain_indices;
mod plain_names;
mod precompute;
mod psum_tiles;
mod reduce;
mod resident;
mod shared_rows;
mod shared_work;
mod skip_masked;
mod split_lists;
mod split_loop;
mod split_products;
mod spread_pieces;
mod spread_rows;
mod spread_transfers;
mod sum_outside;
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
use ruff_python_ast::{Expr, ExprCall, Stmt, StmtFor};
use ruff_text_size::{Ranged, TextRange};
use std::collections::BTreeSet;

pub(super) use inline::written_out;
pub(super) use kinds::{ALL, PLAIN, Transformation, kinds};
pub(super) use narrow_tiles::NARROW_TYPES;

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

/// A name that neither the file nor `taken` has: `stem` with the first such number from `number`.
fn fresh(view: &View<'_>, stem: &str, mut number: usize, taken: &mut BTreeSet<String>) -> String {
    loop {
        let name = format!("{stem}_{number}");
        if view.source.fresh(&name) == name && taken.insert(name.clone()) {
            return name;
        }
        number += 1;
    }
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

/// A call with further arguments, such as `, dtype=…`, behind its own.
fn with_arguments(mut text: String, more: &str) -> String {
    if text.ends_with(')') {
        text.insert_str(text.len() - 1, more);
    }
    text
}

/// The edit that gives a call an argument by name: instead of what it has by that name, or behind its
/// last argument.
fn keyword_edit(call: &ExprCall, name: &str, value: &str) -> (TextRange, String) {
    if let Some(given) = call.arguments.find_keyword(name) {
        return (given.value.range(), value.to_owned());
    }
    let last = call.arguments.iter_source_order().last();
    let end = last.map_or(call.arguments.range.end(), |it| it.end());
    (TextRange::empty(end), format!(", {name}={value}"))
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
