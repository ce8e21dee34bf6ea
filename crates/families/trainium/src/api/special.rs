//! Selection, indices, gathers, shuffles and searches.

use super::arithmetic::Alu;
use super::elementwise::{GPSIMD, VECTOR};
use super::operands::{Elementwise, tensor};
use super::{Bound, Device, Dialect, sizes};
use crate::diagnostic::{Failure, Outcome};
use crate::python::value::Value;
use crate::tensor::dtype::Dtype;
use crate::tensor::index::{Index, Mask, Selection};
use crate::tensor::storage::Buffer;
use crate::tensor::view::View;
use crate::trace::{Instruction, Operation};

/// Whole numbers of an index expression over a shape, in row-major order.
fn index_values(index: &Index, shape: &[usize]) -> Vec<i64> {
    let mut out = Vec::with_capacity(shape.iter().product());
    let skip = shape.len().saturating_sub(index.coefficients.len());
    let mut position = vec![0usize; shape.len()];
    for _ in 0..shape.iter().product::<usize>() {
        let mut value = index.constant;
        for (d, c) in index.coefficients.iter().enumerate() {
            if index.shape[d] > 1 {
                value = value.saturating_add(c.saturating_mul(position[skip + d] as i64));
            }
        }
        out.push(value);
        for d in (0..shape.len()).rev() {
            position[d] += 1;
            if position[d] < shape[d] {
                break;
            }
            position[d] = 0;
        }
    }
    out
}

/// The explicit pattern of the second dialect as an index over `[partitions, counts…]`.
fn pattern_index(bound: &mut Bound, partitions: usize) -> Outcome<Index> {
    let value = bound.required("pattern")?;
    let items = match &value {
        Value::List(list) => list.borrow().0.clone(),
        Value::Tuple(items) => items.0.clone(),
        _ => return Err(bound.wrong("pattern", "a list of [step, count]", &value)),
    };
    let multiplier = bound.integer("channel_multiplier")?.unwrap_or(0);
    let offset = bound.integer("offset")?.unwrap_or(0);
    let mut shape = vec![partitions];
    let mut coefficients = vec![multiplier];
    for item in &items {
        let pair: Option<Vec<i64>> = match item {
            Value::List(list) => list.borrow().0.iter().map(Value::as_int).collect(),
            Value::Tuple(items) => items.0.iter().map(Value::as_int).collect(),
            _ => None,
        };
        match pair.as_deref() {
            Some(&[step, count]) if (1..=1 << 20).contains(&count) => {
                shape.push(count as usize);
                coefficients.push(step);
            }
            _ => return Err(bound.wrong("pattern", "a list of [step, count]", &value)),
        }
    }
    Ok(Index {
        shape,
        coefficients,
        constant: offset,
    })
}

/// `nisa.affine_select`
pub(super) fn affine_select(device: &mut Device, mut bound: Bound) -> Outcome<Value> {
    let destination = device.take_destination(&mut bound)?;
    let data = bound.view("on_true_tile")?;
    let data = device.operand(&bound, "on_true_tile", data)?;
    let otherwise = bound
        .number("on_false_value")?
        .ok_or_else(|| bound.missing("on_false_value"))? as f32;
    let mut shape = data.shape();
    let predicate = if device.dialect == Dialect::V1 {
        match bound.required("pred")? {
            Value::Mask(mask) if mask.conditions.len() == 1 && !mask.never => Mask::clone(&mask),
            Value::Mask(_) => {
                return Err(Failure::documented(
                    "err_unsupported_expression_in_mask",
                    "affine_select takes a single comparison",
                    "split it into several selections",
                ));
            }
            Value::Bool(value) => Mask {
                conditions: Vec::new(),
                never: !value,
            },
            other => return Err(bound.wrong("pred", "a comparison of index expressions", &other)),
        }
    } else {
        let index = pattern_index(&mut bound, data.partitions())?;
        let alu = bound.optional_alu("cmp_op")?.unwrap_or(Alu::GreaterEqual);
        let turned = |i: &Index| i.scale(-1);
        let conditions = match alu {
            Alu::GreaterEqual => vec![Some(index)],
            Alu::Greater => vec![index.shift(-1)],
            Alu::LessEqual => vec![turned(&index)],
            Alu::Less => vec![turned(&index).and_then(|i| i.shift(-1))],
            Alu::Equal => vec![turned(&index), Some(index)],
            _ => {
                return Err(Failure::documented(
                    "err_unsupported_operation",
                    "cmp_op is no comparison",
                    "use nl.greater_equal, less, equal …",
                ));
            }
        };
        if let Some(Some(first)) = conditions.first() {
            shape.clone_from(&first.shape);
        }
        Mask {
            conditions: conditions.into_iter().flatten().collect(),
            never: false,
        }
    };
    let mask = bound.mask()?;
    let dtype = bound.dtype("dtype")?;
    let data = if device.dialect == Dialect::V1 {
        device.in_sbuf(data)?
    } else if data.buffer() == Buffer::Psum {
        return Err(Failure::documented(
            "err_unsupported_memory",
            "affine_select reads SBUF only",
            "copy out of PSUM first",
        ));
    } else {
        data
    };
    let data = if data.shape() == shape {
        data
    } else {
        data.reshape(&shape)
            .ok_or_else(|| bound.wrong("pattern", "as large as the tile", &Value::None))?
    };
    let chosen = super::operands::select(Some(&predicate), &shape)?;
    let inside = flags(&chosen, &shape);
    let selection = super::operands::select(mask.as_ref(), &shape)?;
    let kept = match &selection {
        Selection::Part(bounds, _) => {
            let mut kept = Vec::new();
            let mut position = vec![0usize; shape.len()];
            for flag in &inside {
                if position
                    .iter()
                    .zip(bounds)
                    .all(|(p, (low, high))| p >= low && p < high)
                {
                    kept.push(*flag);
                }
                advance(&mut position, &shape);
            }
            kept
        }
        _ => inside,
    };
    let dtype = destination
        .as_ref()
        .map_or(dtype.unwrap_or(data.dtype), |d| d.dtype);
    let request = Elementwise {
        operation: Operation::Select,
        choice: GPSIMD,
        inputs: vec![data],
        streams: 1,
        shape,
        dtype,
        buffer: Buffer::Sbuf,
        mask,
        destination,
    };
    device
        .elementwise(request, |mut inputs| {
            let mut x = inputs.pop().unwrap_or_default();
            for (value, keep) in x.iter_mut().zip(kept) {
                if !keep {
                    *value = otherwise;
                }
            }
            x
        })
        .map(tensor)
}

fn advance(position: &mut [usize], shape: &[usize]) {
    for d in (0..shape.len()).rev() {
        position[d] += 1;
        if position[d] < shape[d] {
            break;
        }
        position[d] = 0;
    }
}

/// A selection as one flag for each element.
fn flags(selection: &Selection, shape: &[usize]) -> Vec<bool> {
    let count = shape.iter().product();
    match selection {
        Selection::All => vec![true; count],
        Selection::Nothing => vec![false; count],
        Selection::Part(bounds, flags) => {
            let mut out = Vec::with_capacity(count);
            let mut position = vec![0usize; shape.len()];
            let mut within = 0;
            for _ in 0..count {
                let inside = position
                    .iter()
                    .zip(bounds)
                    .all(|(p, (low, high))| p >= low && p < high);
                let flag = inside
                    && flags
                        .as_ref()
                        .is_none_or(|f| f.get(within).copied().unwrap_or(false));
                within += usize::from(inside);
                out.push(flag);
                advance(&mut position, shape);
            }
            out
        }
    }
}

/// `nisa.iota`
pub(super) fn iota(device: &mut Device, mut bound: Bound) -> Outcome<Value> {
    let destination = device.take_destination(&mut bound)?;
    let (index, shape, dtype) = match &destination {
        Some(target) => {
            let target = device.operand(&bound, "dst", target.clone())?;
            let index = pattern_index(&mut bound, target.partitions())?;
            let shape = index.shape.clone();
            (index, shape, target.dtype)
        }
        None => {
            let value = bound.required("expr")?;
            let Value::Index(index) = &value else {
                return Err(bound.wrong("expr", "an index expression", &value));
            };
            let dtype = bound.dtype("dtype")?.unwrap_or(Dtype::Int32);
            (Index::clone(index), index.shape.clone(), dtype)
        }
    };
    super::memory::check_tile(Buffer::Sbuf, dtype, &shape)?;
    let values = if device.functional {
        index_values(&index, &shape)
            .into_iter()
            .map(|v| v as f32)
            .collect()
    } else {
        Vec::new()
    };
    let mut one = Instruction::new(Operation::Iota, GPSIMD, device.line);
    one.partitions = shape[0] as u16;
    one.free = shape[1..].iter().product::<usize>() as u32;
    device
        .finish_tile(one, shape, dtype, values, destination)
        .map(tensor)
}

/// `nisa.nc_n_gather`: each partition picks among its own elements.
pub(super) fn n_gather(device: &mut Device, mut bound: Bound) -> Outcome<Value> {
    let destination = device.take_destination(&mut bound)?;
    let (data, indices) = (bound.view("data")?, bound.view("indices")?);
    let data = device.operand(&bound, "data", data)?;
    let indices = device.operand(&bound, "indices", indices)?;
    if data.buffer() == Buffer::Psum || indices.buffer() == Buffer::Psum {
        return Err(Failure::documented(
            "err_unsupported_memory",
            "nc_n_gather reads SBUF only",
            "copy out of PSUM first",
        ));
    }
    if indices.dtype != Dtype::Uint32 {
        return Err(Failure::documented(
            "err_unsupported_dtype",
            format!("indices have type {}", indices.dtype.name()),
            "use uint32",
        ));
    }
    if destination.as_ref().is_some_and(|d| d.dtype != data.dtype) {
        return Err(Failure::documented(
            "err_unsupported_dtype",
            "nc_n_gather does not cast",
            "give dst the type of data",
        ));
    }
    let (rows, width, count) = (data.partitions(), data.free(), indices.free());
    if indices.partitions() != rows {
        return Err(Failure::documented(
            "err_num_partition_mismatch",
            format!("data {:?} and indices {:?}", data.shape(), indices.shape()),
            "give both the same partitions",
        ));
    }
    let (source, picks) = (device.read(&data)?, device.read(&indices)?);
    let mut values = Vec::with_capacity(picks.len());
    for (at, pick) in picks.iter().enumerate() {
        let row = at / count.max(1);
        let inside = pick.is_finite() && *pick >= 0.0 && (*pick as usize) < width;
        if !inside {
            return Err(Failure::documented(
                "err_tensor_access_out_of_bound",
                format!("index {pick} into {width} elements"),
                "keep indices below the free size",
            ));
        }
        values.push(
            source
                .get(row * width + *pick as usize)
                .copied()
                .unwrap_or(f32::NAN),
        );
    }
    let mut one = Instruction::new(Operation::Gather, GPSIMD, device.line);
    one.partitions = rows as u16;
    one.free = count as u32;
    let shape = indices.shape();
    let dtype = data.dtype;
    device.describe(&mut one, &[data, indices], 2);
    device
        .finish_tile(one, shape, dtype, values, destination)
        .map(tensor)
}

/// `nisa.nc_stream_shuffle`: partitions within groups of 32 change places.
pub(super) fn stream_shuffle(device: &mut Device, mut bound: Bound) -> Outcome<Value> {
    let (source, target) = (bound.view("src")?, bound.view("dst")?);
    let source = device.operand(&bound, "src", source)?;
    let target = device.operand(&bound, "dst", target)?;
    device.check_mutable(&target)?;
    let value = bound.required("shuffle_mask")?;
    let order = sizes(&value)
        .filter(|o| o.len() == 32 && o.iter().all(|p| *p < 32 || *p == 255))
        .ok_or_else(|| bound.wrong("shuffle_mask", "32 partitions below 32", &value))?;
    let width = source.free();
    let read = device.read(&source)?;
    let mut values = device.read(&target)?;
    if device.functional {
        for row in 0..target.partitions() {
            let (group, own) = (row / 32, row % 32);
            let from = order[own];
            let start = (group * 32 + from) * width;
            if from < 32
                && let (Some(line), Some(slot)) = (
                    read.get(start..start + width),
                    values.get_mut(row * width..(row + 1) * width),
                )
            {
                slot.copy_from_slice(line);
            }
        }
    }
    let mut one = Instruction::new(Operation::Shuffle, VECTOR, device.line);
    one.partitions = source.partitions() as u16;
    one.free = width as u32;
    let shape = target.shape();
    let dtype = target.dtype;
    device.describe(&mut one, &[source], 1);
    device
        .finish_tile(one, shape, dtype, values, Some(target))
        .map(tensor)
}

/// `nisa.max8`: the eight largest of each partition, in order; `nisa.nc_find_index8`: their places.
pub(super) fn max_eight(device: &mut Device, mut bound: Bound) -> Outcome<Value> {
    let destination = device.take_destination(&mut bound)?;
    let finding = bound.api.name == "nc_find_index8";
    let data = bound.view(if finding { "data" } else { "src" })?;
    let data = device.operand(&bound, "data", data)?;
    if !(8..=16384).contains(&data.free()) {
        return Err(Failure::documented(
            "err_size_of_dimension_exceed_arch_limit",
            format!(
                "{} of shape {:?}: 8 to 16384 elements",
                bound.api.full_name(),
                data.shape()
            ),
            "tile the free dimension",
        ));
    }
    let wanted: Option<View> = if finding {
        let vals = bound.view("vals")?;
        Some(device.operand(&bound, "vals", vals)?)
    } else {
        None
    };
    let dtype = bound
        .dtype("dtype")?
        .unwrap_or(if finding { Dtype::Uint32 } else { data.dtype });
    let width = data.free();
    let source = device.read(&data)?;
    let mut values = Vec::new();
    if device.functional {
        let vals = match &wanted {
            Some(view) => device.read(view)?,
            None => Vec::new(),
        };
        for (row, line) in source.chunks(width).enumerate() {
            if finding {
                let mut used = vec![false; width];
                for value in vals.iter().skip(row * 8).take(8) {
                    let at = line
                        .iter()
                        .enumerate()
                        .position(|(i, v)| v == value && !used[i]);
                    if let Some(at) = at {
                        used[at] = true;
                    }
                    values.push(at.map_or(-1.0, |at| at as f32));
                }
            } else {
                let mut sorted = line.to_vec();
                sorted.sort_by(|a, b| b.total_cmp(a));
                values.extend_from_slice(&sorted[..8]);
            }
        }
    }
    let mut one = Instruction::new(Operation::MaxEight, VECTOR, device.line);
    one.partitions = data.partitions() as u16;
    one.free = width as u32;
    let shape = vec![data.partitions(), 8];
    device.describe(&mut one, &[data], 1);
    device
        .finish_tile(one, shape, dtype, values, destination)
        .map(tensor)
}

/// `nl.where`, and `nisa.select` forms: one of two values for each element.
pub(super) fn choose(device: &mut Device, mut bound: Bound) -> Outcome<Value> {
    let condition = bound.required("condition")?;
    let (x, y) = (bound.required("x")?, bound.required("y")?);
    let (mask, dtype) = (bound.mask()?, bound.dtype("dtype")?);
    let mut shape: Vec<usize> = vec![1, 1];
    let mut inputs = Vec::new();
    let mut own_type: Option<Dtype> = None;
    let mut numbers = [None; 2];
    let mut views = Vec::new();
    let Value::Tensor(condition) = condition else {
        return Err(bound.wrong("condition", "a tile", &condition));
    };
    let condition = device.operand(&bound, "condition", View::clone(&condition))?;
    views.push(condition);
    for (position, (name, value)) in [("x", x), ("y", y)].into_iter().enumerate() {
        match value {
            Value::Tensor(view) => {
                let view = device.operand(&bound, name, View::clone(&view))?;
                own_type = Some(own_type.map_or(view.dtype, |d| d.promote(view.dtype)));
                views.push(view);
            }
            other => {
                numbers[position] = Some(
                    other
                        .as_number()
                        .ok_or_else(|| bound.wrong(name, "a tile or a number", &other))?
                        as f32,
                )
            }
        }
    }
    for view in &views {
        shape = crate::tensor::index::broadcast(&shape, &view.shape()).ok_or_else(|| {
            Failure::documented(
                "err_annotation_shape_mismatch",
                "nl.where of shapes that do not broadcast",
                "make the shapes equal",
            )
        })?;
    }
    for view in views {
        inputs.push(view.spread_to(&shape).ok_or_else(|| bound.missing("x"))?);
    }
    let dtype = dtype.or(own_type).unwrap_or(Dtype::Float32);
    let streams = inputs.len();
    let request = Elementwise {
        operation: Operation::CopyPredicated,
        choice: VECTOR,
        inputs,
        streams,
        shape,
        dtype,
        buffer: Buffer::Sbuf,
        mask,
        destination: None,
    };
    device
        .elementwise(request, |inputs| {
            let mut inputs = inputs.into_iter();
            let condition = inputs.next().unwrap_or_default();
            let mut side = |number: Option<f32>| {
                if number.is_some() {
                    Vec::new()
                } else {
                    inputs.next().unwrap_or_default()
                }
            };
            let (x, y) = (side(numbers[0]), side(numbers[1]));
            let pick = |values: &[f32], number: Option<f32>, at: usize| {
                number.unwrap_or_else(|| values.get(at).copied().unwrap_or(f32::NAN))
            };
            condition
                .iter()
                .enumerate()
                .map(|(at, c)| {
                    if *c != 0.0 {
                        pick(&x, numbers[0], at)
                    } else {
                        pick(&y, numbers[1], at)
                    }
                })
                .collect()
        })
        .map(tensor)
}

/// `nisa.range_select`: keeps elements whose position lies within two bounds.
pub(super) fn range_select(device: &mut Device, mut bound: Bound) -> Outcome<Value> {
    let destination = device.take_destination(&mut bound)?;
    let data = bound.view("on_true_tile")?;
    let data = device.operand(&bound, "on_true_tile", data)?;
    let (op0, op1) = (bound.alu("comp_op0")?, bound.alu("comp_op1")?);
    let partitions = data.partitions();
    let mut bounds = Vec::new();
    for name in ["bound0", "bound1"] {
        let view = bound.view(name)?;
        let view = device.operand(&bound, name, view)?;
        if view.partitions() != partitions || view.free() != 1 {
            return Err(Failure::documented(
                "err_num_partition_mismatch",
                format!("range_select: `{name}` has shape {:?}", view.shape()),
                format!("give it the shape ({partitions}, 1)"),
            ));
        }
        bounds.push(view);
    }
    let start = bound.number("range_start")?.unwrap_or(0.0) as f32;
    let otherwise = bound
        .number("on_false_value")?
        .unwrap_or(f64::from(f32::MIN)) as f32;
    let reduce = bound.optional_view("reduce_res")?;
    let dtype = bound.dtype("dtype")?;
    let shape = data.shape();
    let width = data.free().max(1);
    let mut inputs = vec![data.clone()];
    for view in &bounds {
        inputs.push(
            view.spread_to(&shape)
                .ok_or_else(|| bound.missing("bound0"))?,
        );
    }
    let dtype = destination
        .as_ref()
        .map_or(dtype.unwrap_or(data.dtype), |d| d.dtype);
    let mut largest = Vec::new();
    let request = Elementwise {
        operation: Operation::TensorScalar,
        choice: VECTOR,
        inputs,
        streams: 1,
        shape,
        dtype,
        buffer: Buffer::Sbuf,
        mask: None,
        destination,
    };
    let result = device.elementwise(request, |inputs| {
        let mut inputs = inputs.into_iter();
        let mut x = inputs.next().unwrap_or_default();
        let (low, high) = (
            inputs.next().unwrap_or_default(),
            inputs.next().unwrap_or_default(),
        );
        for (at, value) in x.iter_mut().enumerate() {
            let place = start + (at % width) as f32;
            let keep = |op: Alu, b: &[f32]| b.get(at).is_some_and(|b| op.apply(place, *b) != 0.0);
            if !(keep(op0, &low) && keep(op1, &high)) {
                *value = otherwise;
            }
        }
        largest = x
            .chunks(width)
            .map(|row| row.iter().copied().fold(f32::NEG_INFINITY, f32::max))
            .collect();
        x
    })?;
    if let Some(target) = reduce {
        let target = device.operand(&bound, "reduce_res", target)?;
        device.check_mutable(&target)?;
        if target.elements() != partitions {
            return Err(Failure::documented(
                "err_annotation_shape_mismatch",
                format!("`reduce_res` has shape {:?}", target.shape()),
                format!("give it the shape ({partitions}, 1)"),
            ));
        }
        device.write(&target, &largest, None)?;
        let region = device.region(&target);
        if let Some(last) = device.trace.instructions.last_mut() {
            last.writes.push(region);
        }
    }
    Ok(tensor(result))
}
