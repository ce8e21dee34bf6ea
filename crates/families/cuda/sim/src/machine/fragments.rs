//! Parts of matrices that only `wmma` knows the places of.

use super::access::{Failed, How, addresses};
use super::block::Block;
use super::findings::Fault;
use super::matrix::products;
use super::observer::Witness;
use super::shadow::Kind;
use super::warp::{ALL, Warp};
use crate::decode::{Address, MatrixType, Part};
use crate::half_floats::{half_from_f32, half_to_f32};
use crate::ptx::Space;

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
        // What the PTX ISA asks of the first element: what a thread holds of the matrix divides its
        // address. Of rows it asks the same, but the vendor's guide no more than 16 bytes.
        let held = registers.len() as u32 * 4;
        let next = base.wrapping_add(stride.wrapping_mul(width));
        for (address, bytes) in [(base, held), (next, held.min(16))] {
            if !address.is_multiple_of(bytes.into()) {
                return Err((Fault::Misaligned { address, bytes }, 0));
            }
        }
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
}
