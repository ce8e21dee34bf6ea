//! One operand of an operation on two tiles lies in PSUM.
//!
//! Fact: the vector engine streams two tiles out of SBUF at half the rate, one out of SBUF and
//! one out of PSUM at the full one. What fits is either made there to begin with, or copied there
//! by the scalar engine.

use std::collections::BTreeSet;

use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;

use super::super::operation::{Operation, View, argument};
use super::super::shapes::{Memory, Tensor};
use super::super::source::{Edits, Place, bound_call, name_of};
use super::{Change, each_place, each_site};

/// Bytes that one tile may take in each partition: half of all banks.
const MOST_BYTES: i64 = 8 << 10;
/// What makes tiles besides element-wise operations.
const MAKERS: &[&str] = &["nisa.scalar_tensor_tensor", "nisa.tensor_tensor_scan"];

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    let mut staged = BTreeSet::new();
    each_site(view, |place, expression| {
        let Some((a, b)) = two_tiles(view, expression) else {
            return;
        };
        let memory = |it: &Expr| view.shapes.tile(it).map(|it| it.memory);
        if memory(a) != Some(Memory::Sbuf) || memory(b) != Some(Memory::Sbuf) {
            return;
        }
        for (side, operand) in [("left", a), ("right", b)] {
            let Some(tile) = view.shapes.tile(operand) else {
                continue;
            };
            let narrow = tile.dtype.as_deref() != Some("float32");
            if narrow || MOST_BYTES < tile.free() * 4 || tile.shape.len() != 2 {
                continue;
            }
            if !view.source.first_dialect() {
                found.extend(placed_there(view, place, operand, side));
                continue;
            }
            found.extend(made_there(view, place, operand, tile, side));
            if let Some(name) = name_of(operand)
                && staged.insert(name)
            {
                found.extend(copied_there(view, name, tile));
            }
        }
    });
    // What is added to a tile is an operand like others.
    each_place(view, |place, _| {
        if let Stmt::AugAssign(it) = place.statement()
            && let Some(tile) = view.shapes.tile(&it.value)
            && view.shapes.tile(&it.target).map(|it| it.memory) == Some(Memory::Sbuf)
            && tile.memory == Memory::Sbuf
            && tile.dtype.as_deref() == Some("float32")
            && tile.free() * 4 <= MOST_BYTES
            && tile.shape.len() == 2
        {
            found.extend(made_there(view, place, &it.value, tile, "sum"));
        }
    });
    found
}

/// The tiles of an operation on two.
fn two_tiles<'t>(view: &View<'_>, expression: &'t Expr) -> Option<(&'t Expr, &'t Expr)> {
    if let Some(Operation::Tensor { a, b, .. }) = view.operation(expression) {
        return Some((a, b));
    }
    let Expr::Call(call) = expression else {
        return None;
    };
    (view.source.path(&call.func)? == "nisa.scalar_tensor_tensor").then_some(())?;
    Some((
        argument(call, usize::MAX, "data")?,
        argument(call, usize::MAX, "operand1")?,
    ))
}

fn bank(view: &View<'_>, name: &str, tile: &Tensor) -> String {
    let nl = &view.nl;
    format!(
        "{name} = {nl}.ndarray(({}, {}), dtype={nl}.float32, buffer={nl}.psum)\n",
        tile.shape[0], tile.shape[1]
    )
}

/// Whether what makes a tile can fill one in PSUM.
fn can_fill(view: &View<'_>, made: &Expr) -> bool {
    let path = match made {
        Expr::Call(call) => view.source.path(&call.func),
        _ => None,
    };
    view.operation(made).is_some() || path.is_some_and(|it| MAKERS.contains(&it.as_str()))
}

fn left_there(
    view: &View<'_>,
    made: &Expr,
    side: &str,
    name: &str,
    edits: Edits,
) -> Option<Change> {
    let source = view.source.finish(edits)?;
    let line = view.line(made);
    Some(Change {
        line,
        variant: format!("{side} {name}"),
        sentence: format!(
            "Let line {line} leave `{name}` in PSUM, from where the next operation reads at the full rate."
        ),
        source,
    })
}

/// An operand that an element-wise operation makes for this one alone.
fn made_there(
    view: &View<'_>,
    place: Place<'_>,
    operand: &Expr,
    tile: &Tensor,
    side: &str,
) -> Option<Change> {
    let (made, statement) = view.made_by(place, operand, true)?;
    can_fill(view, made).then_some(())?;
    let mut edits = Edits::default();
    let name = match (name_of(operand), statement) {
        (Some(name), Some(statement)) => {
            let (start, indent) = view.source.line_start(statement)?;
            edits.insert(start, format!("{indent}{}", bank(view, name, tile)));
            let Stmt::Assign(it) = statement else {
                return None;
            };
            edits.replace(it.targets.first()?.range(), format!("{name}[...]"));
            name.to_owned()
        }
        _ => {
            let name = view.source.fresh("in_psum");
            let (start, indent) = view.source.line_start(place.statement())?;
            edits.insert(
                start,
                format!(
                    "{indent}{}{indent}{name}[...] = {}\n",
                    bank(view, &name, tile),
                    view.text(made)
                ),
            );
            edits.replace(operand.range(), name.clone());
            name
        }
    };
    left_there(view, made, side, &name, edits)
}

/// The same in the second dialect: the tile that an operation fills is one of PSUM.
fn placed_there(view: &View<'_>, place: Place<'_>, operand: &Expr, side: &str) -> Option<Change> {
    let name = name_of(operand)?;
    let (made, _) = view.made_by(place, operand, false)?;
    can_fill(view, made).then_some(())?;
    let mut buffer = None;
    each_place(view, |place, _| {
        if let Some((_, made, call)) = bound_call(place.statement())
            && made == name
            && view.source.path(&call.func).as_deref() == Some("nl.ndarray")
        {
            buffer = argument(call, usize::MAX, "buffer");
        }
    });
    let mut edits = Edits::default();
    edits.replace(buffer?.range(), format!("{}.psum", view.nl));
    left_there(view, made, side, name, edits)
}

/// A tile that several operations read, or that a load brings.
fn copied_there(view: &View<'_>, name: &str, tile: &Tensor) -> Option<Change> {
    if !view.shapes.constant(name) {
        return None;
    }
    let View { nisa, .. } = view;
    let copy = view.source.fresh(&format!("{name}_in_psum"));
    let mut edits = Edits::default();
    let mut readers = 0;
    let mut whole: Option<Place<'_>> = None;
    each_place(view, |place, _| {
        if let Stmt::Assign(it) = place.statement()
            && let [target] = it.targets.as_slice()
            && name_of(target) == Some(name)
        {
            whole = Some(place);
        }
    });
    let made = whole?;
    each_site(view, |_, expression| {
        if let Some((a, b)) = two_tiles(view, expression) {
            let other = |it: &Expr| {
                view.shapes
                    .tile(it)
                    .is_some_and(|it| it.memory == Memory::Sbuf)
            };
            for (one, two) in [(a, b), (b, a)] {
                if name_of(one) == Some(name) && name_of(two) != Some(name) && other(two) {
                    edits.replace(one.range(), copy.clone());
                    readers += 1;
                }
            }
        }
    });
    if readers == 0 {
        return None;
    }
    let (_, indent) = view.source.line_start(made.statement())?;
    let end = usize::from(view.source.lines(made.statement())?.end());
    edits.insert(
        end,
        format!(
            "{indent}{}{indent}{copy}[...] = {nisa}.tensor_copy({name}, engine={nisa}.scalar_engine)\n",
            bank(view, &copy, tile)
        ),
    );
    let source = view.source.finish(edits)?;
    let line = view.line(made.statement());
    Some(Change {
        line,
        variant: format!("copy {name}"),
        sentence: format!(
            "Let the scalar engine copy `{name}` to PSUM, from where {readers} operations read it at the full rate."
        ),
        source,
    })
}
