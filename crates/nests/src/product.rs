//! Writes a nest around a sum of products.
//!
//! A register tile of rows times vectors is summed up in variables of its own.
//! Loops over tiles go around it, and around these loops over blocks of the sum
//! and of rows, whose operands are copied into panels that stay in the caches.

mod loops;
mod panels;
mod results;
mod steps;

use super::code::{Element, Expression, Named};
use super::nest::{Nest, Range};
use super::schedule::Product;
use super::text::Text;
use super::vectors::{Dots, Preamble, WIDTHS};
use std::collections::BTreeMap;

/// What is written for one nest, by where it goes.
pub(super) struct Written {
    /// Arrays.
    pub statics: String,
    /// What need be done only once in a call of the kernel, lines without a margin.
    pub once: Vec<String>,
    /// The loops.
    pub loops: Vec<String>,
}

/// What is written, and what for.
struct Writer<'n> {
    nest: &'n Nest,
    schedule: &'n Product,
    names: &'n BTreeMap<String, Named>,
    preamble: &'n mut Preamble,
    vector: &'n Range,
    row: Option<&'n Range>,
    /// Numbers the names of arrays.
    id: usize,
    /// Reads that go into panels of columns, by their place in the text.
    column_panels: Vec<usize>,
    /// Reads that go into panels of rows.
    row_panels: Vec<usize>,
    statics: String,
    text: Text,
}

/// A tile: rows, vectors, and elements of the last vector that count.
#[derive(Clone, Copy)]
struct Tile {
    rows: u32,
    columns: u32,
    last: u32,
}

/// Writes `nest` under `schedule`; nothing if that does not fit. `is_steady` tells
/// whether an array is the same everywhere in a call of the kernel.
pub(super) fn write(
    nest: &Nest,
    schedule: &Product,
    names: &BTreeMap<String, Named>,
    preamble: &mut Preamble,
    id: usize,
    is_steady: &dyn Fn(&Element) -> bool,
) -> Option<Written> {
    let vector = nest.vector_loop(names)?;
    let row = nest.row_loop(vector);
    let reads = nest.reads();
    let packable = |variable: &str, is_wanted: &dyn Fn(&Element) -> bool| -> Vec<usize> {
        let fits = |(_, access): &(usize, &&Element)| {
            is_wanted(access) && nest.is_packable(access, variable)
        };
        reads
            .iter()
            .enumerate()
            .filter(fits)
            .map(|(idx, _)| idx)
            .collect()
    };
    let is_apart = |access: &Element| {
        let extents = names.get(&access.name).map(|it| it.extents.as_slice());
        access.stride(&vector.variable, extents.unwrap_or(&[])) != Some(1)
    };
    let column_panels = packable(&vector.variable, &|access| {
        schedule.pack_columns || schedule.dots.is_some() || is_apart(access)
    });
    let row_panels = match row {
        Some(row) => packable(&row.variable, &|access| {
            schedule.pack_rows && !access.mentions(&vector.variable)
        }),
        None => Vec::new(),
    };
    let mut writer = Writer {
        nest,
        schedule,
        names,
        preamble,
        vector,
        row,
        id,
        column_panels,
        row_panels,
        statics: String::new(),
        text: Text::default(),
    };
    writer.fits().then_some(())?;
    writer.arrays();
    let blocks = 0 < schedule.depth || 0 < schedule.block;
    let panels: Vec<usize> = [writer.column_panels.clone(), writer.row_panels.clone()].concat();
    let outside = panels.iter().all(|idx| is_steady(reads[*idx]));
    let mut once = Vec::new();
    if !blocks && outside {
        writer.pack_columns()?;
        writer.pack_rows(None)?;
        once = std::mem::take(&mut writer.text).lines;
    }
    writer.outer(blocks || !outside)?;
    Some(Written {
        statics: writer.statics,
        once,
        loops: writer.text.lines,
    })
}

impl Writer<'_> {
    fn fits(&self) -> bool {
        let (schedule, nest) = (self.schedule, self.nest);
        let width = self.width();
        let rows = self.row.map_or(1, |row| row.extent);
        let last = nest.reduction.last();
        let sizes = schedule.lanes.is_power_of_two()
            && WIDTHS.contains(&schedule.lanes)
            && (1..=32).contains(&schedule.rows)
            && (1..=8).contains(&schedule.columns)
            && (1..=16).contains(&schedule.unroll)
            && schedule.rows <= rows
            && width < self.vector.extent + schedule.lanes;
        // Partial sums wait in the output.
        let blocked = schedule.depth == 0
            || nest.reduction.len() == 1
                && nest.is_plain()
                && last.is_some_and(|it| schedule.depth < it.extent);
        let blocks = schedule.block == 0 || !self.row_panels.is_empty();
        let vectors_packed = nest.reads().iter().enumerate().all(|(idx, access)| {
            !access.mentions(&self.vector.variable) || self.column_panels.contains(&idx)
        });
        let dots = match schedule.dots {
            None => true,
            Some(dots) => {
                dots.has(schedule.lanes)
                    && vectors_packed
                    && self.dot_operands().is_some()
                    && schedule.depth.is_multiple_of(dots.group())
            }
        };
        let halves = !schedule.halves
            || schedule.pack_columns && schedule.dots.is_none() && nest.fits_halves(self.names);
        // What is no vector in memory needs vectors of the sums' type.
        let whole = vectors_packed || schedule.lanes * schedule.columns <= self.vector.extent;
        sizes && blocked && blocks && dots && halves && whole
    }

    /// Returns the operands of columns and rows if single instructions can sum
    /// up their products: two of 8 bits, and that of the rows in panels or side by side.
    pub(super) fn dot_operands(&self) -> Option<(usize, usize)> {
        let dots = self.schedule.dots?;
        let Expression::Binary(_, operator, _) = &self.nest.term else {
            return None;
        };
        let reads = self.nest.reads();
        let narrow = |access: &&Element| {
            self.names
                .get(&access.name)
                .is_some_and(|it| it.kind == "int8_t")
        };
        if operator != "*" || reads.len() != 2 || !reads.iter().all(narrow) {
            return None;
        }
        if self.nest.sum_type != "int32_t" || !is_zero(&self.nest.initial) {
            return None;
        }
        let column = reads
            .iter()
            .position(|it| it.mentions(&self.vector.variable))?;
        let row = 1 - column;
        if reads[row].mentions(&self.vector.variable) {
            return None;
        }
        let last = self.nest.reduction.last()?;
        let all_inner = |access: &Element| access.mentions(&last.variable);
        if !all_inner(reads[column]) || !all_inner(reads[row]) {
            return None;
        }
        let extents = &self.names.get(&reads[row].name)?.extents;
        let beside = reads[row].stride(&last.variable, extents) == Some(1)
            && last.extent.is_multiple_of(dots.group())
            && dots.group() == 4;
        (self.row_panels.contains(&row) || beside).then_some((column, row))
    }

    pub(super) fn group(&self) -> u32 {
        self.schedule.dots.map_or(1, Dots::group)
    }

    pub(super) fn width(&self) -> u32 {
        self.schedule.lanes * self.schedule.columns
    }

    /// Type of elements in panels.
    pub(super) fn panel_type(&self, of_rows: bool) -> String {
        match self.schedule.dots {
            Some(dots) => dots.kind().to_owned(),
            None if self.schedule.halves && !of_rows => "int16_t".into(),
            None => self.nest.sum_type.clone(),
        }
    }

    /// Returns the loops of the sums that an access depends on.
    pub(super) fn sums_of(&self, access: &Element) -> Vec<Range> {
        let sums = self.nest.reduction.iter();
        sums.filter(|it| access.mentions(&it.variable))
            .cloned()
            .collect()
    }

    /// Returns the iterations of the sums that a panel holds, whole groups of them.
    pub(super) fn panel_depth(&self, access: &Element) -> u32 {
        let sums = self.sums_of(access);
        let mut depth = 1;
        for (idx, it) in sums.iter().enumerate() {
            let extent = match self.schedule.depth {
                0 => it.extent,
                block => block.min(it.extent),
            };
            let is_last = idx + 1 == sums.len();
            depth *= if is_last {
                extent.next_multiple_of(self.group())
            } else {
                extent
            };
        }
        depth
    }

    /// Returns the number of the iteration of the sums in a panel.
    pub(super) fn place(&self, access: &Element) -> String {
        let mut place = String::new();
        let sums = self.sums_of(access);
        for (idx, it) in sums.iter().enumerate() {
            let own = match self.schedule.depth {
                0 => it.variable.clone(),
                _ => format!("({} - at_{})", it.variable, it.variable),
            };
            let is_last = idx + 1 == sums.len();
            let extent = if is_last {
                it.extent.next_multiple_of(self.group())
            } else {
                it.extent
            };
            place = match place.as_str() {
                "" => own,
                outer => format!("({outer}) * {extent} + {own}"),
            };
        }
        if place.is_empty() { "0".into() } else { place }
    }

    pub(super) fn panel_name(&self, side: &str, idx: usize) -> String {
        format!("{side}{}_{idx}", self.id)
    }

    fn arrays(&mut self) {
        let kind = self.panel_type(false);
        let reads = self.nest.reads();
        for idx in self.column_panels.clone() {
            let tiles = self.vector.extent.div_ceil(self.width());
            let elements = u64::from(self.panel_depth(reads[idx]))
                * u64::from(self.width())
                * u64::from(tiles);
            let name = self.panel_name("panels", idx);
            self.statics +=
                &format!("static {kind} {name}[{elements}] __attribute__((aligned(64)));\n");
        }
        let kind = self.panel_type(true);
        let rows = self.row.map_or(1, |row| row.extent);
        for idx in self.row_panels.clone() {
            let all = rows.div_ceil(self.schedule.rows);
            let tiles = match self.schedule.block {
                0 => all,
                // What is left of the rows comes with the last block.
                block => all.min(block + 1),
            };
            let elements = u64::from(self.panel_depth(reads[idx]))
                * u64::from(self.schedule.rows)
                * u64::from(tiles);
            let name = self.panel_name("rows", idx);
            self.statics +=
                &format!("static {kind} {name}[{elements}] __attribute__((aligned(64)));\n");
        }
        if self.schedule.dots.is_some_and(Dots::is_shifted) {
            let elements = self.vector.extent.next_multiple_of(self.width());
            self.statics += &format!(
                "static int32_t shifts{}[{elements}] __attribute__((aligned(64)));\n",
                self.id
            );
        }
    }
}

fn is_zero(expression: &Expression) -> bool {
    match expression {
        Expression::Number(text) => text
            .trim_end_matches(['f', 'F'])
            .parse::<f64>()
            .is_ok_and(|it| it == 0.0),
        _ => false,
    }
}
