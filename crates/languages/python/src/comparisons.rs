//! Comparisons, and the truth of a value.

use std::rc::Rc;

use super::interpreter::{Interpreter, MAXIMUM_DEPTH, type_error};
use super::objects::ClassKind;
use super::tree::Comparison;
use super::value::Value;
use crate::device::Device;
use crate::diagnostic::{Failure, FailureKind, Outcome};
use crate::foreign::Foreign;

impl<F: Foreign> Interpreter<F> {
    /// Equality; large values take steps.
    pub(super) fn equal(&mut self, left: &Value<F>, right: &Value<F>) -> Outcome<bool> {
        let mut budget = self.step_limit.saturating_sub(self.steps);
        let before = budget;
        let result = equal(left, right, MAXIMUM_DEPTH, &mut budget);
        self.steps += before - budget;
        result
    }

    /// Truth of a value.
    pub(super) fn truth(&mut self, value: &Value<F>) -> Outcome<bool> {
        Ok(match value {
            Value::None => false,
            Value::Bool(value) => *value,
            Value::Int(value) => *value != 0,
            Value::Float(value) => *value != 0.0,
            Value::Str(text) => !text.is_empty(),
            Value::List(list) => !list.borrow().0.is_empty(),
            Value::Tuple(items) => !items.0.is_empty(),
            Value::Dict(dict) | Value::Set(dict) => !dict.borrow().entries.is_empty(),
            Value::Range(range, _) => {
                super::subscripts::range_length(range.0, range.1, range.2) > 0
            }
            Value::Foreign(value) => value.truth()?,
            object @ Value::Object(_) => {
                let line = self.device.line();
                for method in ["__bool__", "__len__"] {
                    if let Some(result) = self.special(object, method, Vec::new(), line) {
                        return match result? {
                            Value::Bool(value) => Ok(value),
                            Value::Int(value) => Ok(value != 0),
                            _ => Err(type_error(&format!("`{method}` gives no truth value"))),
                        };
                    }
                }
                true
            }
            _ => true,
        })
    }

    pub(super) fn less(&mut self, left: &Value<F>, right: &Value<F>) -> Outcome<bool> {
        let result = self.compare(Comparison::Less, left, right)?;
        self.truth(&result)
    }

    pub(super) fn compare(
        &mut self,
        operator: Comparison,
        left: &Value<F>,
        right: &Value<F>,
    ) -> Outcome<Value<F>> {
        match operator {
            Comparison::Is | Comparison::IsNot => {
                let same = identical(left, right);
                return Ok(Value::Bool(same == (operator == Comparison::Is)));
            }
            Comparison::In | Comparison::NotIn => {
                let found = self.contains(right, left)?;
                return Ok(Value::Bool(found == (operator == Comparison::In)));
            }
            _ => {}
        }
        if (matches!(left, Value::Foreign(_)) || matches!(right, Value::Foreign(_)))
            && let Some(result) = F::compare(self, operator, left, right)?
        {
            return Ok(result);
        }
        if (matches!(left, Value::Object(_)) || matches!(right, Value::Object(_)))
            && let Some(result) = self.object_comparison(operator, left, right)?
        {
            return Ok(result);
        }
        let ordering = match operator {
            Comparison::Equal => return Ok(Value::Bool(self.equal(left, right)?)),
            Comparison::NotEqual => return Ok(Value::Bool(!self.equal(left, right)?)),
            _ => {
                let mut budget = self.step_limit.saturating_sub(self.steps);
                let before = budget;
                let ordering = order(left, right, MAXIMUM_DEPTH, &mut budget);
                self.steps += before - budget;
                ordering?
            }
        };
        Ok(Value::Bool(match operator {
            Comparison::Less => ordering == Some(std::cmp::Ordering::Less),
            Comparison::LessEqual => matches!(
                ordering,
                Some(std::cmp::Ordering::Less | std::cmp::Ordering::Equal)
            ),
            Comparison::Greater => ordering == Some(std::cmp::Ordering::Greater),
            _ => matches!(
                ordering,
                Some(std::cmp::Ordering::Greater | std::cmp::Ordering::Equal)
            ),
        }))
    }

    fn contains(&mut self, container: &Value<F>, item: &Value<F>) -> Outcome<bool> {
        Ok(match container {
            Value::Str(text) => match item {
                Value::Str(part) => text.contains(&**part),
                _ => return Err(type_error("`in` a string needs a string")),
            },
            Value::Dict(dict) | Value::Set(dict) => match item.key(MAXIMUM_DEPTH) {
                Some(key) => dict.borrow().keys.contains_key(&key),
                None => false,
            },
            other => {
                let line = self.device.line();
                if let Some(found) = self.special(other, "__contains__", vec![item.clone()], line) {
                    let found = found?;
                    return self.truth(&found);
                }
                let items = self.iterate(other, 0)?;
                for candidate in &items {
                    if self.equal(candidate, item)? {
                        return Ok(true);
                    }
                }
                false
            }
        })
    }
}

fn identical<F: Foreign>(left: &Value<F>, right: &Value<F>) -> bool {
    match (left, right) {
        (Value::None, Value::None) | (Value::Ellipsis, Value::Ellipsis) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Str(a), Value::Str(b)) => a == b,
        (Value::Foreign(a), Value::Foreign(b)) => a.is(b),
        (Value::Symbol(a), Value::Symbol(b))
        | (Value::Type(a), Value::Type(b))
        | (Value::Builtin(a), Value::Builtin(b)) => a == b,
        (Value::List(a), Value::List(b)) => Rc::ptr_eq(a, b),
        (Value::Tuple(a), Value::Tuple(b)) => Rc::ptr_eq(a, b),
        (Value::Dict(a), Value::Dict(b)) => Rc::ptr_eq(a, b),
        (Value::Function(a), Value::Function(b)) => Rc::ptr_eq(a, b),
        (Value::Class(a), Value::Class(b)) => Rc::ptr_eq(a, b),
        (Value::Object(a), Value::Object(b)) => Rc::ptr_eq(a, b),
        _ => false,
    }
}

/// Takes one comparison from the budget, and refuses values that are nested too deeply.
fn visit(depth: u32, budget: &mut u64) -> Outcome<()> {
    if depth == 0 || *budget == 0 {
        let code = if depth == 0 {
            "depth-limit"
        } else {
            "step-limit"
        };
        return Err(Failure::new(
            FailureKind::Limit,
            code,
            "values are nested too deeply, or too large, to be compared",
            "flatten them",
        ));
    }
    *budget -= 1;
    Ok(())
}

/// Equality, to a limited depth and within a budget of comparisons.
pub(super) fn equal<F: Foreign>(
    left: &Value<F>,
    right: &Value<F>,
    depth: u32,
    budget: &mut u64,
) -> Outcome<bool> {
    visit(depth, budget)?;
    if let (Some(a), Some(b)) = (left.as_number(), right.as_number()) {
        return Ok(a == b);
    }
    let mut all = |a: &[Value<F>], b: &[Value<F>]| -> Outcome<bool> {
        if a.len() != b.len() {
            return Ok(false);
        }
        for (x, y) in a.iter().zip(b) {
            if !equal(x, y, depth - 1, budget)? {
                return Ok(false);
            }
        }
        Ok(true)
    };
    Ok(match (left, right) {
        (Value::List(a), Value::List(b)) => Rc::ptr_eq(a, b) || all(&a.borrow().0, &b.borrow().0)?,
        (Value::Tuple(a), Value::Tuple(b)) => all(&a.0, &b.0)?,
        (Value::Dict(a), Value::Dict(b)) | (Value::Set(a), Value::Set(b)) => {
            let (a, b) = (a.borrow(), b.borrow());
            if a.entries.len() != b.entries.len() {
                return Ok(false);
            }
            for (name, value) in &a.entries {
                let Some(key) = name.key(MAXIMUM_DEPTH) else {
                    return Ok(false);
                };
                match b.get(&key) {
                    Some(other) if equal(value, other, depth - 1, budget)? => {}
                    _ => return Ok(false),
                }
            }
            true
        }
        (Value::Object(a), Value::Object(b)) => {
            let by_fields = matches!(a.class.kind, ClassKind::Data(_) | ClassKind::Named);
            Rc::ptr_eq(a, b)
                || (by_fields
                    && Rc::ptr_eq(&a.class, &b.class)
                    && all(&super::classes::items(a), &super::classes::items(b))?)
        }
        (Value::Range(a, _), Value::Range(b, _)) => a == b,
        (Value::Foreign(value), Value::Str(text)) | (Value::Str(text), Value::Foreign(value)) => {
            value.equals(text)
        }
        _ => identical(left, right),
    })
}

fn order<F: Foreign>(
    left: &Value<F>,
    right: &Value<F>,
    depth: u32,
    budget: &mut u64,
) -> Outcome<Option<std::cmp::Ordering>> {
    visit(depth, budget)?;
    if let (Some(a), Some(b)) = (left.as_int(), right.as_int()) {
        return Ok(Some(a.cmp(&b)));
    }
    if let (Some(a), Some(b)) = (left.as_number(), right.as_number()) {
        return Ok(a.partial_cmp(&b));
    }
    let mut lists = |a: &[Value<F>], b: &[Value<F>]| -> Outcome<Option<std::cmp::Ordering>> {
        for (x, y) in a.iter().zip(b) {
            if !equal(x, y, depth - 1, budget)? {
                return order(x, y, depth - 1, budget);
            }
        }
        Ok(Some(a.len().cmp(&b.len())))
    };
    match (left, right) {
        (Value::Str(a), Value::Str(b)) => Ok(Some(a.cmp(b))),
        (Value::Tuple(a), Value::Tuple(b)) => lists(&a.0, &b.0),
        (Value::List(a), Value::List(b)) => lists(&a.borrow().0, &b.borrow().0),
        _ => Err(type_error(&format!(
            "cannot order {} and {}",
            left.type_name(),
            right.type_name()
        ))),
    }
}
