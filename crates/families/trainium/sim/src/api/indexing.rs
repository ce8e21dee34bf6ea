//! Index expressions as values: `arange`, `mgrid`, their arithmetic, masks.

use std::rc::Rc;

use super::{Bound, Device, Nki, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::index::{Index, Mask};
use autocomp_python::{Binary, Comparison};

fn too_large() -> Box<Failure> {
    Failure::python(
        "overflow-error",
        "an index expression does not fit",
        "check shapes and factors of the index",
    )
}

/// `nl.arange(stop)`, `nl.arange(start, stop, step)`.
pub(super) fn arange(_: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let first = bound.integer("start")?;
    let second = bound.integer("stop")?;
    let step = bound.integer("step")?.unwrap_or(1);
    let (start, stop) = match (first, second) {
        (Some(start), Some(stop)) => (start, stop),
        (Some(stop), None) | (None, Some(stop)) => (0, stop),
        (None, None) => return Err(bound.missing("stop")),
    };
    if step == 0 {
        return Err(Failure::python(
            "value-error",
            "nl.arange has step 0",
            "use another step",
        ));
    }
    let size = if step > 0 {
        stop.saturating_sub(start).saturating_add(step - 1).max(0) / step
    } else {
        start
            .saturating_sub(stop)
            .saturating_sub(step)
            .saturating_sub(1)
            .max(0)
            / step.saturating_neg()
    };
    if !(1..=1 << 31).contains(&size) {
        return Err(Failure::python(
            "value-error",
            format!("nl.arange of {size} positions"),
            "give it at least one position",
        ));
    }
    Ok(Value::Foreign(Nki::Index(Rc::new(Index::range(
        start,
        size as usize,
        step,
    )))))
}

/// `nl.ds(start, size)`.
pub(super) fn window(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let start = bound.take("start");
    let by_register = matches!(start, Some(Value::Foreign(Nki::Register(_))));
    let start = match start {
        // Where a tile lies makes no difference where only shapes are evaluated.
        Some(Value::Foreign(Nki::Register(register))) => Some(device.used(&register).unwrap_or(0)),
        Some(other) => Some(
            other
                .as_int()
                .ok_or_else(|| bound.wrong("start", "a whole number", &other))?,
        ),
        None => None,
    };
    let size = bound.integer("size")?;
    match (start, size) {
        (Some(start), Some(size)) if by_register => Ok(Value::DeviceWindow(start, size)),
        (Some(start), Some(size)) => Ok(Value::Window(start, size)),
        _ => Err(bound.missing("size")),
    }
}

/// `nl.par_dim(size)`.
pub(super) fn partition(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let value = bound.required("value")?;
    match value.as_int() {
        Some(size) if device.dialect == super::Dialect::V2 => Ok(Value::Int(size)),
        Some(size) => Ok(Value::Foreign(Nki::Partition(size))),
        None => Err(bound.wrong("value", "a size", &value)),
    }
}

/// `nl.mgrid[a:b, c:d]`.
pub(crate) fn grid(index: &Value) -> Outcome<Value> {
    let parts: Vec<Value> = match index {
        Value::Tuple(items) => items.0.clone(),
        other => vec![other.clone()],
    };
    let mut sizes = Vec::new();
    for part in &parts {
        let range = match part {
            Value::Slice(items) => {
                let start = match &items.0[0] {
                    Value::None => Some(0),
                    value => value.as_int(),
                };
                let step = match &items.0[2] {
                    Value::None => Some(1),
                    value => value.as_int(),
                };
                match (start, items.0[1].as_int(), step) {
                    (Some(start), Some(stop), Some(1))
                        if stop > start && stop.saturating_sub(start) < 1 << 31 =>
                    {
                        Some((start, (stop - start) as usize))
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        sizes.push(range.ok_or_else(|| {
            Failure::python(
                "value-error",
                "mgrid takes slices start:stop of whole numbers",
                "write nl.mgrid[0:128, 0:512]",
            )
        })?);
    }
    let shape: Vec<usize> = sizes.iter().map(|(_, size)| *size).collect();
    let indices = sizes.iter().enumerate().map(|(position, (start, _))| {
        let mut coefficients = vec![0; shape.len()];
        coefficients[position] = 1;
        Index {
            shape: shape.clone(),
            coefficients,
            constant: *start,
        }
    });
    Ok(Value::Foreign(Nki::Grid(Rc::new(indices.collect()))))
}

/// `index[:, None]` and the like: new dimensions.
pub(crate) fn expand(inner: &Rc<Index>, index: &Value) -> Outcome<Value> {
    let parts: Vec<Value> = match index {
        Value::Tuple(items) => items.0.clone(),
        other => vec![other.clone()],
    };
    let mut shape = Vec::new();
    let mut coefficients = Vec::new();
    let mut own = 0;
    for part in &parts {
        match part {
            Value::None => {
                shape.push(1);
                coefficients.push(0);
            }
            Value::Slice(items)
                if items.0.iter().all(|v| matches!(v, Value::None)) && own < inner.shape.len() =>
            {
                shape.push(inner.shape[own]);
                coefficients.push(inner.coefficients[own]);
                own += 1;
            }
            Value::Ellipsis => {
                while own < inner.shape.len() {
                    shape.push(inner.shape[own]);
                    coefficients.push(inner.coefficients[own]);
                    own += 1;
                }
            }
            _ => {
                return Err(Failure::unsupported(
                    "unsupported-index",
                    "index expressions take `:` and `None` only",
                    "write nl.arange(n)[:, None] or nl.arange(n)[None, :]",
                ));
            }
        }
    }
    while own < inner.shape.len() {
        shape.push(inner.shape[own]);
        coefficients.push(inner.coefficients[own]);
        own += 1;
    }
    if shape.len() > 8 {
        return Err(too_large());
    }
    Ok(Value::Foreign(Nki::Index(Rc::new(Index {
        shape,
        coefficients,
        constant: inner.constant,
    }))))
}

/// Arithmetic with an index expression or mask among the operands; `None` where there is none.
pub(crate) fn arithmetic(operator: Binary, left: &Value, right: &Value) -> Outcome<Option<Value>> {
    let wrap = |index: Option<Index>| {
        index
            .map(|i| Some(Value::Foreign(Nki::Index(Rc::new(i)))))
            .ok_or_else(too_large)
    };
    let not_affine = || {
        Failure::documented(
            "err_unsupported_expression_in_mask",
            "index expressions are sums of nl.arange and whole numbers, times whole numbers",
            "keep indices affine: use + - and * with constants and loop indices",
        )
    };
    match (left, right) {
        (Value::Foreign(Nki::Mask(a)), Value::Foreign(Nki::Mask(b))) => match operator {
            Binary::And | Binary::Multiply => {
                Ok(Some(Value::Foreign(Nki::Mask(Rc::new(a.and(b))))))
            }
            _ => Err(not_affine()),
        },
        (Value::Foreign(Nki::Mask(mask)), other) | (other, Value::Foreign(Nki::Mask(mask))) => {
            match (operator, other) {
                (Binary::And, Value::Bool(true)) => {
                    Ok(Some(Value::Foreign(Nki::Mask(Rc::clone(mask)))))
                }
                (Binary::And, Value::Bool(false)) => {
                    Ok(Some(Value::Foreign(Nki::Mask(Rc::new(Mask {
                        conditions: Vec::new(),
                        never: true,
                    })))))
                }
                (_, Value::Foreign(Nki::Tensor(_))) => Ok(None),
                _ => Err(not_affine()),
            }
        }
        (Value::Foreign(Nki::Index(a)), Value::Foreign(Nki::Index(b))) => match operator {
            Binary::Add => wrap(a.combine(b, 1)),
            Binary::Subtract => wrap(a.combine(b, -1)),
            _ => Err(not_affine()),
        },
        (Value::Foreign(Nki::Index(index)), other) => match (operator, other.as_int()) {
            (Binary::Add, Some(n)) => wrap(index.shift(n)),
            (Binary::Subtract, Some(n)) => wrap(n.checked_neg().and_then(|n| index.shift(n))),
            (Binary::Multiply, Some(n)) => wrap(index.scale(n)),
            (Binary::FloorDivide | Binary::Modulo, Some(n)) if n > 0 => {
                // Affine where every position has the same quotient.
                let (low, high) = index.bounds();
                let quotient = low.div_euclid(n);
                if quotient != high.div_euclid(n) {
                    return Err(not_affine());
                }
                if operator == Binary::Modulo {
                    wrap(index.shift(-quotient * n))
                } else {
                    wrap(Some(Index {
                        shape: index.shape.clone(),
                        coefficients: vec![0; index.shape.len()],
                        constant: quotient,
                    }))
                }
            }
            (_, None) if matches!(other, Value::Foreign(Nki::Tensor(_))) => Ok(None),
            _ => Err(not_affine()),
        },
        (other, Value::Foreign(Nki::Index(index))) => match (operator, other.as_int()) {
            (Binary::Add, Some(n)) => wrap(index.shift(n)),
            (Binary::Subtract, Some(n)) => wrap(index.scale(-1).and_then(|i| i.shift(n))),
            (Binary::Multiply, Some(n)) => wrap(index.scale(n)),
            (_, None) if matches!(other, Value::Foreign(Nki::Tensor(_))) => Ok(None),
            _ => Err(not_affine()),
        },
        _ => Ok(None),
    }
}

/// A comparison with an index expression among the operands: a mask.
pub(crate) fn comparison(
    operator: Comparison,
    left: &Value,
    right: &Value,
) -> Outcome<Option<Value>> {
    let as_index = |value: &Value| match value {
        Value::Foreign(Nki::Index(index)) => Some(Index::clone(index)),
        other => other.as_int().map(|n| Index {
            shape: vec![1],
            coefficients: vec![0],
            constant: n,
        }),
    };
    if !matches!(left, Value::Foreign(Nki::Index(_)))
        && !matches!(right, Value::Foreign(Nki::Index(_)))
    {
        return Ok(None);
    }
    let (Some(a), Some(b)) = (as_index(left), as_index(right)) else {
        return Err(Failure::documented(
            "err_unsupported_expression_in_mask",
            "masks compare index expressions with whole numbers or each other",
            "compare nl.arange expressions with loop indices and constants",
        ));
    };
    let difference = a.combine(&b, -1).ok_or_else(too_large)?;
    let reverse = difference.scale(-1).ok_or_else(too_large)?;
    let shift = |index: Index, by| index.shift(by).ok_or_else(too_large);
    let conditions = match operator {
        Comparison::GreaterEqual => vec![difference],
        Comparison::Greater => vec![shift(difference, -1)?],
        Comparison::LessEqual => vec![reverse],
        Comparison::Less => vec![shift(reverse, -1)?],
        Comparison::Equal => vec![difference, reverse],
        _ => {
            return Err(Failure::documented(
                "err_unsupported_expression_in_mask",
                "masks are made with < <= > >= == and &",
                "split the condition into two masked operations",
            ));
        }
    };
    Ok(Some(Value::Foreign(Nki::Mask(Rc::new(Mask {
        conditions,
        never: false,
    })))))
}

/// The mask of an instruction.
pub(crate) fn mask_of(value: Option<Value>) -> Outcome<Option<Mask>> {
    match value {
        None | Some(Value::None) => Ok(None),
        Some(Value::Foreign(Nki::Mask(mask))) => Ok(Some(Mask::clone(&mask))),
        Some(Value::Bool(true)) => Ok(None),
        Some(Value::Bool(false)) => Ok(Some(Mask {
            conditions: Vec::new(),
            never: true,
        })),
        Some(other) => Err(Failure::documented(
            "err_unsupported_expression_in_mask",
            format!(
                "mask= must be a comparison of index expressions, not a {}",
                other.type_name()
            ),
            "compare nl.arange expressions with loop indices and constants",
        )),
    }
}
