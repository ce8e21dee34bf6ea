//! Methods of Python's own containers and texts.

mod dictionaries;
mod lists;
mod sets;
mod strings;

use std::rc::Rc;

use super::calls::Arguments;
use super::dictionary::Dict;
use super::interpreter::{Interpreter, hashable, type_error};
use super::value::Value;
use crate::diagnostic::{Failure, Outcome};
use crate::foreign::Foreign;

const TUPLE: &[&str] = &["index", "count"];

/// Returns the names of all methods of lists, tuples, dictionaries, sets and texts.
pub fn method_names() -> impl Iterator<Item = &'static str> {
    let all = [
        lists::NAMES,
        TUPLE,
        dictionaries::NAMES,
        sets::NAMES,
        strings::NAMES,
    ];
    all.into_iter().flatten().copied()
}

/// Returns whether `object` is a container or a text that has a method of this name.
pub(super) fn has_method<F: Foreign>(object: &Value<F>, name: &str) -> bool {
    let names = match object {
        Value::List(_) => lists::NAMES,
        Value::Tuple(_) => TUPLE,
        Value::Dict(_) => dictionaries::NAMES,
        Value::Set(_) => sets::NAMES,
        Value::Str(_) => strings::NAMES,
        _ => &[],
    };
    names.contains(&name)
}

/// What a method is given.
struct Given<F: Foreign> {
    name: Rc<str>,
    positional: std::vec::IntoIter<Value<F>>,
    keywords: Vec<(Rc<str>, Value<F>)>,
    /// How many arguments without a name there were.
    count: usize,
    line: u32,
}

impl<F: Foreign> Given<F> {
    fn next(&mut self) -> Outcome<Value<F>> {
        self.positional.next().ok_or_else(|| self.wrong())
    }

    fn wrong(&self) -> Box<Failure> {
        type_error(&format!(
            "`{}` cannot be called with {} arguments like these",
            self.name, self.count
        ))
    }
}

impl<F: Foreign> Interpreter<F> {
    /// Calls a method of a container or a text.
    pub(super) fn own_method(
        &mut self,
        object: &Value<F>,
        name: &Rc<str>,
        arguments: Arguments<F>,
        line: u32,
    ) -> Outcome<Value<F>> {
        let mut given = Given {
            name: Rc::clone(name),
            count: arguments.positional.len(),
            positional: arguments.positional.into_iter(),
            keywords: arguments.keywords,
            line,
        };
        if !given.keywords.is_empty() && !matches!(&**name, "sort" | "format") {
            return Err(given.wrong());
        }
        let made = match object {
            Value::List(list) => self.list_method(object, list, &mut given),
            Value::Tuple(_) => self.places_of(object, &mut given),
            Value::Dict(dict) => self.dictionary_method(object, dict, &mut given),
            Value::Set(set) => self.set_method(object, set, &mut given),
            Value::Str(text) => self.string_method(text, &mut given),
            _ => Err(given.wrong()),
        }?;
        // Whatever a method has not taken is more than it has parameters for.
        match given.positional.next() {
            Some(_) => Err(given.wrong()),
            None => Ok(made),
        }
    }

    /// `index`, `count` and `remove` of a list or a tuple.
    fn places_of(&mut self, object: &Value<F>, given: &mut Given<F>) -> Outcome<Value<F>> {
        let item = given.next()?;
        let items = self.iterate(object, given.line)?;
        let mut found = Vec::new();
        for (at, candidate) in items.iter().enumerate() {
            if self.equal(candidate, &item)? {
                found.push(at);
            }
        }
        match (&*given.name, found.first(), object) {
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

    /// A dictionary or a set of its own with the same entries.
    fn copied(&mut self, entries: &Dict<F>, line: u32) -> Outcome<Dict<F>> {
        self.reserve(entries.entries.len() as u64, line)?;
        let mut copy = Dict::default();
        for (name, value) in &entries.entries {
            copy.insert(hashable(name)?, name.clone(), value.clone());
        }
        Ok(copy)
    }
}
