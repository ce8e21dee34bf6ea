//! Elements moved within a tile: gathers, shuffles and searches.

use super::elementwise::{GPSIMD, VECTOR};
use super::operands::tensor;
use super::{Bound, Device, Value, sizes};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::dtype::{Dtype, is_undefined};
use crate::tensor::storage::Buffer;
use crate::tensor::view::View;
use crate::trace::{Instruction, Operation};

/// `nisa.nc_n_gather`, `nl.gather_flattened`: each partition picks among its own elements.
pub(super) fn n_gather(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let function = bound.api.module == "nl";
    let destination = match function {
        true => None,
        false => device.take_destination(bound)?,
    };
    let (data, indices) = (bound.view("data")?, bound.view("indices")?);
    let data = device.operand(bound, "data", data)?;
    let indices = device.operand(bound, "indices", indices)?;
    let dtype = bound.dtype("dtype")?.unwrap_or(data.dtype);
    if data.buffer() == Buffer::Psum || indices.buffer() == Buffer::Psum {
        return Err(Failure::documented(
            "err_unsupported_memory",
            format!("{} reads SBUF only", bound.api.full_name()),
            "copy out of PSUM first",
        ));
    }
    if indices.dtype != Dtype::Uint32 && !(function && indices.dtype.is_integer()) {
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
    let (source, picks) = (device.read(&data)?, device.read_known(&indices, "indices")?);
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
    device.describe(&mut one, &[data, indices], 2);
    device
        .finish_tile(one, shape, dtype, values, destination)
        .map(tensor)
}

/// `nisa.nc_stream_shuffle`: partitions within groups of 32 change places.
pub(super) fn stream_shuffle(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let (source, target) = (bound.view("src")?, bound.view("dst")?);
    let source = device.operand(bound, "src", source)?;
    let target = device.operand(bound, "dst", target)?;
    device.check_mutable(&target)?;
    let value = bound.required("shuffle_mask")?;
    let order = sizes(&value)
        .filter(|o| o.len() == 32 && o.iter().all(|p| *p < 32 || *p == 255))
        .ok_or_else(|| bound.wrong("shuffle_mask", "32 partitions below 32", &value))?;
    if device.dialect == super::Dialect::V2 && source.dtype != target.dtype {
        return Err(Failure::documented(
            "err_unsupported_dtype",
            format!(
                "{}: `dst` is {} and `src` {}; what changes places keeps its type",
                bound.api.full_name(),
                target.dtype.name(),
                source.dtype.name()
            ),
            "give both the same type",
        ));
    }
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
pub(super) fn max_eight(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let destination = device.take_destination(bound)?;
    let finding = bound.api.name == "nc_find_index8";
    let data = bound.view(if finding { "data" } else { "src" })?;
    let data = device.operand(bound, "data", data)?;
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
        Some(device.operand(bound, "vals", vals)?)
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
            let looked_for = vals.iter().skip(row * 8).take(8);
            let mut known = line.iter().chain(looked_for);
            if let Some(unknown) = known.find(|it| is_undefined(**it)).copied() {
                values.extend([unknown; 8]);
            } else if finding {
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
        .finish_tile(one, shape.into(), dtype, values, destination)
        .map(tensor)
}
