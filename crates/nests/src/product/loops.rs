//! Loops over blocks and tiles.

use super::super::nest::Range;
use super::super::vectors::{Dots, gnu};
use super::{Tile, Writer, is_zero};

impl Writer<'_> {
    /// Writes all loops; `packs` says whether the panels are filled here.
    pub(super) fn outer(&mut self, packs: bool) -> Option<()> {
        if 0 < self.schedule.depth {
            let it = self.nest.reduction.first()?.clone();
            let (v, depth, extent) = (&it.variable, self.schedule.depth, it.extent);
            self.text.open(&format!(
                "for (int at_{v} = 0; at_{v} < {extent}; at_{v} += {depth})"
            ));
            self.text.line(&format!(
                "const int end_{v} = at_{v} + {depth} < {extent} ? at_{v} + {depth} : {extent};"
            ));
        }
        if packs {
            self.pack_columns()?;
        }
        let others: Vec<Range> = self
            .nest
            .parallel
            .iter()
            .filter(|it| *it != self.vector && Some(*it) != self.row)
            .cloned()
            .collect();
        if packs && self.schedule.block == 0 {
            self.pack_rows(None)?;
        }
        for it in &others {
            self.text.open(&it.head());
        }
        match (self.row.cloned(), self.schedule.block) {
            (Some(row), 1..) => {
                let rows = self.schedule.rows;
                let (v, stretch) = (&row.variable, rows * self.schedule.block);
                let whole = row.extent / rows * rows;
                self.text.open(&format!(
                    "for (int from_{v} = 0; from_{v} < {whole}; from_{v} += {stretch})"
                ));
                self.text.line(&format!(
                    "const int last_{v} = from_{v} + {stretch} < {whole} ? from_{v} + {stretch} : {whole};"
                ));
                let ends = (format!("from_{v}"), format!("last_{v}"));
                self.pack_rows(Some(ends.clone()))?;
                self.tiles(Some(ends))?;
                self.text.close();
            }
            _ => self.tiles(None)?,
        }
        for _ in &others {
            self.text.close();
        }
        if 0 < self.schedule.depth {
            self.text.close();
        }
        Some(())
    }

    pub(super) fn tiles(&mut self, block: Option<(String, String)>) -> Option<()> {
        let (width, extent, lanes) = (self.width(), self.vector.extent, self.schedule.lanes);
        let whole = extent / width * width;
        let full = Tile {
            rows: self.schedule.rows,
            columns: self.schedule.columns,
            last: lanes,
        };
        if 0 < whole {
            self.band(0, whole, full, block.clone())?;
        }
        let rest = extent - whole;
        if rest == 0 {
            return Some(());
        }
        let reads = self.nest.reads();
        let all_packed = reads.iter().enumerate().all(|(idx, access)| {
            !access.mentions(&self.vector.variable) || self.column_panels.contains(&idx)
        });
        if all_packed {
            let columns = rest.div_ceil(lanes);
            let last = rest - (columns - 1) * lanes;
            let tile = Tile {
                columns,
                last,
                ..full
            };
            return self.band(whole, extent, tile, block);
        }
        let vectors = rest / lanes;
        let over = vectors.saturating_add(1).saturating_mul(lanes);
        if rest % lanes != 0 && over <= extent && self.may_be_repeated() {
            // The last tile does some columns once more.
            let tile = Tile {
                columns: vectors + 1,
                ..full
            };
            return self.band(extent - over, extent, tile, block);
        }
        if 0 < vectors {
            let tile = Tile {
                columns: vectors,

                ..full
            };
            self.band(whole, whole + vectors * lanes, tile, block.clone())?;
        }
        match whole + vectors * lanes {
            first if first < extent => self.plain(first, block),
            _ => Some(()),
        }
    }

    /// Returns whether results that are computed once more are what they were.
    fn may_be_repeated(&self) -> bool {
        let nest = self.nest;
        let reads = nest.result.reads();
        self.schedule.depth == 0 && reads.iter().all(|it| it.name != nest.output.name)
    }

    /// Writes the tiles of columns from `first` to `end`.
    pub(super) fn band(
        &mut self,
        first: u32,
        end: u32,
        tile: Tile,
        block: Option<(String, String)>,
    ) -> Option<()> {
        let v = self.vector.variable.clone();
        let step = self.schedule.lanes * tile.columns;
        let columns = format!("for (int {v} = {first}; {v} < {end}; {v} += {step})");
        let Some(row) = self.row.cloned() else {
            self.text.open(&columns);
            self.tile(tile, "0")?;
            self.text.close();
            return Some(());
        };
        let r = &row.variable;
        let whole = row.extent / tile.rows * tile.rows;
        let (from, to) = block.clone().unwrap_or(("0".into(), whole.to_string()));
        let rows = format!("for (int {r} = {from}; {r} < {to}; {r} += {})", tile.rows);
        let (outside, inside) = match self.schedule.rows_outside {
            true => (&rows, &columns),
            false => (&columns, &rows),
        };
        self.text.open(outside);
        self.text.open(inside);
        self.tile(tile, &from)?;
        self.text.close();
        let rest = row.extent - whole;
        let rest_tile = Tile { rows: rest, ..tile };
        if 0 < rest && self.schedule.rows_outside {
            self.text.close();
            self.text.open(&columns);
        }
        if 0 < rest {
            match block {
                Some(_) => self.text.open(&format!("if (last_{r} == {whole})")),
                None => self.text.open(""),
            }
            self.text.line(&format!("const int {r} = {whole};"));
            self.tile(rest_tile, &from)?;
            self.text.close();
        }
        self.text.close();
        Some(())
    }

    /// Writes the sums of one tile; `from` is the first row of the block.
    pub(super) fn tile(&mut self, tile: Tile, from: &str) -> Option<()> {
        let (nest, lanes) = (self.nest, self.schedule.lanes);
        let vector = self.preamble.vector(lanes, &nest.sum_type);
        let v = self.vector.variable.clone();
        let shifts = self.schedule.dots.is_some_and(Dots::is_shifted);
        for r in 0..tile.rows {
            let sums: Vec<String> = (0..tile.columns)
                .map(|c| match (shifts, is_zero(&nest.initial)) {
                    (true, _) => {
                        let id = self.id;
                        let place = format!("shifts{id}[{v} + {}]", c * lanes);
                        format!("s{r}_{c} = {}", gnu::loaded(&vector, &place))
                    }
                    (false, true) => format!("s{r}_{c} = {{0}}"),
                    (false, false) => {
                        let initial = format!("({})({})", nest.sum_type, nest.initial.to_c());
                        format!("s{r}_{c} = {}", gnu::splat(&vector, &initial))
                    }
                })
                .collect();
            self.text.line(&format!("{vector} {};", sums.join(", ")));
        }
        let sums = nest.reduction.clone();
        let group = self.group();
        for (idx, it) in sums.iter().enumerate() {
            let is_last = idx + 1 == sums.len();
            if is_last && 1 < self.schedule.unroll {
                self.text
                    .line(&format!("#pragma unroll {}", self.schedule.unroll));
            }
            let head = match (is_last, group, self.schedule.depth) {
                (true, 2.., 0) => format!(
                    "for (int {0} = 0; {0} < {1}; {0} += {group})",
                    it.variable, it.extent
                ),
                (true, 2.., _) => format!(
                    "for (int {0} = at_{0}; {0} < end_{0}; {0} += {group})",
                    it.variable
                ),
                _ => self.sum_head(it),
            };
            self.text.open(&head);
        }
        match self.schedule.dots {
            Some(dots) => self.dot_step(tile, from, dots)?,
            None => self.step(tile, from)?,
        }
        for _ in &sums {
            self.text.close();
        }
        self.store(tile)
    }
}
