//! The matrix engine gets bfloat16 operands.
//!
//! Fact: it takes four-byte operands at a quarter of the rate. Whether the tolerance allows it is
//! the evaluation's to say.

use std::collections::BTreeMap;

use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::{View, argument};
use super::super::source::{Edits, base_of};
use super::narrow_tiles::{NARROW_TYPES, is_spread};
use super::{Change, each_place, each_site, keyword_edit};

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    if !view.source.first_dialect() {
        return Vec::new();
    }
    NARROW_TYPES
        .iter()
        .flat_map(|it| changes_to(view, it))
        .collect()
}

fn changes_to(view: &View<'_>, dtype: &str) -> Vec<Change> {
    let mut found = Vec::new();
    let mut all: BTreeMap<(u32, u32), (TextRange, String)> = BTreeMap::new();
    let mut lines = Vec::new();
    each_site(view, |_, expression| {
        let Expr::Call(call) = expression else { return };
        if view.source.path(&call.func).as_deref() != Some("nisa.nc_matmul") {
            return;
        }
        let mut own: BTreeMap<(u32, u32), (TextRange, String)> = BTreeMap::new();
        for (at, name) in [(0, "stationary"), (1, "moving")] {
            let Some(operand) = argument(call, at, name) else {
                return;
            };
            let tile = view.shapes.tile(operand).filter(|it| !is_spread(it));
            let wide = tile.and_then(|it| it.dtype.as_deref()) == Some("float32");
            if !wide {
                continue;
            }
            match made_narrow(view, operand, dtype) {
                Some(edits) => own.extend(
                    edits
                        .into_iter()
                        .map(|it| ((it.0.start().into(), it.0.end().into()), it)),
                ),
                None => {
                    let text = format!(
                        "{0}.copy({1}, dtype={0}.{dtype})",
                        view.nl,
                        view.text(operand)
                    );
                    own.insert(
                        (operand.start().into(), operand.end().into()),
                        (operand.range(), text),
                    );
                }
            }
        }
        if own.is_empty() {
            return;
        }
        let line = view.line(expression);
        lines.push(line);
        all.extend(own.clone());
        found.extend(change(
            view,
            line,
            &own,
            dtype,
            format!("Give the product in line {line} {dtype} operands."),
        ));
    });
    if 1 < lines.len() {
        found.extend(change(
            view,
            lines[0],
            &all,
            dtype,
            format!("Give all products {dtype} operands."),
        ));
    }
    found
}

fn change(
    view: &View<'_>,
    line: usize,
    parts: &BTreeMap<(u32, u32), (TextRange, String)>,
    dtype: &str,
    sentence: String,
) -> Option<Change> {
    let mut edits = Edits::default();
    for (range, text) in parts.values() {
        edits.replace(*range, text.clone());
    }
    let source = view.source.finish(edits)?;
    Some(Change {
        line,
        variant: format!("{dtype} in {} places", parts.len()),
        sentence,
        source,
    })
}

/// Edits by which the tile that an operand names is made in a narrow type to begin with, if only
/// products and copies read it.
fn made_narrow(view: &View<'_>, operand: &Expr, dtype: &str) -> Option<Vec<(TextRange, String)>> {
    let name = base_of(operand)?;
    let reads = view.shapes.read.get(name)?;
    let mut matched = 0;
    each_site(view, |_, expression| {
        let Expr::Call(call) = expression else { return };
        if view.source.path(&call.func).as_deref() == Some("nisa.nc_matmul") {
            for (at, key) in [(0, "stationary"), (1, "moving")] {
                matched += usize::from(argument(call, at, key).and_then(base_of) == Some(name));
            }
        }
    });
    let writes = view.shapes.changed.get(name).map_or(0, Vec::len);
    if reads.len() != matched + writes {
        return None;
    }
    let mut edits = None;
    each_place(view, |place, _| {
        let Stmt::Assign(it) = place.statement() else {
            return;
        };
        if !matches!(it.targets.as_slice(), [Expr::Name(target)] if target.id.as_str() == name) {
            return;
        }
        let Expr::Call(call) = it.value.as_ref() else {
            return;
        };
        let Some(path) = view.source.path(&call.func) else {
            return;
        };
        let narrow = format!("{}.{dtype}", view.nl);
        edits = match path.as_str() {
            "nl.ndarray" | "nl.zeros" => {
                argument(call, 1, "dtype").map(|it| vec![(it.range(), narrow)])
            }
            "nl.load" | "nl.copy" | "nisa.tensor_copy" | "nisa.activation" | "nl.multiply"
            | "nl.add" | "nl.exp" | "nisa.tensor_scalar" | "nisa.tensor_tensor" => {
                Some(vec![keyword_edit(call, "dtype", &narrow)])
            }
            _ => None,
        };
    });
    edits
}
