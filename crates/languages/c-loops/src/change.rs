//! Changes of loops that need no knowledge of the commands in them. Each
//! returns the new statements; whether they compute the same is for the
//! caller to know.

use crate::statement::{Command, Loop, Statement};

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
