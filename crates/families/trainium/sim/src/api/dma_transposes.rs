//! Tensors turned around on their way, by transfers.
//!
//! Facts: NKI's documentation of `nisa.dma_transpose` (permutations by the number of dimensions);
//! guide to Trainium2 (blocks that all queues turn together).

use super::dma::DMA;
use super::operands::{select, tensor, within};
use super::results::result_type;
use super::{Bound, Device, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::index::Selection;
use crate::tensor::storage::Buffer;
use crate::tensor::view::{Dimension, Dimensions, View};
use crate::trace::{Instruction, Operation};

/// How the dimensions of a source are ordered in the result, by their number.
const ORDERS: [&[usize]; 3] = [&[1, 0], &[2, 1, 0], &[3, 1, 2, 0]];

/// Partitions and elements in each of a block that all queues turn together.
const BLOCK: (usize, usize) = (128, 16);

/// `nl.load_transpose2d`, `nisa.dma_transpose`
pub(super) fn load_transpose(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let destination = match bound.api.module {
        "nl" => None,
        _ => device.take_destination(bound)?,
    };
    let mut source = bound.view("src")?;
    let (mask, dtype) = (bound.mask()?, bound.dtype("dtype")?);
    while source.dimensions.len() < 2 {
        source.dimensions.push(Dimension { size: 1, stride: 1 });
    }
    let axes = bound.take("axes");
    let kept: Dimensions = source
        .dimensions
        .iter()
        .copied()
        .filter(|d| d.size > 1)
        .collect();
    let two = bound.api.name == "load_transpose2d" || axes.is_none();
    if source.dimensions.len() > 2 && kept.len() == 2 && two {
        source.dimensions = kept;
    }
    let order = source.dimensions.len().checked_sub(2);
    let order = order.and_then(|at| ORDERS.get(at)).copied();
    let Some(order) = order.filter(|order| order.len() == 2 || bound.api.module == "nisa") else {
        return Err(Failure::documented(
            "err_exceed_max_supported_dimension",
            format!("{} of shape {:?}", bound.api.full_name(), source.shape()),
            if bound.api.module == "nisa" {
                "two to four dimensions are transposed at once; merge some, or take pieces"
            } else {
                "transpose two-dimensional pieces"
            },
        ));
    };
    if let Some(axes) = axes {
        let named = super::sizes(&axes).ok_or_else(|| bound.wrong("axes", "a tuple", &axes))?;
        if named != order {
            return Err(Failure::documented(
                "err_unsupported_axis",
                format!(
                    "{}: axes {named:?} of a source of shape {:?}",
                    bound.api.full_name(),
                    source.shape()
                ),
                format!("sources of {} dimensions take axes={order:?}", order.len()),
            ));
        }
    }
    if source.buffer() == Buffer::Psum {
        return Err(Failure::documented(
            "err_unsupported_memory",
            "transfers cannot read PSUM",
            "copy to SBUF first",
        ));
    }
    if let Some(target) = destination
        .as_ref()
        .filter(|_| device.dialect == super::Dialect::V2)
    {
        if target.dtype.bytes() != source.dtype.bytes() {
            return Err(Failure::documented(
                "err_unsupported_dtype",
                format!(
                    "{}: `dst` is {} and `src` {}; what a transfer turns keeps its type",
                    bound.api.full_name(),
                    target.dtype.name(),
                    source.dtype.name()
                ),
                "make `dst` of the type of `src`, and cast by nisa.tensor_copy from there",
            ));
        }
        if target.buffer() != Buffer::Sbuf {
            return Err(Failure::documented(
                "err_unsupported_memory",
                format!(
                    "{}: `dst` is in {}; it must be a tile in SBUF",
                    bound.api.full_name(),
                    target.buffer().name()
                ),
                "turn it into SBUF and store it from there with nisa.dma_copy",
            ));
        }
    }
    device.check_scope(&source)?;
    let shape = source.shape();
    let selection = select(mask.as_ref(), &shape)?;
    if !matches!(selection, Selection::All) {
        return Err(Failure::unsupported(
            "unsupported-mask",
            "masks of transposing loads are not supported",
            "load and transpose whole tiles",
        ));
    }
    within(&source, mask.as_ref(), &selection, &shape)?;
    let prepared = device.prepared(bound, [&source, &source])?;
    let dtype = result_type(destination.as_ref(), dtype, source.dtype);
    let read = device.read(&source.moved_with(dtype))?;
    let values = permuted(&read, &shape, order);
    let turned: Vec<usize> = order.iter().map(|d| shape[*d]).collect();
    let mut one = Instruction::new(Operation::Load, DMA, device.line);
    one.features.prepared = prepared;
    one.partitions = turned[0].min(128) as u16;
    one.free = turned[1..].iter().product::<usize>() as u32;
    device.describe(&mut one, std::slice::from_ref(&source), 1);
    if let Some(indirect) = &source.indirect {
        one.reads.push(device.region(&indirect.rows));
    }
    let elements = turned.iter().product::<usize>() as u64;
    device.transfer(&mut one, &source, None, &source, elements);
    let is_blocks = source.dtype.bytes() == 2
        && turned[0].is_multiple_of(BLOCK.0)
        && turned.last().is_some_and(|it| it.is_multiple_of(BLOCK.1));
    if let Some(transfer) = one.transfer.as_mut().filter(|_| is_blocks) {
        std::sync::Arc::make_mut(transfer).turned_blocks = 2 * elements;
    }
    let words = dtype.moved_with(source.dtype);
    let destination = destination.map(|it| View { dtype: words, ..it });
    if destination.as_ref().is_some_and(|d| !d.buffer().on_chip()) {
        let target = destination.unwrap_or(source);
        device.write_hbm(one, &target, &values)?;
        return Ok(tensor(target));
    }
    let mut tile = device.finish_tile(one, turned.into(), words, values, destination)?;
    tile.dtype = dtype;
    Ok(tensor(tile))
}

/// Values in row-major order of `shape`, in that of its dimensions ordered anew.
fn permuted(values: &[f32], shape: &[usize], order: &[usize]) -> Vec<f32> {
    let mut strides = vec![1usize; shape.len()];
    for d in (1..shape.len()).rev() {
        strides[d - 1] = strides[d] * shape[d];
    }
    let sizes: Vec<usize> = order.iter().map(|d| shape[*d]).collect();
    let mut position = vec![0usize; order.len()];
    let mut at = 0usize;
    let mut out = Vec::with_capacity(values.len());
    for _ in 0..values.len() {
        out.push(values[at]);
        for d in (0..order.len()).rev() {
            position[d] += 1;
            at += strides[order[d]];
            if position[d] < sizes[d] {
                break;
            }
            at -= strides[order[d]] * sizes[d];
            position[d] = 0;
        }
    }
    out
}

impl Device {
    fn write_hbm(&mut self, mut one: Instruction, target: &View, values: &[f32]) -> Outcome<()> {
        self.check_mutable(target)?;
        self.write(target, values, None)?;
        self.note_write(&mut one, target)?;
        self.emit(one)?;
        Ok(())
    }
}
