//! Recognises convolutions: which inputs the sums of neighbouring pixels share.

use super::contraction::length;
use super::recognize::{Recognizer, Segment};
use super::work::Convolution;
use crate::memory::Memory;

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
        let memory = &self.memories[input];
        if let [_, rows, columns, channels] = *memory.extents.as_slice() {
            let image = [rows, columns, channels];
            return image_convolution(signature, origins, image, is_grouped, padded);
        }
        let mut why = None;
        for image in images(signature, origins, memory, self.element, padded) {
            match image_convolution(signature, origins, image, is_grouped, padded) {
                Ok(sizes) => return Ok(sizes),
                Err(other) => {
                    why.get_or_insert(other);
                }
            }
        }
        Err(why.unwrap_or_else(|| {
            refused("the input is not declared as images, rows, columns, channels")
        }))
    }
}

fn refused(why: &str) -> String {
    format!("its inputs are those of no convolution: {why}")
}

/// Pixels from one result to the next that are tried at most.
const STRIDES: i64 = 8;
/// Sizes of images that are tried at most.
const IMAGES: usize = 64;

/// Returns the rows, columns and channels that images may have in an array that is not
/// declared as images.
fn images(
    signature: &[Segment],
    origins: &[i64],
    memory: &Memory,
    element: i64,
    padded: Option<&[Vec<Segment>]>,
) -> Vec<[i64; 3]> {
    let all = memory.bytes().map(|bytes| bytes / element);
    let ends = |sum: &[Segment], origin: i64| sum.iter().map(move |it| origin + it.2 + it.1).max();
    let end = match padded {
        Some(sums) => sums.iter().filter_map(|sum| ends(sum, 0)).max(),
        None => origins.iter().max().and_then(|last| ends(signature, *last)),
    };
    let end = end.unwrap_or(0);
    let mut found: Vec<[i64; 3]> = Vec::new();
    if let [rows, columns, channels] = *memory.extents.as_slice() {
        found.push([rows, columns, channels]);
    }
    let across = origins.get(1).map_or(0, |second| second - origins[0]);
    let steps = origins.windows(2).map(|pair| pair[1] - pair[0]);
    let row = 1 + steps.clone().take_while(|step| *step == across).count();
    let down = origins.get(row).map(|second| second - origins[0]);
    // The next image begins where lines are not evenly apart.
    let lines: Vec<i64> = origins.iter().copied().step_by(row).collect();
    let height = lines
        .windows(2)
        .position(|pair| Some(pair[1] - pair[0]) != down)
        .and_then(|at| lines.get(at + 1));
    let apart = height.map(|next| next - origins[0]);
    for stride in 1..=STRIDES {
        if across <= 0 || across % stride != 0 {
            continue;
        }
        let channels = across / stride;
        // Where the next line of a window begins, and where the next line of results does.
        let taps = signature.iter().map(|tap| Some(tap.2));
        let lines = taps.chain([down.filter(|down| down % stride == 0).map(|it| it / stride)]);
        for line in lines.flatten() {
            if line < 2 * channels || line % channels != 0 {
                continue;
            }
            let rows = [apart, all].into_iter().flatten();
            let rows = rows.filter(|size| size % line == 0).map(|size| size / line);
            let is_unknown = apart.is_none() && all.is_none();
            let fallback = is_unknown.then_some((end + line - 1) / line);
            for rows in rows.chain(fallback) {
                let image = [rows, line / channels, channels];
                if !found.contains(&image) {
                    found.push(image);
                }
            }
        }
    }
    found.truncate(IMAGES);
    found
}

/// Returns the sizes of the convolution over images of so many rows, columns and channels.
fn image_convolution(
    signature: &[Segment],
    origins: &[i64],
    [in_rows, in_columns, channels]: [i64; 3],
    is_grouped: bool,
    padded: Option<&[Vec<Segment>]>,
) -> Result<Convolution, String> {
    let count = origins.len();
    let across = origins.get(1).map_or(0, |second| second - origins[0]);
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
