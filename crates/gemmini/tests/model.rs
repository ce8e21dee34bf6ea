//! Random command sequences against a model that is slow and obvious: every
//! element is an `i64` in a vector of vectors, every rule one line.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(
    clippy::needless_range_loop,
    clippy::too_many_arguments,
    reason = "the model is written as the definitions are"
)]

mod driver;

use autocomp_gemmini::{GemminiConfig, InstructionSet};
use driver::instances::{int8_16, int8_32};
use driver::{ACC, BASE, Driver, NONE, high, noise, tile};
use proptest::prelude::*;

const DRAM: usize = 1 << 14;
const ROWS: u32 = 160;

/// One step with raw numbers, which are cut to what is legal when it runs.
#[derive(Clone, Debug)]
enum Step {
    ConfigEx {
        ws: bool,
        relu: bool,
        transpose: u8,
        a_stride: u16,
        c_stride: u16,
        shift: u8,
    },
    ConfigLd {
        channel: u8,
        stride: u16,
        shrink: bool,
        scale: f32,
        block: u16,
    },
    ConfigSt {
        stride: u16,
        relu: bool,
        scale: f32,
    },
    Mvin {
        channel: u8,
        dram: u16,
        zero: bool,
        to_acc: bool,
        add: bool,
        row: u32,
        cols: u32,
        rows: u32,
    },
    Mvout {
        dram: u16,
        from_acc: bool,
        full: bool,
        row: u32,
        cols: u32,
        rows: u32,
    },
    Pair {
        flip: bool,
        b: Operand,
        c: Operand,
        a: Operand,
        d: Operand,
        c_kind: u8,
    },
}

#[derive(Clone, Copy, Debug)]
struct Operand {
    none: bool,
    row: u32,
    cols: u32,
    rows: u32,
}

fn scale() -> impl Strategy<Value = f32> {
    prop::sample::select(vec![1.0, 1.0, 0.5, -1.0, 0.125, 1.0 / 3.0, 3.0, 1e-3])
}

/// Sizes, whole tiles more often than others; `fit` turns 15 into 16.
fn size() -> impl Strategy<Value = u32> {
    prop_oneof![Just(15u32), 0u32..64]
}

fn operand(none: f64) -> impl Strategy<Value = Operand> {
    (prop::bool::weighted(none), 0..ROWS, size(), size()).prop_map(|(none, row, cols, rows)| {
        Operand {
            none,
            row,
            cols,
            rows,
        }
    })
}

fn step() -> impl Strategy<Value = Step> {
    let flag = any::<bool>;
    prop_oneof![
        2 => (flag(), flag(), 0u8..3, 1u16..4, 1u16..4, 0u8..6).prop_map(
            |(ws, relu, transpose, a_stride, c_stride, shift)| Step::ConfigEx { ws, relu, transpose, a_stride, c_stride, shift }),
        2 => (0u8..3, 0u16..200, flag(), scale(), 16u16..40).prop_map(
            |(channel, stride, shrink, scale, block)| Step::ConfigLd { channel, stride, shrink, scale, block }),
        1 => (0u16..200, flag(), scale()).prop_map(|(stride, relu, scale)| Step::ConfigSt { stride, relu, scale }),
        6 => (0u8..3, any::<u16>(), prop::bool::weighted(0.1), flag(), flag(), 0..ROWS, 0u32..64, 1u32..17).prop_map(
            |(channel, dram, zero, to_acc, add, row, cols, rows)| Step::Mvin { channel, dram, zero, to_acc, add, row, cols, rows }),
        4 => (any::<u16>(), flag(), flag(), 0..ROWS, 0u32..64, 1u32..17).prop_map(
            |(dram, from_acc, full, row, cols, rows)| Step::Mvout { dram, from_acc, full, row, cols, rows }),
        6 => (flag(), operand(0.3), operand(0.1), operand(0.0), operand(0.5), 0u8..4).prop_map(
            |(flip, b, c, a, d, c_kind)| Step::Pair { flip, b, c, a, d, c_kind }),
    ]
}

struct Plain {
    dim: usize,
    dram: Vec<u8>,
    spad: Vec<Vec<i64>>,
    acc: Vec<Vec<i64>>,
    array: Vec<Vec<i64>>,
    holds_weights: Option<bool>,
    ld: [(i64, bool, f32, usize); 3],
    st: (i64, bool, f32),
    ws: bool,
    relu: bool,
    a_transpose: bool,
    b_transpose: bool,
    a_stride: usize,
    c_stride: usize,
    shift: u32,
}

/// Round half to even by looking at the remainder.
fn round_even(value: f64) -> i64 {
    let floor = value.floor();
    let rest = value - floor;
    let floor = floor as i64;
    if rest > 0.5 || (rest == 0.5 && floor % 2 != 0) {
        floor + 1
    } else {
        floor
    }
}

/// The product is rounded to 32 bits once, as are large operands.
fn scaled(value: i64, scale: f32) -> i64 {
    round_even(f64::from(value as f32 * scale)).clamp(-128, 127)
}

fn wrapped(value: i64, bits: u32) -> i64 {
    let modulus = 1i64 << bits;
    (value + modulus / 2).rem_euclid(modulus) - modulus / 2
}

impl Plain {
    fn new(dim: usize, dram: Vec<u8>) -> Self {
        Self {
            dim,
            dram,
            spad: vec![vec![0; dim]; 1024],
            acc: vec![vec![0; dim]; 512],
            array: vec![vec![0; dim]; dim],
            holds_weights: None,
            ld: [(0, false, 1.0, 0); 3],
            st: (0, false, 1.0),
            ws: true,
            relu: false,
            a_transpose: false,
            b_transpose: false,
            a_stride: 1,
            c_stride: 1,
            shift: 0,
        }
    }

    fn byte(&self, at: usize) -> i64 {
        i64::from(self.dram[at] as i8)
    }

    fn word(&self, at: usize) -> i64 {
        i64::from(i32::from_le_bytes(
            self.dram[at..at + 4].try_into().unwrap(),
        ))
    }

    /// Element (i, j) of a logical operand, zero outside.
    fn element(&self, at: Operand, stride: usize, transposed: bool, i: usize, j: usize) -> i64 {
        if at.none || i >= at.rows as usize || j >= at.cols as usize {
            0
        } else if transposed {
            self.spad[at.row as usize + j * stride][i]
        } else {
            self.spad[at.row as usize + i * stride][j]
        }
    }

    fn pair(
        &mut self,
        flip: bool,
        b: Operand,
        c: Operand,
        a: Operand,
        d: Operand,
        to_acc: bool,
        add: bool,
    ) {
        let n = self.dim;
        let loaded = |model: &Self, transposed: bool| -> Vec<Vec<i64>> {
            (0..n)
                .map(|i| {
                    (0..n)
                        .map(|j| model.element(b, 1, transposed, i, j))
                        .collect()
                })
                .collect()
        };
        if flip {
            self.array = loaded(self, self.ws && self.b_transpose);
            self.holds_weights = Some(self.ws);
        }
        let mut result = vec![vec![0; n]; n];
        for i in 0..n {
            for j in 0..n {
                let mut sum = if self.ws {
                    self.element(d, 1, false, i, j)
                } else {
                    self.array[i][j]
                };
                for k in 0..n {
                    let left = self.element(a, self.a_stride, self.a_transpose, i, k);
                    let right = if self.ws {
                        self.array[k][j]
                    } else {
                        self.element(d, 1, self.b_transpose, k, j)
                    };
                    sum += left * right;
                }
                result[i][j] = wrapped(sum, 20);
            }
        }
        if !self.ws {
            self.array = result.clone();
            for row in &mut result {
                for value in row {
                    let exact = *value as f64 / f64::from(1u32 << self.shift);
                    *value = round_even(exact);
                }
            }
        }
        if c.none {
            return;
        }
        for i in 0..c.rows as usize {
            let row = c.row as usize + i * self.c_stride;
            for j in 0..c.cols as usize {
                let value = result[i][j];
                if to_acc {
                    let before = if add { self.acc[row][j] } else { 0 };
                    self.acc[row][j] = wrapped(before + value, 32);
                } else {
                    let value = value.clamp(-128, 127);
                    self.spad[row][j] = if self.relu { value.max(0) } else { value };
                }
            }
        }
    }
}

/// Runs a step on both.
fn apply(step: &Step, driver: &mut Driver, plain: &mut Plain) {
    let dim = plain.dim as u32;
    let fit = |value: u32, limit: u32| 1 + value % limit;
    match *step {
        Step::ConfigEx {
            ws,
            relu,
            transpose,
            a_stride,
            c_stride,
            shift,
        } => {
            // Legal: WS with A or B; OS with A or both.
            let (a_t, b_t) = match (ws, transpose) {
                (_, 0) => (false, false),
                (_, 1) => (true, false),
                (true, _) => (false, true),
                (false, _) => (true, true),
            };
            let c_stride = if ws { c_stride } else { 1 };
            driver.run(
                0,
                high(1.0)
                    | u64::from(a_stride) << 16
                    | u64::from(ws) << 2
                    | u64::from(relu) << 3
                    | u64::from(a_t) << 8
                    | u64::from(b_t) << 9,
                u64::from(c_stride) << 48 | u64::from(shift),
            );
            (plain.ws, plain.relu, plain.a_transpose, plain.b_transpose) = (ws, relu, a_t, b_t);
            (plain.a_stride, plain.c_stride, plain.shift) =
                (a_stride.into(), c_stride.into(), shift.into());
        }
        Step::ConfigLd {
            channel,
            stride,
            shrink,
            scale,
            block,
        } => {
            let rs1 = high(scale)
                | u64::from(block) << 16
                | u64::from(channel) << 3
                | u64::from(shrink) << 2
                | 1;
            driver.run(0, rs1, stride.into());
            plain.ld[usize::from(channel)] = (stride.into(), shrink, scale, block.into());
        }
        Step::ConfigSt {
            stride,
            relu,
            scale,
        } => {
            driver.run(0, u64::from(relu) << 2 | 2, high(scale) | u64::from(stride));
            plain.st = (stride.into(), relu, scale);
        }
        Step::Mvin {
            channel,
            dram,
            zero,
            to_acc,
            add,
            row,
            cols,
            rows,
        } => {
            let (stride, shrink, scale, block) = plain.ld[usize::from(channel)];
            let wide = to_acc && !shrink;
            let cols = fit(cols, if wide { dim } else { 64 });
            let rows = fit(rows, dim);
            let dram = usize::from(dram) % (DRAM - 4096);
            let address = if zero { 0 } else { BASE + dram as u64 };
            let local = if to_acc {
                ACC | u32::from(add) << 30
            } else {
                0
            } | row;
            driver.run(
                [2, 1, 14][usize::from(channel)],
                address,
                tile(local, cols, rows),
            );
            for i in 0..rows as usize {
                for j in 0..cols as usize {
                    let width = if wide { 4 } else { 1 };
                    let at = dram + i * stride as usize + j * width;
                    let value = match (zero, wide) {
                        (true, _) => 0,
                        (false, true) => plain.word(at),
                        (false, false) => scaled(plain.byte(at), scale),
                    };
                    let (to_row, to_col) =
                        (row as usize + i + j / plain.dim * block, j % plain.dim);
                    if to_acc {
                        let before = if add { plain.acc[to_row][to_col] } else { 0 };
                        plain.acc[to_row][to_col] = wrapped(before + value, 32);
                    } else {
                        plain.spad[to_row][to_col] = value;
                    }
                }
            }
        }
        Step::Mvout {
            dram,
            from_acc,
            full,
            row,
            cols,
            rows,
        } => {
            let full = full && from_acc;
            let cols = fit(cols, if full { dim } else { 64 });
            let rows = fit(rows, dim);
            let dram = usize::from(dram) % (DRAM - 4096);
            let local = if from_acc {
                ACC | u32::from(full) << 29
            } else {
                0
            } | row;
            driver.run(3, BASE + dram as u64, tile(local, cols, rows));
            let (stride, relu, scale) = plain.st;
            for i in 0..rows as usize {
                let mut bytes = Vec::new();
                for j in 0..cols as usize {
                    let (at, col) = (row as usize + i + j / plain.dim * plain.dim, j % plain.dim);
                    if full {
                        bytes.extend_from_slice(&(plain.acc[at][col] as i32).to_le_bytes());
                    } else if from_acc {
                        let value = plain.acc[at][col];
                        let value = if relu { value.max(0) } else { value };
                        bytes.push(scaled(value, scale) as u8);
                    } else {
                        bytes.push(plain.spad[at][col] as u8);
                    }
                }
                let to = dram + i * stride as usize;
                plain.dram[to..to + bytes.len()].copy_from_slice(&bytes);
            }
        }
        Step::Pair {
            flip,
            b,
            c,
            a,
            d,
            c_kind,
        } => {
            let cut = |at: Operand| Operand {
                cols: fit(at.cols, dim),
                rows: fit(at.rows, dim),
                ..at
            };
            let (b, c, a, d) = (cut(b), cut(c), cut(a), cut(d));
            let flip = flip || plain.holds_weights != Some(plain.ws);
            let (to_acc, add) = (c_kind < 3, c_kind == 1 || c_kind == 2);
            let flags = if to_acc {
                ACC | u32::from(add) << 30
            } else {
                0
            };
            let word = |at: Operand, flags: u32| {
                tile(
                    if at.none { NONE } else { at.row | flags },
                    at.cols,
                    at.rows,
                )
            };
            driver.run(6, word(b, 0), word(c, flags));
            driver.run(if flip { 4 } else { 5 }, word(a, 0), word(d, 0));
            plain.pair(flip, b, c, a, d, to_acc, add);
        }
    }
}

fn compare(
    steps: &[Step],
    config: GemminiConfig,
    set: InstructionSet,
) -> Result<(), TestCaseError> {
    let dram = noise(7, DRAM);
    let mut driver = Driver::unchecked(config.clone());
    assert!(driver.gemmini.use_instructions(set));
    driver.write(BASE, &dram);
    let mut plain = Plain::new(config.dim as usize, dram);
    driver.configure(0);
    driver.run(0, high(1.0) | 1 << 16 | 4, 1 << 48);
    for channel in 0..3 {
        driver.run(0, high(1.0) | channel << 3 | 1, 0);
    }
    // Noise everywhere, so that nothing is hidden by zeros.
    let mut steps = steps.to_vec();
    steps.insert(
        0,
        Step::ConfigLd {
            channel: 0,
            stride: 64,
            shrink: true,
            scale: 1.0,
            block: 16,
        },
    );
    for row in (0..ROWS + 64).step_by(config.dim as usize) {
        for to_acc in [false, true] {
            let dram = (row * 37 + u32::from(to_acc) * 11) as u16;
            let (cols, rows) = (config.dim - 1, config.dim - 1);
            steps.insert(
                1,
                Step::Mvin {
                    channel: 0,
                    dram,
                    zero: false,
                    to_acc,
                    add: false,
                    row,
                    cols,
                    rows,
                },
            );
        }
    }
    for (number, step) in steps.iter().enumerate() {
        apply(step, &mut driver, &mut plain);
        for (row, expected) in plain.acc.iter().enumerate() {
            let found: Vec<i64> = driver
                .gemmini
                .acc_row(row as u32)
                .unwrap()
                .iter()
                .map(|x| i64::from(*x))
                .collect();
            prop_assert_eq!(
                &found,
                expected,
                "accumulator row {} after step {} {:?}",
                row,
                number,
                step
            );
        }
        for (row, expected) in plain.spad.iter().enumerate() {
            let found: Vec<i64> = driver
                .gemmini
                .spad_row(row as u32)
                .unwrap()
                .iter()
                .map(|x| i64::from(*x as i8))
                .collect();
            prop_assert_eq!(
                &found,
                expected,
                "scratchpad row {} after step {} {:?}",
                row,
                number,
                step
            );
        }
    }
    prop_assert_eq!(driver.read(BASE, DRAM), &plain.dram[..]);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_sequences_agree_with_the_plain_model(steps in prop::collection::vec(step(), 1..40)) {
        compare(&steps, int8_16(), InstructionSet::detect())?;
    }

    #[test]
    fn every_instruction_set_agrees_with_the_plain_model(
        steps in prop::collection::vec(step(), 1..20),
        set in prop::sample::select(InstructionSet::available()),
    ) {
        compare(&steps, int8_16(), set)?;
    }

    #[test]
    fn wide_arrays_agree_with_the_plain_model(
        steps in prop::collection::vec(step(), 1..20),
        set in prop::sample::select(InstructionSet::available()),
    ) {
        compare(&steps, int8_32(), set)?;
    }
}
