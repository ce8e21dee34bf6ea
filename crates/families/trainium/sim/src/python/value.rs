//! Values of the interpreter.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::dictionary::{Dict, Key};
use super::objects::{Class, ClassKind, Object};
use super::release::Items;
use super::tree::Code;
use crate::api::Api;
use crate::tensor::dtype::Dtype;
use crate::tensor::index::{Index, Mask};
use crate::tensor::place::Allocator;
use crate::tensor::storage::Buffer;
use crate::tensor::view::View;
use crate::trace::mix;

/// What kind of loop a range stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LoopKind {
    Python,
    Affine,
    Sequential,
    Static,
    /// Counted by the device while the kernel runs.
    Dynamic,
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

/// A number that the device holds.
pub(crate) struct Register {
    /// Unknown where only shapes are evaluated.
    pub(crate) value: Cell<Option<i64>>,
    /// Whether it is a scalar, with which one can compute.
    pub(crate) scalar: bool,
    /// Whether the number came from memory.
    pub(crate) from_data: Cell<bool>,
}

/// Array on the host (for `shared_constant`).
pub(crate) struct HostArray {
    pub(crate) shape: Vec<usize>,
    pub(crate) dtype: Dtype,
    /// Shared with those that were reshaped from it.
    pub(crate) data: Rc<RefCell<Vec<f32>>>,
}

/// Values are moved and copied more often than anything else.
const _: () = assert!(size_of::<Value>() <= 24);

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
    /// Start, stop, step.
    Range(Rc<(i64, i64, i64)>, LoopKind),
    Function(Rc<Closure>),
    Builtin(&'static str),
    Api(&'static Api),
    /// A method of a value.
    Bound(Rc<(Value, Rc<str>)>),
    Module(&'static str),
    Dtype(Dtype),
    Buffer(Buffer),
    /// A memory with a place in it.
    Allocator(Rc<Allocator>),
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
    /// `ds(start, size)`, and whether a register has the start.
    Window(i64, i64, bool),
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
    /// What a variable was before a loop on the device, and what an iteration has left in it.
    Left(Rc<(Value, Value)>),
    /// A name bound by harness code that cannot be run here: the failure when it is used.
    Broken(Rc<crate::diagnostic::Failure>),
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
            Self::Buffer(_) | Self::Allocator(_) => "buffer",
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
            Self::Left(both) => both.1.type_name(),
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

    /// A fingerprint that equal arguments of a call share: of a tensor its shape and type, of all
    /// else the value. `None` for what is never taken for equal.
    pub(crate) fn identity(&self) -> Option<u64> {
        let text = |kind: u64, text: &str| text.bytes().fold(kind, |hash, it| mix(hash, it.into()));
        let all = |kind: u64, items: &[Self]| {
            let mut items = items.iter();
            items.try_fold(kind, |hash, it| Some(mix(hash, it.plain()?)))
        };
        match self {
            Self::Tuple(items) => all(1, &items.0),
            Self::List(items) => all(2, &items.borrow().0),
            Self::Str(value) => Some(text(3, value)),
            Self::Builtin(name) => Some(text(4, name)),
            Self::Api(api) => Some(mix(5, api.identity())),
            Self::Symbol(name) => Some(text(6, name)),
            Self::Type(name) => Some(text(7, name)),
            Self::Tensor(view) => {
                let sizes = view.dimensions.iter().map(|it| it.size as u64);
                Some(sizes.fold(mix(8, view.dtype as u64), mix))
            }
            // What a mask keeps shows in the operands.
            Self::Mask(_) => Some(9),
            other => other.plain(),
        }
    }

    /// The same for a single value.
    fn plain(&self) -> Option<u64> {
        Some(match self {
            Self::None => 10,
            Self::Bool(value) => mix(11, u64::from(*value)),
            Self::Int(value) | Self::Partition(value) => mix(12, *value as u64),
            Self::Float(value) => mix(13, value.to_bits()),
            Self::Dtype(value) | Self::ScalarOf(value) => mix(14, *value as u64),
            Self::Buffer(value) => mix(15, *value as u64),
            Self::Engine(value) => mix(16, *value as u64),
            _ => return None,
        })
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
