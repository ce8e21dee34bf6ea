//! Memories and the tensors allocated in them.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use super::accesses::Accesses;
use super::account::Account;
use super::bits::Parts;
use super::dtype::{Dtype, POISON, is_undefined};
use super::index::Selection;
use super::view::Sizes;
use crate::diagnostic::Outcome;

/// Memories of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Buffer {
    /// The device's main memory.
    Hbm,
    /// Main memory that a kernel's outputs live in.
    SharedHbm,
    /// The on-chip memory of all engines.
    Sbuf,
    /// The accumulators of the matrix engine.
    Psum,
}

impl Buffer {
    pub(crate) const fn on_chip(self) -> bool {
        matches!(self, Self::Sbuf | Self::Psum)
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Hbm => "hbm",
            Self::SharedHbm => "shared_hbm",
            Self::Sbuf => "sbuf",
            Self::Psum => "psum",
        }
    }
}

/// Data of the blocks of a tensor, each there when it was first touched; most tensors have one.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    first: Option<Block>,
    others: Vec<Option<Block>>,
    count: usize,
}

type Block = Box<[f32]>;

impl Blocks {
    pub(crate) fn new(count: usize) -> Self {
        let others = std::iter::repeat_with(|| None);
        Self {
            first: None,
            others: others.take(count.saturating_sub(1)).collect(),
            count,
        }
    }

    /// Whether there is such a block that was not touched yet.
    pub(crate) fn is_fresh(&self, block: usize) -> bool {
        match block {
            0 => self.first.is_none() && self.count > 0,
            _ => matches!(self.others.get(block - 1), Some(None)),
        }
    }

    fn get_mut(&mut self, block: usize) -> Option<&mut Option<Block>> {
        match block {
            0 if self.count == 0 => None,
            0 => Some(&mut self.first),
            _ => self.others.get_mut(block - 1),
        }
    }
}

/// One allocated tensor. Elements lie in row-major order; leading block dimensions are split
/// into blocks that come to life when they are first touched.
#[derive(Debug)]
pub(crate) struct Storage {
    /// Position in the trace's table of tensors.
    pub(crate) id: u32,
    /// Number of its first tile.
    pub(crate) tile: u32,
    /// Memory.
    pub(crate) buffer: Buffer,
    /// Type of its elements.
    pub(crate) dtype: Dtype,
    /// Block dimensions, partition dimension, free dimensions; in main memory all dimensions.
    pub(crate) shape: Sizes,
    /// Number of leading block dimensions.
    pub(crate) block_rank: usize,
    /// Elements of one block, and in each of its partitions.
    pub(crate) block_elements: usize,
    pub(crate) partition_elements: usize,
    /// The kernel's inputs cannot be written.
    pub(crate) immutable: bool,
    /// Whether fresh elements are zero (accumulators) rather than poisoned.
    pub(crate) fill: f32,
    /// Scope it was made in.
    pub(crate) scope: u32,
    /// Line it was made at.
    pub(crate) line: u32,
    /// Data of each block; none in a run without data.
    pub(crate) blocks: RefCell<Blocks>,
    /// What is known of undefined elements, by their place in all blocks.
    pub(crate) parts: RefCell<Parts>,
    /// Whether anything was written.
    pub(crate) written: Cell<bool>,
    /// Whether something was written that was computed from what nothing has written; known where
    /// reads of such are remarks.
    pub(crate) is_tainted: Cell<bool>,
    /// For the unnamed result of an instruction: that instruction, until a name or an
    /// assignment takes it over.
    pub(crate) producer: Cell<Option<u32>>,
    /// What the producing instruction wrote.
    pub(crate) selection: RefCell<Selection>,
    /// What is known of a tensor that several cores share.
    pub(crate) sharing: OnceCell<Box<Sharing>>,
    /// Where its bytes are accounted for, and how many are.
    pub(crate) account: Rc<Account>,
    pub(crate) held: Cell<u64>,
}

/// A tensor that several cores share.
#[derive(Debug)]
pub(crate) struct Sharing {
    /// How many such tensors were made before it.
    pub(crate) place: usize,
    /// What this core did to it since it last met the other on it.
    pub(crate) touched: RefCell<Accesses>,
}

impl Drop for Storage {
    fn drop(&mut self) {
        self.account.release(self.held.get());
    }
}

impl Storage {
    /// Number of blocks.
    pub(crate) fn block_count(&self) -> usize {
        self.shape[..self.block_rank].iter().product()
    }

    /// Whether no instruction has set it, nor the kernel where it made it.
    pub(crate) fn is_unset(&self) -> bool {
        !self.written.get() && is_undefined(self.fill)
    }

    /// Takes memory of the simulator for this tensor, until it is dropped.
    pub(crate) fn hold(&self, bytes: u64) -> Outcome<()> {
        self.account.hold(bytes)?;
        self.held.set(self.held.get() + bytes);
        Ok(())
    }

    /// Runs `f` on the data of a block, making it first if need be.
    pub(crate) fn with_block<R>(&self, block: usize, f: impl FnOnce(&mut [f32]) -> R) -> Option<R> {
        let mut blocks = self.blocks.borrow_mut();
        let slot = blocks.get_mut(block)?;
        let data =
            slot.get_or_insert_with(|| vec![self.fill; self.block_elements].into_boxed_slice());
        Some(f(data))
    }

    /// Makes `data`, which is as many, the elements of a block.
    pub(crate) fn put_block(&self, block: usize, data: Vec<f32>) {
        self.forget_parts(block);
        if let Some(slot) = self.blocks.borrow_mut().get_mut(block) {
            *slot = Some(data.into_boxed_slice());
        }
    }

    /// Forgets what is known of undefined elements of a block, before it is written as it is stored.
    pub(crate) fn forget_parts(&self, block: usize) {
        let mut parts = self.parts.borrow_mut();
        if !parts.is_empty() {
            let first = block * self.block_elements;
            parts.forget(first..first + self.block_elements);
        }
    }

    /// Takes the elements of a block out, which is fresh afterwards.
    pub(crate) fn take_block(&self, block: usize) -> Option<Vec<f32>> {
        let taken = self.blocks.borrow_mut().get_mut(block)?.take();
        taken.map(<[f32]>::into_vec)
    }
}

/// The bits that fresh memory holds.
pub(crate) fn poison() -> f32 {
    f32::from_bits(POISON)
}

/// Shared reference to a tensor.
pub(crate) type Shared = Rc<Storage>;
