//! Recognises convolutions: which inputs the sums of neighbouring pixels share.

use super::work::{Convolution, Recognizer, Segment};

impl Recognizer<'_> {
    /// Returns the sizes of the convolution whose sums these are.
    pub(super) fn convolution(
        &self,
        signature: &[Segment],
        origins: &[i64],
        input: usize,
        is_grouped: bool,
    ) -> Result<Convolution, String> {
        let refused = |why: &str| format!("its inputs are those of no convolution: {why}");
        let count = origins.len();
        let across = origins.get(1).map_or(0, |second| second - origins[0]);
        let columns = (1..count)
            .find(|at| origins[*at] - origins[*at - 1] != across)
            .unwrap_or(count);
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
        if stride < 1
            || 1 < columns && across != stride * channels
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
        let width = taps
            .iter()
            .take_while(|tap| tap.2 < line.min(taps.len() as i64 * channels))
            .count();
        let kernel_columns = taps
            .iter()
            .take(width)
            .enumerate()
            .take_while(|(at, tap)| tap.2 == *at as i64 * channels)
            .count();
        if kernel_columns == 0 || !taps.len().is_multiple_of(kernel_columns) {
            return Err(refused("a kernel that is no rectangle"));
        }
        // Images that lie a whole number of strides apart look like one tall image.
        let (mut rows, mut batch) = (rows as i64, batch as i64);
        let reach = |rows: i64| (rows - 1) * stride + (taps.len() / kernel_columns) as i64;
        let fitting = in_rows / stride;
        if batch == 1
            && in_rows < reach(rows)
            && 0 < fitting
            && in_rows % stride == 0
            && rows % fitting == 0
        {
            (rows, batch) = (fitting, rows / fitting);
        }
        if in_rows < reach(rows) {
            return Err(refused("it reaches beyond an image"));
        }
        let tap_pitch = taps.get(1).map_or(depth, |tap| tap.0 - taps[0].0);
        let is_grid = taps.iter().enumerate().all(|(at, tap)| {
            let (x, y) = ((at % kernel_columns) as i64, (at / kernel_columns) as i64);
            *tap == (
                taps[0].0 + at as i64 * tap_pitch,
                depth,
                y * line + x * channels,
            )
        });
        if !is_grid || tap_pitch < depth {
            return Err(refused("a kernel that is no rectangle"));
        }
        Ok(Convolution {
            batch,
            in_rows,
            in_columns,
            in_channels: channels,
            out_rows: rows,
            out_columns: columns as i64,
            kernel_rows: (taps.len() / kernel_columns) as i64,
            kernel_columns: kernel_columns as i64,
            stride,
            depth,
            tap_pitch,
            is_grouped,
        })
    }
}
