//! Tiles are turned by the matrix engine instead of on their way from memory.
//!
//! Facts: a transfer that turns rows into columns moves single elements; the matrix engine turns
//! 128 x 128 of them in one pass into PSUM.

use ruff_python_ast::Expr;
use ruff_text_size::Ranged;

use super::super::operation::{View, argument, only};
use super::super::shapes::Affine;
use super::super::source::{Edits, bound_call};
use super::windows::{Part, windows};
use super::{Change, changes_in_first_dialect};

/// Side of the matrix engine's array.
const SIDE: i64 = 128;

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    changes_in_first_dialect(view, |found, place, _| {
        let Some((it, name, call)) = bound_call(place.statement()) else {
            return;
        };
        let turned = matches!(
            view.source.path(&call.func).as_deref(),
            Some("nl.load_transpose2d" | "nisa.dma_transpose")
        );
        if !turned || !only(call, &["src"]) {
            return;
        }
        let turn = || -> Option<Change> {
            let Some(Expr::Subscript(subscript)) = argument(call, 0, "src") else {
                return None;
            };
            let all = windows(view, subscript)?;
            let sizes = all.sizes();
            let [rows, columns] = sizes.as_slice() else {
                return None;
            };
            if SIDE < *columns {
                return None;
            }
            let View { nl, nisa, .. } = view;
            let mut edits = Edits::default();
            if *rows <= SIDE {
                let text = format!(
                    "{nl}.copy({nisa}.nc_transpose({nl}.load({})))",
                    view.text(subscript)
                );
                edits.replace(it.value.range(), text);
            } else {
                if rows % SIDE != 0 {
                    return None;
                }
                let part = view.source.fresh("part");
                let mut one = all.clone();
                let at = one.partitions()?;
                let mut start: Affine = one.parts[at].start().clone();
                start.terms.insert(part.clone(), SIDE);
                one.parts[at] = Part::Window(start, SIDE);
                let (_, indent) = view.source.line_start(it)?;
                let text = format!(
                    "{indent}{name} = {nl}.ndarray(({columns}, {rows}), dtype={}.dtype, buffer={nl}.sbuf)\n\
                     {indent}for {part} in {nl}.affine_range({}):\n\
                     {indent}    {name}[0:{columns}, {nl}.ds({part} * {SIDE}, {SIDE})] = {nisa}.nc_transpose({nl}.load({}))\n",
                    all.tensor,
                    rows / SIDE,
                    one.text(nl)
                );
                edits.replace(view.source.lines(it)?, text);
            }
            let source = view.source.finish(edits)?;
            let line = view.line(it);
            Some(Change {
                line,
                variant: name.to_owned(),
                sentence: format!(
                    "Load `{name}` in line {line} as it lies and turn it on the matrix engine."
                ),
                source,
            })
        };
        found.extend(turn());
    })
}
