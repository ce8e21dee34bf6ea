//! Copies of operands in the order in which tiles read them.

use super::super::code::Expression;
use super::super::nest::Range;
use super::super::translation::shifted;
use super::super::vectors::Dots;
use super::Writer;
use autocomp_c_loops::affine::Affine;

impl Writer<'_> {
    /// Returns the heads of the loops over sums of a panel, blocks respected.
    pub(super) fn sum_head(&self, it: &Range) -> String {
        let variable = &it.variable;
        match self.schedule.depth {
            0 => it.head(),
            _ => format!(
                "for (int {variable} = at_{variable}; {variable} < end_{variable}; {variable}++)"
            ),
        }
    }

    pub(super) fn pack_columns(&mut self) -> Option<()> {
        let (width, extent) = (self.width(), self.vector.extent);
        let whole = extent / width * width;
        for idx in self.column_panels.clone() {
            let name = self.panel_name("panels", idx);
            if self.schedule.dots.is_some_and(Dots::is_shifted) {
                self.count_shifts(idx)?;
            }
            let v = self.vector.variable.clone();
            self.pack(
                &name,
                idx,
                &v,
                (0.to_string(), whole.to_string(), width),
                width,
                "0",
            )?;
            if whole < extent {
                let ends = (whole.to_string(), extent.to_string(), extent - whole);
                self.pack(&name, idx, &v, ends, width, "0")?;
            }
        }
        Some(())
    }

    /// Writes the packing of rows: of all of them, or of a block.
    pub(super) fn pack_rows(&mut self, block: Option<(String, String)>) -> Option<()> {
        let Some(row) = self.row.cloned() else {
            return Some(());
        };
        let rows = self.schedule.rows;
        let whole = row.extent / rows * rows;
        for idx in self.row_panels.clone() {
            let name = self.panel_name("rows", idx);
            let (first, end) = match &block {
                None => ("0".to_owned(), whole.to_string()),
                Some(block) => block.clone(),
            };
            self.pack(
                &name,
                idx,
                &row.variable,
                (first.clone(), end, rows),
                rows,
                &first,
            )?;
            if whole < row.extent {
                if block.is_some() {
                    self.text
                        .open(&format!("if (last_{} == {whole})", row.variable));
                }
                let ends = (
                    whole.to_string(),
                    row.extent.to_string(),
                    row.extent - whole,
                );
                self.pack(&name, idx, &row.variable, ends, rows, &first)?;
                if block.is_some() {
                    self.text.close();
                }
            }
        }
        Some(())
    }

    /// Writes loops that copy elements, from `first` to `end` in tiles of `count`, into
    /// panels `size` wide; the one of `origin` comes first.
    pub(super) fn pack(
        &mut self,
        name: &str,
        idx: usize,
        variable: &str,
        (first, end, count): (String, String, u32),
        size: u32,
        origin: &str,
    ) -> Option<()> {
        let access = (*self.nest.reads().get(idx)?).clone();
        let panel = self.panel_depth(&access) * size;
        let of_rows = name.starts_with("rows");
        let (group, kind) = (self.group(), self.panel_type(of_rows));
        let mark = match self.schedule.dots {
            Some(dots) if dots.is_shifted() && of_rows => " ^ -128",
            _ => "",
        };
        let sums = self.sums_of(&access);
        let (place, tile) = (
            self.place(&access),
            match origin {
                "0" => format!("{variable} / {size}"),
                origin => format!("({variable} - {origin}) / {size}"),
            },
        );
        self.text.open(&format!(
            "for (int {variable} = {first}; {variable} < {end}; {variable} += {count})"
        ));
        let (inner, outer) = match sums.split_last() {
            Some((inner, outer)) => (Some(inner), outer),
            None => (None, [].as_slice()),
        };
        for it in outer {
            let head = self.sum_head(it);
            self.text.open(&head);
        }
        let element = |shift: i64| -> Option<String> {
            let mut shifts: Vec<(&str, i64)> = Vec::new();
            shifts.extend(inner.map(|it| (it.variable.as_str(), shift)));
            let moved = shifted(&access, &shifts)?;
            let lane = Affine::variable(variable).plus(&Affine::variable("lane"))?;
            Some(
                Expression::Element(moved)
                    .substitute(variable, &lane)?
                    .to_c(),
            )
        };
        match inner {
            Some(inner) if 1 < group => {
                let (v, whole) = (&inner.variable, inner.extent / group * group);
                let head = match self.schedule.depth {
                    0 => format!("for (int {v} = 0; {v} < {whole}; {v} += {group})"),
                    _ => {
                        format!("for (int {v} = at_{v}; {v} + {group} <= end_{v}; {v} += {group})")
                    }
                };
                self.text.open(&head);
                self.text.line(&format!(
                    "{kind} *const strip = &{name}[{tile} * {panel} + ({place}) * {size}];"
                ));
                self.text
                    .open(&format!("for (int lane = 0; lane < {count}; lane++)"));
                for part in 0..group {
                    let from = element(i64::from(part))?;
                    self.text
                        .line(&format!("strip[lane * {group} + {part}] = {from}{mark};"));
                }
                self.text.close();
                self.text.close();
                if whole < inner.extent {
                    // Panels begin with zeros: what is left of the last group adds nothing.
                    self.text.open(&format!(
                        "for (int {v} = {whole}; {v} < {}; {v}++)",
                        inner.extent
                    ));
                    self.text
                        .open(&format!("for (int lane = 0; lane < {count}; lane++)"));
                    let from = element(0)?;
                    self.text.line(&format!(
                        "{name}[{tile} * {panel} + (({place}) - {v} + {whole}) * {size} + lane * {group} + {v} - {whole}] = {from}{mark};"
                    ));
                    self.text.close();
                    self.text.close();
                }
            }
            _ => {
                if let Some(inner) = inner {
                    let head = self.sum_head(inner);
                    self.text.open(&head);
                }
                self.text.line(&format!(
                    "{kind} *const strip = &{name}[{tile} * {panel} + ({place}) * {size}];"
                ));
                self.text
                    .open(&format!("for (int lane = 0; lane < {count}; lane++)"));
                let from = element(0)?;
                self.text.line(&format!("strip[lane] = {from}{mark};"));
                self.text.close();
                if inner.is_some() {
                    self.text.close();
                }
            }
        }
        for _ in outer {
            self.text.close();
        }
        self.text.close();
        Some(())
    }

    /// Writes what 128 too many in every number of a row adds up to.
    pub(super) fn count_shifts(&mut self, idx: usize) -> Option<()> {
        let access = (*self.nest.reads().get(idx)?).clone();
        let (id, v) = (self.id, self.vector.variable.clone());
        let extent = self.vector.extent;
        self.text
            .open(&format!("for (int {v} = 0; {v} < {extent}; {v}++)"));
        self.text.line(&format!("shifts{id}[{v}] = 0;"));
        self.text.close();
        let sums = self.sums_of(&access);
        for it in &sums {
            let head = self.sum_head(it);
            self.text.open(&head);
        }
        self.text
            .open(&format!("for (int {v} = 0; {v} < {extent}; {v}++)"));
        self.text
            .line(&format!("shifts{id}[{v}] -= 128 * {};", access.to_c()));
        for _ in 0..=sums.len() {
            self.text.close();
        }
        Some(())
    }
}
