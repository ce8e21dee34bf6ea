//! Schedules of convolutions on the hardware's loop for them.

mod bound;
mod candidates;
mod regions;
mod write;

use super::address::counted;
use super::{Machine, blocks_of};
use crate::lift::{Convolution, Lifted, Operand, Operation, Work};

pub(super) use bound::traffic;
pub(super) use candidates::schedules;
use regions::{Edge, Lead};
pub(super) use write::write;

/// How a convolution is scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Tiling {
    /// Images, output rows and columns, output channels and input channels of a call.
    pub(super) sizes: [i64; 5],
    /// The outermost loop goes over output channels.
    pub(super) by_channels: bool,
    /// What of the first block comes first.
    lead: Option<Lead>,
    /// Blocks of the last columns, if they have sizes of their own.
    edge: Option<Edge>,
}

/// What the last of the numbers that every schedule has adds up from.
const BY_CHANNELS: i64 = 1;
/// A lead's two numbers follow.
const LEAD: i64 = 2;
/// An edge's three numbers follow.
const EDGE: i64 = 4;

impl Tiling {
    /// Returns the numbers that describe a schedule in a plan.
    pub(super) fn parameters(&self) -> Vec<i64> {
        let mut parameters = self.sizes.to_vec();
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        parameters.push(
            flag(self.by_channels, BY_CHANNELS)
                + flag(self.lead.is_some(), LEAD)
                + flag(self.edge.is_some(), EDGE),
        );
        if let Some(Lead { extent, channels }) = self.lead {
            parameters.extend([extent, channels]);
        }
        if let Some(Edge {
            columns,
            images,
            rows,
        }) = self.edge
        {
            parameters.extend([columns, images, rows]);
        }
        parameters
    }

    /// Takes a schedule off the front of `parameters`.
    pub(super) fn take(parameters: &mut &[i64]) -> Option<Self> {
        let sizes = *parameters.split_off(..5)?.first_chunk()?;
        let flags = *parameters.split_off_first()?;
        if !(0..BY_CHANNELS + LEAD + EDGE + 1).contains(&flags) {
            return None;
        }
        let mut lead = None;
        if flags & LEAD != 0 {
            let [extent, channels] = *parameters.split_off(..2)?.first_chunk()?;
            lead = Some(Lead { extent, channels });
        }
        let mut edge = None;
        if flags & EDGE != 0 {
            let [columns, images, rows] = *parameters.split_off(..3)?.first_chunk()?;
            edge = Some(Edge {
                columns,
                images,
                rows,
            });
        }
        Some(Self {
            sizes,
            by_channels: flags & BY_CHANNELS != 0,
            lead,
            edge,
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
    let Some(parts) = parts(work) else {
        return false;
    };
    let sizes = &parts.sizes;
    let [images, rows, _, channels, depth] = tiling.sizes;
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
    if let Some(lead) = tiling.lead {
        let all = [images, rows][tiling.lead_along()];
        let is_channels = if sizes.is_grouped {
            lead.channels == channels
        } else {
            lead.channels == work.columns
                || lead.channels % machine.dim == 0 && (1..work.columns).contains(&lead.channels)
        };
        if tiling.by_channels || !is_channels || !(1..all).contains(&lead.extent) {
            return false;
        }
    }
    if tiling
        .edge
        .is_some_and(|edge| !(1..sizes.out_columns).contains(&edge.columns))
    {
        return false;
    }
    // Blocks of channels end where tiles do.
    let is_whole = |size: i64, all: i64| size == all || size % machine.dim == 0;
    is_whole(channels, work.columns)
        && is_whole(depth, sizes.depth)
        && tiling
            .regions(&parts, machine)
            .iter()
            .all(|region| regions::is_possible(work, &parts, region, machine))
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
    let mut text = format!(
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
    );
    if let Some(lead) = tiling.lead {
        let noun = ["image", "row"][tiling.lead_along()];
        text.push_str(&format!(
            " {} of the first block {}, {} per call and input channels from one tile on, so that less is waited for.",
            counted(lead.extent, noun),
            if lead.extent == 1 { "comes first" } else { "come first" },
            counted(lead.channels, "output channel"),
        ));
    }
    if let Some(edge) = tiling.edge {
        text.push_str(&format!(
            " The last {} by themselves, {} and {} per call.",
            counted(edge.columns, "column"),
            counted(edge.images, "image"),
            counted(edge.rows, "row"),
        ));
    }
    text
}
