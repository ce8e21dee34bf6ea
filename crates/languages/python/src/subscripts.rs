//! Subscripts, and walking over sequences.

use std::rc::Rc;

use super::interpreter::{Interpreter, hashable, type_error};
use super::objects::ClassKind;
use super::release::Items;
use super::value::Value;
use crate::device::Device;
use crate::diagnostic::{Failure, Outcome};
use crate::foreign::Foreign;

/// Number of values of a range.
pub fn range_length(start: i64, stop: i64, step: i64) -> i64 {
    if step > 0 && stop > start {
        (stop.saturating_sub(start).saturating_sub(1)) / step + 1
    } else if step < 0 && stop < start {
        (start.saturating_sub(stop).saturating_sub(1)) / step.saturating_neg() + 1
    } else {
        0
    }
}

impl<F: Foreign> Interpreter<F> {
    /// All items of a value.
    pub fn iterate(&mut self, value: &Value<F>, line: u32) -> Outcome<Vec<Value<F>>> {
        let length = match value {
            Value::List(list) => list.borrow().0.len(),
            Value::Tuple(items) => items.0.len(),
            Value::Dict(dict) | Value::Set(dict) => dict.borrow().entries.len(),
            _ => 0,
        };
        self.charge(length, line)?;
        Ok(match value {
            Value::Object(object) if object.class.kind == ClassKind::Named => {
                super::classes::items(object)
            }
            Value::Class(class) if matches!(class.kind, ClassKind::Enumeration(_)) => {
                super::classes::members(class)
            }
            Value::List(list) => list.borrow().0.clone(),
            Value::Tuple(items) => items.0.clone(),
            Value::Dict(dict) | Value::Set(dict) => dict.borrow().names().collect(),
            Value::Str(text) => {
                self.reserve(text.len() as u64, line)?;
                text.chars()
                    .map(|c| Value::str(c.encode_utf8(&mut [0; 4])))
                    .collect()
            }
            Value::Range(range, _) => {
                let (start, stop, step) = **range;
                let count = range_length(start, stop, step).max(0);
                self.reserve(count as u64, line)?;
                (0..count).map(|i| Value::Int(start + i * step)).collect()
            }
            object @ Value::Object(_) => return self.object_items(object, line),
            other => {
                let items = match other {
                    Value::Foreign(foreign) => foreign.items(),
                    _ => Ok(None),
                };
                let wrong =
                    || type_error(&format!("a {} cannot be iterated over", other.type_name()));
                let items = items.and_then(|items| items.ok_or_else(wrong));
                return items.map_err(|failure| failure.at(line));
            }
        })
    }

    pub(super) fn subscript(&mut self, object: &Value<F>, index: &Value<F>) -> Outcome<Value<F>> {
        match object {
            Value::Foreign(_) | Value::Builtin(_) => {
                F::subscript(self, object, index)?.ok_or_else(|| not_subscripted(object))
            }
            Value::Object(inner) if inner.class.kind == ClassKind::Named => {
                let items = Value::tuple(super::classes::items(inner));
                self.subscript(&items, index)
            }
            Value::Class(class) if matches!(class.kind, ClassKind::Enumeration(_)) => match index {
                Value::Str(name) => self
                    .class_attribute(object, name)?
                    .ok_or_else(|| type_error("the enumeration has no such member")),
                _ => Err(type_error("members are named by strings")),
            },
            // Annotations such as Generic[T].
            Value::Class(_) => Ok(object.clone()),
            Value::Object(_) => {
                let line = self.device.line();
                self.special(object, "__getitem__", vec![index.clone()], line)
                    .unwrap_or_else(|| Err(type_error("this object cannot be subscripted")))
            }
            Value::List(list) => {
                if matches!(index, Value::Slice(_)) {
                    self.charge(list.borrow().0.len(), self.device.line())?;
                }
                let found = sequence(&list.borrow().0, index)?;
                self.held(found, Value::list)
            }
            Value::Tuple(items) => {
                if matches!(index, Value::Slice(_)) {
                    self.charge(items.0.len(), self.device.line())?;
                }
                self.held(sequence(&items.0, index)?, Value::tuple)
            }
            Value::Str(text) => {
                self.reserve(text.len() as u64 / 8 + 1, 0)?;
                let characters: Vec<Value<F>> = text
                    .chars()
                    .map(|c| Value::str(c.encode_utf8(&mut [0; 4])))
                    .collect();
                let joined = |items: Vec<Value<F>>| {
                    let mut out = String::new();
                    for item in items {
                        if let Value::Str(part) = &item {
                            out.push_str(part);
                        }
                    }
                    Value::str(&out)
                };
                sequence(&characters, index).map(|found| match found {
                    Found::One(value) => value,
                    Found::Several(items) => joined(items),
                })
            }
            Value::Dict(dict) => {
                let key = hashable(index)?;
                self.device
                    .ask("a key", super::surroundings::plain(index).unwrap_or(0))?;
                dict.borrow().get(&key).cloned().ok_or_else(|| {
                    Failure::python(
                        "key-error",
                        "the key is not in the dict",
                        "check the key, or use get",
                    )
                })
            }
            Value::Range(range, kind) => match index.as_int() {
                Some(at) => {
                    let (start, stop, step) = **range;
                    let length = range_length(start, stop, step).max(0) as usize;
                    let at = wrap(at, length)?;
                    if at >= length {
                        return Err(out_of_range());
                    }
                    Ok(Value::Int(start + at as i64 * step))
                }
                None => Err(type_error(&format!(
                    "a range of kind {kind:?} takes a number here"
                ))),
            },
            // `kernel[grid](…)`. In the second dialect the programs are cores.
            Value::Function(function) => {
                let sizes: Vec<i64> = match index {
                    Value::Tuple(items) => &items.0[..],
                    other => std::slice::from_ref(other),
                }
                .iter()
                .map(|size| size.as_int().filter(|size| *size > 0))
                .collect::<Option<_>>()
                .filter(|sizes: &Vec<i64>| sizes.len() <= 8)
                .ok_or_else(|| {
                    type_error("a kernel is launched on a grid of up to 8 positive sizes")
                })?;
                Ok(Value::Launch(Rc::new((Rc::clone(function), sizes))))
            }
            // Annotations such as list[int].
            Value::Type(_) | Value::Symbol(_) => Ok(object.clone()),
            Value::Window(..) | Value::DeviceWindow(..) => {
                Err(type_error("this value has no items"))
            }
            other => Err(not_subscripted(other)),
        }
    }

    /// Accounts for what an index has found, and makes the list or tuple of a slice.
    fn held(&mut self, found: Found<F>, of: fn(Vec<Value<F>>) -> Value<F>) -> Outcome<Value<F>> {
        match found {
            Found::One(value) => Ok(value),
            Found::Several(items) => {
                self.reserve(items.len() as u64, self.device.line())?;
                Ok(of(items))
            }
        }
    }

    pub(super) fn store_subscript(
        &mut self,
        object: &Value<F>,
        index: &Value<F>,
        value: Value<F>,
    ) -> Outcome<()> {
        match object {
            Value::Foreign(foreign) => foreign.set_item(self, index, value),
            Value::List(list) => {
                self.cycles.note(object, &value);
                let mut list = list.borrow_mut();
                match index.as_int() {
                    Some(at) => {
                        let at = wrap(at, list.0.len())?;
                        match list.0.get_mut(at) {
                            Some(slot) => {
                                let old = std::mem::replace(slot, value);
                                drop(list);
                                drop(Items(vec![old]));
                                Ok(())
                            }
                            None => Err(out_of_range()),
                        }
                    }
                    None => Err(type_error("lists are assigned one item at a time")),
                }
            }
            Value::Dict(dict) => {
                self.reserve(1, 0)?;
                self.cycles.note(object, &value);
                let key = hashable(index)?;
                dict.borrow_mut().insert(key, index.clone(), value);
                Ok(())
            }
            Value::Object(_) => {
                let line = self.device.line();
                self.special(object, "__setitem__", vec![index.clone(), value], line)
                    .unwrap_or_else(|| Err(type_error("items of this object cannot be assigned")))
                    .map(|_| ())
            }
            other => Err(type_error(&format!(
                "items of a {} cannot be assigned",
                other.type_name()
            ))),
        }
    }

    pub(super) fn delete_subscript(&mut self, object: &Value<F>, index: &Value<F>) -> Outcome<()> {
        match object {
            Value::Dict(dict) => {
                let key = hashable(index)?;
                let removed = dict.borrow_mut().remove(&key);
                removed.map(|_| ()).ok_or_else(|| {
                    Failure::python("key-error", "the key is not in the dict", "check the key")
                })
            }
            _ => Err(type_error("only items of dicts can be deleted")),
        }
    }
}

fn not_subscripted<F: Foreign>(value: &Value<F>) -> Box<Failure> {
    type_error(&format!("a {} cannot be subscripted", value.type_name()))
}

/// The place of an item, which is counted from the end where it is negative.
///
/// # Errors
/// It lies before the beginning.
pub fn wrap(at: i64, length: usize) -> Outcome<usize> {
    let at = if at < 0 {
        at.checked_add(length as i64).unwrap_or(-1)
    } else {
        at
    };
    usize::try_from(at).map_err(|_| out_of_range())
}

/// An error of Python: there is no such item.
pub fn out_of_range() -> Box<Failure> {
    Failure::python(
        "index-error",
        "index out of range",
        "check the index against the length",
    )
}

/// What an index finds in a list or tuple: an item, or the items of a slice.
enum Found<F: Foreign> {
    One(Value<F>),
    Several(Vec<Value<F>>),
}

fn sequence<F: Foreign>(items: &[Value<F>], index: &Value<F>) -> Outcome<Found<F>> {
    if let Some(at) = index.as_int() {
        return items
            .get(wrap(at, items.len())?)
            .cloned()
            .map(Found::One)
            .ok_or_else(out_of_range);
    }
    let Value::Slice(parts) = index else {
        return Err(type_error(&format!("a {} is no index", index.type_name())));
    };
    let (start, stop, step) = slice_bounds(&parts.0, items.len())?;
    let mut picked = Vec::new();
    let mut at = start;
    while (step > 0 && at < stop) || (step < 0 && at > stop) {
        if let Some(item) = usize::try_from(at).ok().and_then(|at| items.get(at)) {
            picked.push(item.clone());
        }
        at = at.saturating_add(step);
    }
    Ok(Found::Several(picked))
}

/// Start, stop and step of a slice of a sequence of this length.
pub fn slice_bounds<F: Foreign>(parts: &[Value<F>], length: usize) -> Outcome<(i64, i64, i64)> {
    let part = |at: usize| -> Outcome<Option<i64>> {
        match parts.get(at) {
            None | Some(Value::None) => Ok(None),
            Some(value) => value
                .as_int()
                .map(Some)
                .ok_or_else(|| type_error("slices take whole numbers")),
        }
    };
    let step = part(2)?.unwrap_or(1);
    if step == 0 {
        return Err(Failure::python(
            "value-error",
            "a slice has step 0",
            "use another step",
        ));
    }
    let length = length as i64;
    let clamp = |value: i64| {
        let value = if value < 0 {
            value.saturating_add(length)
        } else {
            value
        };
        if step > 0 {
            value.clamp(0, length)
        } else {
            value.clamp(-1, length - 1)
        }
    };
    let start = part(0)?.map_or(if step > 0 { 0 } else { length - 1 }, clamp);
    let stop = part(1)?.map_or(if step > 0 { length } else { -1 }, clamp);
    Ok((start, stop, step))
}
