//! Methods between two underscores of objects of the file, as operators and statements call them.

use super::interpreter::{Interpreter, type_error};
use super::tree::{Binary, Comparison};
use super::value::Value;
use crate::device::Device;
use crate::diagnostic::Outcome;
use crate::foreign::Foreign;

/// The methods of an operator: of its left operand, and of its right one.
fn names(operator: Binary) -> (&'static str, &'static str) {
    match operator {
        Binary::Add => ("__add__", "__radd__"),
        Binary::Subtract => ("__sub__", "__rsub__"),
        Binary::Multiply => ("__mul__", "__rmul__"),
        Binary::MatrixMultiply => ("__matmul__", "__rmatmul__"),
        Binary::Divide => ("__truediv__", "__rtruediv__"),
        Binary::FloorDivide => ("__floordiv__", "__rfloordiv__"),
        Binary::Modulo => ("__mod__", "__rmod__"),
        Binary::Power => ("__pow__", "__rpow__"),
        Binary::ShiftLeft => ("__lshift__", "__rlshift__"),
        Binary::ShiftRight => ("__rshift__", "__rrshift__"),
        Binary::And => ("__and__", "__rand__"),
        Binary::Or => ("__or__", "__ror__"),
        Binary::Xor => ("__xor__", "__rxor__"),
    }
}

impl<F: Foreign> Interpreter<F> {
    /// What a method of an object makes of an operator; none where there is no such method.
    pub(super) fn object_arithmetic(
        &mut self,
        operator: Binary,
        left: &Value<F>,
        right: &Value<F>,
        line: u32,
    ) -> Outcome<Option<Value<F>>> {
        let (name, reflected) = names(operator);
        if let Some(result) = self.special(left, name, vec![right.clone()], line) {
            return result.map(Some);
        }
        let result = self.special(right, reflected, vec![left.clone()], line);
        result.transpose()
    }

    /// The same for a comparison.
    pub fn object_comparison(
        &mut self,
        operator: Comparison,
        left: &Value<F>,
        right: &Value<F>,
    ) -> Outcome<Option<Value<F>>> {
        let (name, reflected) = match operator {
            Comparison::Equal => ("__eq__", "__eq__"),
            Comparison::NotEqual => ("__ne__", "__ne__"),
            Comparison::Less => ("__lt__", "__gt__"),
            Comparison::LessEqual => ("__le__", "__ge__"),
            Comparison::Greater => ("__gt__", "__lt__"),
            Comparison::GreaterEqual => ("__ge__", "__le__"),
            _ => return Ok(None),
        };
        let line = self.device.line();
        if let Some(result) = self.special(left, name, vec![right.clone()], line) {
            return result.map(Some);
        }
        if let Some(result) = self.special(right, reflected, vec![left.clone()], line) {
            return result.map(Some);
        }
        if operator != Comparison::NotEqual {
            return Ok(None);
        }
        // Without a method of its own, `!=` is the opposite of `==`.
        match self.object_comparison(Comparison::Equal, left, right)? {
            Some(equal) => Ok(Some(Value::Bool(!self.truth(&equal)?))),
            None => Ok(None),
        }
    }

    /// The items of an object that has `__iter__`.
    pub(super) fn object_items(&mut self, object: &Value<F>, line: u32) -> Outcome<Vec<Value<F>>> {
        match self.special(object, "__iter__", Vec::new(), line) {
            Some(items) => {
                let items = items?;
                if matches!(items, Value::Object(_)) {
                    return Err(type_error(
                        "`__iter__` must return a list, a tuple or a range",
                    ));
                }
                self.iterate(&items, line)
            }
            None => Err(
                type_error(&format!("a {} cannot be iterated over", object.type_name())).at(line),
            ),
        }
    }
}
