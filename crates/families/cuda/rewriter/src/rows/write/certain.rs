//! What is loaded or divided in any case.

use super::super::SharedLoop;
use crate::expression::Expression;
use crate::step::Step;
use autocomp_c_loops::affine::Affine;

/// Returns `value / name` as a product.
pub(super) fn divided(value: &Expression, name: &str, inverse: &str) -> Expression {
    value.map(&|it| match it {
        Expression::Binary(left, operator, right)
            if operator == "/" && **right == Expression::Scalar(name.to_owned()) =>
        {
            let left = divided(left, name, inverse);
            Some(Expression::binary(
                left,
                "*",
                Expression::Text(inverse.to_owned()),
            ))
        }
        _ => None,
    })
}

/// Returns what of a loop may be kept for another: loads, and calls of functions, with `*` for the
/// counter.
pub(super) fn candidates(shared: &SharedLoop<'_>) -> Vec<Expression> {
    let mut found = Vec::new();
    let local: Vec<&String> = shared
        .body
        .iter()
        .filter_map(|it| match it {
            Step::Let { name, .. } => Some(name),
            _ => None,
        })
        .collect();
    let mut see = |it: &Expression| {
        let is_wanted = matches!(it, Expression::Load(_, index) if index.as_index().is_some())
            || matches!(it, Expression::Call(..));
        if is_wanted
            && it.mentions_index(shared.variable)
            && !local.iter().any(|name| it.mentions_scalar(name))
        {
            let value = it.with_index(shared.variable, &Affine::variable("*"));
            if !found.contains(&value) {
                found.push(value);
            }
        }
    };
    certain(shared.body, &mut see);
    found
}

/// Returns the loads of a body that every iteration makes, with indices that are sums.
pub(super) fn certain_loads(body: &[Step]) -> Vec<(String, Expression)> {
    let mut found: Vec<(String, Expression)> = Vec::new();
    certain(body, &mut |it| {
        if let Expression::Load(array, index) = it
            && index.as_index().is_some()
            && !found
                .iter()
                .any(|known| known.0 == *array && known.1 == **index)
        {
            found.push((array.clone(), (**index).clone()));
        }
    });
    found
}

/// Calls `see` with every part that is computed in any case.
pub(crate) fn certain(body: &[Step], see: &mut dyn FnMut(&Expression)) {
    for step in body {
        match step {
            Step::Let { value, .. } => value.iter().for_each(|it| certain_parts(it, see)),
            Step::Assign { value, .. } => certain_parts(value, see),
            Step::Store { index, value, .. } | Step::Atomic { index, value, .. } => {
                certain_parts(index, see);
                certain_parts(value, see);
            }
            _ => {}
        }
    }
}

fn certain_parts(value: &Expression, see: &mut dyn FnMut(&Expression)) {
    see(value);
    match value {
        Expression::Load(_, inner) | Expression::Sign(_, inner) | Expression::Cast(_, inner) => {
            certain_parts(inner, see)
        }
        Expression::Binary(left, operator, right) => {
            certain_parts(left, see);
            if operator != "&&" && operator != "||" {
                certain_parts(right, see);
            }
        }
        Expression::Choice(condition, ..) => certain_parts(condition, see),
        Expression::Call(_, arguments) => arguments.iter().for_each(|it| certain_parts(it, see)),
        _ => {}
    }
}
