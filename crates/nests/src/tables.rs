//! Counters that are looked up: several tables, so that one update need not
//! wait for the one before that may have changed the same counter.

use super::code::{Action, Element, Expression, Loop, Named, Statement};
use super::text::Text;
use autocomp_c_loops::affine::Affine;
use autocomp_c_loops::statement::Command;
use std::collections::BTreeMap;

/// Most counters of which there are several tables.
const MOST_COUNTERS: i64 = 1 << 16;

/// A loop that changes counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Counting {
    inner: Loop,
    action: Action,
    target: Element,
    named: Named,
}

impl Counting {
    /// Reads a loop as such a one.
    pub(super) fn read(inner: &Loop, names: &BTreeMap<String, Named>) -> Option<Self> {
        let [Statement::Command(action)] = inner.body.as_slice() else {
            return None;
        };
        let Action::Assign {
            target,
            operator: Some('+'),
            value,
        } = action
        else {
            return None;
        };
        let named = names.get(&target.name)?;
        let apart = value.reads().iter().all(|it| it.name != target.name);
        let looked_up = target.affine().is_none() && target.indices.len() == 1;
        let own = target.indices.iter().all(|index| match index {
            super::code::Index::Value(value) => {
                value.reads().iter().all(|it| it.name != target.name)
            }
            super::code::Index::Affine(_) => true,
        });
        let size = named.extents.first().is_some_and(|it| *it <= MOST_COUNTERS);
        (apart && own && looked_up && size && inner.step == 1).then(|| Self {
            inner: inner.clone(),
            action: action.clone(),
            target: target.clone(),
            named: named.clone(),
        })
    }

    /// Returns how many changes there are, and how many counters.
    pub(super) fn sizes(&self) -> (f64, f64) {
        let counters = self.named.extents.first().copied().unwrap_or(1);
        (self.inner.trips() as f64, counters as f64)
    }

    /// Writes the loop with `count` tables; nothing if that is not possible.
    pub(super) fn write(&self, count: u32, id: usize, text: &mut Text) -> Option<String> {
        let trips = self.inner.trips();
        if !(2..=16).contains(&count) || trips < i64::from(count) {
            return None;
        }
        let (kind, extent) = (&self.named.kind, self.named.extents.first()?);
        let more = count - 1;
        let statics =
            format!("static {kind} tables{id}[{more}][{extent}] __attribute__((aligned(64)));\n");
        let (v, start, end) = (&self.inner.variable, self.inner.start, self.inner.end);
        text.line(&format!("memset(tables{id}, 0, sizeof tables{id});"));
        let whole = start + trips / i64::from(count) * i64::from(count);
        text.open(&format!(
            "for (int {v} = {start}; {v} < {whole}; {v} += {count})"
        ));
        for copy in 0..count {
            let next = Affine::variable(v).plus_constant(i64::from(copy))?;
            let mut action = self.action.substitute(v, &next)?;
            if let (Action::Assign { target, .. }, 1..) = (&mut action, copy) {
                target.name = format!("tables{id}[{}]", copy - 1);
            }
            text.line(&format!("{};", action.to_c()));
        }
        text.close();
        if whole < end {
            text.open(&format!("for (int {v} = {whole}; {v} < {end}; {v}++)"));
            text.line(&format!("{};", self.action.to_c()));
            text.close();
        }
        text.open(&format!("for (int {v} = 0; {v} < {extent}; {v}++)"));
        let sum: Vec<String> = (0..more)
            .map(|it| format!("tables{id}[{it}][{v}]"))
            .collect();
        let target = Element {
            name: self.target.name.clone(),
            indices: vec![super::code::Index::Affine(Affine::variable(v))],
        };
        text.line(&format!(
            "{} += {};",
            Expression::Element(target).to_c(),
            sum.join(" + ")
        ));
        text.close();
        Some(statics)
    }
}
