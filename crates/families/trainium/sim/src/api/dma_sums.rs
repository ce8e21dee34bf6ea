//! Sums that transfers make on their way.
//!
//! Facts: NKI's documentation of `nisa.dma_compute`.

use super::arithmetic::Alu;
use super::dma::DMA;
use super::operands::tensor;
use super::{Bound, Device, Nki, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::storage::Buffer;
use crate::tensor::view::{Dimension, View};
use crate::trace::{Instruction, Operation};

/// Most tensors that one call sums.
const SOURCES: usize = 16;

/// `nisa.dma_compute`: `dst = srcs[0] + srcs[1] + …`, each moved by a transfer of its own.
pub(super) fn compute(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let target = side(device, bound.view("dst")?)?;
    device.check_mutable(&target)?;
    let list = bound.required("srcs")?;
    let items = list.listed();
    let items = items.ok_or_else(|| bound.wrong("srcs", "a list of tensors", &list))?;
    let mut sources = Vec::new();
    for item in items {
        let Value::Foreign(Nki::Tensor(view)) = item else {
            return Err(bound.wrong("srcs", "a list of tensors", &item));
        };
        sources.push(side(device, View::clone(&view))?);
    }
    let alu = bound.alu("reduce_op")?;
    let scales = bound.take("scales");
    let plain = match &scales {
        None => true,
        Some(Value::List(list)) => list.borrow().0.iter().all(one),
        Some(Value::Tuple(items)) => items.0.iter().all(one),
        Some(_) => false,
    };
    if alu != Alu::Add || !plain {
        return Err(Failure::documented(
            "err_unsupported_operation",
            "nisa.dma_compute sums, with scales of 1.0",
            "pass reduce_op=nl.add and no scales; scale with nisa.tensor_scalar",
        ));
    }
    let same = |view: &View| view.elements() == target.elements();
    if sources.is_empty() || sources.len() > SOURCES || !sources.iter().all(same) {
        return Err(Failure::documented(
            "err_annotation_shape_mismatch",
            format!(
                "nisa.dma_compute of {} tensors into one of shape {:?}",
                sources.len(),
                target.shape()
            ),
            format!("give 1 to {SOURCES} tensors with as many elements as dst"),
        ));
    }
    let mut sum: Vec<f32> = Vec::new();
    for source in &sources {
        let values = device.read(source)?;
        match sum.is_empty() {
            true => sum = values,
            false => Alu::Add.apply_all(&mut sum, &values),
        }
    }
    for (position, source) in sources.iter().enumerate() {
        let operation = match (source.buffer().on_chip(), target.buffer().on_chip()) {
            (false, true) => Operation::Load,
            (true, false) => Operation::Store,
            _ => Operation::Move,
        };
        let mut one = Instruction::new(operation, DMA, device.line);
        one.partitions = source.partitions().min(128) as u16;
        one.free = source.free() as u32;
        one.features.accumulate = position > 0;
        device.describe(&mut one, std::slice::from_ref(source), 1);
        for view in [source, &target] {
            if let Some(indirect) = &view.indirect {
                one.reads.push(device.region(&indirect.rows));
            }
        }
        device.transfer(&mut one, source, Some(&target), source, 0);
        if position + 1 == sources.len() {
            device.write(&target, &sum, None)?;
        }
        device.note_write(&mut one, &target)?;
        device.emit(one)?;
    }
    Ok(tensor(target))
}

fn one(value: &Value) -> bool {
    value.as_number() == Some(1.0)
}

/// A tensor that transfers reach, with two dimensions or more.
fn side(device: &Device, mut view: View) -> Outcome<View> {
    device.check_scope(&view)?;
    if view.buffer() == Buffer::Psum {
        return Err(Failure::documented(
            "err_unsupported_memory",
            "nisa.dma_compute: transfers cannot reach PSUM",
            "copy between PSUM and SBUF with nisa.tensor_copy",
        ));
    }
    while view.dimensions.len() < 2 {
        view.dimensions.push(Dimension { size: 1, stride: 1 });
    }
    Ok(view)
}
