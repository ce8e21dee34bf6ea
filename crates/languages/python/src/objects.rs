//! Classes of the file and their objects.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::dictionary::{Dict, Key};
use super::value::Value;
use crate::foreign::Foreign;

/// How a function of a class is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodKind {
    /// With the object first.
    Plain,
    /// As it is; plain values of a class, too.
    Static,
    /// With the class first.
    Class,
    /// When it is read.
    Property,
}

/// What the objects of a class are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassKind {
    Plain,
    /// Fields become parameters; whether objects cannot change.
    Data(bool),
    /// The same, and objects are tuples.
    Named,
    /// Derived from the language's base class: fields are given by keyword.
    Configuration,
    /// Its values are its only objects; whether they are numbers, too (`IntEnum`).
    Enumeration(bool),
}

/// How a field of an object gets its value if the call gives none.
#[derive(Clone)]
pub enum FieldDefault<F: Foreign> {
    Missing,
    Value(Value<F>),
    Factory(Value<F>),
}

/// A class of the file.
pub struct Class<F: Foreign> {
    pub(crate) name: Rc<str>,
    pub(crate) kind: ClassKind,
    pub(crate) bases: Vec<Rc<Class<F>>>,
    /// How many classes it is derived from, one after the other.
    pub(crate) height: u32,
    /// Whether it is derived from the language's base class.
    pub(crate) of_base: bool,
    pub(crate) fields: Vec<(Rc<str>, FieldDefault<F>)>,
    /// Values by name; kinds of methods beside them.
    pub(crate) attributes: RefCell<Dict<F>>,
    pub(crate) methods: RefCell<HashMap<Rc<str>, MethodKind>>,
}

/// An object of a class of the file.
pub struct Object<F: Foreign> {
    pub(crate) class: Rc<Class<F>>,
    pub(crate) fields: RefCell<Dict<F>>,
}

impl<F: Foreign> Class<F> {
    /// The value of a name and how it is called, here or in what the class is derived from.
    pub(crate) fn find(&self, name: &Rc<str>) -> Option<(Value<F>, MethodKind)> {
        if let Some(value) = self.attributes.borrow().get(&Key::Str(Rc::clone(name))) {
            let kind = self.methods.borrow().get(name).copied();
            return Some((value.clone(), kind.unwrap_or(MethodKind::Static)));
        }
        self.bases.iter().find_map(|base| base.find(name))
    }

    /// Whether this is `other` or derived from it.
    pub(crate) fn is(self: &Rc<Self>, other: &Rc<Self>) -> bool {
        Rc::ptr_eq(self, other) || self.bases.iter().any(|base| base.is(other))
    }
}
