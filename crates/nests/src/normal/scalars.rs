//! Variables: declared where they get their value, with one name for each value.

use super::super::code::{
    Action, Element, Expression, Loop, Named, Statement, actions, with_elements,
};
use super::{fresh, replaced};
use autocomp_c_loops::statement::Command;
use std::collections::BTreeMap;

/// Moves declarations of variables to where they get their first value.
pub(super) fn moved_inwards(mut statements: Vec<Statement>) -> Vec<Statement> {
    let mut idx = 0;
    while idx < statements.len() {
        if let Some(replacement) = moved(&statements, idx) {
            statements = replacement;
        } else {
            idx += 1;
        }
    }
    statements
        .into_iter()
        .map(|statement| match statement {
            Statement::Loop(inner) => Statement::Loop(Loop {
                body: moved_inwards(inner.body),
                ..inner
            }),
            other => other,
        })
        .collect()
}

/// Returns the statements with the declaration at `idx` moved; nothing if it stays.
fn moved(statements: &[Statement], idx: usize) -> Option<Vec<Statement>> {
    let Statement::Command(Action::Declare {
        kind,
        name,
        extents,
        value,
    }) = &statements[idx]
    else {
        return None;
    };
    if !extents.is_empty() {
        return None;
    }
    let mut result = statements.to_vec();
    result.remove(idx);
    let users: Vec<usize> = (idx..result.len())
        .filter(|it| touches(&result[*it], name))
        .collect();
    let first = *users.first()?;
    if value.is_none()
        && let Some(first_value) = first_value(&result[first], name)
    {
        result[first] = Statement::Command(Action::Declare {
            kind: kind.clone(),
            name: name.clone(),
            extents: Vec::new(),
            value: Some(first_value.clone()),
        });
        return Some(result);
    }
    // Every loop that uses it begins with a value of its own.
    let own = users.iter().all(|it| match &result[*it] {
        Statement::Loop(inner) => begins_anew(&inner.body, name),
        _ => false,
    });
    if !own {
        return None;
    }
    for user in users {
        if let Statement::Loop(inner) = &mut result[user] {
            let declared = Statement::Command(Action::Declare {
                kind: kind.clone(),
                name: name.clone(),
                extents: Vec::new(),
                value: None,
            });
            inner.body.insert(0, declared);
        }
    }
    Some(result)
}

fn touches(statement: &Statement, name: &str) -> bool {
    actions(std::slice::from_ref(statement))
        .iter()
        .any(|(_, action)| action.mentions(name))
}

/// Returns the value that a statement gives a variable without using the old one.
fn first_value<'s>(statement: &'s Statement, name: &str) -> Option<&'s Expression> {
    match statement {
        Statement::Command(Action::Assign {
            target,
            operator: None,
            value,
        }) if target.name == name && !value.mentions(name) => Some(value),
        _ => None,
    }
}

fn begins_anew(body: &[Statement], name: &str) -> bool {
    let mut users = body.iter().filter(|it| touches(it, name));
    let Some(first) = users.next() else {
        return true;
    };
    match first {
        Statement::Loop(_) => std::iter::once(first).chain(users).all(|it| match it {
            Statement::Loop(inner) => begins_anew(&inner.body, name),
            _ => false,
        }),
        first => first_value(first, name).is_some(),
    }
}

/// Gives every value of a variable that is declared in an innermost loop a name of
/// its own.
pub(crate) fn told_apart(
    statements: &[Statement],
    names: &mut BTreeMap<String, Named>,
) -> Vec<Statement> {
    let of = |statement: &Statement, names: &mut BTreeMap<String, Named>| match statement {
        Statement::Loop(inner) => {
            let innermost = !inner.body.iter().any(|it| matches!(it, Statement::Loop(_)));
            let body = match innermost {
                true => values_of(&inner.body, names),
                false => told_apart(&inner.body, names),
            };
            Statement::Loop(Loop {
                body,
                ..inner.clone()
            })
        }
        other => other.clone(),
    };
    statements.iter().map(|it| of(it, names)).collect()
}

fn values_of(body: &[Statement], names: &mut BTreeMap<String, Named>) -> Vec<Statement> {
    let mut current: BTreeMap<String, String> = BTreeMap::new();
    let mut result = Vec::new();
    for statement in body {
        let renamed = |element: &Element| Element {
            name: current.get(&element.name).unwrap_or(&element.name).clone(),
            indices: element.indices.clone(),
        };
        let value_of = |value: &Expression| {
            replaced(value, &|element| {
                let known = element.indices.is_empty() && current.contains_key(&element.name);
                known.then(|| Expression::Element(renamed(element)))
            })
        };
        match statement {
            Statement::Command(Action::Declare {
                name,
                extents,
                value: Some(value),
                kind,
            }) if extents.is_empty() => {
                result.push(Statement::Command(Action::Declare {
                    kind: kind.clone(),
                    name: name.clone(),
                    extents: Vec::new(),
                    value: Some(value_of(value)),
                }));
                current.insert(name.clone(), name.clone());
            }
            Statement::Command(Action::Assign {
                target,
                operator,
                value,
            }) if target.indices.is_empty() && current.contains_key(&target.name) => {
                let old = Expression::Element(renamed(target));
                let value = value_of(value);
                let value = match operator {
                    None => value,
                    Some(operator) => {
                        Expression::Binary(Box::new(old), operator.to_string(), Box::new(value))
                    }
                };
                let named = names.get(&target.name).cloned();
                let Some(named) = named else {
                    return body.to_vec();
                };
                let own = fresh(&target.name, names);
                names.insert(own.clone(), named.clone());
                result.push(Statement::Command(Action::Declare {
                    kind: named.kind,
                    name: own.clone(),
                    extents: Vec::new(),
                    value: Some(value),
                }));
                current.insert(target.name.clone(), own);
            }
            other => result.extend(with_elements(std::slice::from_ref(other), &renamed)),
        }
    }
    result
}
