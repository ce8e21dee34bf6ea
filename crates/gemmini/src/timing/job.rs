//! Commands as the timing engine sees them: resolved against the configuration
//! in force, with the local rows they touch.

use crate::address::{LocalAddress, Tile};
use crate::config::GemminiConfig;
use crate::configured::Configured;
use crate::isa::{Dataflow, Instruction, PoolFields};

/// The three sections of the reservation station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Load = 0,
    Store = 1,
    Execute = 2,
}

/// Sizes of the local memories, worked out once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    dim: u32,
    spad_rows: u32,
    acc_rows: u32,
    acc_bank_rows: u32,
    element_bytes: u32,
    acc_bytes: u32,
}

impl Sizes {
    pub(super) fn new(config: &GemminiConfig) -> Self {
        Self {
            dim: config.dim,
            spad_rows: config.spad_rows(),
            acc_rows: config.acc_rows(),
            acc_bank_rows: config.acc_rows() / config.acc_banks.max(1),
            element_bytes: config.element_bytes(),
            acc_bytes: config.acc_element_bytes(),
        }
    }
}

/// Bit that sets rows of the accumulator apart from those of the scratchpad.
const ACCUMULATOR: u32 = 1 << 31;

/// Half-open interval of rows in one of the two local memories; it overlaps
/// nothing if it belongs to no operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowRange {
    start: u32,
    end: u32,
}

impl Default for RowRange {
    fn default() -> Self {
        Self {
            start: u32::MAX,
            end: 0,
        }
    }
}

impl RowRange {
    /// Returns memory, first row and number of rows, if there are any. What
    /// wraps around is taken to reach up to the end.
    #[inline]
    pub(super) fn rows(&self) -> Option<(bool, u32, u32)> {
        if self.end <= self.start {
            return None;
        }
        let count = self.end - self.start;
        let accumulator = self.start & ACCUMULATOR != 0;
        Some((accumulator, self.start & !ACCUMULATOR, count))
    }

    fn new(at: LocalAddress, rows: u32, sizes: &Sizes) -> Self {
        if at.is_garbage() {
            return Self::default();
        }
        let end = at.row().saturating_add(rows);
        // What wraps around is taken to reach up to the end of everything.
        if at.is_accumulator() {
            Self {
                start: ACCUMULATOR | at.row(),
                end: if end > sizes.acc_rows {
                    u32::MAX
                } else {
                    ACCUMULATOR | end
                },
            }
        } else {
            Self {
                start: at.row(),
                end: if end > sizes.spad_rows {
                    ACCUMULATOR
                } else {
                    end
                },
            }
        }
    }

    /// Grows to cover another range, and what lies between, too.
    #[inline]
    pub(super) fn cover(&mut self, other: &Self) {
        // An empty range lies within those that it overlaps.
        if other.start <= other.end {
            self.start = self.start.min(other.start);
            self.end = self.end.max(other.end).max(other.start.saturating_add(1));
        }
    }

    /// Returns whether another range overlaps this one, which is not empty unless
    /// it belongs to no operand.
    #[inline]
    pub(super) fn meets(&self, other: &Self) -> bool {
        (other.start < self.end) & ((self.start < other.end) | (self.start <= other.start))
    }

    #[inline]
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        ((other.start <= self.start) & (self.start < other.end))
            | ((self.start <= other.start) & (other.start < self.end))
    }
}

/// A move in.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LoadJob {
    pub(super) dram: u64,
    pub(super) stride: u64,
    /// Rows requested from memory (1 if one row is repeated).
    pub(super) rows: u32,
    /// Useful bytes of a row.
    pub(super) row_bytes: u32,
    /// Bytes of one local row.
    pub(super) block_bytes: u32,
    /// Times a row is written again below itself.
    pub(super) repeats: u32,
    pub(super) pixel_repeats: u32,
    pub(super) block_stride: u32,
    pub(super) row: u32,
    pub(super) accumulator: bool,
    pub(super) accumulate: bool,
    /// Elements have accumulator width in memory.
    pub(super) wide: bool,
    pub(super) zero: bool,
    pub(super) scaled: bool,
    /// Rows go to the scratchpad once each and as they are.
    pub(super) is_plain: bool,
}

/// A move out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StoreJob {
    pub(super) dram: u64,
    pub(super) stride: u64,
    pub(super) row: u32,
    pub(super) accumulator: bool,
    /// Rows, or output pixels if pooled.
    pub(super) rows: u32,
    /// Reads per packet: blocks of columns, or pixels of a pooling window.
    pub(super) parts: u32,
    pub(super) pooled: bool,
    /// Local rows from part to part.
    pub(super) part_stride: u32,
    /// Bytes of one packet.
    pub(super) bytes: u32,
    /// Output pixels per row of the result; addresses then advance by
    /// `out_dim` pixels from row to row.
    pub(super) pocols: u32,
    pub(super) out_dim: u32,
    /// Windows and the image that they lie on, if pooled.
    pub(super) windows: PoolFields,
    /// Whether anything is written to memory.
    pub(super) writes: bool,
}

impl StoreJob {
    /// Returns whether pixel `part` of the window of output pixel `row` lies in the
    /// padding around the image: nothing is read for it.
    pub(super) fn is_padding(&self, row: u32, part: u32) -> bool {
        if !self.pooled {
            return false;
        }
        let windows = &self.windows;
        let (step, size) = (u32::from(windows.stride), u32::from(windows.size.max(1)));
        let outside = |first: u32, pixel: u32, pad: u8, end: u8| {
            let at = first * step + pixel;
            at < u32::from(pad) || at - u32::from(pad) >= u32::from(end)
        };
        outside(row / self.pocols, part / size, windows.upad, windows.orows)
            || outside(row % self.pocols, part % size, windows.lpad, windows.ocols)
    }
}

/// One operand of an execute command.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand(Tile);

impl Default for Operand {
    fn default() -> Self {
        Self::none()
    }
}

impl Operand {
    #[inline]
    pub(super) const fn none() -> Self {
        Self(Tile {
            address: LocalAddress::none(),
            cols: 0,
            rows: 0,
        })
    }

    #[inline]
    pub(super) fn is_none(&self) -> bool {
        self.0.address.is_garbage()
    }

    #[inline]
    pub(super) fn row(&self) -> u32 {
        self.0.address.row()
    }

    #[inline]
    pub(super) fn rows(&self) -> u32 {
        self.0.rows.into()
    }

    #[inline]
    pub(super) fn cols(&self) -> u32 {
        self.0.cols.into()
    }

    /// Returns whether it lies in the accumulator.
    #[inline]
    pub(super) fn in_accumulator(&self) -> bool {
        self.0.address.is_accumulator()
    }

    /// Returns whether what is written is added to what is there.
    #[inline]
    pub(super) fn accumulates(&self) -> bool {
        self.0.address.accumulates()
    }

    /// Returns its first row as one number over both memories.
    #[inline]
    pub(super) fn key(&self) -> u32 {
        if self.is_none() {
            u32::MAX
        } else {
            self.row() | u32::from(self.in_accumulator()) << 31
        }
    }
}

/// State of the execute controller that a configuration sets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ExecuteMode {
    pub(super) weight_stationary: bool,
    pub(super) a_transpose: bool,
    pub(super) b_transpose: bool,
    pub(super) c_stride: u32,
}

/// What an execute command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum ExecuteKind {
    #[default]
    Config,
    Preload,
    /// Multiply with what has been preloaded.
    Flip,
    /// Multiply with what is in the array.
    Stay,
}

/// A preload, a multiplication or a configuration of the array.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ExecuteJob {
    pub(super) kind: ExecuteKind,
    /// Stationary operand or A.
    pub(super) first: Operand,
    /// Destination, or the second moving operand.
    pub(super) second: Operand,
    pub(super) mode: ExecuteMode,
}

/// What the controllers need of a command.
#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    Config,
    Load(LoadJob),
    Store(StoreJob),
    Execute(ExecuteJob),
}

/// A command ready for allocation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) class: Class,
    pub(super) is_config: bool,
    /// First operand, or the destination if there is one.
    pub(super) a: RowRange,
    pub(super) a_is_dest: bool,
    /// Second operand.
    pub(super) b: RowRange,
    pub(super) work: Work,
}

impl Job {
    /// Makes a job to resolve commands into.
    pub(super) fn new() -> Self {
        Self {
            class: Class::Load,
            is_config: false,
            a: RowRange::default(),
            a_is_dest: false,
            b: RowRange::default(),
            work: Work::Config,
        }
    }

    fn be_config(&mut self) {
        self.is_config = true;
        self.a = RowRange::default();
        self.a_is_dest = false;
        self.b = RowRange::default();
        self.work = Work::Config;
    }
}

/// Resolves `instruction` into `job` and applies configurations to `state`;
/// returns whether the instruction reaches the reservation station.
#[inline]
pub(super) fn resolve(
    instruction: &Instruction,
    state: &mut Configured,
    sizes: &Sizes,
    job: &mut Job,
) -> bool {
    job.is_config = false;
    match *instruction {
        Instruction::ConfigEx(c) => {
            state.set_ex(c);
            job.class = Class::Execute;
            job.be_config();
            job.work = Work::Execute(ExecuteJob {
                kind: ExecuteKind::Config,
                mode: mode(state),
                ..ExecuteJob::default()
            });
        }
        Instruction::ConfigLd(c) => {
            if c.channel < 3 {
                state.set_load(c);
            }
            job.class = Class::Load;
            job.be_config();
        }
        Instruction::ConfigSt(c) => {
            state.set_store(c);
            job.class = Class::Store;
            job.be_config();
        }
        Instruction::ConfigNorm(c) => {
            state.set_norm(c);
            job.class = Class::Store;
            job.be_config();
        }
        Instruction::Mvin {
            channel,
            dram,
            tile,
        } => load(job, channel, dram, tile, state, sizes),
        Instruction::Mvout { dram, tile } => store(job, dram, tile, state, sizes),
        Instruction::Preload { stationary, dest } => {
            job.class = Class::Execute;
            job.a_is_dest = true;
            let c_rows = u32::from(dest.rows) * u32::from(state.ex.c_stride);
            job.a = RowRange::new(dest.address, c_rows, sizes);
            job.b = RowRange::new(stationary.address, u32::from(stationary.rows), sizes);
            job.work = Work::Execute(ExecuteJob {
                kind: ExecuteKind::Preload,
                first: Operand(stationary),
                second: Operand(dest),
                mode: mode(state),
            });
        }
        Instruction::Compute { preloaded, a, bd } => {
            job.class = Class::Execute;
            let rows = if state.ex.a_transpose { a.cols } else { a.rows };
            job.a_is_dest = false;
            job.a = RowRange::new(
                a.address,
                u32::from(rows) * u32::from(state.ex.a_stride),
                sizes,
            );
            job.b = RowRange::new(bd.address, u32::from(bd.rows), sizes);
            job.work = Work::Execute(ExecuteJob {
                kind: if preloaded {
                    ExecuteKind::Flip
                } else {
                    ExecuteKind::Stay
                },
                first: Operand(a),
                second: Operand(bd),
                mode: mode(state),
            });
        }
        _ => return false,
    }
    true
}

fn mode(state: &Configured) -> ExecuteMode {
    ExecuteMode {
        weight_stationary: state.ex.dataflow == Dataflow::WeightStationary,
        a_transpose: state.ex.a_transpose,
        b_transpose: state.ex.b_transpose,
        c_stride: u32::from(state.ex.c_stride),
    }
}

fn load(job: &mut Job, channel: u8, dram: u64, tile: Tile, state: &Configured, sizes: &Sizes) {
    let channel = &state.load[usize::from(channel.min(2))];
    let (rows, cols) = (u32::from(tile.rows).max(1), u32::from(tile.cols).max(1));
    let accumulator = tile.address.is_accumulator();
    let wide = accumulator && !channel.shrink;
    let element = if wide {
        sizes.acc_bytes
    } else {
        sizes.element_bytes
    };
    let zero = dram == 0;
    let repeats = if channel.stride == 0 && !zero {
        rows - 1
    } else {
        0
    };
    let pixel_repeats = u32::from(channel.pixel_repeats.max(1));
    let blocks = cols.div_ceil(sizes.dim);
    let block_stride = u32::from(channel.block_stride);
    let mut start = tile.address;
    if !accumulator && pixel_repeats > 1 {
        let half = sizes.spad_rows / 2;
        let floor = if start.row() > half { half } else { 0 };
        let row = start.row().saturating_sub(pixel_repeats - 1).max(floor);
        start = LocalAddress::scratchpad(row);
    }
    job.class = Class::Load;
    job.a_is_dest = true;
    job.a = RowRange::new(start, (blocks - 1) * block_stride + rows, sizes);
    job.b = RowRange::default();
    let scaled = !wide && channel.scale.to_bits() != 1.0f32.to_bits();
    job.work = Work::Load(LoadJob {
        dram,
        stride: channel.stride,
        rows: if repeats > 0 { 1 } else { rows },
        row_bytes: cols * element,
        block_bytes: sizes.dim * element,
        repeats,
        pixel_repeats: if accumulator { 1 } else { pixel_repeats },
        block_stride,
        row: tile.address.row(),
        accumulator,
        accumulate: tile.address.accumulates(),
        wide,
        zero,
        scaled,
        is_plain: !accumulator && !scaled && repeats == 0 && pixel_repeats == 1,
    });
}

fn store(job: &mut Job, dram: u64, tile: Tile, state: &Configured, sizes: &Sizes) {
    let pool = &state.store.pool;
    let (rows, cols) = (u32::from(tile.rows), u32::from(tile.cols).max(1));
    let accumulator = tile.address.is_accumulator();
    let full = accumulator && tile.address.is_full_width();
    let element = if full {
        sizes.acc_bytes
    } else {
        sizes.element_bytes
    };
    let pooled = pool.stride != 0;
    let blocks = cols.div_ceil(sizes.dim);
    job.class = Class::Store;
    job.a_is_dest = false;
    job.b = RowRange::default();
    job.a = if pooled {
        let bank_rows = sizes.acc_bank_rows;
        let bank_end = (tile.address.row() / bank_rows + 1) * bank_rows;
        RowRange::new(
            tile.address,
            bank_end.saturating_sub(tile.address.row()),
            sizes,
        )
    } else {
        RowRange::new(tile.address, (blocks - 1) * sizes.dim + rows, sizes)
    };
    let size = u32::from(pool.size.max(1));
    job.work = Work::Store(StoreJob {
        dram,
        stride: u64::from(state.store.stride),
        row: tile.address.row(),
        accumulator,
        rows: if pooled {
            (u32::from(pool.porows) * u32::from(pool.pocols)).max(1)
        } else if pool.size != 0 {
            (u32::from(pool.orows) * u32::from(pool.ocols)).max(1)
        } else {
            rows.max(1)
        },
        parts: if pooled { size * size } else { blocks },
        pooled,
        part_stride: if pooled { 0 } else { sizes.dim },
        bytes: cols * element,
        pocols: if pooled {
            u32::from(pool.pocols).max(1)
        } else {
            u32::MAX
        },
        out_dim: u32::from(pool.out_dim),
        windows: *pool,
        writes: !accumulator || tile.address.norm() == crate::address::NormCommand::Reset,
    });
}
