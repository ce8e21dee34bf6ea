//! Running results and places along the columns of a tile: cumulative operations, exponentials
//! with their sum, indices of what is not zero, bounds of segments.
//!
//! Facts: NKI's documentation of the four instructions.

use super::arithmetic::{Alu, Function};
use super::elementwise::{GPSIMD, Operand, VECTOR};
use super::operands::{not_a_column, tensor};
use super::{Bound, Device, Value, totals};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::dtype::Dtype;
use crate::tensor::storage::Buffer;
use crate::tensor::view::View;
use crate::trace::{Instruction, Operation};

/// Partitions that one core of the general-purpose engine reaches.
const GROUP: usize = 16;

/// A number or one for each partition, read.
fn column(device: &mut Device, operand: &Operand, partitions: usize) -> Outcome<Vec<f32>> {
    match operand {
        Operand::Number(number) => Ok(vec![*number; partitions]),
        Operand::Column(view) => device.read(view),
    }
}

/// `nisa.tensor_scalar_cumulative`: `r = op1(op0(src[i], imm0), r)` along each partition.
pub(super) fn cumulative(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let destination = device.take_destination(bound)?;
    let source = bound.view("src")?;
    let source = device.operand(bound, "src", source)?;
    let op0 = bound.operator("op0")?.ok_or_else(|| bound.missing("op0"))?;
    let op1 = bound.alu("op1")?;
    let partitions = source.partitions();
    let operand = bound.take("imm0").unwrap_or(Value::Float(0.0));
    let operand = device.scalar_operand(bound, "imm0", operand, partitions)?;
    let start = totals::start(device, bound, op1, partitions)?;
    for view in std::iter::once(&source).chain(&destination) {
        if matches!(view.dtype, Dtype::Int32 | Dtype::Uint32) {
            return Err(Failure::documented(
                "err_unsupported_dtype",
                format!("{}: no 32-bit integers", bound.api.full_name()),
                "use float32 tiles",
            ));
        }
    }
    let (shape, width) = (source.shape(), source.free().max(1));
    let operands = column(device, &operand, partitions)?;
    let mut values = device.read(&source)?;
    let mut last = Vec::new();
    for (row, line) in values.chunks_mut(width).enumerate() {
        // Sums start from zero and differences, too; others from their first element.
        let neutral = matches!(op1, Alu::Add | Alu::Subtract).then_some(0.0);
        let mut state = start.of(device, row).or(neutral);
        let mut operand = operands.get(row).or(operands.first()).copied();
        for value in line {
            let operand = *operand.get_or_insert(0.0);
            let term = op0.apply(*value, operand);
            *value = state.map_or(term, |state| op1.apply(term, state));
            state = Some(*value);
        }
        last.push(state.unwrap_or_default());
    }
    device.totals = last;
    let mut one = Instruction::new(Operation::Scan, VECTOR, device.line);
    one.partitions = partitions as u16;
    one.free = width as u32;
    device.describe(&mut one, &[source], 1);
    if let Operand::Column(view) = &operand {
        one.reads.push(device.region(view));
    }
    device
        .finish_tile(one, shape, Dtype::Float32, values, destination)
        .map(tensor)
}

/// `nisa.exponential`: `exp(src - max_value)` on the vector engine, whose sum along each partition
/// may be carried on.
pub(super) fn exponential(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let destination = device.take_destination(bound)?;
    newer(device, bound, 4)?;
    let source = bound.view("src")?;
    let source = device.operand(bound, "src", source)?;
    let (partitions, width) = (source.partitions(), source.free().max(1));
    let largest = bound.take("max_value").unwrap_or(Value::Float(0.0));
    let largest = device.scalar_operand(bound, "max_value", largest, partitions)?;
    let target = bound.optional_view("reduce_res")?;
    let start = totals::start(device, bound, Alu::Add, partitions)?;
    let shifts = column(device, &largest, partitions)?;
    let mut values = device.read(&source)?;
    for (row, line) in values.chunks_mut(width).enumerate() {
        let shift = shifts.get(row).or(shifts.first()).copied();
        line.iter_mut()
            .for_each(|it| *it -= shift.unwrap_or_default());
        Function::Exp.apply_all(line);
    }
    let sums = totals::of_rows(&values, width, Alu::Add);
    let sums = totals::carry(device, &start, sums, Alu::Add);
    let mut one = Instruction::new(Operation::TensorScalar, VECTOR, device.line);
    one.partitions = partitions as u16;
    one.free = width as u32;
    let shape = source.shape();
    device.describe(&mut one, &[source], 1);
    if let Operand::Column(view) = &largest {
        one.reads.push(device.region(view));
    }
    let result = device.finish_tile(one, shape, Dtype::Float32, values, destination)?;
    if let Some(target) = target {
        let target = device.operand(bound, "reduce_res", target)?;
        device.check_mutable(&target)?;
        if target.elements() != partitions {
            return Err(not_a_column(&target, partitions));
        }
        device.also_write(&target, &sums)?;
    }
    Ok(tensor(result))
}

/// Refuses what cores before `generation` have not.
pub(super) fn newer(device: &Device, bound: &Bound, generation: u8) -> Outcome<()> {
    if device.architecture.generation < generation {
        return Err(Failure::documented(
            "err_unsupported_operation",
            format!(
                "{} is there from NeuronCore-v{generation} on; this is v{}",
                bound.api.full_name(),
                device.architecture.generation
            ),
            "take a target that has it, or compute it with other instructions",
        ));
    }
    Ok(())
}

/// `nisa.nonzero_with_count`: in partitions 0, 16, 32 and so on, the places of what is not zero,
/// then padding, then how many there are.
pub(super) fn nonzero(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let target = bound.view("dst")?;
    newer(device, bound, 3)?;
    let target = device.operand(bound, "dst", target)?;
    device.check_mutable(&target)?;
    let source = bound.view("src")?;
    let source = device.operand(bound, "src", source)?;
    let offset = bound.integer("index_offset")?.unwrap_or(0) as f32;
    let padding = bound.integer("padding_val")?.unwrap_or(-1) as f32;
    let (partitions, width) = (source.partitions(), source.free());
    let types = matches!(source.dtype, Dtype::Float32 | Dtype::Int32);
    if !types || target.dtype != Dtype::Int32 {
        return Err(Failure::documented(
            "err_unsupported_dtype",
            format!(
                "{}: src is {} and dst {}",
                bound.api.full_name(),
                source.dtype.name(),
                target.dtype.name()
            ),
            "src is float32 or int32, dst int32",
        ));
    }
    let psum = |view: &View| view.buffer() == Buffer::Psum;
    if psum(&source) || psum(&target) {
        return Err(Failure::documented(
            "err_unsupported_memory",
            "nonzero_with_count reads and writes SBUF only",
            "copy out of PSUM first",
        ));
    }
    if target.partitions() != partitions || target.free() != width + 1 {
        return Err(Failure::documented(
            "err_annotation_shape_mismatch",
            format!(
                "{}: src {:?} and dst {:?}",
                bound.api.full_name(),
                source.shape(),
                target.shape()
            ),
            "dst has the partitions of src, and one element more in each",
        ));
    }
    let flat = source.reshape(&[partitions, width]).unwrap_or(source);
    let wide = target.reshape(&[partitions, width + 1]).unwrap_or(target);
    let rows = partitions.div_ceil(GROUP);
    for (position, row) in (0..partitions).step_by(GROUP).enumerate() {
        let from = flat.part(&[(row, row + 1), (0, width)]);
        let to = wide.part(&[(row, row + 1), (0, width + 1)]);
        let mut values = Vec::new();
        if device.functional {
            let line = device.read_known(&from, "src")?;
            let found = line.iter().enumerate().filter(|(_, value)| **value != 0.0);
            values.extend(found.map(|(at, _)| at as f32 + offset));
            let count = values.len() as f32;
            values.resize(width, padding);
            values.push(count);
        }
        if position + 1 < rows {
            device.write(&to, &values, None)?;
            continue;
        }
        // One instruction for all; its cores work side by side.
        let mut one = Instruction::new(Operation::Gather, GPSIMD, device.line);
        one.partitions = rows as u16;
        one.free = width as u32;
        device.describe(&mut one, std::slice::from_ref(&flat), 1);
        device.write(&to, &values, None)?;
        device.note_write(&mut one, &wide)?;
        device.emit(one)?;
    }
    Ok(tensor(wide))
}

/// `nisa.sequence_bounds`: for each element, where its segment starts and ends.
pub(super) fn bounds(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let destination = device.take_destination(bound)?;
    let ids = bound.view("segment_ids")?;
    let ids = device.operand(bound, "segment_ids", ids)?;
    let dtype = bound.dtype("dtype")?.unwrap_or(ids.dtype);
    let (partitions, width) = (ids.partitions(), ids.free());
    if partitions != 1 {
        return Err(Failure::documented(
            "err_num_partition_mismatch",
            format!("{}: {partitions} partitions", bound.api.full_name()),
            "give it one partition",
        ));
    }
    let types = |dtype: Dtype| matches!(dtype, Dtype::Float32 | Dtype::Int32);
    if !types(ids.dtype) || !types(dtype) {
        return Err(Failure::documented(
            "err_unsupported_dtype",
            format!("{} of {}", bound.api.full_name(), ids.dtype.name()),
            "use float32 or int32",
        ));
    }
    let line = device.read_known(&ids, "segment_ids")?;
    let mut values = vec![0.0; 2 * line.len()];
    for (at, id) in line.iter().enumerate() {
        let same = |value: &&f32| **value == *id;
        let (start, end) = if *id == 0.0 {
            (width as f32, -1.0)
        } else {
            (
                (at - line[..at].iter().rev().take_while(same).count()) as f32,
                (at + line[at..].iter().take_while(same).count()) as f32,
            )
        };
        (values[at], values[width + at]) = (start, end);
    }
    let mut one = Instruction::new(Operation::Gather, GPSIMD, device.line);
    one.partitions = 1;
    one.free = width as u32;
    device.describe(&mut one, &[ids], 1);
    device
        .finish_tile(one, [1, 2, width].into(), dtype, values, destination)
        .map(tensor)
}
