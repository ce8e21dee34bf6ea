//! Built-in functions that go over the items of something.

use std::rc::Rc;

use super::builtins::wrong_arguments;
use super::calls::Arguments;
use super::dictionary::Dict;
use super::interpreter::Interpreter;
use super::value::Value;
use crate::diagnostic::{Failure, Outcome};
use crate::foreign::Foreign;

impl<F: Foreign> Interpreter<F> {
    /// Calls a built-in function that goes over items; none if `name` is none of those.
    pub(super) fn item_builtin(
        &mut self,
        name: &'static str,
        positional: &[Value<F>],
        keywords: &[(Rc<str>, Value<F>)],
        line: u32,
    ) -> Outcome<Option<Value<F>>> {
        let count = positional.len();
        let wrong = || wrong_arguments(name, count);
        let (first, second) = (positional.first(), positional.get(1));
        Ok(Some(match name {
            "min" | "max" => {
                let items = if count == 1 {
                    self.iterate(first.ok_or_else(wrong)?, line)?
                } else {
                    positional.to_vec()
                };
                self.steps += items.len() as u64;
                let mut best: Option<(Value<F>, Value<F>)> = None;
                for item in items {
                    let rank = self.rank(&item, keywords, line)?;
                    let better = match &best {
                        None => true,
                        Some((best, _)) if name == "min" => self.less(&rank, best)?,
                        Some((best, _)) => self.less(best, &rank)?,
                    };
                    if better {
                        best = Some((rank, item));
                    }
                }
                best.map(|(_, item)| item)
                    .or_else(|| {
                        keywords
                            .iter()
                            .find(|(k, _)| &**k == "default")
                            .map(|(_, v)| v.clone())
                    })
                    .ok_or_else(|| {
                        Failure::python(
                            "value-error",
                            format!("{name} of nothing"),
                            "pass at least one value",
                        )
                    })?
            }
            "sum" => {
                let mut total = second.cloned().unwrap_or(Value::Int(0));
                for item in self.iterate(first.ok_or_else(wrong)?, line)? {
                    self.step(line)?;
                    total = self.add(total, item, line)?;
                }
                total
            }
            "any" | "all" => {
                let mut result = name == "all";
                for item in self.iterate(first.ok_or_else(wrong)?, line)? {
                    if self.truth(&item)? != (name == "all") {
                        result = name != "all";
                        break;
                    }
                }
                Value::Bool(result)
            }
            "tuple" => match first {
                Some(value) => {
                    let items = self.iterate(value, line)?;
                    self.reserve(items.len() as u64, line)?;
                    Value::tuple(items)
                }
                None => Value::tuple(Vec::new()),
            },
            "list" => match first {
                Some(value) => {
                    let items = self.iterate(value, line)?;
                    self.reserve(items.len() as u64, line)?;
                    Value::list(items)
                }
                None => Value::list(Vec::new()),
            },
            "set" => {
                let items = match first {
                    Some(value) => self.iterate(value, line)?,
                    None => Vec::new(),
                };
                self.make_set(items)?
            }
            "dict" => {
                let mut dict = Dict::default();
                if let Some(value) = first {
                    let pairs = match value {
                        Value::Dict(other) => other.borrow().entries.clone(),
                        other => {
                            let mut pairs = Vec::new();
                            for item in self.iterate(other, line)? {
                                let pair = self.iterate(&item, line)?;
                                match <[Value<F>; 2]>::try_from(pair) {
                                    Ok([key, value]) => pairs.push((key, value)),
                                    Err(_) => return Err(wrong()),
                                }
                            }
                            pairs
                        }
                    };
                    for (key, value) in pairs {
                        dict.insert(super::interpreter::hashable(&key)?, key, value);
                    }
                }
                for (key, value) in keywords {
                    let name = Value::Str(Rc::clone(key));
                    dict.insert(super::interpreter::hashable(&name)?, name, value.clone());
                }
                self.reserve(dict.entries.len() as u64, line)?;
                Value::Dict(Rc::new(std::cell::RefCell::new(dict)))
            }
            "enumerate" => {
                let start = second
                    .or(keywords
                        .iter()
                        .find(|(k, _)| &**k == "start")
                        .map(|(_, v)| v))
                    .map_or(Some(0), Value::as_int)
                    .ok_or_else(wrong)?;
                let items = self.iterate(first.ok_or_else(wrong)?, line)?;
                self.reserve(2 * items.len() as u64, line)?;
                Value::list(
                    items
                        .into_iter()
                        .enumerate()
                        .map(|(i, v)| {
                            Value::tuple(vec![Value::Int(start.saturating_add(i as i64)), v])
                        })
                        .collect(),
                )
            }
            "zip" => {
                let mut columns = Vec::new();
                for value in positional {
                    columns.push(self.iterate(value, line)?);
                }
                let rows = columns.iter().map(Vec::len).min().unwrap_or(0);
                self.reserve((rows * count) as u64, line)?;
                Value::list(
                    (0..rows)
                        .map(|row| Value::tuple(columns.iter().map(|c| c[row].clone()).collect()))
                        .collect(),
                )
            }
            "map" | "filter" => {
                let function = first.ok_or_else(wrong)?.clone();
                let mut columns = Vec::new();
                for value in &positional[1..] {
                    columns.push(self.iterate(value, line)?);
                }
                let rows = columns.iter().map(Vec::len).min().unwrap_or(0);
                self.reserve(rows as u64, line)?;
                let mut items = Vec::new();
                for row in 0..rows {
                    self.step(line)?;
                    let arguments: Vec<Value<F>> = columns.iter().map(|c| c[row].clone()).collect();
                    let item = arguments[0].clone();
                    if name == "filter" && matches!(function, Value::None) {
                        if self.truth(&item)? {
                            items.push(item);
                        }
                        continue;
                    }
                    let result = self.call(
                        &function,
                        Arguments {
                            positional: arguments,
                            keywords: Vec::new(),
                        },
                        line,
                    )?;
                    if name == "map" {
                        items.push(result);
                    } else if self.truth(&result)? {
                        items.push(item);
                    }
                }
                Value::list(items)
            }
            "reduce" => {
                let function = first.ok_or_else(wrong)?.clone();
                let items = self.iterate(second.ok_or_else(wrong)?, line)?;
                let mut items = items.into_iter();
                let mut total = match positional.get(2) {
                    Some(value) => value.clone(),
                    None => items.next().ok_or_else(wrong)?,
                };
                for item in items {
                    self.step(line)?;
                    total = self.call(
                        &function,
                        Arguments {
                            positional: vec![total, item],
                            keywords: Vec::new(),
                        },
                        line,
                    )?;
                }
                total
            }
            "reversed" => {
                let mut items = self.iterate(first.ok_or_else(wrong)?, line)?;
                items.reverse();
                Value::list(items)
            }
            "sorted" => Value::list(self.sorted(first.ok_or_else(wrong)?, keywords, line)?),
            _ => return Ok(None),
        }))
    }

    /// What an item is ordered by: what the keyword `key` makes of it, or the item.
    fn rank(
        &mut self,
        item: &Value<F>,
        keywords: &[(Rc<str>, Value<F>)],
        line: u32,
    ) -> Outcome<Value<F>> {
        match keywords.iter().find(|(name, _)| &**name == "key") {
            Some((_, key)) if !matches!(key, Value::None) => {
                let arguments = Arguments {
                    positional: vec![item.clone()],
                    keywords: Vec::new(),
                };
                self.call(key, arguments, line)
            }
            _ => Ok(item.clone()),
        }
    }

    pub(super) fn sorted(
        &mut self,
        value: &Value<F>,
        keywords: &[(Rc<str>, Value<F>)],
        line: u32,
    ) -> Outcome<Vec<Value<F>>> {
        let items = self.iterate(value, line)?;
        let mut keyed = Vec::with_capacity(items.len());
        for item in items {
            let rank = self.rank(&item, keywords, line)?;
            keyed.push((rank, item));
        }
        // Merge sort, so that comparisons may fail.
        let mut width = 1;
        while width < keyed.len() {
            let mut merged = Vec::with_capacity(keyed.len());
            for chunk in keyed.chunks(2 * width) {
                let (left, right) = chunk.split_at(width.min(chunk.len()));
                let (mut i, mut j) = (0, 0);
                while i < left.len() || j < right.len() {
                    self.step(line)?;
                    let take_right = i >= left.len()
                        || (j < right.len() && self.less(&right[j].0, &left[i].0)?);
                    if take_right {
                        merged.push(right[j].clone());
                        j += 1;
                    } else {
                        merged.push(left[i].clone());
                        i += 1;
                    }
                }
            }
            keyed = merged;
            width *= 2;
        }
        let mut items: Vec<Value<F>> = keyed.into_iter().map(|(_, item)| item).collect();
        if let Some((_, reverse)) = keywords.iter().find(|(name, _)| &**name == "reverse")
            && self.truth(reverse)?
        {
            items.reverse();
        }
        Ok(items)
    }
}
