//! Arguments of interfaces, and what they must be.

use std::rc::Rc;

use super::Api;
use crate::diagnostic::{Failure, Outcome};
use crate::python::value::Value;
use crate::tensor::dtype::Dtype;
use crate::tensor::storage::Buffer;
use crate::tensor::view::View;

/// Arguments bound to the parameters of an interface.
pub(crate) struct Bound {
    pub(crate) api: &'static Api,
    pub(crate) names: Rc<[&'static str]>,
    pub(crate) values: Vec<Option<Value>>,
}

/// The data type that a value names.
pub(crate) fn dtype_of(value: &Value) -> Option<Dtype> {
    match value {
        Value::Dtype(dtype) | Value::ScalarOf(dtype) => Some(*dtype),
        Value::Str(name) => Dtype::parse(name),
        Value::Type("float") => Some(Dtype::Float32),
        Value::Type("int") => Some(Dtype::Int32),
        Value::Type("bool") => Some(Dtype::Uint8),
        _ => None,
    }
}

impl Bound {
    /// The argument of this name, unless it is missing or `None`.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        let at = self.names.iter().position(|n| *n == name)?;
        match self.values[at].take() {
            Some(Value::None) | None => None,
            value => value,
        }
    }

    pub(super) fn missing(&self, name: &str) -> Box<Failure> {
        Failure::python(
            "missing-argument",
            format!("{} needs `{name}`", self.api.full_name()),
            format!("its parameters are: {}", self.api.parameters),
        )
    }

    pub(super) fn wrong(&self, name: &str, expected: &str, found: &Value) -> Box<Failure> {
        Failure::python(
            "argument-type",
            format!(
                "{}: `{name}` must be {expected}, not a {}",
                self.api.full_name(),
                found.type_name()
            ),
            format!("its parameters are: {}", self.api.parameters),
        )
    }

    pub(crate) fn required(&mut self, name: &str) -> Outcome<Value> {
        self.take(name).ok_or_else(|| self.missing(name))
    }

    /// A tensor.
    pub(crate) fn view(&mut self, name: &str) -> Outcome<View> {
        match self.required(name)? {
            Value::Tensor(view) => Ok(Rc::unwrap_or_clone(view)),
            other => Err(self.wrong(name, "a tensor", &other)),
        }
    }

    pub(crate) fn optional_view(&mut self, name: &str) -> Outcome<Option<View>> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Tensor(view)) => Ok(Some(Rc::unwrap_or_clone(view))),
            Some(other) => Err(self.wrong(name, "a tensor", &other)),
        }
    }

    pub(crate) fn dtype(&mut self, name: &str) -> Outcome<Option<Dtype>> {
        match self.take(name) {
            None => Ok(None),
            Some(value) => dtype_of(&value)
                .map(Some)
                .ok_or_else(|| self.wrong(name, "a dtype", &value)),
        }
    }

    pub(crate) fn flag(&mut self, name: &str) -> Outcome<bool> {
        match self.take(name) {
            None => Ok(false),
            Some(Value::Bool(value)) => Ok(value),
            Some(other) => match other.as_int() {
                Some(value) => Ok(value != 0),
                None => Err(self.wrong(name, "True or False", &other)),
            },
        }
    }

    pub(crate) fn integer(&mut self, name: &str) -> Outcome<Option<i64>> {
        match self.take(name) {
            None => Ok(None),
            Some(value) => value
                .as_int()
                .map(Some)
                .ok_or_else(|| self.wrong(name, "a whole number", &value)),
        }
    }

    pub(crate) fn number(&mut self, name: &str) -> Outcome<Option<f64>> {
        match self.take(name) {
            None => Ok(None),
            Some(value) => value
                .as_number()
                .map(Some)
                .ok_or_else(|| self.wrong(name, "a number", &value)),
        }
    }

    /// A list of sizes.
    pub(crate) fn sizes(&mut self, name: &str) -> Outcome<Vec<usize>> {
        let value = self.required(name)?;
        sizes(&value).ok_or_else(|| self.wrong(name, "a tuple of sizes", &value))
    }

    pub(crate) fn buffer(&mut self, name: &str) -> Outcome<Option<Buffer>> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Buffer(buffer)) => Ok(Some(buffer)),
            Some(other) => {
                Err(self.wrong(name, "nl.sbuf, nl.psum, nl.hbm or nl.shared_hbm", &other))
            }
        }
    }
}

/// Sizes in a tuple or list of whole numbers.
pub(crate) fn sizes(value: &Value) -> Option<Vec<usize>> {
    let size = |v: &Value| v.as_int().and_then(|n| usize::try_from(n).ok());
    match value {
        Value::Tuple(items) => items.0.iter().map(size).collect(),
        Value::List(list) => list.borrow().0.iter().map(size).collect(),
        other => size(other).map(|n| vec![n]),
    }
}
