//! In the second dialect a tile is made, and an instruction writes to it. What several iterations
//! of an outer loop write alike is written once before, and the tiles are kept in a list.

use ruff_python_ast::{Expr, Stmt, StmtFor};
use ruff_text_size::Ranged;

use super::super::operation::{View, argument};
use super::super::shapes::Memory;
use super::super::source::{Edits, Place, base_of, name_of, names_in};
use super::{Change, each_place};

/// Bytes in each partition that kept tiles may take.
const MOST_BYTES: i64 = 128 << 10;

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    if view.source.first_dialect() {
        return found;
    }
    each_place(view, |place, loops| {
        for depth in 0..loops.len() {
            found.extend(kept(view, place, &loops[depth..]));
        }
    });
    found
}

fn kept(view: &View<'_>, place: Place<'_>, loops: &[&StmtFor]) -> Option<Change> {
    let Stmt::Assign(made) = place.statement() else {
        return None;
    };
    let ([target], Expr::Call(call)) = (made.targets.as_slice(), made.value.as_ref()) else {
        return None;
    };
    let name = name_of(target)?;
    let tile = view.shapes.tile(&made.value)?;
    let is_new = view.source.path(&call.func)? == "nl.ndarray" && tile.memory == Memory::Sbuf;
    // Bound once, and written by one instruction of the same block.
    if !is_new
        || view.shapes.bound.get(name)?.len() != 1
        || view.shapes.changed.get(name)?.len() != 1
    {
        return None;
    }
    let writer = place.block[place.at + 1..].iter().find(|it| {
        let Stmt::Expr(it) = it else { return false };
        let Expr::Call(call) = it.value.as_ref() else {
            return false;
        };
        argument(call, usize::MAX, "dst").and_then(base_of) == Some(name)
    })?;
    let Stmt::Expr(written) = writer else {
        return None;
    };
    let Expr::Call(write) = written.value.as_ref() else {
        return None;
    };
    let whole = argument(write, usize::MAX, "dst").and_then(name_of) == Some(name);
    let pure = view
        .source
        .path(&write.func)
        .is_some_and(|it| it.starts_with("nisa."));
    if !whole
        || !pure
        || view.shapes.touched(
            name,
            ruff_text_size::TextRange::new(place.statement().end(), writer.start()),
        )
    {
        return None;
    }
    let mut names = names_in(&made.value);
    names.extend(names_in(&written.value));
    names.retain(|it| *it != name);
    let outer = *loops.first()?;
    let mut blocks = Vec::new();
    let mut free = 0;
    for it in loops {
        let known = view.shapes.get_loop(it)?;
        if names.contains(&known.variable.as_str()) {
            blocks.push((known.variable.as_str(), known.trips));
        } else {
            free += 1;
        }
    }
    let settled = names.iter().all(|name| {
        blocks.iter().any(|it| it.0 == *name) || !view.shapes.touched(name, outer.range())
    });
    let count: i64 = blocks.iter().map(|it| it.1).product();
    if free == 0 || !settled || MOST_BYTES < tile.free() * 4 * count {
        return None;
    }
    let (start, indent) = view.source.line_start(outer)?;
    let line = view.line(place.statement());
    let variable = view.text(outer.target.as_ref());
    let mut edits = Edits::default();
    if blocks.is_empty() {
        edits.insert(
            start,
            format!(
                "{}{}",
                view.source.moved(made, indent)?,
                view.source.moved(written, indent)?
            ),
        );
        edits.replace(view.source.lines(made)?, "");
    } else {
        let list = view.source.fresh(&format!("{name}_tiles"));
        let mut text = format!("{indent}{list} = []\n");
        let mut deep = indent.to_owned();
        for (variable, trips) in &blocks {
            text.push_str(&format!("{deep}for {variable} in range({trips}):\n"));
            deep.push_str("    ");
        }
        text.push_str(&view.source.moved(made, &deep)?);
        text.push_str(&view.source.moved(written, &deep)?);
        text.push_str(&format!("{deep}{list}.append({name})\n"));
        edits.insert(start, text);
        let mut index = String::new();
        for (variable, trips) in &blocks {
            index = match index.is_empty() {
                true => (*variable).to_owned(),
                false => format!("({index}) * {trips} + {variable}"),
            };
        }
        edits.replace(made.range(), format!("{name} = {list}[{index}]"));
    }
    edits.replace(view.source.lines(written)?, "");
    let source = view.source.finish(edits)?;
    Some(Change {
        line,
        variant: format!("{name} before {variable}"),
        sentence: format!(
            "Write `{name}` before the loop `{variable}`, {count} tiles of it, and keep them in SBUF."
        ),
        source,
    })
}
