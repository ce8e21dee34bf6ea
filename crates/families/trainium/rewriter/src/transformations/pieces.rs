//! What is computed and stored for a whole tile is done piece by piece along the columns, so that
//! the first piece is on its way out while later ones are computed, and what passes between two
//! instructions fits a bank of PSUM.
//!
//! The pieces begin at the first operation that needs nothing across columns and reach to the
//! store of their result.

use std::collections::BTreeSet;

use ruff_python_ast::{Expr, ExprContext, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::{Operation, View, argument, only};
use super::super::source::{Edits, Place, each_expression, name_of};
use super::windows::{Part, windows};
use super::{Change, changes_in_first_dialect, piece_stores};

/// Columns of a piece.
pub(super) const WIDTHS: &[i64] = &[512, 1024, 2048];

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    if !view.source.first_dialect() {
        return piece_stores::changes(view);
    }
    changes_in_first_dialect(view, |found, place, _| {
        for width in WIDTHS {
            found.extend(in_pieces(view, place, *width));
        }
    })
}

fn in_pieces(view: &View<'_>, place: Place<'_>, width: i64) -> Option<Change> {
    let Stmt::Expr(it) = place.statement() else {
        return None;
    };
    let Expr::Call(call) = it.value.as_ref() else {
        return None;
    };
    if view.source.path(&call.func)? != "nl.store" || !only(call, &["dst", "value"]) {
        return None;
    }
    let Expr::Subscript(target) = argument(call, 0, "dst")? else {
        return None;
    };
    let value = argument(call, 1, "value")?;
    let shape = view.shapes.tile(value)?.shape.clone();
    let [_, columns] = shape.as_slice() else {
        return None;
    };
    if columns % width != 0 || *columns <= width {
        return None;
    }
    let all = windows(view, target)?;
    let last = all.parts.len() - 1;
    let Part::Window(_, size) = &all.parts[last] else {
        return None;
    };
    if size != columns {
        return None;
    }
    // The statements that go into the pieces, from the store backwards.
    let mut inside: Vec<&Stmt> = vec![place.statement()];
    let mut open = vec![value];
    let mut taken: BTreeSet<&str> = BTreeSet::new();
    let mut computes = 0;
    while let Some(expression) = open.pop() {
        if let Some(name) = name_of(expression) {
            let made = view.made_by(place, expression, false);
            if let Some((made, Some(statement))) = made
                && view.shapes.tile(made).is_some_and(|it| it.shape == shape)
                && along_columns(view, made)
                && only_read_by(view, name, &inside)
                && !taken.contains(name)
            {
                taken.insert(name);
                inside.push(statement);
                open.push(made);
            }
            continue;
        }
        if !along_columns(view, expression) {
            return None;
        }
        computes += 1;
        operands(view, expression, &mut open);
    }
    if computes == 0 {
        return None;
    }
    inside.sort_by_key(|it| it.start());
    let nl = &view.nl;
    let piece = view.source.fresh("piece");
    let (_, indent) = view.source.line_start(place.statement())?;
    let window = |whole: &str| {
        format!(
            "{whole}[0:{}, {nl}.ds({piece} * {width}, {width})]",
            shape[0]
        )
    };
    let mut text = format!("{indent}for {piece} in {nl}.affine_range({columns} // {width}):\n");
    for statement in &inside {
        // Tiles from outside are read in part; the store goes to a part.
        let mut parts: Vec<(TextRange, String)> = Vec::new();
        let value = match statement {
            Stmt::Assign(it) => it.value.as_ref(),
            _ => value,
        };
        each_expression(value, &mut |it| {
            if let Expr::Name(name) = it
                && name.ctx == ExprContext::Load
                && !taken.contains(name.id.as_str())
                && view
                    .shapes
                    .tile(it)
                    .is_some_and(|tile| tile.shape.last() == Some(columns) && tile.shape.len() == 2)
            {
                let rows = view.shapes.tile(it).map_or(0, |tile| tile.shape[0]);
                parts.push((
                    it.range(),
                    window(name.id.as_str())
                        .replace(&format!("0:{},", shape[0]), &format!("0:{rows},")),
                ));
            }
        });
        if let Stmt::Expr(_) = statement {
            let moved = all.moving(last, &piece, width);
            parts.push((target.range(), moved.text(nl)));
        }
        let deep = format!("{indent}    ");
        text.push_str(&view.source.moved_with(*statement, &deep, &parts)?);
    }
    let mut edits = Edits::default();
    for statement in &inside {
        let new = if std::ptr::eq(*statement, place.statement()) {
            text.clone()
        } else {
            String::new()
        };
        edits.replace(view.source.lines(*statement)?, new);
    }
    let source = view.source.finish(edits)?;
    let line = view.line(place.statement());
    Some(Change {
        line,
        variant: width.to_string(),
        sentence: format!(
            "Compute and store what line {line} stores in {} pieces of {width} columns, so that transfers and engines overlap.",
            columns / width
        ),
        source,
    })
}

/// Whether each column of the result depends on the same column of the operands only.
fn along_columns(view: &View<'_>, expression: &Expr) -> bool {
    if let Expr::Call(call) = expression
        && let Some("nisa.scalar_tensor_tensor" | "nisa.tensor_scalar" | "nisa.tensor_tensor") =
            view.source.path(&call.func).as_deref()
    {
        return only(
            call,
            &[
                "data", "data1", "data2", "op", "op0", "op1", "operand0", "operand1", "reverse0",
                "reverse1", "engine",
            ],
        );
    }
    matches!(
        view.operation(expression),
        Some(
            Operation::Scalar { .. }
                | Operation::Tensor { .. }
                | Operation::Function { .. }
                | Operation::Reciprocal { .. }
                | Operation::Copy { .. }
        )
    )
}

/// The wide operands of an element-wise operation.
fn operands<'t>(view: &View<'_>, expression: &'t Expr, into: &mut Vec<&'t Expr>) {
    let wide = |it: &Expr| view.shapes.tile(it).is_some_and(|it| !it.is_column());
    match expression {
        Expr::BinOp(it) => into.extend(
            [it.left.as_ref(), it.right.as_ref()]
                .into_iter()
                .filter(|it| wide(it)),
        ),
        Expr::Call(call) => {
            let named = call.arguments.keywords.iter().map(|it| &it.value);
            into.extend(
                call.arguments
                    .args
                    .iter()
                    .chain(named)
                    .filter(|it| wide(it)),
            );
        }
        _ => {}
    }
}

/// Whether a name is read in these statements and nowhere else.
pub(super) fn only_read_by(view: &View<'_>, name: &str, statements: &[&Stmt]) -> bool {
    view.shapes.read.get(name).is_some_and(|it| {
        it.iter().all(|at| {
            statements
                .iter()
                .any(|statement| statement.range().contains_range(*at))
        })
    })
}
