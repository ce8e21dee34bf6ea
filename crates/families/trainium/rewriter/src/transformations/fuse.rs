//! Neighbouring element-wise operations become one instruction.
//!
//! Facts: `nisa.tensor_scalar` carries out two operations with numbers or columns in one pass,
//! `nisa.scalar_tensor_tensor` one with a number or column, which may be a comparison, and one with
//! a tile,
//! `nisa.activation` a product with a scale and a sum with a bias before its function.

use ruff_python_ast::{Expr, Stmt};

use super::super::operation::{Operation, View, commutes};
use super::super::source::{Edits, Place};
use super::{Change, each_site, negated, replaced_with, with_arguments};

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    each_site(view, |place, expression| {
        let sums = view.summed_function(expression);
        let summed = sums.is_some();
        let Some((operation, others)) = sums.or_else(|| view.typed_operation(expression)) else {
            return;
        };
        let mut add = |variant: &str, fused: Option<Fused<'_>>, sentence: String| {
            let Some((text, dropped, before)) = fused else {
                return;
            };
            let mut text = with_arguments(text, &others);
            if summed {
                text = text.replacen(".activation(", ".activation_reduce(", 1);
            }
            if let Some(source) = replaced_with(view, expression, text, &[dropped], before) {
                found.push(Change {
                    line: view.line(expression),
                    variant: variant.to_owned(),
                    sentence,
                    source,
                });
            }
        };
        let line = view.line(expression);
        match operation {
            Operation::Tensor { op, a, b } => {
                for (variant, one, other, reverse) in
                    [("left", a, b, false), ("right", b, a, !commutes(op))]
                {
                    add(
                        variant,
                        scalar_tensor_tensor(view, place, op, one, other, reverse),
                        format!(
                            "Carry out the two operations of line {line} in one pass of nisa.scalar_tensor_tensor."
                        ),
                    );
                }
            }
            Operation::Scalar {
                op,
                data,
                operand,
                reverse,
            } => {
                add(
                    "two",
                    tensor_scalar(view, place, op, data, operand, reverse),
                    format!(
                        "Carry out the two operations of line {line} in one pass of nisa.tensor_scalar."
                    ),
                );
                add(
                    "linear",
                    linear(view, place, op, data, operand, reverse),
                    format!(
                        "Carry out the product and the sum of line {line} as scale and bias of one nisa.activation, on the scalar engine."
                    ),
                );
            }
            Operation::Function {
                function,
                data,
                scale,
                bias,
            } => add(
                "operand",
                activation(view, place, &function, data, scale, bias),
                format!(
                    "Give `{function}` in line {line} its scale or bias in the same {}.",
                    match summed {
                        true => "nisa.activation_reduce",
                        false => "nisa.activation",
                    }
                ),
            ),
            _ => {}
        }
    });
    found
}

/// An instruction, the statement that it makes needless, and edits that it needs besides.
type Fused<'t> = (String, Option<&'t Stmt>, Edits);

/// An operation with a number or column that another one goes on with.
struct First<'t> {
    op: &'static str,
    data: &'t Expr,
    operand: &'t Expr,
    reverse: bool,
}

/// The operation that makes an operand, if nobody else reads its result, with its statement.
fn first<'t>(
    view: &View<'_>,
    place: Place<'t>,
    operand: &'t Expr,
) -> Option<(First<'t>, Option<&'t Stmt>)> {
    let (made, dropped) = view.made_by(place, operand, true)?;
    Some((first_of(view.operation(made)?)?, dropped))
}

/// The same where a comparison gives ones and zeros that a float32 tile is combined with.
fn first_or_comparison<'t>(
    view: &View<'_>,
    place: Place<'t>,
    operand: &'t Expr,
    other: &Expr,
) -> Option<(First<'t>, Option<&'t Stmt>)> {
    let (made, dropped) = view.made_by(place, operand, true)?;
    let other = view.shapes.tile(other)?;
    let found = match other.dtype.as_deref() {
        Some("float32") => view.operation(made).or_else(|| view.comparison(made)),
        _ => view.operation(made),
    };
    Some((first_of(found?)?, dropped))
}

fn first_of(operation: Operation<'_>) -> Option<First<'_>> {
    let Operation::Scalar {
        op,
        data,
        operand,
        reverse,
    } = operation
    else {
        return None;
    };
    Some(First {
        op,
        data,
        operand,
        reverse,
    })
}

/// `(x op0 s) op1 other`
fn scalar_tensor_tensor<'t>(
    view: &View<'_>,
    place: Place<'t>,
    op1: &str,
    one: &'t Expr,
    other: &'t Expr,
    reverse1: bool,
) -> Option<Fused<'t>> {
    let (
        First {
            op: op0,
            data,
            operand,
            reverse,
        },
        dropped,
    ) = first_or_comparison(view, place, one, other)?;
    let View { nl, nisa, .. } = view;
    let mut text = format!(
        "{nisa}.scalar_tensor_tensor(data={}, op0={nl}.{op0}, operand0={}, op1={nl}.{op1}, operand1={}",
        view.text(data),
        view.text(operand),
        view.text(other)
    );
    if reverse {
        text.push_str(", reverse0=True");
    }
    if reverse1 {
        text.push_str(", reverse1=True");
    }
    text.push(')');
    Some((text, dropped, Edits::default()))
}

/// `(x op0 s) op1 t`
fn tensor_scalar<'t>(
    view: &View<'_>,
    place: Place<'t>,
    op1: &str,
    data: &'t Expr,
    operand1: &'t Expr,
    reverse1: bool,
) -> Option<Fused<'t>> {
    let (
        First {
            op: op0,
            data,
            operand,
            reverse,
        },
        dropped,
    ) = first(view, place, data)?;
    let View { nl, nisa, .. } = view;
    let flag = |name: &str, set: bool| {
        if set {
            format!(", {name}=True")
        } else {
            String::new()
        }
    };
    let text = format!(
        "{nisa}.tensor_scalar(data={}, op0={nl}.{op0}, operand0={}{}, op1={nl}.{op1}, operand1={}{})",
        view.text(data),
        view.text(operand),
        flag("reverse0", reverse),
        view.text(operand1),
        flag("reverse1", reverse1)
    );
    Some((text, dropped, Edits::default()))
}

/// `(x + c) * s`, `(x - c) * s`, `x * s + c`, `x * s - c` with columns or numbers.
fn linear<'t>(
    view: &View<'_>,
    place: Place<'t>,
    op1: &str,
    data: &'t Expr,
    operand1: &'t Expr,
    reverse1: bool,
) -> Option<Fused<'t>> {
    let (
        First {
            op: op0,
            data,
            operand,
            reverse,
        },
        dropped,
    ) = first(view, place, data)?;
    if reverse || reverse1 {
        return None;
    }
    let View { nl, nisa, .. } = view;
    let rows = *view.shapes.tile(data)?.shape.first()?;
    let (first, second) = (view.text(operand), view.text(operand1));
    let column = |it: &Expr| view.shapes.tile(it).is_some();
    // Instructions that write to tiles take no expressions of tiles.
    let fills_tiles = !view.source.first_dialect();
    if fills_tiles && (op0, op1) != ("multiply", "add") && (column(operand) || column(operand1)) {
        return None;
    }
    let (scale, bias) = match (op0, op1) {
        ("add", "multiply") => (second, format!("({first}) * ({second})")),
        ("subtract", "multiply") => (second, format!("({first}) * ({second}) * -1.0")),
        ("multiply", "add") => (first, second.to_owned()),
        ("multiply", "subtract") => (first, format!("({second}) * -1.0")),
        _ => return None,
    };
    let is_tile = match op1 {
        "multiply" => column(operand) || column(operand1),
        _ => column(operand1),
    };
    let bias = if is_tile || fills_tiles {
        bias
    } else {
        format!("{nl}.full(({rows}, 1), {bias}, dtype={nl}.float32)")
    };
    let text = format!(
        "{nisa}.activation(op={nl}.copy, data={}, scale={scale}, bias={bias})",
        view.text(data)
    );
    Some((text, dropped, Edits::default()))
}

/// `f(x * s)`, `f(x + c)`, `f(x - c)`
fn activation<'t>(
    view: &View<'_>,
    place: Place<'t>,
    function: &str,
    data: &'t Expr,
    scale: Option<&'t Expr>,
    bias: Option<&'t Expr>,
) -> Option<Fused<'t>> {
    let (
        First {
            op,
            data,
            operand,
            reverse,
        },
        dropped,
    ) = first(view, place, data)?;
    let View { nl, nisa, .. } = view;
    let rows = *view.shapes.tile(data)?.shape.first()?;
    let operand_text = view.text(operand);
    let column = view.shapes.tile(operand).is_some();
    let old_scale = scale.map(|it| view.text(it));
    let scaled = |text: String| match old_scale {
        Some(scale) => format!("({text}) * ({scale})"),
        None => text,
    };
    let tile = |text: String, column: bool| {
        if column || !view.source.first_dialect() {
            text
        } else {
            format!("{nl}.full(({rows}, 1), {text}, dtype={nl}.float32)")
        }
    };
    let scale_is_tile = scale.is_some_and(|it| view.shapes.tile(it).is_some());
    // Instructions that write to tiles take no expressions of tiles.
    let second = !view.source.first_dialect();
    let plain = match op {
        "multiply" => true,
        "divide" => !column,
        "add" => !column && !scale_is_tile || scale.is_none(),
        "subtract" => !column && !scale_is_tile || scale.is_none() && !reverse,
        _ => false,
    };
    if !plain && second {
        return None;
    }
    let mut before = Edits::default();
    let (scale, bias) = match (op, reverse) {
        ("multiply", _) if scale.is_none() => (
            Some(operand_text.to_owned()),
            bias.map(|it| view.text(it).to_owned()),
        ),
        ("divide", false) if scale.is_none() => (
            Some(format!("1.0 / ({operand_text})")),
            bias.map(|it| view.text(it).to_owned()),
        ),
        ("add", _) if bias.is_none() => (
            old_scale.map(str::to_owned),
            Some(tile(
                scaled(operand_text.to_owned()),
                column || scale_is_tile,
            )),
        ),
        ("subtract", false) if bias.is_none() => {
            let (text, own) = negated(view, place, operand)?;
            before = own;
            let bias = tile(scaled(text), column || scale_is_tile);
            (old_scale.map(str::to_owned), Some(bias))
        }
        ("subtract", true) if bias.is_none() && scale.is_none() => (
            Some("-1.0".to_owned()),
            Some(tile(operand_text.to_owned(), column)),
        ),
        _ => return None,
    };
    let mut text = format!(
        "{nisa}.activation(op={nl}.{function}, data={}",
        view.text(data)
    );
    if let Some(bias) = bias {
        text.push_str(&format!(", bias={bias}"));
    }
    if let Some(scale) = scale {
        text.push_str(&format!(", scale={scale}"));
    }
    text.push(')');
    Some((text, dropped, before))
}
