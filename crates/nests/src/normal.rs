//! One form for what is written in many ways: variables are declared where they
//! are needed, and sums are summed up in a variable of their own.

mod positions;
mod rolls;
mod scalars;
mod sums;

use super::code::{Action, Element, Expression, Loop, Program, Statement};
pub(super) use rolls::rolled;
pub(super) use scalars::told_apart;

/// Brings a program into that form.
pub(super) fn normalize(program: &mut Program) {
    let body = std::mem::take(&mut program.body);
    let body = scalars::moved_inwards(body);
    let body = positions::apart(body, &mut program.names);
    let body = scalars::told_apart(&body, &mut program.names);
    program.body = sums::gathered(body, &mut program.names);
}

/// Returns an assignment; one that adds to its target says so.
pub(super) fn updated(target: Element, value: Expression) -> Action {
    let own = Expression::Element(target.clone());
    if let Expression::Binary(left, operator, right) = &value {
        let apart = |it: &Expression| !it.reads().contains(&&target);
        let commutes = ["+", "*"].contains(&operator.as_str());
        let sign = operator
            .chars()
            .next()
            .filter(|it| "+-*/".contains(*it) && operator.len() == 1);
        if **left == own && apart(right) && sign.is_some() {
            return Action::Assign {
                target,
                operator: sign,
                value: (**right).clone(),
            };
        }
        if **right == own && apart(left) && commutes {
            return Action::Assign {
                target,
                operator: sign,
                value: (**left).clone(),
            };
        }
        // `sum = sum + a + b`
        if sign == Some('+')
            && apart(right)
            && let Action::Assign {
                operator: Some('+'),
                value: rest,
                ..
            } = updated(target.clone(), (**left).clone())
        {
            return Action::Assign {
                target,
                operator: Some('+'),
                value: Expression::Binary(Box::new(rest), "+".into(), right.clone()),
            };
        }
    }
    Action::Assign {
        target,
        operator: None,
        value,
    }
}

/// Returns the loops of a perfect nest, outermost first, and the action in it.
fn perfect(outer: &Loop) -> Option<(Vec<&Loop>, &Action)> {
    let mut loops = vec![outer];
    let mut body = outer.body.as_slice();
    loop {
        match body {
            [Statement::Loop(inner)] => {
                loops.push(inner);
                body = &inner.body;
            }
            [Statement::Command(action)] => return Some((loops, action)),
            _ => return None,
        }
    }
}

/// Returns an expression with every variable and element that `change` knows replaced.
fn replaced(
    expression: &Expression,
    change: &dyn Fn(&Element) -> Option<Expression>,
) -> Expression {
    expression.map(&mut |element| {
        change(element).unwrap_or_else(|| {
            let mut element = element.clone();
            for index in &mut element.indices {
                if let super::code::Index::Value(value) = index {
                    **value = replaced(value, change);
                }
            }
            Expression::Element(element)
        })
    })
}

/// Returns `name`, or one like it that is not in use.
pub(super) fn fresh(
    name: &str,
    names: &std::collections::BTreeMap<String, super::code::Named>,
) -> String {
    let others = (2..).map(|number| format!("{name}_n{number}"));
    let mut all = std::iter::once(name.to_owned()).chain(others);
    all.find(|it| !names.contains_key(it))
        .unwrap_or_else(|| name.to_owned())
}
