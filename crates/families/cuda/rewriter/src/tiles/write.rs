//! The kernel of a product by tiles.

use super::results::Results;
use super::{Tiles, of_floats, unrolled};
use crate::GpuResources;
use crate::launch_text::{Written, begins_of_block};
use crate::nest::Nest;
use crate::product::{Operand, Product};
use autocomp_c_loops::affine::Affine;
use autocomp_nests::Text;

/// What a thread loads of an operand's tile.
pub(super) struct Piece<'p> {
    pub(super) operand: &'p Operand,
    pub(super) own: &'p str,
    pub(super) side: usize,
    /// Rows or columns of the tile.
    pub(super) extent: i64,
    pub(super) width: i64,
    pub(super) count: i64,
}

impl Tiles {
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
        let blocks = begins_of_block(&mut text, nest, &found, [rows, columns], is_split);
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
            let width = self.width(nest, &found, operand);
            let count = extent * depth / width / threads;
            if !self.copies {
                text.line(&format!(
                    "__align__(16) float next_{own}[{count}][{width}];"
                ));
            }
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
        let k = found.depth;
        let turns = format!("for (int {k} = {from}; {k} < {to}; {k} += {depth})");
        if self.copies {
            self.ahead(&mut text, nest, &found, &pieces, (from, &to))?;
        } else if self.stages == 2 {
            load(&mut text, from)?;
            keep(&mut text, "0");
            text.line("__syncthreads();");
            text.line("int stage = 0;");
            text.line("#pragma unroll 1");
            text.open(&turns);
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
            load(&mut text, from)?;
            text.line("#pragma unroll 1");
            text.open(&turns);
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
        Some(Written::launched(nest, name, text.lines, blocks, threads))
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
        for line in crate::launch_text::coordinates(&nest.points, "item") {
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
    pub(super) fn place(&self, text: &mut Text, piece: &Piece<'_>) {
        let [.., depth] = self.tile;
        let threads = self.threads();
        // Pieces that lie side by side in a line of the tile.
        let side = match piece.operand.is_along_depth {
            true => depth,
            false => piece.extent,
        };
        let own = side / piece.width;
        let times = |text: &str, factor: i64| match factor {
            1 => text.to_owned(),
            _ => format!("{text} * {factor}"),
        };
        // Where the parts of a piece's number are apart, pieces of a thread lie a constant apart.
        let (line, within) = match (piece.count, threads % own, own % threads) {
            (1, ..) => (
                format!("threadIdx.x / {own}"),
                format!("threadIdx.x % {own}"),
            ),
            (_, 0, _) => (
                format!("threadIdx.x / {own} + {}", times("unit", threads / own)),
                format!("threadIdx.x % {own}"),
            ),
            (_, _, 0) => (
                format!("unit / {}", own / threads),
                format!("(threadIdx.x + unit % {} * {threads})", own / threads),
            ),
            _ => (
                format!("(threadIdx.x + unit * {threads}) / {own}"),
                format!("(threadIdx.x + unit * {threads}) % {own}"),
            ),
        };
        let within = times(&within, piece.width);
        let (place, copy) = match piece.operand.is_along_depth {
            true => (line, within),
            false => (within, line),
        };
        let line = format!("const int place = {place}, copy = {copy};");
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
    pub(super) fn compute(&self, text: &mut Text, stage: &str) {
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
}
