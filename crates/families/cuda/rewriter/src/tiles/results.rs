//! What is done with the sums of a thread of a product by tiles.

use super::unrolled;
use crate::nest::Nest;
use crate::product::Product;
use crate::sums::Sums;
use autocomp_c_loops::affine::Affine;
use autocomp_nests::Text;

/// What is done with the sums of a thread.
pub(super) struct Results<'r> {
    pub(super) nest: &'r Nest,
    pub(super) found: &'r Product<'r>,
    pub(super) tile: [i64; 2],
    pub(super) each: [i64; 2],
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

    pub(super) fn write(&self, text: &mut Text, places: &(Affine, Affine)) -> Option<()> {
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
    pub(super) fn parts(
        &self,
        text: &mut Text,
        scratch: &str,
        places: &(Affine, Affine),
    ) -> Option<()> {
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
