//! What expressions are: numbers, parts of tensors, operators.

use ruff_python_ast::{Expr, Number, Operator, UnaryOp};
use ruff_text_size::Ranged;

use super::super::source::name_of;
use super::walk::Walk;
use super::{Affine, Memory, Tensor, Value};

impl Walk<'_, '_> {
    pub(super) fn find(&mut self, expression: &Expr) -> Option<Value> {
        match expression {
            Expr::NumberLiteral(it) => match &it.value {
                Number::Int(number) => Some(Value::Whole(Affine::of(number.as_i64()?))),
                Number::Float(number) => Some(Value::Number(*number)),
                Number::Complex { .. } => None,
            },
            Expr::Name(it) => self.names.get(it.id.as_str()).cloned(),
            Expr::Tuple(it) => Some(Value::Tuple(
                it.elts.iter().map(|it| self.value(it)).collect(),
            )),
            Expr::List(it) => Some(Value::Tuple(
                it.elts.iter().map(|it| self.value(it)).collect(),
            )),
            Expr::UnaryOp(it) => {
                let value = self.value(&it.operand);
                match (it.op, value) {
                    (UnaryOp::USub, Value::Whole(number)) => Some(Value::Whole(number.times(-1)?)),
                    (UnaryOp::USub, Value::Number(number)) => Some(Value::Number(-number)),
                    (UnaryOp::USub, value @ Value::Tensor(_)) => Some(value),
                    _ => None,
                }
            }
            Expr::BinOp(it) => {
                let (left, right) = (self.value(&it.left), self.value(&it.right));
                if let (Value::Whole(a), Some(by), true) =
                    (&left, right.whole(), self.source.first_dialect())
                    && a.fixed().is_none()
                {
                    match it.op {
                        Operator::FloorDiv => return a.quotient("//", by).map(Value::Whole),
                        Operator::Mod => return a.quotient("%", by).map(Value::Whole),
                        _ => {}
                    }
                }
                operate(it.op, left, right)
            }
            Expr::Attribute(it) => {
                if let Some(path) = self.source.path(expression) {
                    if let Some(found) = constant(&path) {
                        return Some(found);
                    }
                    return path
                        .strip_prefix("nl.")
                        .or_else(|| path.strip_prefix("np."))
                        .map(|name| Value::Type(name.to_owned()));
                }
                if let Some(name) = name_of(&it.value)
                    && let Some(found) = self.names.get(&format!("{name}.{}", it.attr))
                {
                    return Some(found.clone());
                }
                let tensor = match self.value(&it.value) {
                    Value::Tensor(tensor) => tensor,
                    // `nl.mgrid[0:a, 0:b].p`
                    Value::Tuple(axes) => {
                        let axis = ["p", "x", "y", "z"]
                            .iter()
                            .position(|name| *name == it.attr.as_str())?;
                        return axes
                            .get(axis)
                            .filter(|it| matches!(it, Value::Index(_)))
                            .cloned();
                    }
                    _ => return None,
                };
                match it.attr.as_str() {
                    "shape" => Some(Value::Tuple(
                        tensor
                            .shape
                            .iter()
                            .map(|it| Value::Whole(Affine::of(*it)))
                            .collect(),
                    )),
                    "dtype" => tensor.dtype.map(Value::Type),
                    _ => None,
                }
            }
            Expr::Subscript(it) => {
                if self.source.path(&it.value).as_deref() == Some("nl.mgrid") {
                    return self.grid(&it.slice);
                }
                let whole = self.value(&it.value);
                match whole {
                    Value::Tuple(items) => match self.value(&it.slice) {
                        Value::Whole(at) => {
                            let at = at.fixed()?;
                            let at = if at < 0 { at + items.len() as i64 } else { at };
                            items.get(usize::try_from(at).ok()?).cloned()
                        }
                        _ => None,
                    },
                    Value::List(item, _) => match self.value(&it.slice) {
                        Value::Whole(_) => Some(Value::Tensor(item)),
                        _ => None,
                    },
                    Value::Tensor(tensor) => {
                        let parts = match it.slice.as_ref() {
                            Expr::Tuple(parts) => parts.elts.iter().collect(),
                            other => vec![other],
                        };
                        self.part(tensor, &parts)
                    }
                    Value::Index(shape) => {
                        // `[:, None]` adds a dimension.
                        let Expr::Tuple(parts) = it.slice.as_ref() else {
                            return None;
                        };
                        let mut sizes = shape.iter();
                        let mut out = Vec::new();
                        for part in &parts.elts {
                            match part {
                                Expr::NoneLiteral(_) => out.push(1),
                                Expr::Slice(_) => out.push(*sizes.next()?),
                                _ => return None,
                            }
                        }
                        Some(Value::Index(out))
                    }
                    _ => None,
                }
            }
            Expr::Call(it) => self.call(it),
            Expr::Compare(it) => {
                self.value(&it.left);
                for other in &it.comparators {
                    self.value(other);
                }
                None
            }
            Expr::BoolOp(it) => {
                for value in &it.values {
                    self.value(value);
                }
                None
            }
            // Both have one shape, if the kernel is right.
            Expr::If(it) => {
                self.value(&it.test);
                let (one, other) = (self.value(&it.body), self.value(&it.orelse));
                Some(if one == Value::Unknown { other } else { one })
            }
            _ => None,
        }
    }

    /// `nl.mgrid[0:a, 0:b]`: an index expression for each dimension.
    pub(super) fn grid(&mut self, slice: &Expr) -> Option<Value> {
        let Expr::Tuple(parts) = slice else {
            return None;
        };
        let mut shape = Vec::new();
        for part in &parts.elts {
            let Expr::Slice(slice) = part else {
                return None;
            };
            let low = match &slice.lower {
                Some(low) => self.value(low),
                None => Value::Whole(Affine::default()),
            };
            let (Value::Whole(low), Value::Whole(high)) = (low, self.value(slice.upper.as_ref()?))
            else {
                return None;
            };
            shape.push(high.plus(&low, -1)?.fixed()?);
        }
        Some(Value::Tuple(vec![Value::Index(shape.clone()); shape.len()]))
    }

    pub(super) fn part(&mut self, tensor: Tensor, parts: &[&Expr]) -> Option<Value> {
        let mut shape = Vec::new();
        let mut sizes = tensor.shape.iter().copied();
        let mut index: Option<Vec<i64>> = None;
        for part in parts {
            if matches!(part, Expr::EllipsisLiteral(_)) {
                shape.extend(sizes.by_ref());
                continue;
            }
            let size = sizes.next()?;
            let value = match part {
                Expr::Slice(slice) => {
                    let low = slice.lower.as_ref().map(|it| self.value(it));
                    let high = slice.upper.as_ref().map(|it| self.value(it));
                    if slice.step.is_some() {
                        return None;
                    }
                    let whole = |value: Option<Value>, default: i64| match value {
                        None => Some(Affine::of(default)),
                        Some(Value::Whole(it)) => Some(it),
                        _ => None,
                    };
                    let (low, high) = (whole(low, 0)?, whole(high, size)?);
                    let length = high.plus(&low, -1)?.fixed()?;
                    let window = Value::Window(low, length);
                    self.shapes.values.insert(part.range(), window.clone());
                    window
                }
                other => self.value(other),
            };
            match value {
                Value::Whole(_) => {}
                Value::Window(_, length) => shape.push(length),
                Value::Index(sizes) => {
                    index = Some(match index {
                        None => sizes,
                        Some(old) => broadcast(&old, &sizes)?,
                    });
                }
                _ => return None,
            }
        }
        shape.extend(sizes);
        if let Some(index) = index {
            shape = index;
        }
        if shape.is_empty() {
            shape.push(1);
        }
        Some(Value::Tensor(Tensor { shape, ..tensor }))
    }
}

pub(super) fn sizes(value: &Value) -> Option<Vec<i64>> {
    match value {
        Value::Tuple(items) => items
            .iter()
            .map(|it| match it {
                Value::Whole(size) => size.fixed(),
                _ => None,
            })
            .collect(),
        Value::Whole(size) => Some(vec![size.fixed()?]),
        _ => None,
    }
}

/// The shape of two tiles combined; a single partition or column repeats.
pub(super) fn broadcast(a: &[i64], b: &[i64]) -> Option<Vec<i64>> {
    let rank = a.len().max(b.len());
    let size = |shape: &[i64], at: usize| {
        (at + shape.len())
            .checked_sub(rank)
            .map_or(1, |at| shape[at])
    };
    (0..rank)
        .map(|at| match (size(a, at), size(b, at)) {
            (x, y) if x == y => Some(x),
            (1, y) => Some(y),
            (x, 1) => Some(x),
            _ => None,
        })
        .collect()
}

fn operate(operator: Operator, left: Value, right: Value) -> Option<Value> {
    Some(match (left, right) {
        (Value::Whole(a), Value::Whole(b)) => match operator {
            Operator::Add => Value::Whole(a.plus(&b, 1)?),
            Operator::Sub => Value::Whole(a.plus(&b, -1)?),
            Operator::Mult => match (a.fixed(), b.fixed()) {
                (Some(a), _) => Value::Whole(b.times(a)?),
                (_, Some(b)) => Value::Whole(a.times(b)?),
                _ => return None,
            },
            Operator::FloorDiv => {
                Value::Whole(Affine::of(a.fixed()?.checked_div_euclid(b.fixed()?)?))
            }
            Operator::Mod => Value::Whole(Affine::of(a.fixed()?.checked_rem_euclid(b.fixed()?)?)),
            Operator::Div => Value::Number(a.fixed()? as f64 / b.fixed()? as f64),
            Operator::Pow => Value::Whole(Affine::of(
                a.fixed()?.checked_pow(u32::try_from(b.fixed()?).ok()?)?,
            )),
            _ => return None,
        },
        (Value::Index(shape), Value::Whole(_)) | (Value::Whole(_), Value::Index(shape)) => {
            Value::Index(shape)
        }
        (Value::Index(a), Value::Index(b)) => Value::Index(broadcast(&a, &b)?),
        (Value::Tensor(a), Value::Tensor(b)) => Value::Tensor(Tensor {
            shape: broadcast(&a.shape, &b.shape)?,
            memory: Memory::Sbuf,
            dtype: a.dtype,
        }),
        (Value::Tensor(a), Value::Whole(_) | Value::Number(_))
        | (Value::Whole(_) | Value::Number(_), Value::Tensor(a)) => Value::Tensor(Tensor {
            memory: Memory::Sbuf,
            ..a
        }),
        (a, b) => {
            let number = |value: &Value| match value {
                Value::Number(it) => Some(*it),
                Value::Whole(it) => it.fixed().map(|it| it as f64),
                _ => None,
            };
            let (a, b) = (number(&a)?, number(&b)?);
            Value::Number(match operator {
                Operator::Add => a + b,
                Operator::Sub => a - b,
                Operator::Mult => a * b,
                Operator::Div => a / b,
                Operator::Pow => a.powf(b),
                _ => return None,
            })
        }
    })
}

/// Numbers that modules name, of those that do not depend on the machine.
fn constant(path: &str) -> Option<Value> {
    let whole = |number| Some(Value::Whole(Affine::of(number)));
    match path {
        "nl.tile_size.pmax" | "nl.tile_size.gemm_stationary_fmax" => whole(128),
        "nl.tile_size.psum_fmax" | "nl.tile_size.gemm_moving_fmax" => whole(512),
        "math.pi" | "np.pi" => Some(Value::Number(std::f64::consts::PI)),
        "math.e" => Some(Value::Number(std::f64::consts::E)),
        _ => None,
    }
}
