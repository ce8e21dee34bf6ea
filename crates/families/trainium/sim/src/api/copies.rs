//! Copies, fills and reciprocals of tiles.

use super::arithmetic::Function;
use super::elementwise::VECTOR;
use super::operands::{Elementwise, select, selected_shape, tensor};
use super::results::{Output, result_type};
use super::{Bound, Device, Dialect, Nki, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::dtype::{Dtype, is_undefined};
use crate::tensor::index::Selection;
use crate::tensor::storage::Buffer;
use crate::tensor::view::View;
use crate::trace::{Choice, Engine, Instruction, Operation};

/// `nisa.tensor_copy`, `nl.copy`
pub(super) fn copy(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let destination = device.take_destination(bound)?;
    let source = bound.view("src")?;
    let mut source = device.operand(bound, "src", source)?;
    let mask = bound.mask()?;
    let dtype = bound.dtype("dtype")?;
    let default = if device.dialect == Dialect::V1 {
        Choice::VectorOrScalar
    } else {
        VECTOR
    };
    let psum = source.buffer() == Buffer::Psum
        || destination
            .as_ref()
            .is_some_and(|d| d.buffer() == Buffer::Psum);
    let default = if device.dialect == Dialect::V2 && psum {
        Choice::VectorOrScalar
    } else {
        default
    };
    let choice = device.choice(bound, default)?;
    let dtype = result_type(destination.as_ref(), dtype, source.dtype);
    // The scalar engine casts to float32 on the way, the others move bits (documentation of
    // `tensor_copy`).
    let words = match choice {
        Choice::Fixed(Engine::Scalar) => dtype,
        _ => dtype.moved_with(source.dtype),
    };
    if words != dtype {
        source.dtype = words;
    }
    let destination = destination.map(|it| View { dtype: words, ..it });
    let request = Elementwise::of_one(Operation::Copy, choice, source, words, mask, destination);
    let mut place = device.change(request, |_| ())?;
    place.dtype = dtype;
    Ok(tensor(place))
}

/// `nisa.reciprocal`
pub(super) fn reciprocal(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let destination = device.take_destination(bound)?;
    let data = bound.view("data")?;
    let data = device.operand(bound, "data", data)?;
    let mask = bound.mask()?;
    let dtype = bound.dtype("dtype")?;
    let dtype = result_type(destination.as_ref(), dtype, data.dtype);
    let operation = Operation::Reciprocal;
    let request = Elementwise::of_one(operation, VECTOR, data, dtype, mask, destination);
    device
        .change(request, |x| Function::Reciprocal.apply_all(x))
        .map(tensor)
}

/// `nisa.tensor_copy_predicated`: copies where the predicate is not zero.
pub(super) fn copy_predicated(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let target = bound.view("dst")?;
    let target = device.operand(bound, "dst", target)?;
    let predicate = bound.view("predicate")?;
    let predicate = device.operand(bound, "predicate", predicate)?;
    let reverse = bound.flag("reverse_pred")?;
    let mask = bound.mask()?;
    if !matches!(
        predicate.dtype,
        Dtype::Uint8 | Dtype::Uint16 | Dtype::Uint32
    ) {
        return Err(Failure::documented(
            "err_unsupported_dtype",
            format!("the predicate has type {}", predicate.dtype.name()),
            "predicates are uint8, uint16 or uint32",
        ));
    }
    let shape = target.shape();
    let mut inputs = vec![];
    let source = bound.required("src")?;
    let number = match source {
        Value::Foreign(Nki::Tensor(view)) => {
            let view = device.operand(bound, "src", View::clone(&view))?;
            if view.dtype != target.dtype {
                return Err(Failure::documented(
                    "err_unsupported_dtype",
                    format!(
                        "`src` is {} and `dst` is {}; what is copied where a predicate holds keeps its type",
                        view.dtype.name(),
                        target.dtype.name()
                    ),
                    "give both the same type",
                ));
            }
            if view.buffer() == Buffer::Psum && predicate.buffer() == Buffer::Psum {
                return Err(Failure::documented(
                    "err_unsupported_memory",
                    "source and predicate are both in PSUM",
                    "copy one of them to SBUF first",
                ));
            }
            inputs.push(view.spread_to(&shape).ok_or_else(|| bound.missing("src"))?);
            None
        }
        other => Some(
            other
                .as_number()
                .ok_or_else(|| bound.wrong("src", "a tile or a number", &other))?
                as f32,
        ),
    };
    inputs.push(
        predicate
            .spread_to(&shape)
            .ok_or_else(|| bound.missing("predicate"))?,
    );
    inputs.push(target.clone());
    let streams = inputs.len() - 1;
    let request = Elementwise {
        operation: Operation::CopyPredicated,
        choice: VECTOR,
        inputs,
        streams,
        shape,
        dtype: target.dtype,
        buffer: Buffer::Sbuf,
        mask,
        destination: Some(target.clone()),
    };
    device
        .elementwise(request, |inputs| {
            let mut inputs = inputs.into_iter();
            let source = match number {
                Some(_) => Vec::new(),
                None => inputs.next().unwrap_or_default(),
            };
            let predicate = inputs.next().unwrap_or_default();
            let mut old = inputs.next().unwrap_or_default();
            for (position, (slot, p)) in old.iter_mut().zip(predicate).enumerate() {
                if is_undefined(p) {
                    *slot = p;
                } else if (p != 0.0) != reverse {
                    *slot =
                        number.unwrap_or_else(|| source.get(position).copied().unwrap_or(f32::NAN));
                }
            }
            old
        })
        .map(tensor)
}

/// `nisa.memset`
pub(super) fn memset(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let value = bound
        .number("value")?
        .ok_or_else(|| bound.missing("value"))? as f32;
    let choice = device.choice(bound, Choice::VectorOrGpsimd)?;
    if device.dialect == Dialect::V2 {
        let target = bound.view("dst")?;
        let target = device.operand(bound, "dst", target)?;
        device.check_mutable(&target)?;
        if target.dtype.is_integer() && value.fract() != 0.0 {
            return Err(Failure::documented(
                "err_unsupported_dtype",
                format!(
                    "nisa.memset: {value} is no value of {}",
                    target.dtype.name()
                ),
                "give a whole number, or make the tile a floating-point one",
            ));
        }
        if target.dtype.is_packed() && value != 0.0 {
            return Err(Failure::documented(
                "err_unsupported_dtype",
                format!("nisa.memset: {value} in a tile of {}", target.dtype.name()),
                "packed types are filled with 0 only",
            ));
        }
        device.fill_on(choice, &target, value)?;
        if value == 0.0 {
            device.note_zeros(&target);
        }
        return Ok(tensor(target));
    }
    let shape = bound.sizes("shape")?;
    let dtype = bound.dtype("dtype")?.unwrap_or(Dtype::Float32);
    let mask = bound.mask()?;
    super::memory::check_tile(Buffer::Sbuf, dtype, &shape)?;
    let selection = select(mask.as_ref(), &shape)?;
    let part = selected_shape(&selection, &shape);
    let mut instruction = Instruction::new(Operation::Memset, choice, device.line);
    instruction.partitions = part.first().copied().unwrap_or(1).min(128) as u16;
    instruction.free = part.iter().skip(1).product::<usize>() as u32;
    instruction.features.narrow = true;
    let values = if device.functional {
        vec![value; part.iter().product()]
    } else {
        Vec::new()
    };
    let instruction = (selection != Selection::Nothing).then_some(instruction);
    device
        .finish(
            instruction,
            Output {
                shape: shape.into(),
                dtype,
                buffer: Buffer::Sbuf,
                selection,
                values,
            },
            None,
        )
        .map(tensor)
}
