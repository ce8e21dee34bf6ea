//! Which way each launch is carried out.

use crate::GpuResources;
use crate::change::Change;
use crate::counting::Counting;
use crate::launch_text::Written;
use crate::matrix::Matrix;
use crate::nest::Nest;
use crate::points::Points;
use crate::rows::{self, Rows};
use crate::tiles::Tiles;
use crate::turn::Turn;
use serde::{Deserialize, Serialize};

/// How the launches of a kernel are carried out, in their order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// One for each launch.
    pub launches: Vec<Part>,
}

/// How one launch is carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// As it is written.
    AsWritten,
    /// Point by point.
    Points(Points),
    /// Rows that threads share.
    Rows(Rows),
    /// Tiles that go through shared memory, read in one direction and written in another.
    Turn(Turn),
    /// Counters in shared memory.
    Counting(Counting),
    /// A product by tiles.
    Tiles(Tiles),
    /// A product by the matrix units.
    Matrix(Matrix),
}

impl Part {
    /// Returns the ways in which a nest can be carried out.
    pub(crate) fn all(nest: &Nest, machine: &GpuResources) -> Vec<Self> {
        let mut found: Vec<Self> = Rows::all(nest).into_iter().map(Self::Rows).collect();
        found.extend(Points::all(nest).into_iter().map(Self::Points));
        found.extend(Tiles::all(nest, machine).into_iter().map(Self::Tiles));
        found.extend(Matrix::all(nest, machine).into_iter().map(Self::Matrix));
        found.extend(Turn::all(nest).into_iter().map(Self::Turn));
        found.extend(Counting::all(nest, machine).into_iter().map(Self::Counting));
        found
    }

    /// Returns an estimate in nanoseconds.
    pub(crate) fn estimate(&self, nest: &Nest, machine: &GpuResources) -> f64 {
        match self {
            Self::AsWritten => f64::INFINITY,
            Self::Points(points) => points.estimate(nest, machine),
            Self::Rows(rows) => rows.estimate(nest, machine),
            Self::Turn(turn) => turn.estimate(nest, machine),
            Self::Counting(counting) => counting.estimate(nest, machine),
            Self::Tiles(tiles) => tiles.estimate(nest, machine),
            Self::Matrix(matrix) => matrix.estimate(nest, machine),
        }
    }

    /// Writes it; nothing if it does not fit the nest.
    pub(crate) fn write(&self, nest: &Nest, name: &str, machine: &GpuResources) -> Option<Written> {
        // Whoever wrote a schedule into a kernel may have written anything.
        if !self.is_sound() {
            return None;
        }
        match self {
            Self::AsWritten => None,
            Self::Points(points) => points.write(nest, name),
            Self::Rows(found) => rows::write(nest, found, name),
            Self::Turn(turn) => turn.write(nest, name),
            Self::Counting(counting) => counting.write(nest, name),
            Self::Tiles(tiles) => tiles.write(nest, name, machine),
            Self::Matrix(matrix) => matrix.write(nest, name, machine),
        }
    }

    /// Returns whether all numbers are such as schedules have.
    fn is_sound(&self) -> bool {
        let is_size = |it: &i64| (1..=1024).contains(it);
        let all = |sizes: &[i64]| sizes.iter().all(is_size);
        match self {
            Self::AsWritten => true,
            Self::Points(points) => {
                all(&[points.across, points.down, points.vector])
                    && points.across * points.down <= 1024
                    && points.vector <= 4
                    && all(&points.each)
                    && points.each.iter().product::<i64>() <= 64
            }
            // Only what is proposed is written.
            Self::Rows(_) => true,
            Self::Turn(turn) => {
                matches!(turn.rows, 1 | 2 | 4 | 8 | 16 | 32)
                    && (0..=32).contains(&turn.pad)
                    && (1..=4).contains(&turn.tiles)
            }
            Self::Counting(counting) => {
                let shared = counting.places.saturating_mul(counting.copies);
                all(&[counting.copies, counting.vector, counting.threads])
                    && (1..=4096).contains(&counting.places)
                    && (1..=65_535).contains(&counting.blocks)
                    && shared <= 12_000
            }
            Self::Tiles(tiles) => {
                all(&tiles.tile)
                    && all(&tiles.each)
                    && all(&[tiles.split])
                    && match tiles.copies {
                        true => (2..=4).contains(&tiles.stages),
                        false => (1..=2).contains(&tiles.stages),
                    }
                    && (0..=32).contains(&tiles.pad)
                    && tiles.pad % 4 == 0
                    && tiles.each.iter().all(|it| it % 4 == 0)
            }
            Self::Matrix(matrix) => {
                all(&matrix.tile)
                    && all(&matrix.warps)
                    && matrix.warps.iter().product::<i64>() <= 32
                    && (2..=8).contains(&matrix.stages)
                    && (0..=64).contains(&matrix.pad)
                    && matrix.pad % 8 == 0
            }
        }
    }

    /// Returns what changes from another way to this one, each with a sentence.
    pub(crate) fn changes(&self, before: &Self, nest: &Nest) -> Vec<(Change, String)> {
        match (self, before) {
            (Self::AsWritten, _) => vec![(Change::Other, "Leave it as it is written.".into())],
            (Self::Points(points), Self::Points(old)) => points.changes(Some(old), nest),
            (Self::Points(points), _) => points.changes(None, nest),
            (Self::Rows(rows), Self::Rows(old)) => rows.changes(Some(old), nest),
            (Self::Rows(rows), _) => rows.changes(None, nest),
            (Self::Turn(turn), Self::Turn(old)) => turn.changes(Some(old)),
            (Self::Turn(turn), _) => turn.changes(None),
            (Self::Counting(counting), Self::Counting(old)) => counting.changes(Some(old)),
            (Self::Counting(counting), _) => counting.changes(None),
            (Self::Tiles(tiles), Self::Tiles(old)) => tiles.changes(Some(old)),
            (Self::Tiles(tiles), _) => tiles.changes(None),
            (Self::Matrix(matrix), Self::Matrix(old)) => matrix.changes(Some(old)),
            (Self::Matrix(matrix), _) => matrix.changes(None),
        }
    }
}
