//! Methods of sets.

use std::cell::RefCell;
use std::rc::Rc;

use super::Given;
use crate::diagnostic::{Failure, Outcome};
use crate::dictionary::Dict;
use crate::foreign::Foreign;
use crate::interpreter::{Interpreter, hashable};
use crate::value::Value;

pub(super) const NAMES: &[&str] = &[
    "add",
    "remove",
    "discard",
    "union",
    "intersection",
    "difference",
    "update",
    "issubset",
    "issuperset",
    "isdisjoint",
    "copy",
    "clear",
];

impl<F: Foreign> Interpreter<F> {
    pub(super) fn set_method(
        &mut self,
        object: &Value<F>,
        set: &RefCell<Dict<F>>,
        given: &mut Given<F>,
    ) -> Outcome<Value<F>> {
        let line = given.line;
        let name = Rc::clone(&given.name);
        match &*name {
            "add" => {
                let item = given.next()?;
                self.reserve(1, line)?;
                set.borrow_mut().insert(hashable(&item)?, item, Value::None);
            }
            "remove" | "discard" => {
                let item = given.next()?;
                self.charge(set.borrow().entries.len(), line)?;
                let removed = set.borrow_mut().remove(&hashable(&item)?);
                if removed.is_none() && &*name == "remove" {
                    return Err(Failure::python(
                        "key-error",
                        "the value is not in the set",
                        "`discard` lets what is not there be",
                    ));
                }
            }
            "clear" => drop(set.take()),
            "copy" => {
                let copy = self.copied(&set.borrow(), line)?;
                return Ok(Value::Set(Rc::new(RefCell::new(copy))));
            }
            "update" => {
                for other in given.positional.by_ref() {
                    for item in self.iterate(&other, line)? {
                        self.reserve(1, line)?;
                        set.borrow_mut().insert(hashable(&item)?, item, Value::None);
                    }
                }
            }
            "union" => {
                let mut items = self.iterate(object, line)?;
                for other in given.positional.by_ref() {
                    items.extend(self.iterate(&other, line)?);
                }
                self.reserve(items.len() as u64, line)?;
                return self.make_set(items);
            }
            "intersection" | "difference" => {
                let mut left = self.iterate(object, line)?;
                for other in given.positional.by_ref() {
                    let other = self.members(&other, line)?;
                    left = other.among(left, &*name == "intersection")?;
                }
                self.reserve(left.len() as u64, line)?;
                return self.make_set(left);
            }
            _ => {
                let other = self.members(&given.next()?, line)?;
                let set = set.borrow();
                let within = |a: &Dict<F>, b: &Dict<F>| a.keys.keys().all(|it| b.get(it).is_some());
                self.charge(set.entries.len() + other.entries.len(), line)?;
                return Ok(Value::Bool(match &*name {
                    "issubset" => within(&set, &other),
                    "issuperset" => within(&other, &set),
                    _ => set.keys.keys().all(|it| other.get(it).is_none()),
                }));
            }
        }
        Ok(Value::None)
    }

    /// The items of any sequence, as those of a set.
    fn members(&mut self, items: &Value<F>, line: u32) -> Outcome<Dict<F>> {
        let items = self.iterate(items, line)?;
        self.reserve(items.len() as u64, line)?;
        Dict::of_members(items)
    }
}
