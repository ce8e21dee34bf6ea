//! What the instructions of a plan do to its tiles, counted once for all passes that ask.

use super::memory::Plan;
use super::simplify::{adds, is_plain};
use crate::trace::{Operation, Tile};

/// What is done to one tile.
#[derive(Clone, Copy, Default)]
pub(super) struct TileUses {
    tile: Tile,
    /// How many instructions write it, and how many read it.
    pub(super) writers: u32,
    pub(super) readers: u32,
    first: u32,
    /// The last instruction that does either.
    pub(super) last: u32,
}

impl TileUses {
    /// The first instruction that does either.
    pub(super) const fn first(&self) -> u32 {
        self.first
    }

    /// Notes a use of `tile`, which these are of.
    fn by(&mut self, position: u32, tile: Tile) -> &mut Self {
        if self.readers + self.writers == 0 {
            (self.tile, self.first) = (tile, position);
        }
        self.last = position;
        self
    }
}

/// First and last use of a tile.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub(super) tile: Tile,
    pub(super) first: u32,
    pub(super) last: u32,
}

/// What the instructions of a plan do.
pub(super) struct Uses {
    /// By the numbers of the tiles.
    pub(super) tiles: Vec<TileUses>,
    /// How many of the instructions are loads.
    pub(super) loads: u32,
    /// Whether there are operations in affine loops that may be equal to others.
    pub(super) plain: bool,
    /// Whether there are sums of two tiles into an accumulator.
    pub(super) sums: bool,
    /// Whether there are operations on two tiles.
    pub(super) pairs: bool,
}

impl Uses {
    pub(super) fn of(plan: &Plan) -> Self {
        let mut uses = Self {
            tiles: plan.table(TileUses::default()),
            loads: 0,
            plain: false,
            sums: false,
            pairs: false,
        };
        for (position, instruction) in (0u32..).zip(plan.instructions.iter()) {
            let operation = instruction.operation;
            uses.loads += u32::from(operation == Operation::Load);
            uses.plain |= instruction.site.0 != 0 && is_plain(operation);
            uses.sums |= adds(instruction);
            uses.pairs |= operation == Operation::TensorTensor;
            for region in &instruction.reads {
                uses.tiles[region.tile.at()]
                    .by(position, region.tile)
                    .readers += 1;
            }
            for region in &instruction.writes {
                uses.tiles[region.tile.at()]
                    .by(position, region.tile)
                    .writers += 1;
            }
        }
        uses
    }

    /// The tensors that are written, each once for each tile.
    pub(super) fn written(&self) -> impl Iterator<Item = u32> {
        let written = self.tiles.iter().filter(|it| it.writers > 0);
        written.map(|it| it.tile.tensor)
    }

    /// The spans of all tiles that are used, by the numbers of the tiles.
    pub(super) fn spans(&self) -> impl Iterator<Item = Span> {
        let used = self.tiles.iter().filter(|it| it.readers + it.writers > 0);
        used.map(|it| Span {
            tile: it.tile,
            first: it.first,
            last: it.last,
        })
    }
}
