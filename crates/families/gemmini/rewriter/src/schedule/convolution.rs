//! Schedules of convolutions on the hardware's loop for them.

use super::address::{Blocks, Code, Part, address, counted, only_if};
use super::{Machine, Traffic, blocks_of};
use crate::lift::{Bias, Convolution, Lifted, Operand, Operation, Work};

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

/// Returns what a schedule moves and computes.
pub(super) fn traffic(work: &Work, tiling: &Tiling, machine: &Machine) -> Option<Traffic> {
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

/// Writes the schedule as C.
pub(super) fn write(
    lifted: &Lifted,
    work: &Work,
    tiling: &Tiling,
    machine: &Machine,
    code: &mut Code,
) -> Option<()> {
    let parts = parts(work)?;
    let Parts {
        input,
        weights,
        sizes,
    } = parts;
    let pixels = side_by_side(&parts, tiling.sizes[4], machine);
    let e = machine.element;
    let of = |variable, extent, size, tile| Blocks {
        variable,
        extent,
        size,
        tile,
    };
    let [images, rows, columns, channels, depth] = tiling.sizes;
    let image = of("b", sizes.batch, images, 1);
    let row = of("y", sizes.out_rows, rows, 1);
    let column = of("x", sizes.out_columns, columns, 1);
    let channel = of("o", work.columns, channels, 1);
    let slice = of("c", sizes.depth, depth, 1);
    if tiling.by_channels {
        code.open(&[channel, image, row, column, slice]);
    } else {
        code.open(&[image, row, column, channel, slice]);
    }
    // Rows and columns that a call takes beyond the input's end, beside what it needs.
    let pixel = input.pitch;
    let line = pixel * sizes.in_columns;
    // Zeros above and left of an image are no part of it: only first blocks have some.
    let [above, beside] = sizes.padding;
    let [start_row, start_column] = start(&input, &sizes);
    let beyond =
        |outputs: i64, kernel: i64, end: i64| (reach(outputs, sizes.stride, kernel) - end).max(0);
    let [high, wide] = sizes.window();
    let below = beyond(sizes.out_rows, high, sizes.in_rows - start_row);
    let right = beyond(sizes.out_columns, wide, sizes.in_columns - start_column);
    let (below, right) = (row.in_last(below), column.in_last(right));
    let (up, left) = (row.in_first(above), column.in_first(beside));
    let mut named = |name: &str, value: String| {
        if value.contains('?') {
            code.line(&format!("int {name} = {value};"));
            name.to_owned()
        } else {
            value
        }
    };
    let images = named("images", image.tiles());
    let rows = named("rows", row.tiles());
    let columns = named("columns", column.tiles());
    let channels = named("channels", channel.tiles());
    let depth = named("depth", slice.tiles());
    let below = named("below", below);
    let right = named("right", right);
    let up = named("above", up);
    let left = named("left", left);
    let (s, inside) = (
        sizes.stride,
        if sizes.is_grouped { &channel } else { &slice },
    );
    let from = address(
        lifted,
        input,
        &[
            (image.at(), sizes.in_rows * line),
            first_input(&row, s, above, &up, line),
            first_input(&column, s, beside, &left, pixel),
            (inside.at(), e),
        ],
    );
    let taps = address(
        lifted,
        weights,
        &[
            (inside.at(), weights.pitch),
            (
                if sizes.is_grouped {
                    "0".to_owned()
                } else {
                    channel.at()
                },
                e,
            ),
        ],
    );
    let out_line = work.output.pitch * sizes.out_columns;
    let output = only_if(
        &[slice.is_last()],
        address(
            lifted,
            work.output,
            &[
                (image.at(), out_line * sizes.out_rows),
                (row.at(), out_line),
                (column.at(), work.output.pitch),
                (channel.at(), e),
            ],
        ),
    );
    // Without a bias the sums begin with zeros, for which any address stands.
    let (bias, no_bias) = match work.bias {
        Some(Bias {
            operand, is_narrow, ..
        }) if operand.pitch == 0 && !is_narrow => (
            only_if(
                &[slice.is_first()],
                address(lifted, operand, &[(channel.at(), 4)]),
            ),
            0,
        ),
        None => (
            only_if(
                &[slice.is_first()],
                format!(
                    "&{}{}",
                    lifted.memories[input.array].name,
                    "[0]".repeat(lifted.memories[input.array].extents.len())
                ),
            ),
            1,
        ),
        Some(_) => return None,
    };
    let (h, w, p, q) = (
        sizes.in_rows,
        sizes.in_columns,
        sizes.out_rows,
        sizes.out_columns,
    );
    let (batch, n) = (sizes.batch, work.columns);
    let (kernel_rows, kernel_columns) = (sizes.kernel_rows, sizes.kernel_columns);
    let relu = if work.store.is_relu {
        "RELU"
    } else {
        "NO_ACTIVATION"
    };
    code.line("gemmini_loop_conv_ws(");
    code.line(&format!(
        "    {batch}, {h}, {w}, {}, {n}, {p}, {q}, {p}, {q},  // whole arrays",
        sizes.tap_pitch
    ));
    code.line(&format!(
        "    {s}, {above}, {kernel_columns}, {}, 1, 1, 0,  // stride, padding, kernel, dilation, pool",
        sizes.dilation
    ));
    code.line(&format!(
        "    {images}, {rows}, {columns}, {channels}, {kernel_rows}, {kernel_columns}, {depth},  // this call"
    ));
    code.line(&format!(
        "    {left}, {right}, {up}, {below}, 0, 0, 0, 0, {rows}, {columns},  // padding; rows, columns"
    ));
    code.line(&format!("    {taps}, {output},"));
    code.line(&format!("    {bias}, {from},"));
    code.line(&format!(
        "    {no_bias}, 1, 0, 0, 0, {relu}, 0, 0, 0, 0, {pixels}, {}, {}, {}, 0, 0, 0);",
        pixel / e,
        weights.pitch / e,
        work.output.pitch / e
    ));
    code.close();
    Some(())
}

/// Returns where a block's input begins, as a part of its address: `padding` pixels before
/// that of its first output, without those of them that lie before the image.
fn first_input(block: &Blocks<'_>, stride: i64, padding: i64, outside: &str, bytes: i64) -> Part {
    if padding == 0 || block.count() == 1 {
        return (block.at(), stride * bytes);
    }
    let times = match stride {
        1 => String::new(),
        _ => format!(" * {stride}"),
    };
    (
        format!("{}{times} - {padding} + {outside}", block.at()),
        bytes,
    )
}
