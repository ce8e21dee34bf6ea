//! A row that functions of the second dialect combine with tiles is spread over the partitions by
//! its load, instead of by the matrix engine before each of them.
//!
//! Fact: a transfer may read the same row for every partition.

use std::collections::BTreeSet;

use ruff_python_ast::Expr;
use ruff_text_size::Ranged;

use super::super::operation::{View, argument, arithmetic, only};
use super::super::shapes::Memory;
use super::super::source::{Edits, Place, bound_call, name_of};
use super::{Change, each_place, each_site};

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    if !view.source.first_dialect() {
        each_place(view, |place, _| found.extend(spread(view, place)));
    }
    found
}

fn spread(view: &View<'_>, place: Place<'_>) -> Option<Change> {
    let (made, name, call) = bound_call(place.statement())?;
    let load = view.source.path(&call.func)? == "nl.load" && only(call, &["src", "dtype"]);
    let source = argument(call, 0, "src")?;
    let row = view.shapes.tensor(source)?;
    if !load || !view.shapes.bound_once(name) || row.memory != Memory::Main {
        return None;
    }
    let [1, columns] = row.shape.as_slice() else {
        return None;
    };
    // Everybody who reads it combines it with tiles of as many rows.
    let mut rows: BTreeSet<i64> = BTreeSet::new();
    let mut operands = 0;
    each_site(view, |_, expression| {
        let Expr::Call(call) = expression else { return };
        let path = view.source.path(&call.func).unwrap_or_default();
        let function = path.strip_prefix("nl.").unwrap_or_default();
        let (true, Some(x), Some(y)) = (
            arithmetic(function).is_some(),
            argument(call, 0, "x"),
            argument(call, 1, "y"),
        ) else {
            return;
        };
        for (one, other) in [(x, y), (y, x)] {
            if name_of(one) == Some(name)
                && let Some(tile) = view.shapes.tile(other)
                && tile.shape.get(1) == Some(columns)
            {
                rows.insert(tile.shape[0]);
                operands += 1;
            }
        }
    });
    let [rows] = rows.into_iter().collect::<Vec<_>>()[..] else {
        return None;
    };
    if rows == 1 || operands != view.shapes.reads(name) {
        return None;
    }
    let mut edits = Edits::default();
    edits.insert(
        source.end().into(),
        format!(".broadcast_to(({rows}, {columns}))"),
    );
    Some(Change {
        line: view.line(made),
        variant: name.to_owned(),
        sentence: format!("Load the row `{name}` for all {rows} partitions."),
        source: view.source.finish(edits)?,
    })
}
