//! Tensors of the device: data types with exact rounding, memories, views, index expressions.

pub(crate) mod accesses;
pub(crate) mod account;
pub(crate) mod bits;
pub mod dtype;
pub(crate) mod index;
pub(crate) mod place;
pub(crate) mod short;
pub(crate) mod storage;
pub(crate) mod view;
