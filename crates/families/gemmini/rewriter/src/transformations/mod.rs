//! The transformations, one file each.

mod double_buffer;
mod hoist_invariants;
mod interchange;
mod keep_weights;
mod load_once;
mod move_transfers;
mod overwrite_first;
mod place_buffer;
mod prefetch;
mod registry;
mod wide_move;

pub use registry::{TRANSFORMATIONS, find};
