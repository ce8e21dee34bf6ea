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
use crate::decode::{Address, MatrixType, Part};
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
fn products(shape: [u32; 3], types: [MatrixType; 2], a: &[u32], b: &[u32], c: &mut [u32]) {
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

/// How the elements of a `wmma` part are spread over the threads: ours, since nobody may
/// know the hardware's. Returns thread, register and shift of the element `number`.
fn spread(bits: u32, number: u32) -> (usize, usize, u32) {
    let in_word = 32 / bits;
    let word = number / in_word;
    (
        (word % 32) as usize,
        (word / 32) as usize,
        number % in_word * bits,
    )
}

/// Returns rows and columns of a part.
fn extent(part: Part, [m, n, k]: [u32; 3]) -> (u32, u32) {
    match part {
        Part::A => (m, k),
        Part::B => (k, n),
        Part::C => (m, n),
    }
}

/// Does `wmma.mma`.
pub(crate) fn wmma(
    warp: &mut Warp,
    shape: [u32; 3],
    types: [MatrixType; 2],
    half: [bool; 2],
    [d, a, b, c]: [&[u32]; 4],
) {
    let [m, n, k] = shape;
    let bits = types[0].bits();
    let mask = if bits == 32 {
        u32::MAX
    } else {
        (1 << bits) - 1
    };
    let get = |warp: &Warp, registers: &[u32], bits: u32, number: u32| {
        let (lane, register, shift) = spread(bits, number);
        warp.words[registers[register] as usize][lane] >> shift
    };
    let mut first = vec![0; (m * k) as usize];
    let mut second = vec![0; (k * n) as usize];
    let mut sums = vec![0; (m * n) as usize];
    for (it, number) in first.iter_mut().zip(0..) {
        *it = get(warp, a, bits, number) & mask;
    }
    for column in 0..n {
        for inner in 0..k {
            second[(column * k + inner) as usize] = get(warp, b, bits, inner * n + column) & mask;
        }
    }
    for (it, number) in sums.iter_mut().zip(0..) {
        *it = match half[1] {
            false => get(warp, c, 32, number),
            true => half_to_f32(get(warp, c, 16, number) as u16).to_bits(),
        };
    }
    products(shape, types, &first, &second, &mut sums);
    let mut results = vec![[0_u32; 32]; d.len()];
    for (sum, number) in sums.iter().zip(0..) {
        let bits = if half[0] { 16 } else { 32 };
        let (lane, register, shift) = spread(bits, number);
        let value = match half[0] {
            false => *sum,
            true => u32::from(half_from_f32(f32::from_bits(*sum))),
        };
        results[register][lane] |= value << shift;
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

    /// Does `wmma.load` and, with `store`, `wmma.store`.
    pub(crate) fn fragment(
        &mut self,
        warp: &mut Warp,
        (part, shape, bits, row): (Part, [u32; 3], u32, bool),
        registers: &[u32],
        (space, address, stride): (Space, Address, Option<u32>),
        store: bool,
    ) -> Result<(), Failed> {
        let base = addresses(warp, address)[0];
        let (rows, columns) = extent(part, shape);
        let width = u64::from(bits / 8);
        let inner = if row { columns } else { rows };
        let outer = if row { rows } else { columns };
        let stride = match stride {
            Some(register) => u64::from(warp.words[register as usize][0]),
            None => u64::from(inner),
        };
        // As rows of 16 bytes, which is how the hardware takes them.
        let in_piece = (16 / width) as u32;
        let pieces = outer * inner.div_ceil(in_piece);
        for first in (0..pieces).step_by(32) {
            let mut places = [0; 32];
            for (lane, place) in places.iter_mut().enumerate() {
                let piece = (first + lane as u32).min(pieces - 1);
                // Eight rows at once, as `ldmatrix` does.
                let (line, within) = (piece % outer, piece / outer);
                *place = base
                    .wrapping_add(u64::from(line).wrapping_mul(stride).wrapping_mul(width))
                    .wrapping_add(u64::from(within) * 16);
            }
            let taken = (pieces - first).min(32);
            let lanes = if taken == 32 { ALL } else { (1 << taken) - 1 };
            self.tell_matrix(warp, space, &places, 16, store, lanes);
        }
        let twice = registers.len() as u32 * 1024 / bits / (rows * columns);
        let mut results = vec![[0_u32; 32]; registers.len()];
        for number in 0..rows * columns {
            let (r, c) = (number / columns, number % columns);
            let place = match row {
                true => u64::from(r).wrapping_mul(stride).wrapping_add(c.into()),
                false => u64::from(c).wrapping_mul(stride).wrapping_add(r.into()),
            };
            let address = base.wrapping_add(place.wrapping_mul(width));
            let (lane, register, shift) = spread(bits, number);
            if store {
                let value = warp.words[registers[register] as usize][lane] >> shift;
                self.element(warp, lane as u32, (space, bits / 8), address, Some(value))?;
                continue;
            }
            let value = self.element(warp, lane as u32, (space, bits / 8), address, None)?;
            results[register][lane] |= value << shift;
        }
        if !store {
            let half = registers.len() / twice.max(1) as usize;
            for (idx, register) in registers.iter().enumerate() {
                warp.words[*register as usize] = results[idx % half.max(1)];
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

    /// Reads one element of a matrix for `lane`, or writes it.
    fn element(
        &mut self,
        warp: &mut Warp,
        lane: u32,
        (space, bytes): (Space, u32),
        address: u64,
        write: Option<u32>,
    ) -> Result<u32, Failed> {
        let how = How {
            space,
            bytes,
            write: write.is_some(),
            kind: Kind::Plain,
        };
        match write {
            None => self.read_one(warp, lane, how, address).map(|it| it as u32),
            Some(value) => self
                .write_one(warp, lane, how, address, value.into())
                .map(|()| value),
        }
    }

    /// Tells of an access of a whole matrix.
    fn tell_matrix(
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
