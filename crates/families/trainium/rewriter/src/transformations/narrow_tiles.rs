//! Tiles that the matrix engine turns or multiplies are made in bfloat16 or tfloat32 to begin with.
//!
//! Fact: it multiplies float32 elements at a quarter of the rate and turns them at half of it. Who
//! else reads the tile reads it rounded; whether the tolerance allows it is the evaluation's to say.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::{View, argument};
use super::super::shapes::{Memory, Tensor};
use super::super::source::{Edits, base_of, bound_call, name_of, names_in};
use super::{Change, each_place, each_site, keyword_edit};

/// What makes a tile and takes its type by name.
const MAKERS: &[&str] = &[
    "nl.ndarray",
    "nl.zeros",
    "nl.load",
    "nl.copy",
    "nl.exp",
    "nl.add",
    "nl.subtract",
    "nl.multiply",
    "nl.divide",
    "nisa.activation",
    "nisa.activation_reduce",
    "nisa.tensor_copy",
    "nisa.tensor_scalar",
    "nisa.tensor_tensor",
    "nisa.scalar_tensor_tensor",
    "nisa.affine_select",
];

/// Types of which the matrix engine takes an operand in one pass. The narrower one is first: it saves
/// time on other engines, too.
pub(in super::super) const NARROW_TYPES: [&str; 2] = ["bfloat16", "tfloat32"];

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    NARROW_TYPES
        .iter()
        .flat_map(|it| changes_to(view, it))
        .collect()
}

fn changes_to(view: &View<'_>, dtype: &str) -> Vec<Change> {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    let mut places: Vec<(String, (TextRange, String), usize)> = Vec::new();
    each_site(view, |_, expression| {
        let Expr::Call(call) = expression else { return };
        let operands: &[(usize, &str)] = match view.source.path(&call.func).as_deref() {
            Some("nisa.nc_matmul") => &[(0, "stationary"), (1, "moving")],
            Some("nisa.nc_transpose") => &[(0, "data")],
            _ => return,
        };
        for (at, name) in operands {
            let Some(operand) = argument(call, *at, name) else {
                continue;
            };
            names.extend(base_of(operand));
            // What is loaded or computed right there.
            if let Expr::Call(made) = operand
                && is_wide(view, operand)
                && let Some(edit) = narrowed(view, made, dtype)
            {
                places.push((view.text(operand).to_owned(), edit, view.line(operand)));
            }
        }
    });
    each_place(view, |place, _| {
        if let Some((it, name, call)) = bound_call(place.statement())
            && names.contains(name)
            && is_wide(view, &it.value)
            && let Some(edit) = narrowed(view, call, dtype)
        {
            places.push((name.to_owned(), edit, view.line(it)));
        }
    });
    let mut found = Vec::new();
    let mut all: BTreeMap<u32, (TextRange, String)> = BTreeMap::new();
    for (name, edit, line) in &places {
        let mut edits = Edits::default();
        for (range, text) in turned_with(view, name, dtype)
            .into_iter()
            .chain([edit.clone()])
        {
            all.insert(range.start().into(), (range, text.clone()));
            edits.replace(range, text);
        }
        found.extend(view.source.finish(edits).map(|source| Change {
            line: *line,
            variant: format!("{dtype} of {name}"),
            sentence: format!("Make `{name}` in {dtype}, which the matrix engine takes faster."),
            source,
        }));
    }
    if 1 < places.len() {
        let mut edits = Edits::default();
        for (range, text) in all.into_values() {
            edits.replace(range, text);
        }
        found.extend(view.source.finish(edits).map(|source| Change {
            line: 1,
            variant: format!("{dtype} of all"),
            sentence: format!("Make all tiles that the matrix engine takes in {dtype}."),
            source,
        }));
    }
    found
}

/// In the second dialect: the edits by which tiles that parts of `name` are turned into have its type,
/// as they must.
fn turned_with(view: &View<'_>, name: &str, narrow: &str) -> Vec<(TextRange, String)> {
    let mut targets: BTreeSet<&str> = BTreeSet::new();
    each_place(view, |place, _| {
        if let Some(written) = view.written(place.statement())
            && written.name == "nc_transpose"
            && argument(written.call, usize::MAX, "data").and_then(base_of) == Some(name)
        {
            targets.extend(name_of(written.dst));
        }
    });
    let mut edits = Vec::new();
    each_place(view, |place, _| {
        if let Some((_, target, call)) = bound_call(place.statement())
            && targets.contains(target)
            && let Some(dtype) = argument(call, 1, "dtype")
            // A type that is taken from the tile follows it.
            && !names_in(dtype).contains(&name)
        {
            edits.push((dtype.range(), format!("{}.{narrow}", view.nl)));
        }
    });
    edits
}

/// Whether products with a tile only spread it: a row is no sum, and whoever reads what it becomes
/// reads each element rounded.
pub(super) fn is_spread(tile: &Tensor) -> bool {
    tile.shape.first() == Some(&1)
}

/// Whether an expression is a tile of four-byte elements in SBUF.
fn is_wide(view: &View<'_>, expression: &Expr) -> bool {
    view.shapes.tile(expression).is_some_and(|it| {
        it.memory == Memory::Sbuf
            && it.dtype.as_deref() == Some("float32")
            && !it.is_column()
            && !is_spread(it)
    })
}

/// The edit by which a call makes elements of a narrow type.
fn narrowed(view: &View<'_>, call: &ExprCall, dtype: &str) -> Option<(TextRange, String)> {
    let path = view.source.path(&call.func)?;
    if !MAKERS.contains(&path.as_str()) {
        return None;
    }
    let narrow = format!("{}.{dtype}", view.nl);
    if matches!(path.as_str(), "nl.ndarray" | "nl.zeros")
        && let Some(given) = call.arguments.args.get(1)
    {
        return Some((given.range(), narrow));
    }
    Some(keyword_edit(call, "dtype", &narrow))
}
