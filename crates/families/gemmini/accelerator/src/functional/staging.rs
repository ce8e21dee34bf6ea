//! Between local memory and the array: operands with zeros around them, and
//! results on their way to where they belong.

use super::Functional;
use super::arithmetic::{canonical, clamp_i8, relu_f32, wrap};
use super::array::{Extent, float, place};
use super::faults::Site;
use super::local::column_mask;
use crate::address::Tile;
use crate::config::Elements;
use crate::isa::Activation;

impl Functional {
    /// Puts A, zeros around it, into `scratch_a`.
    pub(super) fn gather_i8(&mut self, extent: Option<Extent>) {
        let dim = self.config.dim as usize;
        let out = &mut self.scratch_a;
        out.fill(0);
        if let Some(extent) = extent {
            place(
                dim,
                &self.local,
                extent,
                self.configured.ex.a_transpose,
                1,
                |at, bytes| out[at] = bytes[0],
            );
        }
    }

    pub(super) fn gather_f32(&mut self, extent: Option<Extent>) {
        let dim = self.config.dim as usize;
        let out = &mut self.scratch_float_a;
        out.fill(0.0);
        if let Some(extent) = extent {
            place(
                dim,
                &self.local,
                extent,
                self.configured.ex.a_transpose,
                4,
                |at, bytes| out[at] = float(bytes),
            );
        }
    }

    /// Puts D, zeros around it, into `scratch`.
    pub(super) fn addend_i8(&mut self, extent: Option<Extent>) {
        let out = &mut self.scratch;
        out.fill(0);
        if let Some(extent) = extent {
            place(
                self.config.dim as usize,
                &self.local,
                extent,
                false,
                1,
                |at, bytes| {
                    out[at] = i32::from(bytes[0] as i8);
                },
            );
        }
    }

    pub(super) fn addend_f32(&mut self, extent: Option<Extent>) {
        let out = &mut self.scratch_float;
        out.fill(0.0);
        if let Some(extent) = extent {
            place(
                self.config.dim as usize,
                &self.local,
                extent,
                false,
                4,
                |at, bytes| out[at] = float(bytes),
            );
        }
    }

    /// Wraps the sums to the width of the array's wires.
    pub(super) fn wrap_scratch(&mut self, site: Site) {
        if wrap_all(&mut self.scratch, self.config.mesh_out_bits) {
            self.warn_wrapped(site);
        }
    }

    #[cold]
    pub(super) fn warn_wrapped(&mut self, site: Site) {
        let bits = self.config.mesh_out_bits;
        self.warnings.add(site, "partial-sum-wrapped", || {
            format!("a partial sum did not fit the {bits} bits of the array and wrapped")
        });
    }

    /// Moves the result in `scratch` to where it belongs.
    pub(super) fn write_result(&mut self, site: Site, dest: Tile, after_load: u32) {
        let (dim, cols) = (self.config.dim as usize, usize::from(dest.cols));
        let ex = self.configured.ex;
        let mask = column_mask(dest.cols.into());
        let floats = self.config.elements == Elements::Float32;
        let relu = ex.activation == Activation::Relu;
        for at in 0..u32::from(dest.rows) {
            let row = dest.address.row() + at * u32::from(ex.c_stride);
            let from = &self.scratch[at as usize * dim..][..cols];
            if dest.address.is_accumulator() {
                let to = &mut self.local.words[row as usize * dim..][..cols];
                match (dest.address.accumulates(), floats) {
                    (false, _) => to.copy_from_slice(from),
                    (true, false) => to
                        .iter_mut()
                        .zip(from)
                        .for_each(|(to, from)| *to = to.wrapping_add(*from)),
                    (true, true) => to
                        .iter_mut()
                        .zip(from)
                        .for_each(|(to, from)| *to = add_float_bits(*to, *from)),
                }
            } else {
                let to = &mut self.local.bytes[row as usize * self.local.row_bytes..]
                    [..self.local.row_bytes];
                if floats {
                    for (to, from) in to.chunks_exact_mut(4).zip(from) {
                        let value = f32::from_bits(*from as u32);
                        to.copy_from_slice(
                            &if relu { relu_f32(value) } else { value }.to_le_bytes(),
                        );
                    }
                } else {
                    for (to, from) in to.iter_mut().zip(from) {
                        let value = clamp_i8(*from);
                        *to = if relu { value.max(0) } else { value } as u8;
                    }
                }
            }
        }
        let memory = if dest.address.is_accumulator() {
            &mut self.local.acc
        } else {
            &mut self.local.spad
        };
        let (rows, stride) = (u32::from(dest.rows), u32::from(ex.c_stride));
        let first = dest.address.row();
        if stride == 1 {
            memory.note_write(first, rows, mask, site.pc, after_load);
        } else {
            for at in 0..rows {
                memory.note_write(first + at * stride, 1, mask, site.pc, after_load);
            }
        }
    }
}

/// Wraps every sum; returns whether one changed.
pub(super) fn wrap_all(sums: &mut [i32], bits: u32) -> bool {
    let mut changed = 0;
    for sum in sums {
        let wrapped = wrap(*sum, bits);
        changed |= wrapped ^ *sum;
        *sum = wrapped;
    }
    changed != 0
}

/// Adds two floats given as bits.
pub(super) fn add_float_bits(a: i32, b: i32) -> i32 {
    canonical(f32::from_bits(a as u32) + f32::from_bits(b as u32)).to_bits() as i32
}
