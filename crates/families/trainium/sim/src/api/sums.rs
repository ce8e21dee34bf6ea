//! What products may add to in the accumulators.
//!
//! Facts (the page on `nc_matmul` of the second dialect): a product that is added must find what a
//! product has begun; on cores before v4 it cannot be added to what another engine wrote. What a
//! product writes lies in one bank.

use super::memory::PSUM_BANK;
use super::{Device, Dialect};
use crate::diagnostic::{Failure, FailureKind, Outcome};
use crate::tensor::dtype::POISON;
use crate::tensor::storage::Buffer;
use crate::tensor::view::View;
use crate::trace::{Instruction, Operation, Region};

/// What another engine than the matrix engine wrote to the accumulators.
pub(super) struct Foreign {
    region: Region,
    line: u32,
    /// A memset with zero.
    is_zero: bool,
}

impl Device {
    /// Notes that the last memset wrote zeros.
    pub(super) fn note_zeros(&mut self, target: &View) {
        let tile = self.bounds(target).tile.number;
        if let Some(last) = self
            .foreign
            .get_mut(&tile)
            .and_then(|known| known.last_mut())
        {
            last.is_zero = true;
        }
    }

    /// Adds to a product what `target` holds, if it is added to that.
    pub(super) fn add_up(
        &mut self,
        one: &mut Instruction,
        values: &mut [f32],
        target: &View,
        accumulate: Option<bool>,
    ) -> Outcome<()> {
        let over = self.accumulates(target, accumulate)?;
        one.features.accumulate = over.is_some();
        one.features.is_told_to_add = accumulate == Some(true);
        if let (Some(old), true) = (over, self.functional) {
            for (value, old) in values.iter_mut().zip(old) {
                if old.to_bits() != POISON || accumulate == Some(true) {
                    *value += old;
                }
            }
        }
        Ok(())
    }

    /// What the accumulator holds, if the product is added to it.
    fn accumulates(
        &mut self,
        target: &View,
        accumulate: Option<bool>,
    ) -> Outcome<Option<Vec<f32>>> {
        match accumulate {
            Some(false) => Ok(None),
            _ if target.buffer() != Buffer::Psum => Ok(None),
            _ if accumulate.is_none() && !target.storage.written.get() => Ok(None),
            _ => {
                let old = self.read_old(target)?;
                let unset = |it: &f32| it.to_bits() == POISON;
                if accumulate == Some(true) && old.iter().any(unset) {
                    let message = format!(
                        "accumulate=True adds to the tensor made at line {}, to which no product was written yet: undefined on the device; leave accumulate= away, or write accumulate=(i > 0)",
                        target.storage.line
                    );
                    // What later products add to the sum is not what makes it undefined.
                    if self.remarks.iter().all(|it| it.message != message) {
                        self.remark("unset-accumulator", message);
                    }
                }
                Ok(Some(old))
            }
        }
    }

    /// Checks that what a product writes lies in one bank of the accumulators.
    pub(super) fn check_bank(&self, target: &View) -> Outcome<()> {
        if target.buffer() != Buffer::Psum {
            return Ok(());
        }
        let region = self.bounds(target);
        let tensor = self.trace.tensors.get(region.tile.tensor as usize);
        let places = tensor.and_then(|tensor| tensor.places.as_ref());
        let place = places.and_then(|places| places.get(region.tile.block as usize));
        let start = place.map_or(0, |place| place.byte as usize);
        let (low, high) = (
            start + region.span.0 as usize,
            start + region.span.1.max(region.span.0 + 1) as usize - 1,
        );
        if low / PSUM_BANK == high / PSUM_BANK {
            return Ok(());
        }
        Err(Failure::new(
            FailureKind::Rejected,
            "psum-bank-crossed",
            format!(
                "the matrix engine writes bytes {low} to {} of a partition of PSUM, across the end of a bank of {PSUM_BANK} bytes (tensor made at line {})",
                high + 1,
                target.storage.line
            ),
            "let each product write within one bank: 512 columns of float32 that begin at a multiple of 512",
        ))
    }

    /// Checks that a product is not added to what another engine wrote, and notes who writes.
    pub(super) fn check_sum(&mut self, instruction: &Instruction) -> Outcome<()> {
        if self.dialect == Dialect::V1 || self.architecture.generation > 3 {
            return Ok(());
        }
        let product = matches!(
            instruction.operation,
            Operation::Matmul | Operation::Transpose
        );
        for region in &instruction.writes {
            let tensor = self.trace.tensors.get(region.tile.tensor as usize);
            if tensor.is_none_or(|tensor| tensor.buffer != Buffer::Psum) {
                continue;
            }
            if !product {
                let known = self.foreign.entry(region.tile.number).or_default();
                known.retain(|other| !region.part().covers(&other.region.part()));
                known.push(Foreign {
                    region: *region,
                    line: instruction.line,
                    is_zero: false,
                });
                continue;
            }
            let Some(known) = self.foreign.get_mut(&region.tile.number) else {
                continue;
            };
            let meets = |it: &&Foreign| it.region.part().overlaps(&region.part());
            let met = known.iter().filter(meets);
            let met = met.min_by_key(|it| it.is_zero && !instruction.features.is_told_to_add);
            let met = met.map(|it| (it.line, it.is_zero && !instruction.features.is_told_to_add));
            known.retain(|other| !region.part().overlaps(&other.region.part()));
            let Some((line, is_harmless)) = met.filter(|_| instruction.features.accumulate) else {
                continue;
            };
            let message = format!(
                "the product is added to what line {line} wrote to PSUM; on this core a product can only be added to another product"
            );
            let remedy = "leave the memset or copy out and let the first product overwrite (accumulate=False, or None on a fresh tensor)";
            if !is_harmless {
                return Err(Failure::new(
                    FailureKind::Rejected,
                    "sum-not-begun-by-a-product",
                    message,
                    remedy,
                ));
            }
            // Zeros, and the compiler decides whether it adds to them: published kernels do so.
            self.warn("sum-not-begun-by-a-product", message, remedy);
        }
        Ok(())
    }
}
