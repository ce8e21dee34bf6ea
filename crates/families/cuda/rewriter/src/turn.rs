//! Transpositions: what lies side by side along one coordinate is written side by side along
//! another, by way of a tile in shared memory.

use crate::GpuResources;
use crate::change::Change;
use crate::expression::{Expression, coefficient};
use crate::launch_text::{Written, begin_of_block};
use crate::nest::Nest;
use crate::step::Step;
use autocomp_c_loops::affine::Affine;
use autocomp_nests::Text;
use serde::{Deserialize, Serialize};

/// Elements of a tile along each side.
const SIDE: i64 = 32;

/// How tiles are turned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// Rows of threads of a block: each does 32 / rows elements.
    pub rows: i64,
    /// Elements behind each row of the tile that nobody uses.
    pub pad: i64,
    /// Tiles of a block, side by side along the coordinate that is read.
    pub tiles: i64,
}

/// What is turned.
struct Turned<'n> {
    array: &'n str,
    index: &'n Affine,
    value: &'n Expression,
    /// The coordinate along which elements are read, and the one along which they are written.
    from: usize,
    to: usize,
}

fn turned(nest: &Nest) -> Option<Turned<'_>> {
    let [
        Step::Store {
            array,
            index: Expression::Index(index),
            value,
        },
    ] = nest.steps.as_slice()
    else {
        return None;
    };
    if value.reads(array) || nest.points.len() < 2 {
        return None;
    }
    let beside = |index: &Affine| {
        nest.points
            .iter()
            .position(|it| coefficient(index, &it.name) == Some(1))
    };
    let to = beside(index)?;
    let mut from = None;
    for (_, index) in value.loads() {
        let along = beside(index.as_index()?);
        match (along, from) {
            (None, _) => {}
            (Some(found), None) if found != to => from = Some(found),
            (Some(found), Some(known)) if found == known => {}
            _ => return None,
        }
    }
    Some(Turned {
        array,
        index,
        value,
        from: from?,
        to,
    })
}

impl Turn {
    /// Returns the ways to turn tiles.
    pub(crate) fn all(nest: &Nest) -> Vec<Self> {
        if turned(nest).is_none() {
            return Vec::new();
        }
        let mut found = Vec::new();
        for rows in [4, 8, 16] {
            for pad in [1, 0] {
                for tiles in [1, 2] {
                    found.push(Self { rows, pad, tiles });
                }
            }
        }
        found
    }

    pub(crate) fn estimate(&self, nest: &Nest, machine: &GpuResources) -> f64 {
        let bytes = nest.count() as f64 * 8.0;
        let met = if self.pad == 0 { 2.5 } else { 1.0 };
        let under_way =
            1.0 + 0.04 * (self.rows as f64 / 4.0).log2() + 0.02 * (2 - self.tiles) as f64;
        bytes / machine.dram_bytes_per_ns * met * under_way + machine.launch_ns
    }

    pub(crate) fn write(&self, nest: &Nest, name: &str) -> Option<Written> {
        let Turned {
            array,
            index,
            value,
            from,
            to,
        } = turned(nest)?;
        let threads = SIDE * self.rows;
        let kind = nest.kind_of(array);
        let mut text = Text::default();
        text.open(&format!(
            "__global__ void __launch_bounds__({threads}) {name}({})",
            nest.parameters_to_c()
        ));
        let wide = SIDE * self.tiles;
        text.line(&format!(
            "__shared__ {kind} tile[{SIDE}][{}];",
            wide + self.pad
        ));
        let mut blocks = 1;
        let mut firsts = Vec::new();
        for (at, point) in nest.points.iter().enumerate().rev() {
            let side = if at == from {
                wide
            } else if at == to {
                SIDE
            } else {
                1
            };
            let of_axis = (point.extent + side - 1) / side;
            let begin = begin_of_block(blocks, of_axis, side, at == 0);
            text.line(&format!("const int first{at} = {begin};"));
            firsts.push((at, of_axis));
            blocks *= of_axis;
        }
        let place = |at: usize, by: &str| {
            let first = Affine::variable(&format!("first{at}"));
            if by.is_empty() {
                Some(first)
            } else {
                first.plus(&Affine::variable(by))
            }
        };
        // Threads lie along `from` while they read, along `to` while they write.
        let moved = |value: &Expression, across: &str, down: &str| -> Option<Expression> {
            let mut value = value.clone();
            for (at, point) in nest.points.iter().enumerate() {
                let by = if at == from {
                    across
                } else if at == to {
                    down
                } else {
                    ""
                };
                value = value.with_index(&point.name, &place(at, by)?);
            }
            Some(value)
        };
        let inside = |at: usize, by: &str, side: i64| {
            let point = &nest.points[at];
            (point.extent % side != 0).then(|| format!("first{at} + {by} < {}", point.extent))
        };
        let condition = |across: &str, down: &str| {
            let parts: Vec<String> = [inside(from, across, wide), inside(to, down, SIDE)]
                .into_iter()
                .flatten()
                .collect();
            if parts.is_empty() {
                String::new()
            } else {
                format!("if ({}) ", parts.join(" && "))
            }
        };
        text.line("#pragma unroll");
        text.open(&format!(
            "for (int down = threadIdx.y; down < {SIDE}; down += {})",
            self.rows
        ));
        text.line("#pragma unroll");
        text.open(&format!(
            "for (int across = threadIdx.x; across < {wide}; across += {SIDE})"
        ));
        text.line(&format!(
            "{}tile[down][across] = {};",
            condition("across", "down"),
            moved(value, "across", "down")?.to_c()
        ));
        text.close();
        text.close();
        text.line("__syncthreads();");
        text.line("#pragma unroll");
        text.open(&format!(
            "for (int across = threadIdx.y; across < {wide}; across += {})",
            self.rows
        ));
        text.line("const int down = threadIdx.x;");
        let to_index = moved(&Expression::Index(index.clone()), "across", "down")?;
        text.line(&format!(
            "{}{array}[{}] = tile[down][across];",
            condition("across", "down"),
            to_index.to_c()
        ));
        text.close();
        text.close();
        Some(Written {
            functions: text.lines,
            host: vec![format!(
                "{name}<<<{blocks}, dim3({SIDE}, {})>>>({});",
                self.rows,
                nest.arguments_to_c()
            )],
        })
    }

    pub(crate) fn changes(&self, before: Option<&Self>) -> Vec<(Change, String)> {
        let mut found = Vec::new();
        if before.is_none() {
            found.push((Change::Coalesce, "Go through a tile in shared memory, so that both what is read and what is written lies side by side for the threads of a warp.".into()));
        }
        if before.map_or(0, |it| it.pad) != self.pad {
            found.push((
                Change::PadShared,
                match self.pad {
                    0 => "Leave rows of the tile without padding.".into(),
                    pad => format!(
                        "Pad rows of the tile by {pad}, so that a column lies in all banks."
                    ),
                },
            ));
        }
        if before.is_some_and(|it| (it.rows, it.tiles) != (self.rows, self.tiles)) {
            found.push((
                Change::MoreWork,
                format!(
                    "Let {} threads do {} tiles of 32x32.",
                    32 * self.rows,
                    self.tiles
                ),
            ));
        }
        found
    }
}
