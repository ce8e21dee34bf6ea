//! Rows that are multiplied or divided before a product are so after it, where there are fewer
//! columns: `(d W) V = d (W V)` for a column `d`.
//!
//! The weights are turned on the matrix engine on their way to being its stationary operand, so
//! that rows of weights are rows of the result.

use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::{Operation, View, argument};
use super::super::source::{Edits, base_of, each_expression, name_of};
use super::{Change, changes_in_first_dialect, each_place, each_site};

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    changes_in_first_dialect(view, |found, place, _| {
        let Stmt::Assign(it) = place.statement() else {
            return;
        };
        let [target] = it.targets.as_slice() else {
            return;
        };
        if let Some(name) = name_of(target) {
            found.extend(deferred(view, name, it));
        }
    })
}

fn deferred(view: &View<'_>, name: &str, made: &ruff_python_ast::StmtAssign) -> Option<Change> {
    let Operation::Scalar {
        op: op @ ("multiply" | "divide"),
        data,
        operand,
        reverse,
    } = view.operation(&made.value)?
    else {
        return None;
    };
    let reversed = reverse && op == "divide";
    if reversed || view.shapes.tile(operand).is_none() || !view.shapes.constant(name) {
        return None;
    }
    let weights = name_of(data)?;
    if !view.shapes.constant(weights) {
        return None;
    }
    let mut edits = Edits::default();
    // The factor needs a name of its own.
    let (start, indent) = view.source.line_start(made)?;
    let factor = match name_of(operand) {
        Some(factor) if view.shapes.constant(factor) => {
            edits.replace(view.source.lines(made)?, "");
            factor.to_owned()
        }
        _ => {
            let factor = view.source.fresh("factor");
            edits.replace(view.source.lines(made)?, "");
            edits.insert(
                start,
                format!("{indent}{factor} = {}\n", view.text(operand)),
            );
            factor
        }
    };
    let results = products_of(view, name)?;
    for read in view.shapes.read.get(name)? {
        edits.replace(*read, weights);
    }
    // Whoever reads a result reads it with the factor.
    let mut readers = 0;
    for result in &results {
        let after = |at: &TextRange| made.end() < at.start();
        if !view.shapes.bound.get(*result)?.iter().all(after) {
            return None;
        }
        each_site(view, |place, expression| {
            let whole = match place.statement() {
                Stmt::AugAssign(it) => base_of(&it.target) != Some(*result),
                _ => true,
            };
            if whole && name_of(expression) == Some(*result) && reads(expression) {
                edits.replace(
                    expression.range(),
                    format!("{}.{op}({result}, {factor})", view.nl),
                );
                readers += 1;
            }
        });
    }
    if readers == 0 {
        return None;
    }
    let line = view.line(made);
    let verb = match op {
        "divide" => "Divide",
        _ => "Multiply",
    };
    Some(Change {
        line,
        variant: name.to_owned(),
        sentence: format!(
            "{verb} the rows of line {line} by `{factor}` after the product with them, where there are fewer columns."
        ),
        source: view.source.finish(edits)?,
    })
}

fn reads(expression: &Expr) -> bool {
    matches!(expression, Expr::Name(it) if it.ctx.is_load())
}

/// The sums of products in which turned parts of `weights` are the stationary operand, if nothing
/// else reads them.
fn products_of<'t>(view: &'t View<'_>, weights: &str) -> Option<Vec<&'t str>> {
    let mut turned: Vec<&str> = Vec::new();
    let mut seen = 0;
    // Names of turned parts, and products that turn them on the spot.
    each_place(view, |place, _| {
        if let Stmt::Assign(it) = place.statement()
            && let [target] = it.targets.as_slice()
            && let Some(name) = name_of(target)
            && is_turned(view, &it.value, weights)
            && view.shapes.constant(name)
        {
            turned.push(name);
            seen += 1;
        }
    });
    let mut results: Vec<&str> = Vec::new();
    let mut used = 0;
    each_place(view, |place, _| {
        let Stmt::AugAssign(it) = place.statement() else {
            return;
        };
        let Expr::Call(call) = it.value.as_ref() else {
            return;
        };
        if view.source.path(&call.func).as_deref() != Some("nisa.nc_matmul") {
            return;
        }
        let (Some(stationary), Some(result)) =
            (argument(call, 0, "stationary"), name_of(&it.target))
        else {
            return;
        };
        let by_name = name_of(stationary).is_some_and(|it| turned.contains(&it));
        if by_name {
            used += 1;
        } else if is_turned(view, stationary, weights) {
            seen += 1;
        } else {
            return;
        }
        results.push(result);
    });
    // Every read of the weights is one of those, and every read of what is turned a product.
    let reads: usize = turned.iter().map(|it| view.shapes.reads(it)).sum();
    let all = view.shapes.reads(weights) == seen && reads == used;
    // Each sum holds nothing else.
    let mut alone = true;
    for result in &results {
        each_place(view, |place, _| {
            if let Stmt::AugAssign(it) = place.statement()
                && name_of(&it.target) == Some(*result)
            {
                let mut ours = false;
                each_expression(&it.value, &mut |it| {
                    ours |= name_of(it).is_some_and(|it| it == weights || turned.contains(&it));
                });
                alone &= ours;
            }
        });
    }
    results.dedup();
    (all && alone && !results.is_empty()).then_some(results)
}

/// Whether an expression is a part of `weights`, turned, below copies.
fn is_turned(view: &View<'_>, expression: &Expr, weights: &str) -> bool {
    let Expr::Call(call) = expression else {
        return false;
    };
    match view.source.path(&call.func).as_deref() {
        Some("nisa.nc_transpose" | "nl.transpose") => {
            argument(call, 0, "data").and_then(base_of) == Some(weights)
        }
        Some("nl.copy" | "nisa.tensor_copy") => {
            argument(call, 0, "src").is_some_and(|it| is_turned(view, it, weights))
        }
        _ => false,
    }
}
