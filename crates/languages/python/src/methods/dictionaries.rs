//! Methods of dictionaries.

use std::cell::RefCell;
use std::rc::Rc;

use super::Given;
use crate::diagnostic::{Failure, Outcome};
use crate::dictionary::Dict;
use crate::foreign::Foreign;
use crate::interpreter::{Interpreter, hashable};
use crate::value::Value;

pub(super) const NAMES: &[&str] = &[
    "get",
    "keys",
    "values",
    "items",
    "update",
    "pop",
    "setdefault",
    "copy",
    "clear",
];

impl<F: Foreign> Interpreter<F> {
    pub(super) fn dictionary_method(
        &mut self,
        object: &Value<F>,
        dict: &RefCell<Dict<F>>,
        given: &mut Given<F>,
    ) -> Outcome<Value<F>> {
        let line = given.line;
        match &*given.name {
            "get" | "pop" | "setdefault" => {
                let name_of = given.next()?;
                let key = hashable(&name_of)?;
                let default = given.positional.next();
                let found = dict.borrow().get(&key).cloned();
                match (&*given.name, found) {
                    ("pop", Some(value)) => {
                        self.charge(dict.borrow().entries.len(), line)?;
                        dict.borrow_mut().remove(&key);
                        Ok(value)
                    }
                    ("pop", None) => default.ok_or_else(|| {
                        Failure::python("key-error", "the key is not in the dict", "pass a default")
                    }),
                    (_, Some(value)) => Ok(value),
                    ("setdefault", None) => {
                        let value = default.unwrap_or(Value::None);
                        self.reserve(1, line)?;
                        self.cycles.note(object, &value);
                        dict.borrow_mut().insert(key, name_of, value.clone());
                        Ok(value)
                    }
                    (_, None) => Ok(default.unwrap_or(Value::None)),
                }
            }
            "keys" | "values" | "items" => {
                let dict = dict.borrow();
                let pair = |(k, v): &(Value<F>, Value<F>)| match &*given.name {
                    "keys" => k.clone(),
                    "values" => v.clone(),
                    _ => Value::tuple(vec![k.clone(), v.clone()]),
                };
                self.reserve(2 * dict.entries.len() as u64, line)?;
                Ok(Value::list(dict.entries.iter().map(pair).collect()))
            }
            "update" => {
                let Value::Dict(other) = given.next()? else {
                    return Err(given.wrong());
                };
                let entries = other.borrow().entries.clone();
                self.reserve(entries.len() as u64, line)?;
                for (name, value) in entries {
                    self.cycles.note(object, &value);
                    let key = hashable(&name)?;
                    dict.borrow_mut().insert(key, name, value);
                }
                Ok(Value::None)
            }
            "clear" => {
                drop(dict.take());
                Ok(Value::None)
            }
            "copy" => {
                let copy = self.copied(&dict.borrow(), line)?;
                Ok(Value::Dict(Rc::new(RefCell::new(copy))))
            }
            _ => Err(given.wrong()),
        }
    }
}
