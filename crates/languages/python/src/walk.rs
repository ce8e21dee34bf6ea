//! Walks over the items of values, which may change meanwhile.

use std::cell::RefCell;
use std::rc::Rc;

use super::dictionary::Dict;
use super::interpreter::Interpreter;
use super::release::Items;
use super::value::Value;
use crate::diagnostic::{Failure, Outcome};
use crate::foreign::Foreign;

/// A walk over the items of a value.
pub(super) enum Walk<F: Foreign> {
    Range(i64, i64, i64),
    Items(std::vec::IntoIter<Value<F>>),
    /// A list, which may grow meanwhile, and how many of its items were walked over.
    List(Rc<RefCell<Items<F>>>, usize),
    /// The same of a dictionary or set, and its size, which must stay.
    Keys(Rc<RefCell<Dict<F>>>, usize, usize),
}

impl<F: Foreign> Walk<F> {
    /// The next item.
    ///
    /// # Errors
    /// A dictionary or set has another size than at the beginning.
    pub(super) fn next(&mut self) -> Outcome<Option<Value<F>>> {
        Ok(match self {
            Self::Range(at, stop, step) => {
                if (*step > 0 && *at >= *stop) || (*step < 0 && *at <= *stop) {
                    return Ok(None);
                }
                let value = *at;
                *at = at.saturating_add(*step);
                Some(Value::Int(value))
            }
            Self::Items(items) => items.next(),
            Self::List(list, at) => {
                *at += 1;
                list.borrow().0.get(*at - 1).cloned()
            }
            Self::Keys(dict, size, at) => {
                let dict = dict.borrow();
                if dict.entries.len() != *size {
                    return Err(Failure::python(
                        "runtime-error",
                        "a dictionary or set changes its size while a loop walks over it",
                        "loop over list(…) of it",
                    ));
                }
                *at += 1;
                dict.entries.get(*at - 1).map(|(key, _)| key.clone())
            }
        })
    }
}

impl<F: Foreign> Interpreter<F> {
    pub(super) fn walk(&mut self, value: Value<F>, line: u32) -> Outcome<Walk<F>> {
        match &value {
            Value::Range(range, _) => Ok(Walk::Range(range.0, range.1, range.2)),
            Value::List(list) => Ok(Walk::List(Rc::clone(list), 0)),
            Value::Dict(dict) | Value::Set(dict) => {
                let size = dict.borrow().entries.len();
                Ok(Walk::Keys(Rc::clone(dict), size, 0))
            }
            _ => Ok(Walk::Items(self.iterate(&value, line)?.into_iter())),
        }
    }
}
