//! The loop for convolutions.

use super::driver::instances::int8_16;
use super::driver::{Driver, noise};
use super::{A, B, C, D, bytes, clip, small};
use autocomp_gemmini::{GemminiConfig, LoopConvLayout};
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Conv {
    batches: usize,
    out: [usize; 2],
    kernel: usize,
    channels: [usize; 2],
    stride: usize,
    pad: usize,
    dilation: usize,
    bias: bool,
    relu: bool,
    wrot180: bool,
    pool: Option<(usize, usize)>,
    pixels: usize,
    downsample: bool,
}

fn conv() -> impl Strategy<Value = Conv> {
    let flag = any::<bool>;
    (
        (
            1usize..3,
            [1usize..8, 1usize..20],
            1usize..4,
            [1usize..40, 1usize..40],
        ),
        (1usize..3, 0usize..2, 1usize..3, flag(), flag(), flag()),
        (
            prop::option::weighted(0.3, (1usize..3, 1usize..4)),
            1usize..4,
        ),
    )
        .prop_map(
            |(
                (batches, out, kernel, channels),
                (stride, pad, dilation, bias, relu, wrot180),
                (pool, pixels),
            )| {
                let pad = pad.min(kernel - 1);
                let pixels = if channels[0] * pixels <= 16 && dilation == 1 && !wrot180 {
                    pixels.min(kernel)
                } else {
                    1
                };
                Conv {
                    batches,
                    out,
                    kernel,
                    channels,
                    stride,
                    pad,
                    dilation: if kernel == 1 { 1 } else { dilation },
                    bias,
                    relu,
                    wrot180,
                    pool: pool.filter(|(_, size)| out[0] >= *size && out[1] >= *size),
                    pixels,
                    downsample: stride == 2 && kernel == 1 && pad == 0,
                }
            },
        )
        .prop_filter("fits into one loop", |c| {
            let span = |out: usize| (out * c.stride + (c.kernel - 1) * c.dilation) + 2;
            let input = c.channels[0].div_ceil(16) * c.batches * span(c.out[0]) * span(c.out[1]);
            let weights = c.channels[1].div_ceil(16) * c.kernel * c.kernel * c.channels[0];
            let output = c.channels[1].div_ceil(16) * c.batches * c.out[0] * c.out[1];
            input + weights <= 8192 && output <= 512
        })
}

fn check_conv(case: &Conv, layout: LoopConvLayout) -> Result<(), TestCaseError> {
    let [ich, och] = case.channels;
    let [orows, ocols] = case.out;
    let reach = (case.kernel - 1) * case.dilation;
    // What the hardware calls the image: it counts stride * outputs, not the
    // last window.
    let image = |out: usize| out * case.stride + reach - 2 * case.pad;
    let (irows, icols) = (image(orows), image(ocols));
    // Old commands have one size for both directions.
    let (in_rows, in_cols) = if layout == LoopConvLayout::Square {
        (irows.max(icols), irows.max(icols))
    } else {
        (irows, icols)
    };
    let (out_rows, out_cols) = if layout == LoopConvLayout::Square {
        (orows.max(ocols), orows.max(ocols))
    } else {
        (orows, ocols)
    };
    let input = small(11, case.batches * in_rows * in_cols * ich);
    let weights = small(12, case.kernel * case.kernel * ich * och);
    let bias: Vec<i32> = noise(13, och)
        .iter()
        .map(|byte| i32::from(*byte) - 128)
        .collect();
    let mut driver = Driver::new(GemminiConfig {
        loop_conv_layout: layout,
        ..int8_16()
    });
    driver.write(A, &bytes(&input));
    driver.write(B, &bytes(&weights));
    driver.write(
        D,
        &bias
            .iter()
            .flat_map(|x| x.to_le_bytes())
            .collect::<Vec<_>>(),
    );
    let a_stride = if case.downsample {
        1
    } else {
        case.stride as u64
    };
    driver.run(
        0,
        u64::from(1.0f32.to_bits()) << 32 | a_stride << 16 | 4,
        1 << 48,
    );
    driver.config_st(och as u64, 1.0, u64::from(case.relu));

    let [batches, kernel, stride, pad, dilation] = [
        case.batches,
        case.kernel,
        case.stride,
        case.pad,
        case.dilation,
    ]
    .map(|x| x as u64);
    let (ich64, och64, orows64, ocols64) = (ich as u64, och as u64, orows as u64, ocols as u64);
    let (pool_stride, pool_size) = case.pool.unwrap_or((0, 0));
    let pooled = |out: usize| {
        case.pool
            .map_or(0, |(stride, size)| (out - size) / stride + 1)
    };
    let (prows, pcols) = (pooled(orows), pooled(ocols));
    let (prows64, pcols64, ps, pz) = (
        prows as u64,
        pcols as u64,
        pool_stride as u64,
        pool_size as u64,
    );
    let (ir, ic, or, oc) = (
        in_rows as u64,
        in_cols as u64,
        out_rows as u64,
        out_cols as u64,
    );
    let pool_out = prows64.max(pcols64);
    if layout == LoopConvLayout::Square {
        driver.run(
            16,
            och64 << 48 | ich64 << 32 | ir << 16 | batches,
            pad << 48 | stride << 32 | pool_out << 16 | or,
        );
        driver.run(
            17,
            kernel << 48 | pz << 32 | ps << 16,
            batches << 48 | prows64 << 32 | pcols64 << 16 | och64,
        );
        driver.run(
            18,
            kernel << 48 | kernel << 32 | ich64 << 16 | pad,
            pad << 48 | pad << 32 | pad << 16,
        );
        driver.run(19, orows64 << 48, dilation << 16 | ocols64);
    } else {
        driver.run(
            16,
            och64 << 48 | ich64 << 32 | ir << 16 | batches,
            pad << 56 | stride << 48 | oc << 32 | prows64 << 16 | or,
        );
        driver.run(
            17,
            kernel << 48 | pcols64 << 32 | pz << 16 | ps << 8,
            batches << 48 | prows64 << 32 | pcols64 << 16 | och64,
        );
        driver.run(
            18,
            kernel << 48 | kernel << 32 | ich64 << 16 | pad,
            pad << 48 | pad << 32 | pad << 24 | ic,
        );
        driver.run(
            19,
            orows64 << 48 | dilation,
            ich64 << 48 | och64 << 32 | och64 << 16 | ocols64,
        );
    }
    driver.run(20, B, C);
    driver.run(21, D, A);
    driver.run(
        15,
        (case.pixels as u64) << 8 | u64::from(case.wrot180) << 1 | u64::from(!case.bias),
        u64::from(case.relu) << 3
            | u64::from(case.downsample) << 1
            | u64::from(case.pool.is_none()),
    );
    driver.fence();

    let conv = |b: usize, row: usize, col: usize, o: usize| -> i8 {
        let mut sum = if case.bias { i64::from(bias[o]) } else { 0 };
        for kr in 0..case.kernel {
            for kc in 0..case.kernel {
                let y = (row * case.stride + kr * case.dilation) as i64 - case.pad as i64;
                let x = (col * case.stride + kc * case.dilation) as i64 - case.pad as i64;
                if y < 0 || x < 0 || y >= irows as i64 || x >= icols as i64 {
                    continue;
                }
                let (wr, wc) = if case.wrot180 {
                    (case.kernel - 1 - kr, case.kernel - 1 - kc)
                } else {
                    (kr, kc)
                };
                for i in 0..ich {
                    let pixel = (b * in_rows + y as usize) * in_cols + x as usize;
                    sum += i64::from(input[pixel * ich + i])
                        * i64::from(weights[((wr * case.kernel + wc) * ich + i) * och + o]);
                }
            }
        }
        clip(if case.relu { sum.max(0) } else { sum })
    };
    for b in 0..case.batches {
        let (rows, cols) = if case.pool.is_some() {
            (prows, pcols)
        } else {
            (orows, ocols)
        };
        for row in 0..rows {
            for col in 0..cols {
                for o in 0..och {
                    let (expected, place) = match case.pool {
                        None => (conv(b, row, col, o), (b * out_rows + row) * out_cols + col),
                        Some((stride, size)) => {
                            let window = (0..size * size)
                                .map(|w| {
                                    conv(b, row * stride + w / size, col * stride + w % size, o)
                                })
                                .max();
                            let (plane_rows, plane_cols) = if layout == LoopConvLayout::Square {
                                (pool_out as usize, pool_out as usize)
                            } else {
                                (prows, pcols)
                            };
                            (window.unwrap(), (b * plane_rows + row) * plane_cols + col)
                        }
                    };
                    let found = driver.read(C + (place * och + o) as u64, 1)[0] as i8;
                    prop_assert_eq!(
                        found,
                        expected,
                        "batch {} pixel ({}, {}) channel {}",
                        b,
                        row,
                        col,
                        o
                    );
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_convolution_loop_convolves(case in conv()) {
        check_conv(&case, LoopConvLayout::Rectangular)?;
    }

    #[test]
    fn the_convolution_loop_of_older_netlists_convolves(case in conv()) {
        check_conv(&case, LoopConvLayout::Square)?;
    }
}

#[test]
fn a_convolution_may_lie_in_the_padding_alone() {
    let case = Conv {
        batches: 1,
        out: [1, 1],
        kernel: 2,
        channels: [3, 5],
        stride: 1,
        pad: 1,
        dilation: 1,
        bias: true,
        relu: false,
        wrot180: false,
        pool: None,
        pixels: 1,
        downsample: false,
    };
    check_conv(&case, LoopConvLayout::Rectangular).unwrap();
}
