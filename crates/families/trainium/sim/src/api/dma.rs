//! Transfers between main memory and the chip.

use std::sync::Arc;

use super::binding::{DESCRIPTOR_MODES, descriptor_mode};
use super::operands::{select, tensor, within};
use super::results::Output;
use super::{Bound, Device, Dialect, EngineName, Nki, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::index::Selection;
use crate::tensor::storage::Buffer;
use crate::tensor::view::{Dimension, View};
use crate::trace::{Choice, Engine, Instruction, Operation, Transfer};

pub(super) const DMA: Choice = Choice::Fixed(Engine::Dma);

/// Shapes of the latest transfers that new ones are compared with, so that equal ones share one.
const SHAPES: usize = 8;

/// Elements that lie one after the other at the end of a view's free dimensions.
fn run_elements(view: &View) -> usize {
    let mut expected = 1i64;
    let mut run = 1;
    for dimension in view.dimensions.iter().skip(1).rev() {
        if dimension.size == 1 {
            continue;
        }
        if dimension.stride != expected {
            break;
        }
        run *= dimension.size;
        expected *= dimension.size as i64;
    }
    run
}

/// The largest power of two, up to 64, that every run of so many elements begins at a multiple of,
/// in bytes from the start of the tensor.
fn alignment(view: &View, run: usize) -> u32 {
    let width = view.dtype.bytes() as i64;
    let steps = view.dimensions.iter().filter(|it| 1 < it.size);
    let steps = steps
        .map(|it| it.stride)
        .filter(|it| it.unsigned_abs() as usize >= run);
    let all = steps.fold(view.offset, |all, step| all | step) * width;
    1 << all.trailing_zeros().min(6)
}

impl Device {
    /// Makes an instruction a transfer whose rows are the first dimension of `rows_of` and of which
    /// so many elements are turned around; without a target it goes to a fresh tile.
    pub(super) fn transfer(
        &mut self,
        one: &mut Instruction,
        source: &View,
        target: Option<&View>,
        rows_of: &View,
        transposed: u64,
    ) {
        let free = rows_of.free().max(1);
        let run = run_elements(source)
            .min(target.map_or(usize::MAX, run_elements))
            .max(1);
        let hbm_side = target
            .filter(|_| source.buffer().on_chip())
            .unwrap_or(source);
        let width = hbm_side.dtype.bytes();
        let mut transfer = Transfer {
            rows: rows_of.partitions() as u32,
            run_bytes: (run * width) as u32,
            runs: (free / run.min(free)).max(1) as u32,
            transposed,
            aligned: alignment(hbm_side, run),
            ..Transfer::default()
        };
        if !source.buffer().on_chip() {
            transfer.hbm_read = (source.elements() * source.dtype.bytes()) as u64;
            one.fingerprint = fingerprint(source, transposed);
        }
        if let Some(target) = target.filter(|t| !t.buffer().on_chip()) {
            transfer.hbm_written = (target.elements() * target.dtype.bytes()) as u64;
        }
        let known = self.transfers.iter().position(|it| **it == transfer);
        let at = known.unwrap_or_else(|| {
            if self.transfers.len() == SHAPES {
                self.transfers.remove(0);
            }
            self.transfers.push(Arc::new(transfer));
            self.transfers.len() - 1
        });
        one.transfer = Some(Arc::clone(&self.transfers[at]));
    }

    /// A view in main memory as rows and columns: the first dimension is the partition dimension.
    fn rows_in_hbm(&self, api: &str, name: &str, mut view: View) -> Outcome<View> {
        if view.buffer().on_chip() {
            return Err(Failure::documented(
                "err_unsupported_memory",
                format!(
                    "{api}: `{name}` of shape {:?} is in {}, not in main memory",
                    view.shape(),
                    view.buffer().name()
                ),
                "transfers of nl.load and nl.store have one side in main memory",
            ));
        }
        while view.dimensions.len() < 2 {
            view.dimensions.push(Dimension { size: 1, stride: 1 });
        }
        if view.partitions() > super::memory::PARTITIONS {
            return Err(Failure::documented(
                "err_num_partition_exceed_arch_limit",
                format!(
                    "{api}: `{name}` of shape {:?} has {} rows; 128 partitions take one each",
                    view.shape(),
                    view.partitions()
                ),
                "transfer 128 rows at a time",
            ));
        }
        Ok(view)
    }
}

/// A fingerprint of what a transfer reads, and whether it turns that around.
fn fingerprint(view: &View, transposed: u64) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut mix = |value: u64| {
        hash ^= value;
        hash = hash.wrapping_mul(0x0000_0100_0000_01b3).rotate_left(17);
    };
    mix(transposed);
    mix(u64::from(view.storage.id));
    mix(view.offset as u64);
    for dimension in &view.dimensions {
        mix(dimension.size as u64);
        mix(dimension.stride as u64);
    }
    if let Some(indirect) = &view.indirect {
        mix(u64::from(indirect.rows.storage.id));
        mix(indirect.rows.offset as u64);
    }
    hash
}

/// `nl.load`
pub(super) fn load(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let source = bound.view("src")?;
    let source = device.rows_in_hbm("nl.load", "src", source)?;
    let mask = bound.mask()?;
    let dtype = bound.dtype("dtype")?.unwrap_or(source.dtype);
    let words = dtype.moved_with(source.dtype);
    let shape = source.shape();
    let selection = select(mask.as_ref(), &shape)?;
    within(&source, mask.as_ref(), &selection, &shape)?;
    let mut values = Vec::new();
    let mut instruction = None;
    if selection != Selection::Nothing {
        let part = match &selection {
            Selection::Part(bounds, _) => source.part(bounds),
            _ => source,
        };
        values = device.read(&part.moved_with(dtype))?;
        let mut one = Instruction::new(Operation::Load, DMA, device.line);
        one.partitions = part.partitions() as u16;
        one.free = part.free() as u32;
        device.describe(&mut one, std::slice::from_ref(&part), 1);
        if let Some(indirect) = &part.indirect {
            one.reads.push(device.region(&indirect.rows));
        }
        device.transfer(&mut one, &part, None, &part, 0);
        instruction = Some(one);
    }
    let mut tile = device.finish(
        instruction,
        Output {
            shape,
            dtype: words,
            buffer: Buffer::Sbuf,
            selection,
            values,
        },
        None,
    )?;
    tile.dtype = dtype;
    Ok(tensor(tile))
}

/// `nl.store`
pub(super) fn store(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let target = bound.view("dst")?;
    let target = device.rows_in_hbm("nl.store", "dst", target)?;
    device.check_writable(&target)?;
    let value = bound.required("value")?;
    let mask = bound.mask()?;
    let value = match value {
        Value::Foreign(Nki::Tensor(view)) => View::clone(&view),
        other => {
            let number = other
                .as_number()
                .ok_or_else(|| bound.wrong("value", "a tile or a number", &other))?;
            let tile = device.tile(Buffer::Sbuf, target.dtype, &target.shape())?;
            device.fill(&tile, number as f32)?;
            tile
        }
    };
    let value = device.operand(bound, "value", value)?;
    let value = device.in_sbuf(value)?;
    let shape = target.shape();
    let own = if value.elements() == value.block_elements() {
        value.storage.selection.borrow().clone()
    } else {
        Selection::All
    };
    if own == Selection::Nothing {
        return Ok(Value::None);
    }
    let source = if value.has_shape(&shape) {
        Some(value.clone())
    } else if value.elements() == target.elements() {
        value.reshape(&shape)
    } else {
        value.spread_to(&shape)
    };
    let Some(source) = source else {
        // A value larger than what a mask keeps is cut to it.
        return Err(Failure::documented(
            "err_store_dst_shape_smaller_than_other_shape",
            format!(
                "nl.store: a value of shape {:?} does not fit a destination of shape {shape:?}",
                value.shape()
            ),
            "make the shapes equal",
        ));
    };
    let selection = select(mask.as_ref(), &shape)?;
    within(&target, mask.as_ref(), &selection, &shape)?;
    if selection == Selection::Nothing {
        return Ok(Value::None);
    }
    let (source, target, flags) = match &selection {
        Selection::Part(bounds, flags) => (source.part(bounds), target.part(bounds), flags.clone()),
        _ => (source, target, None),
    };
    device.check_single(&target, flags.as_deref())?;
    device.move_values(&source, &target, flags.as_deref())?;
    let mut one = Instruction::new(Operation::Store, DMA, device.line);
    one.partitions = source.partitions() as u16;
    one.free = source.free() as u32;
    device.describe(&mut one, std::slice::from_ref(&source), 1);
    device.transfer(&mut one, &source, Some(&target), &source, 0);
    device.note_write(&mut one, &target)?;
    device.hazards.masked = flags.is_some();
    device.emit(one)?;
    Ok(Value::None)
}

impl Device {
    /// Writes what a view holds to another one: bit by bit where both have one type.
    fn move_values(&mut self, source: &View, target: &View, flags: Option<&[bool]>) -> Outcome<()> {
        let values = self.read(&source.moved_with(target.dtype))?;
        self.write(&target.moved_with(source.dtype), &values, flags)
    }

    /// Who makes the descriptors of a transfer, of the second dialect, and whether that is done
    /// before the kernel runs (deep dive on descriptor generation).
    pub(super) fn prepared(&self, bound: &mut Bound, views: [&View; 2]) -> Outcome<bool> {
        let indirect = views.iter().any(|it| it.indirect.is_some());
        let by_register = views.iter().any(|it| it.by_register);
        let mode = match bound.take("dge_mode") {
            None => "dge_mode.unknown",
            Some(value) => descriptor_mode(&value)
                .ok_or_else(|| bound.wrong("dge_mode", DESCRIPTOR_MODES, &value))?,
        };
        let hardware = mode == "dge_mode.hwdge";
        let refused = |what: &str, remedy: &str| {
            Err(Failure::documented(
                "err_unsupported_mode",
                format!("{}: {what}", bound.api.full_name()),
                remedy,
            ))
        };
        if hardware && self.architecture.generation < 3 {
            return refused("dge_mode=hwdge from trn2 on", "leave dge_mode away");
        }
        if self.dialect == Dialect::V1 {
            return Ok(false);
        }
        if indirect && ["dge_mode.hwdge", "dge_mode.none"].contains(&mode) {
            let mode = mode.trim_start_matches("dge_mode.");
            return refused(
                &format!("dge_mode={mode} makes no descriptors for rows that a tile chooses"),
                "use nisa.dge_mode.swdge, or leave dge_mode away",
            );
        }
        if by_register && mode == "dge_mode.none" {
            return refused(
                "dge_mode=none makes descriptors before the kernel runs, when no register says yet where they point",
                "use nisa.dge_mode.swdge or hwdge, or leave dge_mode away",
            );
        }
        let engine = bound.peek("engine");
        let named = match engine {
            None | Some(Value::None | Value::Foreign(Nki::Engine(EngineName::Unknown))) => false,
            Some(Value::Foreign(Nki::Engine(EngineName::Sync | EngineName::Scalar))) => true,
            Some(_) => {
                return refused(
                    "`engine` is the sync or the scalar engine",
                    "pass nisa.engine.sync, nisa.engine.scalar or neither",
                );
            }
        };
        if named && !hardware {
            return refused(
                "`engine` is for dge_mode=hwdge",
                "pass dge_mode=nisa.dge_mode.hwdge, too, or leave engine away",
            );
        }
        Ok(mode == "dge_mode.none")
    }
}

/// `nisa.dma_copy`
pub(super) fn dma_copy(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let mut target = bound.view("dst")?;
    let mut source = bound.view("src")?;
    let mask = bound.mask()?;
    let skip = matches!(bound.take("oob_mode"), Some(Value::Symbol("oob_mode.skip")));
    let accumulate = match bound.take("dst_rmw_op") {
        None => None,
        Some(value) => Some(
            super::arithmetic::Alu::from_value(&value)
                .filter(|_| !target.dtype.is_opaque())
                .ok_or_else(|| bound.wrong("dst_rmw_op", "np.add or nl.add", &value))?,
        ),
    };
    let prepared = device.prepared(bound, [&source, &target])?;
    device.check_writable(&target)?;
    device.check_scope(&target)?;
    device.check_scope(&source)?;
    for (name, view) in [("dst", &target), ("src", &source)] {
        if view.buffer() == Buffer::Psum {
            return Err(Failure::documented(
                "err_unsupported_memory",
                format!("nisa.dma_copy: `{name}` is in PSUM, which transfers cannot reach"),
                "copy between PSUM and SBUF with nisa.tensor_copy",
            ));
        }
        if view.open_blocks > 0 {
            return Err(Failure::documented(
                "err_failed_to_infer_tile_from_local_tensor",
                format!("nisa.dma_copy: `{name}` still has block dimensions"),
                "index every dimension before the partition dimension",
            ));
        }
    }
    let rows_in = |view: &mut View| {
        while view.dimensions.len() < 2 {
            view.dimensions.push(Dimension { size: 1, stride: 1 });
        }
    };
    rows_in(&mut target);
    rows_in(&mut source);
    let mut spread = None;
    if source.elements() != target.elements() {
        spread = source.spread(&target.shape());
        if spread.is_none() || device.dialect == Dialect::V2 {
            return Err(Failure::documented(
                "err_store_dst_shape_smaller_than_other_shape",
                format!(
                    "nisa.dma_copy: dst {:?} and src {:?} differ in size",
                    target.shape(),
                    source.shape()
                ),
                "give both the same number of elements",
            ));
        }
    }
    if let Some(spread) = spread {
        source = spread;
    }
    for view in [&source, &target] {
        if view.buffer().on_chip() && view.partitions() > 128 {
            return Err(Failure::documented(
                "err_num_partition_exceed_arch_limit",
                format!("nisa.dma_copy: a tile of shape {:?}", view.shape()),
                "transfer 128 rows at a time",
            ));
        }
    }
    let shape = if target.buffer().on_chip() {
        target.shape()
    } else {
        source.shape()
    };
    let selection = select(mask.as_ref(), &shape)?;
    for view in [&source, &target] {
        within(view, mask.as_ref(), &selection, &shape)?;
    }
    if selection == Selection::Nothing {
        return Ok(tensor(target));
    }
    let (mut source, mut flags, mut target_part) = (source, None, target.clone());
    if let Selection::Part(bounds, f) = &selection
        && source.shape() == shape
        && target.shape() == shape
    {
        source = source.part(bounds);
        target_part = target.part(bounds);
        flags = f.clone();
    }
    device.check_single(&target_part, flags.as_deref())?;
    let mut one = Instruction::new(
        if !source.buffer().on_chip() && target.buffer().on_chip() {
            Operation::Load
        } else if source.buffer().on_chip() && !target.buffer().on_chip() {
            Operation::Store
        } else {
            Operation::Move
        },
        DMA,
        device.line,
    );
    one.features.prepared = prepared;
    let rows_of = if target.buffer().on_chip() {
        &target_part
    } else {
        &source
    };
    one.partitions = rows_of.partitions().min(128) as u16;
    one.free = rows_of.free() as u32;
    device.describe(&mut one, std::slice::from_ref(&source), 1);
    for view in [&source, &target_part] {
        if let Some(indirect) = &view.indirect {
            one.reads.push(device.region(&indirect.rows));
        }
    }
    device.transfer(&mut one, &source, Some(&target_part), rows_of, 0);
    if accumulate.is_some() {
        // What is added to is read first, by the same queues. No document has a rate for that.
        one.reads.push(device.region(&target_part));
        if let Some(transfer) = &mut one.transfer {
            let transfer = Arc::make_mut(transfer);
            transfer.runs *= 2;
            if !target_part.buffer().on_chip() {
                let bytes = target_part.elements() * target_part.dtype.bytes();
                transfer.hbm_read += bytes as u64;
            }
        }
    }
    if device.functional {
        let rows = if skip { device.rows(&source)? } else { None };
        if let Some(rows) = rows {
            for (position, row) in rows.iter().enumerate() {
                let Some(row) = row else { continue };
                let mut bounds: Vec<(usize, usize)> =
                    target_part.dimensions.iter().map(|d| (0, d.size)).collect();
                bounds[0] = (position, position + 1);
                device.move_values(row, &target_part.part(&bounds), None)?;
            }
        } else if skip && target_part.indirect.is_some() {
            let values = device.read(&source.moved_with(target_part.dtype))?;
            let target = target_part.moved_with(source.dtype);
            let rows = device.rows(&target)?.unwrap_or_default();
            let width = values.len().checked_div(rows.len()).unwrap_or(0);
            for (row, values) in rows.iter().zip(values.chunks(width.max(1))) {
                if let Some(row) = row {
                    device.write(row, values, None)?;
                }
            }
        } else if let Some(alu) = accumulate {
            let mut values = device.read(&source)?;
            let old = device.read(&target_part)?;
            for (value, old) in values.iter_mut().zip(old) {
                *value = alu.apply(old, *value);
            }
            device.write(&target_part, &values, flags.as_deref())?;
        } else {
            device.move_values(&source, &target_part, flags.as_deref())?;
        }
    } else {
        device.write(&target_part, &[], None)?;
    }
    device.note_write(&mut one, &target_part)?;
    device.hazards.adds = accumulate.is_some();
    device.hazards.masked = flags.is_some();
    device.emit(one)?;
    Ok(tensor(target))
}
