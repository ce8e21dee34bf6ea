//! Allocation, reading, writing, regions, and the check of affine loops.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::Device;
use crate::diagnostic::{Failure, Outcome};
use crate::python::value::LoopKind;
use crate::tensor::bits;
use crate::tensor::dtype::Dtype;
use crate::tensor::index::Selection;
use crate::tensor::storage::{Buffer, Shared, Storage, poison};
use crate::tensor::view::{View, for_runs};
use crate::trace::{Instruction, Region, Tensor};

/// Largest number of partitions of a tile.
pub(super) const PARTITIONS: usize = 128;
/// Elements of a tile in each partition.
pub(super) const SBUF_FREE: usize = 65536;
/// Bytes of the accumulators in each partition, and of one of their eight banks.
pub(super) const PSUM_BYTES: usize = 16384;
pub(super) const PSUM_BANK: usize = 2048;

/// Bytes of the simulator's memory for a tensor without its data.
const TENSOR_BYTES: u64 = 320;
/// Copies of an operand's values that are under way at a time.
const COPIES: u64 = 4;

/// Tensor, block, first partition and first byte of a region.
type Place = (u32, u32, u16, u64);
/// The iterations of the loops around a write, and whether it accumulates.
type Written = (Vec<(u32, u32)>, bool);

/// Where something was written within running loops: by first element, the loops around it.
#[derive(Default)]
pub(super) struct Hazards {
    writes: HashMap<Place, Written>,
}

impl Hazards {
    pub(super) fn enter(&mut self, depth: usize) {
        if depth == 0 {
            self.writes.clear();
        }
    }

    pub(super) fn leave(&mut self, depth: usize) {
        if depth == 0 {
            self.writes.clear();
        }
    }
}

impl Device {
    /// Makes a tensor.
    pub(crate) fn allocate(
        &mut self,
        buffer: Buffer,
        dtype: Dtype,
        shape: Vec<usize>,
        block_rank: usize,
        fill: f32,
        name: &str,
    ) -> Outcome<Shared> {
        let elements = shape
            .iter()
            .try_fold(1usize, |a, b| a.checked_mul(*b))
            .filter(|n| *n <= 1 << 36);
        let Some(elements) = elements else {
            return Err(Failure::documented(
                "err_size_of_dimension_exceed_arch_limit",
                format!("a tensor of shape {shape:?} is too large"),
                "allocate what one step of the kernel needs",
            ));
        };
        let blocks: usize = shape[..block_rank].iter().product();
        if blocks > 1 << 22 {
            return Err(Failure::documented(
                "err_size_of_dimension_exceed_arch_limit",
                format!("a tensor of shape {shape:?} has too many blocks"),
                "allocate inside the loop",
            ));
        }
        let id = self.trace.tensors.len() as u32;
        let block_elements = elements.checked_div(blocks).unwrap_or(0);
        let partitions = if buffer.on_chip() {
            shape.get(block_rank).copied().unwrap_or(1)
        } else {
            1
        };
        let bytes = block_elements.checked_div(partitions).unwrap_or(0) * dtype.bytes();
        self.trace.tensors.push(Tensor {
            name: name.to_owned(),
            buffer,
            dtype,
            line: self.line,
            bytes: bytes as u64,
            input: false,
            output: false,
        });
        let held = TENSOR_BYTES
            + if self.functional {
                16 * blocks as u64
            } else {
                0
            };
        self.account.hold(held)?;
        let mut slots = Vec::new();
        if self.functional {
            slots.resize_with(blocks, || None);
        }
        let storage = Rc::new(Storage {
            id,
            buffer,
            dtype,
            shape,
            block_rank,
            block_elements,
            immutable: false,
            fill,
            scope: self.scope(),
            line: self.line,
            blocks: RefCell::new(slots),
            written: Cell::new(false),
            producer: Cell::new(None),
            selection: RefCell::new(Selection::All),
            account: Rc::clone(&self.account),
            held: Cell::new(held),
        });
        Ok(storage)
    }

    /// An input of the kernel, with its data.
    pub(crate) fn input(
        &mut self,
        dtype: Dtype,
        shape: Vec<usize>,
        name: &str,
        data: &[f32],
    ) -> Outcome<View> {
        let storage = self.allocate(Buffer::Hbm, dtype, shape, 0, 0.0, name)?;
        if let Some(tensor) = self.trace.tensors.get_mut(storage.id as usize) {
            tensor.input = true;
        }
        let view = View::whole(&storage);
        self.write(&view, data, None)?;
        drop(view);
        let Some(mut storage) = Rc::into_inner(storage) else {
            return Err(Failure::new(
                crate::diagnostic::FailureKind::Input,
                "input-shape",
                "an input is in use",
                "",
            ));
        };
        storage.immutable = true;
        Ok(View::whole(&Rc::new(storage)))
    }

    /// Values of a tensor in main memory, for the caller of the kernel.
    pub(crate) fn values(&mut self, view: &View) -> Outcome<Vec<f32>> {
        self.read(view)
    }

    /// A tile for the result of an instruction.
    pub(super) fn tile(&mut self, buffer: Buffer, dtype: Dtype, shape: &[usize]) -> Outcome<View> {
        let mut shape = shape.to_vec();
        while shape.len() < 2 {
            shape.push(1);
        }
        check_tile(buffer, dtype, &shape)?;
        let storage = self.allocate(buffer, dtype, shape, 0, poison(), "")?;
        Ok(View::whole(&storage))
    }

    fn touch(&self, storage: &Storage, block: usize) -> Outcome<()> {
        let fresh = matches!(storage.blocks.borrow().get(block), Some(None));
        if fresh {
            storage.hold(4 * storage.block_elements as u64)?;
        }
        Ok(())
    }

    /// Values of a view in row-major order, as the engines read them. Empty in a run without data.
    pub(super) fn read(&mut self, view: &View) -> Outcome<Vec<f32>> {
        if !self.functional {
            return Ok(Vec::new());
        }
        self.account
            .room((view.elements() as u64).saturating_mul(4 * COPIES))?;
        let view = if view.indirect.is_some() {
            self.resolve(view)?
        } else {
            Resolved::Plain(view.clone())
        };
        match view {
            Resolved::Plain(view) => {
                let mut out = Vec::with_capacity(view.elements());
                self.read_into(&view, &mut out)?;
                Ok(out)
            }
            Resolved::Rows(rows) => {
                let mut out = Vec::new();
                for row in rows {
                    match row {
                        Some(view) => self.read_into(&view, &mut out)?,
                        None => return Err(row_out_of_range()),
                    }
                }
                Ok(out)
            }
        }
    }

    fn read_into(&mut self, view: &View, out: &mut Vec<f32>) -> Outcome<()> {
        let storage = Rc::clone(&view.storage);
        let elements = view.block_elements().max(1) as i64;
        let block = (view.offset / elements) as usize;
        self.touch(&storage, block)?;
        let base = view.offset - block as i64 * elements;
        let raw = view.dtype == storage.dtype && !view.dtype.is_integer();
        let dtype = view.dtype;
        let stored = storage.dtype;
        if dtype != stored && (dtype.bytes() != 4 || stored.bytes() != 4) {
            storage.with_block(block, |data| {
                for_runs(&view.dimensions, base, |at, count, stride| {
                    for i in 0..count as i64 {
                        let at = ((at + i * stride) as usize).wrapping_mul(dtype.bytes());
                        let value = bits::read(data, stored, dtype, at);
                        out.push(dtype.load(value.unwrap_or_else(poison)));
                    }
                });
            });
            return Ok(());
        }
        storage.with_block(block, |data| {
            for_runs(&view.dimensions, base, |at, count, stride| {
                let at = at as usize;
                if stride == 1 && raw {
                    match data.get(at..at + count) {
                        Some(run) => out.extend_from_slice(run),
                        None => out.resize(out.len() + count, poison()),
                    }
                } else if stride == 0 {
                    let value = data.get(at).copied().unwrap_or_else(poison);
                    let value = if raw {
                        value
                    } else {
                        convert(stored, dtype, value)
                    };
                    out.resize(out.len() + count, value);
                } else {
                    for i in 0..count {
                        let value = data
                            .get((at as i64 + i as i64 * stride) as usize)
                            .copied()
                            .unwrap_or_else(poison);
                        out.push(if raw {
                            value
                        } else {
                            convert(stored, dtype, value)
                        });
                    }
                }
            });
        });
        Ok(())
    }

    /// Writes values to a view, rounding; where `flags` are given, only the flagged elements.
    pub(super) fn write(
        &mut self,
        view: &View,
        values: &[f32],
        flags: Option<&[bool]>,
    ) -> Outcome<()> {
        view.storage.written.set(true);
        if !self.functional {
            return Ok(());
        }
        match self.resolve(view)? {
            Resolved::Plain(view) => self.write_plain(&view, values, flags),
            Resolved::Rows(rows) => {
                let count = if rows.is_empty() {
                    0
                } else {
                    values.len() / rows.len()
                };
                for (position, row) in rows.iter().enumerate() {
                    let Some(row) = row else {
                        return Err(row_out_of_range());
                    };
                    let part = position * count..(position + 1) * count;
                    let flags = flags.map(|f| f.get(part.clone()).unwrap_or_default());
                    self.write_plain(row, values.get(part).unwrap_or_default(), flags)?;
                }
                Ok(())
            }
        }
    }

    fn write_plain(&mut self, view: &View, values: &[f32], flags: Option<&[bool]>) -> Outcome<()> {
        let storage = Rc::clone(&view.storage);
        let elements = view.block_elements().max(1) as i64;
        let block = (view.offset / elements) as usize;
        self.touch(&storage, block)?;
        let base = view.offset - block as i64 * elements;
        let dtype = view.dtype;
        let stored = storage.dtype;
        let exact = dtype == Dtype::Float32;
        let mut position = 0;
        if dtype != stored && (dtype.bytes() != 4 || stored.bytes() != 4) {
            storage.with_block(block, |data| {
                for_runs(&view.dimensions, base, |at, count, stride| {
                    for i in 0..count {
                        let wanted = flags.is_none_or(|f| f.get(position + i) == Some(&true));
                        if let (true, Some(value)) = (wanted, values.get(position + i)) {
                            let at =
                                ((at + i as i64 * stride) as usize).wrapping_mul(dtype.bytes());
                            bits::write(data, stored, dtype, at, dtype.store(*value));
                        }
                    }
                    position += count;
                });
            });
            return Ok(());
        }
        storage.with_block(block, |data| {
            for_runs(&view.dimensions, base, |at, count, stride| {
                let at = at as usize;
                let source = values.get(position..position + count).unwrap_or(&[]);
                if let (true, 1, None, Some(run)) =
                    (exact, stride, flags, data.get_mut(at..at + count))
                {
                    if source.len() == run.len() {
                        run.copy_from_slice(source);
                    }
                } else {
                    for (i, value) in source.iter().enumerate() {
                        if flags.is_none_or(|f| f.get(position + i).copied().unwrap_or(false))
                            && let Some(slot) =
                                data.get_mut((at as i64 + i as i64 * stride) as usize)
                        {
                            *slot = dtype.store(*value);
                        }
                    }
                }
                position += count;
            });
        });
        Ok(())
    }

    fn resolve(&mut self, view: &View) -> Outcome<Resolved> {
        let Some(indirect) = view.indirect.clone() else {
            return Ok(Resolved::Plain(view.clone()));
        };
        let rows = self.read(&indirect.rows)?;
        let mut plain = view.clone();
        plain.indirect = None;
        let mut resolved = Vec::with_capacity(rows.len());
        if indirect.dimension != 0 {
            return Err(Failure::documented(
                "err_indirect_indices_free_dim",
                "rows can be chosen by a tile in the partition dimension only",
                "move the indexed dimension to the front",
            ));
        }
        for row in rows.iter().take(view.partitions()) {
            let inside = row.is_finite() && *row >= 0.0 && (*row as usize) < indirect.limit;
            resolved.push(inside.then(|| {
                let mut one = plain.clone();
                one.offset += *row as i64 * indirect.stride;
                if let Some(first) = one.dimensions.first_mut() {
                    first.size = 1;
                }
                one
            }));
        }
        Ok(Resolved::Rows(resolved))
    }

    /// Rows of an indirect view, `None` where the index is out of range.
    pub(super) fn rows(&mut self, view: &View) -> Outcome<Option<Vec<Option<View>>>> {
        Ok(match self.resolve(view)? {
            Resolved::Plain(_) => None,
            Resolved::Rows(rows) => Some(rows),
        })
    }

    /// The part of a tensor that a view covers.
    pub(super) fn region(&self, view: &View) -> Region {
        let storage = &view.storage;
        let elements = view.block_elements().max(1) as i64;
        let block = (view.offset / elements).max(0);
        let base = view.offset - block * elements;
        let width = view.dtype.bytes() as u64;
        if !storage.buffer.on_chip() {
            let mut high = base;
            for dimension in &view.dimensions {
                high += dimension.stride.max(0) * (dimension.size as i64 - 1);
            }
            let span = if view.indirect.is_some() {
                (0, elements as u64)
            } else {
                (base as u64, high as u64 + 1)
            };
            return Region {
                tensor: storage.id,
                block: 0,
                partitions: (0, 1),
                span,
            };
        }
        let partitions = storage
            .shape
            .get(storage.block_rank)
            .copied()
            .unwrap_or(1)
            .max(1) as i64;
        let per_partition = (elements / partitions).max(1);
        let first = base / per_partition;
        let low = base % per_partition;
        let mut high = low;
        let mut last = first;
        for (position, dimension) in view.dimensions.iter().enumerate() {
            let reach = dimension.stride * (dimension.size as i64 - 1);
            if position == 0 && dimension.stride.abs() >= per_partition {
                last = first + reach / per_partition;
            } else {
                high += reach.max(0);
            }
        }
        Region {
            tensor: storage.id,
            block: block as u32,
            partitions: (first as u16, last as u16 + 1),
            span: (low as u64 * width, (high as u64 + 1) * width),
        }
    }

    /// Finds writes of different iterations of an affine loop to the same place.
    pub(super) fn check_hazards(&mut self, instruction: &Instruction) -> Outcome<()> {
        if self.dialect != super::Dialect::V1
            || !self.running.iter().any(|r| r.kind == LoopKind::Affine)
        {
            return Ok(());
        }
        let path: Vec<(u32, u32)> = self.running.iter().map(|r| (r.id, r.iteration)).collect();
        for (region, writing) in instruction
            .writes
            .iter()
            .map(|r| (r, true))
            .chain(instruction.reads.iter().map(|r| (r, false)))
        {
            let Some(tensor) = self.trace.tensors.get(region.tensor as usize) else {
                continue;
            };
            if !tensor.buffer.on_chip() {
                continue;
            }
            let key = (
                region.tensor,
                region.block,
                region.partitions.0,
                region.span.0,
            );
            let accumulate = instruction.features.accumulate;
            if let Some((earlier, accumulated)) = self.hazards.writes.get(&key) {
                let differing = earlier.iter().zip(&path).position(|(a, b)| a != b);
                let carried = differing
                    .filter(|at| earlier[*at].0 == path[*at].0)
                    .map(|at| &self.running[at]);
                if let Some(carrier) = carried.filter(|r| r.kind == LoopKind::Affine) {
                    let line = self
                        .trace
                        .loops
                        .get(carrier.id as usize - 1)
                        .map_or(0, |l| l.line);
                    if writing && !(accumulate || *accumulated) {
                        let (name, at) = (tensor.name.clone(), tensor.line);
                        return Err(Failure::documented(
                            "err_unexpected_output_dependencies",
                            format!(
                                "two iterations of the affine loop at line {line} write the same part of the tensor {name} made at line {at}"
                            ),
                            "allocate the tensor inside the loop, index it with the loop index, or use nl.sequential_range",
                        ));
                    }
                    if !writing && !accumulated {
                        let at = tensor.line;
                        self.remark("affine-hazard", format!("an iteration of the affine loop at line {line} reads what an earlier one wrote to the tensor made at line {at}; the compiler may reorder them"));
                    }
                }
            }
            if writing {
                let _ = self.hazards.writes.insert(key, (path.clone(), accumulate));
            }
        }
        Ok(())
    }

    /// Whether the storage was made inside the innermost running loop.
    pub(super) fn in_scope(&self, storage: &Storage) -> bool {
        self.scopes.contains(&storage.scope)
    }
}

enum Resolved {
    Plain(View),
    Rows(Vec<Option<View>>),
}

fn row_out_of_range() -> Box<Failure> {
    Failure::documented(
        "err_tensor_access_out_of_bound",
        "a row chosen by an index tile does not exist",
        "keep indices within the tensor, or pass oob_mode=nisa.oob_mode.skip",
    )
}

fn convert(stored: Dtype, seen: Dtype, value: f32) -> f32 {
    if stored == seen {
        return stored.load(value);
    }
    // The same four bytes seen as another type.
    seen.load(value)
}

/// Limits on the shape of a tile on the chip.
pub(super) fn check_tile(buffer: Buffer, dtype: Dtype, shape: &[usize]) -> Outcome<()> {
    if shape.len() < 2 {
        return Err(Failure::new(
            crate::diagnostic::FailureKind::Rejected,
            "insufficient-rank",
            format!(
                "Insufficient rank: a tensor in {} needs two dimensions or more, not {shape:?}",
                buffer.name()
            ),
            "give it a partition dimension and a free dimension, such as (128, 1)",
        ));
    }
    if shape[0] > PARTITIONS {
        return Err(Failure::documented(
            "err_num_partition_exceed_arch_limit",
            format!(
                "a tile of shape {shape:?} has {} partitions; there are {PARTITIONS}",
                shape[0]
            ),
            "cut the first dimension into tiles of 128 rows or fewer",
        ));
    }
    let free: usize = shape[1..]
        .iter()
        .try_fold(1usize, |a, b| a.checked_mul(*b))
        .unwrap_or(usize::MAX);
    match buffer {
        Buffer::Psum if free.saturating_mul(dtype.bytes().max(1)) > PSUM_BYTES => {
            Err(Failure::documented(
                "err_size_of_dimension_exceed_arch_limit",
                format!(
                    "a tile of shape {shape:?} in PSUM needs {} bytes in each partition; there are {PSUM_BYTES} (8 banks of {PSUM_BANK})",
                    free.saturating_mul(dtype.bytes())
                ),
                "tile the free dimension to 512 elements of float32",
            ))
        }
        Buffer::Sbuf if free > SBUF_FREE => Err(Failure::documented(
            "err_size_of_dimension_exceed_arch_limit",
            format!(
                "a tile of shape {shape:?} has {free} elements in each partition; at most {SBUF_FREE} fit an instruction"
            ),
            "tile the free dimension",
        )),
        _ => Ok(()),
    }
}
