//! The convolution loop: where its tiles lie and which commands it stands for.

mod compute;
mod moves;

use crate::address::{LocalAddress, Tile};
use crate::config::GemminiConfig;
use crate::isa::Instruction;
use crate::loop_isa::{ConvParameters, ConvRun};
use crate::loop_ws::{half_of, tile};

/// One run of the convolution loop with its place in local memory.
///
/// Source: Gemmini `LoopConv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConvLoop {
    /// Fields of the starting command.
    pub run: ConvRun,
    /// What the configuration commands have set.
    pub parameters: ConvParameters,
    /// First scratchpad row of the input.
    pub a_row: u32,
    /// First scratchpad row of the weights.
    pub b_row: u32,
    /// First accumulator row of output and bias.
    pub c_row: u32,
    /// Rows and columns of a tile.
    pub dim: u32,
}

impl ConvLoop {
    /// Places a loop: `slot` 0 or 1 alternates from loop to loop,
    /// `acc_half` (0 or 1) names the half of the accumulator.
    #[must_use]
    pub fn place(
        config: &GemminiConfig,
        run: ConvRun,
        parameters: ConvParameters,
        slot: u32,
        acc_half: u32,
    ) -> Self {
        let half = config.spad_rows() / 2;
        let p = &parameters;
        let window = u64::from(p.krows) * u64::from(p.kcols);
        let b_rows = if run.trans_weight_0132 {
            u64::from(u32::from(p.kchs).div_ceil(config.dim)) * window * u64::from(p.pochs)
        } else {
            u64::from(u32::from(p.pochs).div_ceil(config.dim)) * window * u64::from(p.kchs)
        };
        Self {
            run,
            parameters,
            a_row: half_of(run.a_spad_id, slot) * half,
            b_row: ((half_of(run.b_spad_id, slot) + 1) * half)
                .saturating_sub(u32::try_from(b_rows).unwrap_or(u32::MAX)),
            c_row: acc_half * config.acc_rows() / 2,
            dim: config.dim,
        }
    }

    /// Returns the sizes of the part of the image that the loop works on.
    #[must_use]
    pub fn image(&self) -> Image {
        let p = &self.parameters;
        let wide = |outputs: u16, kernel: u16| {
            let (kernel, dilation) = (i64::from(kernel), i64::from(p.kernel_dilation));
            let dilated = kernel + (dilation - 1) * (kernel - 1);
            i64::from(outputs) * i64::from(p.stride) + dilated - 1
        };
        let (mut rows, mut cols) = (wide(p.orows, p.krows), wide(p.ocols, p.kcols));
        let mut inner_rows = rows - i64::from(p.upad) - i64::from(p.dpad);
        let mut inner_cols = cols - i64::from(p.lpad) - i64::from(p.rpad);
        if self.run.input_dilated {
            inner_rows = (inner_rows + 1) / 2;
            inner_cols = (inner_cols + 1) / 2;
            rows = inner_rows + self.undilated(p.upad) + self.undilated(p.dpad);
            cols = inner_cols + self.undilated(p.lpad) + self.undilated(p.rpad);
        }
        Image {
            rows,
            cols,
            inner_rows,
            inner_cols,
        }
    }

    /// Halves a size if there are zeros between input pixels.
    fn undilated(&self, size: u16) -> i64 {
        if self.run.input_dilated {
            (i64::from(size) + 1) / 2
        } else {
            size.into()
        }
    }

    /// Halves a size if every second input pixel is used.
    fn downsampled(&self, size: i64) -> i64 {
        size >> u32::from(self.run.downsample)
    }

    fn in_stride(&self) -> i64 {
        self.parameters
            .in_stride
            .unwrap_or(self.parameters.in_channels)
            .into()
    }

    fn weight_stride(&self) -> i64 {
        self.parameters
            .weight_stride
            .unwrap_or(self.parameters.out_channels)
            .into()
    }

    fn out_stride(&self) -> i64 {
        self.parameters
            .out_stride
            .unwrap_or(self.parameters.out_channels)
            .into()
    }

    /// Returns the local rows of input, weights and output.
    fn local_rows(&self) -> [i64; 3] {
        let p = &self.parameters;
        let dim = i64::from(self.dim);
        let image = self.image();
        let pixels = self.downsampled(image.rows) * self.downsampled(image.cols);
        let blocks = |channels: u16| (i64::from(channels) + dim - 1) / dim;
        let input = if self.run.trans_input_3120 {
            blocks(p.batches) * i64::from(p.kchs)
        } else {
            blocks(p.kchs) * i64::from(p.batches)
        };
        let window = i64::from(p.krows) * i64::from(p.kcols);
        let weights = if self.run.trans_weight_0132 {
            blocks(p.kchs) * window * i64::from(p.pochs)
        } else {
            blocks(p.pochs) * window * i64::from(p.kchs)
        };
        let output =
            blocks(p.pochs) * i64::from(p.batches) * i64::from(p.orows) * i64::from(p.ocols);
        [input.saturating_mul(pixels), weights, output]
    }

    /// Checks that everything is there and fits.
    ///
    /// # Errors
    /// Rule and message of what is not.
    pub fn check(&self, config: &GemminiConfig) -> Result<(), (&'static str, String)> {
        let (p, run, features) = (&self.parameters, &self.run, &config.features);
        let needs = [
            (features.loop_conv, true, "a convolution loop"),
            (features.dw_convs, run.dw, "depthwise convolutions"),
            (
                features.training_convs,
                run.wrot180
                    || run.trans_output_1203
                    || run.trans_weight_1203
                    || run.trans_weight_0132
                    || run.trans_input_3120
                    || run.input_dilated,
                "transposed, rotated or dilated convolutions",
            ),
            (
                features.first_layer,
                run.max_pixels_per_row > 1,
                "several pixels in a row",
            ),
            (features.max_pool, !run.no_pool, "pooling"),
        ];
        for (built, used, what) in needs {
            if used && !built {
                return Err((
                    "loop-conv-unsupported",
                    format!("this accelerator has no {what}"),
                ));
            }
        }
        for (name, value) in [
            ("batches", p.batches),
            ("output rows", p.orows),
            ("output columns", p.ocols),
            ("output channels", p.pochs),
            ("kernel rows", p.krows),
            ("kernel columns", p.kcols),
            ("input channels", p.kchs),
            ("stride", p.stride),
            ("pixels per row", run.max_pixels_per_row.into()),
        ] {
            if value == 0 {
                return Err((
                    "loop-conv-size",
                    format!("{name} is 0; it must be at least 1"),
                ));
            }
        }
        if p.kernel_dilation == 0 && (p.krows > 1 || p.kcols > 1) {
            return Err((
                "loop-conv-size",
                "kernel dilation is 0; it must be at least 1".into(),
            ));
        }
        if !run.no_pool {
            for (name, value, limit) in [
                ("pool stride", p.pool_stride, 3),
                ("pool size", p.pool_size, 3),
                ("pool padding above", p.pupad, 3),
                ("pool padding left", p.plpad, 3),
                ("columns of the pooled output", p.pool_out_col_dim, 255),
                ("pooled rows", p.porows, 255),
                ("pooled columns", p.pocols, 255),
                ("output rows", p.orows, 255),
                ("output columns", p.ocols, 255),
            ] {
                if value > limit {
                    return Err((
                        "loop-conv-pool",
                        format!("{name} is {value}; the store path has {limit} at most"),
                    ));
                }
            }
        }
        let image = self.image();
        // A tile may lie in the padding alone.
        if image.inner_rows < 0 || image.inner_cols < 0 {
            return Err((
                "loop-conv-padding",
                format!(
                    "padding takes more than there is: it leaves {} x {} pixels of the input",
                    image.inner_rows, image.inner_cols
                ),
            ));
        }
        let [input, weights, output] = self.local_rows();
        let half = i64::from(config.acc_rows() / 2);
        if output > half {
            return Err((
                "loop-conv-accumulator",
                format!("the output takes {output} accumulator rows; a loop has {half}"),
            ));
        }
        let half = i64::from(config.spad_rows() / 2);
        let in_half = |row: u32| i64::from(row) / half;
        let same = in_half(self.a_row) == in_half(self.b_row);
        if input > half || weights > half || (same && input + weights > half) {
            return Err((
                "loop-conv-scratchpad",
                format!(
                    "input takes {input} and weights {weights} scratchpad rows; half of the scratchpad has {half}"
                ),
            ));
        }
        let block_strides = [
            p.batches as i64 * i64::from(p.orows) * i64::from(p.ocols),
            input,
            weights,
        ];
        if block_strides
            .iter()
            .any(|stride| *stride > i64::from(u16::MAX))
        {
            return Err((
                "loop-conv-size",
                "a block stride does not fit 16 bits".into(),
            ));
        }
        Ok(())
    }

    /// Hands the commands that the loop stands for to `emit`, phase by phase.
    /// [`check`](Self::check) must have passed.
    ///
    /// The loop unit interleaves the phases; the results are the same.
    ///
    /// # Errors
    /// The first error of `emit`.
    pub fn expand<E>(
        &self,
        config: &GemminiConfig,
        emit: &mut impl FnMut(Instruction) -> Result<(), E>,
    ) -> Result<(), E> {
        let p = &self.parameters;
        if p.bias != 0 {
            self.expand_bias(config, emit)?;
        }
        if p.input != 0 {
            self.expand_input(config, emit)?;
        }
        if p.weights != 0 {
            self.expand_weights(config, emit)?;
        }
        self.expand_compute(emit, &mut || {})?;
        if p.output == 0 {
            Ok(())
        } else if self.run.no_pool {
            self.expand_stores(config, emit)
        } else {
            self.expand_pooled_stores(config, emit)
        }
    }

    /// Returns what each generator of the loop unit does: bias, input, weights,
    /// compute, stores. [`check`](Self::check) must have passed.
    pub(crate) fn phases(&self, config: &GemminiConfig) -> [Phase; 5] {
        let p = &self.parameters;
        let mut phases: [Phase; 5] = Default::default();
        let [bias, input, weights, compute, stores] = &mut phases;
        let into = |phase: &mut Phase, instruction| -> Result<(), std::convert::Infallible> {
            phase.commands.push(instruction);
            Ok(())
        };
        let skipped = std::cell::Cell::new(0);
        let done = [
            (p.bias != 0).then(|| self.expand_bias(config, &mut |i| into(bias, i))),
            (p.input != 0).then(|| self.expand_input(config, &mut |i| into(input, i))),
            (p.weights != 0).then(|| self.expand_weights(config, &mut |i| into(weights, i))),
            Some(self.expand_compute(
                &mut |i| {
                    compute.pauses.push(PASS * skipped.take());
                    into(compute, i)
                },
                &mut || skipped.set(skipped.get() + 1),
            )),
            (p.output != 0).then(|| {
                if self.run.no_pool {
                    self.expand_stores(config, &mut |i| into(stores, i))
                } else {
                    self.expand_pooled_stores(config, &mut |i| into(stores, i))
                }
            }),
        ];
        for result in done.into_iter().flatten() {
            match result {
                Ok(()) => {}
                Err(never) => match never {},
            }
        }
        phases[3].last_pause = PASS * skipped.get();
        for (phase, address) in phases
            .iter_mut()
            .zip([p.bias, p.input, p.weights, 1, p.output])
        {
            if address == 0 {
                phase.last_pause = UNUSED;
            }
        }
        phases
    }

    /// Returns the accumulator row of a pixel of output channel `och`.
    fn output_row(&self, base: u32, batch: i64, row: i64, col: i64, och: i64) -> u32 {
        let p = &self.parameters;
        let (rows, cols) = (i64::from(p.orows), i64::from(p.ocols));
        let image = och / i64::from(self.dim) * i64::from(p.batches) + batch;
        base + (image * rows * cols + row * cols + col) as u32
    }

    /// Returns the scratchpad row of a block of weights.
    fn weight_row(&self, krow: i64, kcol: i64, kch: i64, och: i64) -> u32 {
        let p = &self.parameters;
        let (across, along, pitch) = if self.run.trans_weight_0132 {
            (kch, och, i64::from(p.pochs))
        } else {
            (och, kch, i64::from(p.kchs))
        };
        let window = across / i64::from(self.dim) * i64::from(p.krows) + krow;
        self.b_row + ((window * i64::from(p.kcols) + kcol) * pitch + along) as u32
    }
}

/// Cycles in which the compute generator passes a position without a product:
/// one in each of its two states (RTL: `LoopConvExecute`).
const PASS: u32 = 2;
/// Cycles until a generator whose operand lies at address 0 is idle again (RTL:
/// `LoopConvLdBias` and the others go through their first state).
const UNUSED: u32 = 1;

/// What one generator of the loop unit does.
#[derive(Clone, Debug, Default)]
pub(crate) struct Phase {
    /// Its commands in order.
    pub(crate) commands: Vec<Instruction>,
    /// Cycles that it takes to find each of them, if it may look before they are due.
    pub(crate) pauses: Vec<u32>,
    /// Cycles behind the last command.
    pub(crate) last_pause: u32,
}

impl Phase {
    /// Returns how many cycles pass before command `next` can be made, or until
    /// the generator is idle behind the last one.
    pub(crate) fn pause(&self, next: usize) -> u32 {
        if next < self.commands.len() {
            self.pauses.get(next).copied().unwrap_or(0)
        } else {
            self.last_pause
        }
    }
}

/// Sizes of the input of one loop, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// Rows with padding.
    pub rows: i64,
    /// Columns with padding.
    pub cols: i64,
    /// Rows without padding.
    pub inner_rows: i64,
    /// Columns without padding.
    pub inner_cols: i64,
}

fn steps(first: i64, end: i64, step: i64) -> impl Iterator<Item = i64> {
    (first..end).step_by(step as usize)
}

fn tile_of(address: LocalAddress, cols: i64, rows: i64) -> Tile {
    tile(address, cols as u32, rows as u32)
}
