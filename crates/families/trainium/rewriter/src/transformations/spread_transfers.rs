//! A row that products with ones spread over the partitions is spread by its transfer instead.
//!
//! Fact: a transfer may read the same row for every partition. The product costs the matrix engine
//! a pass for each 512 columns, and what reads it goes through PSUM piece by piece.

use ruff_python_ast::{Expr, ExprCall, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::{View, argument, only};
use super::super::shapes::Memory;
use super::super::source::{Edits, Place, bound_call, each_expression_in, name_of, names_in};
use super::{Change, drop_tile, each_place};

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    if !view.source.first_dialect() {
        each_place(view, |place, _| found.extend(spread(view, place)));
    }
    found
}

/// The change at the statement that loads the row.
fn spread(view: &View<'_>, place: Place<'_>) -> Option<Change> {
    let load = view.written(place.statement())?;
    let row = name_of(load.dst)?;
    let source = argument(load.call, usize::MAX, "src")?;
    let [1, columns] = view.shapes.tile(load.dst)?.shape[..] else {
        return None;
    };
    let is_load = load.name == "dma_copy"
        && only(load.call, &["dst", "src"])
        && view
            .shapes
            .tensor(source)
            .is_some_and(|it| it.memory == Memory::Main && it.shape == [1, columns]);
    if !is_load || !view.shapes.constant(row) {
        return None;
    }
    let mut edits = Edits::default();
    let mut partitions = None;
    let mut products = 0;
    each_place(view, |place, _| {
        let Some(rows) = read_directly(view, place, row, &mut edits) else {
            return;
        };
        products += usize::from(*partitions.get_or_insert(rows) == rows);
    });
    let partitions = partitions?;
    // The load names the tile, too.
    if products + 1 != view.shapes.reads(row) {
        return None;
    }
    edits.replace(rows_of(view, row)?, partitions.to_string());
    edits.insert(source.end().into(), format!(".broadcast(0, {partitions})"));
    let line = view.line(place.statement());
    Some(Change {
        line,
        variant: row.to_owned(),
        sentence: format!(
            "Load the row `{row}` for all {partitions} partitions, instead of spreading it by products with ones."
        ),
        source: view.source.finish(edits)?,
    })
}

/// Has the readers of a product of ones with `row`, if a statement is one, read the row itself.
/// Returns how many partitions the product has.
fn read_directly(view: &View<'_>, place: Place<'_>, row: &str, edits: &mut Edits) -> Option<i64> {
    let product = view.written(place.statement())?;
    if product.name != "nc_matmul" || !only(product.call, &["dst", "stationary", "moving"]) {
        return None;
    }
    let [stationary, moving] =
        ["stationary", "moving"].map(|it| argument(product.call, usize::MAX, it));
    let (ones, moving) = (name_of(stationary?)?, moving?);
    let [1, partitions] = view.shapes.tile(stationary?)?.shape[..] else {
        return None;
    };
    let part = match moving {
        Expr::Subscript(it) => name_of(&it.value),
        other => name_of(other),
    };
    let spread = name_of(product.dst)?;
    // Made for this product alone: it adds to nothing.
    let makes = |it: &Stmt| bound_call(it).is_some_and(|it| it.1 == spread);
    if part != Some(row)
        || !is_ones(view, ones)
        || !view.shapes.constant(spread)
        || !place.block[..place.at].iter().any(makes)
    {
        return None;
    }
    let mut own = Edits::default();
    let (mut readers, mut end) = (0, place.statement().end());
    for statement in &place.block[place.at + 1..] {
        each_expression_in(statement, &mut |it| {
            if name_of(it) == Some(spread) {
                own.replace(it.range(), view.text(moving));
                readers += 1;
                end = statement.end();
            }
        });
    }
    let between = TextRange::new(place.statement().end(), end);
    let stays = names_in(moving)
        .iter()
        .all(|it| !view.shapes.touched(it, between));
    // The product names its target, too.
    if !stays || readers == 0 || readers + 1 != view.shapes.reads(spread) {
        return None;
    }
    own.replace(view.source.lines(place.statement())?, "");
    drop_tile(view, spread, &mut own);
    edits.extend(own);
    Some(partitions)
}

/// Whether a tile holds ones and nothing else.
fn is_ones(view: &View<'_>, name: &str) -> bool {
    if !view.shapes.constant(name) {
        return false;
    }
    let is_one = |call: &ExprCall, what: &str| {
        argument(call, usize::MAX, what).and_then(|it| view.shapes.number(it)) == Some(1.0)
    };
    let mut filled = false;
    each_place(view, |place, _| {
        filled |= view.written(place.statement()).is_some_and(|it| {
            name_of(it.dst) == Some(name) && it.name == "memset" && is_one(it.call, "value")
        });
    });
    filled
}

/// Where the statement that makes a tile says how many rows it has.
fn rows_of(view: &View<'_>, name: &str) -> Option<TextRange> {
    let mut found = None;
    each_place(view, |place, _| {
        if let Some((_, _, call)) = bound_call(place.statement()).filter(|it| it.1 == name)
            && view.source.path(&call.func).as_deref() == Some("nl.ndarray")
            && let Some(Expr::Tuple(shape)) = argument(call, 0, "shape")
        {
            found = shape.elts.first().map(Ranged::range);
        }
    });
    found
}
