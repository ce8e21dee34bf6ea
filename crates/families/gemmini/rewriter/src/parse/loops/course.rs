//! How variables change from one iteration of a loop to the next.

use super::super::Reader;
use super::super::scope::{Binding, Entry, Quantity, Read, mentions, substituted};
use super::Header;
use crate::affine::Affine;
use crate::condition::{Condition, Relation};
use crate::syntax::assigned_names;
use crate::value::Value;

/// How a variable changes over the iterations.
#[derive(Clone, Debug)]
pub(super) enum Course {
    /// Each of its integers grows by so much.
    Linear(Vec<i64>),
    /// At the end of each iteration it is this, in terms of symbols.
    Late(Quantity),
    /// Not known, and why.
    Lost(String),
}

/// A variable that a loop changes.
pub(super) struct Changing {
    /// Its place in the scope.
    pub(super) place: usize,
    pub(super) before: Entry,
    pub(super) symbols: Vec<String>,
    pub(super) course: Course,
}

/// The number of the iteration: `value`, and `step` times it.
pub(super) struct Index {
    pub(super) value: Affine,
    pub(super) scaled: Affine,
    pub(super) step: i64,
}

impl Index {
    pub(super) fn plain(value: Affine) -> Self {
        Self {
            scaled: value.clone(),
            value,
            step: 1,
        }
    }

    pub(super) fn times(&self, factor: i64) -> Option<Affine> {
        match factor % self.step {
            0 => self.scaled.times(factor / self.step),
            _ => self.value.times(factor),
        }
    }
}

impl<'tree> Reader<'tree> {
    /// Reads the body once with symbols; returns how each variable changes.
    pub(super) fn changes(&mut self, header: &Header<'tree>) -> Read<Vec<Changing>> {
        let mut names = assigned_names(header.condition, self.source);
        names.extend(
            header
                .update
                .iter()
                .flat_map(|update| assigned_names(*update, self.source)),
        );
        let inner = assigned_names(header.body, self.source);
        let places = |names: &std::collections::BTreeSet<String>, reader: &Self| -> Vec<usize> {
            let found = names.iter().filter_map(|name| {
                let visible = &reader.scope[reader.floor..];
                let place = visible.iter().rposition(|entry| entry.name == *name)?;
                Some(place + reader.floor)
            });
            found
                .filter(|place| !matches!(reader.scope[*place].binding, Binding::Kept(_)))
                .collect()
        };
        let body_matters = !places(&inner, self).is_empty();
        names.extend(inner);
        let mut changing = Vec::new();
        for place in places(&names, self) {
            let before = self.scope[place].clone();
            let parts = match &before.binding {
                Binding::Known(quantity) => quantity.parts().len(),
                _ => 0,
            };
            let symbols: Vec<String> = (0..parts)
                .map(|part| {
                    self.symbols += 1;
                    format!("#{}.{part}", self.symbols)
                })
                .collect();
            changing.push(Changing {
                place,
                before,
                symbols,
                course: Course::Lost("it changes in this loop".to_owned()),
            });
        }
        let before = self.scope.clone();
        for variable in &changing {
            if let Binding::Known(quantity) = &variable.before.binding {
                let parts = variable.symbols.iter();
                let parts = parts.map(|symbol| Value::Plain(Affine::variable(symbol)));
                self.scope[variable.place].binding =
                    Binding::Known(quantity.with_parts(parts.collect()));
            }
        }
        if !assigned_names(header.condition, self.source).is_empty() {
            self.scope = before;
            return self.unread(header.condition, "the condition changes a variable");
        }
        let symbolic = self.scope.clone();
        let after = self.tried(header, body_matters);
        self.scope.clone_from(&before);
        let after = after?;
        for variable in &mut changing {
            variable.course = course(variable, &after[variable.place].binding);
        }
        // What does not change any more after one iteration is known too.
        let lost = |variable: &Changing| matches!(variable.course, Course::Lost(_));
        if body_matters && changing.iter().any(lost) {
            let mut rounds: Vec<Vec<Entry>> = Vec::new();
            for _ in 0..2 {
                self.scope.clone_from(&symbolic);
                for variable in changing.iter().filter(|variable| lost(variable)) {
                    let from = rounds.last().map(|round| round[variable.place].clone());
                    self.scope[variable.place] = from.unwrap_or_else(|| variable.before.clone());
                }
                let after = self.tried(header, true);
                self.scope.clone_from(&before);
                rounds.push(after?);
            }
            let symbols: Vec<String> = changing.iter().flat_map(|v| v.symbols.clone()).collect();
            for variable in changing.iter_mut().filter(|variable| lost(variable)) {
                let [one, two] = [0, 1].map(|round: usize| &rounds[round][variable.place].binding);
                let fixed = |part: &Value| !symbols.iter().any(|symbol| mentions(part, symbol));
                if let Binding::Known(quantity) = one
                    && one == two
                    && !quantity.parts().is_empty()
                    && quantity.parts().iter().all(fixed)
                {
                    variable.course = Course::Late(quantity.clone());
                }
            }
        }
        Ok(changing)
    }

    /// Runs an iteration for its effect on variables; returns the scope behind it.
    fn tried(&mut self, header: &Header<'tree>, body_matters: bool) -> Read<Vec<Entry>> {
        let length = self.scope.len();
        let was = std::mem::replace(&mut self.trial, true);
        let mut read = Ok(());
        if body_matters {
            read = self.block(header.body, &mut Vec::new()).map(|_| ());
        }
        if let (Ok(()), Some(update)) = (&read, header.update) {
            read = self.quantity(update).map(|_| ());
        }
        self.trial = was;
        self.emitted.clear();
        self.scope.truncate(length);
        read.map(|()| self.scope.clone())
    }

    /// Returns what a variable is when an iteration begins.
    pub(super) fn at_start(
        &self,
        variable: &Changing,
        changing: &[Changing],
        index: &Index,
    ) -> Binding {
        let name = &variable.before.name;
        match (&variable.course, &variable.before.binding) {
            (Course::Linear(steps), Binding::Known(before)) => {
                let parts =
                    before.parts().into_iter().zip(steps).map(|(part, step)| {
                        part.zip(&Value::Plain(index.times(*step)?), Affine::plus)
                    });
                match parts.collect::<Option<Vec<_>>>() {
                    Some(parts) => Binding::Known(before.with_parts(parts)),
                    None => Binding::Unknown(format!("`{name}` grows too large")),
                }
            }
            (Course::Late(after), before) => {
                if index.value.as_constant() == Some(0) {
                    return before.clone();
                }
                let earlier = Index {
                    value: match index.value.plus_constant(-1) {
                        Some(value) => value,
                        None => return Binding::Unknown("too large".to_owned()),
                    },
                    scaled: match index.scaled.plus_constant(-index.step) {
                        Some(scaled) => scaled,
                        None => return Binding::Unknown("too large".to_owned()),
                    },
                    step: index.step,
                };
                let later = self.in_iteration(after, changing, &earlier);
                if index.value.as_constant().is_some() {
                    return later;
                }
                let first = self.folded(Condition::compare(index.value.clone(), Relation::Zero));
                match (before, &later) {
                    (Binding::Known(before), Binding::Known(after)) => match first {
                        Condition::Constant(true) => Binding::Known(before.clone()),
                        Condition::Constant(false) => later,
                        first => match before.choose(&first, after) {
                            Some(quantity) => Binding::Known(quantity),
                            None => Binding::Unknown(format!(
                                "`{name}` is another one in the first iteration"
                            )),
                        },
                    },
                    _ => Binding::Unknown(format!("`{name}` has no value in the first iteration")),
                }
            }
            (Course::Lost(reason), _) => Binding::Unknown(reason.clone()),
            (Course::Linear(_), before) => before.clone(),
        }
    }

    /// Returns a quantity in terms of symbols as it is in an iteration.
    pub(super) fn in_iteration(
        &self,
        quantity: &Quantity,
        changing: &[Changing],
        index: &Index,
    ) -> Binding {
        let mut parts = quantity.parts();
        for variable in changing {
            let Binding::Known(before) = &variable.before.binding else {
                continue;
            };
            let Course::Linear(steps) = &variable.course else {
                continue;
            };
            for ((symbol, part), step) in variable.symbols.iter().zip(before.parts()).zip(steps) {
                let value = index
                    .times(*step)
                    .and_then(|moved| part.zip(&Value::Plain(moved), Affine::plus));
                for target in &mut parts {
                    if !mentions(target, symbol) {
                        continue;
                    }
                    let replaced = match &value {
                        Some(Value::Plain(value)) => substituted(target, symbol, value),
                        _ => None,
                    };
                    match replaced {
                        Some(replaced) => *target = replaced,
                        None => return Binding::Unknown("it is too complicated".to_owned()),
                    }
                }
            }
        }
        let open = |part: &Value| {
            changing
                .iter()
                .flat_map(|variable| &variable.symbols)
                .any(|symbol| mentions(part, symbol))
        };
        if parts.iter().any(open) {
            return Binding::Unknown("it depends on what changes in a loop".to_owned());
        }
        Binding::Known(quantity.with_parts(parts))
    }
}

/// Returns how a variable changes, from what one iteration makes of it.
fn course(variable: &Changing, after: &Binding) -> Course {
    let name = &variable.before.name;
    let quantity = match after {
        Binding::Known(quantity) => quantity,
        Binding::Unknown(reason) | Binding::Kept(reason) => return Course::Lost(reason.clone()),
    };
    if let Binding::Known(before) = &variable.before.binding {
        if before == quantity {
            return Course::Linear(vec![0; variable.symbols.len()]);
        }
        if before.same_kind(quantity) {
            let parts = quantity.parts();
            let steps = parts.iter().zip(&variable.symbols).map(|(part, symbol)| {
                part.as_affine()?
                    .minus(&Affine::variable(symbol))?
                    .as_constant()
            });
            if let Some(steps) = steps.collect::<Option<Vec<_>>>() {
                return Course::Linear(steps);
            }
        }
    }
    let own = |part: &Value| variable.symbols.iter().any(|symbol| mentions(part, symbol));
    if quantity.parts().iter().any(own) || quantity.parts().is_empty() {
        let reason = format!("`{name}` changes inside a loop in a way that is not understood");
        return Course::Lost(reason);
    }
    Course::Late(quantity.clone())
}
