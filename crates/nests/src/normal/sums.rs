//! Sums of products in all the orders that they are written in become loops over
//! what is computed, around a sum in a variable.

use super::super::code::{Action, Element, Expression, Index, Loop, Named, Statement, actions};
use super::super::nest::is_ring;
use super::{fresh, perfect, replaced};
use autocomp_c_loops::affine::Affine;
use autocomp_c_loops::statement::Command;
use std::collections::BTreeMap;

type Names = BTreeMap<String, Named>;

/// Brings all sums in statements into that form.
pub(super) fn gathered(statements: Vec<Statement>, names: &mut Names) -> Vec<Statement> {
    let mut list: Vec<Statement> = Vec::new();
    for statement in statements {
        list.push(match statement {
            Statement::Loop(inner) => Statement::Loop(Loop {
                body: gathered(inner.body, names),
                ..inner
            }),
            other => other,
        });
    }
    let mut idx = 0;
    while idx < list.len() {
        if let Some(made) = in_element(&list, idx, names).or_else(|| reordered(&list, idx, names)) {
            list = made;
        }
        idx += 1;
    }
    result_of_sum(&list).unwrap_or(list)
}

fn zero() -> Expression {
    Expression::Number("0".into())
}

fn plus(one: Expression, other: Expression) -> Expression {
    match one == zero() || matches!(&one, Expression::Number(text) if is_zero(text)) {
        true => other,
        false => Expression::Binary(Box::new(one), "+".into(), Box::new(other)),
    }
}

fn is_zero(text: &str) -> bool {
    text.trim_end_matches(['f', 'F'])
        .parse::<f64>()
        .is_ok_and(|it| it == 0.0)
}

fn declared(name: &str, kind: &str) -> Statement {
    Statement::Command(Action::Declare {
        kind: kind.to_owned(),
        name: name.to_owned(),
        extents: Vec::new(),
        value: Some(zero()),
    })
}

fn assigned(target: &Element, operator: Option<char>, value: Expression) -> Statement {
    Statement::Command(Action::Assign {
        target: target.clone(),
        operator,
        value,
    })
}

/// Returns loops around a body.
fn nested(loops: &[&Loop], body: Vec<Statement>) -> Vec<Statement> {
    loops.iter().rev().fold(body, |body, it| {
        vec![Statement::Loop(Loop {
            body,
            ..(*it).clone()
        })]
    })
}

/// Returns the sum of products that a loop adds to elements: the loops, where it
/// goes, its type and its term.
fn added<'s>(
    statement: &'s Statement,
    names: &Names,
) -> Option<(Vec<&'s Loop>, &'s Element, String, &'s Expression)> {
    let Statement::Loop(outer) = statement else {
        return None;
    };
    let (loops, action) = perfect(outer)?;
    let Action::Assign {
        target,
        operator: Some('+'),
        value,
    } = action
    else {
        return None;
    };
    let kind = &names.get(&target.name)?.kind;
    let fits = ["float", "int32_t"].contains(&kind.as_str())
        && !target.indices.is_empty()
        && target.affine().is_some()
        && is_ring(value, kind)
        && value.reads().iter().all(|it| it.name != target.name);
    fits.then(|| (loops, target, kind.clone(), value))
}

/// `c[i] = 0; for (k …) c[i] += …` sums up in a variable.
fn in_element(list: &[Statement], idx: usize, names: &mut Names) -> Option<Vec<Statement>> {
    let (loops, target, kind, term) = added(&list[idx], names)?;
    if loops.iter().any(|it| target.mentions(&it.variable)) {
        return None;
    }
    let sum = fresh("sum", names);
    let variable = Element::variable(&sum);
    let mut result: Vec<Statement> = list[..idx].to_vec();
    let own = Expression::Element(target.clone());
    let first = match result.last() {
        Some(Statement::Command(Action::Assign {
            target: same,
            operator: None,
            value,
        })) if same == target => Some(value.clone()),
        _ => None,
    };
    if first.is_some() {
        result.pop();
    }
    let total = plus(first.unwrap_or(own), Expression::Element(variable.clone()));
    names.insert(
        sum.clone(),
        Named {
            kind: kind.clone(),
            extents: Vec::new(),
        },
    );
    result.push(declared(&sum, &kind));
    result.extend(nested(
        &loops,
        vec![assigned(&variable, Some('+'), term.clone())],
    ));
    result.push(assigned(target, None, total));
    result.extend(list[idx + 1..].iter().cloned());
    Some(result)
}

/// Reads loops in any order around `c[i][j] += …`, the statements before them that set `c`, and
/// those behind them that use it.
fn reordered(list: &[Statement], idx: usize, names: &mut Names) -> Option<Vec<Statement>> {
    let (loops, target, kind, term) = added(&list[idx], names)?;
    let indices = target.affine()?;
    let alone = |it: &&&Loop| {
        let own = Affine::variable(&it.variable);
        indices.iter().filter(|index| ***index == own).count() == 1
            && indices
                .iter()
                .filter(|index| index.mentions(&it.variable))
                .count()
                == 1
    };
    let (mut parallel, reduction): (Vec<&Loop>, Vec<&Loop>) = loops
        .iter()
        .copied()
        .partition(|it| target.mentions(&it.variable));
    let plain = parallel.iter().all(|it| alone(&it)) && loops.iter().all(|it| it.step == 1);
    if parallel.is_empty() || reduction.is_empty() || !plain {
        return None;
    }
    let place = |it: &&Loop| {
        indices
            .iter()
            .position(|index| index.mentions(&it.variable))
    };
    parallel.sort_by_key(|it| place(it));
    let mut result: Vec<Statement> = list[..idx].to_vec();
    let own = Expression::Element(target.clone());
    let first = result
        .last()
        .and_then(|it| same_elements(it, target, &parallel));
    let first = match first {
        Some((element, None, value)) if element == *target && !value.reads().contains(&target) => {
            result.pop();
            value
        }
        _ => own.clone(),
    };
    let sum = fresh("sum", names);
    let variable = Element::variable(&sum);
    let mut total = plus(first, Expression::Element(variable.clone()));
    let mut output = target.clone();
    let mut rest = &list[idx + 1..];
    while let Some(next) = rest.first() {
        let Some((element, operator, value)) = same_elements(next, &output, &parallel) else {
            break;
        };
        let current = Expression::Element(output.clone());
        let reads = value.reads();
        let reads_own = reads.contains(&&output) || operator.is_some() && element == output;
        let others = reads
            .iter()
            .any(|it| it.name == output.name && **it != output);
        let is_last =
            is_local(list, &output.name) && !rest[1..].iter().any(|it| touches(it, &output.name));
        if others || !reads_own || !(element == output || is_last && operator.is_none()) {
            break;
        }
        let value = match operator {
            None => value,
            Some(operator) => {
                Expression::Binary(Box::new(current), operator.to_string(), Box::new(value))
            }
        };
        total = replaced(&value, &|it| (*it == output).then(|| total.clone()));
        output = element;
        rest = &rest[1..];
    }
    if output.name != target.name {
        // What lay between is needed no more.
        result.retain(|it| !declares(it, &target.name));
        if result.iter().any(|it| touches(it, &target.name)) {
            return None;
        }
    }
    names.insert(
        sum.clone(),
        Named {
            kind: kind.clone(),
            extents: Vec::new(),
        },
    );
    let mut body = vec![declared(&sum, &kind)];
    body.extend(nested(
        &reduction,
        vec![assigned(&variable, Some('+'), term.clone())],
    ));
    body.push(assigned(&output, None, total));
    result.extend(nested(&parallel, body));
    result.extend(rest.iter().cloned());
    Some(result)
}

/// Returns what loops over the same elements as `parallel` ones assign, in their
/// variables: the target, the operator and the value.
fn same_elements(
    statement: &Statement,
    element: &Element,
    parallel: &[&Loop],
) -> Option<(Element, Option<char>, Expression)> {
    let Statement::Loop(outer) = statement else {
        return None;
    };
    let (loops, action) = perfect(outer)?;
    let Action::Assign {
        target,
        operator,
        value,
    } = action
    else {
        return None;
    };
    if loops.len() != parallel.len() {
        return None;
    }
    // Where the array occurs, its indices tell which loop is which.
    let mut known = value.reads();
    known.push(target);
    let found = known.into_iter().find(|it| it.name == element.name)?;
    let (mine, theirs) = (found.affine()?, element.affine()?);
    let mut target = Expression::Element(target.clone());
    let mut value = value.clone();
    let mut renamed = Vec::new();
    for it in &loops {
        let place = mine
            .iter()
            .position(|index| **index == Affine::variable(&it.variable))?;
        let other = parallel
            .iter()
            .find(|other| *theirs[place] == Affine::variable(&other.variable))?;
        if (it.start, it.end, it.step) != (other.start, other.end, other.step) {
            return None;
        }
        renamed.push((it.variable.clone(), other.variable.clone()));
    }
    // By way of names that nobody has, since the loops may trade theirs.
    for (from, _) in &renamed {
        let between = Affine::variable(&format!("{from} "));
        target = target.substitute(from, &between)?;
        value = value.substitute(from, &between)?;
    }
    for (from, to) in &renamed {
        let to = Affine::variable(to);
        target = target.substitute(&format!("{from} "), &to)?;
        value = value.substitute(&format!("{from} "), &to)?;
    }
    match target {
        Expression::Element(target) => Some((target, *operator, value)),
        _ => None,
    }
}

fn declares(statement: &Statement, name: &str) -> bool {
    matches!(statement, Statement::Command(Action::Declare { name: own, .. }) if own == name)
}

fn is_local(list: &[Statement], name: &str) -> bool {
    list.iter().any(|it| declares(it, name))
}

fn touches(statement: &Statement, name: &str) -> bool {
    actions(std::slice::from_ref(statement))
        .iter()
        .any(|(_, action)| action.mentions(name))
}

/// What is done with a sum behind its loop becomes one assignment:
/// `sum += b[j]; if (sum < 0) sum = 0; c[j] = sum;`.
fn result_of_sum(list: &[Statement]) -> Option<Vec<Statement>> {
    let position = list
        .iter()
        .position(|it| matches!(it, Statement::Loop(_)))?;
    let Statement::Loop(outer) = &list[position] else {
        return None;
    };
    let (_, action) = perfect(outer)?;
    let Action::Assign {
        target: sum,
        operator: Some('+'),
        ..
    } = action
    else {
        return None;
    };
    let [
        Statement::Command(Action::Declare {
            kind,
            name,
            extents,
            value: Some(first),
        }),
    ] = &list[..position]
    else {
        return None;
    };
    if *name != sum.name || !extents.is_empty() {
        return None;
    }
    let mut values: BTreeMap<String, Expression> = BTreeMap::new();
    let number = matches!(first, Expression::Number(_));
    let own = Expression::Element(sum.clone());
    if !number {
        values.insert(name.clone(), plus(first.clone(), own));
    }
    let value_of = |value: &Expression, values: &BTreeMap<String, Expression>| {
        replaced(value, &|it| match it.indices.as_slice() {
            [] => values.get(&it.name).cloned(),
            _ => None,
        })
    };
    let (last, rest) = list[position + 1..].split_last()?;
    for statement in rest {
        match statement {
            Statement::Command(Action::Declare {
                name,
                extents,
                value: Some(value),
                ..
            }) if extents.is_empty() => {
                values.insert(name.clone(), value_of(value, &values));
            }
            Statement::Command(Action::Assign {
                target,
                operator,
                value,
            }) if target == sum
                || target.indices.is_empty() && values.contains_key(&target.name) =>
            {
                let old = values
                    .get(&target.name)
                    .cloned()
                    .unwrap_or_else(|| Expression::Element(target.clone()));
                let value = value_of(value, &values);
                let value = match operator {
                    None => value,
                    Some(operator) => {
                        Expression::Binary(Box::new(old), operator.to_string(), Box::new(value))
                    }
                };
                values.insert(target.name.clone(), value);
            }
            _ => return None,
        }
    }
    let Statement::Command(Action::Assign {
        target,
        operator,
        value,
    }) = last
    else {
        return None;
    };
    if target.indices.is_empty() || values.is_empty() && operator.is_none() {
        return None;
    }
    let looked_up = target
        .indices
        .iter()
        .any(|it| matches!(it, Index::Value(_)));
    // What the result reads must still be there.
    let taken = perfect(outer)?.1.mentions(&target.name);
    if looked_up || taken {
        return None;
    }
    let mut value = value_of(value, &values);
    if let Some(operator) = operator {
        let old = Expression::Element(target.clone());
        value = Expression::Binary(Box::new(old), operator.to_string(), Box::new(value));
    }
    let first = if number { first.clone() } else { zero() };
    Some(vec![
        Statement::Command(Action::Declare {
            kind: kind.clone(),
            name: name.clone(),
            extents: Vec::new(),
            value: Some(first),
        }),
        list[position].clone(),
        assigned(target, None, value),
    ])
}
