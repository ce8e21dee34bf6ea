//! Tiles that the compiler makes beside those of the kernel. A kernel of the first dialect that
//! places tensors in SBUF itself has to make them, too: the compiler has no place for its own.
//!
//! Kernels that place tensors in PSUM only are not held to it: a published one of the vendor
//! (`blockwise_mm_baseline_allocated`) has functions without a bias and tensors with values.

use super::{Device, Dialect};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::storage::Buffer;

/// What a kernel leaves to the compiler.
#[derive(Default)]
pub(super) struct Unplaced {
    /// Whether the kernel places tensors in SBUF itself.
    placing: bool,
    /// What it left to the compiler first, before it placed one.
    first: Option<Box<Failure>>,
}

const WHO: &str = "this kernel places its tensors in SBUF itself";

/// What is wrong with a function of the scalar engine that has no bias tile.
pub(super) fn no_bias(name: &str) -> Box<Failure> {
    Failure::documented(
        "err_bias_tensor_must_be_specified_in_allocation",
        format!("{name} has no bias tile, which the compiler would place; {WHO}"),
        "fill a placed tile of shape (partitions, 1) with zeros and pass it as bias= of nisa.activation",
    )
}

/// What is wrong with a tensor that is made with a value.
pub(super) fn with_value(name: &str, buffer: Buffer) -> Box<Failure> {
    Failure::documented(
        "err_tensor_creation_on_scratchpad_with_init_value_not_allowed",
        format!(
            "{name} makes a tensor in {} that has a value; {WHO}",
            buffer.name()
        ),
        "make it with nl.ndarray and assign the value: t[...] = 0.0",
    )
}

/// What is wrong with a tile that the matrix engine turns.
pub(super) fn turned(shape: &[usize]) -> Box<Failure> {
    Failure::documented(
        "err_transpose_on_tensor_engine_not_allowed_in_allocated_kernel",
        format!(
            "the matrix engine turns a tile of shape {shape:?} by an identity, which the compiler would place; {WHO}"
        ),
        "load an identity into a placed tile and call nisa.nc_matmul(tile, identity); engine=nisa.vector_engine of nisa.nc_transpose turns 32 by 32 without one",
    )
}

impl Device {
    /// Notes what the kernel leaves to the compiler.
    ///
    /// # Errors
    /// `failure`, where the kernel places tensors in SBUF itself.
    pub(super) fn leave(&mut self, failure: impl FnOnce() -> Box<Failure>) -> Outcome<()> {
        let known = !self.unplaced.placing && self.unplaced.first.is_some();
        if self.dialect == Dialect::V2 || known {
            return Ok(());
        }
        let failure = failure().at(self.line);
        if self.unplaced.placing {
            return Err(failure);
        }
        self.unplaced.first = Some(failure);
        Ok(())
    }

    /// Notes that the kernel places a tensor in SBUF itself.
    ///
    /// # Errors
    /// What it left to the compiler before.
    pub(super) fn begin_placing(&mut self) -> Outcome<()> {
        self.unplaced.placing = true;
        self.unplaced.first.take().map_or(Ok(()), Err)
    }
}
