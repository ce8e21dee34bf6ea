//! Built-in functions.

use std::rc::Rc;

use super::calls::Arguments;
use super::interpreter::{Interpreter, type_error};
use super::objects::ClassKind;
use super::release::Items;
use super::subscripts::range_length;
use super::value::{Partial, Value};
use crate::device::Device;
use crate::diagnostic::{Failure, FailureKind, Outcome};
use crate::foreign::Foreign;

impl<F: Foreign> Interpreter<F> {
    pub(super) fn builtin(
        &mut self,
        name: &'static str,
        arguments: Arguments<F>,
        line: u32,
    ) -> Outcome<Value<F>> {
        let Arguments {
            positional,
            keywords,
        } = arguments;
        let count = positional.len();
        let wrong = || wrong_arguments(name, count);
        if let Some(value) = self.item_builtin(name, &positional, &keywords, line)? {
            return Ok(value);
        }
        let first = positional.first();
        let second = positional.get(1);
        Ok(match name {
            "range" => range(name, &positional, F::Loop::default())?,
            "len" => Value::Int(match first.ok_or_else(wrong)? {
                Value::List(list) => list.borrow().0.len() as i64,
                Value::Tuple(items) => items.0.len() as i64,
                Value::Dict(dict) | Value::Set(dict) => dict.borrow().entries.len() as i64,
                Value::Str(text) => text.chars().count() as i64,
                Value::Range(range, _) => range_length(range.0, range.1, range.2).max(0),
                Value::Foreign(value) => value.length().ok_or_else(wrong)?,
                Value::Object(object) if object.class.kind == ClassKind::Named => {
                    object.class.fields.len() as i64
                }
                object @ Value::Object(_) => {
                    let length = self.special(object, "__len__", Vec::new(), line);
                    length.ok_or_else(wrong)??.as_int().ok_or_else(wrong)?
                }
                _ => return Err(wrong()),
            }),
            "object.__init__" => Value::None,
            "getenv" => second.cloned().unwrap_or(Value::None),
            "getLogger" => Value::Module("logger"),
            "int" => match first {
                Some(Value::Str(text)) => {
                    let base = second.map_or(Some(10), Value::as_int);
                    let answer = super::surroundings::plain(&positional[0]).unwrap_or(0);
                    self.device.ask("the number of a text", answer)?;
                    super::texts::whole(text, base).ok_or_else(|| {
                        Failure::python(
                            "value-error",
                            format!("{text:?} is no whole number of that base and of 64 bits"),
                            "pass digits of the base, which is 0 or 2 to 36",
                        )
                    })?
                }
                Some(value) => match value.as_int() {
                    Some(value) => Value::Int(value),
                    None => {
                        let number = value.as_number().ok_or_else(wrong)?;
                        if !number.is_finite() || number.abs() > 9e18 {
                            return Err(Failure::python(
                                "overflow-error",
                                "the number does not fit 64 bits",
                                "check the number",
                            ));
                        }
                        Value::Int(number as i64)
                    }
                },
                None => Value::Int(0),
            },
            "float" => match first {
                Some(Value::Str(text)) => match text.trim() {
                    "inf" | "infinity" => Value::Float(f64::INFINITY),
                    "-inf" => Value::Float(f64::NEG_INFINITY),
                    "nan" => Value::Float(f64::NAN),
                    other => other.parse().map(Value::Float).map_err(|_| wrong())?,
                },
                Some(value) => Value::Float(value.as_number().ok_or_else(wrong)?),
                None => Value::Float(0.0),
            },
            "bool" => match first {
                Some(value) => Value::Bool(self.truth(value)?),
                None => Value::Bool(false),
            },
            "str" => match first {
                Some(value) => Value::str(&self.text(value, line)?),
                None => Value::str(""),
            },
            "repr" => Value::str(&self.repr(first.ok_or_else(wrong)?, line)?),
            "abs" => match first.ok_or_else(wrong)? {
                Value::Float(value) => Value::Float(value.abs()),
                Value::Foreign(value) if let Some(remedy) = value.instead_of("abs") => {
                    return Err(type_error(remedy));
                }
                value => Value::Int(
                    value
                        .as_int()
                        .and_then(i64::checked_abs)
                        .ok_or_else(wrong)?,
                ),
            },
            "round" => {
                let number = first.and_then(Value::as_number).ok_or_else(wrong)?;
                match second {
                    None => Value::Int(number.round_ties_even() as i64),
                    Some(digits) => {
                        let digits = digits.as_int().ok_or_else(wrong)?.clamp(-300, 300) as i32;
                        let scale = 10f64.powi(digits);
                        Value::Float((number * scale).round_ties_even() / scale)
                    }
                }
            }
            "divmod" => {
                let pair = [
                    super::tree::Binary::FloorDivide,
                    super::tree::Binary::Modulo,
                ];
                let mut parts = Vec::new();
                for operator in pair {
                    let (a, b) = (
                        first.cloned().ok_or_else(wrong)?,
                        second.cloned().ok_or_else(wrong)?,
                    );
                    parts.push(self.binary(operator, a, b, line)?);
                }
                Value::tuple(parts)
            }
            "pow" => {
                let (a, b) = (
                    first.cloned().ok_or_else(wrong)?,
                    second.cloned().ok_or_else(wrong)?,
                );
                self.binary(super::tree::Binary::Power, a, b, line)?
            }
            "slice" => {
                let mut parts = positional.clone();
                match count {
                    1 => parts = vec![Value::None, parts.remove(0), Value::None],
                    2 => parts.push(Value::None),
                    3 => {}
                    _ => return Err(wrong()),
                }
                Value::Slice(Rc::new(Items(parts)))
            }
            "mul" | "operator_add" => {
                let operator = if name == "mul" {
                    super::tree::Binary::Multiply
                } else {
                    super::tree::Binary::Add
                };
                let (a, b) = (
                    first.cloned().ok_or_else(wrong)?,
                    second.cloned().ok_or_else(wrong)?,
                );
                self.binary(operator, a, b, line)?
            }
            "isinstance" => {
                let kinds = match second.ok_or_else(wrong)? {
                    Value::Tuple(items) => items.0.clone(),
                    other => vec![other.clone()],
                };
                let value = first.ok_or_else(wrong)?;
                let own = value.type_name();
                Value::Bool(kinds.iter().any(|kind| match kind {
                    Value::Class(class) => {
                        matches!(value, Value::Object(object) if object.class.is(class))
                    }
                    Value::Symbol("base:configuration") => match value {
                        Value::Object(object) => object.class.of_base,
                        Value::Foreign(value) => value.is_of_base(),
                        _ => false,
                    },
                    Value::Type(name) => *name == own || (*name == "int" && own == "bool"),
                    _ => false,
                }))
            }
            "type" => match first.ok_or_else(wrong)? {
                Value::Object(object) => Value::Class(Rc::clone(&object.class)),
                other => Value::Type(other.type_name()),
            },
            "callable" => Value::Bool(first.is_some_and(|v| v.type_name() == "function")),
            "hasattr" | "getattr" => {
                let (Some(object), Some(Value::Str(attribute))) = (first, second) else {
                    return Err(wrong());
                };
                if attribute.starts_with("__") {
                    return Err(Failure::unsupported(
                        "unsupported-python",
                        format!("the name `{attribute}` is not available in kernels"),
                        format!("use {}", F::INTERFACES),
                    ));
                }
                match (self.attribute(object, attribute), name, positional.get(2)) {
                    (result, "hasattr", _) => Value::Bool(result.is_ok()),
                    (Ok(value), ..) => value,
                    (Err(_), _, Some(default)) => default.clone(),
                    (Err(failure), _, None) => return Err(failure),
                }
            }
            "setattr" => {
                let [object, Value::Str(attribute), value] = &*positional else {
                    return Err(wrong());
                };
                if let Value::Module(module) = object {
                    return Err(Failure::new(
                        FailureKind::Rejected,
                        "interface-changed",
                        format!("`setattr` changes `{module}`"),
                        "call the function that is meant",
                    ));
                }
                self.store_attribute(object, attribute, value.clone(), line)?;
                Value::None
            }
            "partial" => {
                let Some((function, rest)) = positional.split_first() else {
                    return Err(wrong());
                };
                self.reserve(2 + (rest.len() + keywords.len()) as u64, line)?;
                Value::Partial(Rc::new(Partial {
                    function: function.clone(),
                    positional: Items(rest.to_vec()),
                    keywords,
                }))
            }
            "auto" => Value::Symbol("enum.auto"),
            "print" => Value::None,
            _ => {
                let arguments = Arguments {
                    positional,
                    keywords,
                };
                if let Some(value) = F::builtin(self, name, arguments, line)? {
                    return Ok(value);
                }
                return Err(Failure::unsupported(
                    "unsupported-python",
                    format!("the built-in `{name}` is not available in kernels"),
                    format!("use loops, lists and {}", F::INTERFACES),
                ));
            }
        })
    }
}

/// The range of this kind that `name` makes of its arguments.
///
/// # Errors
/// They are no whole numbers, or the step is zero.
pub fn range<F: Foreign>(name: &str, arguments: &[Value<F>], kind: F::Loop) -> Outcome<Value<F>> {
    let wrong = || wrong_arguments(name, arguments.len());
    let integer = |at: usize| arguments[at].as_int().ok_or_else(wrong);
    let (start, stop, step) = match arguments.len() {
        1 => (0, integer(0)?, 1),
        2 => (integer(0)?, integer(1)?, 1),
        3 => (integer(0)?, integer(1)?, integer(2)?),
        _ => return Err(wrong()),
    };
    if step == 0 {
        return Err(Failure::python(
            "value-error",
            "a range has step 0",
            "use another step",
        ));
    }
    Ok(Value::Range((start, stop, step).into(), kind))
}

/// What a call of a built-in function says that it cannot make sense of.
pub(super) fn wrong_arguments(name: &str, count: usize) -> Box<Failure> {
    type_error(&format!(
        "`{name}` cannot be called with {count} arguments like these"
    ))
}
