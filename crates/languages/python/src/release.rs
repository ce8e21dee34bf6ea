//! How values that hold others are let go of: without recursion, and with cycles broken.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use super::dictionary::Dict;
use super::objects::{Class, FieldDefault, Object};
use super::value::{Frame, Value};
use crate::foreign::Foreign;

/// A sequence whose destruction does not recurse.
pub struct Items<F: Foreign>(pub Vec<Value<F>>);

impl<F: Foreign> Default for Items<F> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Takes nested values apart without recursion, however deep they are.
fn dismantle<F: Foreign>(mut pending: Vec<Value<F>>) {
    while let Some(value) = pending.pop() {
        match value {
            Value::List(list) => {
                if let Some(cell) = Rc::into_inner(list) {
                    pending.append(&mut cell.into_inner().0);
                }
            }
            Value::Tuple(items) | Value::Slice(items) => {
                if let Some(mut items) = Rc::into_inner(items) {
                    pending.append(&mut items.0);
                }
            }
            Value::Dict(dict) | Value::Set(dict) => {
                if let Some(cell) = Rc::into_inner(dict) {
                    let mut dict = cell.into_inner();
                    for (key, value) in dict.entries.drain(..) {
                        pending.push(key);
                        pending.push(value);
                    }
                }
            }
            Value::Function(closure) => {
                if let Some(mut closure) = Rc::into_inner(closure) {
                    pending.append(&mut closure.defaults.0);
                    let mut parent = closure.parent.take();
                    while let Some(frame) = parent {
                        parent = match Rc::into_inner(frame) {
                            Some(mut frame) => {
                                pending.append(&mut frame.slots.get_mut().0);
                                frame.parent.take()
                            }
                            None => None,
                        };
                    }
                }
            }
            Value::Bound(bound) => {
                if let Some((object, _)) = Rc::into_inner(bound) {
                    pending.push(object);
                }
            }
            Value::Object(object) => {
                if let Some(object) = Rc::into_inner(object) {
                    let mut fields = object.fields.into_inner();
                    pending.extend(fields.entries.drain(..).map(|(_, value)| value));
                    pending.push(Value::Class(object.class));
                }
            }
            Value::Class(class) => {
                if let Some(class) = Rc::into_inner(class) {
                    let mut attributes = class.attributes.into_inner();
                    pending.extend(attributes.entries.drain(..).map(|(_, value)| value));
                    pending.extend(class.bases.into_iter().map(Value::Class));
                    pending.extend(class.fields.into_iter().filter_map(
                        |(_, default)| match default {
                            FieldDefault::Missing => None,
                            FieldDefault::Value(value) | FieldDefault::Factory(value) => {
                                Some(value)
                            }
                        },
                    ));
                }
            }
            Value::Launch(launch) => {
                if let Some((function, _)) = Rc::into_inner(launch) {
                    pending.push(Value::Function(function));
                }
            }
            Value::Partial(partial) => {
                if let Some(mut partial) = Rc::into_inner(partial) {
                    pending.append(&mut partial.positional.0);
                    pending.extend(partial.keywords.drain(..).map(|(_, value)| value));
                    pending.push(partial.function);
                }
            }
            Value::Method(method) => {
                if let Some((function, object)) = Rc::into_inner(method) {
                    pending.push(Value::Function(function));
                    pending.push(object);
                }
            }
            Value::Super(parent) => {
                if let Some((class, object)) = Rc::into_inner(parent) {
                    pending.push(Value::Class(class));
                    pending.push(object);
                }
            }
            _ => {}
        }
    }
}

impl<F: Foreign> Drop for Items<F> {
    fn drop(&mut self) {
        if self.0.iter().any(Value::is_container) {
            dismantle(std::mem::take(&mut self.0));
        }
    }
}

impl<F: Foreign> Drop for Dict<F> {
    fn drop(&mut self) {
        if self.entries.iter().any(|(_, value)| value.is_container()) {
            let entries = std::mem::take(&mut self.entries);
            dismantle(
                entries
                    .into_iter()
                    .flat_map(|(key, value)| [key, value])
                    .collect(),
            );
        }
    }
}

/// Containers that may be part of a cycle, to be emptied when the run ends.
pub struct Cycles<F: Foreign> {
    pub(crate) lists: Vec<Weak<RefCell<Items<F>>>>,
    pub(crate) dicts: Vec<Weak<RefCell<Dict<F>>>>,
    pub(crate) frames: Vec<Weak<Frame<F>>>,
    pub(crate) objects: Vec<Weak<Object<F>>>,
    pub(crate) classes: Vec<Weak<Class<F>>>,
}

impl<F: Foreign> Default for Cycles<F> {
    fn default() -> Self {
        Self {
            lists: Vec::new(),
            dicts: Vec::new(),
            frames: Vec::new(),
            objects: Vec::new(),
            classes: Vec::new(),
        }
    }
}

impl<F: Foreign> Cycles<F> {
    /// Notes a container that now holds `value`.
    pub(crate) fn note(&mut self, container: &Value<F>, value: &Value<F>) {
        if !value.is_container() {
            return;
        }
        match container {
            Value::List(list) => self.lists.push(Rc::downgrade(list)),
            Value::Dict(dict) | Value::Set(dict) => self.dicts.push(Rc::downgrade(dict)),
            Value::Object(object) => self.objects.push(Rc::downgrade(object)),
            Value::Class(class) => self.classes.push(Rc::downgrade(class)),
            _ => {}
        }
    }

    /// Breaks every cycle.
    pub(crate) fn clear(&mut self) {
        for list in self.lists.drain(..).filter_map(|weak| weak.upgrade()) {
            let items = std::mem::take(&mut list.borrow_mut().0);
            dismantle(items);
        }
        for dict in self.dicts.drain(..).filter_map(|weak| weak.upgrade()) {
            let taken = std::mem::take(&mut *dict.borrow_mut());
            drop(taken);
        }
        for object in self.objects.drain(..).filter_map(|weak| weak.upgrade()) {
            let taken = std::mem::take(&mut *object.fields.borrow_mut());
            drop(taken);
        }
        for class in self.classes.drain(..).filter_map(|weak| weak.upgrade()) {
            let taken = std::mem::take(&mut *class.attributes.borrow_mut());
            drop(taken);
        }
        for frame in self.frames.drain(..).filter_map(|weak| weak.upgrade()) {
            let items = std::mem::take(&mut frame.slots.borrow_mut().0);
            dismantle(items);
        }
    }
}
