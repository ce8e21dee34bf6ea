//! Visits commands in the order in which they run.

use crate::kernel::{Command, Statement};

/// What happens while a kernel runs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event<'kernel> {
    /// A loop begins another iteration.
    Iteration,
    /// A guard is tested.
    Test,
    /// A command is issued.
    Command(&'kernel Command),
}

/// Values of loop variables, innermost last.
pub(crate) type Values<'kernel> = Vec<(&'kernel str, i64)>;

/// Returns the value of a variable.
pub(crate) fn value_of(values: &Values<'_>, name: &str) -> Option<i64> {
    values
        .iter()
        .rev()
        .find(|(other, _)| *other == name)
        .map(|(_, value)| *value)
}

/// Visits the commands of `statements` in the order in which they run.
///
/// Stops with `None` when `budget` commands have run, when something is not
/// understood, or when `visit` returns `None`.
pub(crate) fn walk<'kernel>(
    statements: &'kernel [Statement],
    values: &mut Values<'kernel>,
    budget: &mut usize,
    visit: &mut dyn FnMut(Event<'kernel>, &Values<'kernel>) -> Option<()>,
) -> Option<()> {
    for statement in statements {
        match statement {
            Statement::Loop(inner) => {
                let mut value = inner.start;
                while value < inner.end {
                    // An empty body costs budget, too: loops may be long.
                    *budget = budget.checked_sub(1)?;
                    values.push((&inner.variable, value));
                    visit(Event::Iteration, values)?;
                    let result = walk(&inner.body, values, budget, visit);
                    values.pop();
                    result?;
                    value += inner.step;
                }
            }
            Statement::Guard(guard) => {
                let holds = guard.condition.evaluate(&|name| value_of(values, name))?;
                let branch = if holds { &guard.then } else { &guard.otherwise };
                visit(Event::Test, values)?;
                walk(branch, values, budget, visit)?;
            }
            Statement::Command(command) => {
                *budget = budget.checked_sub(1)?;
                visit(Event::Command(command), values)?;
            }
            Statement::Comment(_) => {}
            Statement::Opaque(_) => return None,
        }
    }
    Some(())
}
