//! Loops that other changes cannot see through: over listed values, over few numbers that conditions
//! ask for, from another number than zero, and in list displays. They become statements one after the
//! other or counted loops from zero, which run the same instructions.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::{Expr, ExprContext, Stmt, StmtFor};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::View;
use super::super::shapes::Value;
use super::super::source::{
    Edits, each_expression, each_expression_in, each_statement, name_of, reindent,
};
use super::counted_loops::{counted, displayed};
use super::inline::is_simple;
use super::{Change, each_place, fresh};

/// Most iterations of a counted loop that is written out.
const FEW: i64 = 4;
/// Most statements that a loop becomes.
const LONGEST: usize = 64;

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut edits = Edits::default();
    let mut lines: Vec<usize> = Vec::new();
    let mut done: Vec<TextRange> = Vec::new();
    each_place(view, |place, _| {
        let mut add = |range: TextRange, text: String| {
            edits.replace(range, text);
            lines.push(view.line(place.statement()));
        };
        match place.statement() {
            Stmt::For(it) => {
                // The innermost loops first; those around them in the next round.
                let inner = it.body.iter().any(|it| has_loop_to_write_out(view, it));
                let range = view.source.lines(it);
                let (Some(range), false) = (range, inner) else {
                    return;
                };
                // What stands in a loop that changes has its turn in the next round.
                if done.iter().any(|it| it.contains_range(range)) {
                    return;
                }
                if let Some(text) = written_out(view, it).or_else(|| counted(view, it)) {
                    add(range, text);
                    done.push(range);
                }
            }
            Stmt::Assign(_) => {
                let inside = |it: &TextRange| it.contains_range(place.statement().range());
                if !done.iter().any(inside)
                    && let Some((range, text)) = displayed(view, place)
                {
                    add(range, text);
                }
            }
            _ => {}
        }
    });
    let change = view.source.finish(edits).map(|source| Change {
        line: lines.first().copied().unwrap_or(1),
        variant: "loops".to_owned(),
        sentence: format!(
            "Write out the loops over few or listed values, or count them from zero (lines {}).",
            lines
                .iter()
                .map(usize::to_string)
                .collect::<Vec<_>>()
                .join(", ")
        ),
        source,
    });
    change.into_iter().collect()
}

fn has_loop_to_write_out(view: &View<'_>, statement: &Stmt) -> bool {
    let mut found = false;
    each_statement(
        std::slice::from_ref(statement),
        &mut Vec::new(),
        &mut |place, _| {
            if let Stmt::For(it) = place.statement() {
                found |= written_out(view, it).is_some();
            }
        },
    );
    found
}

/// What a loop goes over: one text for each iteration and each name that it gives.
fn listed<'t>(view: &View<'_>, around: &'t StmtFor) -> Option<(Vec<&'t str>, Vec<Vec<String>>)> {
    let targets: Vec<&str> = match around.target.as_ref() {
        Expr::Tuple(it) => it.elts.iter().map(name_of).collect::<Option<_>>()?,
        other => vec![name_of(other)?],
    };
    let items = |it: &'t Expr| match it {
        Expr::Tuple(it) => Some(it.elts.as_slice()),
        Expr::List(it) => Some(it.elts.as_slice()),
        _ => None,
    };
    let text = |it: &Expr| view.text(it).to_owned();
    let rows: Vec<Vec<String>> = match around.iter.as_ref() {
        Expr::Call(call) => {
            let arguments = &call.arguments.args;
            match (name_of(&call.func)?, arguments.as_ref()) {
                ("enumerate", [of]) => {
                    let numbered = items(of)?.iter().enumerate();
                    numbered
                        .map(|(at, it)| vec![at.to_string(), text(it)])
                        .collect()
                }
                ("zip", [one, other]) => {
                    let pairs = items(one)?.iter().zip(items(other)?);
                    pairs.map(|(a, b)| vec![text(a), text(b)]).collect()
                }
                _ => {
                    let (from, count) = few_numbers(view, around)?;
                    (0..count).map(|at| vec![(from + at).to_string()]).collect()
                }
            }
        }
        other => {
            let row = |it: &'t Expr| -> Option<Vec<String>> {
                match targets.len() {
                    1 => Some(vec![text(it)]),
                    _ => Some(items(it)?.iter().map(text).collect()),
                }
            };
            items(other)?.iter().map(row).collect::<Option<_>>()?
        }
    };
    let fits = rows.iter().all(|it| it.len() == targets.len());
    (fits && !rows.is_empty()).then_some((targets, rows))
}

/// First number and count of a loop over numbers.
pub(super) fn range(view: &View<'_>, around: &StmtFor) -> Option<(i64, i64)> {
    let Expr::Call(call) = around.iter.as_ref() else {
        return None;
    };
    let first = view.source.first_dialect();
    let written_as_it_is = match view.source.path(&call.func) {
        Some(path) => {
            path == "nl.static_range"
                || (!first && ["nl.affine_range", "nl.sequential_range"].contains(&path.as_str()))
        }
        None => name_of(&call.func) == Some("range"),
    };
    if !written_as_it_is || !call.arguments.keywords.is_empty() {
        return None;
    }
    let number = |it: &Expr| view.shapes.value(it).whole();
    match call.arguments.args.as_ref() {
        [count] => Some((0, number(count)?)),
        [from, to] => Some((number(from)?, number(to)?.checked_sub(number(from)?)?)),
        _ => None,
    }
}

/// The same, if they are few and a condition, or a list in the loop, asks for the number.
fn few_numbers(view: &View<'_>, around: &StmtFor) -> Option<(i64, i64)> {
    let (from, count) = range(view, around)?;
    let variable = name_of(&around.target)?;
    let mut asked = false;
    let names = |it: &Expr| {
        let mut found = false;
        each_expression(it, &mut |it| found |= name_of(it) == Some(variable));
        found
    };
    each_statement(&around.body, &mut Vec::new(), &mut |place, _| {
        if let Stmt::If(it) = place.statement() {
            asked |= names(&it.test);
        }
    });
    for statement in &around.body {
        each_expression_in(statement, &mut |it| match it {
            Expr::If(it) => asked |= names(&it.test),
            Expr::Subscript(it) => {
                let listed = matches!(view.shapes.value(&it.value), Value::Tuple(_));
                asked |= listed && names(&it.slice);
            }
            _ => {}
        });
    }
    (asked && (1..=FEW).contains(&count)).then_some((from, count))
}

/// Whether a loop runs its statements from first to last each time.
fn is_straight(around: &StmtFor) -> bool {
    let mut straight = around.orelse.is_empty();
    each_statement(&around.body, &mut Vec::new(), &mut |place, _| {
        straight &= !matches!(
            place.statement(),
            Stmt::Break(_) | Stmt::Continue(_) | Stmt::Return(_) | Stmt::FunctionDef(_)
        );
    });
    for statement in &around.body {
        each_expression_in(statement, &mut |it| straight &= !it.is_lambda_expr());
    }
    straight
}

/// Names that an iteration gives to what it makes and nobody else knows.
fn own_names<'t>(view: &View<'_>, around: &'t StmtFor, targets: &[&str]) -> BTreeSet<&'t str> {
    let inside = around.range();
    let mut seen: BTreeMap<&str, bool> = BTreeMap::new();
    for statement in &around.body {
        let plain = matches!(statement, Stmt::Assign(_));
        // What an assignment reads comes before what it binds.
        for bound in [false, true] {
            each_expression_in(statement, &mut |it| {
                if let Expr::Name(name) = it
                    && (name.ctx == ExprContext::Store) == bound
                {
                    seen.entry(name.id.as_str()).or_insert(bound && plain);
                }
            });
        }
    }
    let within = |places: Option<&Vec<TextRange>>| {
        places.is_none_or(|it| it.iter().all(|at| inside.contains_range(*at)))
    };
    let own = seen.into_iter().filter(|(name, first)| {
        *first
            && !targets.contains(name)
            && within(view.shapes.bound.get(*name))
            && within(view.shapes.read.get(*name))
    });
    own.map(|it| it.0).collect()
}

/// Where a name stands in the body of a loop.
pub(super) fn places(around: &StmtFor, name: &str) -> Vec<TextRange> {
    let mut found = Vec::new();
    for statement in &around.body {
        each_expression_in(statement, &mut |it| {
            if name_of(it) == Some(name) {
                found.push(it.range());
            }
        });
    }
    found
}

/// The lines of a loop's body, and their indentation.
pub(super) fn body<'s>(view: &View<'s>, around: &StmtFor) -> Option<(TextRange, &'s str)> {
    let (start, indent) = view.source.line_start(around.body.first()?)?;
    let end = view.source.lines(around.body.last()?)?.end();
    let start = u32::try_from(start).ok()?.into();
    Some((TextRange::new(start, end), indent))
}

/// The iterations of a loop over few or listed values one after the other.
fn written_out(view: &View<'_>, around: &StmtFor) -> Option<String> {
    let (targets, rows) = listed(view, around)?;
    let mut statements = 0;
    each_statement(&around.body, &mut Vec::new(), &mut |_, _| statements += 1);
    if !is_straight(around) || LONGEST < statements * rows.len() {
        return None;
    }
    // Names of the loop that live on, or change in it, are left alone.
    for target in &targets {
        let inside = |at: &TextRange| around.range().contains_range(*at);
        let bound = view.shapes.bound.get(*target)?;
        let read = view.shapes.read.get(*target);
        if bound.iter().filter(|it| inside(it)).count() != 1
            || view.shapes.changed.get(*target).is_some_and(|it| it.iter().any(inside))
            // A later loop may give the name anew.
            || (bound.len() == 1 && read.is_some_and(|it| !it.iter().all(inside)))
        {
            return None;
        }
    }
    let own = own_names(view, around, &targets);
    let (range, deep) = body(view, around)?;
    let (_, indent) = view.source.line_start(around)?;
    let mut out = String::new();
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for (at, row) in rows.iter().enumerate() {
        let last = at + 1 == rows.len();
        let mut edits: Vec<(TextRange, String)> = Vec::new();
        for (target, value) in targets.iter().zip(row) {
            let at = places(around, target);
            let parsed = ruff_python_parser::parse_expression(value).ok()?;
            let expression = parsed.into_syntax().body;
            let number = value.bytes().all(|it| it.is_ascii_digit());
            if at.len() <= 1 || number || is_simple(&expression) {
                let plain = number || is_simple(&expression);
                let text = match plain || is_argument(around, at.first().copied()) {
                    true => value.clone(),
                    false => format!("({value})"),
                };
                edits.extend(at.into_iter().map(|it| (it, text.clone())));
            } else {
                let name = fresh(view, target, 1, &mut taken);
                out.push_str(&format!("{indent}{name} = {value}\n"));
                edits.extend(at.into_iter().map(|it| (it, name.clone())));
            }
        }
        for name in &own {
            if !last {
                let new = fresh(view, name, 1, &mut taken);
                let at = places(around, name).into_iter();
                edits.extend(at.map(|it| (it, new.clone())));
            }
        }
        out.push_str(&reindent(&view.source.edited(range, &edits)?, deep, indent));
    }
    Some(out)
}

/// Whether an expression is an argument of its own or the right side of an assignment, where no
/// brackets are needed.
fn is_argument(around: &StmtFor, range: Option<TextRange>) -> bool {
    let mut found = false;
    for statement in &around.body {
        each_expression_in(statement, &mut |it| {
            if let Expr::Call(call) = it {
                let named = call.arguments.keywords.iter().map(|it| it.value.range());
                let mut all = call.arguments.args.iter().map(Ranged::range).chain(named);
                found |= all.any(|it| Some(it) == range);
            }
        });
    }
    found
}
