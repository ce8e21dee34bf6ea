//! The transformations, one file each.

mod double_buffer;
mod interchange;
mod load_once;
mod overwrite_first;
mod place_buffer;
mod prefetch;
mod registry;
mod split;
mod unroll;
mod wide_move;

pub use registry::{TRANSFORMATIONS, find};
