//! Methods of tensors: views of both dialects.

use std::rc::Rc;

use super::operands::tensor;
use super::{Device, Dialect, Nki, Value, dtype_of, sizes};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::view::{Dimension, Dimensions, Indirect, View};

fn bad(name: &str, view: &View) -> Box<Failure> {
    Failure::documented(
        "err_unsupported_view",
        format!(
            "`{name}` cannot be applied like this to a tensor of shape {:?}",
            view.shape()
        ),
        "views cannot move data; copy into the layout that you need",
    )
}

/// One side of a pattern of `rearrange` that is a tuple of names and of tuples of names, as text.
fn side(value: &Value) -> Option<String> {
    let items = match value {
        Value::Tuple(items) => items.0.clone(),
        Value::List(list) => list.borrow().0.clone(),
        _ => return None,
    };
    let word = |item: &Value| match item {
        Value::Str(name) => Some(name.to_string()),
        Value::Tuple(_) | Value::List(_) => side(item).map(|inner| format!("({inner})")),
        other => other.as_int().filter(|one| *one == 1).map(|_| "1".into()),
    };
    let words: Option<Vec<String>> = items.iter().map(word).collect();
    words.map(|words| words.join(" "))
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
        let keyword = |wanted: &str| {
            keywords
                .iter()
                .find(|(k, _)| &**k == wanted)
                .map(|(_, v)| v.clone())
        };
        let argument =
            |at: usize, wanted: &str| positional.get(at).cloned().or_else(|| keyword(wanted));
        let fail = || bad(name, view);
        let number = |at: usize, wanted: &str| argument(at, wanted).and_then(|v| v.as_int());
        let list = |at: usize, wanted: &str| -> Option<Vec<i64>> {
            let items = match argument(at, wanted)? {
                Value::Tuple(items) => items.0.clone(),
                Value::List(list) => list.borrow().0.clone(),
                _ => positional.clone(),
            };
            items.iter().map(Value::as_int).collect()
        };
        let rank = view.dimensions.len();
        let dimension = |at: usize, wanted: &str| -> Outcome<usize> {
            let d = number(at, wanted).ok_or_else(fail)?;
            let d = if d < 0 { d + rank as i64 } else { d };
            usize::try_from(d)
                .ok()
                .filter(|d| *d < rank)
                .ok_or_else(fail)
        };
        let chip = view.buffer().on_chip();
        let mut out = View::clone(view);
        match name {
            "reshape" => {
                let shape = list(0, "shape").ok_or_else(fail)?;
                let known: i64 = shape.iter().filter(|s| **s >= 0).product();
                let shape: Vec<usize> = shape
                    .iter()
                    .map(|s| {
                        if *s == -1 && known > 0 {
                            view.elements() / known as usize
                        } else {
                            (*s).max(0) as usize
                        }
                    })
                    .collect();
                if chip
                    && view.open_blocks == 0
                    && shape.first() != Some(&view.partitions())
                    && view.partitions() > 1
                {
                    return Err(Failure::documented(
                        "err_unsupported_view",
                        format!(
                            "reshape from {:?} to {shape:?} changes the partition dimension",
                            view.shape()
                        ),
                        "keep the first dimension; move data with transfers or transposes",
                    ));
                }
                out = view.reshape(&shape).ok_or_else(fail)?;
            }
            "broadcast_to" => {
                let shape = match argument(0, "shape") {
                    Some(value) => sizes(&value)
                        .filter(|s| s.len() > 1 || positional.len() == 1)
                        .or_else(|| {
                            positional
                                .iter()
                                .map(|v| v.as_int().and_then(|n| usize::try_from(n).ok()))
                                .collect()
                        })
                        .ok_or_else(fail)?,
                    None => return Err(fail()),
                };
                if chip
                    && self.dialect == Dialect::V1
                    && view.partitions() == 1
                    && shape.first().is_some_and(|s| *s > 1)
                {
                    let source = self.operand_of("broadcast_to", "tile", View::clone(view))?;
                    if shape[0] > 128 {
                        return Err(fail());
                    }
                    let wide = self.broadcast_partitions(source, shape[0])?;
                    out = wide.spread(&shape).ok_or_else(fail)?;
                } else {
                    out = view.spread(&shape).ok_or_else(fail)?;
                }
            }
            "broadcast" => {
                let d = dimension(0, "dim")?;
                let size = number(1, "size")
                    .and_then(|n| usize::try_from(n).ok())
                    .ok_or_else(fail)?;
                if out.dimensions[d].size != 1 || (chip && d == 0) {
                    return Err(fail());
                }
                out.dimensions[d] = Dimension { size, stride: 0 };
            }
            "permute" => {
                let order = list(0, "dims").ok_or_else(fail)?;
                let mut seen = vec![false; rank];
                let mut dimensions = Dimensions::new();
                for d in &order {
                    let d = usize::try_from(*d)
                        .ok()
                        .filter(|d| *d < rank && !seen[*d])
                        .ok_or_else(fail)?;
                    seen[d] = true;
                    dimensions.push(view.dimensions[d]);
                }
                if order.len() != rank || (chip && order.first() != Some(&0)) {
                    return Err(fail());
                }
                out.dimensions = dimensions;
            }
            "expand_dim" | "expand_dims" => {
                let d = number(0, "dim")
                    .and_then(|n| usize::try_from(n).ok())
                    .filter(|d| *d <= rank)
                    .ok_or_else(fail)?;
                if chip && d == 0 {
                    return Err(fail());
                }
                out.dimensions
                    .edit(|all| all.insert(d, Dimension { size: 1, stride: 0 }));
            }
            "squeeze_dim" => {
                let d = dimension(0, "dim")?;
                if out.dimensions[d].size != 1 || (chip && d == 0) {
                    return Err(fail());
                }
                out.dimensions.edit(|all| {
                    all.remove(d);
                });
            }
            "reshape_dim" => {
                let d = dimension(0, "dim")?;
                let shape = list(1, "shape")
                    .or_else(|| list(1, "sizes"))
                    .ok_or_else(fail)?;
                let own = view.dimensions[d];
                let known: i64 = shape.iter().filter(|s| **s > 0).product();
                let shape: Vec<usize> = shape
                    .iter()
                    .map(|s| {
                        if *s == -1 && known > 0 {
                            own.size / known as usize
                        } else {
                            (*s).max(0) as usize
                        }
                    })
                    .collect();
                if shape.iter().product::<usize>() != own.size || (chip && d == 0) {
                    return Err(fail());
                }
                let mut stride = own.stride;
                let mut parts = Vec::new();
                for size in shape.iter().rev() {
                    parts.push(Dimension {
                        size: *size,
                        stride,
                    });
                    stride *= *size as i64;
                }
                parts.reverse();
                out.dimensions.edit(|all| drop(all.splice(d..=d, parts)));
            }
            "flatten_dims" => {
                let (from, to) = (dimension(0, "start_dim")?, dimension(1, "end_dim")?);
                if from > to || (chip && from == 0) {
                    return Err(fail());
                }
                let mut shape = view.shape();
                let product = shape[from..=to].iter().product();
                shape.edit(|all| drop(all.splice(from..=to, [product])));
                out = view.reshape(&shape).ok_or_else(fail)?;
            }
            "select" => {
                let d = dimension(0, "dim")?;
                let index = argument(1, "index");
                out.by_register |= matches!(
                    index,
                    Some(Value::Foreign(Nki::Register(_)) | Value::Foreign(Nki::Tensor(_)))
                );
                let at = match index {
                    Some(Value::Foreign(Nki::Register(register))) => {
                        Some(self.used(&register).unwrap_or(0))
                    }
                    // Its value is known when the kernel runs.
                    Some(Value::Foreign(Nki::Tensor(tile))) if tile.elements() == 1 => {
                        let index = self.operand_of("select", "index", View::clone(&tile))?;
                        Some(self.address(&index)?)
                    }
                    Some(other) => other.as_int(),
                    None => None,
                };
                let Some(at) = at else {
                    return Err(Failure::unsupported(
                        "unsupported-dynamic-index",
                        "select with an index tile of several elements is not supported",
                        "select with a whole number, a register, a scalar or a tile of one element",
                    ));
                };
                let own = out.dimensions[d];
                if at < 0 || at >= own.size as i64 {
                    return Err(super::access::out_of_bounds(view, d, at, at));
                }
                out.offset += at * own.stride;
                if chip && d == 0 {
                    out.dimensions[0].size = 1;
                } else {
                    out.dimensions.edit(|all| {
                        all.remove(d);
                    });
                }
            }
            "slice" => {
                let d = dimension(0, "dim")?;
                let (start, end) = (
                    number(1, "start").unwrap_or(0),
                    number(2, "end").ok_or_else(fail)?,
                );
                let step = number(3, "step").unwrap_or(1);
                let own = out.dimensions[d];
                if start < 0 || end > own.size as i64 || start >= end || step < 1 {
                    return Err(super::access::out_of_bounds(view, d, start, end - 1));
                }
                out.offset += start * own.stride;
                out.dimensions[d] = Dimension {
                    size: ((end - start).saturating_add(step - 1) / step) as usize,
                    stride: own.stride * step,
                };
            }
            "get_pattern" => {
                let pairs = view.dimensions.iter();
                let pairs = pairs.map(|d| vec![Value::Int(d.stride), Value::Int(d.size as i64)]);
                return Ok(Value::list(pairs.map(Value::list).collect()));
            }
            "get_offset" => return Ok(Value::Int(view.offset)),
            "has_dynamic_access" | "is_indirect" => {
                return Ok(Value::Bool(view.indirect.is_some()));
            }
            "is_contiguous" => {
                // Partitions are memories of their own.
                if chip && !out.dimensions.is_empty() {
                    out.dimensions.edit(|all| {
                        all.remove(0);
                    });
                }
                return Ok(Value::Bool(out.is_contiguous()));
            }
            "indirect" => {
                return Err(Failure::unsupported(
                    "not-simulated",
                    "tensor indirection by `indirect` is not simulated here",
                    "gather with nisa.nc_n_gather or nisa.local_gather",
                ));
            }
            "view" | "astype" | "reinterpret_cast" => {
                let dtype = argument(0, "dtype")
                    .as_ref()
                    .and_then(dtype_of)
                    .ok_or_else(fail)?;
                if name == "astype" {
                    let value = tensor(View::clone(view));
                    return self.cast(value, dtype);
                }
                out = view.seen_as(dtype).ok_or_else(|| {
                    Failure::documented(
                        "err_unsupported_view",
                        format!(
                            "a tensor of shape {:?} cannot be seen as {}: the last dimension must lie side by side and hold whole elements",
                            view.shape(),
                            dtype.name()
                        ),
                        "view before slicing, or copy with a cast",
                    )
                })?;
            }
            "rearrange" => {
                let pattern = match (argument(0, "pattern"), argument(0, "src_pattern")) {
                    (Some(Value::Str(pattern)), _) => pattern.to_string(),
                    (_, Some(source)) => {
                        let target = argument(1, "dst_pattern").ok_or_else(fail)?;
                        let (left, right) = (side(&source), side(&target));
                        format!("{} -> {}", left.ok_or_else(fail)?, right.ok_or_else(fail)?)
                    }
                    _ => return Err(fail()),
                };
                let mut given: Vec<(String, i64)> = Vec::new();
                if let Some(Value::Dict(dict)) = positional.get(2) {
                    for (key, value) in &dict.borrow().entries {
                        if let (Value::Str(key), Some(value)) = (key, value.as_int()) {
                            given.push((key.to_string(), value));
                        }
                    }
                }
                for (name, value) in &keywords {
                    match (&**name, value) {
                        ("pattern" | "src_pattern" | "dst_pattern", _) => {}
                        (_, Value::Dict(dict)) => {
                            for (key, value) in &dict.borrow().entries {
                                if let (Value::Str(key), Some(value)) = (key, value.as_int()) {
                                    given.push((key.to_string(), value));
                                }
                            }
                        }
                        (name, value) => {
                            given.extend(value.as_int().map(|it| (name.to_owned(), it)))
                        }
                    }
                }
                out = super::rearrange::rearranged(view, &pattern, &given).ok_or_else(fail)?;
            }
            "vector_select" => {
                let d = dimension(0, "dim")?;
                let named = argument(1, "indices").or_else(|| keyword("vector_offset"));
                let rows = match named {
                    Some(Value::Foreign(Nki::Tensor(rows))) => View::clone(&rows),
                    _ => return Err(fail()),
                };
                if d != 0 || chip {
                    return Err(fail());
                }
                let own = out.dimensions[0];
                let count = rows.partitions();
                out.indirect = Some(Rc::new(Indirect {
                    rows,
                    stride: own.stride,
                    limit: own.size,
                    dimension: 0,
                }));
                out.dimensions[0] = Dimension {
                    size: count,
                    stride: 0,
                };
            }
            "ap" => {
                out = self.access_pattern(
                    view,
                    &argument(0, "pattern").ok_or_else(fail)?,
                    argument(1, "offset"),
                    keyword("vector_offset"),
                    keyword("scalar_offset"),
                    keyword("indirect_dim"),
                    keyword("dtype"),
                )?
            }
            _ => return Err(fail()),
        }
        Ok(tensor(out))
    }

    /// `ap(pattern=[[stride, count], …], offset)`: strides over the tensor's own elements.
    #[expect(
        clippy::too_many_arguments,
        reason = "the parameters of the interface, one for one"
    )]
    fn access_pattern(
        &mut self,
        view: &Rc<View>,
        pattern: &Value,
        offset: Option<Value>,
        vector: Option<Value>,
        scalar: Option<Value>,
        indirect_dimension: Option<Value>,
        dtype: Option<Value>,
    ) -> Outcome<View> {
        let fail = || bad("ap", view);
        let items = match pattern {
            Value::Tuple(items) => items.0.clone(),
            Value::List(list) => list.borrow().0.clone(),
            _ => return Err(fail()),
        };
        let mut whole = View::whole(&view.storage);
        let whole_elements = whole.elements();
        // Strides and offset count elements of the type that is asked for.
        whole.dtype = match dtype {
            None | Some(Value::None) => view.dtype,
            Some(value) => dtype_of(&value).ok_or_else(fail)?,
        };
        let mut dimensions = Dimensions::new();
        let (mut low, mut high) = (0i64, 0i64);
        for item in &items {
            let pair = match item {
                Value::Tuple(items) => items.0.clone(),
                Value::List(list) => list.borrow().0.clone(),
                _ => return Err(fail()),
            };
            let (stride, count) = match &pair[..] {
                [stride, count] => (
                    stride.as_int().ok_or_else(fail)?,
                    count
                        .as_int()
                        .filter(|c| (1..=1 << 32).contains(c))
                        .ok_or_else(fail)?,
                ),
                _ => return Err(fail()),
            };
            if stride.abs() > 1 << 40 {
                return Err(fail());
            }
            let reach = stride.saturating_mul(count - 1);
            low = low.saturating_add(reach.min(0));
            high = high.saturating_add(reach.max(0));
            dimensions.push(Dimension {
                size: count as usize,
                stride,
            });
        }
        let offset = match offset {
            None | Some(Value::None) => 0,
            Some(value) => value.as_int().ok_or_else(fail)?,
        };
        let mut out = View {
            dimensions,
            offset,
            open_blocks: 0,
            by_register: view.by_register,
            ..whole
        };
        let along = indirect_dimension.and_then(|v| v.as_int()).unwrap_or(0);
        let along = usize::try_from(along)
            .ok()
            .filter(|d| *d < view.dimensions.len().max(1))
            .ok_or_else(fail)?;
        out.by_register |= matches!(
            scalar,
            Some(Value::Foreign(Nki::Register(_)) | Value::Foreign(Nki::Tensor(_)))
        );
        let scalar = match scalar {
            None | Some(Value::None) => 0,
            Some(Value::Foreign(Nki::Register(register))) => self.used(&register).unwrap_or(0),
            Some(Value::Foreign(Nki::Tensor(tile))) if tile.elements() == 1 => {
                self.address(&tile)?
            }
            Some(other) => other.as_int().ok_or_else(fail)?,
        };
        // Steps along the dimension of the tensor that the offset counts in, which the strides of the
        // pattern have no say in (the vendor's deep dive on access patterns).
        let is_whole = view.is_contiguous() && view.elements() == whole_elements;
        let base = if is_whole {
            view.shape()
        } else {
            view.storage.shape.clone()
        };
        let beyond = base.get(along + 1..).unwrap_or_default();
        let step = beyond.iter().product::<usize>() as i64;
        let offset = offset.saturating_add(scalar.saturating_mul(step));
        out.offset = offset;
        if let Some(Value::Foreign(Nki::Tensor(rows))) = vector {
            if along != 0 || view.buffer().on_chip() {
                return Err(fail());
            }
            out.indirect = Some(Rc::new(Indirect {
                rows: View::clone(&rows),
                stride: step,
                limit: if step > 0 {
                    base.first().copied().unwrap_or(1)
                } else {
                    0
                },
                dimension: 0,
            }));
            if let Some(first) = out.dimensions.first_mut() {
                first.stride = 0;
            }
            return Ok(out);
        }
        if view.buffer().on_chip() {
            let own = view.storage.partition_elements * view.storage.dtype.bytes();
            let own = (own / out.dtype.bytes()).max(1) as i64;
            let first = out.dimensions.first().copied().unwrap_or_default();
            let free = out.dimensions.iter().skip(1);
            let (mut low, mut high) = (offset.rem_euclid(own), offset.rem_euclid(own));
            for dimension in free {
                let reach = dimension.stride.saturating_mul(dimension.size as i64 - 1);
                low = low.saturating_add(reach.min(0));
                high = high.saturating_add(reach.max(0));
            }
            if low < 0 || high >= own || (first.size > 1 && first.stride % own != 0) {
                return Err(Failure::documented(
                    "err_tensor_access_out_of_bound",
                    format!(
                        "the access pattern reaches from element {low} to {high} of a partition, which has {own}, and goes on to the next partition by {} elements",
                        first.stride
                    ),
                    "the first pair steps over partitions, by the elements of one; the others stay within a partition",
                ));
            }
        }
        let total = (out.block_elements() * view.storage.block_count()) as i64;
        if offset.saturating_add(low) < 0 || offset.saturating_add(high) >= total {
            return Err(Failure::documented(
                "err_tensor_access_out_of_bound",
                format!(
                    "the access pattern reaches from element {} to {} of a tensor of {total}",
                    offset.saturating_add(low),
                    offset.saturating_add(high)
                ),
                "check strides, counts and offset",
            ));
        }
        Ok(out)
    }

    fn cast(&mut self, value: Value, dtype: crate::tensor::dtype::Dtype) -> Outcome<Value> {
        let Value::Foreign(Nki::Tensor(view)) = value else {
            return Ok(value);
        };
        let view = self.operand_of("astype", "tile", View::clone(&view))?;
        self.copied(view, dtype, None).map(tensor)
    }
}
