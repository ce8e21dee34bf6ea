//! Writes schedules of convolutions as C.

use super::regions::{Region, doubled};
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
    for region in tiling.regions(&parts, machine) {
        calls(lifted, work, &parts, tiling, &region, machine, code)?;
    }
    Some(())
}

/// Images, rows or columns of a region in blocks.
struct Axis<'name> {
    blocks: Blocks<'name>,
    /// How many there are in the whole operation.
    whole: i64,
    /// How many of the block are there already, as C.
    done: Option<String>,
}

impl Axis<'_> {
    /// Returns the first one of a call.
    fn at(&self) -> String {
        match (&self.done, self.blocks.at()) {
            (None, at) => at,
            (Some(done), at) if at == "0" => done.clone(),
            (Some(done), at) => format!("{at} + {done}"),
        }
    }

    /// Returns how many a call takes.
    fn size(&self) -> String {
        let size = self.blocks.tiles();
        match &self.done {
            None => size,
            Some(done) => match (size.parse::<i64>(), done.parse::<i64>()) {
                (Ok(size), Ok(done)) => (size - done).to_string(),
                (Ok(size), Err(_)) => format!("{size} - {done}"),
                _ => format!("({size}) - {done}"),
            },
        }
    }

    /// Returns the zeros of a call before the first one, of which the whole operation has
    /// `count`.
    fn before(&self, count: i64) -> String {
        if count == 0 || 0 < self.blocks.from {
            return "0".to_owned();
        }
        match &self.done {
            None => self.blocks.in_first(count),
            Some(done) if done.parse::<i64>().is_ok() => "0".to_owned(),
            Some(done) => {
                let first = self.blocks.is_first();
                let first = first.map_or_else(String::new, |it| format!("{it} && "));
                format!("{first}{done} == 0 ? {count} : 0")
            }
        }
    }

    /// Returns what a call takes behind the last one, of which the whole operation has
    /// `count`.
    fn behind(&self, count: i64) -> String {
        if self.blocks.from + self.blocks.extent < self.whole {
            "0".to_owned()
        } else {
            self.blocks.in_last(count)
        }
    }

    /// Returns where a call's input begins, as a part of its address: `padding` pixels
    /// before that of its first output, without the `outside` ones that lie before the
    /// image.
    fn first_input(&self, stride: i64, padding: i64, outside: &str, bytes: i64) -> Part {
        let at = self.at();
        if padding == 0 || at == "0" {
            return (at, stride * bytes);
        }
        if let Ok(at) = at.parse::<i64>() {
            return ((at * stride - padding).to_string(), bytes);
        }
        let mut text = match stride {
            1 => at,
            _ if at.contains(' ') => format!("({at}) * {stride}"),
            _ => format!("{at} * {stride}"),
        };
        text.push_str(&format!(" - {padding}"));
        if outside != "0" {
            text.push_str(&format!(" + {outside}"));
        }
        (text, bytes)
    }
}

/// Writes the calls of one region.
fn calls(
    lifted: &Lifted,
    work: &Work,
    parts: &Parts,
    tiling: &Tiling,
    region: &Region,
    machine: &Machine,
    code: &mut Code,
) -> Option<()> {
    let Parts {
        input,
        weights,
        sizes,
    } = parts;
    let pixels = side_by_side(parts, region.sizes[4], machine);
    let e = machine.element;
    let [images, rows, columns, channels, depth] = region.sizes;
    let whole = [sizes.batch, sizes.out_rows, sizes.out_columns];
    let names = ["b", "y", "x"];
    let mut axes = [0, 1, 2].map(|at| Axis {
        blocks: Blocks {
            variable: names[at],
            from: region.from[at],
            extent: region.extent[at],
            size: [images, rows, columns][at],
            tile: 1,
        },
        whole: whole[at],
        done: None,
    });
    let of = |variable, extent, size| Blocks {
        variable,
        from: 0,
        extent,
        size,
        tile: 1,
    };
    let channel = of("o", work.columns, channels);
    let slice = Slice {
        blocks: of("c", sizes.depth, depth),
        doubles: region.doubles && depth < sizes.depth,
    };
    let places = axes.each_ref().map(|axis| axis.blocks);
    if tiling.by_channels {
        code.open(&[channel]);
        code.open(&places);
    } else {
        code.open(&places);
        if let Some((along, count)) = region.done {
            axes[along].done = Some(done(&places, count, code));
        }
        code.open(&[channel]);
    }
    slice.open(code);
    let [image, row, column] = axes;
    // Rows and columns that a call takes beyond the input's end, beside what it needs.
    let pixel = input.pitch;
    let line = pixel * sizes.in_columns;
    // Zeros above and left of an image are no part of it: only first blocks have some.
    let [above, beside] = sizes.padding;
    let [start_row, start_column] = start(input, sizes);
    let beyond =
        |outputs: i64, kernel: i64, end: i64| (reach(outputs, sizes.stride, kernel) - end).max(0);
    let [high, wide] = sizes.window();
    let below = row.behind(beyond(sizes.out_rows, high, sizes.in_rows - start_row));
    let right = column.behind(beyond(
        sizes.out_columns,
        wide,
        sizes.in_columns - start_column,
    ));
    let (up, left) = (row.before(above), column.before(beside));
    let mut named = |name: &str, value: String| {
        if value.contains(' ') {
            code.line(&format!("int {name} = {value};"));
            name.to_owned()
        } else {
            value
        }
    };
    let images = named("images", image.size());
    let rows = named("rows", row.size());
    let columns = named("columns", column.size());
    let channels = named("channels", channel.tiles());
    let depth = named("depth", slice.size());
    let below = named("below", below);
    let right = named("right", right);
    let up = named("above", up);
    let left = named("left", left);
    let s = sizes.stride;
    let inside = if sizes.is_grouped {
        channel.at()
    } else {
        slice.blocks.at()
    };
    let from = address(
        lifted,
        *input,
        &[
            (image.at(), sizes.in_rows * line),
            row.first_input(s, above, &up, line),
            column.first_input(s, beside, &left, pixel),
            (inside.clone(), e),
        ],
    );
    let taps = address(
        lifted,
        *weights,
        &[
            (inside, weights.pitch),
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

/// Writes how many of a block are there already: those of the first one.
fn done(places: &[Blocks<'_>; 3], count: i64, code: &mut Code) -> String {
    let first: Vec<String> = places.iter().filter_map(Blocks::is_first).collect();
    if first.is_empty() {
        return count.to_string();
    }
    code.line(&format!("int done = {} ? {count} : 0;", first.join(" && ")));
    "done".to_owned()
}

/// Input channels of a region in slices.
struct Slice<'name> {
    blocks: Blocks<'name>,
    /// Each takes as many as all before it.
    doubles: bool,
}

impl Slice<'_> {
    fn open(&self, code: &mut Code) {
        let Blocks {
            variable: name,
            extent,
            size,
            ..
        } = self.blocks;
        if self.doubles {
            code.line(&format!(
                "for (int {name} = 0; {name} < {extent}; {name} = {name} == 0 ? {size} : 2 * {name}) {{"
            ));
        } else {
            code.open(&[self.blocks]);
        }
    }

    /// Returns the input channels of a call.
    fn size(&self) -> String {
        let Blocks {
            variable: name,
            extent,
            size,
            ..
        } = self.blocks;
        if !self.doubles {
            return self.blocks.tiles();
        }
        let last = doubled(extent, size).last().copied();
        if last.is_some_and(|last| 2 * last == extent) {
            format!("{name} == 0 ? {size} : {name}")
        } else {
            format!("{name} == 0 ? {size} : 2 * {name} < {extent} ? {name} : {extent} - {name}")
        }
    }

    fn is_first(&self) -> Option<String> {
        self.blocks.is_first()
    }

    /// Returns a condition that holds in the last slice; nothing if always.
    fn is_last(&self) -> Option<String> {
        let Blocks {
            variable: name,
            extent,
            size,
            ..
        } = self.blocks;
        if self.doubles {
            let last = extent - doubled(extent, size).last()?;
            Some(format!("{name} == {last}"))
        } else {
            self.blocks.is_last()
        }
    }
}
