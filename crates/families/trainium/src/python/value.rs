//! Values of the interpreter.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::{Rc, Weak};

use super::tree::Code;
use crate::api::Api;
use crate::tensor::dtype::Dtype;
use crate::tensor::index::{Index, Mask};
use crate::tensor::storage::Buffer;
use crate::tensor::view::View;

/// What kind of loop a range stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LoopKind {
    Python,
    Affine,
    Sequential,
    Static,
}

/// Engines, as kernels name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum EngineName {
    Tensor,
    Vector,
    Scalar,
    Gpsimd,
    Sync,
    Unknown,
}

/// A sequence whose destruction does not recurse.
#[derive(Default)]
pub(crate) struct Items(pub(crate) Vec<Value>);

/// A dictionary in order of insertion.
#[derive(Default)]
pub(crate) struct Dict {
    pub(crate) keys: HashMap<Key, usize>,
    /// Key and value of each entry; `Unbound` where deleted.
    pub(crate) entries: Vec<(Value, Value)>,
}

/// A function with its surroundings.
pub(crate) struct Closure {
    pub(crate) code: Rc<Code>,
    pub(crate) defaults: Items,
    pub(crate) parent: Option<Rc<Frame>>,
}

/// A function with some of its arguments, from `functools.partial`.
pub(crate) struct Partial {
    pub(crate) function: Value,
    pub(crate) positional: Items,
    pub(crate) keywords: Vec<(Rc<str>, Value)>,
}

/// Variables of one call.
pub(crate) struct Frame {
    pub(crate) slots: RefCell<Items>,
    /// The function that was called; none for the file.
    pub(crate) code: Option<Rc<Code>>,
    pub(crate) parent: Option<Rc<Frame>>,
}

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

/// A number that the device holds.
pub(crate) struct Register {
    /// Unknown where only shapes are evaluated.
    pub(crate) value: Cell<Option<i64>>,
    /// Whether it is a scalar, with which one can compute.
    pub(crate) scalar: bool,
}

/// Constant array on the host (for `shared_constant`).
pub(crate) struct HostArray {
    pub(crate) shape: Vec<usize>,
    pub(crate) dtype: Dtype,
    pub(crate) data: Vec<f32>,
}

/// A value.
#[derive(Clone)]
pub(crate) enum Value {
    Unbound,
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Rc<str>),
    Ellipsis,
    List(Rc<RefCell<Items>>),
    Tuple(Rc<Items>),
    Dict(Rc<RefCell<Dict>>),
    Set(Rc<RefCell<Dict>>),
    /// Start, stop, step.
    Slice(Rc<Items>),
    Range(i64, i64, i64, LoopKind),
    Function(Rc<Closure>),
    Builtin(&'static str),
    Api(&'static Api),
    /// A method of a value.
    Bound(Rc<(Value, Rc<str>)>),
    Module(&'static str),
    Dtype(Dtype),
    Buffer(Buffer),
    Engine(EngineName),
    /// Another constant of NKI, by its path.
    Symbol(&'static str),
    /// A type of Python, for `isinstance`.
    Type(&'static str),
    /// `np.dtype(x).type`
    ScalarOf(Dtype),
    Tensor(Rc<View>),
    Index(Rc<Index>),
    Mask(Rc<Mask>),
    /// Components of `mgrid`.
    Grid(Rc<Vec<Index>>),
    /// `ds(start, size)`
    Window(i64, i64),
    /// `par_dim(size)`
    Partition(i64),
    Host(Rc<HostArray>),
    Class(Rc<Class>),
    Object(Rc<Object>),
    Partial(Rc<Partial>),
    /// A function and the sizes of the grid that it is launched on.
    Launch(Rc<(Rc<Closure>, Vec<i64>)>),
    /// A function of a class and the object or class that it is called with.
    Method(Rc<(Rc<Closure>, Value)>),
    /// `super()`: a class and the object whose method looks for another.
    Super(Rc<(Rc<Class>, Value)>),
    Register(Rc<Register>),
    /// A name bound by harness code that cannot be run here: the failure when it is used.
    Broken(Rc<crate::diagnostic::Failure>),
}

/// Most values in a tuple that is a key.
const KEY_WEIGHT: usize = 64;

/// Keys of dictionaries and members of sets.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    None,
    Int(i64),
    Float(u64),
    Str(Rc<str>),
    Tuple(Vec<Key>),
    Dtype(Dtype),
    Name(&'static str),
    /// An object that equals itself only.
    Same(usize),
}

impl Value {
    pub(crate) fn list(items: Vec<Self>) -> Self {
        Self::List(Rc::new(RefCell::new(Items(items))))
    }

    pub(crate) fn tuple(items: Vec<Self>) -> Self {
        Self::Tuple(Rc::new(Items(items)))
    }

    pub(crate) fn sizes(items: &[usize]) -> Self {
        Self::tuple(items.iter().map(|size| Self::Int(*size as i64)).collect())
    }

    pub(crate) fn str(text: &str) -> Self {
        Self::Str(text.into())
    }

    /// Name of the type, as Python would say it.
    pub(crate) fn type_name(&self) -> &'static str {
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
            | Self::Api(_)
            | Self::Bound(_)
            | Self::Partial(_)
            | Self::Launch(_) => "function",
            Self::Module(_) => "module",
            Self::Dtype(_) => "dtype",
            Self::Buffer(_) => "buffer",
            Self::Engine(_) => "engine",
            Self::Symbol(_) => "constant",
            Self::Type(_) | Self::ScalarOf(_) => "type",
            Self::Tensor(_) => "tensor",
            Self::Index(_) => "index expression",
            Self::Mask(_) => "mask",
            Self::Grid(_) => "mgrid",
            Self::Window(..) => "ds",
            Self::Partition(_) => "par_dim",
            Self::Host(_) => "numpy array",
            Self::Class(_) => "type",
            Self::Object(_) => "object",
            Self::Method(_) => "function",
            Self::Super(_) => "super",
            Self::Register(register) if register.scalar => "scalar",
            Self::Register(_) => "register",
            Self::Broken(_) => "name of harness code",
        }
    }

    /// The number, if it is a whole one.
    pub(crate) fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(value) | Self::Partition(value) => Some(*value),
            Self::Bool(value) => Some(i64::from(*value)),
            Self::Object(object) if object.class.kind == ClassKind::Enumeration(true) => {
                match object.fields.borrow().get(&Key::Str("value".into())) {
                    Some(Self::Int(value)) => Some(*value),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The number, if it is one.
    pub(crate) fn as_number(&self) -> Option<f64> {
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
            Self::Dtype(dtype) => Key::Dtype(*dtype),
            Self::Symbol(name) | Self::Builtin(name) | Self::Type(name) => Key::Name(name),
            Self::Api(api) => Key::Name(api.name),
            Self::Engine(engine) => Key::Int(*engine as i64 + (1 << 40)),
            Self::Buffer(buffer) => Key::Name(buffer.name()),
            Self::Object(object) if matches!(object.class.kind, ClassKind::Enumeration(_)) => {
                Key::Same(Rc::as_ptr(object) as usize)
            }
            Self::Class(class) => Key::Same(Rc::as_ptr(class) as usize),
            _ => return None,
        })
    }
}

impl Dict {
    pub(crate) fn get(&self, key: &Key) -> Option<&Value> {
        self.keys.get(key).map(|at| &self.entries[*at].1)
    }

    pub(crate) fn insert(&mut self, key: Key, name: Value, value: Value) {
        match self.keys.get(&key) {
            Some(at) => self.entries[*at].1 = value,
            None => {
                self.keys.insert(key, self.entries.len());
                self.entries.push((name, value));
            }
        }
    }

    pub(crate) fn remove(&mut self, key: &Key) -> Option<Value> {
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

/// Takes nested values apart without recursion, however deep they are.
fn dismantle(mut pending: Vec<Value>) {
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

impl Drop for Items {
    fn drop(&mut self) {
        if self.0.iter().any(Value::is_container) {
            dismantle(std::mem::take(&mut self.0));
        }
    }
}

impl Drop for Dict {
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
#[derive(Default)]
pub(crate) struct Cycles {
    pub(crate) lists: Vec<Weak<RefCell<Items>>>,
    pub(crate) dicts: Vec<Weak<RefCell<Dict>>>,
    pub(crate) frames: Vec<Weak<Frame>>,
    pub(crate) objects: Vec<Weak<Object>>,
    pub(crate) classes: Vec<Weak<Class>>,
}

impl Cycles {
    /// Notes a container that now holds `value`.
    pub(crate) fn note(&mut self, container: &Value, value: &Value) {
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
