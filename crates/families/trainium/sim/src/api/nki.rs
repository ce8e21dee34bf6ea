//! Values of NKI.

use std::rc::Rc;

use autocomp_python::{Member, mix};

use super::host_arrays::HostArray;
use super::methods::is_method;
use super::placement::Allocator;
use super::registers::Register;
use super::{Api, Device, EngineName, Value};
use crate::tensor::dtype::Dtype;
use crate::tensor::index::{Index, Mask};
use crate::tensor::storage::Buffer;
use crate::tensor::view::View;

/// A value that is not of Python.
#[derive(Clone)]
pub(crate) enum Nki {
    Api(&'static Api),
    Dtype(Dtype),
    Buffer(Buffer),
    /// A memory with a place in it.
    Allocator(Rc<Allocator>),
    Engine(EngineName),
    /// `np.dtype(x).type`
    ScalarOf(Dtype),
    Tensor(Rc<View>),
    Index(Rc<Index>),
    Mask(Rc<Mask>),
    /// Components of `mgrid`.
    Grid(Rc<Vec<Index>>),
    /// `par_dim(size)`
    Partition(i64),
    Host(Rc<HostArray>),
    Register(Rc<Register>),
}

/// Values are moved and copied more often than anything else.
const _: () = assert!(size_of::<Value>() <= 24);

impl Nki {
    /// `self.name`, if there is such.
    pub(super) fn member_of(&self, device: &Device, name: &str) -> Option<Member<Self>> {
        let own = |value: Self| Member::Value(Value::Foreign(value));
        Some(match self {
            Self::Tensor(view) => match name {
                "shape" => Member::Value(Value::sizes(&view.shape())),
                "dtype" => own(Self::Dtype(view.dtype)),
                "ndim" => Member::Value(Value::Int(view.dimensions.len() as i64)),
                "buffer" => own(Self::Buffer(view.buffer())),
                "size" => Member::Value(Value::Int(view.elements() as i64)),
                "itemsize" => Member::Value(Value::Int(view.dtype.bytes() as i64)),
                "strides" => {
                    let strides = view.dimensions.iter().map(|it| Value::Int(it.stride));
                    Member::Value(Value::tuple(strides.collect()))
                }
                "offset" => Member::Value(Value::Int(view.offset)),
                "name" => Member::Value(Value::str(device.name_of(view))),
                _ if is_method(name) => Member::Method,
                _ => return None,
            },
            Self::Grid(parts) => {
                let at = match name {
                    "p" => 0,
                    "x" => 1,
                    "y" => 2,
                    "z" => 3,
                    "w" => 4,
                    _ => return None,
                };
                let part = parts.get(at).cloned();
                return part.map(|part| own(Self::Index(part.into())));
            }
            Self::Dtype(dtype) => match name {
                "type" => own(Self::ScalarOf(*dtype)),
                "itemsize" => Member::Value(Value::Int(dtype.bytes() as i64)),
                "name" => Member::Value(Value::str(dtype.name())),
                _ => return None,
            },
            Self::Host(array) => match name {
                "shape" => Member::Value(Value::sizes(&array.shape)),
                "dtype" => own(Self::Dtype(array.dtype)),
                "astype" | "reshape" => Member::Method,
                _ => return None,
            },
            _ => return None,
        })
    }
}

/// A fingerprint that equal arguments of a call share: of a tensor its shape and type, of all
/// else the value. `None` for what is never taken for equal.
pub(super) fn likeness(value: &Value) -> Option<u64> {
    let text = |kind: u64, text: &str| text.bytes().fold(kind, |hash, it| mix(hash, it.into()));
    let all = |kind: u64, items: &[Value]| {
        let mut items = items.iter();
        items.try_fold(kind, |hash, it| Some(mix(hash, of_one(it)?)))
    };
    match value {
        Value::Tuple(items) => all(1, &items.0),
        Value::List(items) => all(2, &items.borrow().0),
        Value::Str(value) => Some(text(3, value)),
        Value::Builtin(name) => Some(text(4, name)),
        Value::Foreign(Nki::Api(api)) => Some(mix(5, api.identity())),
        Value::Symbol(name) => Some(text(6, name)),
        Value::Type(name) => Some(text(7, name)),
        Value::Foreign(Nki::Tensor(view)) => {
            let sizes = view.dimensions.iter().map(|it| it.size as u64);
            Some(sizes.fold(mix(8, view.dtype as u64), mix))
        }
        // What a mask keeps shows in the operands.
        Value::Foreign(Nki::Mask(_)) => Some(9),
        other => of_one(other),
    }
}

/// The same for a single value.
fn of_one(value: &Value) -> Option<u64> {
    Some(match value {
        Value::None => 10,
        Value::Bool(value) => mix(11, u64::from(*value)),
        Value::Int(value) | Value::Foreign(Nki::Partition(value)) => mix(12, *value as u64),
        Value::Float(value) => mix(13, value.to_bits()),
        Value::Foreign(Nki::Dtype(value) | Nki::ScalarOf(value)) => mix(14, *value as u64),
        Value::Foreign(Nki::Buffer(value)) => mix(15, *value as u64),
        Value::Foreign(Nki::Engine(value)) => mix(16, *value as u64),
        _ => return None,
    })
}
