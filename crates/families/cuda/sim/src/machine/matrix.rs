//! Products of small matrices that a warp holds.
//!
//! Sums are taken in the order of the inner index, each rounded to 32 bits. The hardware adds
//! several products at once with a few more bits and cuts; both lie within a few units in the
//! last place of the true sum.

use super::access::{Failed, How, addresses};
use super::alu::put;
use super::block::Block;
use super::findings::Fault;
use super::observer::Witness;
use super::shadow::Kind;
use super::warp::{ALL, Warp};
use crate::decode::space_at;
use crate::decode::{Address, MatrixType};
use crate::half_floats::{bf16_to_f32, half_from_f32, half_to_f32};
use crate::ptx::Space;

/// Returns the value of an element that stands in `bits`.
fn value(of: MatrixType, bits: u32) -> f32 {
    match of {
        MatrixType::F16 => half_to_f32(bits as u16),
        MatrixType::Bf16 => bf16_to_f32(bits as u16),
        // The hardware does not look at the lowest 13 bits.
        MatrixType::Tf32 => f32::from_bits(bits & 0xffff_e000),
        MatrixType::S8 => f32::from(bits as u8 as i8),
        MatrixType::U8 => f32::from(bits as u8),
    }
}

/// Where an element of the first factor stands: thread, register, shift.
fn place_a(bits: u32, row: u32, k: u32) -> (usize, usize, u32) {
    let in_word = 32 / bits;
    let group = k / (4 * in_word);
    let within = k % (4 * in_word);
    let lane = (row % 8) * 4 + within / in_word;
    let register = group * 2 + row / 8;
    (lane as usize, register as usize, within % in_word * bits)
}

fn place_b(bits: u32, k: u32, column: u32) -> (usize, usize, u32) {
    let in_word = 32 / bits;
    let within = k % (4 * in_word);
    let lane = column * 4 + within / in_word;
    (
        lane as usize,
        (k / (4 * in_word)) as usize,
        within % in_word * bits,
    )
}

/// Where an element of the sum stands: thread and number of the element.
fn place_c(row: u32, column: u32) -> (usize, usize) {
    (
        (row % 8 * 4 + column / 2) as usize,
        (row / 8 * 2 + column % 2) as usize,
    )
}

/// Returns `c + a * b` of matrices by rows, the second factor by columns.
pub(super) fn products(
    shape: [u32; 3],
    types: [MatrixType; 2],
    a: &[u32],
    b: &[u32],
    c: &mut [u32],
) {
    let [m, n, k] = shape.map(|it| it as usize);
    if types[0].is_integer() {
        let of = |kind: MatrixType, bits: u32| match kind {
            MatrixType::S8 => i32::from(bits as u8 as i8),
            _ => i32::from(bits as u8),
        };
        for row in 0..m {
            for column in 0..n {
                let mut sum = c[row * n + column] as i32;
                for inner in 0..k {
                    let product =
                        of(types[0], a[row * k + inner]) * of(types[1], b[column * k + inner]);
                    sum = sum.wrapping_add(product);
                }
                c[row * n + column] = sum as u32;
            }
        }
        return;
    }
    let a: Vec<f32> = a.iter().map(|bits| value(types[0], *bits)).collect();
    let b: Vec<f32> = b.iter().map(|bits| value(types[1], *bits)).collect();
    for row in 0..m {
        let row_a = &a[row * k..(row + 1) * k];
        for column in 0..n {
            let row_b = &b[column * k..(column + 1) * k];
            let mut sum = f32::from_bits(c[row * n + column]);
            for (x, y) in row_a.iter().zip(row_b) {
                sum += x * y;
            }
            c[row * n + column] = super::alu::bits(sum);
        }
    }
}

/// Does `mma.sync`.
pub(crate) fn mma(
    warp: &mut Warp,
    shape: [u32; 3],
    types: [MatrixType; 2],
    half_sum: bool,
    [d, a, b, c]: [&[u32]; 4],
) {
    let [m, n, k] = shape;
    let bits = types[0].bits();
    let mask = if bits == 32 {
        u32::MAX
    } else {
        (1 << bits) - 1
    };
    let mut first = vec![0; (m * k) as usize];
    let mut second = vec![0; (k * n) as usize];
    let mut sums = vec![0; (m * n) as usize];
    for row in 0..m {
        for inner in 0..k {
            let (lane, register, shift) = place_a(bits, row, inner);
            first[(row * k + inner) as usize] =
                warp.words[a[register] as usize][lane] >> shift & mask;
        }
    }
    for column in 0..n {
        for inner in 0..k {
            let (lane, register, shift) = place_b(bits, inner, column);
            second[(column * k + inner) as usize] =
                warp.words[b[register] as usize][lane] >> shift & mask;
        }
    }
    for row in 0..m {
        for column in 0..n {
            let (lane, element) = place_c(row, column);
            sums[(row * n + column) as usize] = match half_sum {
                false => warp.words[c[element] as usize][lane],
                true => {
                    let word = warp.words[c[element / 2] as usize][lane];
                    half_to_f32((word >> (16 * (element % 2))) as u16).to_bits()
                }
            };
        }
    }
    products(shape, types, &first, &second, &mut sums);
    let mut results = vec![[0_u32; 32]; d.len()];
    for row in 0..m {
        for column in 0..n {
            let (lane, element) = place_c(row, column);
            let sum = sums[(row * n + column) as usize];
            match half_sum {
                false => results[element][lane] = sum,
                true => {
                    let half = u32::from(half_from_f32(f32::from_bits(sum)));
                    results[element / 2][lane] |= half << (16 * (element % 2));
                }
            }
        }
    }
    for (register, result) in d.iter().zip(results) {
        warp.words[*register as usize] = result;
    }
}

impl<O: Witness> Block<'_, O> {
    /// Does `ldmatrix`.
    pub(crate) fn load_matrix(
        &mut self,
        warp: &mut Warp,
        d: &[u32],
        transposed: bool,
        address: Address,
    ) -> Result<(), Failed> {
        let addresses = addresses(warp, address);
        for (register, number) in d.iter().zip(0_u32..) {
            self.tell_matrix(
                warp,
                Space::Shared,
                &addresses,
                16,
                false,
                0xff << (8 * number),
            );
            let mut rows = [[0_u16; 8]; 8];
            for (row, idx) in rows.iter_mut().zip(0_u32..) {
                let lane = number * 8 + idx;
                *row = self.row(warp, lane, addresses[lane as usize], None)?;
            }
            let mut result = [0_u32; 32];
            for (lane, it) in result.iter_mut().enumerate() {
                let (row, column) = (lane / 4, lane % 4 * 2);
                let pair = match transposed {
                    false => [rows[row][column], rows[row][column + 1]],
                    true => [rows[column][row], rows[column + 1][row]],
                };
                *it = u32::from(pair[0]) | u32::from(pair[1]) << 16;
            }
            put(&mut warp.words[*register as usize], result, ALL);
        }
        Ok(())
    }

    /// Does `stmatrix`.
    pub(crate) fn store_matrix(
        &mut self,
        warp: &mut Warp,
        a: &[u32],
        transposed: bool,
        address: Address,
    ) -> Result<(), Failed> {
        let addresses = addresses(warp, address);
        for (register, number) in a.iter().zip(0_u32..) {
            self.tell_matrix(
                warp,
                Space::Shared,
                &addresses,
                16,
                true,
                0xff << (8 * number),
            );
            let words = warp.words[*register as usize];
            let mut rows = [[0_u16; 8]; 8];
            for (lane, word) in words.iter().enumerate() {
                let (row, column) = (lane / 4, lane % 4 * 2);
                for part in 0..2 {
                    let half = (word >> (16 * part)) as u16;
                    match transposed {
                        false => rows[row][column + part] = half,
                        true => rows[column + part][row] = half,
                    }
                }
            }
            for (row, idx) in rows.iter().zip(0_u32..) {
                let lane = number * 8 + idx;
                self.row(warp, lane, addresses[lane as usize], Some(*row))?;
            }
        }
        Ok(())
    }

    /// Reads or writes one row of a matrix, 16 bytes from `address` on, for `lane`.
    fn row(
        &mut self,
        warp: &mut Warp,
        lane: u32,
        address: u64,
        write: Option<[u16; 8]>,
    ) -> Result<[u16; 8], Failed> {
        if !address.is_multiple_of(16) {
            return Err((Fault::Misaligned { address, bytes: 16 }, lane));
        }
        let how = How {
            space: Space::Shared,
            bytes: 2,
            write: write.is_some(),
            kind: Kind::Plain,
        };
        let mut found = [0; 8];
        for (it, idx) in found.iter_mut().zip(0..) {
            let address = address.wrapping_add(2 * idx);
            match write {
                None => *it = self.read_one(warp, lane, how, address)? as u16,
                Some(values) => {
                    self.write_one(warp, lane, how, address, values[idx as usize].into())?
                }
            }
        }
        Ok(found)
    }

    /// Tells of an access of a whole matrix.
    pub(super) fn tell_matrix(
        &mut self,
        warp: &Warp,
        space: Space,
        addresses: &[u64; 32],
        bytes: u32,
        write: bool,
        lanes: u32,
    ) {
        let space = match space {
            Space::Generic => space_at(addresses[0]),
            space => space,
        };
        let how = How {
            space,
            bytes,
            write,
            kind: Kind::Plain,
        };
        self.tell(warp, how, addresses, lanes & ALL, (false, false));
    }
}
