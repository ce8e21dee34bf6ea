//! Recognises convolutions: which inputs the sums of neighbouring pixels share.

use super::contraction::length;
use super::recognize::{Recognizer, Segment};
use super::work::Convolution;

impl Recognizer<'_> {
    /// Returns the sizes of the convolution whose sums these are.
    ///
    /// `padded`: all sums, where zeros around images leave products out of some.
    pub(super) fn convolution(
        &self,
        signature: &[Segment],
        origins: &[i64],
        input: usize,
        is_grouped: bool,
        padded: Option<&[Vec<Segment>]>,
    ) -> Result<Convolution, String> {
        let refused = |why: &str| format!("its inputs are those of no convolution: {why}");
        let count = origins.len();
        let across = origins.get(1).map_or(0, |second| second - origins[0]);
        let [in_rows, in_columns, channels] = match *self.memories[input].extents.as_slice() {
            [_, rows, columns, channels] => [rows, columns, channels],
            _ => {
                return Err(refused(
                    "the input is not declared as images, rows, columns, channels",
                ));
            }
        };
        let line = in_columns * channels;
        let stride = if 0 < across { across / channels } else { 1 };
        if stride < 1 {
            return Err(refused("pixels that are not a stride apart"));
        }
        let mut columns = (1..count)
            .find(|at| origins[*at] - origins[*at - 1] != across)
            .unwrap_or(count);
        // With zeros around it, an image looks like one long row of pixels.
        let fitting = usize::try_from(in_columns / stride).unwrap_or(0);
        if padded.is_some()
            && in_columns % stride == 0
            && 0 < fitting
            && columns.is_multiple_of(fitting)
        {
            columns = fitting;
        }
        if !count.is_multiple_of(columns) {
            return Err(refused("rows of different lengths"));
        }
        let lines = count / columns;
        let down = if 1 < lines {
            origins[columns] - origins[0]
        } else {
            0
        };
        let rows = (1..lines)
            .find(|at| origins[at * columns] - origins[(at - 1) * columns] != down)
            .unwrap_or(lines);
        if !lines.is_multiple_of(rows) {
            return Err(refused("images of different heights"));
        }
        let batch = lines / rows;
        let image = if 1 < batch {
            origins[rows * columns] - origins[0]
        } else {
            0
        };
        let is_even = origins.iter().enumerate().all(|(at, origin)| {
            let (x, y, b) = (at % columns, at / columns % rows, at / columns / rows);
            *origin == origins[0] + x as i64 * across + y as i64 * down + b as i64 * image
        });
        if !is_even {
            return Err(refused("pixels that are not evenly apart"));
        }
        if 1 < columns && across != stride * channels
            || 1 < rows && down != stride * line
            || 1 < batch && image != in_rows * line
        {
            return Err(refused("pixels that are not a stride apart"));
        }
        // Positions of the kernel, each a stretch of at most all channels.
        let mut taps: Vec<Segment> = Vec::new();
        for (first, length, at) in signature {
            let mut done = 0;
            while done < *length {
                let piece = (length - done).min(channels);
                taps.push((first + done, piece, at + done));
                done += piece;
            }
        }
        let depth = taps[0].1;
        // Pixels from one tap to the next.
        let dilation = match taps.get(1).map_or(0, |tap| tap.2) {
            right if right < line => right / channels,
            below => below / line,
        }
        .max(1);
        let step = dilation * channels;
        let width = taps
            .iter()
            .take_while(|tap| tap.2 < line.min(taps.len() as i64 * step))
            .count();
        let kernel_columns = taps
            .iter()
            .take(width)
            .enumerate()
            .take_while(|(at, tap)| tap.2 == *at as i64 * step)
            .count();
        if kernel_columns == 0 || !taps.len().is_multiple_of(kernel_columns) {
            return Err(refused("a kernel that is no rectangle"));
        }
        // Images that lie a whole number of strides apart look like one tall image.
        let (mut rows, mut batch) = (rows as i64, batch as i64);
        let kernel_rows = (taps.len() / kernel_columns) as i64;
        let reach = |rows: i64| (rows - 1) * stride + (kernel_rows - 1) * dilation + 1;
        let fitting = in_rows / stride;
        if batch == 1
            && in_rows < reach(rows)
            && 0 < fitting
            && in_rows % stride == 0
            && rows % fitting == 0
        {
            (rows, batch) = (fitting, rows / fitting);
        }
        if in_rows < reach(rows) && padded.is_none() {
            return Err(refused("it reaches beyond an image"));
        }
        let tap_pitch = taps.get(1).map_or(depth, |tap| tap.0 - taps[0].0);
        let is_grid = taps.iter().enumerate().all(|(at, tap)| {
            let (x, y) = ((at % kernel_columns) as i64, (at / kernel_columns) as i64);
            *tap == (
                taps[0].0 + at as i64 * tap_pitch,
                depth,
                y * dilation * line + x * step,
            )
        });
        if !is_grid || tap_pitch < depth {
            return Err(refused("a kernel that is no rectangle"));
        }
        // How far before the first image its first sum begins.
        let before = (-origins[0]).max(0) / channels;
        let padding = match padded {
            Some(_) => [before / in_columns, before % in_columns],
            None => [0, 0],
        };
        let sizes = Convolution {
            batch,
            in_rows,
            in_columns,
            in_channels: channels,
            out_rows: rows,
            out_columns: columns as i64,
            kernel_rows,
            kernel_columns: kernel_columns as i64,
            stride,
            dilation,
            padding,
            depth,
            tap_pitch,
            is_grouped,
        };
        let has_zeros_around = |sums| is_surrounded_by_zeros(&sizes, taps[0].0, sums);
        if padded.is_some_and(|sums| !has_zeros_around(sums)) {
            return Err(refused("products are left out that lie in an image"));
        }
        Ok(sizes)
    }
}

/// Returns whether sums have exactly the products whose inputs lie in an image.
fn is_surrounded_by_zeros(sizes: &Convolution, first: i64, sums: &[Vec<Segment>]) -> bool {
    let [above, beside] = sizes.padding;
    sums.iter().enumerate().all(|(pixel, sum)| {
        let pixel = pixel as i64;
        let x = pixel % sizes.out_columns * sizes.stride - beside;
        let y = pixel / sizes.out_columns % sizes.out_rows * sizes.stride - above;
        let inside: Vec<i64> = (0..sizes.kernel_rows * sizes.kernel_columns)
            .filter(|tap| {
                let (u, v) = (tap / sizes.kernel_columns, tap % sizes.kernel_columns);
                (0..sizes.in_rows).contains(&(y + u * sizes.dilation))
                    && (0..sizes.in_columns).contains(&(x + v * sizes.dilation))
            })
            .map(|tap| first + tap * sizes.tap_pitch)
            .collect();
        let has = |from: &i64| {
            sum.iter()
                .any(|(start, rows, _)| *start <= *from && from + sizes.depth <= start + rows)
        };
        length(sum) == inside.len() as i64 * sizes.depth && inside.iter().all(has)
    })
}
