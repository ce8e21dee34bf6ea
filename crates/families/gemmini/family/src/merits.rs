//! What a kernel does already, and need not be told.

use crate::profile::{Cause, Profile};
use serde::Serialize;

/// Times its bytes up to which a buffer is moved as good as once.
const ONCE: f64 = 1.1;

/// Share of the widest move from which on moves are as wide as they can be.
const WIDE: f64 = 0.9;

/// Share of the multipliers below which operands are vectors, and of a tile below which
/// moves are narrow.
const HALF: f64 = 0.5;

/// What a kernel does already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Habits {
    /// It waits in no fence but the last one.
    pub fences_once: bool,
    /// Its moves in are as wide as they can be, on average.
    pub wide_moves: bool,
    /// Its moves out are as wide as they can be, on average.
    pub wide_stores: bool,
    /// Its moves in bring less than half of a tile of operands, on average.
    pub narrow_moves: bool,
}

impl Habits {
    /// Finds the habits of a call with `fences` fences, whose moves in and out were so many
    /// with so many bytes, of `widest` at most; a tile of operands has `tile`.
    pub(crate) fn of(fences: usize, moves: [(u64, u64); 2], widest: u64, tile: u64) -> Self {
        let (count, bytes) = moves[0];
        let narrow_moves = (bytes as f64) < HALF * (count * tile) as f64;
        let [wide_moves, wide_stores] =
            moves.map(|(count, bytes)| WIDE * (count * widest) as f64 <= bytes as f64);
        Self {
            fences_once: fences <= 1,
            wide_moves,
            wide_stores,
            narrow_moves,
        }
    }
}

impl Profile {
    /// Returns whether a kernel has the habit of this name.
    pub(crate) fn has_habit(&self, name: &str) -> bool {
        match name {
            "moves-once" => self
                .buffers
                .iter()
                .all(|it| it.minimum == 0 || it.bytes_in as f64 <= ONCE * it.minimum as f64),
            "multiplies-nothing" => self.cycles_of(Cause::Mesh) == 0,
            "fences-once" => self.habits.fences_once,
            "wide-moves" => self.habits.wide_moves,
            "wide-stores" => self.habits.wide_stores,
            // One product needs what the one before results in: there are no others.
            "works-on-vectors" => self.useful_multipliers() < HALF,
            _ => false,
        }
    }
}
