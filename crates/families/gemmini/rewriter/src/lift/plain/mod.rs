//! Raises kernels that are plain C for the core to operations of the array.
//!
//! Loops are followed with counters in place of numbers: one step stands for all that
//! are alike. What is left in memory is a number of stretches of elements, each with
//! the expression that it is given. Sums of products in them become rows as the array
//! would have stored them; what is done to the sums must be what the accelerator does
//! when it stores.

mod affine;
mod arrangement;
mod code;
mod computation;
mod core_stores;
mod corrections;
mod depthwise;
mod element_order;
mod evaluate;
mod follow;
mod linear;
mod loop_writes;
mod loops;
mod node;
mod ones;
mod patches;
mod region;
mod remainder;
mod results;
mod rounding;
mod rows;
mod shape;
mod sum;

use crate::memory::Type;
pub(super) use arrangement::Arrangement;
pub(super) use core_stores::{Plain, stored};
pub(super) use element_order::new_name;
pub(super) use follow::{Follower, Left};

/// Returns whether elements of a type are operands of the array.
pub(super) fn is_operand(kind: &Type, is_float: bool) -> bool {
    match kind {
        Type::Float => is_float,
        Type::Integer(1, true) => !is_float,
        _ => false,
    }
}
