//! Products on tiles of the array.

use super::{Bound, Device};
use crate::diagnostic::{Failure, FailureKind, Outcome};
use crate::tensor::view::View;

impl Device {
    /// Checks `tile_position` and `tile_size` of `nisa.nc_matmul` against each other and the
    /// stationary operand.
    pub(super) fn check_tiling(
        &mut self,
        bound: &mut Bound,
        stationary: &View,
        double_row: bool,
    ) -> Outcome<()> {
        let mut pair = |name: &str| -> Outcome<Option<[usize; 2]>> {
            let Some(value) = bound.take(name) else {
                return Ok(None);
            };
            let named = super::sizes(&value);
            match named.as_deref() {
                Some([]) => Ok(None),
                Some([row, column]) => Ok(Some([*row, *column])),
                _ => Err(bound.wrong(name, "a tuple of a row and a column", &value)),
            }
        };
        let (position, size) = match (pair("tile_position")?, pair("tile_size")?) {
            (None, None) => return Ok(()),
            (Some(position), Some(size)) => (position, size),
            _ => {
                return Err(tiling(
                    "one of tile_position and tile_size is set alone".to_owned(),
                ));
            }
        };
        let least = if self.architecture.generation < 3 {
            64
        } else {
            32
        };
        let is_size = |it: &usize| [32, 64, 128].contains(it) && least <= *it;
        if !size.iter().all(is_size) {
            return Err(tiling(format!(
                "tile_size={size:?}; rows and columns are {least} to 128, doubled each time"
            )));
        }
        if position
            .iter()
            .zip(size)
            .any(|(at, of)| at % of != 0 || 128 < at + of)
        {
            return Err(tiling(format!(
                "tile_position={position:?} is no place of a tile of {size:?} in the array of 128 by 128"
            )));
        }
        let columns = stationary.free() / if double_row { 2 } else { 1 };
        if size[0] < stationary.partitions() || size[1] < columns {
            return Err(tiling(format!(
                "a stationary operand of shape {:?} does not fit tile_size={size:?}",
                stationary.shape()
            )));
        }
        if double_row && size[1] != 128 {
            return Err(tiling(
                "this product cannot be combined with tiles of columns".to_owned(),
            ));
        }
        let tiles = (128 / size[0]) * (128 / size[1]);
        if 1 < tiles {
            self.remark(
                "tiles-in-turn",
                format!(
                    "products on tiles of the array are timed one after the other; the device can run those on up to {tiles} disjoint tiles of {size:?} side by side"
                ),
            );
        }
        Ok(())
    }
}

fn tiling(what: String) -> Box<Failure> {
    Failure::new(
        FailureKind::Rejected,
        "invalid-tiling",
        format!("nisa.nc_matmul: {what}"),
        "set both, with sizes of 32, 64 or 128 that hold the stationary operand and a position that is a multiple of them, or neither",
    )
}
