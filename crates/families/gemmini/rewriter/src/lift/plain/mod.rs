//! Raises kernels that are plain C for the core to operations of the array.
//!
//! Loops are followed with counters in place of numbers: one step stands for all that
//! are alike. What is left in memory is a number of stretches of elements, each with
//! the expression that it is given. Sums of products in them become rows as the array
//! would have stored them; what is done to the sums must be what the accelerator does
//! when it stores.

mod affine;
mod code;
mod computation;
mod corrections;
mod depthwise;
mod ended;
mod evaluate;
mod follow;
mod laying;
mod linear;
mod loops;
mod node;
mod ones;
mod patches;
mod region;
mod relaid;
mod remainder;
mod results;
mod rounding;
mod rows;
mod shape;
mod stored;
mod summed;

use super::program::Type;
pub(super) use follow::{Follower, Left};
pub(super) use laying::Laying;
pub(super) use relaid::new_name;
pub(super) use stored::{Plain, stored};

/// Returns whether elements of a type are operands of the array.
pub(super) fn is_operand(kind: &Type, is_float: bool) -> bool {
    match kind {
        Type::Float => is_float,
        Type::Integer(1, true) => !is_float,
        _ => false,
    }
}
