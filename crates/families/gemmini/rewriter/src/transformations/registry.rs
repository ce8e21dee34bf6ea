//! The list of transformations.

use crate::transformation::Transformation;
use crate::transformations::{
    double_buffer::DoubleBuffer, hoist_invariants::HoistInvariants, interchange::Interchange,
    keep_weights::KeepWeights, load_once::LoadOnce, move_transfers::MoveTransfers,
    overwrite_first::OverwriteFirst, place_buffer::PlaceBuffer, prefetch::Prefetch,
    wide_move::WideMove,
};

/// Every transformation; a new one is one file and one line here.
pub static TRANSFORMATIONS: &[&dyn Transformation] = &[
    &LoadOnce,
    &OverwriteFirst,
    &DoubleBuffer,
    &Prefetch,
    &PlaceBuffer,
    &WideMove,
    &MoveTransfers,
    &KeepWeights,
    &HoistInvariants,
    &Interchange,
];

/// Returns the transformation with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static dyn Transformation> {
    TRANSFORMATIONS
        .iter()
        .copied()
        .find(|transformation| transformation.name() == name)
}
