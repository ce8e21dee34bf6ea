//! Schedules of convolutions on the hardware's loop for them.

mod bound;
mod write;

use super::address::counted;
use super::{Machine, blocks_of};
use crate::lift::{Convolution, Lifted, Operand, Operation, Work};

pub(super) use bound::traffic;
pub(super) use write::write;

/// How a convolution is scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Tiling {
    /// Images, output rows and columns, output channels and input channels of a call.
    pub(super) sizes: [i64; 5],
    /// The outermost loop goes over output channels.
    pub(super) by_channels: bool,
}

/// Numbers that describe a schedule in a plan.
pub(super) const PARAMETERS: usize = 6;

impl Tiling {
    pub(super) fn parameters(&self) -> Vec<i64> {
        let mut parameters = self.sizes.to_vec();
        parameters.push(i64::from(self.by_channels));
        parameters
    }

    pub(super) fn of(parameters: &[i64]) -> Option<Self> {
        let [a, b, c, d, e, by_channels] = *parameters.first_chunk::<6>()?;
        Some(Self {
            sizes: [a, b, c, d, e],
            by_channels: by_channels != 0,
        })
    }
}

struct Parts {
    input: Operand,
    weights: Operand,
    sizes: Convolution,
}

fn parts(work: &Work) -> Option<Parts> {
    match work.operation {
        Operation::Convolution {
            input,
            weights,
            sizes,
        } => Some(Parts {
            input,
            weights,
            sizes,
        }),
        _ => None,
    }
}

/// Returns the input rows or columns that a call moves in for so many outputs, if the kernel
/// reaches over `window` of them.
fn reach(outputs: i64, stride: i64, window: i64) -> i64 {
    outputs * stride + window - 1
}

/// Returns the row and column of its image that the first sum begins in; they are negative
/// where that lies before the image.
fn start(input: &Operand, sizes: &Convolution) -> [i64; 2] {
    let line = input.pitch * sizes.in_columns;
    [
        input.offset / line % sizes.in_rows - sizes.padding[0],
        input.offset % line / input.pitch - sizes.padding[1],
    ]
}

/// Returns how many neighbouring pixels lie side by side in a row of the scratchpad, so
/// that one pass of the array takes as many taps: where all their channels fit, and
/// taps are neighbours in memory too.
fn side_by_side(parts: &Parts, depth: i64, machine: &Machine) -> i64 {
    let sizes = &parts.sizes;
    let all = [
        sizes.depth,
        sizes.tap_pitch,
        parts.input.pitch / machine.element,
    ];
    let fits = machine.repeats_pixels && !sizes.is_grouped && sizes.dilation == 1;
    if fits && all == [depth; 3] {
        (machine.dim / depth).clamp(1, sizes.kernel_columns)
    } else {
        1
    }
}

/// Returns whether a schedule fits the machine.
pub(super) fn is_possible(work: &Work, tiling: &Tiling, machine: &Machine) -> bool {
    let Some(Parts { sizes, input, .. }) = parts(work) else {
        return false;
    };
    let [_, rows, columns, channels, depth] = tiling.sizes;
    let whole = [
        sizes.batch,
        sizes.out_rows,
        sizes.out_columns,
        work.columns,
        sizes.depth,
    ];
    if tiling
        .sizes
        .iter()
        .zip(whole)
        .any(|(size, all)| !(1..=all).contains(size))
    {
        return false;
    }
    if sizes.is_grouped && (channels != machine.dim || depth != sizes.depth) {
        return false;
    }
    // Only the first block may begin before the image, and only the last one end behind it.
    let [start_row, start_column] = start(&input, &sizes);
    let [high, wide] = sizes.window();
    let is_inside = |all: i64, size: i64, window: i64, start: i64, end: i64| {
        let last = (blocks_of(all, size) - 1) * size;
        last == 0
            || 0 <= start + size * sizes.stride && start + reach(last, sizes.stride, window) <= end
    };
    if !is_inside(sizes.out_rows, rows, high, start_row, sizes.in_rows)
        || !is_inside(
            sizes.out_columns,
            columns,
            wide,
            start_column,
            sizes.in_columns,
        )
    {
        return false;
    }
    // Blocks of channels end where tiles do.
    let is_whole = |size: i64, all: i64| size == all || size % machine.dim == 0;
    is_whole(channels, work.columns)
        && is_whole(depth, sizes.depth)
        && fits(work, &sizes, tiling.sizes, machine)
        && [
            work.columns,
            sizes.in_channels,
            sizes.tap_pitch,
            sizes.in_rows,
            sizes.in_columns,
        ]
        .iter()
        .all(|size| *size < 1 << 16)
        && sizes.stride < 256
}

/// Returns whether a call of these sizes fits into half of the memories.
fn fits(work: &Work, sizes: &Convolution, call: [i64; 5], machine: &Machine) -> bool {
    let [images, rows, columns, channels, depth] = call;
    let tiles = |extent: i64| blocks_of(extent, machine.dim);
    let [high, wide] = sizes.window();
    let area = reach(rows, sizes.stride, high) * reach(columns, sizes.stride, wide);
    let input = tiles(depth) * images * area;
    let window = sizes.kernel_rows * sizes.kernel_columns;
    let weights = tiles(channels.min(work.columns)) * window * depth;
    tiles(channels) * images * rows * columns <= machine.accumulator_rows / 2
        && input + weights <= machine.scratchpad_rows / 2
}

/// Returns sizes of blocks that divide an extent evenly, or nearly so.
fn cuts(extent: i64, most: i64) -> Vec<i64> {
    let mut sizes: Vec<i64> = (1..=most.min(extent))
        .map(|count| blocks_of(extent, count))
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Returns all schedules of a convolution that are sensible.
pub(super) fn schedules(work: &Work, machine: &Machine) -> Vec<Tiling> {
    let Some(Parts { sizes, .. }) = parts(work) else {
        return Vec::new();
    };
    let dim = machine.dim;
    let in_tiles = |extent: i64| -> Vec<i64> {
        let mut sizes: Vec<i64> = cuts(blocks_of(extent, dim), 16)
            .into_iter()
            .map(|tiles| (tiles * dim).min(extent))
            .collect();
        sizes.dedup();
        sizes
    };
    let (channels, depths) = if sizes.is_grouped {
        (vec![dim], vec![sizes.depth])
    } else {
        (in_tiles(work.columns), in_tiles(sizes.depth))
    };
    let mut found = Vec::new();
    for images in cuts(sizes.batch, 8) {
        for rows in cuts(sizes.out_rows, 64) {
            for columns in cuts(sizes.out_columns, 8) {
                for channels in &channels {
                    for depth in &depths {
                        for by_channels in [false, true] {
                            let tiling = Tiling {
                                sizes: [images, rows, columns, *channels, *depth],
                                by_channels,
                            };
                            if is_possible(work, &tiling, machine) {
                                found.push(tiling);
                            }
                        }
                    }
                }
            }
        }
    }
    found
}

/// Returns the schedule in words.
pub(super) fn text(lifted: &Lifted, work: &Work, tiling: &Tiling) -> String {
    let Some(Parts {
        input,
        weights,
        sizes,
    }) = parts(work)
    else {
        return String::new();
    };
    let name = |operand: Operand| &lifted.memories[operand.array].name;
    let [images, rows, columns, channels, depth] = tiling.sizes;
    format!(
        "Convolve {} with {} by the hardware's convolution loop: {}, {rows}x{columns} pixels, {} and {} per call, {} outermost.",
        name(input),
        name(weights),
        counted(images, "image"),
        counted(channels, "output channel"),
        if sizes.is_grouped {
            "as many input channels of their own".to_owned()
        } else {
            counted(depth, "input channel")
        },
        if tiling.by_channels {
            "channels"
        } else {
            "pixels"
        },
    )
}
