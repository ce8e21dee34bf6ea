//! The hardware loops against the mathematics they stand for.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod driver;

use autocomp_gemmini::{GemminiConfig, LoopConvLayout};
use driver::instances::int8_16;
use driver::{BASE, Driver, noise};
use proptest::prelude::*;

const A: u64 = BASE + 0x1_0000;
const B: u64 = BASE + 0x3_0000;
const D: u64 = BASE + 0x5_0000;
const C: u64 = BASE + 0x7_0000;

fn small(seed: u64, len: usize) -> Vec<i8> {
    noise(seed, len)
        .into_iter()
        .map(|byte| (byte % 7) as i8 - 3)
        .collect()
}

fn bytes(values: &[i8]) -> Vec<u8> {
    values.iter().map(|value| *value as u8).collect()
}

fn clip(value: i64) -> i8 {
    value.clamp(-128, 127) as i8
}

#[derive(Clone, Debug)]
struct Matmul {
    tiles: [usize; 3],
    pads: [usize; 3],
    a_transpose: bool,
    b_transpose: bool,
    bias: bool,
    full_c: bool,
    extra: usize,
}

fn matmul() -> impl Strategy<Value = Matmul> {
    let tiles = [1usize..5, 1usize..5, 1usize..5];
    let flag = any::<bool>;
    (
        tiles,
        [0usize..16, 0usize..16, 0usize..16],
        0u8..3,
        flag(),
        flag(),
        0usize..5,
    )
        .prop_map(|(tiles, pads, transposed, bias, full_c, extra)| Matmul {
            tiles,
            pads,
            a_transpose: transposed == 1,
            b_transpose: transposed == 2,
            bias,
            full_c,
            extra,
        })
}

/// Runs a loop (two of them along K if `split`) and compares with the product.
fn check_matmul(case: &Matmul, split: bool) -> Result<(), TestCaseError> {
    let dim = 16;
    let size = |at: usize| case.tiles[at] * dim - case.pads[at];
    let (rows, cols, inner) = (size(0), size(1), size(2));
    let total = if split {
        inner + case.tiles[2] * dim
    } else {
        inner
    };
    let (a_cols, b_cols) = (
        if case.a_transpose { rows } else { total } + case.extra,
        if case.b_transpose { total } else { cols } + case.extra,
    );
    let a = small(1, 40_000);
    let b = small(2, 40_000);
    let d: Vec<i32> = noise(3, 4096)
        .iter()
        .map(|byte| i32::from(*byte) - 128)
        .collect();
    let mut driver = Driver::new(int8_16());
    driver.write(A, &bytes(&a));
    driver.write(B, &bytes(&b));
    driver.write(
        D,
        &d.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>(),
    );
    driver.config_ex(true, case.a_transpose, case.b_transpose);
    driver.config_ld(0, a_cols as u64, false);
    driver.config_ld(1, b_cols as u64, false);
    driver.config_ld(2, 64 * 4, false);
    let c_width = if case.full_c { 4 } else { 1 };
    driver.config_st(80 * c_width, 1.0, 0);

    let steps = case.tiles[2] * dim;
    let runs: Vec<(usize, [usize; 3], bool, bool)> = if split {
        vec![
            (0, [case.pads[0], case.pads[1], 0], true, false),
            (steps, case.pads, false, true),
        ]
    } else {
        vec![(0, case.pads, true, true)]
    };
    for (k, pads, first, last) in runs {
        let pack = |x: [usize; 3]| (x[2] as u64) << 32 | (x[1] as u64) << 16 | x[0] as u64;
        let at_a = A + (if case.a_transpose { k * a_cols } else { k }) as u64;
        let at_b = B + (if case.b_transpose { k } else { k * b_cols }) as u64;
        driver.run(9, pack(pads), pack(case.tiles));
        driver.run(10, at_a, at_b);
        driver.run(
            11,
            if case.bias && first { D } else { 0 },
            if last { C } else { 0 },
        );
        driver.run(12, a_cols as u64, b_cols as u64);
        driver.run(13, 64, 80);
        let accumulate = u64::from(!first || case.bias);
        driver.run(
            8,
            accumulate | u64::from(case.full_c) << 1,
            u64::from(case.a_transpose) | u64::from(case.b_transpose) << 1,
        );
    }
    driver.fence();
    for i in 0..rows {
        for j in 0..cols {
            let mut sum = if case.bias {
                i64::from(d[i * 64 + j])
            } else {
                0
            };
            for k in 0..total {
                let x = if case.a_transpose {
                    a[k * a_cols + i]
                } else {
                    a[i * a_cols + k]
                };
                let y = if case.b_transpose {
                    b[j * b_cols + k]
                } else {
                    b[k * b_cols + j]
                };
                sum += i64::from(x) * i64::from(y);
            }
            if case.full_c {
                let at = C + ((i * 80 + j) * 4) as u64;
                let found = i32::from_le_bytes(driver.read(at, 4).try_into().unwrap());
                prop_assert_eq!(i64::from(found), sum, "C[{}][{}]", i, j);
            } else {
                let found = driver.read(C + (i * 80 + j) as u64, 1)[0] as i8;
                prop_assert_eq!(found, clip(sum), "C[{}][{}]", i, j);
            }
        }
        let beyond = driver.read(C + (i * 80 + cols) as u64 * c_width, 1)[0];
        prop_assert_eq!(beyond, 0, "nothing is written behind row {}", i);
    }
    Ok(())
}

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
    fn the_matrix_loop_multiplies(case in matmul()) {
        check_matmul(&case, false)?;
    }

    #[test]
    fn two_matrix_loops_split_the_inner_dimension(case in matmul()) {
        check_matmul(&case, true)?;
    }

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

#[test]
fn the_matrix_loop_adds_two_matrices_element_by_element() {
    let mut driver = Driver::new(int8_16());
    let (a, b) = (small(1, 32 * 64), small(2, 32 * 64));
    driver.write(A, &bytes(&a));
    driver.write(B, &bytes(&b));
    driver.configure(64);
    driver.config_ld(0, 64, true);
    driver.config_ld(1, 64, true);
    driver.run(9, 0, 4 << 16 | 2);
    driver.run(10, A, B);
    driver.run(11, 0, C);
    driver.run(12, 64, 64);
    driver.run(13, 0, 64);
    driver.run(8, 0, 4);
    driver.fence();
    let expected: Vec<u8> = a.iter().zip(&b).map(|(x, y)| (x + y) as u8).collect();
    assert_eq!(driver.read(C, 32 * 64), &expected[..]);
}

#[test]
fn loops_alternate_between_the_halves_of_local_memory() {
    let mut driver = Driver::new(int8_16());
    driver.write(A, &[1; 4096]);
    driver.configure(16);
    let mut rows = Vec::new();
    for _ in 0..3 {
        driver.gemmini.poison(0);
        driver.run(9, 0, 1 << 32 | 1 << 16 | 1);
        driver.run(10, A, A);
        driver.run(11, 0, C);
        driver.run(12, 16, 16);
        driver.run(13, 16, 16);
        driver.run(8, 0, 0);
        driver.fence();
        let filled = |row: u32| driver.gemmini.spad_row(row).unwrap()[0] != 0;
        let result = |row: u32| driver.gemmini.acc_row(row).unwrap()[0] != 0;
        rows.push((
            [0, 8192 - 16, 8192, 16384 - 16].map(filled),
            [0, 512].map(result),
        ));
    }
    let first = ([true, true, false, false], [true, false]);
    let second = ([false, false, true, true], [false, true]);
    assert_eq!(rows, [first, second, first]);
}

#[test]
fn bias_and_output_share_a_half_whatever_the_loops_before_had() {
    let mut driver = Driver::new(int8_16());
    driver.write(A, &[1; 4096]);
    driver.write(D, &[3, 0, 0, 0].repeat(256));
    driver.configure(16);
    // The halves alternate with outputs, so the second loop is in the upper one.
    for bias in [0, D] {
        driver.run(9, 0, 1 << 32 | 1 << 16 | 1);
        driver.run(10, A, A);
        driver.run(11, bias, C);
        driver.run(12, 16, 16);
        driver.run(13, 16, 16);
        driver.run(8, u64::from(bias != 0), 0);
        driver.fence();
    }
    assert_eq!(driver.gemmini.acc_row(0).unwrap()[0], 16);
    assert_eq!(driver.gemmini.acc_row(512).unwrap()[0], 16 + 3);
}
