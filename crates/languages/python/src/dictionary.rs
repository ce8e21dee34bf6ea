//! Dictionaries, and what can be a key of one.

use std::collections::HashMap;
use std::rc::Rc;

use super::interpreter::hashable;
use super::objects::ClassKind;
use super::value::Value;
use crate::diagnostic::Outcome;
use crate::foreign::Foreign;

/// Most values in a tuple that is a key.
const KEY_WEIGHT: usize = 64;

/// A dictionary in order of insertion.
pub struct Dict<F: Foreign> {
    pub(crate) keys: HashMap<Key, usize>,
    /// Key and value of each entry; `Unbound` where deleted.
    pub entries: Vec<(Value<F>, Value<F>)>,
}

/// Keys of dictionaries and members of sets.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Key {
    /// `None`.
    None,
    /// A whole number.
    Int(i64),
    /// Another number, by its bits.
    Float(u64),
    /// A text.
    Str(Rc<str>),
    /// A tuple of keys.
    Tuple(Vec<Key>),
    /// A function, type or constant, by its name.
    Name(&'static str),
    /// A foreign value, by a kind and a number.
    Foreign(u32, u64),
    /// An object that equals itself only.
    Same(usize),
}

impl<F: Foreign> Default for Dict<F> {
    fn default() -> Self {
        Self {
            keys: HashMap::new(),
            entries: Vec::new(),
        }
    }
}

impl<F: Foreign> Dict<F> {
    /// The entries of a set with these members.
    pub(crate) fn of_members(items: Vec<Value<F>>) -> Outcome<Self> {
        let mut set = Self::default();
        for item in items {
            set.insert(hashable(&item)?, item, Value::None);
        }
        Ok(set)
    }

    /// Keys of a dictionary, or members of a set, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = Value<F>> {
        self.entries.iter().map(|(name, _)| name.clone())
    }

    /// Returns those of `items` that are keys here, or those that are not.
    pub(crate) fn among(&self, items: Vec<Value<F>>, are_keys: bool) -> Outcome<Vec<Value<F>>> {
        let mut kept = Vec::new();
        for item in items {
            if self.keys.contains_key(&hashable(&item)?) == are_keys {
                kept.push(item);
            }
        }
        Ok(kept)
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&Value<F>> {
        self.keys.get(key).map(|at| &self.entries[*at].1)
    }

    pub(crate) fn insert(&mut self, key: Key, name: Value<F>, value: Value<F>) {
        match self.keys.get(&key) {
            Some(at) => self.entries[*at].1 = value,
            None => {
                self.keys.insert(key, self.entries.len());
                self.entries.push((name, value));
            }
        }
    }

    pub(crate) fn remove(&mut self, key: &Key) -> Option<Value<F>> {
        let at = self.keys.remove(key)?;
        let (_, value) = self.entries.remove(at);
        for position in self.keys.values_mut() {
            if *position > at {
                *position -= 1;
            }
        }
        Some(value)
    }
}

impl<F: Foreign> Value<F> {
    /// How many values a tuple holds, in all depths, up to one more than keys may have.
    fn weight(&self) -> usize {
        let mut pending = vec![self];
        let mut count = 0;
        while let (Some(value), true) = (pending.pop(), count <= KEY_WEIGHT) {
            count += 1;
            if let Self::Tuple(items) = value {
                pending.extend(items.0.iter().take(KEY_WEIGHT + 1));
            }
        }
        count
    }

    /// Key in a dictionary, if the value can be one.
    pub(crate) fn key(&self, depth: u32) -> Option<Key> {
        Some(match self {
            Self::None => Key::None,
            Self::Bool(value) => Key::Int(i64::from(*value)),
            Self::Int(value) => Key::Int(*value),
            Self::Float(value) if value.fract() == 0.0 && value.abs() < 9e15 => {
                Key::Int(*value as i64)
            }
            Self::Float(value) => Key::Float(value.to_bits()),
            Self::Str(text) => Key::Str(Rc::clone(text)),
            Self::Tuple(items) if depth > 0 && self.weight() <= KEY_WEIGHT => Key::Tuple(
                items
                    .0
                    .iter()
                    .map(|item| item.key(depth - 1))
                    .collect::<Option<_>>()?,
            ),
            Self::Symbol(name) | Self::Builtin(name) | Self::Type(name) => Key::Name(name),
            Self::Object(object) if matches!(object.class.kind, ClassKind::Enumeration(_)) => {
                Key::Same(Rc::as_ptr(object) as usize)
            }
            Self::Class(class) => Key::Same(Rc::as_ptr(class) as usize),
            Self::Foreign(value) => value.key()?,
            _ => return None,
        })
    }
}
