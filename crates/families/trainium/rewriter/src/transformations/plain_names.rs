//! Conditions that are known before the kernel runs give way to what they choose; names that only
//! repeat another name, and lists whose items have names, to these names.

use std::collections::BTreeMap;

use ruff_python_ast::{BoolOp, CmpOp, Expr, ExprContext, Stmt, StmtIf, UnaryOp};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::View;
use super::super::source::{Edits, Place, each_expression_in, name_of, names_in, reindent};
use super::{Change, each_place};

/// Conditions.
pub(super) fn conditions(view: &View<'_>) -> Vec<Change> {
    let mut edits = Edits::default();
    let mut line = usize::MAX;
    let mut done: Vec<TextRange> = Vec::new();
    each_place(view, |place, _| {
        let statement = place.statement();
        if done.iter().any(|it| it.contains_range(statement.range())) {
            return;
        }
        if let Stmt::If(it) = statement
            && let Some((range, text)) = chosen(view, it)
            // A block needs one statement at least.
            && (!text.is_empty() || 1 < place.block.len())
        {
            edits.replace(range, text);
            done.push(range);
            line = line.min(view.line(statement));
            return;
        }
        if matches!(statement, Stmt::Assign(_) | Stmt::Expr(_)) {
            let mut inside: Option<TextRange> = None;
            each_expression_in(statement, &mut |it| {
                if let Expr::If(choice) = it
                    && !inside.is_some_and(|at| at.contains_range(it.range()))
                    && let Some(truth) = truth(view, &choice.test)
                {
                    inside = Some(it.range());
                    let taken = if truth { &choice.body } else { &choice.orelse };
                    edits.replace(it.range(), view.text(taken.as_ref()));
                    line = line.min(view.line(statement));
                }
            });
        }
    });
    let change = view.source.finish(edits).map(|source| Change {
        line,
        variant: "conditions".to_owned(),
        sentence: "Leave out what conditions never choose.".to_owned(),
        source,
    });
    change.into_iter().collect()
}

/// The lines of a condition with what it chooses, indented as it was.
fn chosen(view: &View<'_>, it: &StmtIf) -> Option<(TextRange, String)> {
    let range = view.source.lines(it)?;
    let (_, indent) = view.source.line_start(it)?;
    let taken = |body: &[Stmt]| -> Option<String> {
        let (start, deep) = view.source.line_start(body.first()?)?;
        let end = view.source.lines(body.last()?)?.end();
        let text = view.source.text.get(start..end.into())?;
        Some(reindent(text, deep, indent))
    };
    if truth(view, &it.test)? {
        return Some((range, taken(&it.body)?));
    }
    for clause in &it.elif_else_clauses {
        let holds = match &clause.test {
            Some(test) => truth(view, test)?,
            None => true,
        };
        if holds {
            return Some((range, taken(&clause.body)?));
        }
    }
    Some((range, String::new()))
}

/// Whether a condition holds, if that is known.
fn truth(view: &View<'_>, test: &Expr) -> Option<bool> {
    match test {
        Expr::BooleanLiteral(it) => Some(it.value),
        Expr::UnaryOp(it) if it.op == UnaryOp::Not => Some(!truth(view, &it.operand)?),
        Expr::BoolOp(it) => {
            let ends = it.op == BoolOp::Or;
            for value in &it.values {
                if truth(view, value)? == ends {
                    return Some(ends);
                }
            }
            Some(!ends)
        }
        Expr::Compare(it) => {
            let ([op], [other]) = (it.ops.as_ref(), it.comparators.as_ref()) else {
                return None;
            };
            let (a, b) = (view.shapes.number(&it.left)?, view.shapes.number(other)?);
            match op {
                CmpOp::Eq => Some(a == b),
                CmpOp::NotEq => Some(a != b),
                CmpOp::Lt => Some(a < b),
                CmpOp::LtE => Some(a <= b),
                CmpOp::Gt => Some(a > b),
                CmpOp::GtE => Some(a >= b),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Names for names, and for items of lists.
pub(super) fn names(view: &View<'_>) -> Vec<Change> {
    let mut edits = Edits::default();
    let mut line = usize::MAX;
    let mut named: BTreeMap<&str, &str> = BTreeMap::new();
    each_place(view, |place, _| {
        let Stmt::Assign(made) = place.statement() else {
            return;
        };
        let [target] = made.targets.as_slice() else {
            return;
        };
        let mut gone: Vec<&Stmt> = vec![place.statement()];
        let pairs: Option<Vec<(&str, &str)>> = match (target, made.value.as_ref()) {
            (Expr::Name(_), Expr::Name(_)) => {
                name_of(target).zip(name_of(&made.value)).map(|it| vec![it])
            }
            (Expr::Tuple(targets), Expr::Name(list)) => {
                let found = listed(view, place, list.id.as_str());
                found.and_then(|(statements, items)| {
                    gone.extend(statements);
                    each_with(&targets.elts, items)
                })
            }
            (Expr::Tuple(targets), Expr::Tuple(values)) => {
                let values = values.elts.iter().map(name_of).collect::<Option<_>>();
                values.and_then(|it| each_with(&targets.elts, it))
            }
            _ => None,
        };
        let Some(pairs) = pairs else {
            if let Some((range, text)) = one_by_one(view, place) {
                edits.replace(range, text);
                named.entry("").or_default();
                line = line.min(view.line(made));
            }
            return;
        };
        let fits = pairs.iter().all(|(target, value)| {
            view.shapes.bound_once(target)
                && view.shapes.bound_once(value)
                && view.shapes.reads(target) != 0
                && !named.contains_key(value)
                && place.block[..place.at].iter().any(|it| binds(it, value))
        });
        let lines: Option<Vec<TextRange>> = gone.iter().map(|it| view.source.lines(*it)).collect();
        if let (true, Some(lines)) = (fits && gone.len() < place.block.len(), lines) {
            lines.into_iter().for_each(|it| edits.replace(it, ""));
            named.extend(pairs);
            line = line.min(view.line(made));
        }
    });
    if named.is_empty() {
        return Vec::new();
    }
    for statement in &view.source.function().body {
        each_expression_in(statement, &mut |it| {
            if let Expr::Name(name) = it
                && name.ctx == ExprContext::Load
                && let Some(new) = named.get(name.id.as_str())
            {
                edits.replace(it.range(), *new);
            }
        });
    }
    let change = view.source.finish(edits).map(|source| Change {
        line,
        variant: "names".to_owned(),
        sentence: "Call every tile by one name.".to_owned(),
        source,
    });
    change.into_iter().collect()
}

/// `a, b = x[i], y[i]` as statements of their own.
fn one_by_one(view: &View<'_>, place: Place<'_>) -> Option<(TextRange, String)> {
    let Stmt::Assign(made) = place.statement() else {
        return None;
    };
    let ([Expr::Tuple(targets)], Expr::Tuple(values)) =
        (made.targets.as_slice(), made.value.as_ref())
    else {
        return None;
    };
    let names: Vec<&str> = targets.elts.iter().map(name_of).collect::<Option<_>>()?;
    let apart = names.len() == values.elts.len()
        && !names_in(&made.value).iter().any(|it| names.contains(it))
        && !values.elts.iter().any(Expr::is_starred_expr);
    apart.then_some(())?;
    let (_, indent) = view.source.line_start(made)?;
    let mut out = String::new();
    for (name, value) in names.iter().zip(&values.elts) {
        out.push_str(&format!("{indent}{name} = {}\n", view.text(value)));
    }
    Some((view.source.lines(made)?, out))
}

fn each_with<'t>(targets: &'t [Expr], values: Vec<&'t str>) -> Option<Vec<(&'t str, &'t str)>> {
    if targets.len() != values.len() {
        return None;
    }
    let names: Vec<&str> = targets.iter().map(name_of).collect::<Option<_>>()?;
    Some(names.into_iter().zip(values).collect())
}

/// Whether a statement binds a name.
fn binds(statement: &Stmt, name: &str) -> bool {
    match statement {
        Stmt::Assign(it) => it.targets.iter().any(|it| name_of(it) == Some(name)),
        _ => false,
    }
}

/// The items of a list that is filled one by one with names in the block that unpacks it, with the
/// statements that do so.
fn listed<'t>(
    view: &View<'_>,
    place: Place<'t>,
    list: &str,
) -> Option<(Vec<&'t Stmt>, Vec<&'t str>)> {
    let before = &place.block[..place.at];
    let from = before.iter().position(|it| binds(it, list))?;
    let Stmt::Assign(made) = &before[from] else {
        return None;
    };
    let mut items: Vec<&str> = match made.value.as_ref() {
        Expr::List(it) => it.elts.iter().map(name_of).collect::<Option<_>>()?,
        _ => return None,
    };
    let mut statements = vec![&before[from]];
    for statement in &before[from + 1..] {
        if let Stmt::Expr(it) = statement
            && let Expr::Call(call) = it.value.as_ref()
            && let Expr::Attribute(method) = call.func.as_ref()
            && name_of(&method.value) == Some(list)
            && method.attr.as_str() == "append"
        {
            let [item] = call.arguments.args.as_ref() else {
                return None;
            };
            items.push(name_of(item)?);
            statements.push(statement);
        }
    }
    // Nobody else may know the list.
    (view.shapes.bound_once(list) && view.shapes.reads(list) == statements.len())
        .then_some((statements, items))
}
