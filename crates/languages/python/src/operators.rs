//! Operators on numbers, texts and sequences.

use std::rc::Rc;

use super::interpreter::{Interpreter, type_error};
use super::tree::{Binary, Unary};
use super::value::Value;
use crate::device::Device;
use crate::diagnostic::{Failure, Outcome};
use crate::foreign::Foreign;

fn overflow() -> Box<Failure> {
    Failure::python(
        "overflow-error",
        "an integer leaves the range of 64 bits",
        "keep sizes and indices small",
    )
}

fn division() -> Box<Failure> {
    Failure::python(
        "zero-division-error",
        "division by zero",
        "check the divisor",
    )
}

impl<F: Foreign> Interpreter<F> {
    /// `left operator right`.
    ///
    /// # Errors
    /// The operator does not take them.
    pub fn binary(
        &mut self,
        operator: Binary,
        mut left: Value<F>,
        mut right: Value<F>,
        line: u32,
    ) -> Outcome<Value<F>> {
        if matches!(left, Value::Foreign(_)) || matches!(right, Value::Foreign(_)) {
            match F::binary(self, operator, left, right, line)? {
                Ok(result) => return Ok(result),
                Err(both) => (left, right) = both,
            }
        }
        if let (Some(a), Some(b)) = (left.as_int(), right.as_int()) {
            return integers(operator, a, b, &left, &right);
        }
        if let (Some(a), Some(b)) = (left.as_number(), right.as_number()) {
            return floats(operator, a, b);
        }
        match (operator, &left, &right) {
            (Binary::Add, Value::Str(a), Value::Str(b)) => {
                self.reserve((a.len() + b.len()) as u64 / 8 + 1, line)?;
                Ok(Value::str(&format!("{a}{b}")))
            }
            (Binary::Add, Value::List(a), Value::List(b)) => {
                self.reserve((a.borrow().0.len() + b.borrow().0.len()) as u64, line)?;
                let mut items = a.borrow().0.clone();
                items.extend(b.borrow().0.iter().cloned());
                Ok(Value::list(items))
            }
            (Binary::Add, Value::Tuple(a), Value::Tuple(b)) => {
                self.reserve((a.0.len() + b.0.len()) as u64, line)?;
                let mut items = a.0.clone();
                items.extend(b.0.iter().cloned());
                Ok(Value::tuple(items))
            }
            (Binary::Multiply, sequence, count) | (Binary::Multiply, count, sequence)
                if count.as_int().is_some()
                    && matches!(sequence, Value::List(_) | Value::Tuple(_) | Value::Str(_)) =>
            {
                let count = count.as_int().unwrap_or(0).max(0) as u64;
                self.repeat(sequence, count, line)
            }
            (Binary::Modulo, Value::Str(text), values) => {
                let text = self.percent_format(text, values, line)?;
                Ok(Value::str(&text))
            }
            (Binary::Subtract | Binary::And | Binary::Or, Value::Set(a), Value::Set(b)) => {
                let mut items: Vec<Value<F>> = a.borrow().names().collect();
                match operator {
                    Binary::Or => items.extend(b.borrow().names()),
                    _ => items = b.borrow().among(items, operator == Binary::And)?,
                }
                self.make_set(items)
            }
            (Binary::Or, Value::Dict(a), Value::Dict(b)) => {
                let mut dict = super::dictionary::Dict::default();
                for (name, value) in a.borrow().entries.iter().chain(&b.borrow().entries) {
                    dict.insert(
                        super::interpreter::hashable(name)?,
                        name.clone(),
                        value.clone(),
                    );
                }
                Ok(Value::Dict(Rc::new(std::cell::RefCell::new(dict))))
            }
            _ => {
                if let Some(result) = self.object_arithmetic(operator, &left, &right, line)? {
                    return Ok(result);
                }
                Err(type_error(&format!(
                    "unsupported operand types: {} and {}",
                    left.type_name(),
                    right.type_name()
                )))
            }
        }
    }

    fn repeat(&mut self, sequence: &Value<F>, count: u64, line: u32) -> Outcome<Value<F>> {
        let length = match sequence {
            Value::List(list) => list.borrow().0.len(),
            Value::Tuple(items) => items.0.len(),
            Value::Str(text) => text.len() / 8 + 1,
            _ => 0,
        };
        self.reserve(count.saturating_mul(length as u64), line)?;
        let count = count as usize;
        Ok(match sequence {
            Value::List(list) => Value::list(cycle(&list.borrow().0, count)),
            Value::Tuple(items) => Value::tuple(cycle(&items.0, count)),
            Value::Str(text) => Value::str(&text.repeat(count)),
            other => other.clone(),
        })
    }

    pub(super) fn unary(&mut self, operator: Unary, mut value: Value<F>) -> Outcome<Value<F>> {
        if matches!(value, Value::Foreign(_)) {
            match F::unary(self, operator, value)? {
                Ok(result) => return Ok(result),
                Err(operand) => value = operand,
            }
        }
        match (operator, &value) {
            (Unary::Plus, Value::Int(_) | Value::Float(_)) => Ok(value),
            (Unary::Negate, Value::Float(v)) => Ok(Value::Float(-v)),
            (Unary::Negate, _) if value.as_int().is_some() => value
                .as_int()
                .and_then(i64::checked_neg)
                .map(Value::Int)
                .ok_or_else(overflow),
            (Unary::Invert, _) if value.as_int().is_some() => {
                Ok(Value::Int(!value.as_int().unwrap_or(0)))
            }
            _ => {
                let line = self.device.line();
                let method = match operator {
                    Unary::Negate => self.special(&value, "__neg__", Vec::new(), line),
                    _ => None,
                };
                method.unwrap_or_else(|| {
                    Err(type_error(&format!(
                        "bad operand for a unary operator: {}",
                        value.type_name()
                    )))
                })
            }
        }
    }
}

fn cycle<F: Foreign>(items: &[Value<F>], count: usize) -> Vec<Value<F>> {
    let mut all = Vec::with_capacity(items.len() * count);
    for _ in 0..count {
        all.extend(items.iter().cloned());
    }
    all
}

fn integers<F: Foreign>(
    operator: Binary,
    a: i64,
    b: i64,
    left: &Value<F>,
    right: &Value<F>,
) -> Outcome<Value<F>> {
    let result = match operator {
        Binary::Add => a.checked_add(b),
        Binary::Subtract => a.checked_sub(b),
        Binary::Multiply => a.checked_mul(b),
        Binary::Divide => {
            if b == 0 {
                return Err(division());
            }
            return Ok(Value::Float(a as f64 / b as f64));
        }
        Binary::FloorDivide | Binary::Modulo if b == 0 => return Err(division()),
        Binary::FloorDivide => {
            let quotient = a.checked_div(b);
            quotient.map(|q| {
                if a % b != 0 && (a < 0) != (b < 0) {
                    q - 1
                } else {
                    q
                }
            })
        }
        Binary::Modulo => a.checked_rem(b).map(|r| {
            if r != 0 && (r < 0) != (b < 0) {
                r + b
            } else {
                r
            }
        }),
        Binary::Power => {
            if b < 0 {
                return floats(operator, a as f64, b as f64);
            }
            u32::try_from(b).ok().and_then(|b| a.checked_pow(b))
        }
        Binary::ShiftLeft | Binary::ShiftRight if b < 0 => {
            return Err(Failure::python(
                "value-error",
                format!("{b} is a negative shift count"),
                "shift by zero or more, or in the other direction",
            ));
        }
        Binary::ShiftLeft => {
            if !(0..63).contains(&b) {
                return Err(overflow());
            }
            a.checked_mul(1i64 << b)
        }
        Binary::ShiftRight => Some(if (0..64).contains(&b) {
            a >> b
        } else if a < 0 {
            -1
        } else {
            0
        }),
        Binary::And | Binary::Or | Binary::Xor => {
            let value = match operator {
                Binary::And => a & b,
                Binary::Or => a | b,
                _ => a ^ b,
            };
            if matches!((left, right), (Value::Bool(_), Value::Bool(_))) {
                return Ok(Value::Bool(value != 0));
            }
            Some(value)
        }
        Binary::MatrixMultiply => return Err(type_error("@ needs tensors")),
    };
    result.map(Value::Int).ok_or_else(overflow)
}

fn floats<F: Foreign>(operator: Binary, a: f64, b: f64) -> Outcome<Value<F>> {
    Ok(Value::Float(match operator {
        Binary::Add => a + b,
        Binary::Subtract => a - b,
        Binary::Multiply => a * b,
        Binary::Divide | Binary::FloorDivide | Binary::Modulo if b == 0.0 => return Err(division()),
        Binary::Power if a == 0.0 && b < 0.0 => return Err(division()),
        Binary::Power if a < 0.0 && b.is_finite() && b.fract() != 0.0 => {
            return Err(Failure::python(
                "type-error",
                format!("({a}) ** {b} is a complex number"),
                "take powers of numbers that are not negative",
            ));
        }
        Binary::Divide => a / b,
        Binary::FloorDivide => (a / b).floor(),
        Binary::Modulo => a - b * (a / b).floor(),
        Binary::Power => a.powf(b),
        _ => return Err(type_error("this operator needs integers")),
    }))
}
