//! What is written out in several operations but is one function of the scalar engine.
//!
//! Identities: `1 / (1 + exp(-x))` is the sigmoid, `x * sigmoid(x)` is SiLU, `log(1 + exp(x))` is
//! softplus, `1 / sqrt(x)` is the reciprocal root, `x * x` is a square; `a * (1 / b)` is `a / b`.

use ruff_python_ast::{Expr, Stmt};

use super::super::operation::{Operation, View};
use super::super::source::Place;
use super::{Change, each_site, replaced};

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    each_site(view, |place, expression| {
        let matches = [
            sigmoid(view, place, expression).map(|it| ("sigmoid", it)),
            silu(view, place, expression).map(|it| ("silu", it)),
            softplus(view, place, expression).map(|it| ("softplus", it)),
            root(view, place, expression).map(|it| ("rsqrt", it)),
            square(view, expression).map(|it| ("square", it)),
        ];
        for (function, (data, dropped)) in matches.into_iter().flatten() {
            let text = format!(
                "{}.activation(op={}.{function}, data={})",
                view.nisa,
                view.nl,
                view.text(data)
            );
            if let Some(source) = replaced(view, expression, text, &dropped) {
                let line = view.line(expression);
                let sentence = format!(
                    "Line {line} computes `{function}`: take that function of the scalar engine."
                );
                found.push(Change {
                    line,
                    variant: function.to_owned(),
                    sentence,
                    source,
                });
            }
        }
        if let Some((text, dropped)) = quotient(view, place, expression)
            && let Some(source) = replaced(view, expression, text, &[dropped])
        {
            let line = view.line(expression);
            let sentence =
                format!("Divide in line {line} instead of taking a reciprocal and multiplying.");
            found.push(Change {
                line,
                variant: "divide".to_owned(),
                sentence,
                source,
            });
        }
    });
    found
}

type Found<'t> = Option<(&'t Expr, Vec<Option<&'t Stmt>>)>;

/// `1 / (1 + exp(-x))`, in which the exponential may be an activation with scale -1.
fn sigmoid<'t>(view: &View<'_>, place: Place<'t>, expression: &'t Expr) -> Found<'t> {
    let Operation::Reciprocal { data } = view.operation(expression)? else {
        return None;
    };
    let (x, negated, dropped) = one_plus_exponential(view, place, data)?;
    negated.then_some((x, dropped))
}

/// `1 + exp(x)`: `x`, whether it is negated, and the statements that made it.
fn one_plus_exponential<'t>(
    view: &View<'_>,
    place: Place<'t>,
    expression: &'t Expr,
) -> Option<(&'t Expr, bool, Vec<Option<&'t Stmt>>)> {
    let (sum, first) = view.made_by(place, expression, true)?;
    let Operation::Scalar {
        op: "add",
        data,
        operand,
        ..
    } = view.operation(sum)?
    else {
        return None;
    };
    (view.shapes.number(operand)? == 1.0).then_some(())?;
    let (power, second) = view.made_by(place, data, true)?;
    let Operation::Function {
        function,
        data,
        scale,
        bias: None,
    } = view.operation(power)?
    else {
        return None;
    };
    if function != "exp" {
        return None;
    }
    match scale {
        Some(scale) if view.shapes.number(scale)? == -1.0 => {
            Some((data, true, vec![first, second]))
        }
        Some(_) => None,
        None => {
            let Some((made, third)) = view.made_by(place, data, true) else {
                return Some((data, false, vec![first, second]));
            };
            if let Some(Operation::Scalar {
                op: "multiply",
                data,
                operand,
                ..
            }) = view.operation(made)
                && view.shapes.number(operand) == Some(-1.0)
            {
                return Some((data, true, vec![first, second, third]));
            }
            if let Expr::UnaryOp(it) = made
                && it.op == ruff_python_ast::UnaryOp::USub
            {
                return Some((&it.operand, true, vec![first, second, third]));
            }
            if let Expr::Call(it) = made
                && view.source.path(&it.func).as_deref() == Some("nl.negative")
                && let [data] = it.arguments.args.as_ref()
            {
                return Some((data, true, vec![first, second, third]));
            }
            Some((data, false, vec![first, second]))
        }
    }
}

/// `x * sigmoid(x)`, `x / (1 + exp(-x))`
fn silu<'t>(view: &View<'_>, place: Place<'t>, expression: &'t Expr) -> Found<'t> {
    let Operation::Tensor { op, a, b } = view.operation(expression)? else {
        return None;
    };
    if op == "divide" {
        let (x, negated, dropped) = one_plus_exponential(view, place, b)?;
        return (negated && view.text(x) == view.text(a)).then_some((x, dropped));
    }
    if op != "multiply" {
        return None;
    }
    [(a, b), (b, a)].into_iter().find_map(|(x, other)| {
        let (made, first) = view.made_by(place, other, true)?;
        if let Operation::Function {
            function,
            data,
            scale: None,
            bias: None,
        } = view.operation(made)?
        {
            return (function == "sigmoid" && view.text(data) == view.text(x))
                .then(|| (x, vec![first]));
        }
        let (data, mut dropped) = sigmoid(view, place, made)?;
        dropped.push(first);
        (view.text(data) == view.text(x)).then_some((x, dropped))
    })
}

/// `log(1 + exp(x))`
fn softplus<'t>(view: &View<'_>, place: Place<'t>, expression: &'t Expr) -> Found<'t> {
    let Operation::Function {
        function,
        data,
        scale: None,
        bias: None,
    } = view.operation(expression)?
    else {
        return None;
    };
    if function != "log" {
        return None;
    }
    let (x, negated, dropped) = one_plus_exponential(view, place, data)?;
    (!negated).then_some((x, dropped))
}

/// `1 / sqrt(x)`
fn root<'t>(view: &View<'_>, place: Place<'t>, expression: &'t Expr) -> Found<'t> {
    let Operation::Reciprocal { data } = view.operation(expression)? else {
        return None;
    };
    let (made, dropped) = view.made_by(place, data, true)?;
    match view.operation(made)? {
        Operation::Function {
            function,
            data,
            scale: None,
            bias: None,
        } if function == "sqrt" => Some((data, vec![dropped])),
        _ => None,
    }
}

/// `x * x`
fn square<'t>(view: &View<'_>, expression: &'t Expr) -> Found<'t> {
    match view.operation(expression)? {
        Operation::Tensor {
            op: "multiply",
            a,
            b,
        } if view.text(a) == view.text(b) => Some((a, Vec::new())),
        _ => None,
    }
}

/// `a * (1 / b)` of two tiles.
fn quotient<'t>(
    view: &View<'_>,
    place: Place<'t>,
    expression: &'t Expr,
) -> Option<(String, Option<&'t Stmt>)> {
    let Operation::Tensor {
        op: "multiply",
        a,
        b,
    } = view.operation(expression)?
    else {
        return None;
    };
    [(a, b), (b, a)].into_iter().find_map(|(one, other)| {
        let (made, dropped) = view.made_by(place, other, true)?;
        let Operation::Reciprocal { data } = view.operation(made)? else {
            return None;
        };
        let View { nl, nisa, .. } = view;
        let text = format!(
            "{nisa}.tensor_tensor(data1={}, data2={}, op={nl}.divide)",
            view.text(one),
            view.text(data)
        );
        Some((text, dropped))
    })
}
