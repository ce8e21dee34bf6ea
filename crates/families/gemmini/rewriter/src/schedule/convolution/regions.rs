//! Parts of a convolution's results that calls of their own sizes compute.
//!
//! One size for all calls leaves two things to gain. The first call waits for everything
//! that it takes: a small one waits for less, and the next ones come in behind it. And the
//! columns behind the last whole tile make the array wait for the next weights in each
//! call: with blocks of their own, of more rows or images, there are fewer such calls.

use super::{Parts, Tiling, fits, reach, start};
use crate::lift::Work;
use crate::schedule::{Machine, blocks_of};

/// A part of the first block that is computed before the rest of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::schedule) struct Lead {
    /// Its images, if a block has several, else its output rows.
    pub(super) extent: i64,
    /// Output channels of a call. Input channels begin with one tile; each call takes as
    /// many as all before it together.
    pub(super) channels: i64,
}

/// Blocks of the last output columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::schedule) struct Edge {
    /// How many columns, in one block.
    pub(super) columns: i64,
    /// Images and output rows of a call.
    pub(super) images: i64,
    pub(super) rows: i64,
}

/// Images, output rows and output columns that calls of the same sizes compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) from: [i64; 3],
    pub(super) extent: [i64; 3],
    /// As [`Tiling::sizes`].
    pub(super) sizes: [i64; 5],
    /// Along which dimension, and how many, of the first block are there already.
    pub(super) done: Option<(usize, i64)>,
    /// Each call takes as many input channels as all before it.
    pub(super) doubles: bool,
}

impl Tiling {
    /// Returns the dimension along which a lead is cut from the first block.
    pub(super) fn lead_along(&self) -> usize {
        usize::from(self.sizes[0] == 1)
    }

    /// Returns the parts in the order in which they are computed.
    pub(super) fn regions(&self, parts: &Parts, machine: &Machine) -> Vec<Region> {
        let sizes = &parts.sizes;
        let edge = self.edge.map_or(0, |edge| edge.columns);
        let whole = [sizes.batch, sizes.out_rows, sizes.out_columns - edge];
        let mut found = Vec::new();
        let along = self.lead_along();
        if let Some(lead) = self.lead {
            let mut extent = [self.sizes[0], self.sizes[1], self.sizes[2]];
            extent[along] = lead.extent;
            let [images, rows, columns] = extent;
            found.push(Region {
                from: [0; 3],
                extent,
                sizes: [
                    images,
                    rows,
                    columns,
                    lead.channels,
                    sizes.depth.min(machine.dim),
                ],
                done: None,
                doubles: true,
            });
        }
        found.push(Region {
            from: [0; 3],
            extent: whole,
            sizes: self.sizes,
            done: self.lead.map(|lead| (along, lead.extent)),
            doubles: false,
        });
        if let Some(edge) = self.edge {
            let [.., channels, depth] = self.sizes;
            found.push(Region {
                from: [0, 0, whole[2]],
                extent: [sizes.batch, sizes.out_rows, edge.columns],
                sizes: [edge.images, edge.rows, edge.columns, channels, depth],
                done: None,
                doubles: false,
            });
        }
        found
    }
}

/// Returns how many input channels calls take that each take as many as all before.
pub(super) fn doubled(depth: i64, first: i64) -> Vec<i64> {
    let mut sizes = vec![first.min(depth)];
    let mut taken = sizes[0];
    while taken < depth {
        let size = taken.min(depth - taken);
        sizes.push(size);
        taken += size;
    }
    sizes
}

/// Returns whether a region's calls fit the machine, and read nothing outside of images but
/// the zeros around them.
pub(super) fn is_possible(work: &Work, parts: &Parts, region: &Region, machine: &Machine) -> bool {
    let sizes = &parts.sizes;
    let mut call = region.sizes;
    if region.doubles {
        call[4] = doubled(sizes.depth, call[4])
            .into_iter()
            .max()
            .unwrap_or(call[4]);
    }
    if region
        .extent
        .iter()
        .zip(call)
        .any(|(all, size)| !(1..=*all).contains(&size))
    {
        return false;
    }
    // Only the first block may begin before the image, and only the last one end behind it.
    let starts = start(&parts.input, sizes);
    let windows = sizes.window();
    let ends = [sizes.in_rows, sizes.in_columns];
    let whole = [sizes.out_rows, sizes.out_columns];
    (0..2).all(|at| {
        let (from, extent, size) = (region.from[at + 1], region.extent[at + 1], call[at + 1]);
        let last = from + (blocks_of(extent, size) - 1) * size;
        // The first output that does not begin a row or column of blocks, and the one behind
        // the last block that does not end one.
        let second = match region.done {
            _ if 0 < from => Some(from),
            Some((along, count)) if along == at + 1 => Some(count),
            _ => (from < last).then_some(from + size),
        };
        let before_last = if from + extent < whole[at] {
            from + extent
        } else {
            last
        };
        second.is_none_or(|second| 0 <= starts[at] + second * sizes.stride)
            && (before_last == 0
                || starts[at] + reach(before_last, sizes.stride, windows[at]) <= ends[at])
    }) && fits(work, sizes, call, machine)
}
