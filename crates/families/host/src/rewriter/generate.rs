//! Writes a scheduled nest as C.
//!
//! A register tile of rows times vectors is summed up in variables of its own;
//! loops over tiles go around it. What is left over at the edges gets smaller
//! tiles, and at last plain loops.

use super::nest::{Access, Expression, Loop, Nest, Schedule};
use std::fmt::Write as _;

/// What is being written.
struct Writer<'n> {
    nest: &'n Nest,
    schedule: &'n Schedule,
    vector: &'n Loop,
    row: Option<&'n Loop>,
    text: String,
    depth: usize,
}

/// Rows and vectors of one kind of tile.
#[derive(Clone, Copy)]
struct Tile {
    rows: u32,
    columns: u32,
}

/// Writes the body of a kernel, with all that stands in front of it; nothing
/// if the schedule does not fit the nest.
pub(super) fn generate(nest: &Nest, schedule: &Schedule) -> Option<String> {
    let vector = nest.vector_loop()?;
    let row = nest.row_loops().first().copied();
    let width = schedule.lanes * schedule.columns;
    let fits = schedule.lanes.is_power_of_two()
        && (1..=64).contains(&schedule.rows)
        && (1..=16).contains(&schedule.columns)
        && (1..=16).contains(&schedule.unroll)
        && width <= vector.extent
        && schedule.rows <= row.map_or(1, |row| row.extent);
    if !fits {
        return None;
    }
    let mut writer = Writer {
        nest,
        schedule,
        vector,
        row,
        text: String::new(),
        depth: 0,
    };
    writer.write();
    Some(writer.text)
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        let indent = 2 * self.depth;
        let _ = writeln!(self.text, "{:indent$}{text}", "");
    }

    fn open(&mut self, text: &str) {
        self.line(&format!("{text} {{"));
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    fn write(&mut self) {
        let sum_type = self.nest.sum_type.clone();
        let bytes = 4 * self.schedule.lanes;
        self.line(&format!(
            "typedef {sum_type} vector __attribute__((vector_size({bytes})));"
        ));
        self.line(&format!(
            "typedef {sum_type} vector_anywhere __attribute__((vector_size({bytes}), aligned(4), may_alias));"
        ));
        for (array, element) in self.loaded_narrow() {
            let bytes = self.schedule.lanes;
            self.line(&format!(
                "typedef {element} narrow_{array} __attribute__((vector_size({bytes}), aligned(1), may_alias));"
            ));
        }
        for (idx, access) in self.packed_columns() {
            let elements = self.columns_panel(&access) * self.full_columns();
            self.line(&format!(
                "static {sum_type} panels{idx}[{elements}] __attribute__((aligned(64)));"
            ));
        }
        for (idx, access) in self.packed_rows() {
            let elements = self.rows_panel(&access) * self.full_rows();
            self.line(&format!(
                "static {sum_type} rows{idx}[{elements}] __attribute__((aligned(64)));"
            ));
        }
        self.line("");
        self.open(&self.nest.head.clone());
        self.pack();
        self.outer(0);
        self.close();
    }

    // ---- what is packed --------------------------------------------------

    /// Returns operands of the vector loop that are read as they lie and are
    /// narrower than the sums.
    fn loaded_narrow(&self) -> Vec<(String, String)> {
        let mut found: Vec<(String, String)> = Vec::new();
        for access in self.nest.term.reads() {
            let element = &self.nest.types[&access.array];
            let of_vector = access.mentions(&self.vector.variable);
            if of_vector
                && *element != self.nest.sum_type
                && found.iter().all(|(array, _)| *array != access.array)
            {
                found.push((access.array.clone(), element.clone()));
            }
        }
        found
    }

    /// Returns reads that go into panels of columns: they depend on the vector
    /// loop and on sums only.
    fn packed_columns(&self) -> Vec<(usize, Access)> {
        self.packable(self.schedule.pack_columns, &self.vector.variable)
    }

    /// Returns reads that go into panels of rows.
    fn packed_rows(&self) -> Vec<(usize, Access)> {
        match self.row {
            Some(row) => self.packable(self.schedule.pack_rows, &row.variable),
            None => Vec::new(),
        }
    }

    fn packable(&self, wanted: bool, variable: &str) -> Vec<(usize, Access)> {
        let others = |access: &Access| {
            let mut parallel = self
                .nest
                .parallel
                .iter()
                .filter(|it| it.variable != variable);
            !parallel.any(|it| access.mentions(&it.variable))
        };
        let reads = self.nest.term.reads().into_iter().enumerate();
        reads
            .filter(|(_, access)| wanted && access.mentions(variable) && others(access))
            .map(|(idx, access)| (idx, access.clone()))
            .collect()
    }

    /// Returns the loops of the sums that an access depends on.
    fn sums_of(&self, access: &Access) -> Vec<&Loop> {
        let sums = self.nest.reduction.iter();
        sums.filter(|it| access.mentions(&it.variable)).collect()
    }

    fn depth_of(&self, access: &Access) -> u32 {
        self.sums_of(access).iter().map(|it| it.extent).product()
    }

    /// Returns the elements of one panel of columns.
    fn columns_panel(&self, access: &Access) -> u32 {
        self.depth_of(access) * self.width()
    }

    fn rows_panel(&self, access: &Access) -> u32 {
        self.depth_of(access) * self.schedule.rows
    }

    fn width(&self) -> u32 {
        self.schedule.lanes * self.schedule.columns
    }

    /// Returns how many whole tiles lie side by side.
    fn full_columns(&self) -> u32 {
        self.vector.extent / self.width()
    }

    fn full_rows(&self) -> u32 {
        self.row.map_or(1, |row| row.extent / self.schedule.rows)
    }

    /// Returns the place of the sums' variables in a panel.
    fn place(&self, access: &Access) -> String {
        let mut place = String::new();
        for it in self.sums_of(access) {
            place = match place.as_str() {
                "" => it.variable.clone(),
                outer => format!("({outer}) * {} + {}", it.extent, it.variable),
            };
        }
        if place.is_empty() { "0".into() } else { place }
    }

    fn pack(&mut self) {
        let vector = self.vector.clone();
        for (idx, access) in self.packed_columns() {
            let (width, whole) = (self.width(), self.full_columns() * self.width());
            let panel = self.columns_panel(&access);
            self.pack_one(
                &format!("panels{idx}"),
                &access,
                &vector.variable,
                (width, whole, panel),
            );
        }
        if let Some(row) = self.row.cloned() {
            for (idx, access) in self.packed_rows() {
                let (rows, whole) = (self.schedule.rows, self.full_rows() * self.schedule.rows);
                let panel = self.rows_panel(&access);
                self.pack_one(
                    &format!("rows{idx}"),
                    &access,
                    &row.variable,
                    (rows, whole, panel),
                );
            }
        }
    }

    fn pack_one(
        &mut self,
        name: &str,
        access: &Access,
        variable: &str,
        (size, whole, panel): (u32, u32, u32),
    ) {
        let place = self.place(access);
        let sums: Vec<Loop> = self.sums_of(access).into_iter().cloned().collect();
        self.open(&format!(
            "for (int {variable} = 0; {variable} < {whole}; {variable} += {size})"
        ));
        for it in &sums {
            self.open(&header(it));
        }
        self.open(&format!("for (int lane = 0; lane < {size}; lane++)"));
        let mut shifted = access.clone();
        for subscript in &mut shifted.subscripts {
            if let Some(coefficient) = subscript.terms.get(variable).copied() {
                subscript.terms.insert("lane".into(), coefficient);
            }
        }
        let element = shifted.text(&[]);
        self.line(&format!(
            "{name}[{variable} / {size} * {panel} + ({place}) * {size} + lane] = {element};"
        ));
        for _ in 0..sums.len() + 2 {
            self.close();
        }
    }

    // ---- loops -----------------------------------------------------------

    /// Writes the parallel loops that are neither rows nor columns, from the
    /// one at `idx` on, and tiles inside of them.
    fn outer(&mut self, idx: usize) {
        let is_tiled = |it: &Loop| {
            it.variable == self.vector.variable
                || self.row.is_some_and(|row| row.variable == it.variable)
        };
        match self.nest.parallel.get(idx).cloned() {
            Some(it) if is_tiled(&it) => self.outer(idx + 1),
            Some(it) => {
                self.open(&header(&it));
                self.outer(idx + 1);
                self.close();
            }
            None => self.tiles(),
        }
    }

    fn tiles(&mut self) {
        let (width, extent) = (self.width(), self.vector.extent);
        let whole = self.full_columns() * width;
        let left = (extent - whole) / self.schedule.lanes;
        let vectors = whole + left * self.schedule.lanes;
        let full = Tile {
            rows: self.schedule.rows,
            columns: self.schedule.columns,
        };
        self.band(0, whole, full);
        if 0 < left {
            self.band(
                whole,
                vectors,
                Tile {
                    columns: left,
                    ..full
                },
            );
        }
        if vectors < extent {
            self.plain(vectors);
        }
    }

    /// Writes tiles for the columns from `first` to `end`.
    fn band(&mut self, first: u32, end: u32, tile: Tile) {
        let v = self.vector.variable.clone();
        let step = self.schedule.lanes * tile.columns;
        let columns = format!("for (int {v} = {first}; {v} < {end}; {v} += {step})");
        let Some(row) = self.row.cloned() else {
            self.open(&columns);
            self.tile(tile, (true, true));
            self.close();
            return;
        };
        let r = &row.variable;
        let whole = self.full_rows() * tile.rows;
        let rest = Tile {
            rows: row.extent - whole,
            ..tile
        };
        let rows = format!("for (int {r} = 0; {r} < {whole}; {r} += {})", tile.rows);
        let is_panel = tile.columns == self.schedule.columns;
        if self.schedule.rows_outside {
            self.open(&rows);
            self.open(&columns);
            self.tile(tile, (is_panel, true));
            self.close();
            self.close();
            if 0 < rest.rows {
                self.open(&columns);
                self.rest_of_rows(r, whole, rest, is_panel);
                self.close();
            }
        } else {
            self.open(&columns);
            self.open(&rows);
            self.tile(tile, (is_panel, true));
            self.close();
            if 0 < rest.rows {
                self.rest_of_rows(r, whole, rest, is_panel);
            }
            self.close();
        }
    }

    fn rest_of_rows(&mut self, row: &str, first: u32, rest: Tile, is_panel: bool) {
        self.open("");
        self.line(&format!("const int {row} = {first};"));
        self.tile(rest, (is_panel, false));
        self.close();
    }

    /// Writes the sums of one tile; `in_panels` says whether its columns and
    /// its rows lie in panels.
    fn tile(&mut self, tile: Tile, in_panels: (bool, bool)) {
        let initial = self.nest.initial.clone();
        for r in 0..tile.rows {
            let sums: Vec<String> = (0..tile.columns)
                .map(|c| format!("s{r}_{c} = {{0}}"))
                .collect();
            self.line(&format!("vector {};", sums.join(", ")));
        }
        let zero = initial
            .trim_end_matches('f')
            .parse::<f64>()
            .is_ok_and(|it| it == 0.0);
        if !zero {
            for (r, c) in pairs(tile) {
                self.line(&format!("s{r}_{c} += {initial};"));
            }
        }
        let sums = self.nest.reduction.clone();
        for (idx, it) in sums.iter().enumerate() {
            if idx + 1 == sums.len() && 1 < self.schedule.unroll {
                self.line(&format!("#pragma unroll {}", self.schedule.unroll));
            }
            self.open(&header(it));
        }
        self.step(tile, in_panels);
        for _ in &sums {
            self.close();
        }
        let (v, lanes) = (self.vector.variable.clone(), self.schedule.lanes);
        let row = self
            .row
            .map_or_else(String::new, |row| row.variable.clone());
        for (r, c) in pairs(tile) {
            let element = self.nest.output.text(&[(&v, c * lanes), (&row, r)]);
            self.line(&format!("*(vector_anywhere *)&{element} = s{r}_{c};"));
        }
    }

    /// Writes one step of all sums of a tile.
    fn step(&mut self, tile: Tile, (column_panels, row_panels): (bool, bool)) {
        let columns = if column_panels {
            self.packed_columns()
        } else {
            Vec::new()
        };
        let rows = if row_panels {
            self.packed_rows()
        } else {
            Vec::new()
        };
        let (v, lanes, width) = (
            self.vector.variable.clone(),
            self.schedule.lanes,
            self.width(),
        );
        let row = self
            .row
            .map_or_else(String::new, |row| row.variable.clone());
        let sum_type = self.nest.sum_type.clone();
        let reads: Vec<Access> = self.nest.term.reads().into_iter().cloned().collect();
        // Vectors that all rows use are loaded once.
        for (idx, access) in reads.iter().enumerate() {
            if !access.mentions(&v) {
                continue;
            }
            for c in 0..tile.columns {
                let value = if columns.iter().any(|(packed, _)| *packed == idx) {
                    let (panel, place) = (self.columns_panel(access), self.place(access));
                    let shift = c * lanes;
                    format!(
                        "*(const vector *)&panels{idx}[{v} / {width} * {panel} + ({place}) * {width} + {shift}]"
                    )
                } else {
                    let element = access.text(&[(&v, c * lanes)]);
                    match self.nest.types[&access.array] == sum_type {
                        true => format!("*(const vector_anywhere *)&{element}"),
                        false => format!(
                            "__builtin_convertvector(*(const narrow_{} *)&{element}, vector)",
                            access.array
                        ),
                    }
                };
                self.line(&format!("const vector v{idx}_{c} = {value};"));
            }
        }
        for r in 0..tile.rows {
            for (idx, access) in reads.iter().enumerate() {
                if access.mentions(&v) {
                    continue;
                }
                let value = if rows.iter().any(|(packed, _)| *packed == idx) {
                    let (panel, place, size) = (
                        self.rows_panel(access),
                        self.place(access),
                        self.schedule.rows,
                    );
                    format!("rows{idx}[{row} / {size} * {panel} + ({place}) * {size} + {r}]")
                } else {
                    access.text(&[(&row, r)])
                };
                self.line(&format!("const {sum_type} x{idx}_{r} = {value};"));
            }
            for c in 0..tile.columns {
                let mut next = 0;
                let term = term(
                    &self.nest.term,
                    &mut next,
                    &|idx| match reads[idx].mentions(&v) {
                        true => format!("v{idx}_{c}"),
                        false => format!("x{idx}_{r}"),
                    },
                );
                self.line(&format!("s{r}_{c} += {term};"));
            }
        }
    }

    /// Writes plain loops for the columns from `first` on.
    fn plain(&mut self, first: u32) {
        let (v, extent) = (self.vector.variable.clone(), self.vector.extent);
        let row = self.row.cloned();
        if let Some(row) = &row {
            self.open(&header(row));
        }
        self.open(&format!("for (int {v} = {first}; {v} < {extent}; {v}++)"));
        let (sum_type, initial) = (self.nest.sum_type.clone(), self.nest.initial.clone());
        self.line(&format!("{sum_type} sum = {initial};"));
        let sums = self.nest.reduction.clone();
        for it in &sums {
            self.open(&header(it));
        }
        let reads: Vec<String> = self
            .nest
            .term
            .reads()
            .iter()
            .map(|it| it.text(&[]))
            .collect();
        let term = term(&self.nest.term, &mut 0, &|idx| reads[idx].clone());
        self.line(&format!("sum += {term};"));
        for _ in &sums {
            self.close();
        }
        let output = self.nest.output.text(&[]);
        self.line(&format!("{output} = sum;"));
        self.close();
        if row.is_some() {
            self.close();
        }
    }
}

fn header(it: &Loop) -> String {
    let Loop { variable, extent } = it;
    format!("for (int {variable} = 0; {variable} < {extent}; {variable}++)")
}

fn pairs(tile: Tile) -> impl Iterator<Item = (u32, u32)> {
    (0..tile.rows).flat_map(move |r| (0..tile.columns).map(move |c| (r, c)))
}

/// Returns an expression as C; `name` gives what stands for its reads, by
/// their number.
fn term(expression: &Expression, next: &mut usize, name: &dyn Fn(usize) -> String) -> String {
    match expression {
        Expression::Read(_) => {
            *next += 1;
            name(*next - 1)
        }
        Expression::Number(text) => text.clone(),
        Expression::Binary(left, operator, right) => {
            let left = term(left, next, name);
            let right = term(right, next, name);
            match operator {
                '*' => format!("{} * {}", wrapped(&left), wrapped(&right)),
                _ => format!("{left} {operator} {}", wrapped(&right)),
            }
        }
    }
}

fn wrapped(text: &str) -> String {
    match text.contains(" + ") || text.contains(" - ") {
        true => format!("({text})"),
        false => text.to_owned(),
    }
}
