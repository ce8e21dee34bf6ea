//! Direct allocation: where a kernel says that its tiles lie.

/// Where a tile lies: its first partition, and its first byte in each partition. The banks of the
/// accumulators lie one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) partition: u16,
    pub(crate) byte: u32,
}

impl Place {
    /// The place of these numbers, if there can be such.
    pub(crate) fn new(partition: i64, byte: i64) -> Option<Self> {
        Some(Self {
            partition: u16::try_from(partition).ok()?,
            byte: u32::try_from(byte).ok()?,
        })
    }
}

/// One coordinate of a place that repeats along the blocks of a tensor.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repeating {
    /// Where the first block lies.
    pub(crate) base: i64,
    /// Along how many blocks of each dimension the places differ; one where none is named.
    pub(crate) tiles: Vec<i64>,
}

impl Repeating {
    /// The coordinate of a block whose neighbours are `step` apart (`mod_alloc` of the documents).
    pub(crate) fn at(&self, block: &[i64], step: i64) -> Option<i64> {
        let mut number = 0i64;
        for (index, tiles) in block.iter().zip(&self.tiles) {
            let tiles = (*tiles).max(1);
            number = number.checked_mul(tiles)?.checked_add(index % tiles)?;
        }
        number.checked_mul(step)?.checked_add(self.base)
    }
}
