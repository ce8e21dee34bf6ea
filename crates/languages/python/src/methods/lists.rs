//! Methods of lists.

use std::cell::RefCell;

use super::Given;
use crate::diagnostic::Outcome;
use crate::foreign::Foreign;
use crate::interpreter::Interpreter;
use crate::release::Items;
use crate::subscripts::{out_of_range, wrap};
use crate::value::Value;

pub(super) const NAMES: &[&str] = &[
    "append", "extend", "insert", "pop", "index", "count", "reverse", "sort", "copy", "clear",
    "remove",
];

impl<F: Foreign> Interpreter<F> {
    pub(super) fn list_method(
        &mut self,
        object: &Value<F>,
        list: &RefCell<Items<F>>,
        given: &mut Given<F>,
    ) -> Outcome<Value<F>> {
        let line = given.line;
        match &*given.name {
            "append" => {
                let item = given.next()?;
                self.reserve(1, line)?;
                self.cycles.note(object, &item);
                list.borrow_mut().0.push(item);
            }
            "extend" => {
                let items = self.iterate(&given.next()?, line)?;
                self.reserve(items.len() as u64, line)?;
                for item in &items {
                    self.cycles.note(object, item);
                }
                list.borrow_mut().0.extend(items);
            }
            "insert" => {
                let at = given.next()?.as_int().ok_or_else(|| given.wrong())?;
                let item = given.next()?;
                self.reserve(1, line)?;
                self.charge(list.borrow().0.len(), line)?;
                self.cycles.note(object, &item);
                let mut list = list.borrow_mut();
                let length = list.0.len() as i64;
                let at = if at < 0 {
                    (at + length).max(0)
                } else {
                    at.min(length)
                };
                list.0.insert(at as usize, item);
            }
            "pop" => {
                // Only what lies behind the item moves.
                if 0 < given.count {
                    self.charge(list.borrow().0.len(), line)?;
                }
                let length = list.borrow().0.len();
                let at = match given.positional.next() {
                    Some(at) => at.as_int().ok_or_else(|| given.wrong())?,
                    None => length as i64 - 1,
                };
                let at = wrap(at, length)?;
                if at >= length {
                    return Err(out_of_range());
                }
                return Ok(list.borrow_mut().0.remove(at));
            }
            "reverse" => {
                self.charge(list.borrow().0.len(), line)?;
                list.borrow_mut().0.reverse();
            }
            "copy" => {
                self.reserve(list.borrow().0.len() as u64, line)?;
                return Ok(Value::list(list.borrow().0.clone()));
            }
            "clear" => {
                let old = std::mem::take(&mut list.borrow_mut().0);
                drop(Items(old));
            }
            "sort" => {
                let items = self.sorted(object, &given.keywords, line)?;
                list.borrow_mut().0 = items;
            }
            _ => return self.places_of(object, given),
        }
        Ok(Value::None)
    }
}
