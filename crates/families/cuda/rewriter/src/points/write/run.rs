//! Steps that threads do for all of their points, one after the other.

use super::super::plain::{mentions, plain, substituted};
use super::Writer;
use crate::expression::{Along, Expression, along};
use crate::launch_text::{WideStore, vector_type};
use crate::rows::certain;
use crate::step::{self, Step};
use autocomp_c_loops::affine::Affine;
use autocomp_nests::Text;
use std::collections::BTreeSet;

impl Writer<'_> {
    /// Writes simple steps for each point of the thread.
    pub(super) fn run(&mut self, run: &[Step], guard: Option<&str>, whole: &[Step]) -> Option<()> {
        if run.is_empty() {
            return Some(());
        }
        let vector = self.points.vector;
        let copies = self.copies();
        let mut dimensions: Vec<(String, i64)> = copies
            .iter()
            .map(|it| (it.counter.clone(), it.count))
            .collect();
        if 1 < vector {
            dimensions.push(("e".into(), vector));
        }
        // Variables that other steps need, too, have a place for each point.
        let mut shared = Vec::new();
        let mut declared = Vec::new();
        step::walk(run, &mut |it| {
            if let Step::Let { kind, name, .. } = it {
                declared.push((kind.clone(), name.clone()));
            }
        });
        for (kind, name) in &declared {
            if mentions(run, name) < mentions(whole, name) {
                let sizes: String = dimensions.iter().map(|it| format!("[{}]", it.1)).collect();
                self.text.line(&format!("{kind} {name}{sizes};"));
                shared.push(name.clone());
            }
        }
        let local: BTreeSet<&String> = declared
            .iter()
            .map(|it| &it.1)
            .filter(|it| !shared.contains(it))
            .collect();
        let subscript: String = dimensions.iter().map(|it| format!("[{}]", it.0)).collect();
        for dimension in &copies {
            self.text.line("#pragma unroll");
            self.text.open(&format!(
                "for (int {0} = 0; {0} < {1}; {0}++)",
                dimension.counter, dimension.count
            ));
        }
        if let Some(guard) = guard {
            self.text.open(&format!("if ({guard})"));
        }
        let moved = self.moved()?;
        let moved_first: Vec<(String, Affine)> = moved
            .iter()
            .map(|(name, it)| Some((name.clone(), it.substitute("e", &Affine::constant(0))?)))
            .collect::<Option<_>>()?;
        let at = |it: &Expression, places: &[(String, Affine)]| {
            it.map(&|part| match part {
                Expression::Index(affine) => Some(Expression::Index(substituted(affine, places)?)),
                _ => None,
            })
        };
        let last = self.nest.points.last()?.clone();
        let extent = last.extent / vector * vector;
        let mut loaded: Vec<(Expression, String)> = Vec::new();
        if 1 < vector {
            let mut wanted = Vec::new();
            certain(run, &mut |it| {
                if let Expression::Load(array, index) = it
                    && let Some(index) = index.as_index()
                    && along(index, &last.name, extent, vector) == Along::Beside
                    && !wanted.contains(&(array.clone(), index.clone()))
                {
                    wanted.push((array.clone(), index.clone()));
                }
            });
            for (array, index) in wanted {
                let kind = self.nest.kind_of(&array).to_owned();
                let Some(wide) = vector_type(&kind, vector) else {
                    continue;
                };
                let place = format!("v{}", self.vectors);
                self.vectors += 1;
                let from = substituted(&index, &moved_first)?;
                self.text
                    .line(&format!("__align__(16) {kind} {place}[{vector}];"));
                self.text.line(&format!(
                    "*({wide}*){place} = *(const {wide}*)&{array}[{}];",
                    from.to_c()
                ));
                loaded.push((
                    Expression::Load(array, Box::new(Expression::Index(index))),
                    format!("{place}[e]"),
                ));
            }
        }
        let mut behind = Vec::new();
        let mut steps = Vec::new();
        for step in run {
            if let Step::Store {
                array,
                index: Expression::Index(index),
                value,
            } = step
                && 1 < vector
                && along(index, &last.name, extent, vector) == Along::Beside
                && let Some(wide) = vector_type(self.nest.kind_of(array), vector)
            {
                let place = format!("v{}", self.vectors);
                self.vectors += 1;
                let to = substituted(index, &moved_first)?;
                let store = WideStore {
                    array,
                    kind: self.nest.kind_of(array),
                    wide: &wide,
                    place: &place,
                    count: vector,
                    align: 16,
                };
                self.text.line(&store.declaration());
                behind.push(store.statement(&to.to_c()));
                steps.push(store.of_one(value));
            } else {
                steps.push(step.clone());
            }
        }
        if 1 < vector {
            self.text.line("#pragma unroll");
            self.text
                .open(&format!("for (int e = 0; e < {vector}; e++)"));
        }
        let of = |it: &Expression| {
            let value = it.map(&|part| {
                loaded
                    .iter()
                    .find(|known| known.0 == *part)
                    .map(|known| Expression::Text(known.1.clone()))
            });
            let value = at(&value, &moved);
            value.map(&|part| match part {
                Expression::Scalar(name)
                    if !local.contains(name) && self.nest.kinds.contains_key(name) =>
                {
                    Some(Expression::Text(format!("{name}{subscript}")))
                }
                _ => None,
            })
        };
        let placed = |name: &str| match local.iter().any(|it| *it == name) || name.ends_with(']') {
            true => name.to_owned(),
            false => format!("{name}{subscript}"),
        };
        let mut lines = Text::default();
        plain(&steps, &of, &placed, &shared, &mut lines);
        self.text.take(&lines.lines);
        if 1 < vector {
            self.text.close();
        }
        self.text.take(&behind);
        if guard.is_some() {
            self.text.close();
        }
        for _ in &copies {
            self.text.close();
        }
        Some(())
    }
}
