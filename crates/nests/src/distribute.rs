//! Loops over several parts become loops over one part each, so that each can
//! be carried out in its own way.

use super::code::{Action, Element, Index, Loop, Named, Program, Statement, with_elements};
use super::jam::is_independent;
use super::nest::Nest;
use autocomp_c_loops::affine::Affine;
use autocomp_c_loops::statement::substitute;
use std::collections::BTreeMap;

/// Returns the body of a program with its loops split into parts; loops over
/// several parts, one of them a sum of products, take `strip` iterations at a time.
pub(super) fn distributed(
    program: &Program,
    strip: u32,
) -> Option<(Vec<Statement>, BTreeMap<String, Named>)> {
    let mut names = program.names.clone();
    let mut body = Vec::new();
    for statement in &program.body {
        match statement {
            Statement::Loop(outer) => {
                let outer = Loop {
                    body: split_all(&outer.body),
                    ..outer.clone()
                };
                match strip {
                    0 => body.push(Statement::Loop(outer)),
                    strip => body.push(stripped(&outer, strip, &mut names)?),
                }
            }
            other => body.push(other.clone()),
        }
    }
    Some((body, names))
}

/// Returns the numbers of iterations that loops over several parts may take at a time.
pub(super) fn strips(program: &Program) -> Vec<u32> {
    let outer = program.body.iter().find_map(|statement| match statement {
        Statement::Loop(outer) => {
            let body = split_all(&outer.body);
            let products = body.iter().any(|it| match it {
                Statement::Loop(inner) => Nest::read(inner, &program.names).is_some(),
                _ => false,
            });
            (1 < body.len() && products).then(|| outer.trips())
        }
        _ => None,
    });
    let Some(trips) = outer else {
        return Vec::new();
    };
    let sizes = [16, 32, 64, 128, trips];
    let fits = |size: &i64| trips % size == 0 && *size <= trips;
    let mut sizes: Vec<u32> = sizes
        .into_iter()
        .filter(fits)
        .filter_map(|it| u32::try_from(it).ok())
        .collect();
    sizes.dedup();
    sizes
}

/// Splits the loops in a list of statements.
fn split_all(statements: &[Statement]) -> Vec<Statement> {
    let of_statement = |statement: &Statement| match statement {
        Statement::Loop(inner) => {
            let inner = Loop {
                body: split_all(&inner.body),
                ..inner.clone()
            };
            split(&inner).into_iter().map(Statement::Loop).collect()
        }
        other => vec![other.clone()],
    };
    statements.iter().flat_map(of_statement).collect()
}

/// Splits a loop around a sum from what follows the sum, if the order of the
/// rest does not matter.
fn split(whole: &Loop) -> Vec<Loop> {
    let position = whole
        .body
        .iter()
        .position(|it| matches!(it, Statement::Loop(_)));
    let (Some(position), true) = (position, is_independent_but_for_scalars(whole)) else {
        return vec![whole.clone()];
    };
    let declared = |statements: &[Statement]| -> Vec<String> {
        let names = statements.iter().filter_map(|it| match it {
            Statement::Command(Action::Declare { name, .. }) => Some(name.clone()),
            _ => None,
        });
        names.collect()
    };
    // Behind the last statement that needs a variable of the sum, or of what follows it.
    let mut last = position;
    loop {
        let locals = declared(&whole.body[..=last]);
        let needs = |statement: &Statement| match statement {
            Statement::Command(action) => {
                let target = match action {
                    Action::Assign { target, .. } => Some(target),
                    Action::Declare { .. } => None,
                };
                let mut touched = action.reads().into_iter().chain(target);
                touched.any(|it| locals.contains(&it.name))
            }
            _ => true,
        };
        let next = whole.body.iter().rposition(needs).unwrap_or(position);
        if next <= last {
            break;
        }
        last = next;
    }
    if last + 1 == whole.body.len() || position == 0 {
        return vec![whole.clone()];
    }
    let part = |statements: &[Statement]| Loop {
        body: statements.to_vec(),
        ..whole.clone()
    };
    vec![part(&whole.body[..=last]), part(&whole.body[last + 1..])]
}

/// Returns whether iterations of a loop meet in variables only, and each of these is
/// touched by statements of the body's own level that follow the inner loop.
fn is_independent_but_for_scalars(whole: &Loop) -> bool {
    let mut scalars = Vec::new();
    let inner_loops: Vec<Statement> = whole
        .body
        .iter()
        .filter(|it| matches!(it, Statement::Loop(_)))
        .cloned()
        .collect();
    for statement in &whole.body {
        if let Statement::Command(action) = statement {
            let name = match action {
                Action::Declare { name, .. } => name,
                Action::Assign { target, .. } if target.indices.is_empty() => &target.name,
                Action::Assign { .. } => continue,
            };
            scalars.push(name.clone());
        }
    }
    let declared = |name: &String| {
        whole.body.iter().any(
            |it| matches!(it, Statement::Command(Action::Declare { name: own, .. }) if own == name),
        )
    };
    // What is carried from iteration to iteration must not be needed by the sum.
    let carried: Vec<&String> = scalars.iter().filter(|it| !declared(it)).collect();
    let inside = super::code::actions(&inner_loops);
    let free = inside
        .iter()
        .all(|(_, action)| action.reads().iter().all(|it| !carried.contains(&&it.name)));
    free && is_independent(whole, &scalars)
}

/// Takes `strip` iterations of a loop at a time: every statement of its body
/// becomes a loop over them, and variables become arrays.
fn stripped(outer: &Loop, strip: u32, names: &mut BTreeMap<String, Named>) -> Option<Statement> {
    let several = outer
        .body
        .iter()
        .filter(|it| matches!(it, Statement::Loop(_)))
        .count();
    if several < 2 || outer.step != 1 || outer.trips() % i64::from(strip) != 0 {
        return Some(Statement::Loop(outer.clone()));
    }
    let mut locals: Vec<(String, String, Vec<i64>)> = Vec::new();
    for statement in &outer.body {
        if let Statement::Command(Action::Declare {
            kind,
            name,
            extents,
            ..
        }) = statement
        {
            locals.push((name.clone(), kind.clone(), extents.clone()));
        }
    }
    let own: Vec<String> = locals.iter().map(|(name, ..)| name.clone()).collect();
    if !is_independent(outer, &own) {
        return None;
    }
    let at = format!("strip_{}", outer.variable);
    let expanded = |element: &Element| {
        let mut indices = Vec::new();
        if own.contains(&element.name) {
            indices.push(Index::Affine(Affine::variable(&at)));
        }
        indices.extend(element.indices.iter().cloned());
        Element {
            name: element.name.clone(),
            indices,
        }
    };
    let mut body = Vec::new();
    for (name, kind, extents) in &locals {
        let extents: Vec<i64> = std::iter::once(i64::from(strip))
            .chain(extents.iter().copied())
            .collect();
        body.push(Statement::Command(Action::Declare {
            // Too large for the stack, maybe.
            kind: format!("static {kind}"),
            name: name.clone(),
            extents: extents.clone(),
            value: None,
        }));
        let named = Named {
            kind: kind.clone(),
            extents,
        };
        names.insert(name.clone(), named);
    }
    let place = Affine::variable(&outer.variable).plus(&Affine::variable(&at))?;
    for statement in &outer.body {
        let statement = match statement {
            Statement::Command(Action::Declare { value: None, .. }) => continue,
            Statement::Command(Action::Declare {
                name,
                value: Some(value),
                ..
            }) => Statement::Command(Action::Assign {
                target: Element::variable(name),
                operator: None,
                value: value.clone(),
            }),
            other => other.clone(),
        };
        let changed = with_elements(&[statement], &expanded);
        let moved = substitute(&changed, &outer.variable, &place)?;
        body.push(Statement::Loop(Loop {
            variable: at.clone(),
            start: 0,
            end: i64::from(strip),
            step: 1,
            body: moved,
        }));
    }
    Some(Statement::Loop(Loop {
        step: i64::from(strip),
        body,
        ..outer.clone()
    }))
}
