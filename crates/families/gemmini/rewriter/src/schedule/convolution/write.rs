//! Writes schedules of convolutions as C.

use super::{Parts, Tiling, parts, reach, side_by_side, start};
use crate::lift::{Bias, Lifted, Work};
use crate::schedule::Machine;
use crate::schedule::address::{Blocks, Code, Part, address, only_if};

/// Writes the schedule as C.
pub(in crate::schedule) fn write(
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
