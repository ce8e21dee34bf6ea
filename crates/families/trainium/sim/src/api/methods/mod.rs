//! Methods of tensors: views of both dialects.

mod access_patterns;
mod shapes;
mod windows;

use std::rc::Rc;

use super::operands::tensor;
use super::{Device, Value, dtype_of};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::view::View;

/// What a method does.
type Body = fn(&mut Device, &Call<'_>) -> Outcome<Value>;

/// All methods of tensors.
const METHODS: &[(&str, Body)] = &[
    ("ap", access_patterns::access_pattern),
    ("astype", astype),
    ("broadcast", shapes::broadcast),
    ("broadcast_to", shapes::broadcast_to),
    ("expand_dim", shapes::expand_dim),
    ("expand_dims", shapes::expand_dim),
    ("flatten_dims", shapes::flatten_dims),
    ("get_offset", offset),
    ("get_pattern", pattern),
    ("has_dynamic_access", is_indirect),
    ("indirect", windows::indirect),
    ("is_contiguous", is_contiguous),
    ("is_indirect", is_indirect),
    ("permute", shapes::permute),
    ("rearrange", shapes::rearrange),
    ("reinterpret_cast", seen_as),
    ("reshape", shapes::reshape),
    ("reshape_dim", shapes::reshape_dim),
    ("select", windows::select),
    ("slice", windows::slice),
    ("squeeze_dim", shapes::squeeze_dim),
    ("vector_select", windows::vector_select),
    ("view", seen_as),
];

/// Returns whether tensors have a method of this name.
pub(crate) fn is_method(name: &str) -> bool {
    METHODS.iter().any(|(it, _)| *it == name)
}

/// A call of a method.
struct Call<'a> {
    view: &'a Rc<View>,
    name: &'a str,
    positional: Vec<Value>,
    keywords: Vec<(Rc<str>, Value)>,
}

impl Call<'_> {
    fn keyword(&self, wanted: &str) -> Option<Value> {
        let mut keywords = self.keywords.iter();
        keywords
            .find(|(name, _)| &**name == wanted)
            .map(|(_, value)| value.clone())
    }

    fn argument(&self, at: usize, wanted: &str) -> Option<Value> {
        let positional = self.positional.get(at).cloned();
        positional.or_else(|| self.keyword(wanted))
    }

    fn number(&self, at: usize, wanted: &str) -> Option<i64> {
        self.argument(at, wanted)?.as_int()
    }

    /// Numbers in a sequence, or as the positional arguments.
    fn list(&self, at: usize, wanted: &str) -> Option<Vec<i64>> {
        let items = self.argument(at, wanted)?.listed();
        let items = items.unwrap_or_else(|| self.positional.clone());
        items.iter().map(Value::as_int).collect()
    }

    /// The dimension that an argument names, counted from the end if it is negative.
    fn dimension(&self, at: usize, wanted: &str) -> Outcome<usize> {
        let rank = self.view.dimensions.len();
        let d = self.number(at, wanted).ok_or_else(|| self.wrong())?;
        let d = if d < 0 { d + rank as i64 } else { d };
        usize::try_from(d)
            .ok()
            .filter(|d| *d < rank)
            .ok_or_else(|| self.wrong())
    }

    /// Whether the tensor lies in SBUF or PSUM, where its first dimension are partitions.
    fn is_on_chip(&self) -> bool {
        self.view.buffer().on_chip()
    }

    /// Returns a view to be changed.
    fn own(&self) -> View {
        View::clone(self.view)
    }

    fn wrong(&self) -> Box<Failure> {
        Failure::documented(
            "err_unsupported_view",
            format!(
                "`{}` cannot be applied like this to a tensor of shape {:?}",
                self.name,
                self.view.shape()
            ),
            "views cannot move data; copy into the layout that you need",
        )
    }
}

impl Device {
    /// The name that a tensor was made with.
    pub(crate) fn name_of(&self, view: &View) -> &str {
        let tensor = self.trace.tensors.get(view.storage.id as usize);
        tensor.map_or("", |tensor| &tensor.name)
    }

    /// A method of a tensor.
    pub(crate) fn tensor_method(
        &mut self,
        view: &Rc<View>,
        name: &str,
        positional: Vec<Value>,
        keywords: Vec<(Rc<str>, Value)>,
    ) -> Outcome<Value> {
        self.check_scope(view)?;
        let call = Call {
            view,
            name,
            positional,
            keywords,
        };
        match METHODS.iter().find(|(it, _)| *it == name) {
            Some((_, body)) => body(self, &call),
            None => Err(call.wrong()),
        }
    }
}

fn astype(device: &mut Device, call: &Call<'_>) -> Outcome<Value> {
    let dtype = call.argument(0, "dtype").as_ref().and_then(dtype_of);
    let dtype = dtype.ok_or_else(|| call.wrong())?;
    let view = device.operand_of("astype", "tile", call.own())?;
    device.copied(view, dtype, None).map(tensor)
}

/// `view`, `reinterpret_cast`: the same bytes as elements of another type.
fn seen_as(_: &mut Device, call: &Call<'_>) -> Outcome<Value> {
    let dtype = call.argument(0, "dtype").as_ref().and_then(dtype_of);
    let dtype = dtype.ok_or_else(|| call.wrong())?;
    let out = call.view.seen_as(dtype).ok_or_else(|| {
        Failure::documented(
            "err_unsupported_view",
            format!(
                "a tensor of shape {:?} cannot be seen as {}: the last dimension must lie side by side and hold whole elements",
                call.view.shape(),
                dtype.name()
            ),
            "view before slicing, or copy with a cast",
        )
    })?;
    Ok(tensor(out))
}

/// `get_pattern`: stride and size of each dimension.
fn pattern(_: &mut Device, call: &Call<'_>) -> Outcome<Value> {
    let pairs = call.view.dimensions.iter();
    let pairs = pairs.map(|d| vec![Value::Int(d.stride), Value::Int(d.size as i64)]);
    Ok(Value::list(pairs.map(Value::list).collect()))
}

fn offset(_: &mut Device, call: &Call<'_>) -> Outcome<Value> {
    Ok(Value::Int(call.view.offset))
}

fn is_indirect(_: &mut Device, call: &Call<'_>) -> Outcome<Value> {
    Ok(Value::Bool(call.view.indirect.is_some()))
}

fn is_contiguous(_: &mut Device, call: &Call<'_>) -> Outcome<Value> {
    let mut out = call.own();
    // Partitions are memories of their own.
    if call.is_on_chip() && !out.dimensions.is_empty() {
        out.dimensions.edit(|all| {
            all.remove(0);
        });
    }
    Ok(Value::Bool(out.is_contiguous()))
}
