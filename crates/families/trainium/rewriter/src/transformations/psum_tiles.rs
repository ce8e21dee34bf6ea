//! Results of the matrix engine are read where they lie, in PSUM, instead of being copied to SBUF
//! first.
//!
//! Facts: vector and scalar engine read PSUM as fast as SBUF, and sooner; transfers, the gpsimd
//! engine and the matrix engine do not reach it. A partition has 16 KiB of it in eight banks.

use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;

use super::super::operation::{Operation, View, argument};
use super::super::shapes::Memory;
use super::super::source::{Edits, Place, base_of, bound_call, each_expression_in, name_of};
use super::{Change, drop_tile, each_place};

/// Most bytes of a tile in each partition: half of what there is, so that two can be in flight.
const MOST_BYTES: i64 = 8 << 10;

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    each_place(view, |place, _| {
        found.extend(made_there(view, place));
        if !view.source.first_dialect() {
            found.extend(read_there(view, place));
        }
    });
    found
}

/// A tile of SBUF that products are copied to becomes one of PSUM that they are made in.
fn made_there(view: &View<'_>, place: Place<'_>) -> Option<Change> {
    let (made, name, call) = bound_call(place.statement())?;
    let tile = view.shapes.tile(&made.value)?;
    if view.source.path(&call.func)? != "nl.ndarray"
        || tile.memory != Memory::Sbuf
        || tile.dtype.as_deref() != Some("float32")
        || tile.is_column()
        || MOST_BYTES < tile.free() * 4
        || !view.shapes.bound_once(name)
    {
        return None;
    }
    let buffer = argument(call, usize::MAX, "buffer")?;
    let mut edits = Edits::default();
    edits.replace(buffer.range(), format!("{}.psum", view.nl));
    let mut products = 0;
    each_place(view, |place, _| {
        let made = match place.statement() {
            Stmt::Assign(it) => match it.targets.as_slice() {
                [target @ Expr::Subscript(_)] if base_of(target) == Some(name) => {
                    product_below(view, &it.value).map(|product| {
                        edits.replace(it.value.range(), view.text(product));
                    })
                }
                _ => None,
            },
            statement => view
                .written(statement)
                .filter(|it| base_of(it.dst) == Some(name))
                .and_then(|it| copied_product(view, place, it.call, it.dst, &mut edits)),
        };
        products += usize::from(made.is_some());
    });
    if products == 0 {
        return None;
    }
    Some(Change {
        line: view.line(made),
        variant: format!("make {name}"),
        sentence: format!("Make `{name}` in PSUM, where products need not be copied from."),
        source: view.source.finish(edits)?,
    })
}

/// The product that a copy copies.
fn product_below<'t>(view: &View<'_>, expression: &'t Expr) -> Option<&'t Expr> {
    let Operation::Copy { data } = view.operation(expression)? else {
        return None;
    };
    let in_psum = view.shapes.tile(data)?.memory == Memory::Psum;
    (in_psum && matches!(data, Expr::Call(_))).then_some(data)
}

/// An instruction that copies a product that only it reads: the product is written to its target.
fn copied_product(
    view: &View<'_>,
    place: Place<'_>,
    copy: &ruff_python_ast::ExprCall,
    dst: &Expr,
    edits: &mut Edits,
) -> Option<()> {
    if view.source.path(&copy.func)? != "nisa.tensor_copy" {
        return None;
    }
    let source = argument(copy, usize::MAX, "src")?;
    let name = name_of(source)?;
    if !view.shapes.constant(name) || view.shapes.reads(name) != 2 {
        return None;
    }
    let writer = place.block[..place.at]
        .iter()
        .rev()
        .find_map(|it| view.written(it).filter(|it| name_of(it.dst) == Some(name)))?;
    if !matches!(writer.name.as_str(), "nc_matmul" | "nc_transpose") {
        return None;
    }
    edits.replace(writer.dst.range(), view.text(dst));
    edits.replace(view.source.lines(place.statement())?, "");
    drop_tile(view, name, edits);
    Some(())
}

/// A copy of a tile of PSUM goes, and who read it reads the tile itself.
fn read_there(view: &View<'_>, place: Place<'_>) -> Option<Change> {
    let written = view.written(place.statement())?;
    if written.name != "tensor_copy" {
        return None;
    }
    let copy = name_of(written.dst)?;
    let source = argument(written.call, usize::MAX, "src")?;
    let original = name_of(source)?;
    let (from, to) = (view.shapes.tile(source)?, view.shapes.tile(written.dst)?);
    // Rounding on the way, if there is any, is the reader's to say.
    if from.memory != Memory::Psum
        || from.dtype != to.dtype
        || !view.shapes.constant(copy)
        || view
            .shapes
            .changed
            .get(original)?
            .iter()
            .any(|it| place.statement().end() < it.start())
    {
        return None;
    }
    let mut edits = Edits::default();
    let mut n_readers = 0;
    for statement in &place.block[place.at + 1..] {
        each_expression_in(statement, &mut |it| {
            if name_of(it) == Some(copy) {
                edits.replace(it.range(), original);
                n_readers += 1;
            }
        });
    }
    // Without any it is a part of another tile, which is read behind the loop.
    if n_readers == 0 {
        return None;
    }
    edits.replace(view.source.lines(place.statement())?, "");
    drop_tile(view, copy, &mut edits);
    Some(Change {
        line: view.line(place.statement()),
        variant: format!("read {original}"),
        sentence: format!("Read `{original}` in PSUM instead of copying it to `{copy}` first."),
        source: view.source.finish(edits)?,
    })
}
