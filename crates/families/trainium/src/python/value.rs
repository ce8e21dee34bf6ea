//! Values of the interpreter.

use std::cell::RefCell;
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

/// Variables of one call.
pub(crate) struct Frame {
    pub(crate) slots: RefCell<Items>,
    pub(crate) parent: Option<Rc<Frame>>,
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
    /// A name bound by harness code that cannot be run here: the failure when it is used.
    Broken(Rc<crate::diagnostic::Failure>),
}

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
            Self::Function(_) | Self::Builtin(_) | Self::Api(_) | Self::Bound(_) => "function",
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
            Self::Broken(_) => "name of harness code",
        }
    }

    /// The number, if it is a whole one.
    pub(crate) fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(value) | Self::Partition(value) => Some(*value),
            Self::Bool(value) => Some(i64::from(*value)),
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

    fn is_container(&self) -> bool {
        matches!(
            self,
            Self::List(_)
                | Self::Tuple(_)
                | Self::Dict(_)
                | Self::Set(_)
                | Self::Slice(_)
                | Self::Function(_)
                | Self::Bound(_)
        )
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
            Self::Tuple(items) if depth > 0 => Key::Tuple(
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
        for frame in self.frames.drain(..).filter_map(|weak| weak.upgrade()) {
            let items = std::mem::take(&mut frame.slots.borrow_mut().0);
            dismantle(items);
        }
    }
}
