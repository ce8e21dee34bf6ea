//! Sums of products stay in PSUM instead of being added in SBUF.
//!
//! Facts: the matrix engine adds to what a bank holds for nothing; a bank has 2 KiB in each
//! partition.

use ruff_python_ast::{Expr, Operator, Stmt};
use ruff_text_size::Ranged;

use super::super::operation::{Operation, View, argument};
use super::super::shapes::Memory;
use super::super::source::{Edits, each_expression, name_of};
use super::{Change, changes_in_first_dialect, each_place, each_site};

/// Bytes of one bank in each partition.
const BANK: i64 = 2048;

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    changes_in_first_dialect(view, |found, place, _| {
        let Stmt::Assign(it) = place.statement() else {
            return;
        };
        let ([target], Expr::Call(call)) = (it.targets.as_slice(), it.value.as_ref()) else {
            return;
        };
        let Some(name) = name_of(target) else { return };
        let Some(tile) = view.shapes.tile(&it.value) else {
            return;
        };
        let zeros = view.source.path(&call.func).as_deref() == Some("nl.zeros");
        if !zeros || tile.memory != Memory::Sbuf || BANK < tile.free() * 4 {
            return;
        }
        let mut edits = Edits::default();
        let buffer = call
            .arguments
            .keywords
            .iter()
            .find(|it| it.arg.as_deref() == Some("buffer"));
        match buffer {
            Some(buffer) => edits.replace(buffer.value.range(), format!("{}.psum", view.nl)),
            None => edits.insert(
                usize::from(call.arguments.range.end()) - 1,
                format!(", buffer={}.psum", view.nl),
            ),
        }
        let mut products = 0;
        let mut other = false;
        let mut copies = Vec::new();
        each_place(view, |place, _| match place.statement() {
            Stmt::AugAssign(it) if base(&it.target) == Some(name) => {
                match product(view, &it.value).filter(|_| it.op == Operator::Add) {
                    Some(product) => {
                        products += 1;
                        edits.replace(it.value.range(), view.text(product));
                    }
                    None => other = true,
                }
            }
            Stmt::Assign(it)
                if it
                    .targets
                    .iter()
                    .any(|it| matches!(it, Expr::Subscript(_)) && base(it) == Some(name)) =>
            {
                let sum = match view.operation(&it.value) {
                    Some(Operation::Tensor { op: "add", a, b }) => [(a, b), (b, a)]
                        .into_iter()
                        .find(|(one, _)| base(one) == Some(name))
                        .and_then(|(_, it)| product(view, it)),
                    _ => None,
                };
                match sum {
                    Some(product) => {
                        products += 1;
                        edits.replace(it.range(), format!("{name} += {}", view.text(product)));
                    }
                    None => other = true,
                }
            }
            _ => {}
        });
        // Transfers do not reach PSUM.
        each_site(view, |_, expression| {
            if let Expr::Call(call) = expression
                && view.source.path(&call.func).as_deref() == Some("nl.store")
                && let Some(value) = argument(call, 1, "value")
                && base(value) == Some(name)
            {
                copies.push((
                    value.range(),
                    format!("{}.copy({})", view.nl, view.text(value)),
                ));
            }
        });
        if products == 0 || other {
            return;
        }
        for (range, text) in copies {
            edits.replace(range, text);
        }
        if let Some(source) = view.source.finish(edits) {
            found.push(Change {
                line: view.line(place.statement()),
                variant: name.to_owned(),
                sentence: format!(
                    "Sum the products of `{name}` in PSUM instead of adding them in SBUF."
                ),
                source,
            });
        }
    })
}

fn base(expression: &Expr) -> Option<&str> {
    super::super::source::base_of(expression)
}

/// The product that an expression is, below copies out of PSUM.
fn product<'t>(view: &View<'_>, expression: &'t Expr) -> Option<&'t Expr> {
    let mut found = None;
    each_expression(expression, &mut |it| {
        if let Expr::Call(call) = it
            && let Some("nisa.nc_matmul" | "nl.matmul") = view.source.path(&call.func).as_deref()
        {
            found = found.or(Some(it));
        }
    });
    let found = found?;
    let copied = matches!(view.operation(expression), Some(Operation::Copy { data }) if data.range() == found.range());
    (copied || found.range() == expression.range()).then_some(found)
}
