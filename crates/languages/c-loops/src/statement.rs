//! The tree of a kernel's body: loops, guards and commands.

use crate::affine::Affine;
use crate::condition::Condition;
use std::fmt::Write;

/// What the innermost statements of a family's kernels are.
pub trait Command: Clone {
    /// Returns whether the variable `name` may occur.
    fn mentions(&self, name: &str) -> bool;

    /// Returns the command with `value` in the place of the variable `name`;
    /// `None` if that cannot be told or a number overflows.
    fn substitute(&self, name: &str, value: &Affine) -> Option<Self>;

    /// Returns it as C, without the semicolon.
    fn to_c(&self) -> String;
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement<C> {
    /// A counted loop.
    Loop(Loop<C>),
    /// An `if`.
    Guard(Guard<C>),
    /// A command.
    Command(C),
    /// A comment on a line of its own, with its delimiters.
    Comment(String),
}

/// A loop with constant bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop<C> {
    /// The loop variable.
    pub variable: String,
    /// First value.
    pub start: i64,
    /// Exclusive bound, above `start`.
    pub end: i64,
    /// Increment, positive.
    pub step: i64,
    /// The body.
    pub body: Vec<Statement<C>>,
}

impl<C> Loop<C> {
    /// Returns how many times the body runs, at least once.
    #[must_use]
    pub fn trips(&self) -> i64 {
        let span = self.end.saturating_sub(self.start);
        span.saturating_add(self.step - 1) / self.step
    }

    /// Returns the loop's head as C, without the brace.
    #[must_use]
    pub fn head_to_c(&self) -> String {
        let Self {
            variable,
            start,
            end,
            ..
        } = self;
        let increment = match self.step {
            1 => format!("{variable}++"),
            step => format!("{variable} += {step}"),
        };
        format!("for (int {variable} = {start}; {variable} < {end}; {increment})")
    }
}

/// An `if` with a condition over loop variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard<C> {
    /// The condition.
    pub condition: Condition,
    /// What runs if it holds.
    pub then: Vec<Statement<C>>,
    /// What runs otherwise.
    pub otherwise: Vec<Statement<C>>,
}

/// Replaces the variable `name` by `value` in every expression of `statements`.
///
/// Returns `None` if a command cannot tell or a number overflows.
#[must_use]
pub fn substitute<C: Command>(
    statements: &[Statement<C>],
    name: &str,
    value: &Affine,
) -> Option<Vec<Statement<C>>> {
    let mut result = Vec::with_capacity(statements.len());
    for statement in statements {
        match statement {
            Statement::Loop(inner) => {
                let mut replaced = inner.clone();
                replaced.body = substitute(&inner.body, name, value)?;
                result.push(Statement::Loop(replaced));
            }
            Statement::Guard(guard) => {
                let condition = guard.condition.substitute(name, value)?;
                let then = substitute(&guard.then, name, value)?;
                let otherwise = substitute(&guard.otherwise, name, value)?;
                match condition {
                    Condition::Constant(true) => result.extend(then),
                    Condition::Constant(false) => result.extend(otherwise),
                    condition => {
                        result.push(Statement::Guard(Guard {
                            condition,
                            then,
                            otherwise,
                        }));
                    }
                }
            }
            Statement::Command(command) => {
                result.push(Statement::Command(command.substitute(name, value)?));
            }
            Statement::Comment(_) => result.push(statement.clone()),
        }
    }
    Some(result)
}

/// Returns the number of commands in the text of `statements`.
#[must_use]
pub fn count_commands<C>(statements: &[Statement<C>]) -> usize {
    statements
        .iter()
        .map(|statement| match statement {
            Statement::Loop(inner) => count_commands(&inner.body),
            Statement::Guard(guard) => {
                count_commands(&guard.then) + count_commands(&guard.otherwise)
            }
            Statement::Command(_) => 1,
            Statement::Comment(_) => 0,
        })
        .sum()
}

/// Appends `statements` to `text` as C that a person can read, `depth` levels
/// deep with `indent` for each.
pub fn print<C: Command>(
    statements: &[Statement<C>],
    depth: usize,
    indent: &str,
    text: &mut String,
) {
    let margin = indent.repeat(depth);
    for statement in statements {
        // Writing to a string does not fail.
        let _ = match statement {
            Statement::Loop(inner) => {
                let _ = writeln!(text, "{margin}{} {{", inner.head_to_c());
                print(&inner.body, depth + 1, indent, text);
                writeln!(text, "{margin}}}")
            }
            Statement::Guard(guard) => {
                let _ = writeln!(text, "{margin}if ({}) {{", guard.condition.to_c());
                print(&guard.then, depth + 1, indent, text);
                if !guard.otherwise.is_empty() {
                    let _ = writeln!(text, "{margin}}} else {{");
                    print(&guard.otherwise, depth + 1, indent, text);
                }
                writeln!(text, "{margin}}}")
            }
            Statement::Command(command) => writeln!(text, "{margin}{};", command.to_c()),
            Statement::Comment(verbatim) => {
                writeln!(text, "{margin}{verbatim}")
            }
        };
    }
}

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
