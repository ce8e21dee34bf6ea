//! Products in single precision by tiles: shared memory for both operands, registers for results.

mod ahead;
mod results;
mod write;

use crate::GpuResources;
use crate::change::Change;
use crate::expression::Expression;
use crate::nest::Nest;
use crate::product::{Operand, Product, product};
use autocomp_nests::Text;
use serde::{Deserialize, Serialize};

/// How a product is computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tiles {
    /// Rows, columns and depth of a block's tile.
    pub tile: [i64; 3],
    /// Rows and columns of a thread's results.
    pub each: [i64; 2],
    /// Tiles in shared memory: 2 to load the next while computing on the last.
    pub stages: i64,
    /// Whether tiles are copied asynchronously, all but one of them ahead.
    #[serde(default)]
    pub copies: bool,
    /// Floats behind each row of a shared tile that nobody uses.
    pub pad: i64,
    /// Blocks that share the depth of one tile, whose results a second launch adds up; 1 for none.
    pub split: i64,
}

/// Rows or columns of a block's tile: multiples of 3 as well, so that the blocks of a product may
/// come out as whole waves.
const SIDES: [i64; 6] = [32, 64, 96, 128, 192, 256];
/// Depth of a tile that holds the whole depth of a product, at most.
const MOST_DEPTH: i64 = 128;
/// Registers of a multiprocessor.
const REGISTERS: i64 = 65_536;
/// Memory that a host function may ask for, bytes: parts of results that blocks leave for others.
const MOST_SCRATCH_BYTES: i64 = 128 << 20;

fn of_floats(nest: &Nest) -> Option<Product<'_>> {
    let found = product(nest)?;
    (found.left.kind == "float"
        && found.right.kind == "float"
        && nest.kinds.get(found.sum)? == "float")
        .then_some(found)
}

impl Tiles {
    /// Returns the ways to compute a product.
    pub(crate) fn all(nest: &Nest, machine: &GpuResources) -> Vec<Self> {
        let Some(found) = of_floats(nest) else {
            return Vec::new();
        };
        let mut all = Vec::new();
        // The whole depth at once needs one barrier.
        let mut depths = vec![8, 16, 32];
        depths.extend(Some(found.depths).filter(|it| (33..=MOST_DEPTH).contains(it)));
        let is_zero = matches!(&found.first, Expression::Text(text) if text.trim_end_matches('f').parse() == Ok(0.0));
        for each in [[4, 4], [8, 4], [4, 8], [8, 8], [12, 8], [8, 12], [16, 8]] {
            for rows in SIDES {
                for columns in SIDES {
                    for &depth in &depths {
                        for (stages, copies) in
                            [(1, false), (2, false), (2, true), (3, true), (4, true)]
                        {
                            for pad in [0, 4] {
                                for split in [1, 2, 4, 8] {
                                    let made = Self {
                                        tile: [rows, columns, depth],
                                        each,
                                        stages,
                                        copies,
                                        pad,
                                        split,
                                    };
                                    // Where there are blocks for all, sharing the depth only costs.
                                    let blocks = nest.count() / (rows * columns);
                                    let is_last = found.depths / split < stages * depth;
                                    if is_last && 1 < stages {
                                        continue;
                                    }
                                    let is_whole = split == 1
                                        || is_zero
                                            && found.depths % (split * depth) == 0
                                            && (blocks as f64) < 2.0 * machine.sms
                                            && nest.count() * split * 4 <= MOST_SCRATCH_BYTES;
                                    if is_whole && made.fits(nest, &found, machine) {
                                        all.push(made);
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        all
    }

    fn threads(&self) -> i64 {
        let [rows, columns, _] = self.tile;
        rows / self.each[0] * (columns / self.each[1])
    }

    fn fits(&self, nest: &Nest, found: &Product<'_>, machine: &GpuResources) -> bool {
        let [rows, columns, depth] = self.tile;
        let threads = self.threads();
        // A warp has 8 threads along columns and 4 along rows.
        if depth % 4 != 0
            || rows % (4 * self.each[0]) != 0
            || columns % (8 * self.each[1]) != 0
            || !(64..=512).contains(&threads)
        {
            return false;
        }
        if 2 * found.rows <= rows || 2 * found.columns <= columns || 2 * found.depths <= depth {
            return false;
        }
        // Copies take the last rows and columns again where a tile reaches beyond them, but a
        // depth beyond the last would count.
        if self.copies && found.depths % depth != 0 {
            return false;
        }
        let pieces = |operand: &Operand, side: i64| {
            let count = side * depth / self.width(nest, found, operand);
            count % threads == 0 && count / threads <= if self.copies { 32 } else { 16 }
        };
        let bytes = self.stages * depth * (rows + columns + 2 * self.pad) * 4;
        pieces(&found.left, rows)
            && pieces(&found.right, columns)
            && bytes <= machine.shared_bytes
            && self.registers() <= 220
            && self.registers() * threads <= REGISTERS
    }

    /// Floats of an operand that a thread loads at once. Copies turn what lies along the depth
    /// float by float.
    fn width(&self, nest: &Nest, found: &Product<'_>, operand: &Operand) -> i64 {
        match self.copies && operand.is_along_depth {
            true => 1,
            false => found.width(nest, operand, 4),
        }
    }

    /// Registers of a thread, about as many as the time model guesses.
    fn registers(&self) -> i64 {
        let [rows, columns, depth] = self.tile;
        let staged = match self.copies {
            true => 0,
            false => (rows + columns) * depth / self.threads(),
        };
        let [own_rows, own_columns] = self.each;
        own_rows * own_columns + own_rows + own_columns + staged + 38
    }

    pub(crate) fn estimate(&self, nest: &Nest, machine: &GpuResources) -> f64 {
        let Some(found) = of_floats(nest) else {
            return f64::INFINITY;
        };
        let [rows, columns, depth] = self.tile;
        let threads = self.threads();
        let batches = nest.count() / (found.rows * found.columns);
        let of = |extent: i64, side: i64| (extent + side - 1) / side;
        let blocks =
            (of(found.rows, rows) * of(found.columns, columns) * batches * self.split) as f64;
        let shared = self.stages * depth * (rows + columns + 2 * self.pad) * 4;
        let held = (REGISTERS / (self.registers() * threads))
            .min(100_000 / shared)
            .min(1536 / threads)
            .max(1) as f64;
        let busiest = (blocks / machine.sms).ceil();
        let depths = (of(found.depths, depth) * depth / self.split) as f64;
        // Cycles of a multiprocessor for one block.
        let macs = (rows * columns) as f64 * depths / 128.0;
        let [own_rows, own_columns] = self.each;
        let warps = threads as f64 / 32.0;
        let reads = warps * depths * (own_rows + own_columns) as f64 / 4.0 * 2.0;
        let met = if !self.copies
            && self.pad == 0
            && (found.left.is_along_depth || found.right.is_along_depth)
        {
            4.0
        } else {
            1.2
        };
        let fills = (rows + columns) as f64 * depths / 32.0 * met;
        let l2 = (rows + columns) as f64 * depths * 4.0
            / (machine.l2_bytes_per_ns / machine.sms / machine.clock_ghz);
        // Copies pass no registers.
        let by_registers = if self.copies { 0.1 } else { 0.4 };
        let busy = macs.max(reads + fills).max(l2) + 0.15 * (reads + l2) + by_registers * fills;
        // Warps that hide what others wait for.
        let around = (busiest.min(held) * warps).max(1.0);
        let alternates = self.stages == 1 && depth < found.depths / self.split;
        let hidden = (around / 12.0).min(1.0).sqrt() * if alternates { 0.85 } else { 1.0 };
        let waits = depths / depth as f64 * 60.0 + 1500.0;
        let cycles = busiest * busy / hidden + waits;
        let joins = match self.split {
            1 => 0.0,
            split => {
                machine.launch_ns
                    + nest.count() as f64 * 4.0 * (2 * split) as f64 / machine.l2_bytes_per_ns
            }
        };
        cycles / machine.clock_ghz + joins + machine.launch_ns
    }

    pub(crate) fn changes(&self, before: Option<&Self>) -> Vec<(Change, String)> {
        let mut found = Vec::new();
        let [rows, columns, depth] = self.tile;
        if before.map(|it| it.tile) != Some(self.tile) {
            found.push((Change::SharedTiling, format!("Let a block compute {rows}x{columns} results from tiles of both operands in shared memory, {depth} deep.")));
        }
        if before.map(|it| it.each) != Some(self.each) {
            found.push((Change::RegisterTiling, format!("Let each thread keep {}x{} sums in registers, and read both operands as vectors.", self.each[0], self.each[1])));
        }
        if self.copies && before.map(|it| (it.copies, it.stages)) != Some((true, self.stages)) {
            found.push((
                Change::AsyncCopies,
                format!("Copy tiles asynchronously, {} ahead.", self.stages - 1),
            ));
        } else if before.map_or((false, 1), |it| (it.copies, it.stages))
            != (self.copies, self.stages)
        {
            found.push((Change::DoubleBuffer, match self.stages {
                1 => "Keep one tile in shared memory.".into(),
                _ => "Keep two tiles in shared memory: store the next while computing on the last, with one barrier for each.".into(),
            }));
        }
        if before.map_or(0, |it| it.pad) != self.pad {
            found.push((
                Change::PadShared,
                format!("Pad rows of the tiles by {} floats.", self.pad),
            ));
        }
        if before.map_or(1, |it| it.split) != self.split {
            found.push((Change::SplitReduction, match self.split {
                1 => "Let one block do the whole depth.".into(),
                split => format!("Share the depth among {split} blocks, whose results a second launch adds up."),
            }));
        }
        found
    }
}

pub(crate) fn unrolled(text: &mut Text, counter: &str, count: i64) {
    text.line("#pragma unroll");
    text.open(&format!(
        "for (int {counter} = 0; {counter} < {count}; {counter}++)"
    ));
}
