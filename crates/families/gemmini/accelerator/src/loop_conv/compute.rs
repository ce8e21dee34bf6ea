//! Products of the convolution loop: which weights meet which pixels.

use super::{ConvLoop, Image, steps, tile_of};
use crate::address::LocalAddress;
use crate::isa::{Activation, ConfigEx, Dataflow, Instruction};

impl ConvLoop {
    /// Emits the products; `skip` is told of each position of the output that
    /// has none, because its pixels of a dilated input are zeros.
    pub(super) fn expand_compute<E>(
        &self,
        emit: &mut impl FnMut(Instruction) -> Result<(), E>,
        skip: &mut impl FnMut(),
    ) -> Result<(), E> {
        let p = &self.parameters;
        let dim = i64::from(self.dim);
        let image = self.image();
        if self.run.trans_input_3120 {
            emit(Instruction::ConfigEx(ConfigEx {
                dataflow: Dataflow::WeightStationary,
                activation: Activation::None,
                strides_only: true,
                a_transpose: false,
                b_transpose: false,
                a_stride: (image.rows * image.cols) as u16,
                c_stride: (i64::from(p.orows) * i64::from(p.ocols)) as u16,
                acc_scale: 1.0,
                in_shift: 0,
            }))?;
        }
        let max_pixels = i64::from(self.run.max_pixels_per_row);
        for och in steps(0, p.pochs.into(), dim) {
            for krow in 0..i64::from(p.krows) {
                for kcol in steps(0, p.kcols.into(), max_pixels) {
                    for kch in steps(0, p.kchs.into(), dim) {
                        let pixels = max_pixels.min(i64::from(p.kcols) - kcol);
                        self.expand_window(image, och, krow, kcol, kch, pixels, emit, skip)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// All outputs of one block of weights.
    #[expect(
        clippy::too_many_arguments,
        reason = "the indices of the surrounding loops"
    )]
    fn expand_window<E>(
        &self,
        image: Image,
        och: i64,
        krow: i64,
        kcol: i64,
        kch: i64,
        pixels: i64,
        emit: &mut impl FnMut(Instruction) -> Result<(), E>,
        skip: &mut impl FnMut(),
    ) -> Result<(), E> {
        let p = &self.parameters;
        let dim = i64::from(self.dim);
        let swapped = self.run.trans_input_3120;
        let dilated = self.run.input_dilated;
        let (batches, ocols): (i64, i64) = (p.batches.into(), p.ocols.into());
        let (stride, dilation): (i64, i64) = (p.stride.into(), p.kernel_dilation.into());
        let (rows, cols) = (self.downsampled(image.rows), self.downsampled(image.cols));
        let (mirror_row, mirror_col) = if self.run.wrot180 {
            (i64::from(p.krows) - krow - 1, i64::from(p.kcols) - kcol - 1)
        } else {
            (krow, kcol)
        };
        let weights = LocalAddress::scratchpad(self.weight_row(mirror_row, mirror_col, kch, och));
        let width = dim.min(i64::from(p.pochs) - och);
        let inner = pixels * dim.min(i64::from(p.kchs) - kch);
        let step = if swapped {
            1
        } else {
            dim << u32::from(dilated)
        };
        let mut first = true;
        for batch in steps(0, batches, if swapped { dim } else { 1 }) {
            for orow in 0..i64::from(p.orows) {
                // Between the pixels of a dilated input there are only zeros.
                let empty =
                    dilated && (krow * dilation + orow * stride - i64::from(p.upad)) % 2 != 0;
                let mut ocol = 0;
                while ocol < ocols {
                    if empty
                        || dilated && (kcol * dilation + ocol * stride - i64::from(p.lpad)) % 2 != 0
                    {
                        skip();
                        ocol += 1;
                        continue;
                    }
                    let (mut irow, mut icol) = (
                        orow * stride + krow * dilation,
                        ocol * stride + kcol * dilation,
                    );
                    let mut count = (ocols - ocol).min(dim << u32::from(dilated));
                    if dilated {
                        (irow, icol, count) = ((irow + 1) / 2, (icol + 1) / 2, (count + 1) / 2);
                    }
                    if swapped {
                        count = dim.min(batches - batch);
                    }
                    let (across, along, planes) = if swapped {
                        (batch, kch, i64::from(p.kchs))
                    } else {
                        (kch, batch, batches)
                    };
                    let plane = across / dim * planes + along;
                    let local =
                        (plane * rows + self.downsampled(irow)) * cols + self.downsampled(icol);
                    let result = LocalAddress::accumulator(
                        self.output_row(self.c_row, batch, orow, ocol, och),
                        true,
                        false,
                    );
                    emit(Instruction::Preload {
                        stationary: tile_of(
                            if first { weights } else { LocalAddress::none() },
                            width,
                            inner,
                        ),
                        dest: tile_of(result, width, count),
                    })?;
                    emit(Instruction::Compute {
                        preloaded: first,
                        a: tile_of(
                            LocalAddress::scratchpad(self.a_row + local as u32),
                            inner,
                            count,
                        ),
                        bd: tile_of(LocalAddress::none(), width, count),
                    })?;
                    first = false;
                    ocol += step;
                }
            }
        }
        Ok(())
    }
}
