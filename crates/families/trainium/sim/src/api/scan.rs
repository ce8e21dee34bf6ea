//! Running results along the columns of a tile.

use super::elementwise::{Operand, VECTOR};
use super::operands::{select, tensor, within};
use super::results::{Output, result_type};
use super::{Bound, Device, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::index::Selection;
use crate::tensor::storage::Buffer;
use crate::trace::{Instruction, Operation};

/// `nisa.tensor_tensor_scan`: `r[i] = op1(op0(data0[i], r[i-1]), data1[i])`
pub(super) fn scan(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let destination = device.take_destination(bound)?;
    let (a, b) = (bound.view("data0")?, bound.view("data1")?);
    let a = device.operand(bound, "data0", a)?;
    let b = device.operand(bound, "data1", b)?;
    let initial = bound.required("initial")?;
    let (op0, op1) = (bound.alu("op0")?, bound.alu("op1")?);
    let (reverse0, reverse1) = (bound.flag("reverse0")?, bound.flag("reverse1")?);
    let (dtype, mask) = (bound.dtype("dtype")?, bound.mask()?);
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
    let start = device.scalar_operand(bound, "initial", initial, partitions)?;
    let dtype = result_type(destination.as_ref(), dtype, a.dtype.promote(b.dtype));
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
