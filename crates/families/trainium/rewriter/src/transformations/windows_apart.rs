//! The largest, smallest or sum of a window is taken along one axis after the other, by operations
//! on two shifted tiles each: of nine elements for each result, four passes are left.

use std::collections::BTreeMap;

use ruff_python_ast::{Expr, ExprCall, Operator, Stmt};
use ruff_text_size::Ranged;

use super::super::operation::{View, argument, only};
use super::super::shapes::Value;
use super::super::source::{Edits, Place, bound_call, each_expression, name_of};
use super::{Change, changes_in_first_dialect};

/// Bytes that one tile in PSUM may take in each partition: half of all banks.
const MOST_BYTES: i64 = 8 << 10;
/// Longest side of a window.
const SIDE: i64 = 5;

/// An axis of an index grid, `nl.mgrid[…]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    pub(super) number: usize,
    pub(super) size: i64,
}

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    changes_in_first_dialect(view, |found, place, _| {
        for in_psum in [false, true] {
            found.extend(apart(view, place, in_psum));
        }
    })
}

/// Operations on two tiles, each of which goes on with the result of the one before.
struct Steps<'t> {
    op: &'t str,
    index: String,
    columns: i64,
    masked: &'t str,
    /// Whether all results but the last one lie in PSUM, from where the next operation reads at
    /// the full rate.
    in_psum: bool,
}

impl Steps<'_> {
    /// The operations on `count` operands, with the last result in `into`.
    fn text(
        &self,
        view: &View<'_>,
        indent: &str,
        into: &str,
        (rows, count): (i64, i64),
        operand: &dyn Fn(i64) -> String,
    ) -> String {
        let View { nl, nisa, .. } = view;
        let mut text = String::new();
        let mut first = operand(0);
        for at in 1..count {
            let call = format!(
                "{nisa}.tensor_tensor({first}, {}, op={nl}.{}{})\n",
                operand(at),
                self.op,
                self.masked
            );
            let mut name = into.to_owned();
            if self.in_psum && at + 1 < count {
                name = view.source.fresh(&format!("{into}_{at}"));
                text.push_str(&format!(
                    "{indent}{name} = {nl}.ndarray(({rows}, {}), dtype={nl}.float32, buffer={nl}.psum)\n{indent}{name}{} = {call}",
                    self.columns, self.index
                ));
            } else {
                text.push_str(&format!("{indent}{name} = {call}"));
            }
            first = format!("{name}{}", self.index);
        }
        text
    }
}

fn apart(view: &View<'_>, place: Place<'_>, in_psum: bool) -> Option<Change> {
    let (statement, name, call) = bound_call(place.statement())?;
    let op = match view.source.path(&call.func)?.as_str() {
        "nl.max" => "maximum",
        "nl.min" => "minimum",
        "nl.sum" => "add",
        _ => return None,
    };
    if !only(call, &["x", "axis", "mask"]) {
        return None;
    }
    let Expr::Subscript(window) = argument(call, 0, "x")? else {
        return None;
    };
    let tile = name_of(&window.value)?;
    let loaded = view.shapes.tile(&window.value)?;
    let [_, layers, width] = loaded.shape[..] else {
        return None;
    };
    if in_psum && (loaded.dtype.as_deref() != Some("float32") || MOST_BYTES < width * 4) {
        return None;
    }
    let Expr::Tuple(parts) = window.slice.as_ref() else {
        return None;
    };
    let [rows, layer, column] = parts.elts.as_slice() else {
        return None;
    };
    let grid = grid_before(view, place)?;
    let axis = |it: &Expr| name_of(it).and_then(|it| grid.get(it)).copied();
    let (row_name, rows, layer) = (name_of(rows)?, axis(rows)?, axis(layer)?);
    let Expr::BinOp(sum) = column else {
        return None;
    };
    let (one, other) = (axis(&sum.left)?, axis(&sum.right)?);
    let reduced = reduced_axes(view, call)?;
    let (along, shift) = match (
        reduced.contains(&one.number),
        reduced.contains(&other.number),
    ) {
        (false, true) => (one, other),
        (true, false) => (other, one),
        _ => return None,
    };
    let fits = sum.op == Operator::Add
        && rows.number == 0
        && reduced.len() == 2
        && reduced.contains(&layer.number)
        && layer.size == layers
        && along.size + shift.size - 1 == width
        && (2..=SIDE).contains(&layer.size)
        && (2..=SIDE).contains(&shift.size);
    if !fits {
        return None;
    }
    // What is not there in one row is not there in its results.
    let mask = |row: &str| -> Option<String> {
        let Some(mask) = argument(call, usize::MAX, "mask") else {
            return Some(String::new());
        };
        let mut text = String::new();
        let mut at = usize::from(mask.start());
        let mut other = false;
        each_expression(mask, &mut |it| {
            if let Some(name) = name_of(it) {
                if name == row_name {
                    text.push_str(&view.source.text[at..usize::from(it.start())]);
                    text.push_str(row);
                    at = usize::from(it.end());
                } else {
                    other |= grid.contains_key(name);
                }
            }
        });
        text.push_str(view.source.text.get(at..usize::from(mask.end()))?);
        (!other).then(|| format!(", mask={text}"))
    };
    let nl = &view.nl;
    let (start, indent) = view.source.line_start(statement)?;
    let row = view.source.fresh("row");
    let place_of = view.source.fresh("place");
    let masked = mask(&row)?;
    let passes = |into: &str, columns: i64, count: i64, operand: &dyn Fn(i64) -> String| {
        let grid = format!(
            "{indent}{row}, {place_of} = {nl}.mgrid[0:{}, 0:{columns}]\n",
            rows.size
        );
        let index = format!("[{row}, {place_of}]");
        let steps = Steps {
            op,
            index,
            columns,
            masked: &masked,
            in_psum,
        };
        grid + &steps.text(view, indent, into, (rows.size, count), operand)
    };
    let down = view.source.fresh("down");
    let result = view.source.fresh("result");
    let mut text = passes(&down, width, layer.size, &|at| {
        format!("{tile}[{row}, {at}, {place_of}]")
    });
    text.push_str(&passes(&result, along.size, shift.size, &|at| match at {
        0 => format!("{down}[{row}, {place_of}]"),
        _ => format!("{down}[{row}, {place_of} + {at}]"),
    }));
    let mut edits = Edits::default();
    edits.insert(start, text);
    edits.replace(statement.value.range(), result);
    let line = view.line(statement);
    Some(Change {
        line,
        variant: match in_psum {
            true => format!("{name} in psum"),
            false => name.to_owned(),
        },
        sentence: format!(
            "Take the windows of line {line} apart: down the {} rows first, then along {} columns, two tiles at a time{}.",
            layer.size,
            shift.size,
            if in_psum {
                ", with what lies between in PSUM"
            } else {
                ""
            }
        ),
        source: view.source.finish(edits)?,
    })
}

/// The names that the last index grid before a statement gives to its axes.
pub(super) fn grid_before<'t>(
    view: &View<'_>,
    place: Place<'t>,
) -> Option<BTreeMap<&'t str, Axis>> {
    for statement in place.block[..place.at].iter().rev() {
        let Stmt::Assign(it) = statement else {
            continue;
        };
        let ([Expr::Tuple(names)], Expr::Subscript(grid)) =
            (it.targets.as_slice(), it.value.as_ref())
        else {
            continue;
        };
        if view.source.path(&grid.value).as_deref() != Some("nl.mgrid") {
            continue;
        }
        let Value::Tuple(axes) = view.shapes.value(&it.value) else {
            return None;
        };
        let Some(Value::Index(sizes)) = axes.first() else {
            return None;
        };
        let names = names.elts.iter().map(name_of);
        let axes = names.zip(sizes).enumerate();
        return axes
            .map(|(number, (name, size))| {
                Some((
                    name?,
                    Axis {
                        number,
                        size: *size,
                    },
                ))
            })
            .collect();
    }
    None
}

/// The axes over which a call reduces.
pub(super) fn reduced_axes(view: &View<'_>, call: &ExprCall) -> Option<Vec<usize>> {
    let Value::Tuple(axes) = view.shapes.value(argument(call, 1, "axis")?) else {
        return None;
    };
    let axis = |it: &Value| usize::try_from(it.whole()?).ok();
    axes.iter().map(axis).collect()
}
