//! Tiles are turned by the matrix engine instead of on their way from memory.
//!
//! Facts: a transfer that turns rows into columns moves single elements; the matrix engine turns
//! 128 x 128 of them in one pass into PSUM.

use ruff_python_ast::Expr;
use ruff_text_size::Ranged;

use super::super::operation::{View, argument, only};
use super::super::source::{Edits, Place, bound_call, name_of};
use super::windows::windows;
use super::{Change, changes_in_first_dialect, each_place};

/// Side of the matrix engine's array.
const SIDE: i64 = 128;

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    if !view.source.first_dialect() {
        let mut found = Vec::new();
        each_place(view, |place, _| found.extend(written(view, place)));
        return found;
    }
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
                let one = all.moving(all.partitions()?, &part, SIDE);
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

/// The same where a transfer writes to a tile: `nisa.dma_transpose(dst=tile, src=tensor[...])`.
fn written(view: &View<'_>, place: Place<'_>) -> Option<Change> {
    let instruction = view.written(place.statement())?;
    let Some(Expr::Subscript(src)) = argument(instruction.call, usize::MAX, "src") else {
        return None;
    };
    let plain = instruction.name == "dma_transpose" && only(instruction.call, &["dst", "src"]);
    let all = windows(view, src)?;
    let [rows, columns] = all.sizes()[..] else {
        return None;
    };
    let target = view.shapes.tile(instruction.dst)?;
    if !plain || SIDE < columns || target.shape != [columns, rows] {
        return None;
    }
    let View { nl, nisa, .. } = view;
    let tensor = all.tensor.to_owned();
    let (lying, turned) = (view.source.fresh("lying"), view.source.fresh("turned"));
    let (_, indent) = view.source.line_start(place.statement())?;
    let dst = view.text(instruction.dst);
    let (mut head, mut deep) = (String::new(), indent.to_owned());
    let (mut to, mut from, mut side) = (dst.to_owned(), view.text(src).to_owned(), rows);
    if SIDE < rows {
        if rows % SIDE != 0 || name_of(instruction.dst).is_none() {
            return None;
        }
        let part = view.source.fresh("part");
        from = all.moving(all.partitions()?, &part, SIDE).text(nl);
        to = format!("{dst}[0:{columns}, {nl}.ds({part} * {SIDE}, {SIDE})]");
        head = format!("{indent}for {part} in range({}):\n", rows / SIDE);
        deep.push_str("    ");
        side = SIDE;
    }
    let text = format!(
        "{head}{deep}{lying} = {nl}.ndarray(({side}, {columns}), dtype={tensor}.dtype, buffer={nl}.sbuf)\n\
         {deep}{nisa}.dma_copy(dst={lying}, src={from})\n\
         {deep}{turned} = {nl}.ndarray(({columns}, {side}), dtype={tensor}.dtype, buffer={nl}.psum)\n\
         {deep}{nisa}.nc_transpose(dst={turned}, data={lying})\n\
         {deep}{nisa}.tensor_copy(dst={to}, src={turned})\n"
    );
    let mut edits = Edits::default();
    edits.replace(view.source.lines(place.statement())?, text);
    let line = view.line(place.statement());
    Some(Change {
        line,
        variant: dst.to_owned(),
        sentence: format!(
            "Load what line {line} turns as it lies and turn it on the matrix engine."
        ),
        source: view.source.finish(edits)?,
    })
}
