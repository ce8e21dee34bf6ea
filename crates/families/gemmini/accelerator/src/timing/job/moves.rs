//! Moves between memory and the local memories.

use super::{Class, Job, RowRange, Sizes, Work};
use crate::address::{LocalAddress, NormCommand, Tile};
use crate::configuration::Configured;
use crate::isa::PoolFields;

/// A move in.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::timing) struct LoadJob {
    pub(in crate::timing) dram: u64,
    pub(in crate::timing) stride: u64,
    /// Rows requested from memory (1 if one row is repeated).
    pub(in crate::timing) rows: u32,
    /// Useful bytes of a row.
    pub(in crate::timing) row_bytes: u32,
    /// Bytes of one local row.
    pub(in crate::timing) block_bytes: u32,
    /// Times a row is written again below itself.
    pub(in crate::timing) repeats: u32,
    pub(in crate::timing) pixel_repeats: u32,
    pub(in crate::timing) block_stride: u32,
    pub(in crate::timing) row: u32,
    pub(in crate::timing) accumulator: bool,
    pub(in crate::timing) accumulate: bool,
    /// Elements have accumulator width in memory.
    pub(in crate::timing) wide: bool,
    pub(in crate::timing) zero: bool,
    pub(in crate::timing) scaled: bool,
    /// Rows go to the scratchpad once each and as they are.
    pub(in crate::timing) is_plain: bool,
}

/// A move out.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::timing) struct StoreJob {
    pub(in crate::timing) dram: u64,
    pub(in crate::timing) stride: u64,
    pub(in crate::timing) row: u32,
    pub(in crate::timing) accumulator: bool,
    /// Rows, or output pixels if pooled.
    pub(in crate::timing) rows: u32,
    /// Reads per packet: blocks of columns, or pixels of a pooling window.
    pub(in crate::timing) parts: u32,
    pub(in crate::timing) pooled: bool,
    /// Local rows from part to part.
    pub(in crate::timing) part_stride: u32,
    /// Bytes of one packet.
    pub(in crate::timing) bytes: u32,
    /// Output pixels per row of the result; addresses then advance by
    /// `out_dim` pixels from row to row.
    pub(in crate::timing) pocols: u32,
    pub(in crate::timing) out_dim: u32,
    /// Windows and the image that they lie on, if pooled.
    pub(in crate::timing) windows: PoolFields,
    /// Whether anything is written to memory.
    pub(in crate::timing) writes: bool,
}

impl LoadJob {
    /// Returns the address of the first byte of a row in memory.
    #[inline]
    pub(in crate::timing) fn address(&self, row: u32) -> u64 {
        let offset = self.stride.wrapping_mul(u64::from(row));
        self.dram.wrapping_add(offset)
    }
}

impl StoreJob {
    /// Returns where a row, or an output pixel if pooled, goes to in memory.
    #[inline]
    pub(in crate::timing) fn address(&self, row: u32) -> u64 {
        let pixel = if self.pooled {
            u64::from(row / self.pocols) * u64::from(self.out_dim) + u64::from(row % self.pocols)
        } else {
            u64::from(row)
        };
        self.dram.wrapping_add(self.stride.wrapping_mul(pixel))
    }

    /// Returns whether pixel `part` of the window of output pixel `row` lies in the
    /// padding around the image: nothing is read for it.
    pub(in crate::timing) fn is_padding(&self, row: u32, part: u32) -> bool {
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

pub(super) fn load(
    job: &mut Job,
    channel: u8,
    dram: u64,
    tile: Tile,
    state: &Configured,
    sizes: &Sizes,
) {
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

pub(super) fn store(job: &mut Job, dram: u64, tile: Tile, state: &Configured, sizes: &Sizes) {
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
        writes: !accumulator || tile.address.norm() == NormCommand::Reset,
    });
}
