//! Reductions over pieces of columns whose results belong to the piece, as those of quantization in
//! blocks: with pieces of another size they would be other results.

use std::collections::BTreeSet;

use ruff_python_ast::{Expr, Stmt, StmtFor};
use ruff_text_size::Ranged;

use super::super::operation::{View, argument};
use super::super::shapes::Value;
use super::super::source::{base_of, each_expression_in, each_statement};

/// What makes one number of a row.
const REDUCTIONS: &[&str] = &[
    "nl.sum",
    "nl.max",
    "nl.min",
    "nl.mean",
    "nl.var",
    "nl.softmax",
    "nisa.tensor_reduce",
    "nisa.activation_reduce",
    "nisa.tensor_scalar_reduce",
    "nisa.max8",
];

/// Whether an iteration of a loop reduces the piece of `size` columns that it works on, and nothing
/// that outlives the iteration goes on with the result.
pub(super) fn stay_in_the_piece(view: &View<'_>, around: &StmtFor, size: i64) -> bool {
    if !moves_over_columns(view, around, size) {
        return false;
    }
    let mut results: BTreeSet<&str> = BTreeSet::new();
    let (mut any, mut carried) = (false, false);
    each_statement(&around.body, &mut Vec::new(), &mut |place, _| {
        let statement = place.statement();
        if matches!(
            statement,
            Stmt::For(_) | Stmt::If(_) | Stmt::While(_) | Stmt::With(_)
        ) {
            return;
        }
        let mut of_result = false;
        let mut targets: Vec<&Expr> = Vec::new();
        each_expression_in(statement, &mut |it| {
            of_result |= matches!(it, Expr::Name(name) if results.contains(name.id.as_str()));
            let Expr::Call(call) = it else { return };
            let reduces = view.source.path(&call.func);
            if reduces.is_some_and(|it| REDUCTIONS.contains(&it.as_str())) {
                let mut operands = call.arguments.args.iter();
                let data = ["data", "x", "src"].iter();
                let named = data.filter_map(|it| argument(call, usize::MAX, it));
                let wide = |it: &Expr| {
                    let tile = view.shapes.tile(it);
                    tile.is_some_and(|it| 1 < it.shape.len() && it.shape.last() == Some(&size))
                };
                if operands.any(wide) || named.into_iter().any(wide) {
                    (any, of_result) = (true, true);
                }
            }
            let written = ["dst", "reduce_res"].iter();
            targets.extend(written.filter_map(|it| argument(call, usize::MAX, it)));
        });
        match statement {
            Stmt::Assign(it) => targets.extend(&it.targets),
            Stmt::AugAssign(it) => targets.push(&it.target),
            _ => {}
        }
        // What is stored leaves the iteration, but no other one goes on with it.
        targets.retain(|it| !is_in_main_memory(view, it));
        if of_result {
            for target in targets {
                let Some(name) = base_of(target) else {
                    continue;
                };
                let bound = view.shapes.bound.get(name).into_iter().flatten();
                let mut outside = bound.filter(|at| !around.range().contains_range(**at));
                carried |= outside.next().is_some() && !is_piece(view, around, size, target);
                results.insert(name);
            }
        }
    });
    any && !carried
}

/// Whether an expression is a part of a tensor in main memory.
fn is_in_main_memory(view: &View<'_>, target: &Expr) -> bool {
    view.shapes.tensor(target).is_some() && view.shapes.tile(target).is_none()
}

/// Whether an expression is the piece of `size` columns of something that a loop is at.
fn is_piece(view: &View<'_>, around: &StmtFor, size: i64, expression: &Expr) -> bool {
    let Expr::Subscript(part) = expression else {
        return false;
    };
    let Expr::Tuple(parts) = part.slice.as_ref() else {
        return false;
    };
    let (Some(known), [_, .., last]) = (view.shapes.get_loop(around), parts.elts.as_slice()) else {
        return false;
    };
    match view.shapes.value(last) {
        Value::Window(start, length) => {
            *length == size && start.terms.get(&known.variable) == Some(&size)
        }
        _ => false,
    }
}

/// Whether a loop goes over pieces of `size` columns of something.
fn moves_over_columns(view: &View<'_>, around: &StmtFor, size: i64) -> bool {
    let mut found = false;
    for statement in &around.body {
        each_expression_in(statement, &mut |it| {
            found |= is_piece(view, around, size, it)
        });
    }
    found
}
