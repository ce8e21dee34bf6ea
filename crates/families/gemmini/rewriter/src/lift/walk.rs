//! Looks through statements without following them.

use super::calls::is_of_memory;
use super::program::{Expression, Program, Statement};
use std::collections::BTreeSet;

impl Expression {
    /// Returns the expressions that it is made of.
    fn parts(&self) -> Vec<&Self> {
        match self {
            Self::Unary(_, inner)
            | Self::Load(inner, _)
            | Self::Assign(_, inner)
            | Self::Replace(_, inner)
            | Self::Narrow(_, _, inner) => vec![inner],
            Self::Binary(_, both) | Self::Store(both, _) => vec![&both.0, &both.1],
            Self::Choice(parts) => vec![&parts.0, &parts.1, &parts.2],
            Self::Call(_, arguments, _) | Self::Command(_, arguments, _) => {
                arguments.iter().collect()
            }
            Self::Sequence(parts) => parts.iter().collect(),
            Self::Integer(_) | Self::Float(_) | Self::Variable(_) | Self::Refused(_) => Vec::new(),
        }
    }
}

impl Statement {
    fn expressions(&self) -> Vec<&Expression> {
        match self {
            Self::Expression(expression) | Self::If(expression, ..) => vec![expression],
            Self::Declare(_, value) | Self::Return(value) => value.iter().collect(),
            Self::Loop {
                condition, step, ..
            } => condition.iter().chain(step).collect(),
            Self::Block(_) | Self::Clear(..) | Self::Break | Self::Continue => Vec::new(),
        }
    }

    fn inner(&self) -> Vec<&Self> {
        match self {
            Self::If(_, then, otherwise) => then.iter().chain(otherwise).collect(),
            Self::Loop { body, .. } | Self::Block(body) => body.iter().collect(),
            _ => Vec::new(),
        }
    }
}

/// What statements do, by how they read.
#[derive(Debug, Default)]
pub(super) struct Habits {
    /// They send commands.
    pub(super) commands: bool,
    /// They have in them what is not understood.
    pub(super) refused: bool,
    /// They have loops or calls, or write to memory.
    pub(super) works: bool,
    /// Variables that they set.
    pub(super) sets: BTreeSet<usize>,
}

impl Habits {
    pub(super) fn of(statements: &[Statement], program: &Program) -> Self {
        let mut habits = Self::default();
        let mut waiting: Vec<(&Statement, bool)> = statements.iter().map(|it| (it, true)).collect();
        let mut expressions: Vec<(&Expression, bool)> = Vec::new();
        let mut seen = BTreeSet::new();
        loop {
            // Variables of functions that are called are others.
            if let Some((expression, is_own)) = expressions.pop() {
                match expression {
                    Expression::Command(name, ..) => habits.commands |= !is_harmless(name),
                    // It may do anything.
                    Expression::Refused(_) => (habits.refused, habits.works) = (true, true),
                    Expression::Call(function, ..) if seen.insert(*function) => {
                        habits.works = true;
                        let body = program.functions[*function].body.iter();
                        waiting.extend(body.map(|it| (it, false)));
                    }
                    Expression::Store(..) => habits.works = true,
                    Expression::Assign(slot, _) | Expression::Replace(slot, _) if is_own => {
                        habits.sets.insert(*slot);
                    }
                    _ => {}
                }
                expressions.extend(expression.parts().into_iter().map(|it| (it, is_own)));
                continue;
            }
            let Some((statement, is_own)) = waiting.pop() else {
                return habits;
            };
            match statement {
                Statement::Loop { .. } => habits.works = true,
                Statement::Declare(slot, _) if is_own => {
                    habits.sets.insert(*slot);
                }
                _ => {}
            }
            expressions.extend(statement.expressions().into_iter().map(|it| (it, is_own)));
            waiting.extend(statement.inner().into_iter().map(|it| (it, is_own)));
        }
    }
}

/// Returns whether a call does nothing that the core could not do by itself.
fn is_harmless(name: &str) -> bool {
    is_fence(name) || is_of_memory(name)
}

/// Returns whether a call only waits for commands, or forgets addresses of theirs.
pub(super) fn is_fence(name: &str) -> bool {
    matches!(name, "fence" | "gemmini_fence" | "gemmini_flush")
}

/// Returns whether statements ask for what a variable held before them.
pub(super) fn needs(statements: &[Statement], slot: usize) -> bool {
    first_use(statements, slot) == Some(true)
}

/// Returns how statements first use a variable: whether they ask for its value.
fn first_use(statements: &[Statement], slot: usize) -> Option<bool> {
    let of = |part: &Expression| first_use_in(part, slot);
    statements.iter().find_map(|statement| match statement {
        Statement::Declare(other, value) => {
            let used = value.as_ref().and_then(of);
            used.or_else(|| (*other == slot).then_some(false))
        }
        Statement::If(condition, then, otherwise) => of(condition).or_else(|| {
            let branches = [then, otherwise].map(|branch| first_use(branch, slot));
            // Set in one branch only, it keeps its value in the other.
            match branches {
                [Some(false), Some(false)] => Some(false),
                both => both.contains(&Some(true)).then_some(true),
            }
        }),
        Statement::Loop {
            condition,
            after,
            step,
            body,
        } => {
            let condition = condition.as_ref().and_then(of);
            let ahead = condition.filter(|_| !after);
            ahead
                .or_else(|| first_use(body, slot))
                .or_else(|| step.as_ref().and_then(of))
                .or(condition)
        }
        Statement::Block(inner) => first_use(inner, slot),
        other => other.expressions().into_iter().find_map(of),
    })
}

fn first_use_in(expression: &Expression, slot: usize) -> Option<bool> {
    let inner = |part: &&Expression| first_use_in(part, slot);
    match expression {
        Expression::Variable(other) if *other == slot => Some(true),
        Expression::Assign(other, value) => {
            let used = first_use_in(value, slot);
            used.or_else(|| (*other == slot).then_some(false))
        }
        Expression::Replace(other, _) if *other == slot => Some(true),
        _ => expression.parts().iter().find_map(inner),
    }
}
