//! Steps of a sequence: any of them, and each on the machine and in the model.

use super::driver::{ACC, BASE, Driver, NONE, high, tile};
use super::plain::{Plain, scaled, wrapped};
use super::{DRAM, ROWS};
use proptest::prelude::*;

/// One step with raw numbers, which are cut to what is legal when it runs.
#[derive(Clone, Debug)]
pub enum Step {
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
pub struct Operand {
    pub none: bool,
    pub row: u32,
    pub cols: u32,
    pub rows: u32,
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

pub fn step() -> impl Strategy<Value = Step> {
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

/// Runs a step on both.
pub fn apply(step: &Step, driver: &mut Driver, plain: &mut Plain) {
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
