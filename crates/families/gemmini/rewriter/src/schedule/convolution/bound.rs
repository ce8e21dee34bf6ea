//! How long a schedule of a convolution takes at least, about.

use super::{Tiling, parts, reach, side_by_side};
use crate::lift::Work;
use crate::schedule::{Machine, Traffic, blocks_of};

/// Returns what a schedule moves and computes.
pub(in crate::schedule) fn traffic(
    work: &Work,
    tiling: &Tiling,
    machine: &Machine,
) -> Option<Traffic> {
    let parts = parts(work)?;
    let sizes = parts.sizes;
    let [.., channels, depth] = tiling.sizes;
    let dim = machine.dim;
    let e = machine.element as f64;
    let neighbours = side_by_side(&parts, depth, machine);
    let taps = sizes.kernel_rows * blocks_of(sizes.kernel_columns, neighbours);
    let window = sizes.kernel_rows * sizes.kernel_columns;
    let outputs = blocks_of(work.columns, channels);
    let slices = blocks_of(sizes.depth, depth);
    let passes = blocks_of(work.columns, dim) * taps * blocks_of(sizes.depth, dim);
    let weights = (window * depth * channels) as f64 * e;
    // Moves of fewer channels than a line take a row of the port all the same.
    let narrow = (machine.line as f64 / (depth as f64 * e)).clamp(1.0, 4.0);
    let groups = if sizes.is_grouped { 1.0 } else { slices as f64 };
    let [images, rows, columns, ..] = tiling.sizes;
    let places = blocks_of(sizes.batch, images)
        * blocks_of(sizes.out_rows, rows)
        * blocks_of(sizes.out_columns, columns);
    // Behind the last, short, tile of a block the next weights are waited for.
    let wait = dim - 1 - (columns - 1) % dim;
    let streamed = sizes.batch * sizes.out_rows * sizes.out_columns + places * wait;
    let [high, wide] = sizes.window();
    let area = reach(rows, sizes.stride, high) * reach(columns, sizes.stride, wide);
    let input = (images * area * depth) as f64 * e;
    let calls = (places * outputs) as f64 * groups;
    Some(Traffic {
        mesh: (passes * streamed) as f64,
        bytes_in: calls * (input * narrow.sqrt() + weights),
        distinct_in: (sizes.batch * sizes.in_rows * sizes.in_columns * sizes.in_channels) as f64
            * e
            + (window * sizes.depth * work.columns) as f64 * e,
        bytes_out: (work.rows * work.columns) as f64 * e,
        first: input + weights / window as f64,
        last: (images * rows * columns * channels) as f64 * e,
        calls: calls * CALL,
    })
}

/// Cycles between one call and the next.
const CALL: f64 = 12.0;
