//! The instruction and DMA trace of a run.

mod long;

use std::cell::{Cell, RefCell};
use std::sync::Arc;

pub use self::long::Long;
use crate::number_maps::Keyed;
use crate::tensor::dtype::Dtype;
use crate::tensor::place::Place;
use crate::tensor::short::Short;
use crate::tensor::storage::Buffer;

/// What kind of loop a range stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum LoopKind {
    #[default]
    Python,
    Affine,
    Sequential,
    Static,
    /// Counted by the device while the kernel runs.
    Dynamic,
}

/// Engines of a core, and the DMA queues as one.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// The matrix engine.
    Tensor,
    /// The vector engine.
    Vector,
    /// The scalar (activation) engine.
    Scalar,
    /// The general-purpose engine.
    Gpsimd,
    /// The DMA queues.
    Dma,
    /// The sequencer that computes with registers, loads and stores them, and branches.
    Sync,
}

impl Engine {
    /// How many there are.
    pub const COUNT: usize = 6;
    /// Every engine, in the order of reports.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Tensor,
        Self::Vector,
        Self::Scalar,
        Self::Gpsimd,
        Self::Dma,
        Self::Sync,
    ];

    /// Name in reports, as the profiler spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tensor => "tensor",
            Self::Vector => "vector",
            Self::Scalar => "scalar",
            Self::Gpsimd => "gpsimd",
            Self::Dma => "dma",
            Self::Sync => "sync",
        }
    }
}

/// Which engines can run an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// This one.
    Fixed(Engine),
    /// Vector or scalar engine, as the compiler sees fit.
    VectorOrScalar,
    /// Vector or general-purpose engine.
    VectorOrGpsimd,
}

/// What an instruction does, as far as its cost depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Operation {
    Matmul,
    Transpose,
    TensorTensor,
    TensorScalar,
    ScalarTensorTensor,
    Reduce,
    Scan,
    Activation,
    /// With the accumulator read out.
    ActivationReduce,
    TensorScalarReduce,
    Reciprocal,
    Copy,
    CopyPredicated,
    Memset,
    BatchStatistics,
    BatchAggregate,
    Select,
    Quantize,
    Iota,
    Gather,
    VectorTranspose,
    Shuffle,
    PartitionReduce,
    MaxEight,
    Random,
    Load,
    Store,
    Move,
    /// A register is set or computed.
    Register,
    RegisterLoad,
    RegisterStore,
    /// A core waits for the other.
    Barrier,
    /// A core sends a tile to the other, and gets one.
    Exchange,
    /// The same, and what it gets is reduced with what it sent.
    ExchangeCompute,
    /// A loop that the device counts, or whose condition it asks for, goes on.
    Branch,
}

impl Operation {
    /// Whether a core does it together with another.
    pub(crate) const fn is_meeting(self) -> bool {
        matches!(self, Self::Barrier | Self::Exchange | Self::ExchangeCompute)
    }

    /// Name in reports.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Matmul => "nc_matmul",
            Self::Transpose => "nc_transpose",
            Self::TensorTensor => "tensor_tensor",
            Self::TensorScalar => "tensor_scalar",
            Self::ScalarTensorTensor => "scalar_tensor_tensor",
            Self::Reduce => "tensor_reduce",
            Self::Scan => "tensor_tensor_scan",
            Self::Activation => "activation",
            Self::ActivationReduce => "activation_reduce",
            Self::TensorScalarReduce => "tensor_scalar_reduce",
            Self::Reciprocal => "reciprocal",
            Self::Copy => "tensor_copy",
            Self::CopyPredicated => "tensor_copy_predicated",
            Self::Memset => "memset",
            Self::BatchStatistics => "bn_stats",
            Self::BatchAggregate => "bn_aggr",
            Self::Select => "affine_select",
            Self::Quantize => "quantize_mx",
            Self::Iota => "iota",
            Self::Gather => "gather",
            Self::VectorTranspose => "transpose",
            Self::Shuffle => "nc_stream_shuffle",
            Self::PartitionReduce => "tensor_partition_reduce",
            Self::MaxEight => "max8",
            Self::Random => "rand",
            Self::Load => "dma load",
            Self::Store => "dma store",
            Self::Move => "dma copy",
            Self::Register => "register",
            Self::RegisterLoad => "register_load",
            Self::RegisterStore => "register_store",
            Self::Barrier => "core_barrier",
            Self::Exchange => "sendrecv",
            Self::ExchangeCompute => "sendrecv_compute",
            Self::Branch => "branch",
        }
    }
}

/// A block of a tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Tile {
    pub(crate) tensor: u32,
    pub(crate) block: u32,
    /// Its place in tables with an entry for each tile of a trace.
    pub(crate) number: u32,
}

impl Tile {
    /// The entry of this tile.
    #[inline]
    pub(crate) const fn at(self) -> usize {
        self.number as usize
    }
}

/// Numbers for tiles, in the order in which they are first asked for.
#[derive(Debug, Default)]
pub(crate) struct Tiles {
    count: Cell<u32>,
    /// Those of blocks behind the first of their tensor.
    blocks: RefCell<Keyed<(u32, u32), u32>>,
}

impl Tiles {
    /// A number for the first block of a new tensor.
    pub(crate) fn add(&self) -> u32 {
        let number = self.count.get();
        self.count.set(number + 1);
        number
    }

    /// The tile of a block of a tensor whose first one has the number `first`.
    pub(crate) fn of(&self, tensor: u32, block: u32, first: u32) -> Tile {
        let number = match block {
            0 => first,
            _ => *self
                .blocks
                .borrow_mut()
                .entry((tensor, block))
                .or_insert_with(|| self.add()),
        };
        Tile {
            tensor,
            block,
            number,
        }
    }

    pub(crate) fn count(&self) -> u32 {
        self.count.get()
    }
}

/// A part of one block of a tensor: partitions and a span of bytes in each (on chip), or a span
/// of elements (main memory).
///
/// Of a tensor in main memory with more elements than a span can count, those beyond are one place:
/// whatever touches them overlaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) tile: Tile,
    pub(crate) partitions: (u16, u16),
    pub(crate) span: (u32, u32),
    /// What of the span is touched, on chip.
    pub(crate) grain: Grain,
}

/// Which bytes of a span are touched: `bytes` from its start and then again every `every` bytes, or
/// fewer; all of them where `every` is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Grain {
    pub(crate) every: u16,
    pub(crate) bytes: u16,
}

impl Region {
    /// The span from `low` to before `high`.
    #[inline]
    pub(crate) fn span(low: u64, high: u64) -> (u32, u32) {
        let last = u64::from(u32::MAX);
        (low.min(last - 1) as u32, high.min(last) as u32)
    }

    /// Length of the span.
    #[inline]
    pub(crate) const fn length(&self) -> u64 {
        (self.span.1 - self.span.0) as u64
    }

    /// Whether the span is that of all `bytes` of a partition.
    #[inline]
    pub(crate) fn is_all(&self, bytes: u64) -> bool {
        self.span.0 == 0 && u64::from(self.span.1) == bytes
    }

    /// Whether both touch a byte, as far as their strides tell.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        if self.tile != other.tile || !self.part().overlaps(&other.part()) {
            return false;
        }
        let every = i64::from(common(self.grain.every, other.grain.every));
        if every == 0 {
            return true;
        }
        let width = |region: &Self| match region.grain.every {
            0 => region.length() as i64,
            _ => i64::from(region.grain.bytes),
        };
        let apart = (i64::from(self.span.0) - i64::from(other.span.0)).rem_euclid(every);
        apart < width(other) || every - apart < width(self)
    }

    /// What it covers of its tile.
    #[inline]
    pub(crate) const fn part(&self) -> Part {
        Part {
            partitions: self.partitions,
            span: self.span,
        }
    }
}

/// The greatest common divisor.
pub(crate) const fn common(a: u16, b: u16) -> u16 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// What a region covers of its tile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Part {
    partitions: (u16, u16),
    span: (u32, u32),
}

impl Part {
    #[inline]
    pub(crate) const fn overlaps(&self, other: &Self) -> bool {
        self.partitions.0 < other.partitions.1
            && other.partitions.0 < self.partitions.1
            && self.span.0 < other.span.1
            && other.span.0 < self.span.1
    }

    #[inline]
    pub(crate) const fn covers(&self, other: &Self) -> bool {
        self.partitions.0 <= other.partitions.0
            && self.partitions.1 >= other.partitions.1
            && self.span.0 <= other.span.0
            && self.span.1 >= other.span.1
    }
}

/// Shape of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Transfer {
    /// Rows, one for each partition.
    pub(crate) rows: u32,
    /// Contiguous bytes of each descriptor.
    pub(crate) run_bytes: u32,
    /// Descriptors in each row.
    pub(crate) runs: u32,
    /// The largest power of two, up to 64, that every run begins at a multiple of, in bytes of main
    /// memory.
    pub(crate) aligned: u32,
    /// Bytes read from main memory.
    pub(crate) hbm_read: u64,
    /// Bytes written to main memory.
    pub(crate) hbm_written: u64,
    /// Elements turned around on the way.
    pub(crate) transposed: u64,
    /// Bytes of these elements, if all queues can turn them as blocks of 128 partitions by 16.
    pub(crate) turned_blocks: u64,
    /// Whether it was added by a pass that imitates the compiler (a spill or its re-load).
    pub(crate) spill: bool,
}

/// Properties that costs depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Features {
    /// Inputs of the matrix engine in single precision.
    pub(crate) fp32: bool,
    /// The matrix engine is told that one input holds ones and zeros only.
    pub(crate) onezero: bool,
    /// The result changes what its place holds, as `+=` does: affine loops may carry that.
    pub(crate) accumulate: bool,
    /// The kernel says itself that a product is added.
    pub(crate) is_told_to_add: bool,
    /// The result is the sum of what its place holds and another operand.
    pub(crate) sum: bool,
    /// Number of inputs in the accumulators.
    pub(crate) psum_inputs: u8,
    /// Whether anything is read from or written to the on-chip memory or the accumulators.
    pub(crate) touches_sbuf: bool,
    pub(crate) touches_psum: bool,
    /// Every operand has two bytes or fewer per element.
    pub(crate) narrow: bool,
    /// Innermost strides are one element.
    pub(crate) unit_stride: bool,
    /// Added by the lowering, not written in the kernel.
    pub(crate) inserted: bool,
    /// Must not be moved by the scheduler.
    pub(crate) ordered: bool,
    /// A transfer of a long loop, whose descriptors are made while the kernel runs.
    pub(crate) dynamic: bool,
    /// The first transfer of an iteration before which the queues rest.
    pub(crate) rests: bool,
    /// Double-row mode of the matrix engine.
    pub(crate) double_row: bool,
    /// Quotients, powers or reciprocal roots of an engine that has no other instruction for them.
    pub(crate) quotient: bool,
    /// A transfer whose descriptors are made before the kernel runs.
    pub(crate) prepared: bool,
    /// A type of the operands whose elements are moved and not computed with.
    pub(crate) opaque: Option<Dtype>,
    /// This and what follows waits for the registers that were loaded before.
    pub(crate) after_registers: bool,
}

/// What operations are compared by, names and not values: two with equal ones that read equal
/// contents give equal results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Meaning {
    /// A fingerprint of the call: interface and every argument but the contents of tiles.
    pub(crate) call: u64,
    /// A fingerprint of sizes, strides and types of the operands, first those that are read.
    pub(crate) pattern: u64,
    /// Free dimensions of the operand with most of them, without those that continue others.
    pub(crate) dimensions: u8,
}

/// One instruction.
#[derive(Clone, Debug)]
pub(crate) struct Instruction {
    pub(crate) operation: Operation,
    pub(crate) choice: Choice,
    pub(crate) line: u32,
    pub(crate) partitions: u16,
    /// Elements streamed in each partition.
    pub(crate) free: u32,
    /// Columns of the stationary operand of the matrix engine.
    pub(crate) columns: u32,
    pub(crate) features: Features,
    pub(crate) reads: Short<Region, 2>,
    pub(crate) writes: Short<Region, 1>,
    /// Of a transfer, a fingerprint of what it reads from main memory and as which type.
    pub(crate) fingerprint: u64,
    pub(crate) meaning: Meaning,
    /// Many transfers share one shape.
    pub(crate) transfer: Option<Arc<Transfer>>,
    /// Innermost affine loop, its iteration.
    pub(crate) site: (u32, u32),
    /// Innermost loop that is run in order, its iteration.
    pub(crate) step: (u32, u32),
}

impl Instruction {
    pub(crate) fn new(operation: Operation, choice: Choice, line: u32) -> Self {
        Self {
            operation,
            choice,
            line,
            partitions: 1,
            free: 1,
            columns: 0,
            features: Features {
                unit_stride: true,
                ..Features::default()
            },
            reads: Short::new(),
            writes: Short::new(),
            fingerprint: 0,
            meaning: Meaning::default(),
            transfer: None,
            site: (0, 0),
            step: (0, 0),
        }
    }
}

/// A tensor of the trace.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) name: Box<str>,
    pub(crate) buffer: Buffer,
    pub(crate) dtype: Dtype,
    pub(crate) line: u32,
    /// Loop iteration or branch that it was made in.
    pub(crate) scope: u32,
    /// Bytes in one partition of one block (on chip), or in all (main memory).
    pub(crate) bytes: u64,
    pub(crate) input: bool,
    pub(crate) output: bool,
    /// Where the kernel wants each of its blocks, if it says so.
    pub(crate) places: Option<Arc<[Place]>>,
}

/// A loop of the trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop {
    pub(crate) kind: LoopKind,
    pub(crate) trips: u64,
    pub(crate) line: u32,
}

/// Everything that a run did on the device.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Shared with the schedules of those whom no pass changes.
    pub(crate) instructions: Arc<Long<Instruction>>,
    pub(crate) tensors: Arc<Vec<Tensor>>,
    /// How many tiles there are.
    pub(crate) tiles: u32,
    pub(crate) loops: Vec<Loop>,
    /// Floating-point operations of the matrix engine.
    pub(crate) matrix_flops: u64,
    /// Of those, for transposes and broadcasts.
    pub(crate) moving_flops: u64,
}

impl Trace {
    /// The last instruction.
    pub(crate) fn last_mut(&mut self) -> Option<&mut Instruction> {
        Arc::make_mut(&mut self.instructions).last_mut()
    }

    /// Number of instructions and transfers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.instructions.len()
    }

    /// Floating-point operations of the matrix engine, without those that only turn and spread
    /// tiles.
    #[must_use]
    pub fn product_flops(&self) -> u64 {
        self.matrix_flops.saturating_sub(self.moving_flops)
    }

    /// Bytes written to main memory.
    #[must_use]
    pub fn written_bytes(&self) -> u64 {
        let transfers = self
            .instructions
            .iter()
            .filter_map(|it| it.transfer.as_ref());
        transfers.map(|it| it.hbm_written).sum()
    }

    /// Whether nothing was done.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.instructions.is_empty()
    }
}
