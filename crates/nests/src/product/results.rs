//! Where sums go.

use super::super::code::Expression;
use super::super::translation::{Translation, Value, shifted, shifted_expression};
use super::super::vectors::{WIDTHS, gnu, is_narrow};
use super::{Tile, Writer};
use autocomp_c_loops::affine::Affine;
use std::collections::BTreeMap;

impl Writer<'_> {
    /// Writes where the sums of a tile go.
    pub(super) fn store(&mut self, tile: Tile) -> Option<()> {
        let lanes = self.schedule.lanes;
        for r in 0..tile.rows {
            for c in 0..tile.columns {
                let name = format!("s{r}_{c}");
                if c + 1 < tile.columns || tile.last == lanes {
                    self.store_vector(&name, lanes, (r, c * lanes))?;
                    continue;
                }
                let (mut first, mut part) = (0, lanes / 2);
                while *WIDTHS.start() <= part {
                    if first + part <= tile.last {
                        let lanes = first..first + part;
                        let some = format!("({})", gnu::shuffled(&name, &name, lanes));
                        self.store_vector(&some, part, (r, c * self.schedule.lanes + first))?;
                        first += part;
                    }
                    part /= 2;
                }
                self.store_lanes(&name, (first, tile.last), (r, c * lanes))?;
            }
        }
        Some(())
    }

    /// Returns by how much the vectors' and the rows' variables are moved.
    fn moved(&self, (row, column): (u32, u32)) -> [(String, i64); 2] {
        let r = self
            .row
            .map_or_else(String::new, |row| row.variable.clone());
        let v = self.vector.variable.clone();
        [(v, column.into()), (r, row.into())]
    }

    /// Returns the loop around blocks of the sum, whose parts are added to results.
    fn adds(&self) -> Option<String> {
        let first = self.nest.reduction.first();
        first
            .filter(|_| self.schedule.depth != 0)
            .map(|it| it.variable.clone())
    }

    /// Writes where a vector of `lanes` sums goes.
    fn store_vector(&mut self, name: &str, lanes: u32, place: (u32, u32)) -> Option<()> {
        let nest = self.nest;
        let v = self.vector.variable.clone();
        // Narrow outputs are made of whole numbers.
        let kind = match nest.output_type.as_str() {
            "float" => "float",
            _ => "int32_t",
        };
        let vector = self.preamble.vector(lanes, kind);
        let moved = self.moved(place);
        let shifts = [
            (moved[0].0.as_str(), moved[0].1),
            (moved[1].0.as_str(), moved[1].1),
        ];
        let element = shifted(&nest.output, &shifts)?.to_c();
        let value = if nest.is_plain() {
            name.to_owned()
        } else {
            let locals = BTreeMap::from([(nest.sum.clone(), name.to_owned())]);
            let mut vectors = Translation {
                preamble: &mut *self.preamble,
                names: self.names,
                lanes,
                kind,
                variable: &v,
                shifts: &shifts,
                locals: &locals,
                reciprocals: false,
                strided: false,
            };
            match vectors.value(&nest.result)? {
                Value::Vector(text) => text,
                Value::Scalar(_) => return None,
            }
        };
        let (place, value) = match is_narrow(&nest.output_type) {
            false => (gnu::stored(&gnu::anywhere(&vector), &element), value),
            true => {
                let narrow = self.preamble.narrow(lanes, &nest.output_type);
                (
                    gnu::stored(&narrow, &element),
                    gnu::converted(&value, &narrow),
                )
            }
        };
        let line = match self.adds() {
            None => format!("{place} = {value};"),
            Some(k) => format!("if (at_{k} == 0) {place} = {value}; else {place} += {value};"),
        };
        self.text.line(&line);
        Some(())
    }

    /// Writes where some lanes of a vector of sums go, one by one.
    fn store_lanes(
        &mut self,
        name: &str,
        (first, end): (u32, u32),
        place: (u32, u32),
    ) -> Option<()> {
        if first == end {
            return Some(());
        }
        let nest = self.nest;
        let v = self.vector.variable.clone();
        let moved = self.moved(place);
        let shifts = [
            (moved[0].0.as_str(), moved[0].1),
            (moved[1].0.as_str(), moved[1].1),
        ];
        let element = shifted(&nest.output, &shifts)?;
        let lane = Affine::variable(&v).plus(&Affine::variable("lane"))?;
        let element = Expression::Element(element).substitute(&v, &lane)?.to_c();
        let value = shifted_expression(&nest.result, &shifts)?
            .substitute(&v, &lane)?
            .map(&mut |it| match it.name == nest.sum {
                true => Expression::Number(format!("{name}[lane]")),
                false => Expression::Element(it.clone()),
            })
            .to_c();
        let line = match self.adds() {
            None => format!("{element} = {value};"),
            Some(k) => format!("{element} = at_{k} == 0 ? {value} : {element} + {value};"),
        };
        self.text
            .open(&format!("for (int lane = {first}; lane < {end}; lane++)"));
        self.text.line(&line);
        self.text.close();
        Some(())
    }

    /// Writes plain loops for the columns from `first` on.
    pub(super) fn plain(&mut self, first: u32, block: Option<(String, String)>) -> Option<()> {
        let (v, extent) = (self.vector.variable.clone(), self.vector.extent);
        let row = self.row.cloned();
        if let Some(row) = &row {
            let r = &row.variable;
            match block {
                // The last block does the rows that are left, too.
                Some((from, last)) => {
                    let whole = row.extent / self.schedule.rows * self.schedule.rows;
                    self.text.open(&format!(
                        "for (int {r} = {from}; {r} < ({last} == {whole} ? {} : {last}); {r}++)",
                        row.extent
                    ));
                }
                None => self.text.open(&row.head()),
            }
        }
        self.text
            .open(&format!("for (int {v} = {first}; {v} < {extent}; {v}++)"));
        let nest = self.nest;
        let (kind, sum) = (&nest.sum_type, &nest.sum);
        self.text
            .line(&format!("{kind} {sum} = {};", nest.initial.to_c()));
        for it in &nest.reduction {
            let head = self.sum_head(it);
            self.text.open(&head);
        }
        self.text.line(&format!("{sum} += {};", nest.term.to_c()));
        for _ in &nest.reduction {
            self.text.close();
        }
        let output = nest.output.to_c();
        let result = nest.result.to_c();
        self.text
            .line(&match (self.schedule.depth, nest.reduction.first()) {
                (1.., Some(it)) => format!(
                    "{output} = at_{} == 0 ? {result} : {output} + {result};",
                    it.variable
                ),
                _ => format!("{output} = {result};"),
            });
        self.text.close();
        if row.is_some() {
            self.text.close();
        }
        Some(())
    }
}
