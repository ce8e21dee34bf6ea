//! Where sums go.

use super::super::code::Expression;
use super::super::translation::{Translation, Value, shifted, shifted_expression};
use super::super::vectors::{gnu, is_narrow};
use super::{Tile, Writer};
use autocomp_c_loops::affine::Affine;
use std::collections::BTreeMap;

impl Writer<'_> {
    /// Writes where the sums of a tile go.
    pub(super) fn store(&mut self, tile: Tile) -> Option<()> {
        let (nest, lanes) = (self.nest, self.schedule.lanes);
        let v = self.vector.variable.clone();
        let row = self
            .row
            .map_or_else(String::new, |row| row.variable.clone());
        // Narrow outputs are made of whole numbers.
        let kind = match nest.output_type.as_str() {
            "float" => "float",
            _ => "int32_t",
        };
        let vector = self.preamble.vector(lanes, kind);
        let narrow =
            is_narrow(&nest.output_type).then(|| self.preamble.narrow(lanes, &nest.output_type));
        for r in 0..tile.rows {
            for c in 0..tile.columns {
                let name = format!("s{r}_{c}");
                let shifts = [
                    (v.as_str(), i64::from(c * lanes)),
                    (row.as_str(), i64::from(r)),
                ];
                let adds = match self.schedule.depth {
                    0 => None,
                    _ => nest.reduction.first().map(|it| it.variable.clone()),
                };
                if c + 1 == tile.columns && tile.last < lanes {
                    let element = shifted(&nest.output, &shifts)?;
                    let lane = Affine::variable(&v).plus(&Affine::variable("lane"))?;
                    let element = Expression::Element(element).substitute(&v, &lane)?.to_c();
                    let value = shifted_expression(&nest.result, &shifts)?
                        .substitute(&v, &lane)?
                        .map(&mut |it| match it.name == nest.sum {
                            true => Expression::Number(format!("{name}[lane]")),
                            false => Expression::Element(it.clone()),
                        });
                    self.text
                        .open(&format!("for (int lane = 0; lane < {}; lane++)", tile.last));
                    self.text.line(&match adds {
                        None => format!("{element} = {};", value.to_c()),
                        Some(k) => format!(
                            "{element} = at_{k} == 0 ? {0} : {element} + {0};",
                            value.to_c()
                        ),
                    });
                    self.text.close();
                    continue;
                }
                let element = shifted(&nest.output, &shifts)?.to_c();
                let value = if nest.is_plain() {
                    name.clone()
                } else {
                    let locals = BTreeMap::from([(nest.sum.clone(), name.clone())]);
                    let mut vectors = Translation {
                        preamble: &mut *self.preamble,
                        names: self.names,
                        lanes,
                        kind,
                        variable: &v,
                        shifts: &shifts,
                        locals: &locals,
                    };
                    match vectors.value(&nest.result)? {
                        Value::Vector(text) => text,
                        Value::Scalar(_) => return None,
                    }
                };
                let (place, value) = match &narrow {
                    None => (gnu::stored(&gnu::anywhere(&vector), &element), value),
                    Some(narrow) => (
                        gnu::stored(narrow, &element),
                        gnu::converted(&value, narrow),
                    ),
                };
                self.text.line(&match adds {
                    None => format!("{place} = {value};"),
                    Some(k) => {
                        format!("if (at_{k} == 0) {place} = {value}; else {place} += {value};")
                    }
                });
            }
        }
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
