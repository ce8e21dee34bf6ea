//! Products by the matrix units: tiles are copied asynchronously, several ahead, and
//! warps multiply 16x8 results at a time.

use crate::GpuResources;
use crate::change::Change;
use crate::elements::Elements;
use crate::launch_text::{Written, begins_of_block};
use crate::nest::Nest;
use crate::product::Product;
use crate::sums::Sums;
use crate::tiles::unrolled;
use autocomp_c_loops::affine::Affine;
use autocomp_nests::Text;
use serde::{Deserialize, Serialize};

/// How a product is computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matrix {
    /// Rows, columns and depth of a block's tile.
    pub tile: [i64; 3],
    /// Warps of a block along rows and along columns.
    pub warps: [i64; 2],
    /// Tiles in shared memory.
    pub stages: i64,
    /// Elements behind each row of a shared tile that nobody uses.
    pub pad: i64,
}

impl Matrix {
    /// Returns the ways to compute a product.
    pub(crate) fn all(nest: &Nest, machine: &GpuResources) -> Vec<Self> {
        let Some((found, elements)) = Elements::of(nest) else {
            return Vec::new();
        };
        let mut all = Vec::new();
        for rows in [32, 64, 128, 256] {
            for columns in [32, 64, 128, 256] {
                for steps in [1, 2, 4] {
                    for warps in [[1, 2], [2, 1], [2, 2], [2, 4], [4, 2], [4, 1], [1, 4]] {
                        for stages in [2, 3, 4] {
                            for pad in [0, elements.width()] {
                                let made = Self {
                                    tile: [rows, columns, steps * elements.depth()],
                                    warps,
                                    stages,
                                    pad,
                                };
                                if made.fits(&found, elements, machine) {
                                    all.push(made);
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
        32 * self.warps[0] * self.warps[1]
    }

    /// Rows and columns of a warp's results, in pieces of 16x8.
    fn each(&self) -> [i64; 2] {
        [
            self.tile[0] / self.warps[0] / 16,
            self.tile[1] / self.warps[1] / 8,
        ]
    }

    fn bytes(&self, found: &Product<'_>, elements: &Elements) -> i64 {
        let [rows, columns, depth] = self.tile;
        let right = match found.right.is_along_depth {
            true => columns * (depth + self.pad),
            false => depth * (columns + self.pad),
        };
        elements.bytes * self.stages * (rows * (depth + self.pad) + right)
    }

    fn fits(&self, found: &Product<'_>, elements: &Elements, machine: &GpuResources) -> bool {
        let [rows, columns, depth] = self.tile;
        let [own_rows, own_columns] = self.each();
        let threads = self.threads();
        let divides =
            found.rows % rows == 0 && found.columns % columns == 0 && found.depths % depth == 0;
        let pieces = |side: i64| {
            let count = side * depth / elements.width();
            count % threads == 0 && 0 < count / threads
        };
        divides
            && depth % elements.depth() == 0
            && rows % (16 * self.warps[0]) == 0
            && columns % (16 * self.warps[1]) == 0
            && (1..=8).contains(&own_rows)
            && (2..=16).contains(&own_columns)
            && own_rows * own_columns <= 32
            && pieces(rows)
            && pieces(columns)
            && self.stages * depth <= found.depths
            && self.bytes(found, elements) <= machine.most_shared_bytes
    }

    pub(crate) fn estimate(&self, nest: &Nest, machine: &GpuResources) -> f64 {
        let Some((found, elements)) = Elements::of(nest) else {
            return f64::INFINITY;
        };
        let [rows, columns, depth] = self.tile;
        let [own_rows, own_columns] = self.each();
        let blocks = (nest.count() / (rows * columns)) as f64;
        let busiest = (blocks / machine.sms).ceil();
        let depths = found.depths as f64;
        let warps = (self.threads() / 32) as f64;
        let registers = own_rows * own_columns * 4 + own_rows * 4 + own_columns * 2 + 40;
        let held = (65_536 / (registers * self.threads()))
            .min(100_000 / self.bytes(&found, elements))
            .max(1) as f64;
        let products =
            (rows * columns) as f64 * depths / (machine.tensor_macs * 2.0 / elements.bytes as f64);
        let met = if self.pad == 0 { 4.0 } else { 1.0 };
        let reads = warps * depths / elements.depth() as f64
            * (own_rows as f64 + own_columns as f64 / 2.0)
            * 4.0
            * met;
        let fills = (rows + columns) as f64 * depths * elements.bytes as f64 / 128.0;
        let l2 = (rows + columns) as f64 * depths * elements.bytes as f64
            / (machine.l2_bytes_per_ns / machine.sms / machine.clock_ghz);
        let busy = products.max(reads + fills).max(l2) + 0.2 * (reads + fills + l2);
        let around = busiest.min(held) * warps;
        let hidden = (around / 8.0).min(1.0).sqrt()
            * [1.0, 1.0, 0.9, 0.97, 1.0][self.stages.min(4) as usize];
        let waits = depths / depth as f64 * 80.0 + 1500.0;
        let spill = if 240 < registers { 3.0 } else { 1.0 };
        (busiest * busy / hidden * spill + waits) / machine.clock_ghz + machine.launch_ns
    }

    pub(crate) fn write(&self, nest: &Nest, name: &str, machine: &GpuResources) -> Option<Written> {
        let (found, elements) = Elements::of(nest)?;
        if !self.fits(&found, elements, machine) {
            return None;
        }
        let [rows, columns, depth] = self.tile;
        let [own_rows, own_columns] = self.each();
        let threads = self.threads();
        let stages = self.stages;
        let wide = depth + self.pad;
        let (right_rows, right_wide) = match found.right.is_along_depth {
            true => (columns, wide),
            false => (depth, columns + self.pad),
        };
        let bytes = self.bytes(&found, elements);
        let (name_of, width) = (elements.name(), elements.width());
        let is_large = machine.shared_bytes < bytes;
        let mut text = Text::default();
        text.open(&format!(
            "__global__ void __launch_bounds__({threads}) {name}({})",
            nest.parameters_to_c()
        ));
        if is_large {
            text.line("extern __shared__ __align__(16) unsigned char memory[];");
            text.line(&format!(
                "{name_of} (*left)[{rows}][{wide}] = ({name_of} (*)[{rows}][{wide}])memory;"
            ));
            text.line(&format!(
                "{name_of} (*right)[{right_rows}][{right_wide}] = ({name_of} (*)[{right_rows}][{right_wide}])(memory + {});",
                elements.bytes * stages * rows * wide
            ));
        } else {
            text.line(&format!(
                "__shared__ __align__(16) {name_of} left[{stages}][{rows}][{wide}];"
            ));
            text.line(&format!(
                "__shared__ __align__(16) {name_of} right[{stages}][{right_rows}][{right_wide}];"
            ));
        }
        let blocks = begins_of_block(&mut text, nest, &found, [rows, columns], false);
        text.line("const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;");
        text.line(&format!(
            "const int down = warp / {} * {}, across = warp % {} * {};",
            self.warps[1],
            own_rows * 16,
            self.warps[1],
            own_columns * 8
        ));
        text.line(&format!(
            "{} sums[{own_rows}][{own_columns}][4] = {{}};",
            elements.sum
        ));
        text.open(&format!("auto copy = [&](int stage, int {})", found.depth));
        for (operand, own, side, extent) in [
            (&found.left, "left", found.row, rows),
            (&found.right, "right", found.column, columns),
        ] {
            let count = extent * depth / width / threads;
            unrolled(&mut text, "unit", count);
            let item = if count == 1 {
                "threadIdx.x".to_owned()
            } else {
                format!("(threadIdx.x + unit * {threads})")
            };
            let (of_row, of_column) = match operand.is_along_depth {
                true => ("place", "from"),
                false => ("from", "place"),
            };
            let across = if operand.is_along_depth {
                depth
            } else {
                extent
            } / width;
            text.line(&format!(
                "const int {of_row} = {item} / {across}, {of_column} = {item} % {across} * {width};"
            ));
            let point = &nest.points[side];
            let start = Affine::variable(&point.name).plus(&Affine::variable("place"))?;
            let begins = Affine::variable(found.depth).plus(&Affine::variable("from"))?;
            let index = operand
                .index
                .substitute(&point.name, &start)?
                .substitute(found.depth, &begins)?;
            text.line(&format!(
                "__pipeline_memcpy_async(&{own}[stage][{of_row}][{of_column}], &{}[{}], 16);",
                operand.array,
                index.to_c()
            ));
            text.close();
        }
        text.close();
        if let Some(last) = text.lines.last_mut() {
            *last += ";";
        }
        for stage in 0..stages - 1 {
            text.line(&format!("copy({stage}, {});", stage * depth));
            text.line("__pipeline_commit();");
        }
        text.line("int stage = 0;");
        let k = found.depth;
        text.open(&format!(
            "for (int {k} = 0; {k} < {}; {k} += {depth})",
            found.depths
        ));
        text.line(&format!("__pipeline_wait_prior({});", stages - 2));
        text.line("__syncthreads();");
        let ahead = (stages - 1) * depth;
        text.line(&format!(
            "if ({k} + {ahead} < {}) copy(stage == 0 ? {} : stage - 1, {k} + {ahead});",
            found.depths,
            stages - 1
        ));
        text.line("__pipeline_commit();");
        text.line("#pragma unroll");
        text.open(&format!(
            "for (int depth = 0; depth < {depth}; depth += {})",
            elements.depth()
        ));
        text.line(&format!(
            "unsigned left0[{own_rows}][4], right0[{own_columns}][2];"
        ));
        unrolled(&mut text, "m0", own_rows);
        text.line(&format!("const unsigned from = __cvta_generic_to_shared(&left[stage][down + m0 * 16 + lane % 16][depth + lane / 16 * {width}]);"));
        text.line(
            "asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.shared.b16 { %0, %1, %2, %3}, [%4];\"",
        );
        text.line("             : \"=r\"(left0[m0][0]), \"=r\"(left0[m0][1]), \"=r\"(left0[m0][2]), \"=r\"(left0[m0][3]) : \"r\"(from) : \"memory\");");
        text.close();
        text.line("#pragma unroll");
        text.open(&format!("for (int m1 = 0; m1 < {own_columns}; m1 += 2)"));
        let (place, turned) = match found.right.is_along_depth {
            true => (
                format!(
                    "[across + m1 * 8 + lane / 16 * 8 + lane % 8][depth + lane / 8 % 2 * {width}]"
                ),
                "",
            ),
            false => (
                "[depth + lane % 16][across + m1 * 8 + lane / 16 * 8]".to_owned(),
                ".trans",
            ),
        };
        text.line(&format!(
            "const unsigned from = __cvta_generic_to_shared(&right[stage]{place});"
        ));
        text.line(&format!("asm volatile(\"ldmatrix.sync.aligned.m8n8.x4{turned}.shared.b16 {{ %0, %1, %2, %3}}, [%4];\""));
        text.line("             : \"=r\"(right0[m1][0]), \"=r\"(right0[m1][1]), \"=r\"(right0[m1 + 1][0]), \"=r\"(right0[m1 + 1][1]) : \"r\"(from) : \"memory\");");
        text.close();
        unrolled(&mut text, "m0", own_rows);
        unrolled(&mut text, "m1", own_columns);
        text.line(&format!("asm volatile(\"mma.sync.aligned.{} {{ %0, %1, %2, %3}}, {{ %4, %5, %6, %7}}, {{ %8, %9}}, {{ %0, %1, %2, %3}};\"", elements.instruction));
        let sums = (0..4).map(|it| format!("\"+{}\"(sums[m0][m1][{it}])", elements.constraint));
        text.line(&format!(
            "             : {}",
            sums.collect::<Vec<_>>().join(", ")
        ));
        text.line("             : \"r\"(left0[m0][0]), \"r\"(left0[m0][1]), \"r\"(left0[m0][2]), \"r\"(left0[m0][3]), \"r\"(right0[m1][0]), \"r\"(right0[m1][1]));");
        text.close();
        text.close();
        text.close();
        text.line(&format!("stage = stage == {} ? 0 : stage + 1;", stages - 1));
        text.close();
        text.line("__pipeline_wait_prior(0);");
        self.results(&mut text, nest, &found)?;
        text.close();
        let arguments = nest.arguments_to_c();
        let mut host = Vec::new();
        if is_large {
            host.push(format!("cudaFuncSetAttribute({name}, cudaFuncAttributeMaxDynamicSharedMemorySize, {bytes});"));
            host.push(format!(
                "{name}<<<{blocks}, {threads}, {bytes}>>>({arguments});"
            ));
        } else {
            host.push(format!("{name}<<<{blocks}, {threads}>>>({arguments});"));
        }
        Some(Written {
            functions: text.lines,
            host,
        })
    }

    /// Writes what is done with the sums.
    fn results(&self, text: &mut Text, nest: &Nest, found: &Product<'_>) -> Option<()> {
        let [own_rows, own_columns] = self.each();
        let [row, column] = [found.row, found.column].map(|it| &nest.points[it]);
        unrolled(text, "m0", own_rows);
        unrolled(text, "m1", own_columns);
        unrolled(text, "unit", 2);
        text.line("const int row_of = down + m0 * 16 + unit * 8 + lane / 4, column_of = across + m1 * 8 + lane % 4 * 2;");
        let sums = Sums {
            nest,
            found,
            own: "sums[m0][m1][unit * 2 + e]",
            row: Affine::variable(&row.name).plus(&Affine::variable("row_of"))?,
            column: Affine::variable(&column.name).plus(&Affine::variable("column_of"))?,
            count: 2,
            is_whole: true,
            guard: None,
        };
        sums.write(text)?;
        text.close();
        text.close();
        text.close();
        Some(())
    }

    pub(crate) fn changes(&self, before: Option<&Self>) -> Vec<(Change, String)> {
        let mut found = Vec::new();
        let [rows, columns, depth] = self.tile;
        if before.is_none() {
            found.push((
                Change::TensorCores,
                "Multiply by the matrix units (mma.sync with ldmatrix), with sums of 32 bits."
                    .into(),
            ));
        }
        if before.map(|it| it.tile) != Some(self.tile) {
            found.push((Change::SharedTiling, format!("Let a block compute {rows}x{columns} results from tiles of both operands in shared memory, {depth} deep.")));
        }
        if before.map(|it| it.warps) != Some(self.warps) {
            found.push((
                Change::Threads,
                format!(
                    "Give each of {}x{} warps its part of the results.",
                    self.warps[0], self.warps[1]
                ),
            ));
        }
        if before.map(|it| it.stages) != Some(self.stages) {
            found.push((
                Change::AsyncCopies,
                format!("Copy tiles asynchronously, {} ahead.", self.stages - 1),
            ));
        }
        if before.map_or(0, |it| it.pad) != self.pad {
            found.push((
                Change::PadShared,
                format!(
                    "Pad rows of the tiles by {} elements, so that ldmatrix meets all banks.",
                    self.pad
                ),
            ));
        }
        found
    }
}
