//! Classes of the file and their objects.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::dictionary::{Dict, Key};
use super::value::Value;

/// How a function of a class is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MethodKind {
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
pub(crate) enum ClassKind {
    Plain,
    /// Fields become parameters; whether objects cannot change.
    Data(bool),
    /// The same, and objects are tuples.
    Named,
    /// Derived from `nl.NKIObject`: fields are given by keyword.
    Configuration,
    /// Its values are its only objects; whether they are numbers, too (`IntEnum`).
    Enumeration(bool),
}

/// How a field of an object gets its value if the call gives none.
#[derive(Clone)]
pub(crate) enum FieldDefault {
    Missing,
    Value(Value),
    Factory(Value),
}

/// A class of the file.
pub(crate) struct Class {
    pub(crate) name: Rc<str>,
    pub(crate) kind: ClassKind,
    pub(crate) bases: Vec<Rc<Class>>,
    /// How many classes it is derived from, one after the other.
    pub(crate) height: u32,
    /// Whether it is derived from `nl.NKIObject`.
    pub(crate) of_nki: bool,
    pub(crate) fields: Vec<(Rc<str>, FieldDefault)>,
    /// Values by name; kinds of methods beside them.
    pub(crate) attributes: RefCell<Dict>,
    pub(crate) methods: RefCell<HashMap<Rc<str>, MethodKind>>,
}

/// An object of a class of the file.
pub(crate) struct Object {
    pub(crate) class: Rc<Class>,
    pub(crate) fields: RefCell<Dict>,
}

impl Class {
    /// The value of a name and how it is called, here or in what the class is derived from.
    pub(crate) fn find(&self, name: &Rc<str>) -> Option<(Value, MethodKind)> {
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
