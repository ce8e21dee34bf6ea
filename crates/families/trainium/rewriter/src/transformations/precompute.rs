//! What several iterations of an outer loop compute alike, one tile for each iteration of an
//! inner one, is computed once before the outer loop and stays in SBUF: turned weights, spread
//! rows, scaled tiles.

use ruff_python_ast::{Expr, Stmt, StmtFor};
use ruff_text_size::Ranged;

use super::super::operation::View;
use super::super::shapes::Memory;
use super::super::source::{Edits, each_expression, names_in};
use super::hoist::is_pure;
use super::{Change, changes_in_first_dialect};

/// Bytes in each partition that kept tiles may take.
const MOST_BYTES: i64 = 96 << 10;

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    changes_in_first_dialect(view, |found, place, loops| {
        let value = match place.statement() {
            Stmt::Assign(it) => &it.value,
            Stmt::AugAssign(it) => &it.value,
            Stmt::Expr(it) => &it.value,
            _ => return,
        };
        for depth in 0..loops.len().saturating_sub(1) {
            let mut parts: Vec<&Expr> = Vec::new();
            each_expression(value, &mut |it| {
                if parts
                    .iter()
                    .any(|part| part.range().contains_range(it.range()))
                {
                    return;
                }
                if let Some(change) = kept(view, it, &loops[depth..]) {
                    parts.push(it);
                    found.push(change);
                }
            });
        }
    })
}

/// Computes `expression` for all iterations of the loops that it depends on before the first.
fn kept(view: &View<'_>, expression: &Expr, loops: &[&StmtFor]) -> Option<Change> {
    let Expr::Call(call) = expression else {
        return None;
    };
    let tile = view.shapes.tile(expression)?;
    // Loads alone have a transformation of their own, which widens them as well.
    if view.source.path(&call.func).as_deref() == Some("nl.load") || tile.memory != Memory::Sbuf {
        return None;
    }
    let dtype = tile.dtype.as_deref()?;
    if !is_pure(view, expression) {
        return None;
    }
    let names = names_in(expression);
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
    let columns = tile.free() * blocks.iter().map(|it| it.1).product::<i64>();
    if blocks.is_empty() || free == 0 || !settled || MOST_BYTES < columns * 4 {
        return None;
    }
    let nl = &view.nl;
    let kept = view.source.fresh("precomputed");
    let (start, indent) = view.source.line_start(outer)?;
    let mut shape: Vec<String> = blocks.iter().map(|it| it.1.to_string()).collect();
    shape.push(format!("{nl}.par_dim({})", tile.shape.first()?));
    shape.extend(tile.shape.iter().skip(1).map(i64::to_string));
    let mut text = format!(
        "{indent}{kept} = {nl}.ndarray(({}), dtype={nl}.{dtype}, buffer={nl}.sbuf)\n",
        shape.join(", ")
    );
    let mut deep = indent.to_owned();
    for (variable, trips) in &blocks {
        text.push_str(&format!(
            "{deep}for {variable} in {nl}.affine_range({trips}):\n"
        ));
        deep.push_str("    ");
    }
    let index: Vec<&str> = blocks.iter().map(|it| it.0).collect();
    let index = index.join(", ");
    text.push_str(&format!(
        "{deep}{kept}[{index}] = {}\n",
        view.text(expression)
    ));
    let mut edits = Edits::default();
    edits.insert(start, text);
    edits.replace(expression.range(), format!("{kept}[{index}]"));
    let source = view.source.finish(edits)?;
    let line = view.line(expression);
    let variable = view.text(outer.target.as_ref());
    Some(Change {
        line,
        variant: format!("{} before {variable}", view.text(expression)),
        sentence: format!(
            "Compute `{}` of line {line} for all {} tiles before the loop `{variable}` and keep them in SBUF.",
            view.text(expression),
            blocks.iter().map(|it| it.1).product::<i64>()
        ),
        source,
    })
}
