//! Iterations that were written out by hand, each with variables of its own, become iterations
//! again: schedules say how many of them are done at a time.

use super::super::code::{
    Action, Element, Expression, Index, Loop, Statement, actions, with_elements,
};
use autocomp_c_loops::affine::Affine;
use autocomp_c_loops::statement::substitute;
use std::collections::{BTreeMap, BTreeSet};

/// Iterations that are looked for in one, at most.
const MOST: i64 = 16;

/// Rolls up every loop that can be.
pub(crate) fn rolled(statements: &[Statement]) -> Vec<Statement> {
    let of = |statement: &Statement| match statement {
        Statement::Loop(inner) => {
            let inner = Loop {
                body: rolled(&inner.body),
                ..inner.clone()
            };
            Statement::Loop(roll(&inner).unwrap_or(inner))
        }
        other => other.clone(),
    };
    statements.iter().map(of).collect()
}

/// Returns a loop in steps of one that does the same; nothing if its body is not the same thing
/// for each of the iterations that a step takes.
fn roll(whole: &Loop) -> Option<Loop> {
    let variable = whole.variable.as_str();
    let step = whole.step;
    if whole.start != 0 || !(2..=MOST).contains(&step) {
        return None;
    }
    let whole = &Loop {
        body: without_copies(&whole.body),
        ..whole.clone()
    };
    let all = actions(&whole.body);
    let locals: BTreeSet<&str> = all
        .iter()
        .filter_map(|(_, action)| match action {
            Action::Declare { name, extents, .. } => extents.is_empty().then_some(name.as_str()),
            Action::Assign { .. } => None,
        })
        .collect();
    let reads: BTreeSet<&str> = all
        .iter()
        .flat_map(|(_, action)| action.reads())
        .map(|it| it.name.as_str())
        .collect();
    // Which iteration each store belongs to.
    let mut firsts: BTreeMap<&str, &Element> = BTreeMap::new();
    let mut iterations: Vec<Option<i64>> = Vec::new();
    for (loops, action) in &all {
        let target = match action {
            Action::Assign { target, .. } => target,
            Action::Declare { extents, .. } if extents.is_empty() => {
                iterations.push(None);
                continue;
            }
            Action::Declare { .. } => return None,
        };
        if locals.contains(target.name.as_str()) {
            iterations.push(None);
            continue;
        }
        let is_apart = |index: &Index| match index {
            Index::Affine(affine) => {
                affine.mentions(variable) && !loops.iter().any(|it| affine.mentions(it))
            }
            Index::Value(_) => false,
        };
        if reads.contains(target.name.as_str()) || !target.indices.iter().any(is_apart) {
            return None;
        }
        let first = *firsts.entry(&target.name).or_insert(target);
        let found = (0..step).find(|it| moved(first, variable, *it).as_ref() == Some(target));
        iterations.push(Some(found?));
    }
    let mut kept = BTreeSet::new();
    let slices = (0..step).map(|iteration| {
        let own = slice(&all, &locals, &iterations, iteration);
        let made = picked(&whole.body, &own, &mut 0);
        kept.extend(own);
        made
    });
    let slices: Vec<Vec<Statement>> = slices.collect();
    let first = slices.first()?;
    let is_same = (1..).zip(&slices[1..]).all(|(iteration, slice)| {
        let value = Affine::variable(variable).plus_constant(iteration);
        let own = value.and_then(|it| substitute(first, variable, &it));
        own.is_some_and(|own| renamed(&own, &locals) == renamed(slice, &locals))
    });
    (is_same && kept.len() == all.len()).then(|| Loop {
        body: first.clone(),
        end: whole.trips() * step,
        step: 1,
        ..whole.clone()
    })
}

/// Returns statements in which a variable begins with what another one began with, rather than
/// with that one.
fn without_copies(statements: &[Statement]) -> Vec<Statement> {
    let found = actions(statements);
    let targets: BTreeSet<&str> = found
        .iter()
        .filter_map(|(_, action)| match action {
            Action::Assign { target, .. } => Some(target.name.as_str()),
            Action::Declare { .. } => None,
        })
        .collect();
    // What variables hold since they were declared.
    let mut fresh: BTreeMap<&str, &Expression> = BTreeMap::new();
    let mut made = Vec::new();
    for statement in statements {
        match statement {
            Statement::Command(Action::Declare {
                kind,
                name,
                extents,
                value: Some(value),
            }) => {
                let first = match value {
                    Expression::Element(it) if it.indices.is_empty() => {
                        fresh.get(it.name.as_str()).copied().unwrap_or(value)
                    }
                    value => value,
                };
                let is_steady = |it: &&Element| !targets.contains(it.name.as_str());
                if first.reads().iter().all(is_steady) {
                    fresh.insert(name, first);
                }
                made.push(Statement::Command(Action::Declare {
                    kind: kind.clone(),
                    name: name.clone(),
                    extents: extents.clone(),
                    value: Some(first.clone()),
                }));
            }
            Statement::Command(Action::Declare { .. }) => made.push(statement.clone()),
            Statement::Loop(inner) => {
                fresh.clear();
                made.push(Statement::Loop(Loop {
                    body: without_copies(&inner.body),
                    ..inner.clone()
                }));
            }
            other => {
                fresh.clear();
                made.push(other.clone());
            }
        }
    }
    made
}

fn moved(element: &Element, variable: &str, by: i64) -> Option<Element> {
    let value = Affine::variable(variable).plus_constant(by)?;
    let action = Statement::Command(Action::Assign {
        target: element.clone(),
        operator: None,
        value: Expression::Number("0".into()),
    });
    match substitute(&[action], variable, &value)?.pop()? {
        Statement::Command(Action::Assign { target, .. }) => Some(target),
        _ => None,
    }
}

/// Returns the actions that the stores of an iteration need, and these.
fn slice(
    all: &[(Vec<String>, &Action)],
    locals: &BTreeSet<&str>,
    iterations: &[Option<i64>],
    iteration: i64,
) -> BTreeSet<usize> {
    let mut found: BTreeSet<usize> = (0..all.len())
        .filter(|it| iterations[*it] == Some(iteration))
        .collect();
    loop {
        let wanted: BTreeSet<&str> = found
            .iter()
            .flat_map(|it| all[*it].1.reads())
            .map(|it| it.name.as_str())
            .filter(|it| locals.contains(it))
            .collect();
        let before = found.len();
        found.extend(all.iter().enumerate().filter_map(|(idx, (_, action))| {
            let name = match action {
                Action::Declare { name, .. } => name,
                Action::Assign { target, .. } => &target.name,
            };
            wanted.contains(name.as_str()).then_some(idx)
        }));
        if found.len() == before {
            return found;
        }
    }
}

/// Returns the statements with these actions only, counted in the order of the text.
fn picked(statements: &[Statement], wanted: &BTreeSet<usize>, at: &mut usize) -> Vec<Statement> {
    let mut found = Vec::new();
    for statement in statements {
        match statement {
            Statement::Loop(inner) => {
                let body = picked(&inner.body, wanted, at);
                if !body.is_empty() {
                    found.push(Statement::Loop(Loop {
                        body,
                        ..inner.clone()
                    }));
                }
            }
            Statement::Command(_) => {
                if wanted.contains(at) {
                    found.push(statement.clone());
                }
                *at += 1;
            }
            other => found.push(other.clone()),
        }
    }
    found
}

/// Returns statements with their own variables named in the order of the text.
fn renamed(statements: &[Statement], locals: &BTreeSet<&str>) -> Vec<Statement> {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for (_, action) in actions(statements) {
        if let Action::Declare { name, .. } = action
            && locals.contains(name.as_str())
        {
            let number = names.len();
            names
                .entry(name.clone())
                .or_insert_with(|| format!("#{number}"));
        }
    }
    with_elements(statements, &|element| Element {
        name: names.get(&element.name).unwrap_or(&element.name).clone(),
        indices: element.indices.clone(),
    })
}
