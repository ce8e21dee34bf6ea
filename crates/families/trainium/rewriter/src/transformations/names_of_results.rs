//! A name that is given to one result after the other stands for each of them in turn. Each result
//! gets a name of its own, so that it can be seen who makes and who reads it.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::View;
use super::super::source::{Edits, each_expression, each_expression_in, each_statement, name_of};
use super::{Change, each_place, fresh};

/// Where a name is given to a result: the statement, and the block it stands in.
struct Binding {
    /// The name itself.
    name: TextRange,
    statement: TextRange,
    block: TextRange,
}

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut bindings: BTreeMap<&str, Vec<Binding>> = BTreeMap::new();
    each_place(view, |place, _| {
        let (Stmt::Assign(made), Some(first), Some(last)) =
            (place.statement(), place.block.first(), place.block.last())
        else {
            return;
        };
        let block = TextRange::new(first.start(), last.end());
        for target in &made.targets {
            let names: Vec<&Expr> = match target {
                Expr::Tuple(it) => it.elts.iter().collect(),
                other => vec![other],
            };
            for it in names {
                if let Some(name) = name_of(it) {
                    bindings.entry(name).or_default().push(Binding {
                        name: it.range(),
                        statement: made.range(),
                        block,
                    });
                }
            }
        }
    });
    let inner = inner_names(view);
    let mut edits = Edits::default();
    let mut names: Vec<String> = Vec::new();
    let mut line = usize::MAX;
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for (name, bound) in &bindings {
        if inner.contains(*name) {
            continue;
        }
        if let Some(places) = apart(view, name, bound) {
            let mut all: Vec<String> = vec![(*name).to_owned()];
            for (number, at) in places {
                while all.len() <= number {
                    all.push(fresh(view, name, 2, &mut taken));
                }
                if number != 0 {
                    edits.replace(at, all[number].clone());
                }
            }
            names.push(format!("`{name}`"));
            line = line.min(view.line(&bound[0].statement));
        }
    }
    if names.is_empty() {
        return Vec::new();
    }
    let change = view.source.finish(edits).map(|source| Change {
        line,
        variant: "results".to_owned(),
        sentence: format!(
            "Give each result that {} stand for in turn a name of its own.",
            names.join(", ")
        ),
        source,
    });
    change.into_iter().collect()
}

/// Where a name stands, with the number of the result that it stands for there; `None` if that is
/// not the same in every iteration, or if there is one only.
fn apart(view: &View<'_>, name: &str, bound: &[Binding]) -> Option<Vec<(usize, TextRange)>> {
    let function = view.source.function();
    let mut parameters = function.parameters.iter_non_variadic_params();
    let given = parameters.any(|it| it.parameter.name.as_str() == name);
    let first = usize::from(given);
    if bound.len() + first < 2 || view.shapes.bound.get(name)?.len() != bound.len() {
        return None;
    }
    // A block in another one may run once more, with what it left.
    let whole = TextRange::new(function.body.first()?.start(), function.body.last()?.end());
    let nested = |a: TextRange, b: TextRange| a != b && a.contains_range(b);
    for one in bound {
        if bound.iter().any(|it| nested(one.block, it.block)) || (given && one.block != whole) {
            return None;
        }
    }
    let mut places: Vec<(usize, TextRange)> = Vec::new();
    for (number, it) in bound.iter().enumerate() {
        places.push((number + first, it.name));
    }
    for read in view.shapes.read.get(name).into_iter().flatten() {
        let before =
            |it: &Binding| it.block.contains_range(*read) && it.statement.end() <= read.start();
        let number = match bound.iter().rposition(before) {
            Some(at) => at + first,
            None if given => 0,
            None => return None,
        };
        places.push((number, *read));
    }
    Some(places)
}

/// Names that functions and lambdas inside the kernel use, which may run at any time.
fn inner_names<'t>(view: &'t View<'_>) -> BTreeSet<&'t str> {
    let mut names = BTreeSet::new();
    let body = &view.source.function().body;
    for statement in body {
        each_expression_in(statement, &mut |it| {
            if let Expr::Lambda(_) = it {
                each_expression(it, &mut |it| names.extend(name_of(it)));
            }
        });
    }
    each_statement(body, &mut Vec::new(), &mut |place, _| {
        if let Stmt::FunctionDef(_) | Stmt::ClassDef(_) = place.statement() {
            each_expression_in(place.statement(), &mut |it| names.extend(name_of(it)));
        }
    });
    names
}
