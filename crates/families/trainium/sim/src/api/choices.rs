//! Choices between values by conditions and by ranges of columns.

use super::arithmetic::Alu;
use super::elementwise::VECTOR;
use super::operands::{Elementwise, not_a_column, tensor};
use super::results::result_type;
use super::{Bound, Device, Nki, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::dtype::{Dtype, is_undefined};
use crate::tensor::storage::Buffer;
use crate::tensor::view::View;
use crate::trace::Operation;

/// `nl.where`, and `nisa.select` forms: one of two values for each element.
pub(super) fn choose(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let condition = bound.required("condition")?;
    let (x, y) = (bound.required("x")?, bound.required("y")?);
    let (dtype, mask) = (bound.dtype("dtype")?, bound.mask()?);
    let mut shape: Vec<usize> = vec![1, 1];
    let mut inputs = Vec::new();
    let mut own_type: Option<Dtype> = None;
    let mut numbers = [None; 2];
    let mut views = Vec::new();
    let Value::Foreign(Nki::Tensor(condition)) = condition else {
        return Err(bound.wrong("condition", "a tile", &condition));
    };
    let condition = device.operand(bound, "condition", View::clone(&condition))?;
    views.push(condition);
    for (position, (name, value)) in [("x", x), ("y", y)].into_iter().enumerate() {
        match value {
            Value::Foreign(Nki::Tensor(view)) => {
                let view = device.operand(bound, name, View::clone(&view))?;
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
        shape: shape.into(),
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
                    if is_undefined(*c) {
                        *c
                    } else if *c != 0.0 {
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
pub(super) fn range_select(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let destination = device.take_destination(bound)?;
    let data = bound.view("on_true_tile")?;
    let data = device.operand(bound, "on_true_tile", data)?;
    let (op0, op1) = (bound.alu("comp_op0")?, bound.alu("comp_op1")?);
    let partitions = data.partitions();
    let mut bounds = Vec::new();
    for name in ["bound0", "bound1"] {
        let view = bound.view(name)?;
        let view = device.operand(bound, name, view)?;
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
    let dtype = result_type(destination.as_ref(), dtype, data.dtype);
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
            let kept = [(op0, &low), (op1, &high)]
                .map(|(op, bounds)| bounds.get(at).map_or(0.0, |bound| op.apply(place, *bound)));
            if let Some(unknown) = kept.into_iter().find(|it| is_undefined(*it)) {
                *value = unknown;
            } else if kept.contains(&0.0) {
                *value = otherwise;
            }
        }
        largest = x.chunks(width).map(|row| Alu::Maximum.all(row)).collect();
        x
    })?;
    if let Some(target) = reduce {
        let target = device.operand(bound, "reduce_res", target)?;
        device.check_mutable(&target)?;
        if target.elements() != partitions {
            return Err(not_a_column(&target, partitions));
        }
        device.also_write(&target, &largest)?;
    }
    Ok(tensor(result))
}
