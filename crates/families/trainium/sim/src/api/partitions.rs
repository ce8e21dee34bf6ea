//! What goes across partitions: reductions over them, and one of them repeated.

use std::fmt::Display;

use super::arithmetic::Alu;
use super::elementwise::GPSIMD;
use super::matrix::MOVING;
use super::operands::tensor;
use super::{Api, Bound, Device, Dialect, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::storage::Buffer;
use crate::tensor::view::View;
use crate::trace::{Choice, Engine, Instruction, Operation, Region};

/// `nisa.tensor_partition_reduce`
pub(super) fn partition_reduce(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let destination = device.take_destination(bound)?;
    let alu = bound.alu("op")?;
    if !matches!(
        alu,
        Alu::Add | Alu::Maximum | Alu::BitAnd | Alu::BitOr | Alu::BitXor
    ) {
        return Err(Failure::documented(
            "err_unsupported_operation",
            format!(
                "{}: {alu:?} is not what partitions are reduced by",
                bound.api.full_name()
            ),
            "reduce by nl.add, nl.maximum, nl.bitwise_and, nl.bitwise_or or nl.bitwise_xor; turn the tile for others",
        ));
    }
    device.remark(
        "partition-reduce-uncertain",
        "no document says how long tensor_partition_reduce takes: it counts as a pass over the columns for each halving of the partitions"
            .to_owned(),
    );
    let data = bound.view("data")?;
    let data = device.operand(bound, "data", data)?;
    let dtype = bound.dtype("dtype")?.unwrap_or(data.dtype);
    let (rows, width) = (data.partitions(), data.free());
    if rows == 0 {
        return Err(Failure::python(
            "value-error",
            format!(
                "{}: `data` of shape {:?} has no partition to reduce over",
                bound.api,
                data.shape()
            ),
            "give it one row or more",
        ));
    }
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
        .finish_tile(one, [1, width].into(), dtype, values, destination)
        .map(tensor)
}

impl Device {
    /// Repeats the only partition of a tile: products with ones, 512 columns at a time.
    pub(super) fn broadcast_partitions(&mut self, view: View, partitions: usize) -> Outcome<View> {
        let mut shape = view.shape();
        shape[0] = partitions;
        let free = view.free();
        // In the accumulators while it fits a bank, in SBUF otherwise.
        let buffer = if free * 4 <= super::memory::PSUM_BANK {
            Buffer::Psum
        } else {
            Buffer::Sbuf
        };
        let tile = self.tile(buffer, view.dtype, &shape)?;
        if self.functional {
            if let Some(spread) = view.spread(&shape) {
                let values = self.read(&spread)?;
                self.write(&tile, &values, None)?;
            }
        } else {
            self.write(&tile, &[], None)?;
        }
        let source = self.region(&view);
        let target = self.region(&tile);
        let width = view.dtype.bytes() as u64;
        let mut column = 0;
        while column < free {
            let count = (free - column).min(MOVING);
            let mut one =
                Instruction::new(Operation::Matmul, Choice::Fixed(Engine::Tensor), self.line);
            one.partitions = 1;
            one.columns = partitions as u32;
            one.free = count as u32;
            one.features.fp32 = view.dtype.is_slow_on_array();
            one.features.onezero = true;
            one.features.inserted = true;
            one.features.touches_psum = true;
            one.features.touches_sbuf = true;
            let flops = 2 * (partitions * count) as u64;
            self.trace.matrix_flops += flops;
            self.trace.moving_flops += flops;
            let cut = |mut region: Region| {
                let low = u64::from(region.span.0) + column as u64 * width;
                let end = u64::from(region.span.1).max(low + 1);
                region.span = Region::span(low, (low + count as u64 * width).min(end));
                region
            };
            one.reads.push(cut(source));
            if buffer == Buffer::Psum {
                one.writes.push(cut(target));
                self.emit(one)?;
            } else {
                let bank = self.tile(Buffer::Psum, view.dtype, &[partitions, count])?;
                let bank_region = self.region(&bank);
                one.writes.push(bank_region);
                self.emit(one)?;
                let mut copy = Instruction::new(Operation::Copy, Choice::VectorOrScalar, self.line);
                copy.partitions = partitions as u16;
                copy.free = count as u32;
                copy.features.inserted = true;
                copy.features.touches_psum = true;
                copy.features.touches_sbuf = true;
                copy.features.psum_inputs = 1;
                copy.reads.push(bank_region);
                copy.writes.push(cut(target));
                self.emit(copy)?;
            }
            column += count;
        }
        Ok(tile)
    }
}

/// Refuses an operand of an engine that is no tile: each partition holds its own elements, at the
/// same place in all, one partition after the other. Anything else would move data between
/// partitions, which takes a transfer or a product.
///
/// # Errors
/// A failure that names the operand `name` and its shape.
pub(super) fn check_lanes(api: impl Display, name: &str, view: &View) -> Outcome<()> {
    let storage = &view.storage;
    if !storage.buffer.on_chip() || view.elements() == 0 {
        return Ok(());
    }
    let scaled = storage.partition_elements * storage.dtype.bytes() / view.dtype.bytes();
    let each = scaled.max(1) as i64;
    let mut dimensions = view.dimensions.iter();
    let lanes = dimensions.next();
    let steps = lanes.is_none_or(|it| it.size <= 1 || it.stride == each);
    let (mut low, mut high) = (0, view.offset.max(0) % each);
    for dimension in dimensions {
        let reach = dimension.stride * (dimension.size.max(1) as i64 - 1);
        low += reach.min(0);
        high += reach.max(0);
    }
    if steps && high < each && 0 <= view.offset.max(0) % each + low {
        return Ok(());
    }
    Err(Failure::documented(
        "err_leading_dimension_of_tensor_must_be_partition",
        format!(
            "{api}: `{name}` of shape {:?} does not lie in one partition after the other, at the same place in each",
            view.shape()
        ),
        "repeat a partition with nl.broadcast_to of the first dialect or a product with ones; move others by nisa.dma_copy, turn them by nisa.nc_transpose",
    ))
}

/// Refuses an operand of an instruction of the second dialect whose first partition the engines
/// cannot start at: 0 for more than 64 partitions, 0 or 64 for more than 32, a multiple of 32
/// otherwise (the documents of the instruction set). The first dialect's compiler moves such tiles.
///
/// # Errors
/// A failure that names the operand `name`, its partitions and where it could start.
pub(super) fn check_start(device: &Device, api: &Api, name: &str, view: &View) -> Outcome<()> {
    let by_engine = api.module == "nisa" && !api.name.starts_with("dma");
    if device.dialect == Dialect::V1 || !by_engine || !view.buffer().on_chip() {
        return Ok(());
    }
    let columns: usize = view.storage.shape.iter().skip(1).product();
    let bytes = columns * view.storage.dtype.bytes();
    let (start, count) = (
        view.offset.max(0) as usize * view.dtype.bytes() / bytes.max(1),
        view.partitions(),
    );
    let (step, places) = match count {
        65.. => (super::memory::PARTITIONS, "0"),
        33..=64 => (64, "0 or 64"),
        _ => (32, "0, 32, 64 or 96"),
    };
    if start % step == 0 {
        return Ok(());
    }
    Err(Failure::documented(
        "err_invalid_start_partition",
        format!(
            "{api}: `{name}` of shape {:?} starts at partition {start}; one of {count} partitions starts at {places}",
            view.shape()
        ),
        "let it start there, or move it by nisa.dma_copy first",
    ))
}

impl Device {
    /// Repeats one partition over many: a product with a vector of ones, 512 columns at a time.
    pub(super) fn spread_partitions(
        &mut self,
        view: View,
        partitions: usize,
        allowed: bool,
    ) -> Outcome<View> {
        if view.partitions() == partitions {
            return Ok(view);
        }
        if view.partitions() != 1 || !allowed {
            return Err(Failure::documented(
                "err_num_partition_mismatch",
                format!(
                    "a tile of shape {:?} cannot be spread over {partitions} partitions",
                    view.shape()
                ),
                "use nl.add, nl.multiply and the like, which repeat one partition, or broadcast_to; operators and instructions do not",
            ));
        }
        self.broadcast_partitions(view, partitions)
    }
}
