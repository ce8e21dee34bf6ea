//! A product of float32 becomes three products of parts that the matrix engine takes at four times
//! the rate.
//!
//! Fact: it takes four-byte float32 operands in four passes, tfloat32 and bfloat16 in one. An operand
//! is the sum of what its narrow type keeps and of the rest, rounded to that type as well; the product
//! of the two rests is left out.

use std::collections::BTreeMap;

use ruff_python_ast::{Expr, ExprCall, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::{View, argument, only};
use super::super::shapes::Memory;
use super::super::source::{Edits, Place, base_of, each_expression_in, name_of, names_in};
use super::narrow_tiles::is_spread;
use super::{Change, changes_in_first_dialect, each_place};

/// Types of the parts. The one of more bits is first: it is taken where both cost the same.
const TYPES: [&str; 2] = ["tfloat32", "bfloat16"];

/// A product of two float32 tiles, and the statement that it stands in.
struct Product<'t> {
    place: Place<'t>,
    whole: &'t Expr,
    operands: [&'t Expr; 2],
}

/// The names of an operand's two parts, as text of the kernel.
type Parts = [String; 2];

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut products = Vec::new();
    let mut found = changes_in_first_dialect(view, |_, place, _| {
        if matches!(
            place.statement(),
            Stmt::Assign(_) | Stmt::AugAssign(_) | Stmt::Expr(_)
        ) {
            each_expression_in(place.statement(), &mut |it| {
                products.extend(product(view, place, it));
            });
        }
    });
    for dtype in TYPES {
        for one in products
            .chunks(1)
            .chain((1 < products.len()).then_some(&products[..]))
        {
            found.extend(split(view, one, dtype));
        }
    }
    found
}

fn product<'t>(view: &View<'_>, place: Place<'t>, expression: &'t Expr) -> Option<Product<'t>> {
    let Expr::Call(call) = expression else {
        return None;
    };
    if view.source.path(&call.func)? != "nisa.nc_matmul" || !only(call, &["stationary", "moving"]) {
        return None;
    }
    let operands = [
        argument(call, 0, "stationary")?,
        argument(call, 1, "moving")?,
    ];
    let wide = operands.iter().all(|it| {
        view.shapes.tile(it).is_some_and(|it| {
            it.memory == Memory::Sbuf && it.dtype.as_deref() == Some("float32") && !is_spread(it)
        })
    });
    wide.then_some(Product {
        place,
        whole: expression,
        operands,
    })
}

fn split(view: &View<'_>, products: &[Product<'_>], dtype: &str) -> Option<Change> {
    let View { nl, nisa, .. } = view;
    let mut edits = Edits::default();
    let mut tiles: BTreeMap<&str, Parts> = BTreeMap::new();
    for (number, it) in products.iter().enumerate() {
        let (start, indent) = view.source.line_start(it.place.statement())?;
        let mut before = String::new();
        let mut parts = Vec::new();
        for (operand, role) in it.operands.into_iter().zip(["stationary", "moving"]) {
            let operand = seen_part(view, it.place, operand);
            parts.push(match base_of(operand) {
                Some(base) => {
                    if !tiles.contains_key(base) {
                        let names =
                            ["high", "low"].map(|it| view.source.fresh(&format!("{base}_{it}")));
                        made_in_parts(view, base, &names, dtype, &mut edits)?;
                        tiles.insert(base, names);
                    }
                    // What stands behind the name stands behind those of its parts.
                    let rest = view.text(operand).strip_prefix(base)?;
                    tiles.get(base)?.clone().map(|it| format!("{it}{rest}"))
                }
                None => {
                    let of = |part: &str| view.source.fresh(&format!("{role}_{number}_{part}"));
                    let whole = of("whole");
                    let names = ["high", "low"].map(of);
                    before.push_str(&format!("{indent}{whole} = {}\n", view.text(operand)));
                    before.push_str(&in_parts(view, &whole, &names, dtype, indent));
                    names
                }
            });
        }
        let [[a, rest_of_a], [b, rest_of_b]]: [Parts; 2] = parts.try_into().ok()?;
        let pairs = [(&a, &b), (&rest_of_a, &b), (&a, &rest_of_b)];
        let sum = |total: &str| {
            pairs
                .map(|(a, b)| format!("{indent}{total} += {nisa}.nc_matmul({a}, {b})\n"))
                .concat()
        };
        match it.place.statement() {
            Stmt::AugAssign(added) if added.value.range() == it.whole.range() => {
                edits.insert(start, before);
                let total = view.text(added.target.as_ref());
                edits.replace(view.source.lines(added)?, sum(total));
            }
            _ => {
                let total = view.source.fresh(&format!("product_{number}"));
                let shape = &view.shapes.tile(it.whole)?.shape;
                let [rows, columns] = shape.as_slice() else {
                    return None;
                };
                before.push_str(&format!(
                    "{indent}{total} = {nl}.zeros(({rows}, {columns}), dtype={nl}.float32, buffer={nl}.psum)\n"
                ));
                edits.insert(start, before + &sum(&total));
                edits.replace(it.whole.range(), total);
            }
        }
    }
    let line = view.line(products.first()?.place.statement());
    let what = match products.len() {
        1 => format!("the product in line {line}"),
        _ => "all products of float32".to_owned(),
    };
    Some(Change {
        line,
        variant: format!("{dtype} of {}", products.len()),
        sentence: format!(
            "Make {what} of three products of {dtype} parts: what {dtype} keeps of each operand, and the rest."
        ),
        source: view.source.finish(edits)?,
    })
}

/// The part of a tile that a name stands for, where nothing in between changes it.
fn seen_part<'t>(view: &'t View<'_>, place: Place<'_>, operand: &'t Expr) -> &'t Expr {
    let mut seen = operand;
    each_place(view, |at, _| {
        if let Stmt::Assign(it) = at.statement()
            && let [target] = it.targets.as_slice()
            && let Some(name) = name_of(operand).filter(|it| name_of(target) == Some(it))
            && matches!(it.value.as_ref(), Expr::Subscript(_))
            && view.shapes.constant(name)
            && it.end() < place.statement().start()
            && names_in(&it.value).into_iter().all(|it| {
                !view.shapes.touched(
                    it,
                    TextRange::new(at.statement().end(), place.statement().end()),
                )
            })
        {
            seen = &it.value;
        }
    });
    seen
}

/// Splits a tile wherever it is written.
fn made_in_parts(
    view: &View<'_>,
    tile: &str,
    names: &Parts,
    dtype: &str,
    edits: &mut Edits,
) -> Option<()> {
    if !view.shapes.bound_once(tile) {
        return None;
    }
    let mut made = None;
    let mut writes = Vec::new();
    each_place(view, |place, _| {
        let Stmt::Assign(it) = place.statement() else {
            return;
        };
        match it.targets.as_slice() {
            [target] if name_of(target) == Some(tile) => made = Some(it),
            [Expr::Subscript(target)] if name_of(&target.value) == Some(tile) => {
                writes.push((it, view.text(target)));
            }
            _ => {}
        }
    });
    let made = made?;
    if writes.len() != view.shapes.changed.get(tile).map_or(0, Vec::len) {
        return None;
    }
    if let Expr::Call(call) = made.value.as_ref()
        && view.source.path(&call.func).as_deref() == Some("nl.ndarray")
    {
        let (_, indent) = view.source.line_start(made)?;
        let declared = names
            .iter()
            .map(|it| declared(view, call, it, dtype, indent))
            .collect::<Option<String>>()?;
        edits.insert(view.source.lines(made)?.end().into(), declared);
    } else if writes.is_empty() {
        writes.push((made, tile));
    } else {
        return None;
    }
    for (statement, written) in writes {
        let (_, indent) = view.source.line_start(statement)?;
        let rest = written.strip_prefix(tile)?;
        let parts = names.clone().map(|it| format!("{it}{rest}"));
        let text = in_parts(view, written, &parts, dtype, indent);
        edits.insert(view.source.lines(statement)?.end().into(), text);
    }
    Some(())
}

fn declared(
    view: &View<'_>,
    call: &ExprCall,
    name: &str,
    dtype: &str,
    indent: &str,
) -> Option<String> {
    let nl = &view.nl;
    let shape = view.text(argument(call, 0, "shape")?);
    Some(format!(
        "{indent}{name} = {nl}.ndarray({shape}, dtype={nl}.{dtype}, buffer={nl}.sbuf)\n"
    ))
}

/// The instructions that split a tile: a copy that rounds, and what is left of the tile.
fn in_parts(view: &View<'_>, whole: &str, parts: &Parts, dtype: &str, indent: &str) -> String {
    let View { nl, nisa, .. } = view;
    let [high, low] = parts;
    format!(
        "{indent}{high} = {nl}.copy({whole}, dtype={nl}.{dtype})\n{indent}{low} = {nisa}.tensor_tensor({whole}, {high}, op={nl}.subtract, dtype={nl}.{dtype})\n"
    )
}
