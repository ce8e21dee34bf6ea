//! Loops as loops that count from zero: over lists of tiles, from another number, in steps, and in
//! list displays.

use ruff_python_ast::{Expr, Stmt, StmtFor};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::View;
use super::super::shapes::Value;
use super::super::source::{Place, each_expression, name_of};
use super::inline::{is_simple, own_function};
use super::write_out_loops::{body, places, range};

/// A loop over a list of tiles or from another number than zero, as one that counts from zero.
pub(super) fn counted(view: &View<'_>, around: &StmtFor) -> Option<String> {
    let (_, indent) = view.source.line_start(around)?;
    let (range_of_body, deep) = body(view, around)?;
    if !around.orelse.is_empty() {
        return None;
    }
    let length = |it: &Expr| match view.shapes.value(it) {
        Value::List(_, length) => Some(*length),
        _ => None,
    };
    if let Some((from, count)) = range(view, around)
        && from != 0
    {
        let variable = name_of(&around.target)?;
        let within = |it: &Vec<TextRange>| it.iter().all(|at| around.range().contains_range(*at));
        if !view.shapes.bound_once(variable) || !view.shapes.read.get(variable).is_none_or(within) {
            return None;
        }
        let Expr::Call(call) = around.iter.as_ref() else {
            return None;
        };
        let edits: Vec<(TextRange, String)> = places(around, variable)
            .into_iter()
            .map(|it| (it, format!("({variable} + {from})")))
            .collect();
        let text = view.source.edited(range_of_body, &edits)?;
        let kind = view.text(call.func.as_ref());
        return Some(format!(
            "{indent}for {variable} in {kind}({count}):\n{text}"
        ));
    }
    if let Some(text) = in_steps(view, around, range_of_body) {
        return Some(text);
    }
    let (number, item, list) = match (around.target.as_ref(), around.iter.as_ref()) {
        (target, list) if length(list).is_some() => (None, name_of(target)?, list),
        (Expr::Tuple(target), Expr::Call(call)) if name_of(&call.func) == Some("enumerate") => {
            let ([number, item], [list]) = (target.elts.as_slice(), call.arguments.args.as_ref())
            else {
                return None;
            };
            (Some(name_of(number)?), name_of(item)?, list)
        }
        _ => return None,
    };
    let (length, list) = (length(list)?, name_of(list)?);
    let counter = match number {
        Some(number) => number.to_owned(),
        None => view.source.fresh(&format!("{item}_at")),
    };
    let text = view.source.edited(range_of_body, &[])?;
    Some(format!(
        "{indent}for {counter} in range({length}):\n{deep}{item} = {list}[{counter}]\n{text}"
    ))
}

/// `for start in range(0, n, step)`, where it comes out even, as a loop that counts its steps.
fn in_steps(view: &View<'_>, around: &StmtFor, body: TextRange) -> Option<String> {
    let Expr::Call(call) = around.iter.as_ref() else {
        return None;
    };
    let ([from, to, step], true) = (
        call.arguments.args.as_ref(),
        call.arguments.keywords.is_empty(),
    ) else {
        return None;
    };
    let path = view.source.path(&call.func);
    let counts = match path.as_deref() {
        Some(path) => ["nl.affine_range", "nl.sequential_range", "nl.static_range"].contains(&path),
        None => name_of(&call.func) == Some("range"),
    };
    let number = |it: &Expr| view.shapes.value(it).whole();
    let (last, size) = (number(to)?, number(step)?);
    let even = 0 < size && 0 < last && last % size == 0 && number(from)? == 0;
    let variable = name_of(&around.target)?;
    let within = |it: &Vec<TextRange>| it.iter().all(|at| around.range().contains_range(*at));
    let own = view.shapes.bound_once(variable)
        && view.shapes.read.get(variable).is_none_or(within)
        && !view.shapes.changed.contains_key(variable);
    if !counts || !even || !own || !is_simple(to) || !is_simple(step) {
        return None;
    }
    let (to, step) = (view.text(to), view.text(step));
    let edits: Vec<(TextRange, String)> = places(around, variable)
        .into_iter()
        .map(|it| (it, format!("({variable} * {step})")))
        .collect();
    let (_, indent) = view.source.line_start(around)?;
    let text = view.source.edited(body, &edits)?;
    let kind = view.text(call.func.as_ref());
    Some(format!(
        "{indent}for {variable} in {kind}({to} // {step}):\n{text}"
    ))
}

/// `tiles = [function(x) for x in range(n)]` as a loop that appends.
pub(super) fn displayed(view: &View<'_>, place: Place<'_>) -> Option<(TextRange, String)> {
    let Stmt::Assign(made) = place.statement() else {
        return None;
    };
    let ([target], Expr::ListComp(list)) = (made.targets.as_slice(), made.value.as_ref()) else {
        return None;
    };
    let (name, [part]) = (name_of(target)?, list.generators.as_slice()) else {
        return None;
    };
    let mut calls = false;
    each_expression(&list.elt, &mut |it| {
        if let Expr::Call(call) = it {
            let path = view.source.path(&call.func);
            calls |= own_function(view, call).is_some()
                || path.is_some_and(|it| {
                    it.starts_with("nisa.") || it == "nl.ndarray" || it == "nl.load"
                });
        }
    });
    let variable = name_of(&part.target)?;
    if !calls || !part.ifs.is_empty() || part.is_async {
        return None;
    }
    // The name lives in the display only; a loop may be reading another one of this name.
    let counter = match view.shapes.bound_once(variable) {
        true => variable.to_owned(),
        false => view.source.fresh(&format!("{name}_at")),
    };
    let mut places = Vec::new();
    each_expression(&list.elt, &mut |it| {
        if name_of(it) == Some(variable) {
            places.push((it.range(), counter.clone()));
        }
    });
    let element = view.source.edited(list.elt.range(), &places)?;
    let (_, indent) = view.source.line_start(made)?;
    let item = view.source.fresh(&format!("{name}_item"));
    let text = format!(
        "{indent}{name} = []\n{indent}for {counter} in {}:\n{indent}    {item} = {element}\n{indent}    {name}.append({item})\n",
        view.text(&part.iter)
    );
    Some((view.source.lines(made)?, text))
}
