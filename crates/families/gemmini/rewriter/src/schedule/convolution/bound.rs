//! How long a schedule of a convolution takes at least, about.

use super::regions::{Region, doubled};
use super::{Parts, Tiling, parts, reach, side_by_side};
use crate::lift::Work;
use crate::schedule::{LINE_BYTES, Machine, Traffic, blocks_of};
use std::collections::BTreeSet;

/// Returns what a schedule moves and computes.
pub(in crate::schedule) fn traffic(
    work: &Work,
    tiling: &Tiling,
    machine: &Machine,
) -> Option<Traffic> {
    let parts = parts(work)?;
    let sizes = parts.sizes;
    let e = machine.element as f64;
    let window = sizes.kernel_rows * sizes.kernel_columns;
    let regions = tiling.regions(&parts, machine);
    let all = regions
        .iter()
        .map(|region| of_region(work, &parts, region, machine));
    let sum = all.fold(Traffic::default(), |sum, one| Traffic {
        mesh: sum.mesh + one.mesh,
        bytes_in: sum.bytes_in + one.bytes_in,
        calls: sum.calls + one.calls,
        // Of the last one.
        last: one.last,
        ..sum
    });
    let whole = Traffic {
        distinct_in: (sizes.batch * sizes.in_rows * sizes.in_columns * sizes.in_channels) as f64
            * e
            + (window * sizes.depth * work.columns) as f64 * e,
        bytes_out: (work.rows * work.columns) as f64 * e,
        ..sum
    };
    let behind = match whole.is_cached(machine) {
        true => f64::MAX,
        false => machine.behind,
    };
    let first = machine.behind * waits_at_first(work, &parts, &regions, behind, machine);
    Some(Traffic { first, ..whole })
}

/// Returns what the calls of one region move and compute.
fn of_region(work: &Work, parts: &Parts, region: &Region, machine: &Machine) -> Traffic {
    let sizes = parts.sizes;
    let [images, rows, columns, channels, depth] = region.sizes;
    let dim = machine.dim;
    let e = machine.element as f64;
    let outputs = blocks_of(work.columns, channels);
    let slices = if region.doubles {
        doubled(sizes.depth, depth).len() as i64
    } else {
        blocks_of(sizes.depth, depth)
    };
    let depth = if region.doubles {
        sizes.depth / slices
    } else {
        depth
    };
    let groups = if sizes.is_grouped { 1.0 } else { slices as f64 };
    let window = sizes.kernel_rows * sizes.kernel_columns;
    let weights = (window * depth * channels) as f64 * e;
    // Moves of fewer channels than a line take a row of the port all the same.
    let narrow = (machine.line as f64 / (depth as f64 * e)).clamp(1.0, 4.0);
    let blocks = |at: usize, size: i64| blocks_of(region.extent[at], size);
    let places = blocks(0, images) * blocks(1, rows) * blocks(2, columns);
    let [high, wide] = sizes.window();
    let area = reach(rows, sizes.stride, high) * reach(columns, sizes.stride, wide);
    let input = (images * area * depth) as f64 * e;
    let calls = (places * outputs) as f64 * groups;
    let mut pixels: i64 = region.extent.iter().product();
    if let Some((along, count)) = region.done {
        pixels -= [images, rows, columns].iter().product::<i64>() / region.sizes[along] * count;
    }
    Traffic {
        mesh: (passes(work, parts, region, machine) * (pixels + places * wait(columns, dim)))
            as f64,
        bytes_in: calls * (input * narrow.sqrt() + weights),
        last: (images * rows * columns * channels) as f64 * e,
        calls: calls * machine.ranking.call_cycles,
        ..Traffic::default()
    }
}

/// Returns the cycles in which the next weights are waited for behind the last, short, tile
/// of a block.
fn wait(columns: i64, dim: i64) -> i64 {
    dim - 1 - (columns - 1) % dim
}

/// Returns how many tiles of weights meet each pixel.
fn passes(work: &Work, parts: &Parts, region: &Region, machine: &Machine) -> i64 {
    let sizes = &parts.sizes;
    let taps = sizes.kernel_rows
        * blocks_of(
            sizes.kernel_columns,
            side_by_side(parts, region.sizes[4], machine),
        );
    blocks_of(work.columns, machine.dim) * taps * blocks_of(sizes.depth, machine.dim)
}

/// Calls of a region behind the first whose operands may come too late.
const LATE: usize = 2;

/// Returns the cycles in which the array waits for operands until those of the first block are
/// there: the first call's, and what of the next ones' does not come in while the call before
/// computes. `bytes` a cycle come from where operands lie.
fn waits_at_first(
    work: &Work,
    parts: &Parts,
    regions: &[Region],
    bytes: f64,
    machine: &Machine,
) -> f64 {
    let sizes = &parts.sizes;
    let (dim, e) = (machine.dim, machine.element);
    let line = LINE_BYTES as i64;
    let [high, wide] = sizes.window();
    let window = sizes.kernel_rows * sizes.kernel_columns;
    let mut seen = BTreeSet::new();
    let mut hidden = 0.0;
    let mut waited = 0.0;
    for (place, region) in regions.iter().enumerate().take(2) {
        let [mut images, mut rows, columns, channels, depth] = region.sizes;
        if let Some((along, count)) = region.done {
            *[&mut images, &mut rows][along] -= count;
        }
        let area = images * reach(rows, sizes.stride, high) * reach(columns, sizes.stride, wide);
        let slices = if region.doubles {
            doubled(sizes.depth, depth)
        } else {
            vec![depth; blocks_of(sizes.depth, depth) as usize]
        };
        let blocks = blocks_of(work.columns, channels);
        let calls = (0..blocks).flat_map(|block| {
            let mut from = 0;
            slices.iter().map(move |size| {
                let slice = (from, (from + size).min(sizes.depth));
                from += size;
                (block, slice)
            })
        });
        let most = if region.doubles { usize::MAX } else { 1 + LATE };
        for (block, (from, to)) in calls.take(most) {
            // Lines of the pixels, and of the rows of weights, that no call took before.
            let mut fresh = |what: usize, at: i64, from: i64, to: i64| {
                let lines = from * e / line..=(to * e - 1) / line;
                lines
                    .filter(|it| seen.insert((place, what, at, *it)))
                    .count() as i64
            };
            let group = if sizes.is_grouped { block } else { 0 };
            let new = fresh(0, group, from, to);
            let of_pixel = if parts.input.pitch < line {
                new.min(1) * parts.input.pitch
            } else {
                new * line
            };
            let column = block * channels;
            let of_weights: i64 = (from..to)
                .step_by(dim as usize)
                .map(|at| {
                    let rows = dim.min(to - at);
                    // Weights are the same in all regions.
                    let lines = (column * e / line)
                        ..=(((column + channels).min(work.columns) * e - 1) / line);
                    rows * lines
                        .filter(|it| seen.insert((usize::MAX, 1, at / dim, *it)))
                        .count() as i64
                })
                .sum();
            let behind = (area * of_pixel + window * of_weights * line) as f64 / bytes;
            let moved = (area * (to - from) + window * (to - from) * channels) * e;
            let load = behind.max(moved as f64 / machine.ranking.port_bytes_per_cycle);
            waited += (load - hidden).max(0.0);
            let tiles = blocks_of(to - from, dim) * blocks_of(channels, dim);
            let taps = window * tiles;
            hidden = (taps * (images * rows * columns + wait(columns, dim))) as f64;
        }
    }
    waited
}
