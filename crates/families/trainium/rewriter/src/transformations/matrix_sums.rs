//! Sums of tiles are left to the matrix engine, where the vector engine has enough to do: a
//! product with the identity adds to what a bank of PSUM holds.
//!
//! Facts: a bank takes 512 columns of four bytes; a product whose stationary operand holds zeros
//! and ones only takes half the passes that other float32 products do. What is added must be
//! finite, since nothing times infinity is no number; the evaluation has the last word.

use ruff_python_ast::{Expr, Operator, Stmt, StmtFor};
use ruff_text_size::Ranged;

use super::super::operation::{Operation, View, argument};
use super::super::shapes::{Memory, Tensor};
use super::super::source::{Edits, base_of, bound_call, each_expression, name_of};
use super::{Change, changes_in_first_dialect, each_place, each_site, keyword_edit};

/// Columns of four bytes that a bank holds.
const BANK: i64 = 512;
/// Columns of a sum: half of all banks.
const MOST_COLUMNS: i64 = 2048;
/// Partitions.
const ROWS: i64 = 128;

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    changes_in_first_dialect(view, |found, place, loops| {
        found.extend(summed(view, place.statement(), loops.first().copied()));
    })
}

/// The sum that a statement begins with zeros, inside of the loop `outermost` if in any.
fn summed(view: &View<'_>, zeros: &Stmt, outermost: Option<&StmtFor>) -> Option<Change> {
    let (it, name, call) = bound_call(zeros)?;
    let tile = view.shapes.tile(&it.value)?;
    let [rows, columns] = tile.shape[..] else {
        return None;
    };
    let fits = view.source.path(&call.func).as_deref() == Some("nl.zeros")
        && tile.memory == Memory::Sbuf
        && tile.dtype.as_deref() == Some("float32")
        && rows <= ROWS
        && columns <= MOST_COLUMNS
        && (columns <= BANK || columns % BANK == 0)
        && view.shapes.made_once(name);
    if !fits {
        return None;
    }
    let View { nl, nisa, .. } = view;
    let np = view.source.alias("np");
    let unit = view.source.fresh("unit");
    let mut edits = Edits::default();
    let first = outermost.map_or(zeros.range(), Ranged::range);
    let (start, indent) = view.source.line_start(&first)?;
    edits.insert(
        start,
        format!(
            "{indent}{unit} = {nl}.load({nl}.shared_constant({np}.identity({rows}, dtype={np}.int8), dtype={nl}.float32))\n"
        ),
    );
    let (at, psum) = keyword_edit(call, "buffer", &format!("{nl}.psum"));
    edits.replace(at, psum);
    let product =
        |operand: &str| format!("{nisa}.nc_matmul({unit}, {operand}, is_stationary_onezero=True)");
    let (mut sums, mut other) = (0, false);
    each_place(view, |place, loops| {
        let statement = place.statement();
        if statement.range() == zeros.range() || !writes(statement, name) {
            return;
        }
        let added = added(view, statement, name).filter(|it| {
            let tile = view.shapes.tile(it.1);
            tile.is_some_and(|it| is_summand(it, rows)) && !is_product(view, it.1)
        });
        let Some((into, value)) = added.filter(|_| !loops.is_empty()) else {
            other = true;
            return;
        };
        let width = view.shapes.tile(value).map_or(0, Tensor::free);
        if width <= BANK {
            edits.replace(
                statement.range(),
                format!("{} += {}", view.text(into), product(view.text(value))),
            );
        } else if name_of(into).is_some() && width == columns {
            let Some((_, indent)) = view.source.line_start(statement) else {
                other = true;
                return;
            };
            let (part, piece) = (view.source.fresh("part"), view.source.fresh("piece"));
            let place = format!("[0:{rows}, {nl}.ds({piece} * {BANK}, {BANK})]");
            edits.replace(
                statement.range(),
                format!(
                    "{part} = {}\n{indent}for {piece} in {nl}.affine_range({}):\n{indent}    {name}{place} += {}",
                    view.text(value),
                    columns / BANK,
                    product(&format!("{part}{place}"))
                ),
            );
        } else {
            other = true;
        }
        sums += 1;
    });
    if sums == 0 || other {
        return None;
    }
    // Transfers do not reach PSUM.
    each_site(view, |_, expression| {
        if let Expr::Call(call) = expression
            && view.source.path(&call.func).as_deref() == Some("nl.store")
            && let Some(value) = argument(call, 1, "value")
            && base_of(value) == Some(name)
        {
            edits.replace(value.range(), format!("{nl}.copy({})", view.text(value)));
        }
    });
    Some(Change {
        line: view.line(zeros),
        variant: name.to_owned(),
        sentence: format!(
            "Leave the sum `{name}` to the matrix engine, which adds products with the identity in PSUM."
        ),
        source: view.source.finish(edits)?,
    })
}

/// A tile in SBUF that the matrix engine takes beside an identity in float32.
fn is_summand(tile: &Tensor, rows: i64) -> bool {
    tile.memory == Memory::Sbuf
        && tile.dtype.as_deref() == Some("float32")
        && tile.shape.len() == 2
        && tile.shape[0] == rows
}

/// Whether the matrix engine makes what is added; it can add that by itself.
fn is_product(view: &View<'_>, value: &Expr) -> bool {
    let mut found = false;
    each_expression(value, &mut |it| {
        if let Expr::Call(call) = it {
            found |= view.source.path(&call.func).as_deref() == Some("nisa.nc_matmul");
        }
    });
    found
}

/// Whether a statement changes a tile.
fn writes(statement: &Stmt, name: &str) -> bool {
    match statement {
        Stmt::AugAssign(it) => base_of(&it.target) == Some(name),
        Stmt::Assign(it) => it.targets.iter().any(|it| base_of(it) == Some(name)),
        Stmt::Expr(it) => {
            let mut found = false;
            each_expression(&it.value, &mut |it| {
                if let Expr::Call(call) = it {
                    found |= call.arguments.keywords.iter().any(|it| {
                        matches!(it.arg.as_deref(), Some("reduce_res" | "dst"))
                            && base_of(&it.value) == Some(name)
                    });
                }
            });
            found
        }
        _ => false,
    }
}

/// What a statement adds to a tile, with the part of the tile that it is added to: `t += x`,
/// `t[...] = nl.add(t[...], x)`.
fn added<'t>(view: &View<'_>, statement: &'t Stmt, name: &str) -> Option<(&'t Expr, &'t Expr)> {
    match statement {
        Stmt::AugAssign(it) if it.op == Operator::Add => {
            Some((it.target.as_ref(), it.value.as_ref()))
        }
        Stmt::Assign(it) => {
            let [target @ Expr::Subscript(whole)] = it.targets.as_slice() else {
                return None;
            };
            let Operation::Tensor { op: "add", a, b } = view.operation(&it.value)? else {
                return None;
            };
            let (own, value) = match base_of(a) == Some(name) {
                true => (a, b),
                false => (b, a),
            };
            let all = matches!(whole.slice.as_ref(), Expr::EllipsisLiteral(_));
            match name_of(own) {
                Some(own_name) if own_name == name && all => Some((own, value)),
                _ => (view.text(own) == view.text(target)).then_some((own, value)),
            }
        }
        _ => None,
    }
}
