//! Reductions along the columns of a tile.

use super::arithmetic::Alu;
use super::elementwise::VECTOR;
use super::operands::{select, tensor, within};
use super::results::{Output, result_type};
use super::{Bound, Device, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::dtype::Dtype;
use crate::tensor::index::{Mask, Selection};
use crate::tensor::storage::Buffer;
use crate::tensor::view::View;
use crate::trace::{Instruction, Operation};

/// The axes named by `axis=`.
pub(super) fn axes(bound: &mut Bound, rank: usize) -> Outcome<Vec<usize>> {
    let value = bound.required("axis")?;
    let items = value.listed().unwrap_or_else(|| vec![value.clone()]);
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
    pub(super) fn reduce(&mut self, mut data: View, mut request: Reduction) -> Outcome<View> {
        // Words of integers are moved as they are, as those of float32 are.
        let result = request.dtype;
        let on_bits = request.alu.is_bitwise()
            && data.dtype.is_integer()
            && data.dtype.bytes() == 4
            && data.dtype == result;
        if on_bits {
            let destination = request.destination.as_mut().map(|it| &mut it.dtype);
            for dtype in [&mut data.dtype, &mut request.dtype]
                .into_iter()
                .chain(destination)
            {
                *dtype = Dtype::Float32;
            }
        }
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
                let apply = match on_bits {
                    true => Alu::of_words,
                    false => Alu::apply,
                };
                values = collapse((alu, apply), &source, &sizes, &axes, flags.as_deref());
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
        let mut place = self.finish(
            instruction,
            Output {
                shape: out_shape.into(),
                dtype,
                buffer: Buffer::Sbuf,
                selection,
                values,
            },
            destination,
        )?;
        if on_bits {
            place.dtype = result;
        }
        Ok(place)
    }
}

/// Reduces the given axes of values in row-major order.
fn collapse(
    (alu, apply): (Alu, fn(Alu, f32, f32) -> f32),
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
                // A row of one element has a truth, too.
                Alu::LogicalAnd | Alu::LogicalOr => row
                    .iter()
                    .fold(alu.neutral(), |all, value| alu.apply(all, *value)),
                _ => row
                    .iter()
                    .copied()
                    .reduce(|a, b| apply(alu, a, b))
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
                *slot = Some(slot.map_or(*value, |old| apply(alu, old, *value)));
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
pub(super) fn tensor_reduce(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let destination = device.take_destination(bound)?;
    let alu = bound.alu("op")?;
    if !alu.reduces() {
        return Err(Failure::documented(
            "err_unsupported_operation",
            format!("{}: {alu:?} is no reduction", bound.api.full_name()),
            "reduce by nl.add, nl.subtract, nl.multiply, nl.maximum, nl.minimum, or by a logical or bitwise and, or, xor",
        ));
    }
    let data = bound.view("data")?;
    let data = device.operand(bound, "data", data)?;
    let axes = axes(bound, data.dimensions.len())?;
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
    let dtype = result_type(destination.as_ref(), dtype, data.dtype);
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

/// `nl.sum`, `nl.max`, `nl.min`, `nl.prod`, `nl.mean`, `nl.all`, `nl.any`
pub(super) fn reduction(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let data = bound.view("x")?;
    let data = device.operand(bound, "x", data)?;
    let axes = axes(bound, data.dimensions.len())?;
    let (dtype, mask, keep) = (
        bound.dtype("dtype")?,
        bound.mask()?,
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
