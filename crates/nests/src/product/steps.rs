//! One step of all sums of a tile.

use super::super::code::{Element, Expression};
use super::super::translation::shifted;
use super::super::vectors::{Dots, gnu};
use super::{Tile, Writer};

impl Writer<'_> {
    /// Returns the element of a panel of columns.
    pub(super) fn in_columns(&self, idx: usize, access: &Element, column: u32) -> String {
        let (width, v) = (self.width(), &self.vector.variable);
        let panel = self.panel_depth(access) * width;
        let (name, place) = (self.panel_name("panels", idx), self.place(access));
        let shift = column * self.schedule.lanes * self.group();
        format!("{name}[{v} / {width} * {panel} + ({place}) * {width} + {shift}]")
    }

    /// Returns the element of a panel of rows.
    pub(super) fn in_rows(&self, idx: usize, access: &Element, row: u32, from: &str) -> String {
        let size = self.schedule.rows;
        let panel = self.panel_depth(access) * size;
        let (name, place) = (self.panel_name("rows", idx), self.place(access));
        let v = self.row.map_or("0", |it| it.variable.as_str());
        let shift = row * self.group();
        match from {
            "0" => format!("{name}[{v} / {size} * {panel} + ({place}) * {size} + {shift}]"),
            from => {
                format!("{name}[({v} - {from}) / {size} * {panel} + ({place}) * {size} + {shift}]")
            }
        }
    }

    /// Writes one step of all sums of a tile.
    pub(super) fn step(&mut self, tile: Tile, from: &str) -> Option<()> {
        let (nest, lanes) = (self.nest, self.schedule.lanes);
        let v = self.vector.variable.clone();
        let row = self
            .row
            .map_or_else(String::new, |row| row.variable.clone());
        let kind = nest.sum_type.clone();
        let vector = self.preamble.vector(lanes, &kind);
        let reads: Vec<Element> = nest.reads().into_iter().cloned().collect();
        // Vectors that all rows use are loaded once.
        for (idx, access) in reads.iter().enumerate() {
            if !access.mentions(&v) {
                continue;
            }
            for c in 0..tile.columns {
                let value = if self.column_panels.contains(&idx) {
                    let place = self.in_columns(idx, access, c);
                    match self.schedule.halves {
                        true => {
                            let halves = self.preamble.vector(lanes, "int16_t");
                            gnu::converted(&gnu::loaded(&halves, &place), &vector)
                        }
                        false => gnu::loaded(&vector, &place),
                    }
                } else {
                    let element = shifted(access, &[(&v, i64::from(c * lanes))])?.to_c();
                    let own = &self.names.get(&access.name)?.kind;
                    match *own == kind {
                        true => gnu::loaded(&gnu::anywhere(&vector), &element),
                        false => {
                            let narrow = self.preamble.narrow(lanes, own);
                            gnu::converted(&gnu::loaded(&narrow, &element), &vector)
                        }
                    }
                };
                self.text
                    .line(&format!("const {vector} v{idx}_{c} = {value};"));
            }
        }
        for r in 0..tile.rows {
            for (idx, access) in reads.iter().enumerate() {
                if access.mentions(&v) {
                    continue;
                }
                let value = match self.row_panels.contains(&idx) {
                    true => self.in_rows(idx, access, r, from),
                    false => shifted(access, &[(&row, i64::from(r))])?.to_c(),
                };
                self.text
                    .line(&format!("const {kind} x{idx}_{r} = {value};"));
            }
            for c in 0..tile.columns {
                let mut next = 0;
                let term = nest.term.map(&mut |element| {
                    let idx = next;
                    next += 1;
                    Expression::Number(match element.mentions(&v) {
                        true => format!("v{idx}_{c}"),
                        false => format!("x{idx}_{r}"),
                    })
                });
                self.text
                    .line(&format!("s{r}_{c} += {};", without_casts(&term).to_c()));
            }
        }
        Some(())
    }

    /// Writes one step of all sums by instructions that sum several products.
    pub(super) fn dot_step(&mut self, tile: Tile, from: &str, dots: Dots) -> Option<()> {
        let (column, row) = self.dot_operands()?;
        let lanes = self.schedule.lanes;
        let vector = self.preamble.vector(lanes, "int32_t");
        let single = self.preamble.narrow(1, "int32_t");
        let reads: Vec<Element> = self.nest.reads().into_iter().cloned().collect();
        for c in 0..tile.columns {
            let place = self.in_columns(column, &reads[column], c);
            let value = gnu::loaded(&gnu::anywhere(&vector), &place);
            self.text.line(&format!("const {vector} v{c} = {value};"));
        }
        let variable = self
            .row
            .map_or_else(String::new, |row| row.variable.clone());
        for r in 0..tile.rows {
            let word = if self.row_panels.contains(&row) {
                let place = self.in_rows(row, &reads[row], r, from);
                gnu::loaded(&single, &place)
            } else {
                let element = shifted(&reads[row], &[(&variable, i64::from(r))])?.to_c();
                let mark = if dots.is_shifted() {
                    " ^ (int32_t)0x80808080"
                } else {
                    ""
                };
                gnu::loaded(&single, &element) + mark
            };
            let word = gnu::splat(&vector, &format!("({word})[0]"));
            self.text.line(&format!("const {vector} x{r} = {word};"));
            for c in 0..tile.columns {
                let call = dots.call(
                    lanes,
                    &format!("s{r}_{c}"),
                    &format!("x{r}"),
                    &format!("v{c}"),
                )?;
                self.text.line(&call);
            }
        }
        Some(())
    }
}

/// Takes conversions away that the types of variables make.
fn without_casts(expression: &Expression) -> Expression {
    match expression {
        Expression::Cast(_, inner) => without_casts(inner),
        Expression::Binary(left, operator, right) => Expression::Binary(
            Box::new(without_casts(left)),
            operator.clone(),
            Box::new(without_casts(right)),
        ),
        other => other.clone(),
    }
}
