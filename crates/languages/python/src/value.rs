//! Values of the interpreter.

use std::cell::RefCell;
use std::rc::Rc;

use super::dictionary::{Dict, Key};
use super::objects::{Class, ClassKind, Object};
use super::release::Items;
use super::tree::Code;
use crate::foreign::Foreign;

/// Adds a word to a fingerprint of words in their order.
#[inline]
pub const fn mix(hash: u64, word: u64) -> u64 {
    let mixed = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xd1b5_4a32_d192_ed03)
}

/// A function with its surroundings.
pub struct Closure<F: Foreign> {
    pub(crate) code: Rc<Code<F>>,
    pub(crate) defaults: Items<F>,
    pub(crate) parent: Option<Rc<Frame<F>>>,
    /// Whether the language makes a kernel of it, by a decorator or a call.
    pub(crate) is_kernel: bool,
}

/// A function with some of its arguments, from `functools.partial`.
pub struct Partial<F: Foreign> {
    pub(crate) function: Value<F>,
    pub(crate) positional: Items<F>,
    pub(crate) keywords: Vec<(Rc<str>, Value<F>)>,
}

/// Variables of one call.
pub struct Frame<F: Foreign> {
    pub(crate) slots: RefCell<Items<F>>,
    /// The function that was called; none for the file.
    pub(crate) code: Option<Rc<Code<F>>>,
    pub(crate) parent: Option<Rc<Frame<F>>>,
}

/// A value.
// A tag as wide as what follows it: between a narrow one and that lie bytes that would be copied
// one by one.
#[repr(u64)]
#[derive(Clone)]
pub enum Value<F: Foreign> {
    /// A variable without a value.
    Unbound,
    /// `None`
    None,
    /// `True` or `False`
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A text.
    Str(Rc<str>),
    /// `...`
    Ellipsis,
    /// A list.
    List(Rc<RefCell<Items<F>>>),
    /// A tuple.
    Tuple(Rc<Items<F>>),
    /// A dictionary.
    Dict(Rc<RefCell<Dict<F>>>),
    /// A set: a dictionary without values.
    Set(Rc<RefCell<Dict<F>>>),
    /// Start, stop, step.
    Slice(Rc<Items<F>>),
    /// Start, stop, step.
    Range(Rc<(i64, i64, i64)>, F::Loop),
    /// A function of the file.
    Function(Rc<Closure<F>>),
    /// A function of Python's own, or of the language, by its name.
    Builtin(&'static str),
    /// A method of a value.
    Bound(Rc<(Value<F>, Rc<str>)>),
    /// A module, by its name.
    Module(&'static str),
    /// A constant, by its path.
    Symbol(&'static str),
    /// A type of Python, for `isinstance`.
    Type(&'static str),
    /// A class of the file.
    Class(Rc<Class<F>>),
    /// An object of such a class.
    Object(Rc<Object<F>>),
    /// `functools.partial(…)`
    Partial(Rc<Partial<F>>),
    /// A function and the sizes of the grid that it is launched on.
    Launch(Rc<(Rc<Closure<F>>, Vec<i64>)>),
    /// A function of a class and the object or class that it is called with.
    Method(Rc<(Rc<Closure<F>>, Value<F>)>),
    /// `super()`: a class and the object whose method looks for another.
    Super(Rc<(Rc<Class<F>>, Value<F>)>),
    /// What a variable was before a loop on the device, and what an iteration has left in it.
    Left(Rc<(Value<F>, Value<F>)>),
    /// A name bound by harness code that cannot be run here: the failure when it is used.
    Broken(Rc<crate::diagnostic::Failure>),
    /// `ds(start, size)`. It is no foreign value since these would be larger then.
    Window(i64, i64),
    /// The same, where the device holds the start.
    DeviceWindow(i64, i64),
    /// A value that is not of Python.
    Foreign(F),
}

impl<F: Foreign> Value<F> {
    /// A list of these items.
    pub fn list(items: Vec<Self>) -> Self {
        Self::List(Rc::new(RefCell::new(Items(items))))
    }

    /// A tuple of these items.
    pub fn tuple(items: Vec<Self>) -> Self {
        Self::Tuple(Rc::new(Items(items)))
    }

    /// A tuple of these sizes.
    pub fn sizes(items: &[usize]) -> Self {
        Self::tuple(items.iter().map(|size| Self::Int(*size as i64)).collect())
    }

    /// The items of a list or a tuple.
    pub fn listed(&self) -> Option<Vec<Self>> {
        match self {
            Self::List(list) => Some(list.borrow().0.clone()),
            Self::Tuple(items) => Some(items.0.clone()),
            _ => None,
        }
    }

    /// A text.
    pub fn str(text: &str) -> Self {
        Self::Str(text.into())
    }

    /// Name of the type, as Python would say it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Unbound => "unbound",
            Self::None => "NoneType",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Str(_) => "str",
            Self::Ellipsis => "ellipsis",
            Self::List(_) => "list",
            Self::Tuple(_) => "tuple",
            Self::Dict(_) => "dict",
            Self::Set(_) => "set",
            Self::Slice(_) => "slice",
            Self::Range(..) => "range",
            Self::Function(_)
            | Self::Builtin(_)
            | Self::Bound(_)
            | Self::Partial(_)
            | Self::Launch(_) => "function",
            Self::Module(_) => "module",
            Self::Symbol(_) => "constant",
            Self::Type(_) => "type",
            Self::Class(_) => "type",
            Self::Object(_) => "object",
            Self::Method(_) => "function",
            Self::Super(_) => "super",
            Self::Left(both) => both.1.type_name(),
            Self::Broken(_) => "name of harness code",
            Self::Window(..) | Self::DeviceWindow(..) => "ds",
            Self::Foreign(value) => value.type_name(),
        }
    }

    /// The number, if it is a whole one.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            Self::Bool(value) => Some(i64::from(*value)),
            Self::Object(object) if object.class.kind == ClassKind::Enumeration(true) => {
                match object.fields.borrow().get(&Key::Str("value".into())) {
                    Some(Self::Int(value)) => Some(*value),
                    _ => None,
                }
            }
            Self::Foreign(value) => value.as_int(),
            _ => None,
        }
    }

    /// The number, if it is one.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Self::Float(value) => Some(*value),
            other => other.as_int().map(|value| value as f64),
        }
    }

    pub(super) fn is_container(&self) -> bool {
        matches!(
            self,
            Self::List(_)
                | Self::Tuple(_)
                | Self::Dict(_)
                | Self::Set(_)
                | Self::Slice(_)
                | Self::Function(_)
                | Self::Bound(_)
                | Self::Partial(_)
                | Self::Launch(_)
                | Self::Class(_)
                | Self::Object(_)
                | Self::Method(_)
                | Self::Super(_)
        )
    }
}

impl<F: Foreign> Value<F> {
    /// The variables around a function.
    pub fn surroundings(&self) -> Option<&Rc<Frame<F>>> {
        match self {
            Self::Function(closure) => closure.parent.as_ref(),
            Self::Method(method) => method.0.parent.as_ref(),
            Self::Partial(partial) => partial.function.surroundings(),
            _ => None,
        }
    }
}

impl<F: Foreign> Closure<F> {
    /// What it was defined as.
    pub fn name(&self) -> &str {
        &self.code.name
    }
}
