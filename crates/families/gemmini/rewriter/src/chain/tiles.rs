//! What a chain becomes: tiles in local memory, operations on them, and moves.

/// A matrix in the scratchpad, in tiles, row of tiles by row of tiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Container {
    /// Rows and columns as it lies there.
    pub(super) extents: [i64; 2],
    /// The value, if it is computed.
    pub(super) value: Option<usize>,
}

impl Container {
    /// Returns the rows of local memory that it takes.
    pub(super) fn rows(&self, dim: i64) -> i64 {
        let tiles = self.extents.map(|extent| (extent + dim - 1) / dim);
        tiles[0] * tiles[1] * dim
    }
}

/// A tile in local memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Tile {
    pub(super) container: usize,
    /// First row, from the container's first.
    pub(super) row: i64,
    /// Rows and columns as the command states them.
    pub(super) extents: [i64; 2],
    /// Rows that it takes in local memory.
    pub(super) rows: i64,
}

/// Operations of the array one after the other whose sum becomes one tile.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) statement: usize,
    pub(super) dest: Tile,
    /// What the sum begins with.
    pub(super) first: Option<Tile>,
    /// Left and right operands.
    pub(super) steps: Vec<[Tile; 2]>,
    /// The array transposes both operands.
    pub(super) is_turned: bool,
}

/// A move between memory and the scratchpad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Move {
    pub(super) array: Option<usize>,
    /// First element in memory, and elements between rows.
    pub(super) offset: i64,
    pub(super) stride: i64,
    pub(super) factor: f32,
    pub(super) tile: Tile,
}

/// Everything in tiles.
#[derive(Clone, Debug, Default)]
pub(super) struct Lowered {
    pub(super) containers: Vec<Container>,
    pub(super) groups: Vec<Group>,
    pub(super) loads: Vec<Move>,
    pub(super) stores: Vec<Move>,
}
