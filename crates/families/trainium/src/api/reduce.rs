//! Reductions, scans and statistics.

use super::arithmetic::Alu;
use super::elementwise::{GPSIMD, Operand, VECTOR};
use super::operands::{Output, select, tensor, within};
use super::{Bound, Device};
use crate::diagnostic::{Failure, Outcome};
use crate::python::value::Value;
use crate::tensor::dtype::Dtype;
use crate::tensor::index::{Mask, Selection};
use crate::tensor::storage::Buffer;
use crate::tensor::view::View;
use crate::trace::{Engine, Instruction, Operation};

/// The axes named by `axis=`.
fn axes(bound: &mut Bound, rank: usize) -> Outcome<Vec<usize>> {
    let value = bound.required("axis")?;
    let items = match &value {
        Value::Tuple(items) => items.0.clone(),
        Value::List(list) => list.borrow().0.clone(),
        other => vec![other.clone()],
    };
    let mut axes = Vec::new();
    for item in &items {
        let Some(axis) = item.as_int() else {
            return Err(bound.wrong("axis", "axes as whole numbers", &value));
        };
        let axis = if axis < 0 { axis + rank as i64 } else { axis };
        if axis < 0 || axis >= rank as i64 {
            return Err(Failure::python(
                "index-error",
                format!("axis {axis} of a tile of {rank} dimensions"),
                "count axes from 0, the partition dimension",
            ));
        }
        if axis == 0 {
            return Err(Failure::documented(
                "err_unsupported_axis",
                "the partition dimension cannot be reduced by the vector engine",
                "transpose first, or multiply with a vector of ones on the matrix engine",
            ));
        }
        axes.push(axis as usize);
    }
    axes.sort_unstable();
    axes.dedup();
    if axes.is_empty() {
        return Err(bound.missing("axis"));
    }
    Ok(axes)
}

/// A reduction about to be run.
pub(super) struct Reduction {
    pub(super) alu: Alu,
    pub(super) axes: Vec<usize>,
    pub(super) keep: bool,
    pub(super) dtype: Dtype,
    pub(super) negate: bool,
    pub(super) scale: Option<f32>,
    pub(super) mask: Option<Mask>,
    pub(super) destination: Option<View>,
}

impl Device {
    pub(super) fn reduce(&mut self, data: View, request: Reduction) -> Outcome<View> {
        let Reduction {
            alu,
            axes,
            keep,
            dtype,
            negate,
            scale,
            mask,
            destination,
        } = request;
        let shape = data.shape();
        let selection = select(mask.as_ref(), &shape)?;
        within(&data, mask.as_ref(), &selection, &shape)?;
        let (bounds, flags) = match &selection {
            Selection::Part(bounds, flags) => (bounds.clone(), flags.clone()),
            _ => (shape.iter().map(|s| (0, *s)).collect(), None),
        };
        let reduced = |d: usize| axes.contains(&d);
        let mut out_shape = Vec::new();
        let mut out_bounds = Vec::new();
        for (d, size) in shape.iter().enumerate() {
            if !reduced(d) {
                out_shape.push(*size);
                out_bounds.push(bounds[d]);
            } else if keep {
                out_shape.push(1);
                out_bounds.push((0, 1));
            }
        }
        while out_shape.len() < 2 {
            out_shape.push(1);
            out_bounds.push((0, 1));
        }
        let mut values = Vec::new();
        let mut instruction = None;
        if selection != Selection::Nothing {
            let part = data.part(&bounds);
            let sizes = part.shape();
            if self.functional {
                let source = self.read(&part)?;
                values = collapse(alu, &source, &sizes, &axes, flags.as_deref());
                if let Some(scale) = scale {
                    values.iter_mut().for_each(|v| *v *= scale);
                }
                if negate {
                    values.iter_mut().for_each(|v| *v = -*v);
                }
            }
            let mut one = Instruction::new(Operation::Reduce, VECTOR, self.line);
            one.partitions = sizes[0] as u16;
            one.free = sizes[1..].iter().product::<usize>() as u32;
            self.describe(&mut one, &[part], 1);
            instruction = Some(one);
        }
        let full = out_bounds
            .iter()
            .zip(&out_shape)
            .all(|(b, s)| b.0 == 0 && b.1 == *s);
        let selection = match selection {
            Selection::Part(..) if full => Selection::All,
            Selection::Part(..) => Selection::Part(out_bounds, None),
            other => other,
        };
        self.finish(
            instruction,
            Output {
                shape: out_shape,
                dtype,
                buffer: Buffer::Sbuf,
                selection,
                values,
            },
            destination,
        )
    }
}

/// Reduces the given axes of values in row-major order.
fn collapse(
    alu: Alu,
    source: &[f32],
    sizes: &[usize],
    axes: &[usize],
    flags: Option<&[bool]>,
) -> Vec<f32> {
    let inner: usize = axes.iter().map(|a| sizes[*a]).product();
    let trailing = axes
        .iter()
        .enumerate()
        .all(|(i, a)| *a == sizes.len() - axes.len() + i);
    if trailing && flags.is_none() && inner > 0 {
        return source
            .chunks(inner)
            .map(|row| match alu {
                Alu::Add => sum(row),
                _ => row
                    .iter()
                    .copied()
                    .reduce(|a, b| alu.apply(a, b))
                    .unwrap_or_else(|| alu.neutral()),
            })
            .collect();
    }
    let outer: usize = sizes
        .iter()
        .enumerate()
        .filter(|(d, _)| !axes.contains(d))
        .map(|(_, s)| *s)
        .product();
    let mut strides = vec![0usize; sizes.len()];
    let mut stride = 1;
    for d in (0..sizes.len()).rev() {
        if !axes.contains(&d) {
            strides[d] = stride;
            stride *= sizes[d];
        }
    }
    let mut out: Vec<Option<f32>> = vec![None; outer];
    let mut position = vec![0usize; sizes.len()];
    for (at, value) in source.iter().enumerate() {
        if flags.is_none_or(|f| f.get(at).copied().unwrap_or(false)) {
            let slot: usize = position.iter().zip(&strides).map(|(p, s)| p * s).sum();
            if let Some(slot) = out.get_mut(slot) {
                *slot = Some(slot.map_or(*value, |old| alu.apply(old, *value)));
            }
        }
        for d in (0..sizes.len()).rev() {
            position[d] += 1;
            if position[d] < sizes[d] {
                break;
            }
            position[d] = 0;
        }
    }
    out.into_iter()
        .map(|v| v.unwrap_or_else(|| alu.neutral()))
        .collect()
}

/// A sum in single precision over eight lanes, which long rows need to stay accurate.
fn sum(row: &[f32]) -> f32 {
    let mut lanes = [0.0f32; 8];
    let chunks = row.chunks_exact(8);
    let rest: f32 = chunks.remainder().iter().sum();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += value;
        }
    }
    lanes.iter().sum::<f32>() + rest
}

/// `nisa.tensor_reduce`
pub(super) fn tensor_reduce(device: &mut Device, mut bound: Bound) -> Outcome<Value> {
    let destination = device.take_destination(&mut bound)?;
    let alu = bound.alu("op")?;
    let data = bound.view("data")?;
    let data = device.operand(&bound, "data", data)?;
    let axes = axes(&mut bound, data.dimensions.len())?;
    let rank = data.dimensions.len();
    let last = axes
        .iter()
        .enumerate()
        .all(|(i, a)| *a == rank - axes.len() + i);
    if !last && bound.api.module == "nisa" {
        return Err(Failure::documented(
            "err_unsupported_axis",
            format!("axes {axes:?} of a tile of {rank} dimensions are not the last ones"),
            "reduce the last axes, or reorder the view",
        ));
    }
    let (mask, dtype) = (bound.mask()?, bound.dtype("dtype")?);
    let (negate, keep) = (bound.flag("negate")?, bound.flag("keepdims")?);
    let dtype = destination
        .as_ref()
        .map_or(dtype.unwrap_or(data.dtype), |d| d.dtype);
    device
        .reduce(
            data,
            Reduction {
                alu,
                axes,
                keep,
                dtype,
                negate,
                scale: None,
                mask,
                destination,
            },
        )
        .map(tensor)
}

/// `nl.sum`, `nl.max`, `nl.min`, `nl.prod`, `nl.mean`
pub(super) fn reduction(device: &mut Device, mut bound: Bound) -> Outcome<Value> {
    let data = bound.view("x")?;
    let data = device.operand(&bound, "x", data)?;
    let axes = axes(&mut bound, data.dimensions.len())?;
    let (mask, dtype, keep) = (
        bound.mask()?,
        bound.dtype("dtype")?,
        bound.flag("keepdims")?,
    );
    let count: usize = axes.iter().map(|a| data.dimensions[*a].size).product();
    let mean = bound.api.name == "mean";
    let alu = if mean {
        Alu::Add
    } else {
        Alu::from_name(bound.api.name).unwrap_or(Alu::Add)
    };
    let dtype = dtype.unwrap_or(data.dtype);
    let result = device.reduce(
        data,
        Reduction {
            alu,
            axes,
            keep,
            dtype,
            negate: false,
            scale: None,
            mask,
            destination: None,
        },
    )?;
    if !mean {
        return Ok(tensor(result));
    }
    device
        .combine(
            Alu::Multiply,
            tensor(result),
            Value::Float(1.0 / count as f64),
            None,
            None,
            None,
            true,
        )
        .map(tensor)
}

/// `nl.var`
pub(super) fn variance(device: &mut Device, mut bound: Bound) -> Outcome<Value> {
    let data = bound.view("x")?;
    let data = device.operand(&bound, "x", data)?;
    let axes = axes(&mut bound, data.dimensions.len())?;
    let count: usize = axes.iter().map(|a| data.dimensions[*a].size).product();
    let dtype = bound.dtype("dtype")?.unwrap_or(data.dtype);
    let again = |axes: &Vec<usize>| Reduction {
        alu: Alu::Add,
        axes: axes.clone(),
        keep: false,
        dtype: Dtype::Float32,
        negate: false,
        scale: None,
        mask: None,
        destination: None,
    };
    let total = device.reduce(data.clone(), again(&axes))?;
    let inverse = Value::Float(1.0 / count as f64);
    let mean = device.combine(
        Alu::Multiply,
        tensor(total),
        inverse.clone(),
        None,
        None,
        None,
        true,
    )?;
    let centred = device.combine(
        Alu::Subtract,
        tensor(data),
        tensor(mean),
        None,
        Some(Dtype::Float32),
        None,
        true,
    )?;
    let squared = device.combine(
        Alu::Multiply,
        tensor(centred.clone()),
        tensor(centred),
        None,
        None,
        None,
        true,
    )?;
    let total = device.reduce(squared, again(&axes))?;
    device
        .combine(
            Alu::Multiply,
            tensor(total),
            inverse,
            None,
            Some(dtype),
            None,
            true,
        )
        .map(tensor)
}

/// `nisa.tensor_tensor_scan`: `r[i] = op1(op0(data0[i], r[i-1]), data1[i])`
pub(super) fn scan(device: &mut Device, mut bound: Bound) -> Outcome<Value> {
    let destination = device.take_destination(&mut bound)?;
    let (a, b) = (bound.view("data0")?, bound.view("data1")?);
    let a = device.operand(&bound, "data0", a)?;
    let b = device.operand(&bound, "data1", b)?;
    let initial = bound.required("initial")?;
    let (op0, op1) = (bound.alu("op0")?, bound.alu("op1")?);
    let (reverse0, reverse1) = (bound.flag("reverse0")?, bound.flag("reverse1")?);
    let (mask, dtype) = (bound.mask()?, bound.dtype("dtype")?);
    if a.partitions() != b.partitions() || a.free() != b.free() {
        return Err(Failure::documented(
            "err_annotation_shape_mismatch",
            format!(
                "tensor_tensor_scan of shapes {:?} and {:?}",
                a.shape(),
                b.shape()
            ),
            "give both the same shape",
        ));
    }
    if a.buffer() == Buffer::Psum && b.buffer() == Buffer::Psum {
        return Err(Failure::documented(
            "err_unsupported_memory",
            "both operands of tensor_tensor_scan are in PSUM",
            "copy one of them to SBUF first",
        ));
    }
    let shape = a.shape();
    let selection = select(mask.as_ref(), &shape)?;
    for view in [&a, &b] {
        within(view, mask.as_ref(), &selection, &shape)?;
    }
    let partitions = a.partitions();
    let start = device.scalar_operand(&bound, "initial", initial, partitions)?;
    let dtype = destination
        .as_ref()
        .map_or(dtype.unwrap_or_else(|| a.dtype.promote(b.dtype)), |d| {
            d.dtype
        });
    let mut values = Vec::new();
    let mut instruction = None;
    if selection != Selection::Nothing {
        let (pa, pb) = match &selection {
            Selection::Part(bounds, _) => (a.part(bounds), b.part(bounds)),
            _ => (a, b),
        };
        let first = match &selection {
            Selection::Part(bounds, _) => bounds[0].0,
            _ => 0,
        };
        let mut one = Instruction::new(Operation::Scan, VECTOR, device.line);
        one.partitions = pa.partitions() as u16;
        one.free = pa.free() as u32;
        device.describe(&mut one, &[pa.clone(), pb.clone()], 2);
        let column = match &start {
            Operand::Number(_) => Vec::new(),
            Operand::Column(view) => {
                one.reads.push(device.region(view));
                device.read(view)?
            }
        };
        if device.functional {
            let (x, y) = (device.read(&pa)?, device.read(&pb)?);
            let width = pa.free().max(1);
            values.reserve(x.len());
            for (row, (x, y)) in x.chunks(width).zip(y.chunks(width)).enumerate() {
                let mut state = match &start {
                    Operand::Number(number) => *number,
                    Operand::Column(_) => column
                        .get(first + row)
                        .or(column.first())
                        .copied()
                        .unwrap_or(f32::NAN),
                };
                for (x, y) in x.iter().zip(y) {
                    let inner = if reverse0 {
                        op0.apply(state, *x)
                    } else {
                        op0.apply(*x, state)
                    };
                    state = if reverse1 {
                        op1.apply(*y, inner)
                    } else {
                        op1.apply(inner, *y)
                    };
                    values.push(state);
                }
            }
        }
        instruction = Some(one);
    }
    device
        .finish(
            instruction,
            Output {
                shape,
                dtype,
                buffer: Buffer::Sbuf,
                selection,
                values,
            },
            destination,
        )
        .map(tensor)
}

/// `nisa.tensor_partition_reduce`
pub(super) fn partition_reduce(device: &mut Device, mut bound: Bound) -> Outcome<Value> {
    let destination = device.take_destination(&mut bound)?;
    let alu = bound.alu("op")?;
    let data = bound.view("data")?;
    let data = device.operand(&bound, "data", data)?;
    let dtype = bound.dtype("dtype")?.unwrap_or(data.dtype);
    let (rows, width) = (data.partitions(), data.free());
    let source = device.read(&data)?;
    let mut values = Vec::new();
    if device.functional {
        values = source[..width].to_vec();
        for row in 1..rows {
            alu.apply_all(&mut values, &source[row * width..(row + 1) * width]);
        }
    }
    let mut one = Instruction::new(Operation::PartitionReduce, GPSIMD, device.line);
    one.partitions = rows as u16;
    one.free = width as u32;
    device.describe(&mut one, &[data], 1);
    device
        .finish_tile(one, vec![1, width], dtype, values, destination)
        .map(tensor)
}

/// `nisa.bn_stats`: count, mean and sum of squared deviations of even and odd elements.
pub(super) fn bn_stats(device: &mut Device, mut bound: Bound) -> Outcome<Value> {
    let destination = device.take_destination(&mut bound)?;
    let data = bound.view("data")?;
    let data = device.operand(&bound, "data", data)?;
    if data.free() > 512 {
        return Err(Failure::documented(
            "err_size_of_dimension_exceed_arch_limit",
            format!(
                "bn_stats of shape {:?}: at most 512 elements in each partition",
                data.shape()
            ),
            "call it for pieces and merge them with bn_aggr",
        ));
    }
    let dtype = bound.dtype("dtype")?.unwrap_or(Dtype::Float32);
    let (rows, width) = (data.partitions(), data.free());
    let source = device.read(&data)?;
    let mut values = Vec::new();
    if device.functional {
        for row in source.chunks(width.max(1)) {
            for half in 0..2 {
                let picked: Vec<f64> = row
                    .iter()
                    .skip(half)
                    .step_by(2)
                    .map(|v| f64::from(*v))
                    .collect();
                let count = picked.len() as f64;
                let mean = if count > 0.0 {
                    picked.iter().sum::<f64>() / count
                } else {
                    0.0
                };
                let spread = picked.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
                values.extend([count as f32, mean as f32, spread as f32]);
            }
        }
    }
    let mut one = Instruction::new(Operation::BatchStatistics, VECTOR, device.line);
    one.partitions = rows as u16;
    one.free = width as u32;
    device.describe(&mut one, &[data], 1);
    device
        .finish_tile(one, vec![rows, 6], dtype, values, destination)
        .map(tensor)
}

/// `nisa.bn_aggr`: mean and variance of everything that `bn_stats` saw.
pub(super) fn bn_aggr(device: &mut Device, mut bound: Bound) -> Outcome<Value> {
    let destination = device.take_destination(&mut bound)?;
    let data = bound.view("data")?;
    let data = device.operand(&bound, "data", data)?;
    if data.free() % 3 != 0 {
        return Err(Failure::documented(
            "err_size_of_dimension_exceed_arch_limit",
            format!(
                "bn_aggr of shape {:?}: the free size must be a multiple of 3",
                data.shape()
            ),
            "pass results of bn_stats",
        ));
    }
    let dtype = bound.dtype("dtype")?.unwrap_or(Dtype::Float32);
    let (rows, width) = (data.partitions(), data.free());
    let source = device.read(&data)?;
    let mut values = Vec::new();
    if device.functional {
        for row in source.chunks(width.max(1)) {
            let (mut count, mut mean, mut spread) = (0.0f64, 0.0f64, 0.0f64);
            for triple in row.chunks(3) {
                let (c, m, s) = (
                    f64::from(triple[0]),
                    f64::from(triple[1]),
                    f64::from(triple[2]),
                );
                let total = count + c;
                if total > 0.0 {
                    let delta = m - mean;
                    mean += delta * c / total;
                    spread += s + delta * delta * count * c / total;
                } else {
                    spread += s;
                }
                count = total;
            }
            values.extend([mean as f32, (spread / count) as f32]);
        }
    }
    let mut one = Instruction::new(Operation::BatchAggregate, VECTOR, device.line);
    one.partitions = rows as u16;
    one.free = width as u32;
    device.describe(&mut one, &[data], 1);
    device
        .finish_tile(one, vec![rows, 2], dtype, values, destination)
        .map(tensor)
}

/// `nisa.tensor_scalar_reduce`: `tensor_scalar` whose result is also summed.
pub(super) fn tensor_scalar_reduce(device: &mut Device, mut bound: Bound) -> Outcome<Value> {
    let destination = device.take_destination(&mut bound)?;
    let data = bound.view("data")?;
    let data = device.operand(&bound, "data", data)?;
    let (op0, reverse, reduce_op) = (
        bound.alu("op0")?,
        bound.flag("reverse0")?,
        bound.alu("reduce_op")?,
    );
    let operand = bound.required("operand0")?;
    let target = bound.view("reduce_res")?;
    device.check_mutable(&target)?;
    let target = device.operand(&bound, "reduce_res", target)?;
    let dtype = bound.dtype("dtype")?;
    let shape = data.shape();
    let partitions = data.partitions();
    let mut inputs = vec![data.clone()];
    let number = match device.scalar_operand(&bound, "operand0", operand, partitions)? {
        Operand::Number(number) => Some(number),
        Operand::Column(view) => {
            inputs.push(
                view.spread_to(&shape)
                    .ok_or_else(|| bound.missing("operand0"))?,
            );
            None
        }
    };
    let width = data.free().max(1);
    let mut totals = Vec::new();
    let dtype = destination
        .as_ref()
        .map_or(dtype.unwrap_or(data.dtype), |d| d.dtype);
    let result = device.elementwise(
        super::operands::Elementwise {
            operation: Operation::TensorScalarReduce,
            choice: crate::trace::Choice::Fixed(Engine::Vector),
            inputs,
            streams: 1,
            shape,
            dtype,
            buffer: Buffer::Sbuf,
            mask: None,
            destination,
        },
        |inputs| {
            let mut inputs = inputs.into_iter();
            let mut x = inputs.next().unwrap_or_default();
            match number {
                Some(number) => op0.apply_scalar(&mut x, number, reverse),
                None => {
                    for (a, b) in x.iter_mut().zip(inputs.next().unwrap_or_default()) {
                        *a = if reverse {
                            op0.apply(b, *a)
                        } else {
                            op0.apply(*a, b)
                        };
                    }
                }
            }
            totals = x
                .chunks(width)
                .map(|row| {
                    row.iter()
                        .copied()
                        .reduce(|a, b| reduce_op.apply(a, b))
                        .unwrap_or_default()
                })
                .collect();
            x
        },
    )?;
    if target.elements() != partitions {
        return Err(Failure::documented(
            "err_annotation_shape_mismatch",
            format!("`reduce_res` has shape {:?}", target.shape()),
            format!("give it the shape ({partitions}, 1)"),
        ));
    }
    device.write(&target, &totals, None)?;
    let region = device.region(&target);
    if let Some(last) = device.trace.instructions.last_mut() {
        last.writes.push(region);
    }
    Ok(tensor(result))
}
