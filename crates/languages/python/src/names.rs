//! Reading of names, and storing in them and in other targets.

use std::rc::Rc;

use super::interpreter::{Interpreter, unbound};
use super::release::Items;
use super::tree::Target;
use super::value::{Frame, Value};
use crate::device::Device;
use crate::diagnostic::{Failure, Outcome};
use crate::foreign::Foreign;

impl<F: Foreign> Interpreter<F> {
    pub(super) fn read(
        &mut self,
        frame: &Rc<Frame<F>>,
        slot: u32,
        line: u32,
        name: Option<&str>,
    ) -> Outcome<Value<F>> {
        let value = match frame.slots.borrow().0.get(slot as usize) {
            Some(value @ (Value::Unbound | Value::Broken(_) | Value::Left(_))) => value.clone(),
            Some(value) => return Ok(value.clone()),
            None => Value::Unbound,
        };
        match value {
            Value::Unbound => match name {
                Some(name) => self.unbound_name(name).map_err(|f| f.at(line)),
                None => {
                    let names = frame.code.as_ref().map_or(&[][..], |code| &code.names);
                    let name = names.get(slot as usize).map_or("?", |name| name);
                    Err(Failure::python(
                        "name-error",
                        format!("`{name}` has no value here"),
                        "assign to it on every way that leads to this line",
                    )
                    .at(line))
                }
            },
            Value::Broken(failure) => Err(Box::new(Failure::clone(&failure)).at(line)),
            Value::Left(both) => {
                let code = frame.code.clone();
                let module = Rc::clone(&self.module);
                let names = code.as_ref().map_or(&module.names, |code| &code.names);
                let name = names.get(slot as usize).map_or("?", |name| name);
                self.read_left(&both.0, name, line)
            }
            value => Ok(value),
        }
    }

    pub(super) fn unbound_name(&mut self, name: &str) -> Outcome<Value<F>> {
        let mut starred = self.starred.iter();
        starred
            .find_map(|module| super::modules::find::<F>(&self.device, module, name))
            .or_else(|| super::modules::ambient::<F>(&self.device, name))
            .ok_or_else(|| unbound(name))
    }

    /// Stores a value in a target.
    pub(super) fn store(
        &mut self,
        target: &Target<F>,
        value: Value<F>,
        frame: &Rc<Frame<F>>,
        line: u32,
    ) -> Outcome<()> {
        match target {
            Target::Local(slot) => set(frame, *slot, value),
            Target::Global(slot) => {
                let globals = Rc::clone(&self.globals);
                set(&globals, *slot, value);
            }
            Target::Outer { depth, slot } => {
                let mut at = Rc::clone(frame);
                for _ in 0..*depth {
                    if let Some(parent) = &at.parent {
                        let parent = Rc::clone(parent);
                        at = parent;
                    }
                }
                set(&at, *slot, value);
            }
            Target::Subscript(object, index) => {
                let object = self.evaluate(object, frame)?;
                let index = self.evaluate(index, frame)?;
                self.device.set_line(line);
                self.store_subscript(&object, &index, value)
                    .map_err(|f| f.at(line))?;
            }
            Target::Attribute(object, name) => {
                let object = self.evaluate(object, frame)?;
                self.store_attribute(&object, name, value, line)
                    .map_err(|f| f.at(line))?;
            }
            Target::Unpack(targets, star) => {
                let items = self.iterate(&value, line)?;
                let count = targets.len();
                let fits = match star {
                    Some(_) => items.len() + 1 >= count,
                    None => items.len() == count,
                };
                if !fits {
                    return Err(Failure::python(
                        "value-error",
                        format!("cannot unpack {} values into {count} names", items.len()),
                        "name as many targets as there are values",
                    )
                    .at(line));
                }
                let extra = items.len() + 1 - count;
                let mut items = items.into_iter();
                for (position, target) in targets.iter().enumerate() {
                    let value = if *star == Some(position) {
                        Value::list(items.by_ref().take(extra).collect())
                    } else {
                        items.next().unwrap_or(Value::None)
                    };
                    self.store(target, value, frame, line)?;
                }
            }
            Target::Refused(failure) => return Err(Box::new(Failure::clone(failure)).at(line)),
        }
        Ok(())
    }
}

fn set<F: Foreign>(frame: &Rc<Frame<F>>, slot: u32, value: Value<F>) {
    let old = {
        let mut slots = frame.slots.borrow_mut();
        let at = slot as usize;
        if slots.0.len() <= at {
            slots.0.resize(at + 1, Value::Unbound);
        }
        std::mem::replace(&mut slots.0[at], value)
    };
    if old.is_container() {
        drop(Items(vec![old]));
    }
}
