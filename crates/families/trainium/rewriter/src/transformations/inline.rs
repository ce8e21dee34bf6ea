//! Calls of functions of the file give way to their bodies, so that what they do can be moved,
//! fused and kept like everything else.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::{Expr, ExprCall, ExprContext, Stmt, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::View;
use super::super::source::{
    Edits, Place, each_expression, each_expression_in, each_statement, name_of, reindent,
};
use super::{Change, each_place};

/// Most statements of a body that is put in place of a call.
const LONGEST: usize = 40;

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut used: BTreeSet<String> = BTreeSet::new();
    let mut see = |it: &Expr| {
        if let Expr::Name(name) = it {
            used.insert(name.id.to_string());
        }
    };
    for statement in &view.source.function().body {
        each_expression_in(statement, &mut see);
    }
    for statement in view.source.module() {
        if !matches!(statement, Stmt::FunctionDef(_)) {
            each_expression_in(statement, &mut see);
        }
    }
    used.extend(view.source.module().iter().filter_map(|it| match it {
        Stmt::FunctionDef(it) => Some(it.name.to_string()),
        _ => None,
    }));
    let mut edits = Edits::default();
    let mut names: BTreeSet<&str> = BTreeSet::new();
    let mut line = usize::MAX;
    each_place(view, |place, _| {
        if let Some((range, text, called)) = inlined(view, place, &mut used) {
            edits.replace(range, text);
            line = line.min(view.line(place.statement()));
            names.extend(called);
        }
    });
    if names.is_empty() {
        return Vec::new();
    }
    let list: Vec<String> = names.iter().map(|it| format!("`{it}`")).collect();
    let list = list.join(", ");
    let change = view.source.finish(edits).map(|source| Change {
        line,
        variant: "calls".to_owned(),
        sentence: format!("Write out what {list} do where they are called."),
        source,
    });
    change.into_iter().collect()
}

/// Lines, from 1, whose calls are written out before anything else.
pub(crate) fn written_out(view: &View<'_>) -> BTreeSet<usize> {
    let mut lines = BTreeSet::new();
    each_place(view, |place, _| {
        if inlined(view, place, &mut BTreeSet::new()).is_some() {
            lines.insert(view.line(place.statement()));
        }
    });
    lines
}

/// The text of a statement with the bodies of the functions that it calls before it.
fn inlined<'v>(
    view: &'v View<'_>,
    place: Place<'v>,
    used: &mut BTreeSet<String>,
) -> Option<(TextRange, String, Vec<&'v str>)> {
    let statement = place.statement();
    let value = match statement {
        Stmt::Assign(it) => it.value.as_ref(),
        Stmt::Expr(it) => it.value.as_ref(),
        Stmt::AugAssign(it) => it.value.as_ref(),
        _ => return None,
    };
    // The innermost calls come first; those around them in the next round.
    let mut calls: Vec<(&ExprCall, &StmtFunctionDef)> = Vec::new();
    let mut displays = false;
    each_expression(value, &mut |it| {
        displays |= it.is_list_comp_expr() || it.is_generator_expr() || it.is_lambda_expr();
        if let Expr::Call(call) = it
            && let Some(function) = own_function(view, call)
        {
            calls.retain(|(outer, _)| !outer.range().contains_range(call.range()));
            calls.push((call, function));
        }
    });
    let returns = |it: &StmtFunctionDef| matches!(it.body.last(), Some(Stmt::Return(_)));
    let alone = matches!(statement, Stmt::Expr(it) if calls.iter().any(|call| call.0.range() == it.value.range()));
    // What returns nothing stands alone.
    if displays || calls.is_empty() || !(alone || calls.iter().all(|it| returns(it.1))) {
        return None;
    }
    let (_, indent) = view.source.line_start(statement)?;
    let range = view.source.lines(statement)?;
    let mut before = String::new();
    let mut replaced: Vec<(TextRange, String)> = Vec::new();
    let mut named = false;
    for (call, function) in &calls {
        // Results that are all named need no other names.
        let targets = match statement {
            Stmt::Assign(it) if value.range() == call.range() => match it.targets.as_slice() {
                [target] => target_names(view, target),
                _ => None,
            },
            _ => None,
        };
        let body = Body::of(view, call, function, targets.as_deref(), used)?;
        before.push_str(&reindent(&body.text, body.indent, indent));
        named |= body.named;
        replaced.push((call.range(), body.result));
    }
    if !named {
        let end = statement.end();
        let last = view
            .source
            .edited(TextRange::new(statement.start(), end), &replaced)?;
        let tail = view.source.slice(&TextRange::new(end, range.end()));
        before.push_str(&format!("{indent}{last}{tail}"));
    }
    let called = calls.iter().map(|it| it.1.name.as_str()).collect();
    Some((range, before, called))
}

/// The names that a statement gives to results, if each is bound here only.
fn target_names<'t>(view: &View<'_>, target: &'t Expr) -> Option<Vec<&'t str>> {
    let names: Vec<&str> = match target {
        Expr::Tuple(it) => it.elts.iter().map(name_of).collect::<Option<_>>()?,
        other => vec![name_of(other)?],
    };
    let once = |it: &&str| view.shapes.bound_once(it);
    names.iter().all(once).then_some(names)
}

/// The function of the file that is called, if its statements can stand in place of the call.
pub(super) fn own_function<'v>(view: &'v View<'_>, call: &ExprCall) -> Option<&'v StmtFunctionDef> {
    let name = name_of(&call.func)?;
    let entry = view.source.function();
    let function = view.source.module().iter().find_map(|it| match it {
        Stmt::FunctionDef(it) if it.name.as_str() == name => Some(it),
        _ => None,
    })?;
    let body = statements(function);
    let (last, others) = body.split_last()?;
    let returns = matches!(last, Stmt::Return(it) if it.value.is_some());
    // A function that returns nothing is its statements.
    let others = if returns { others } else { body };
    let mut plain = entry.name != function.name && body.len() <= LONGEST;
    each_statement(others, &mut Vec::new(), &mut |place, _| {
        plain &= matches!(
            place.statement(),
            Stmt::Assign(_)
                | Stmt::AnnAssign(_)
                | Stmt::AugAssign(_)
                | Stmt::Assert(_)
                | Stmt::Expr(_)
                | Stmt::For(_)
                | Stmt::If(_)
        );
    });
    for statement in body {
        each_expression_in(statement, &mut |it| {
            // Names with a scope of their own.
            plain &= !matches!(
                it,
                Expr::Lambda(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_)
            );
            if let Expr::Call(inner) = it {
                plain &= name_of(&inner.func) != Some(name);
            }
        });
    }
    plain.then_some(function)
}

/// The statements of a function without its description.
fn statements(function: &StmtFunctionDef) -> &[Stmt] {
    match function.body.split_first() {
        Some((Stmt::Expr(it), rest)) if matches!(*it.value, Expr::StringLiteral(_)) => rest,
        _ => &function.body,
    }
}

/// A function's statements with names that fit where it is called.
struct Body<'s> {
    text: String,
    indent: &'s str,
    /// What stands for the call, unless its results are `named` as they were.
    result: String,
    named: bool,
}

impl<'s> Body<'s> {
    fn of(
        view: &View<'s>,
        call: &ExprCall,
        function: &StmtFunctionDef,
        targets: Option<&[&str]>,
        used: &mut BTreeSet<String>,
    ) -> Option<Self> {
        let body = statements(function);
        let (others, result) = match body.split_last()? {
            (Stmt::Return(last), others) => (others, last.value.as_deref()),
            _ => (body, None),
        };
        let mut locals: BTreeSet<&str> = BTreeSet::new();
        for statement in others {
            each_expression_in(statement, &mut |it| {
                if let Expr::Name(name) = it
                    && name.ctx == ExprContext::Store
                {
                    locals.insert(name.id.as_str());
                }
            });
        }
        let first = others.first().or(body.first())?;
        let (start, indent) = view.source.line_start(first)?;
        let mut text = String::new();
        let mut names: BTreeMap<&str, String> = BTreeMap::new();
        let parameters: Vec<_> = function.parameters.iter_non_variadic_params().collect();
        if parameters.len() < call.arguments.args.len()
            || call.arguments.args.iter().any(Expr::is_starred_expr)
        {
            return None;
        }
        for (at, parameter) in parameters.iter().enumerate() {
            let name = parameter.parameter.name.as_str();
            let named = call.arguments.keywords.iter();
            let named = named.map(|it| (it.arg.as_deref(), &it.value));
            let given = call.arguments.args.get(at).or_else(|| {
                let mut named = named.filter(|it| it.0 == Some(name));
                named.next().map(|it| it.1)
            });
            let argument = given.or(parameter.default.as_deref())?;
            if locals.contains(name) {
                return None;
            }
            if is_simple(argument) {
                names.insert(name, view.source.slice(argument).to_owned());
            } else {
                let fresh = unused(used, name);
                text.push_str(&format!(
                    "{indent}{fresh} = {}\n",
                    view.source.slice(argument)
                ));
                names.insert(name, fresh);
            }
        }
        let returned: Option<Vec<&str>> = match result {
            Some(Expr::Tuple(it)) => it.elts.iter().map(name_of).collect(),
            Some(other) => name_of(other).map(|it| vec![it]),
            None => None,
        };
        let taken = match (targets, returned) {
            (Some(targets), Some(returned)) => {
                let distinct: BTreeSet<&str> = returned.iter().copied().collect();
                let fits = targets.len() == returned.len()
                    && distinct.len() == returned.len()
                    && returned.iter().all(|it| locals.contains(it));
                fits.then(|| returned.into_iter().zip(targets.iter().copied()).collect())
            }
            _ => None,
        };
        let taken: BTreeMap<&str, &str> = taken.unwrap_or_default();
        for local in locals {
            let name = match taken.get(local) {
                Some(target) => (*target).to_owned(),
                None => unused(used, local),
            };
            names.insert(local, name);
        }
        let renamed = |within: &mut Vec<(TextRange, String)>, it: &Expr| {
            if let Expr::Name(name) = it
                && let Some(new) = names.get(name.id.as_str())
            {
                within.push((it.range(), new.clone()));
            }
        };
        let mut edits = Vec::new();
        for statement in others {
            each_expression_in(statement, &mut |it| renamed(&mut edits, it));
        }
        if let Some(final_statement) = others.last() {
            let end = view.source.lines(final_statement)?.end();
            let start = u32::try_from(start).ok()?.into();
            text.push_str(&view.source.edited(TextRange::new(start, end), &edits)?);
        }
        let Some(result) = result else {
            return Some(Self {
                text,
                indent,
                result: String::new(),
                named: true,
            });
        };
        let mut edits = Vec::new();
        each_expression(result, &mut |it| renamed(&mut edits, it));
        let mut result_text = view.source.edited(result.range(), &edits)?;
        if !matches!(
            result,
            Expr::Name(_) | Expr::Tuple(_) | Expr::Call(_) | Expr::Subscript(_)
        ) {
            result_text = format!("({result_text})");
        }
        Some(Self {
            text,
            indent,
            result: result_text,
            named: !taken.is_empty(),
        })
    }
}

/// Whether an expression may be evaluated wherever its value is needed.
pub(super) fn is_simple(expression: &Expr) -> bool {
    match expression {
        Expr::Name(_)
        | Expr::NumberLiteral(_)
        | Expr::StringLiteral(_)
        | Expr::BooleanLiteral(_) => true,
        Expr::Attribute(it) => is_simple(&it.value),
        Expr::Subscript(it) => {
            let mut plain = is_simple(&it.value);
            each_expression(&it.slice, &mut |it| plain &= !matches!(it, Expr::Call(_)));
            plain
        }
        _ => false,
    }
}

/// A name that is not used yet, and is from now on.
fn unused(used: &mut BTreeSet<String>, stem: &str) -> String {
    let mut name = stem.to_owned();
    let mut number = 1;
    while !used.insert(name.clone()) {
        number += 1;
        name = format!("{stem}_{number}");
    }
    name
}
