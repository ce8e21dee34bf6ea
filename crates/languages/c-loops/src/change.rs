//! Changes of loops that need no knowledge of the commands in them. Each
//! returns the new statements; whether they compute the same is for the
//! caller to know.

use crate::affine::Affine;
use crate::statement::{Command, Loop, Statement, is_opaque, substitute};

/// Returns the loop that is the whole body of `outer`, comments aside.
#[must_use]
pub fn only_loop<C>(outer: &Loop<C>) -> Option<&Loop<C>> {
    let mut statements = outer
        .body
        .iter()
        .filter(|statement| !matches!(statement, Statement::Comment(_)));
    match (statements.next(), statements.next()) {
        (Some(Statement::Loop(inner)), None) => Some(inner),
        _ => None,
    }
}

/// Swaps `outer` with the loop that is its whole body.
#[must_use]
pub fn interchange<C: Command>(outer: &Loop<C>) -> Option<Loop<C>> {
    let inner = only_loop(outer)?;
    let new_inner = Loop {
        body: inner.body.clone(),
        ..outer.clone()
    };
    Some(Loop {
        body: vec![Statement::Loop(new_inner)],
        ..inner.clone()
    })
}

/// Splits a loop into an outer one and an inner one of `count` iterations,
/// whose variables have names that are not `taken`. The last round of the
/// outer loop must be a whole one.
#[must_use]
pub fn split<C: Command>(whole: &Loop<C>, count: i64, taken: &[String]) -> Option<Loop<C>> {
    if count < 2 || whole.trips() % count != 0 || is_opaque(&whole.body) {
        return None;
    }
    let outer_name = fresh_name(&whole.variable, "o", taken);
    let inner_name = fresh_name(&whole.variable, "i", taken);
    let stretch = whole.step.checked_mul(count)?;
    let value = Affine::variable(&outer_name).plus(&Affine::variable(&inner_name))?;
    let inner = Loop {
        variable: inner_name,
        start: 0,
        end: stretch,
        step: whole.step,
        body: substitute(&whole.body, &whole.variable, &value)?,
    };
    Some(Loop {
        variable: outer_name,
        start: whole.start,
        end: whole.end,
        step: stretch,
        body: vec![Statement::Loop(inner)],
    })
}

/// Returns a name for a part of a loop that no other variable has.
///
/// A part that is split again gets one letter more, as usual for schedules: `i_o` becomes
/// `i_oo` and `i_oi`.
pub fn fresh_name(variable: &str, suffix: &str, taken: &[String]) -> String {
    let is_part = variable
        .rsplit_once('_')
        .is_some_and(|(_, part)| !part.is_empty() && part.chars().all(|it| "oi".contains(it)));
    let joint = if is_part { "" } else { "_" };
    let mut name = format!("{variable}{joint}{suffix}");
    while taken.contains(&name) {
        name.push_str(suffix);
    }
    name
}

/// Repeats a loop's body `count` times in the text; by its trip count, the
/// loop itself goes.
#[must_use]
pub fn unroll<C: Command>(inner: &Loop<C>, count: i64) -> Option<Vec<Statement<C>>> {
    if count < 2 || inner.trips() % count != 0 || is_opaque(&inner.body) {
        return None;
    }
    let complete = count == inner.trips();
    let mut body = Vec::new();
    for copy in 0..count {
        let offset = copy.checked_mul(inner.step)?;
        let value = if complete {
            Affine::constant(inner.start.checked_add(offset)?)
        } else {
            Affine::variable(&inner.variable).plus_constant(offset)?
        };
        body.extend(substitute(&inner.body, &inner.variable, &value)?);
    }
    if complete {
        return Some(body);
    }
    let step = inner.step.checked_mul(count)?;
    Some(vec![Statement::Loop(Loop {
        body,
        step,
        ..inner.clone()
    })])
}

/// Joins two loops over the same range: each iteration does what those of
/// both did.
#[must_use]
pub fn join<C: Command>(first: &Loop<C>, second: &Loop<C>) -> Option<Loop<C>> {
    let same = (first.start, first.end, first.step) == (second.start, second.end, second.step);
    if !same || is_opaque(&first.body) || is_opaque(&second.body) {
        return None;
    }
    let mut body = first.body.clone();
    body.extend(substitute(
        &second.body,
        &second.variable,
        &Affine::variable(&first.variable),
    )?);
    if first.variable != second.variable && hides(&second.body, &first.variable) {
        return None;
    }
    Some(Loop {
        body,
        ..first.clone()
    })
}

/// Returns whether a loop inside has this variable.
fn hides<C>(statements: &[Statement<C>], variable: &str) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Loop(inner) => inner.variable == variable || hides(&inner.body, variable),
        Statement::Guard(guard) => {
            hides(&guard.then, variable) || hides(&guard.otherwise, variable)
        }
        _ => false,
    })
}
