//! Arguments of interfaces, and what they must be.

use std::rc::Rc;

use super::{Api, Nki, Value};
use crate::diagnostic::{Failure, FailureKind, Outcome};
use crate::tensor::dtype::Dtype;
use crate::tensor::storage::Buffer;
use crate::tensor::view::View;

/// Arguments bound to the parameters of an interface.
pub(crate) struct Bound {
    pub(crate) api: &'static Api,
    names: Rc<[&'static str]>,
    values: Vec<Option<Value>>,
    /// Place behind the one asked for last: interfaces ask in the order of their parameters.
    next: usize,
}

/// The data type that a value names.
pub(crate) fn dtype_of(value: &Value) -> Option<Dtype> {
    match value {
        Value::Foreign(Nki::Dtype(dtype)) | Value::Foreign(Nki::ScalarOf(dtype)) => Some(*dtype),
        Value::Str(name) => Dtype::parse(name),
        Value::Type("float") => Some(Dtype::Float32),
        Value::Type("int") => Some(Dtype::Int32),
        Value::Type("bool") => Some(Dtype::Uint8),
        _ => None,
    }
}

impl Bound {
    /// Values of the parameters `names`, in their order.
    pub(crate) fn new(
        api: &'static Api,
        names: Rc<[&'static str]>,
        values: Vec<Option<Value>>,
    ) -> Self {
        Self {
            api,
            names,
            values,
            next: 0,
        }
    }

    /// The arguments in the order of the parameters.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = Option<&Value>> {
        self.values.iter().map(Option::as_ref)
    }

    /// Its list without the arguments, for the next call.
    pub(crate) fn into_emptied(mut self) -> Vec<Option<Value>> {
        self.values.clear();
        self.values
    }

    /// The argument of this name, unless it is missing or `None`.
    // In place, since a comparison with a name of known length is one of numbers.
    #[inline(always)]
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        let at = match self.names.get(self.next) {
            Some(next) if *next == name => self.next,
            _ => self.place(name)?,
        };
        self.take_at(at)
    }

    #[cold]
    fn place(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|it| *it == name)
    }

    fn take_at(&mut self, at: usize) -> Option<Value> {
        self.next = at + 1;
        match self.values[at].take() {
            Some(Value::None) | None => None,
            value => value,
        }
    }

    /// Whether an argument says where a tensor is to lie.
    pub(crate) fn allocates(&self) -> bool {
        let mut values = self.values.iter();
        values.any(|value| matches!(value, Some(Value::Foreign(Nki::Allocator(_)))))
    }

    /// A copy of the argument of this name, unless it is missing.
    pub(crate) fn peek(&self, name: &str) -> Option<Value> {
        self.values[self.place(name)?].clone()
    }

    /// Gives the argument of this name another value.
    pub(crate) fn replace(&mut self, name: &str, value: Value) {
        if let Some(at) = self.place(name) {
            self.values[at] = Some(value);
        }
    }

    pub(super) fn missing(&self, name: &str) -> Box<Failure> {
        Failure::new(
            FailureKind::Rejected,
            "missing-argument",
            format!("{} needs `{name}`", self.api.full_name()),
            format!("its parameters are: {}", self.api.parameters),
        )
    }

    pub(super) fn wrong(&self, name: &str, expected: &str, found: &Value) -> Box<Failure> {
        Failure::new(
            FailureKind::Rejected,
            "argument-type",
            format!(
                "{}: `{name}` must be {expected}, not a {}",
                self.api.full_name(),
                found.type_name()
            ),
            format!("its parameters are: {}", self.api.parameters),
        )
    }

    #[inline(always)]
    pub(crate) fn required(&mut self, name: &str) -> Outcome<Value> {
        self.take(name).ok_or_else(|| self.missing(name))
    }

    /// A tensor.
    #[inline(always)]
    pub(crate) fn view(&mut self, name: &str) -> Outcome<View> {
        match self.required(name)? {
            Value::Foreign(Nki::Tensor(view)) => Ok(Rc::unwrap_or_clone(view)),
            other => Err(self.wrong(name, "a tensor", &other)),
        }
    }

    #[inline(always)]
    pub(crate) fn optional_view(&mut self, name: &str) -> Outcome<Option<View>> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Foreign(Nki::Tensor(view))) => Ok(Some(Rc::unwrap_or_clone(view))),
            Some(other) => Err(self.wrong(name, "a tensor", &other)),
        }
    }

    /// What `convert` makes of the argument, if it is there.
    #[inline(always)]
    fn optional<T>(
        &mut self,
        name: &str,
        expected: &str,
        convert: impl Fn(&Value) -> Option<T>,
    ) -> Outcome<Option<T>> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        match convert(&value) {
            None => Err(self.wrong(name, expected, &value)),
            converted => Ok(converted),
        }
    }

    #[inline(always)]
    pub(crate) fn dtype(&mut self, name: &str) -> Outcome<Option<Dtype>> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        match dtype_of(&value) {
            None => Err(self.wrong(name, "a dtype", &value)),
            dtype => Ok(dtype),
        }
    }

    /// Whether a product is added to what its place holds; `None` where that is left open.
    pub(crate) fn accumulate(&mut self) -> Outcome<Option<bool>> {
        match self.take("accumulate") {
            None => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(value)),
            Some(other) => Err(self.wrong("accumulate", "True, False or None", &other)),
        }
    }

    #[inline(always)]
    pub(crate) fn flag(&mut self, name: &str) -> Outcome<bool> {
        let truth = |value: &Value| match value {
            Value::Bool(value) => Some(*value),
            other => other.as_int().map(|value| value != 0),
        };
        Ok(self
            .optional(name, "True or False", truth)?
            .unwrap_or(false))
    }

    #[inline(always)]
    pub(crate) fn integer(&mut self, name: &str) -> Outcome<Option<i64>> {
        self.optional(name, "a whole number", Value::as_int)
    }

    #[inline(always)]
    pub(crate) fn number(&mut self, name: &str) -> Outcome<Option<f64>> {
        self.optional(name, "a number", Value::as_number)
    }

    /// A list of sizes.
    pub(crate) fn sizes(&mut self, name: &str) -> Outcome<Vec<usize>> {
        let value = self.required(name)?;
        sizes(&value).ok_or_else(|| self.wrong(name, "a tuple of sizes", &value))
    }

    pub(crate) fn buffer(&mut self, name: &str) -> Outcome<Option<Buffer>> {
        let memory = |value: &Value| match value {
            Value::Foreign(Nki::Buffer(buffer)) => Some(*buffer),
            _ => None,
        };
        self.optional(name, "nl.sbuf, nl.psum, nl.hbm or nl.shared_hbm", memory)
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
