//! Loops whose turns threads share.

use super::super::{SharedLoop, greatest_end, start_of};
use super::Writer;
use super::certain::certain_loads;
use crate::expression::{Along, Expression, along};
use crate::launch_text::{WideStore, vector_type};
use crate::step::Step;
use autocomp_c_loops::affine::Affine;

impl Writer<'_> {
    /// Writes a loop whose elements the threads of a team take by turns.
    pub(super) fn strided(
        &mut self,
        shared: &SharedLoop<'_>,
        body: &[Step],
        at: usize,
    ) -> Option<()> {
        let (team, vector) = (self.rows.team, self.rows.vector);
        let start = start_of(self.nest, shared);
        let counter = shared.variable;
        let end = shared.end.to_c();
        let whole = team * vector;
        if self.rows.keep && start == 0 {
            let most = greatest_end(self.nest, shared.end)?;
            let units = (most + whole - 1) / whole;
            self.text.line("#pragma unroll");
            self.text
                .open(&format!("for (int unit = 0; unit < {units}; unit++)"));
            let factor = if vector == 1 {
                String::new()
            } else {
                format!(" * {vector}")
            };
            self.text.line(&format!(
                "const int {counter} = (unit * {team} + lane){factor};"
            ));
            let is_full = shared.end.as_constant().is_some_and(|it| it % whole == 0);
            if !is_full {
                self.text.open(&format!("if ({counter} < {end})"));
            }
            self.elements(shared, body, vector, Some(at))?;
            if !is_full {
                self.text.close();
            }
            self.text.close();
            return Some(());
        }
        let first = |factor: i64| match (start, factor) {
            (0, 1) => "lane".to_owned(),
            (0, _) => format!("lane * {factor}"),
            _ => format!("{start} + lane"),
        };
        let constant = shared.end.as_constant();
        let main = constant.map_or(end.clone(), |it| (it / vector * vector).to_string());
        self.text.line("#pragma unroll 4");
        self.text.open(&format!(
            "for (int {counter} = {}; {counter} < {main}; {counter} += {whole})",
            first(vector)
        ));
        self.elements(shared, body, vector, None)?;
        self.text.close();
        self.rest(shared, body, vector, "lane")
    }

    /// Writes the elements behind the last whole vector.
    pub(super) fn rest(
        &mut self,
        shared: &SharedLoop<'_>,
        body: &[Step],
        vector: i64,
        lane: &str,
    ) -> Option<()> {
        let counter = shared.variable;
        if let Some(end) = shared.end.as_constant()
            && end % vector != 0
        {
            self.text.open(&format!(
                "for (int {counter} = {} + {lane}; {counter} < {end}; {counter} += {})",
                end / vector * vector,
                self.rows.team
            ));
            self.elements(shared, body, 1, None)?;
            self.text.close();
        }
        Some(())
    }

    /// Writes the elements from the counter on, as many as a vector has.
    pub(super) fn elements(
        &mut self,
        shared: &SharedLoop<'_>,
        body: &[Step],
        vector: i64,
        kept_in: Option<usize>,
    ) -> Option<()> {
        let counter = shared.variable;
        let mut places: Vec<(Expression, String)> = Vec::new();
        let element = |place: &str, is_kept: bool| {
            let unit = if is_kept { "[unit]" } else { "" };
            let e = if vector == 1 { "0" } else { "e" };
            format!("{place}{unit}[{e}]")
        };
        let own = |it: &Expression| it.with_index("*", &Affine::variable(counter));
        let mut inner: Vec<(String, Expression)> = Vec::new();
        if let Some(at) = kept_in {
            for kept in &self.kept {
                if at < kept.first || kept.last < at {
                    continue;
                }
                let value = own(&kept.value);
                let place = element(&kept.place, true);
                if at == kept.first && !kept.is_load {
                    inner.push((place.clone(), value.clone()));
                }
                places.push((value, place));
            }
        }
        // Loads that are certain, as vectors.
        let mut lines = Vec::new();
        let end = shared.end.as_constant();
        for (array, index) in certain_loads(body) {
            let load = Expression::Load(array.clone(), Box::new(index.clone()));
            let kept = self
                .kept
                .iter()
                .find(|it| kept_in.is_some() && it.is_load && own(&it.value) == load);
            let filled_here = kept.is_none_or(|it| Some(it.first) == kept_in);
            let is_known = places.iter().any(|it| it.0 == load);
            if !filled_here || kept.is_none() && (is_known || vector == 1) {
                continue;
            }
            let affine = index.as_index()?.clone();
            let kind = self.nest.kind_of(&array).to_owned();
            let is_beside = 1 < vector
                && self.nest.bytes_of(&array) * vector <= 16
                && end.is_some_and(|it| along(&affine, counter, it, vector) == Along::Beside);
            let to = match kept {
                Some(kept) => format!("{}[unit]", kept.place),
                None if is_beside => {
                    let place = format!("v{}", self.vectors);
                    self.vectors += 1;
                    lines.push(format!("__align__(16) {kind} {place}[{vector}];"));
                    places.push((load.clone(), element(&place, false)));
                    place
                }
                None => continue,
            };
            match (is_beside, vector_type(&kind, vector)) {
                (true, Some(wide)) => {
                    lines.push(format!(
                        "*({wide}*){to} = *(const {wide}*)&{array}[{}];",
                        affine.to_c()
                    ));
                }
                _ => {
                    for e in 0..vector {
                        let at = affine
                            .substitute(counter, &Affine::variable(counter).plus_constant(e)?)?;
                        lines.push(format!("{to}[{e}] = {array}[{}];", at.to_c()));
                    }
                }
            }
        }
        self.text.take(&lines);
        let mut behind = Vec::new();
        let body = {
            // Stores that lie side by side, as vectors.
            let mut result = Vec::new();
            for step in body {
                if let Step::Store {
                    array,
                    index,
                    value,
                } = step
                    && 1 < vector
                    && let Some(affine) = index.as_index()
                    && let Some(wide) = vector_type(self.nest.kind_of(array), vector)
                    && end.is_some_and(|it| along(affine, counter, it, vector) == Along::Beside)
                {
                    let place = format!("v{}", self.vectors);
                    self.vectors += 1;
                    let store = WideStore {
                        array,
                        kind: self.nest.kind_of(array),
                        wide: &wide,
                        place: &place,
                        count: vector,
                        align: 16,
                    };
                    self.text.line(&store.declaration());
                    behind.push(store.statement(&affine.to_c()));
                    result.push(store.of_one(value));
                } else {
                    result.push(step.clone());
                }
            }
            result
        };
        if 1 < vector {
            self.text.line("#pragma unroll");
            self.text
                .open(&format!("for (int e = 0; e < {vector}; e++)"));
        }
        let moved = match vector {
            1 => Affine::variable(counter),
            _ => Affine::variable(counter).plus(&Affine::variable("e"))?,
        };
        let placed = |it: &Expression, places: &[(Expression, String)]| {
            let value = it.map(&|part| {
                let found = places.iter().find(|place| place.0 == *part)?;
                Some(Expression::Text(found.1.clone()))
            });
            value.with_index(counter, &moved)
        };
        let mut inner_places = places.clone();
        for (place, value) in inner {
            inner_places.retain(|it| it.1 != place);
            let text = self.fast(&placed(&value, &inner_places)).to_c();
            self.text.line(&format!("{place} = {text};"));
        }
        for step in &body {
            let line = match step {
                Step::Let { kind, name, value } => {
                    let value = value.as_ref().map_or(String::new(), |it| {
                        format!(" = {}", self.fast(&placed(it, &places)).to_c())
                    });
                    format!("{kind} {name}{value};")
                }
                Step::Assign { name, value } => {
                    format!("{name} = {};", self.fast(&placed(value, &places)).to_c())
                }
                Step::Store {
                    array,
                    index,
                    value,
                } => format!(
                    "{array}[{}] = {};",
                    placed(index, &[]).to_c(),
                    self.fast(&placed(value, &places)).to_c()
                ),
                _ => return None,
            };
            self.text.line(&line);
        }
        if 1 < vector {
            self.text.close();
        }
        self.text.take(&behind);
        Some(())
    }
}
