//! Instructions that look for elements, pick them by index or by predicate, or drop some.

use super::arithmetic::Alu;
use super::elementwise::{GPSIMD, VECTOR};
use super::operands::{Elementwise, tensor};
use super::{Bound, Device, Nki, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::dtype::{Dtype, is_undefined};
use crate::tensor::storage::Buffer;
use crate::tensor::view::View;
use crate::trace::{Instruction, Operation};

/// Partitions that one core of the general-purpose engine reaches.
const GROUP: usize = 16;

/// `nisa.local_gather`: groups of sixteen partitions pick by the indices that the group holds,
/// which are read along the partitions first.
pub(super) fn local_gather(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let destination = device.take_destination(bound)?;
    let (source, index) = (bound.view("src_buffer")?, bound.view("index")?);
    let source = device.operand(bound, "src_buffer", source)?;
    let index = device.operand(bound, "index", index)?;
    let each = bound.integer("num_elem_per_idx")?.unwrap_or(1).max(1) as usize;
    let (rows, width, columns) = (source.partitions(), source.free(), index.free());
    if source.buffer() == Buffer::Psum || index.buffer() == Buffer::Psum {
        return Err(Failure::documented(
            "err_unsupported_memory",
            "local_gather reads SBUF only",
            "copy out of PSUM first",
        ));
    }
    if index.dtype != Dtype::Uint16 {
        return Err(Failure::documented(
            "err_unsupported_dtype",
            format!("`index` has type {}", index.dtype.name()),
            "use uint16",
        ));
    }
    if rows % GROUP != 0 || index.partitions() != rows {
        return Err(Failure::documented(
            "err_num_partition_mismatch",
            format!(
                "src_buffer {:?} and index {:?}",
                source.shape(),
                index.shape()
            ),
            "give both the same partitions, a multiple of 16",
        ));
    }
    let most = columns * GROUP;
    let given = bound.integer("num_valid_indices")?;
    let valid = given.map_or(most, |count| count.max(0) as usize);
    if valid == 0 || most < valid || width % each != 0 {
        return Err(Failure::documented(
            "err_size_of_dimension_exceed_arch_limit",
            format!("{valid} indices of {most}, {each} elements each of {width} in a partition"),
            "num_valid_indices is at most the indices of 16 partitions; num_elem_per_idx divides the free size",
        ));
    }
    let (elements, picks) = (device.read(&source)?, device.read_known(&index, "index")?);
    let mut values = Vec::new();
    if device.functional {
        for row in 0..rows {
            let group = row / GROUP * GROUP;
            for at in 0..valid {
                let pick = picks[(group + at % GROUP) * columns + at / GROUP];
                if !(0.0..(width / each) as f32).contains(&pick) {
                    return Err(Failure::documented(
                        "err_tensor_access_out_of_bound",
                        format!("index {pick} into {} groups of elements", width / each),
                        "keep indices below the free size by num_elem_per_idx",
                    ));
                }
                let start = row * width + pick as usize * each;
                values.extend_from_slice(&elements[start..start + each]);
            }
        }
    }
    let shape = match (valid == most, each) {
        (true, 1) => vec![rows, columns, GROUP],
        (true, _) => vec![rows, columns, GROUP, each],
        (false, 1) => vec![rows, valid],
        (false, _) => vec![rows, valid, each],
    };
    let shape = match &destination {
        Some(view) if view.elements() == shape.iter().product::<usize>() => view.shape(),
        _ => shape.into(),
    };
    let mut one = Instruction::new(Operation::Gather, GPSIMD, device.line);
    one.partitions = rows as u16;
    one.free = (valid * each) as u32;
    let dtype = source.dtype;
    device.describe(&mut one, &[source, index], 2);
    device
        .finish_tile(one, shape, dtype, values, destination)
        .map(tensor)
}

/// `nisa.nc_match_replace8`: the first occurrence of each of eight values gives way to `imm`.
pub(super) fn match_replace(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let destination = device.take_destination(bound)?;
    let (data, vals) = (bound.view("data")?, bound.view("vals")?);
    let data = device.operand(bound, "data", data)?;
    let vals = device.operand(bound, "vals", vals)?;
    let other = bound.number("imm")?.unwrap_or(0.0) as f32;
    let places = bound.optional_view("dst_idx")?;
    let dtype = bound.dtype("dtype")?.unwrap_or(data.dtype);
    let (rows, width) = (data.partitions(), data.free());
    if !(8..=16384).contains(&width) || vals.free() != 8 || vals.partitions() != rows {
        return Err(Failure::documented(
            "err_size_of_dimension_exceed_arch_limit",
            format!(
                "nc_match_replace8 of data {:?} and vals {:?}",
                data.shape(),
                vals.shape()
            ),
            "data has 8 to 16384 elements in each partition, vals eight in as many partitions",
        ));
    }
    let (mut values, wanted) = (device.read(&data)?, device.read(&vals)?);
    let mut found = Vec::new();
    if device.functional {
        for (line, wanted) in values.chunks_mut(width).zip(wanted.chunks(8)) {
            let mut known = line.iter().chain(wanted);
            if let Some(unknown) = known.find(|it| is_undefined(**it)).copied() {
                found.extend([unknown; 8]);
                line.fill(unknown);
                continue;
            }
            let mut taken: Vec<usize> = Vec::new();
            for value in wanted {
                let at = (0..width).find(|at| line[*at] == *value && !taken.contains(at));
                taken.extend(at);
                // The hardware marks what it did not find with all ones.
                found.push(at.map_or(-1.0, |at| at as f32));
            }
            for at in taken {
                line[at] = other;
            }
        }
    }
    let mut one = Instruction::new(Operation::MaxEight, VECTOR, device.line);
    one.partitions = rows as u16;
    one.free = width as u32;
    let shape = data.shape();
    device.describe(&mut one, &[data, vals], 1);
    let result = device.finish_tile(one, shape, dtype, values, destination)?;
    if let Some(target) = places {
        let target = device.operand(bound, "dst_idx", target)?;
        write_second(device, &target, &found, rows * 8)?;
    }
    Ok(tensor(result))
}

/// `nisa.select_reduce`: one of two values by a predicate, with the largest of each partition.
pub(super) fn select_reduce(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let target = bound.view("dst")?;
    let target = device.operand(bound, "dst", target)?;
    device.check_mutable(&target)?;
    let (predicate, data) = (bound.view("predicate")?, bound.view("on_true")?);
    let predicate = device.operand(bound, "predicate", predicate)?;
    let data = device.operand(bound, "on_true", data)?;
    let reverse = bound.flag("reverse_pred")?;
    let reduced = bound.optional_view("reduce_res")?;
    let command = bound.take("reduce_cmd");
    let _ = (
        bound.take("reduce_op"),
        bound.take("mask"),
        bound.take("dtype"),
    );
    if data.buffer() == Buffer::Psum && predicate.buffer() == Buffer::Psum {
        return Err(Failure::documented(
            "err_unsupported_memory",
            "on_true and predicate are both in PSUM",
            "copy one of them to SBUF first",
        ));
    }
    if !predicate.dtype.is_integer() || predicate.dtype.bytes() > 2 {
        return Err(Failure::documented(
            "err_unsupported_dtype",
            format!("the predicate has type {}", predicate.dtype.name()),
            "predicates are int8, uint8, int16 or uint16",
        ));
    }
    if predicate.shape() != data.shape() || target.shape() != data.shape() {
        return Err(Failure::documented(
            "err_annotation_shape_mismatch",
            format!(
                "dst {:?}, predicate {:?}, on_true {:?}",
                target.shape(),
                predicate.shape(),
                data.shape()
            ),
            "give all three the same shape",
        ));
    }
    let (shape, width) = (data.shape(), data.free().max(1));
    let mut inputs = vec![data, predicate];
    let number = match bound.required("on_false")? {
        Value::Foreign(Nki::Tensor(view)) => {
            let view = device.operand(bound, "on_false", View::clone(&view))?;
            let wide = view.spread_to(&shape);
            inputs.push(wide.ok_or_else(|| bound.missing("on_false"))?);
            None
        }
        other => {
            let number = other.as_number();
            Some(number.ok_or_else(|| bound.wrong("on_false", "a number or a column", &other))?)
        }
    };
    let mut largest = Vec::new();
    let request = Elementwise {
        operation: Operation::CopyPredicated,
        choice: VECTOR,
        inputs,
        streams: 2,
        shape,
        dtype: target.dtype,
        buffer: Buffer::Sbuf,
        mask: None,
        destination: Some(target),
    };
    let result = device.elementwise(request, |inputs| {
        let mut inputs = inputs.into_iter();
        let mut values = inputs.next().unwrap_or_default();
        let predicate = inputs.next().unwrap_or_default();
        let others = inputs.next().unwrap_or_default();
        for (at, value) in values.iter_mut().enumerate() {
            if is_undefined(predicate[at]) {
                *value = predicate[at];
            } else if (predicate[at] != 0.0) == reverse {
                *value = number.map_or_else(|| others[at], |number| number as f32);
            }
        }
        let rows = values.chunks(width);
        largest = rows.map(|row| Alu::Maximum.all(row)).collect();
        values
    })?;
    let idle = matches!(command, None | Some(Value::Symbol("reduce_cmd.idle")));
    if let (Some(view), false) = (reduced, idle) {
        let view = device.operand(bound, "reduce_res", view)?;
        if !matches!(command, Some(Value::Symbol("reduce_cmd.reset_reduce"))) {
            let old = device.read(&view)?;
            for (new, old) in largest.iter_mut().zip(old) {
                *new = Alu::Maximum.apply(*new, old);
            }
        }
        write_second(device, &view, &largest, result.partitions())?;
    }
    Ok(tensor(result))
}

/// `nisa.dropout` and `nl.dropout`: elements become zero with a probability. Which ones, depends on
/// the line and on how much the kernel did before, so that runs are repeatable.
pub(super) fn dropout(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let destination = device.take_destination(bound)?;
    let language = bound.api.module == "nl";
    let data = bound.view(if language { "x" } else { "data" })?;
    let data = device.operand(bound, "data", data)?;
    let name = if language { "rate" } else { "prob" };
    let (mask, dtype) = (bound.mask()?, bound.dtype("dtype")?);
    let shape = data.shape();
    let mut inputs = vec![data.clone()];
    let number = match bound.required(name)? {
        Value::Foreign(Nki::Tensor(view)) => {
            let view = device.operand(bound, name, View::clone(&view))?;
            let wide = view.spread_to(&shape);
            inputs.push(wide.ok_or_else(|| bound.missing(name))?);
            None
        }
        other => {
            let number = other.as_number();
            Some(number.ok_or_else(|| bound.wrong(name, "a number or a column", &other))? as f32)
        }
    };
    let seed = (u64::from(device.line) << 32) ^ device.trace.instructions.len() as u64;
    // No two draw the same, so that none can stand for another.
    device.call = (device.unlike(), 0);
    let request = Elementwise {
        operation: Operation::TensorScalar,
        choice: VECTOR,
        inputs,
        streams: 1,
        shape,
        dtype: dtype.unwrap_or(data.dtype),
        buffer: Buffer::Sbuf,
        mask,
        destination,
    };
    let result = device.elementwise(request, |inputs| {
        let mut inputs = inputs.into_iter();
        let mut values = inputs.next().unwrap_or_default();
        let rates = inputs.next().unwrap_or_default();
        for (at, value) in values.iter_mut().enumerate() {
            let rate = number.unwrap_or_else(|| rates[at]);
            if is_undefined(rate) {
                *value = rate;
            } else if super::random::uniform(seed, at as u64) < rate {
                *value = 0.0;
            }
        }
        values
    })?;
    Ok(tensor(result))
}

/// Lets the last instruction write `count` values as well.
fn write_second(device: &mut Device, target: &View, values: &[f32], count: usize) -> Outcome<()> {
    device.check_mutable(target)?;
    if target.elements() != count {
        return Err(Failure::documented(
            "err_annotation_shape_mismatch",
            format!(
                "a second result of {count} elements for {:?}",
                target.shape()
            ),
            "give it one element, or eight, for each partition",
        ));
    }
    device.also_write(target, values)
}
