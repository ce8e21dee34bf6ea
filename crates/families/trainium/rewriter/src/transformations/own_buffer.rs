//! A tile that is made before a loop and filled anew in each iteration is made in the loop, so
//! that each iteration has one of its own and need not wait for the one before.

use ruff_python_ast::{Expr, Stmt, StmtFor};
use ruff_text_size::Ranged;

use super::super::operation::View;
use super::super::source::{Edits, bound_call, each_expression_in, name_of, names_in};
use super::{Change, each_place};

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    each_place(view, |place, _| {
        let Some((it, name, call)) = bound_call(place.statement()) else {
            return;
        };
        let made = view.source.path(&call.func).as_deref() == Some("nl.ndarray");
        if !made || view.shapes.tile(&it.value).is_none() {
            return;
        }
        // One loop of the block has every use of it.
        let uses = |around: &StmtFor| {
            let read = view.shapes.read.get(name);
            read.is_some_and(|it| it.iter().all(|at| around.range().contains_range(*at)))
        };
        let around = place.block[place.at..].iter().find_map(|it| match it {
            Stmt::For(around) if uses(around) => Some(around),
            _ => None,
        });
        let Some(around) = around else { return };
        if !written_first(view, around, name) {
            return;
        }
        let Some(first) = around.body.first() else {
            return;
        };
        let move_in = || -> Option<Change> {
            let (start, indent) = view.source.line_start(first)?;
            let mut edits = Edits::default();
            edits.replace(view.source.lines(place.statement())?, "");
            edits.insert(start, view.source.moved(place.statement(), indent)?);
            let source = view.source.finish(edits)?;
            let variable = view.text(around.target.as_ref());
            Some(Change {
                line: view.line(place.statement()),
                variant: name.to_owned(),
                sentence: format!(
                    "Give each iteration of the loop `{variable}` a tile `{name}` of its own."
                ),
                source,
            })
        };
        found.extend(move_in());
    });
    found
}

/// Whether the first statement of a loop that names a tile writes all of it.
fn written_first(view: &View<'_>, around: &StmtFor, name: &str) -> bool {
    let names = |it: &&Stmt| {
        let mut found = false;
        each_expression_in(it, &mut |it| found |= name_of(it) == Some(name));
        found
    };
    let Some(first) = around.body.iter().find(names) else {
        return false;
    };
    let filled = |it: &Expr| {
        let Expr::Subscript(part) = it else {
            return false;
        };
        let whole = |it: &Expr| match it {
            Expr::EllipsisLiteral(_) => true,
            Expr::Slice(it) => it.lower.is_none() && it.upper.is_none(),
            _ => false,
        };
        name_of(&part.value) == Some(name)
            && match part.slice.as_ref() {
                Expr::Tuple(it) => it.elts.iter().all(whole),
                other => whole(other),
            }
    };
    let value = match first {
        Stmt::Assign(it) if it.targets.iter().any(filled) => {
            return !names_in(&it.value).contains(&name);
        }
        Stmt::Assign(it) => &it.value,
        Stmt::Expr(it) => &it.value,
        _ => return false,
    };
    let Expr::Call(call) = value.as_ref() else {
        return false;
    };
    let path = view.source.path(&call.func);
    path.as_deref() == Some("nisa.activation_reduce")
        && call
            .arguments
            .keywords
            .iter()
            .any(|it| it.arg.as_deref() == Some("reduce_res") && name_of(&it.value) == Some(name))
}
