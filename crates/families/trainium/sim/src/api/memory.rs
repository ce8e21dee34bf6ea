//! Allocation, and the parts of tensors that views cover.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use super::Device;
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::bits::Parts;
use crate::tensor::dtype::Dtype;
use crate::tensor::index::Selection;
use crate::tensor::storage::{Blocks, Buffer, Shared, Storage, poison};
use crate::tensor::view::{Sizes, View};
use crate::trace::{Grain, Region, Tensor, common};

/// Largest number of partitions of a tile.
pub(super) const PARTITIONS: usize = 128;
/// Elements of a tile in each partition.
pub(super) const SBUF_FREE: usize = 65536;
/// Bytes of the accumulators in each partition, and of one of their eight banks.
pub(crate) const PSUM_BYTES: usize = 16384;
pub(crate) const PSUM_BANK: usize = 2048;

/// Bytes of the simulator's memory for a tensor without its data.
const TENSOR_BYTES: u64 = 320;

impl Device {
    /// Makes a tensor.
    pub(crate) fn allocate(
        &mut self,
        buffer: Buffer,
        dtype: Dtype,
        shape: Sizes,
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
        let partition_elements = block_elements.checked_div(partitions).unwrap_or(0);
        let scope = self.scope();
        Arc::make_mut(&mut self.trace.tensors).push(Tensor {
            name: name.into(),
            buffer,
            dtype,
            line: self.line,
            scope,
            bytes: (partition_elements * dtype.bytes()) as u64,
            input: false,
            output: false,
            places: None,
        });
        let held = TENSOR_BYTES
            + if self.functional {
                16 * blocks as u64
            } else {
                0
            };
        self.account.hold(held)?;
        let kept = if self.functional { blocks } else { 0 };
        Ok(Rc::new(Storage {
            id,
            tile: self.tiles.add(),
            buffer,
            dtype,
            shape,
            block_rank,
            block_elements,
            partition_elements,
            immutable: false,
            fill,
            scope,
            line: self.line,
            blocks: RefCell::new(Blocks::new(kept)),
            parts: RefCell::new(Parts::default()),
            written: Cell::new(false),
            is_tainted: Cell::new(false),
            producer: Cell::new(None),
            selection: RefCell::new(Selection::All),
            sharing: OnceCell::new(),
            account: Rc::clone(&self.account),
            held: Cell::new(held),
        }))
    }

    /// An input of the kernel, with its data.
    pub(crate) fn input(
        &mut self,
        dtype: Dtype,
        shape: Vec<usize>,
        name: &str,
        data: &[f32],
    ) -> Outcome<View> {
        let shape = shape.into_iter().collect();
        let storage = self.allocate(Buffer::Hbm, dtype, shape, 0, 0.0, name)?;
        if let Some(tensor) = Arc::make_mut(&mut self.trace.tensors).get_mut(storage.id as usize) {
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

    /// A tile for the result of an instruction.
    pub(super) fn tile(&mut self, buffer: Buffer, dtype: Dtype, shape: &[usize]) -> Outcome<View> {
        let mut shape: Sizes = shape.iter().copied().collect();
        while shape.len() < 2 {
            shape.push(1);
        }
        check_tile(buffer, dtype, &shape)?;
        let storage = self.allocate(buffer, dtype, shape, 0, poison(), "")?;
        Ok(View::whole(&storage))
    }

    /// The part of a tensor that a view covers.
    pub(super) fn region(&self, view: &View) -> Region {
        let region = self.bounds(view);
        if self.may_carry() {
            self.hazards.describe(region, view);
        }
        region
    }

    pub(super) fn bounds(&self, view: &View) -> Region {
        let storage = &view.storage;
        let elements = view.block_elements().max(1) as i64;
        let block = match view.offset {
            0 => 0,
            offset => (offset / elements).max(0),
        };
        let base = view.offset - block * elements;
        let width = view.dtype.bytes() as u64;
        if !storage.buffer.on_chip() {
            let (mut low, mut high) = (base, base);
            for dimension in &view.dimensions {
                let reach = dimension.stride * (dimension.size.max(1) as i64 - 1);
                low += reach.min(0);
                high += reach.max(0);
            }
            let span = if view.indirect.is_some() {
                Region::span(0, elements as u64)
            } else {
                Region::span(low.max(0) as u64, high as u64 + 1)
            };
            return Region {
                tile: self.tiles.of(storage.id, 0, storage.tile),
                partitions: (0, 1),
                span,
                grain: Grain::default(),
            };
        }
        let per_partition = match view.dtype == storage.dtype {
            true => storage.partition_elements,
            false => storage.partition_elements * storage.dtype.bytes() / view.dtype.bytes(),
        };
        let per_partition = per_partition.max(1) as i64;
        let (first, mut low) = match base {
            0 => (0, 0),
            base => (base / per_partition, base % per_partition),
        };
        let mut high = low;
        let mut last = first;
        // The largest number of elements that all steps are multiples of.
        let mut every = 0u16;
        for (position, dimension) in view.dimensions.iter().enumerate() {
            let reach = dimension.stride * (dimension.size.max(1) as i64 - 1);
            if position == 0 && dimension.stride.abs() >= per_partition {
                last = first + reach / per_partition;
            } else {
                low += reach.min(0);
                high += reach.max(0);
                if dimension.size > 1 {
                    let step = u16::try_from(dimension.stride.unsigned_abs() * width);
                    every = common(every, step.unwrap_or(1));
                }
            }
        }
        let grain = match every {
            0 => Grain::default(),
            every => Grain {
                every,
                bytes: width as u16,
            },
        };
        Region {
            grain,
            tile: self.tiles.of(storage.id, block as u32, storage.tile),
            partitions: (first as u16, last as u16 + 1),
            span: Region::span(low.max(0) as u64 * width, (high as u64 + 1) * width),
        }
    }

    /// Whether the storage was made inside the innermost running loop.
    pub(super) fn in_scope(&self, storage: &Storage) -> bool {
        self.scopes.contains(&storage.scope)
    }
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
