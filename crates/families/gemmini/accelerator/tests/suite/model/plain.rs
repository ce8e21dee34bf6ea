//! The model: its state, its arithmetic, and what the array does.

#![allow(
    clippy::needless_range_loop,
    clippy::too_many_arguments,
    reason = "the model is written as the definitions are"
)]

use super::steps::Operand;

pub struct Plain {
    pub dim: usize,
    pub dram: Vec<u8>,
    pub spad: Vec<Vec<i64>>,
    pub acc: Vec<Vec<i64>>,
    pub array: Vec<Vec<i64>>,
    pub holds_weights: Option<bool>,
    pub ld: [(i64, bool, f32, usize); 3],
    pub st: (i64, bool, f32),
    pub ws: bool,
    pub relu: bool,
    pub a_transpose: bool,
    pub b_transpose: bool,
    pub a_stride: usize,
    pub c_stride: usize,
    pub shift: u32,
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
pub fn scaled(value: i64, scale: f32) -> i64 {
    round_even(f64::from(value as f32 * scale)).clamp(-128, 127)
}

pub fn wrapped(value: i64, bits: u32) -> i64 {
    let modulus = 1i64 << bits;
    (value + modulus / 2).rem_euclid(modulus) - modulus / 2
}

impl Plain {
    pub fn new(dim: usize, dram: Vec<u8>) -> Self {
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

    pub fn byte(&self, at: usize) -> i64 {
        i64::from(self.dram[at] as i8)
    }

    pub fn word(&self, at: usize) -> i64 {
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

    pub fn pair(
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
