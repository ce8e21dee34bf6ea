//! What every iteration computes or loads alike is done once before the loop.

use ruff_python_ast::{Expr, ExprContext, Stmt, StmtFunctionDef};
use ruff_text_size::Ranged;

use super::super::operation::View;
use super::super::shapes::Memory;
use super::super::source::{
    Edits, base_of, each_expression, each_expression_in, name_of, names_in,
};
use super::{Change, each_place};

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    each_place(view, |place, loops| {
        let Some(around) = loops.last() else { return };
        let inside = around.range();
        let invariant = |expression: &Expr| {
            names_in(expression)
                .into_iter()
                .all(|name| !view.shapes.touched(name, inside))
                && is_pure(view, expression)
        };
        let Some((start, indent)) = view.source.line_start(*around) else {
            return;
        };
        let variable = view.text(around.target.as_ref());
        let statement = place.statement();
        let (Stmt::Assign(_) | Stmt::Expr(_) | Stmt::AugAssign(_)) = statement else {
            return;
        };
        if let Stmt::Assign(it) = statement
            && let [target] = it.targets.as_slice()
            && let Some(name) = name_of(target)
            && std::ptr::eq(place.block, around.body.as_slice())
            && view.shapes.constant(name)
            && (view.shapes.tile(&it.value).is_some() || own_function(view, &it.value).is_some())
            && invariant(&it.value)
            && !is_written_later(view, &it.value)
        {
            let mut edits = Edits::default();
            let (Some(lines), Some(moved)) = (
                view.source.lines(statement),
                view.source.moved(statement, indent),
            ) else {
                return;
            };
            edits.insert(start, moved);
            edits.replace(lines, "");
            if let Some(source) = view.source.finish(edits) {
                found.push(Change {
                    line: view.line(statement),
                    variant: name.to_owned(),
                    sentence: format!("Make `{name}` once before the loop `{variable}` instead of in every iteration."),
                    source,
                });
            }
            return;
        }
        // The largest parts of the statement that stay the same.
        let value = match statement {
            Stmt::Assign(it) => &it.value,
            Stmt::AugAssign(it) => &it.value,
            Stmt::Expr(it) => &it.value,
            _ => return,
        };
        let mut parts: Vec<&Expr> = Vec::new();
        each_expression(value, &mut |it| {
            let new = !parts
                .iter()
                .any(|part| part.range().contains_range(it.range()));
            if new
                && matches!(it, Expr::Call(_))
                && !it.range().eq(&value.range())
                && view.shapes.tile(it).is_some()
                && invariant(it)
            {
                parts.push(it);
            }
        });
        for part in parts {
            let name = view.source.fresh("once");
            let mut edits = Edits::default();
            edits.insert(start, format!("{indent}{name} = {}\n", view.text(part)));
            edits.replace(part.range(), name);
            if let Some(source) = view.source.finish(edits) {
                found.push(Change {
                    line: view.line(part),
                    variant: view.text(part).to_owned(),
                    sentence: format!(
                        "Compute `{}` once before the loop `{variable}` instead of in every iteration.",
                        view.text(part)
                    ),
                    source,
                });
            }
        }
    });
    found
}

/// Whether an expression makes a tile of what it reads and does nothing else.
pub(super) fn is_pure(view: &View<'_>, expression: &Expr) -> bool {
    let mut pure = view
        .shapes
        .tile(expression)
        .is_none_or(|it| it.memory == Memory::Sbuf);
    each_expression(expression, &mut |it| {
        if let Expr::Call(call) = it {
            let path = view.source.path(&call.func);
            let known = match path.as_deref() {
                Some(path) => {
                    path.starts_with("nl.") || path.starts_with("nisa.") || path.starts_with("np.")
                }
                None if own_function(view, it).is_some() => true,
                None => {
                    matches!(call.func.as_ref(), Expr::Attribute(it) if ["reshape", "broadcast_to"].contains(&it.attr.as_str()))
                }
            };
            let writes = call
                .arguments
                .keywords
                .iter()
                .any(|it| matches!(it.arg.as_deref(), Some("dst" | "reduce_res" | "mask")));
            pure &=
                known && !writes && !matches!(path.as_deref(), Some("nl.store" | "nl.program_id"));
        }
    });
    pure
}

/// Whether an expression is a tile that an instruction has yet to write, as the second
/// dialect has them. Moved out of its loop, one tile would stand for those of all
/// iterations, which may be kept side by side.
fn is_written_later(view: &View<'_>, expression: &Expr) -> bool {
    let Expr::Call(call) = expression else {
        return false;
    };
    let new = view.source.path(&call.func).as_deref() == Some("nl.ndarray");
    // Functions of the file may return such a tile.
    !view.source.first_dialect() && (new || own_function(view, expression).is_some())
}

/// The function of the file that an expression calls, if it only makes tiles and returns them.
fn own_function<'v>(view: &'v View<'_>, expression: &Expr) -> Option<&'v StmtFunctionDef> {
    let Expr::Call(call) = expression else {
        return None;
    };
    let name = name_of(&call.func)?;
    let function = view.source.module().iter().find_map(|it| match it {
        Stmt::FunctionDef(it) if it.name.as_str() == name => Some(it),
        _ => None,
    })?;
    let mut makes = true;
    for statement in &function.body {
        makes &= !matches!(statement, Stmt::Global(_) | Stmt::Nonlocal(_));
        each_expression_in(statement, &mut |it| {
            if let Expr::Call(call) = it {
                makes &= view
                    .source
                    .path(&call.func)
                    .is_none_or(|it| it != "nl.store" && it != "nisa.dma_copy");
            }
        });
    }
    // A tile that is passed in could be written to.
    let parameters: Vec<&str> = function
        .parameters
        .iter_non_variadic_params()
        .map(|it| it.parameter.name.as_str())
        .collect();
    for statement in &function.body {
        each_expression_in(statement, &mut |it| {
            if let Expr::Subscript(it) = it
                && it.ctx == ExprContext::Store
                && base_of(&it.value).is_some_and(|it| parameters.contains(&it))
            {
                makes = false;
            }
        });
    }
    makes.then_some(function)
}
