//! Attributes and methods.

use std::rc::Rc;

use super::calls::Arguments;
use super::interpreter::{Interpreter, hashable, type_error};
use super::value::Value;
use crate::diagnostic::{Failure, Outcome};
use crate::foreign::{Foreign, Member};

impl<F: Foreign> Interpreter<F> {
    pub(super) fn attribute(&mut self, object: &Value<F>, name: &Rc<str>) -> Outcome<Value<F>> {
        let missing = || {
            Failure::python(
                "attribute-error",
                format!("a {} has no attribute `{name}`", object.type_name()),
                format!("check the spelling against {}", F::DOCUMENTS),
            )
        };
        let bound = || Value::Bound(Rc::new((object.clone(), Rc::clone(name))));
        Ok(match object {
            Value::Object(_) | Value::Class(_) | Value::Super(_) => {
                return self.class_attribute(object, name)?.ok_or_else(missing);
            }
            Value::Module(super::package::PACKAGE) => return self.own_value(name),
            Value::Module(module) => {
                return super::modules::attribute(&self.device, module, name);
            }
            Value::Foreign(value) => match value.attribute(&self.device, name)? {
                Some(Member::Value(value)) => value,
                Some(Member::Method) => bound(),
                None => return Err(missing()),
            },
            Value::List(_)
                if matches!(
                    &**name,
                    "append"
                        | "extend"
                        | "insert"
                        | "pop"
                        | "index"
                        | "count"
                        | "reverse"
                        | "sort"
                        | "copy"
                        | "clear"
                        | "remove"
                ) =>
            {
                bound()
            }
            Value::Tuple(_) if matches!(&**name, "index" | "count") => bound(),
            Value::Dict(_)
                if matches!(
                    &**name,
                    "get" | "keys" | "values" | "items" | "update" | "pop" | "setdefault" | "copy"
                ) =>
            {
                bound()
            }
            Value::Set(_) if matches!(&**name, "add" | "remove" | "discard" | "union" | "copy") => {
                bound()
            }
            Value::Str(_)
                if matches!(
                    &**name,
                    "replace"
                        | "split"
                        | "join"
                        | "format"
                        | "startswith"
                        | "endswith"
                        | "upper"
                        | "lower"
                        | "strip"
                        | "count"
                        | "find"
                        | "isdigit"
                ) =>
            {
                bound()
            }
            Value::Slice(parts) => match &**name {
                "start" => parts.0[0].clone(),
                "stop" => parts.0[1].clone(),
                "step" => parts.0[2].clone(),
                _ => return Err(missing()),
            },
            Value::Function(_) => match &**name {
                "func" => object.clone(),
                _ => return Err(missing()),
            },
            _ => return Err(missing()),
        })
    }

    pub(super) fn method(
        &mut self,
        object: &Value<F>,
        name: &Rc<str>,
        mut arguments: Arguments<F>,
        line: u32,
    ) -> Outcome<Value<F>> {
        if let Value::Foreign(value) = object {
            return value.method(self, name, arguments, line);
        }
        if let Value::Object(inner) = object {
            if &**name == "__init__" {
                self.set_fields(object, arguments.keywords, line)?;
                return Ok(Value::None);
            }
            return self.named_method(inner, name, arguments, line);
        }
        let count = arguments.positional.len();
        let wrong = || {
            type_error(&format!(
                "`{name}` cannot be called with {count} arguments like these"
            ))
        };
        if !arguments.keywords.is_empty() && !matches!(&**name, "sort" | "format") {
            return Err(wrong());
        }
        let mut next = {
            let mut taken = std::mem::take(&mut arguments.positional).into_iter();
            move || taken.next()
        };
        match (object, &**name) {
            (Value::List(list), "append") => {
                let item = next().ok_or_else(wrong)?;
                self.reserve(1, line)?;
                self.cycles.note(object, &item);
                list.borrow_mut().0.push(item);
                Ok(Value::None)
            }
            (Value::List(list), "extend") => {
                let items = self.iterate(&next().ok_or_else(wrong)?, line)?;
                self.reserve(items.len() as u64, line)?;
                for item in &items {
                    self.cycles.note(object, item);
                }
                list.borrow_mut().0.extend(items);
                Ok(Value::None)
            }
            (Value::List(list), "insert") => {
                let at = next().and_then(|v| v.as_int()).ok_or_else(wrong)?;
                let item = next().ok_or_else(wrong)?;
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
                Ok(Value::None)
            }
            (Value::List(list), "pop") => {
                // Only what lies behind the item moves.
                if count > 0 {
                    self.charge(list.borrow().0.len(), line)?;
                }
                let mut list = list.borrow_mut();
                let length = list.0.len();
                let at = next()
                    .map_or(Some(length as i64 - 1), |v| v.as_int())
                    .ok_or_else(wrong)?;
                let at = super::subscripts::wrap(at, length)?;
                if at >= length {
                    return Err(super::subscripts::out_of_range());
                }
                Ok(list.0.remove(at))
            }
            (Value::List(list), "reverse") => {
                self.charge(list.borrow().0.len(), line)?;
                list.borrow_mut().0.reverse();
                Ok(Value::None)
            }
            (Value::List(list), "copy") => {
                self.reserve(list.borrow().0.len() as u64, line)?;
                Ok(Value::list(list.borrow().0.clone()))
            }
            (Value::List(list), "clear") => {
                let old = std::mem::take(&mut list.borrow_mut().0);
                drop(super::release::Items(old));
                Ok(Value::None)
            }
            (Value::List(list), "sort") => {
                let items = self.sorted(object, &arguments.keywords, line)?;
                list.borrow_mut().0 = items;
                Ok(Value::None)
            }
            (Value::List(_) | Value::Tuple(_), "index" | "count" | "remove") => {
                let item = next().ok_or_else(wrong)?;
                let items = self.iterate(object, line)?;
                let mut found = Vec::new();
                for (at, candidate) in items.iter().enumerate() {
                    if self.equal(candidate, &item)? {
                        found.push(at);
                    }
                }
                match (&**name, found.first(), object) {
                    ("count", ..) => Ok(Value::Int(found.len() as i64)),
                    ("index", Some(at), _) => Ok(Value::Int(*at as i64)),
                    ("remove", Some(at), Value::List(list)) => {
                        list.borrow_mut().0.remove(*at);
                        Ok(Value::None)
                    }
                    _ => Err(Failure::python(
                        "value-error",
                        "the value is not in the list",
                        "check the value",
                    )),
                }
            }
            (Value::Dict(dict), "get" | "pop" | "setdefault") => {
                let name_of = next().ok_or_else(wrong)?;
                let key = hashable(&name_of)?;
                let default = next();
                let found = dict.borrow().get(&key).cloned();
                match (&**name, found) {
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
            (Value::Dict(dict), "keys") => Ok(Value::list(
                dict.borrow()
                    .entries
                    .iter()
                    .map(|(k, _)| k.clone())
                    .collect(),
            )),
            (Value::Dict(dict), "values") => Ok(Value::list(
                dict.borrow()
                    .entries
                    .iter()
                    .map(|(_, v)| v.clone())
                    .collect(),
            )),
            (Value::Dict(dict), "items") => {
                self.reserve(2 * dict.borrow().entries.len() as u64, line)?;
                Ok(Value::list(
                    dict.borrow()
                        .entries
                        .iter()
                        .map(|(k, v)| Value::tuple(vec![k.clone(), v.clone()]))
                        .collect(),
                ))
            }
            (Value::Dict(dict), "update") => {
                let Some(Value::Dict(other)) = next() else {
                    return Err(wrong());
                };
                let entries = other.borrow().entries.clone();
                for (name, value) in entries {
                    self.cycles.note(object, &value);
                    let key = hashable(&name)?;
                    dict.borrow_mut().insert(key, name, value);
                }
                Ok(Value::None)
            }
            (Value::Set(set), "add") => {
                let item = next().ok_or_else(wrong)?;
                self.reserve(1, line)?;
                set.borrow_mut().insert(hashable(&item)?, item, Value::None);
                Ok(Value::None)
            }
            (Value::Set(set), "remove" | "discard") => {
                let item = next().ok_or_else(wrong)?;
                self.charge(set.borrow().entries.len(), line)?;
                set.borrow_mut().remove(&hashable(&item)?);
                Ok(Value::None)
            }
            (Value::Dict(_) | Value::Set(_), "copy") => {
                let mut copy = super::dictionary::Dict::default();
                if let Value::Dict(dict) | Value::Set(dict) = object {
                    for (name, value) in &dict.borrow().entries {
                        copy.insert(hashable(name)?, name.clone(), value.clone());
                    }
                }
                self.reserve(copy.entries.len() as u64, line)?;
                let copy = Rc::new(std::cell::RefCell::new(copy));
                Ok(if matches!(object, Value::Dict(_)) {
                    Value::Dict(copy)
                } else {
                    Value::Set(copy)
                })
            }
            (Value::Str(text), "format") => {
                let positional: Vec<Value<F>> = std::iter::from_fn(next).collect();
                let text = self.brace_format(text, &positional, &arguments.keywords, line)?;
                Ok(Value::str(&text))
            }
            (Value::Str(text), method) => {
                self.charge(text.len() / 8, line)?;
                let mut strings = Vec::new();
                let mut list = None;
                while let Some(value) = next() {
                    match value {
                        Value::Str(part) => strings.push(part),
                        other if method == "join" => list = Some(other),
                        other => {
                            return Err(type_error(&format!(
                                "`{method}` takes strings, not a {}",
                                other.type_name()
                            )));
                        }
                    }
                }
                let one = |at: usize| strings.get(at).map(|s| s.to_string()).ok_or_else(wrong);
                let result = match method {
                    "replace" => {
                        let (from, to) = (one(0)?, one(1)?);
                        if from.is_empty() {
                            return Err(wrong());
                        }
                        self.reserve((text.len() as u64 + 1) * (to.len() as u64 + 1) / 8, line)?;
                        Value::str(&text.replace(&from, &to))
                    }
                    "split" => {
                        self.reserve(text.len() as u64, line)?;
                        let parts: Vec<Value<F>> = match strings.first() {
                            Some(separator) if !separator.is_empty() => {
                                text.split(&**separator).map(Value::str).collect()
                            }
                            _ => text.split_whitespace().map(Value::str).collect(),
                        };
                        Value::list(parts)
                    }
                    "join" => {
                        let items = match &list {
                            Some(list) => self.iterate(list, line)?,
                            None => return Err(wrong()),
                        };
                        let mut parts = Vec::new();
                        let mut length = 0u64;
                        for item in &items {
                            match item {
                                Value::Str(part) => {
                                    length += part.len() as u64 + text.len() as u64;
                                    parts.push(part.to_string());
                                }
                                _ => return Err(type_error("join takes strings")),
                            }
                        }
                        self.reserve(length / 8 + 1, line)?;
                        Value::str(&parts.join(text))
                    }
                    "startswith" => Value::Bool(text.starts_with(&one(0)?)),
                    "endswith" => Value::Bool(text.ends_with(&one(0)?)),
                    "upper" => Value::str(&text.to_uppercase()),
                    "lower" => Value::str(&text.to_lowercase()),
                    "strip" => Value::str(text.trim()),
                    "count" => Value::Int(text.matches(&one(0)?).count() as i64),
                    "find" => Value::Int(text.find(&one(0)?).map_or(-1, |at| at as i64)),
                    "isdigit" => {
                        Value::Bool(!text.is_empty() && text.chars().all(|c| c.is_ascii_digit()))
                    }
                    _ => return Err(wrong()),
                };
                Ok(result)
            }
            _ => Err(wrong()),
        }
    }
}
