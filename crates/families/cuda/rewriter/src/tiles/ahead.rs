//! Tiles that are copied to shared memory asynchronously, several ahead.

use super::write::Piece;
use super::{Tiles, unrolled};
use crate::nest::Nest;
use crate::product::Product;
use autocomp_c_loops::affine::Affine;
use autocomp_nests::Text;

impl Tiles {
    /// Writes the loop over tiles of depths `from` to `to`, in C.
    pub(super) fn ahead(
        &self,
        text: &mut Text,
        nest: &Nest,
        found: &Product<'_>,
        pieces: &[Piece<'_>],
        (from, to): (&str, &str),
    ) -> Option<()> {
        let [.., depth] = self.tile;
        let last = self.stages - 1;
        let k = found.depth;
        text.open(&format!("auto copy_tiles = [&](int stage, int {k})"));
        for piece in pieces {
            self.copy(text, nest, found, piece)?;
        }
        text.close();
        if let Some(line) = text.lines.last_mut() {
            *line += ";";
        }
        for stage in 0..last {
            text.line(&format!("copy_tiles({stage}, {from} + {});", stage * depth));
            text.line("__pipeline_commit();");
        }
        text.line("int stage = 0;");
        text.line("#pragma unroll 1");
        text.open(&format!(
            "for (int {k} = {from}; {k} < {to}; {k} += {depth})"
        ));
        text.line(&format!("__pipeline_wait_prior({});", last - 1));
        text.line("__syncthreads();");
        let next = last * depth;
        text.line(&format!(
            "if ({k} + {next} < {to}) copy_tiles(stage == 0 ? {last} : stage - 1, {k} + {next});"
        ));
        text.line("__pipeline_commit();");
        self.compute(text, "stage");
        text.line(&format!("stage = stage == {last} ? 0 : stage + 1;"));
        text.close();
        text.line("__pipeline_wait_prior(0);");
        Some(())
    }

    /// Copies a thread's pieces of an operand's tile.
    fn copy(
        &self,
        text: &mut Text,
        nest: &Nest,
        found: &Product<'_>,
        piece: &Piece<'_>,
    ) -> Option<()> {
        unrolled(text, "unit", piece.count);
        self.place(text, piece);
        let point = &nest.points[piece.side];
        let mut start = Affine::variable(&point.name).plus(&Affine::variable("place"))?;
        if point.extent % piece.extent != 0 {
            text.line(&format!(
                "const int inside = min({}, {});",
                start.to_c(),
                point.extent - piece.width
            ));
            start = Affine::variable("inside");
        }
        let begins = Affine::variable(found.depth).plus(&Affine::variable("copy"))?;
        let index = piece.operand.index.substitute(&point.name, &start)?;
        let index = index.substitute(found.depth, &begins)?;
        text.line(&format!(
            "__pipeline_memcpy_async(&{}[stage][copy][place], &{}[{}], {});",
            piece.own,
            piece.operand.array,
            index.to_c(),
            4 * piece.width
        ));
        text.close();
        Some(())
    }
}
