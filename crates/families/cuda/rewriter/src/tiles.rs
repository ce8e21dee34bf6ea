//! Products in single precision by tiles: shared memory for both operands, registers for results.

use crate::GpuResources;
use crate::change::Change;
use crate::expression::Expression;
use crate::nest::Nest;
use crate::product::{Operand, Product, product};
use crate::sums::Sums;
use crate::written::{Written, begin_of_block};
use autocomp_c_loops::affine::Affine;
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
    /// Floats behind each row of a shared tile that nobody uses.
    pub pad: i64,
    /// Blocks that share the depth of one tile, whose results a second launch adds up; 1 for none.
    pub split: i64,
}

/// Registers of a multiprocessor.
const REGISTERS: i64 = 65_536;

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
        let is_zero = matches!(&found.first, Expression::Text(text) if text.trim_end_matches('f').parse() == Ok(0.0));
        for each in [[4, 4], [8, 4], [4, 8], [8, 8], [16, 8]] {
            for rows in [32, 64, 128, 256] {
                for columns in [32, 64, 128, 256] {
                    for depth in [8, 16, 32] {
                        for stages in [1, 2] {
                            for pad in [0, 4] {
                                for split in [1, 2, 4, 8] {
                                    let made = Self {
                                        tile: [rows, columns, depth],
                                        each,
                                        stages,
                                        pad,
                                        split,
                                    };
                                    // Where there are blocks for all, sharing the depth only costs.
                                    let blocks = nest.count() / (rows * columns);
                                    let is_whole = split == 1
                                        || is_zero
                                            && found.depths % (split * depth) == 0
                                            && (blocks as f64) < 2.0 * machine.sms;
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
        let pieces = |operand: &Operand, side: i64| {
            let count = side * depth / found.width(nest, operand, 4);
            count % threads == 0 && count / threads <= 16
        };
        let bytes = self.stages * depth * (rows + columns + 2 * self.pad) * 4;
        pieces(&found.left, rows)
            && pieces(&found.right, columns)
            && bytes <= machine.shared_bytes
            && self.registers() <= 220
    }

    /// Registers of a thread, about.
    fn registers(&self) -> i64 {
        let [rows, columns, depth] = self.tile;
        let staged = (rows + columns) * depth / self.threads();
        let [own_rows, own_columns] = self.each;
        own_rows * own_columns + own_rows + own_columns + staged + 24
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
        let met = if self.pad == 0 && (found.left.is_along_depth || found.right.is_along_depth) {
            4.0
        } else {
            1.2
        };
        let fills = (rows + columns) as f64 * depths / 32.0 * met;
        let l2 = (rows + columns) as f64 * depths * 4.0
            / (machine.l2_bytes_per_ns / machine.sms / machine.clock_ghz);
        let busy = macs.max(reads + fills).max(l2) + 0.15 * (reads + l2) + 0.4 * fills;
        // Warps that hide what others wait for.
        let around = (busiest.min(held) * warps).max(1.0);
        let hidden = (around / 12.0).min(1.0).sqrt() * if self.stages == 1 { 0.85 } else { 1.0 };
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

    pub(crate) fn write(&self, nest: &Nest, name: &str, machine: &GpuResources) -> Option<Written> {
        let found = of_floats(nest)?;
        let is_whole = self.split == 1 || found.depths % (self.split * self.tile[2]) == 0;
        if !is_whole || !self.fits(nest, &found, machine) {
            return None;
        }
        let [rows, columns, depth] = self.tile;
        let threads = self.threads();
        let mut text = Text::default();
        let scratch = format!("{name}_parts");
        let is_split = 1 < self.split;
        let more = if is_split {
            format!(", float* __restrict__ {scratch}")
        } else {
            String::new()
        };
        text.open(&format!(
            "__global__ void __launch_bounds__({threads}) {name}({}{more})",
            nest.parameters_to_c()
        ));
        text.line(&format!(
            "__shared__ float left[{}][{depth}][{}];",
            self.stages,
            rows + self.pad
        ));
        text.line(&format!(
            "__shared__ float right[{}][{depth}][{}];",
            self.stages,
            columns + self.pad
        ));
        let of = |extent: i64, side: i64| (extent + side - 1) / side;
        let mut blocks = 1;
        for (at, point) in nest.points.iter().enumerate().rev() {
            let side = if at == found.row {
                rows
            } else if at == found.column {
                columns
            } else {
                1
            };
            let of_axis = of(point.extent, side);
            let begin = begin_of_block(blocks, of_axis, side, at == 0 && !is_split);
            text.line(&format!("const int {} = {begin};", point.name));
            blocks *= of_axis;
        }
        let depths = found.depths / self.split;
        let from = if is_split {
            text.line(&format!(
                "const int part = blockIdx.x / {blocks}, from = part * {depths};"
            ));
            "from"
        } else {
            "0"
        };
        let to = if is_split {
            format!("from + {depths}")
        } else {
            found.depths.to_string()
        };
        text.line("const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;");
        let across = columns / self.each[1] / 8;
        let warp_column = if across == 1 {
            "0".to_owned()
        } else {
            format!("warp % {across}")
        };
        let warp_row = if across == 1 {
            "warp".to_owned()
        } else {
            format!("warp / {across}")
        };
        text.line(&format!("const int across = ({warp_column} * 8 + lane % 8) * 4, down = ({warp_row} * 4 + lane / 8) * 4;"));
        let [own_rows, own_columns] = self.each;
        text.line(&format!(
            "__align__(16) float sums[{own_rows}][{own_columns}];"
        ));
        unrolled(&mut text, "m0", own_rows);
        unrolled(&mut text, "m1", own_columns);
        text.line(&format!("sums[m0][m1] = {};", found.first.to_c()));
        text.close();
        text.close();
        let operands = [
            (&found.left, "left", found.row, rows),
            (&found.right, "right", found.column, columns),
        ];
        let mut pieces = Vec::new();
        for (operand, own, side, extent) in operands {
            let width = found.width(nest, operand, 4);
            let count = extent * depth / width / threads;
            text.line(&format!(
                "__align__(16) float next_{own}[{count}][{width}];"
            ));
            pieces.push(Piece {
                operand,
                own,
                side,
                extent,
                width,
                count,
            });
        }
        let load = |text: &mut Text, at: &str| -> Option<()> {
            for piece in &pieces {
                self.load(text, nest, &found, piece, at)?;
            }
            Some(())
        };
        let keep = |text: &mut Text, stage: &str| {
            for piece in &pieces {
                self.keep(text, piece, stage);
            }
        };
        load(&mut text, from)?;
        let k = found.depth;
        if self.stages == 2 {
            keep(&mut text, "0");
            text.line("__syncthreads();");
            text.line("int stage = 0;");
            text.open(&format!(
                "for (int {k} = {from}; {k} < {to}; {k} += {depth})"
            ));
            text.open(&format!("if ({k} + {depth} < {to})"));
            load(&mut text, &format!("{k} + {depth}"))?;
            text.close();
            self.compute(&mut text, "stage");
            text.open(&format!("if ({k} + {depth} < {to})"));
            text.line("stage ^= 1;");
            keep(&mut text, "stage");
            text.line("__syncthreads();");
            text.close();
            text.close();
        } else {
            text.open(&format!(
                "for (int {k} = {from}; {k} < {to}; {k} += {depth})"
            ));
            keep(&mut text, "0");
            text.line("__syncthreads();");
            text.open(&format!("if ({k} + {depth} < {to})"));
            load(&mut text, &format!("{k} + {depth}"))?;
            text.close();
            self.compute(&mut text, "0");
            text.line("__syncthreads();");
            text.close();
        }
        let places = (
            Affine::variable(&nest.points[found.row].name),
            Affine::variable(&nest.points[found.column].name),
        );
        let store = Results {
            nest,
            found: &found,
            tile: [rows, columns],
            each: self.each,
        };
        if is_split {
            store.parts(&mut text, &scratch, &places)?;
            text.close();
            return self.with_join(nest, &found, text, name, &scratch, blocks);
        }
        store.write(&mut text, &places)?;
        text.close();
        Some(Written {
            functions: text.lines,
            host: vec![format!(
                "{name}<<<{blocks}, {threads}>>>({});",
                nest.arguments_to_c()
            )],
        })
    }

    /// Adds the launch that adds up the parts.
    fn with_join(
        &self,
        nest: &Nest,
        found: &Product<'_>,
        mut text: Text,
        name: &str,
        scratch: &str,
        blocks: i64,
    ) -> Option<Written> {
        let count = nest.count();
        text.open(&format!(
            "__global__ void __launch_bounds__(256) {name}_join({}, const float* __restrict__ {scratch})",
            nest.parameters_to_c()
        ));
        text.line("const int item = blockIdx.x * 256 + threadIdx.x;");
        text.line(&format!("if (item >= {count}) return;"));
        for line in crate::written::coordinates(&nest.points, "item") {
            text.line(&line);
        }
        text.line(&format!("float {} = 0;", found.sum));
        text.line("#pragma unroll");
        text.line(&format!(
            "for (int e = 0; e < {}; e++) {} += {scratch}[e * {count} + item];",
            self.split, found.sum
        ));
        crate::points::plain(
            found.after,
            &|it| it.clone(),
            &str::to_owned,
            &[],
            &mut text,
        );
        text.close();
        let arguments = nest.arguments_to_c();
        Some(Written {
            functions: text.lines,
            host: vec![
                format!("float* {scratch};"),
                format!(
                    "cudaMalloc(&{scratch}, {} * sizeof(float));",
                    count * self.split
                ),
                format!(
                    "{name}<<<{}, {}>>>({arguments}, {scratch});",
                    blocks * self.split,
                    self.threads()
                ),
                format!(
                    "{name}_join<<<{}, 256>>>({arguments}, {scratch});",
                    (count + 255) / 256
                ),
            ],
        })
    }

    /// Loads a thread's pieces of an operand's tile that begins at depth `at`.
    fn load(
        &self,
        text: &mut Text,
        nest: &Nest,
        found: &Product<'_>,
        piece: &Piece<'_>,
        at: &str,
    ) -> Option<()> {
        let Piece {
            operand,
            own,
            side,
            extent,
            width,
            count,
        } = *piece;
        let [.., depth] = self.tile;
        unrolled(text, "unit", count);
        self.place(text, piece);
        let point = &nest.points[side];
        let start = Affine::variable(&point.name).plus(&Affine::variable("place"))?;
        let begins = Affine::variable("@at").plus(&Affine::variable("copy"))?;
        let index = operand
            .index
            .substitute(&point.name, &start)?
            .substitute(found.depth, &begins)?;
        let index = index.to_c().replace(
            "@at",
            &if at.contains(' ') {
                format!("({at})")
            } else {
                at.to_owned()
            },
        );
        let mut inside = Vec::new();
        if point.extent % extent != 0 {
            inside.push(format!("{} + place < {}", point.name, point.extent));
        }
        if found.depths % depth != 0 {
            inside.push(format!("{at} + copy < {}", found.depths));
        }
        let fill = match width {
            1 => format!("next_{own}[unit][0] = {}[{index}];", operand.array),
            _ => format!(
                "*(float4*)next_{own}[unit] = *(const float4*)&{}[{index}];",
                operand.array
            ),
        };
        if inside.is_empty() {
            text.line(&fill);
        } else {
            text.line(&format!("if ({}) {fill}", inside.join(" && ")));
            let zero = match width {
                1 => format!("next_{own}[unit][0] = 0;"),
                _ => format!("*(float4*)next_{own}[unit] = make_float4(0, 0, 0, 0);"),
            };
            text.line(&format!("else {zero}"));
        }
        text.close();
        Some(())
    }

    /// Says where in the tile a thread's piece lies: `place` along rows or columns, `copy` along
    /// the depth.
    fn place(&self, text: &mut Text, piece: &Piece<'_>) {
        let [.., depth] = self.tile;
        let threads = self.threads();
        let item = if piece.count == 1 {
            "threadIdx.x".to_owned()
        } else {
            format!("(threadIdx.x + unit * {threads})")
        };
        let width = piece.width;
        let factor = if width == 1 {
            String::new()
        } else {
            format!(" * {width}")
        };
        let line = match piece.operand.is_along_depth {
            true => format!(
                "const int place = {item} / {0}, copy = {item} % {0}{factor};",
                depth / width
            ),
            false => format!(
                "const int place = {item} % {0}{factor}, copy = {item} / {0};",
                piece.extent / width
            ),
        };
        text.line(&line);
    }

    /// Stores a thread's pieces to shared memory.
    fn keep(&self, text: &mut Text, piece: &Piece<'_>, stage: &str) {
        let Piece {
            operand,
            own,
            width,
            count,
            ..
        } = *piece;
        unrolled(text, "unit", count);
        self.place(text, piece);
        match (width, operand.is_along_depth) {
            (1, _) => text.line(&format!(
                "{own}[{stage}][copy][place] = next_{own}[unit][0];"
            )),
            (_, true) => {
                for e in 0..width {
                    text.line(&format!(
                        "{own}[{stage}][copy + {e}][place] = next_{own}[unit][{e}];"
                    ));
                }
            }
            (_, false) => text.line(&format!(
                "*(float4*)&{own}[{stage}][copy][place] = *(float4*)next_{own}[unit];"
            )),
        }
        text.close();
    }

    /// Adds the products of a tile.
    fn compute(&self, text: &mut Text, stage: &str) {
        let [rows, columns, depth] = self.tile;
        let [own_rows, own_columns] = self.each;
        unrolled(text, "depth", depth);
        text.line(&format!(
            "__align__(16) float left0[{own_rows}], right0[{own_columns}];"
        ));
        for group in 0..own_rows / 4 {
            let by = group * (rows / (own_rows / 4));
            text.line(&format!(
                "*(float4*)&left0[{}] = *(const float4*)&left[{stage}][depth][{by} + down];",
                group * 4
            ));
        }
        for group in 0..own_columns / 4 {
            let by = group * (columns / (own_columns / 4));
            text.line(&format!(
                "*(float4*)&right0[{}] = *(const float4*)&right[{stage}][depth][{by} + across];",
                group * 4
            ));
        }
        unrolled(text, "m0", own_rows);
        unrolled(text, "m1", own_columns);
        text.line("sums[m0][m1] += left0[m0] * right0[m1];");
        text.close();
        text.close();
        text.close();
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
        if before.map_or(1, |it| it.stages) != self.stages {
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

/// What a thread loads of an operand's tile.
struct Piece<'p> {
    operand: &'p Operand,
    own: &'p str,
    side: usize,
    /// Rows or columns of the tile.
    extent: i64,
    width: i64,
    count: i64,
}

pub(crate) fn unrolled(text: &mut Text, counter: &str, count: i64) {
    text.line("#pragma unroll");
    text.open(&format!(
        "for (int {counter} = 0; {counter} < {count}; {counter}++)"
    ));
}

/// What is done with the sums of a thread.
struct Results<'r> {
    nest: &'r Nest,
    found: &'r Product<'r>,
    tile: [i64; 2],
    each: [i64; 2],
}

impl Results<'_> {
    /// Opens loops over a thread's sums and says where each is; returns how many loops and blocks.
    fn open(&self, text: &mut Text) -> usize {
        let [own_rows, own_columns] = self.each;
        let groups = own_columns / 4;
        unrolled(text, "m0", own_rows);
        let row_step = self.tile[0] / (own_rows / 4);
        text.line(&format!(
            "const int row_of = m0 / 4 * {row_step} + down + m0 % 4;"
        ));
        unrolled(text, "unit", groups);
        text.line(&format!(
            "const int column_of = unit * {} + across;",
            self.tile[1] / groups
        ));
        let mut opened = 2;
        let [row, column] = [self.found.row, self.found.column].map(|it| &self.nest.points[it]);
        if row.extent % self.tile[0] != 0 {
            text.open(&format!("if ({} + row_of < {})", row.name, row.extent));
            opened += 1;
        }
        if column.extent % self.tile[1] != 0 && column.extent % 4 == 0 {
            text.open(&format!(
                "if ({} + column_of < {})",
                column.name, column.extent
            ));
            opened += 1;
        }
        opened
    }

    fn write(&self, text: &mut Text, places: &(Affine, Affine)) -> Option<()> {
        let opened = self.open(text);
        let column = &self.nest.points[self.found.column];
        let is_whole = column.extent % 4 == 0;
        let is_guarded = !is_whole && column.extent % self.tile[1] != 0;
        let sums = Sums {
            nest: self.nest,
            found: self.found,
            own: "sums[m0][unit * 4 + e]",
            row: places.0.plus(&Affine::variable("row_of"))?,
            column: places.1.plus(&Affine::variable("column_of"))?,
            count: 4,
            is_whole,
            guard: is_guarded
                .then(|| format!("if ({} + column_of + e < {})", column.name, column.extent)),
        };
        sums.write(text)?;
        for _ in 0..opened {
            text.close();
        }
        Some(())
    }

    /// Stores sums to scratch memory, one array of all results for each part of the depth.
    fn parts(&self, text: &mut Text, scratch: &str, places: &(Affine, Affine)) -> Option<()> {
        let opened = self.open(text);
        let column = &self.nest.points[self.found.column];
        let mut index = Affine::default();
        let mut below = 1;
        for (at, point) in self.nest.points.iter().enumerate().rev() {
            let place = if at == self.found.row {
                places.0.plus(&Affine::variable("row_of"))?
            } else if at == self.found.column {
                places.1.plus(&Affine::variable("column_of"))?
            } else {
                Affine::variable(&point.name)
            };
            index = index.plus(&place.times(below)?)?;
            below *= point.extent;
        }
        let count = self.nest.count();
        let to = format!("part * {count} + {}", index.to_c());
        if column.extent % 4 == 0 {
            text.line(&format!(
                "*(float4*)&{scratch}[{to}] = *(float4*)&sums[m0][unit * 4];"
            ));
        } else {
            unrolled(text, "e", 4);
            let inside = match column.extent % self.tile[1] {
                0 => String::new(),
                _ => format!("if ({} + column_of + e < {}) ", column.name, column.extent),
            };
            text.line(&format!(
                "{inside}{scratch}[{to} + e] = sums[m0][unit * 4 + e];"
            ));
            text.close();
        }
        for _ in 0..opened {
            text.close();
        }
        Some(())
    }
}
