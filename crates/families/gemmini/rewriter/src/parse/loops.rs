//! Reads loops: how variables change in them, and how often they run.
//!
//! A first reading of the body, with a symbol in the place of every variable
//! that it changes, tells by how much each changes from one iteration to the
//! next. What changes by a constant is a multiple of the number of the
//! iteration, whether it is counted by the header or along the way.

use super::Reader;
use super::scope::{Binding, Entry, Obstacle, Quantity, Range, Read, mentions, substituted};
use super::statements::{Flow, breaks, jumps};
use crate::affine::{Affine, Atom};
use crate::condition::{Condition, Relation};
use crate::kernel::{Guard, Loop, Statement};
use crate::syntax::assigned_names;
use crate::value::Value;
use std::collections::VecDeque;
use tree_sitter::Node;

/// The most iterations by which a loop may run fewer times than at most.
const RAGGED_LIMIT: i64 = 1 << 10;
/// The symbol for the number of the iteration.
const COUNT: &str = "#count";
/// Bounds keep every value of a variable far from overflow.
const BOUND: i64 = 1 << 40;
/// The most parts of a loop that are read one by one.
const PART_LIMIT: usize = 6;
/// The same where every iteration is a part of its own.
const EACH_LIMIT: usize = 64;

/// How a variable changes over the iterations.
#[derive(Clone, Debug)]
enum Course {
    /// Each of its integers grows by so much.
    Linear(Vec<i64>),
    /// At the end of each iteration it is this, in terms of symbols.
    Late(Quantity),
    /// Not known, and why.
    Lost(String),
}

/// A variable that a loop changes.
struct Changing {
    /// Its place in the scope.
    place: usize,
    before: Entry,
    symbols: Vec<String>,
    course: Course,
}

/// The number of the iteration: `value`, and `step` times it.
struct Index {
    value: Affine,
    scaled: Affine,
    step: i64,
}

impl Index {
    fn plain(value: Affine) -> Self {
        Self {
            scaled: value.clone(),
            value,
            step: 1,
        }
    }

    fn times(&self, factor: i64) -> Option<Affine> {
        match factor % self.step {
            0 => self.scaled.times(factor / self.step),
            _ => self.value.times(factor),
        }
    }
}

/// How a loop is written when it is understood.
struct Form {
    variable: String,
    start: i64,
    end: i64,
    step: i64,
    trips: i64,
}

struct Header<'tree> {
    node: Node<'tree>,
    condition: Node<'tree>,
    update: Option<Node<'tree>>,
    body: Node<'tree>,
    tests_last: bool,
}

impl<'tree> Reader<'tree> {
    /// Reads a loop that runs a known number of times.
    pub(super) fn counted(&mut self, node: Node<'tree>, out: &mut Vec<Statement>) -> Read<()> {
        let depth = self.scope.len();
        let read = self.counted_in_scope(node, out);
        self.scope.truncate(depth);
        read
    }

    fn counted_in_scope(&mut self, node: Node<'tree>, out: &mut Vec<Statement>) -> Read<()> {
        let header = Header {
            node,
            condition: match node.child_by_field_name("condition") {
                Some(condition) => condition,
                None => return self.unread(node, "this loop has no condition"),
            },
            update: node.child_by_field_name("update"),
            body: self.field(node, "body")?,
            tests_last: node.kind() == "do_statement",
        };
        if breaks(header.body) {
            return self.unread(node, "this loop may be left early");
        }
        if jumps(header.body, false) {
            return self.unread(node, "this loop may leave the function");
        }
        if let Some(initializer) = node.child_by_field_name("initializer") {
            let mut statements = Vec::new();
            match initializer.kind() {
                "declaration" => self.declaration(initializer, &mut statements)?,
                _ => self.quantity(initializer).map(|_| ())?,
            }
            if !statements.is_empty() || !self.emitted.is_empty() {
                return self.unread(initializer, "the start of this loop is not understood");
            }
        }
        let changing = self.changes(&header)?;
        let trips_condition = self.condition_at(&header, &changing)?;
        let (tested, ragged) = self.trips(header.condition, &trips_condition)?;
        let trips = tested + i64::from(header.tests_last);
        let tests = ragged.then(|| trips_condition.clone());
        if ragged && header.tests_last {
            return self.unread(header.condition, "how often this loop runs differs");
        }
        if BOUND < trips {
            return self.unread(node, "this loop runs too often");
        }
        let form = self.form(&header, &changing, &trips_condition, trips)?;
        if !self.trial {
            self.parts(&header, &changing, &form, tests.as_ref(), out)?;
        }
        // What is known behind the loop.
        let last = Index::plain(Affine::constant(trips - 1));
        let end = Index::plain(Affine::constant(trips));
        for variable in &changing {
            let binding = match &variable.course {
                _ if trips == 0 => variable.before.binding.clone(),
                Course::Linear(steps) if ragged && steps.iter().all(|step| *step == 0) => {
                    variable.before.binding.clone()
                }
                _ if ragged => Binding::Unknown("how often a loop runs differs".to_owned()),
                Course::Late(after) => self.in_iteration(after, &changing, &last),
                _ => self.at_start(variable, &changing, &end),
            };
            self.scope[variable.place].binding = binding;
        }
        Ok(())
    }

    /// Reads the body once with symbols; returns how each variable changes.
    fn changes(&mut self, header: &Header<'tree>) -> Read<Vec<Changing>> {
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
    fn at_start(&self, variable: &Changing, changing: &[Changing], index: &Index) -> Binding {
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
    fn in_iteration(&self, quantity: &Quantity, changing: &[Changing], index: &Index) -> Binding {
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

    /// Returns the condition in terms of the number of the iteration.
    fn condition_at(&mut self, header: &Header<'tree>, changing: &[Changing]) -> Read<Condition> {
        let mut count = Affine::variable(COUNT);
        if header.tests_last
            && let Some(next) = count.plus_constant(1)
        {
            count = next;
        }
        let index = Index::plain(count);
        for variable in changing {
            let binding = match (&variable.course, header.tests_last) {
                // Tested behind the body, so it is what this iteration made of it.
                (Course::Late(after), true) => {
                    let this = Index::plain(Affine::variable(COUNT));
                    self.in_iteration(after, changing, &this)
                }
                (Course::Late(_), false) => Binding::Unknown(format!(
                    "`{}` changes inside the loop in a way that is not understood",
                    variable.before.name
                )),
                _ => self.at_start(variable, changing, &index),
            };
            self.scope[variable.place].binding = binding;
        }
        let condition = self.condition(header.condition);
        for variable in changing {
            self.scope[variable.place] = variable.before.clone();
        }
        condition
    }

    /// Returns in how many iterations in a row `condition` holds, at most, and
    /// whether it may be fewer.
    fn trips(&self, node: Node<'_>, condition: &Condition) -> Read<(i64, bool)> {
        let mut names = Vec::new();
        condition.collect_variables(&mut names);
        names.retain(|name| name != COUNT);
        let unclear = |name: &str| match name.starts_with('#') {
            true => "the bound of this loop changes inside it".to_owned(),
            false => format!("how often this loop runs depends on `{name}`"),
        };
        match names.as_slice() {
            [] => match holding_all(condition) {
                Holds::For(trips) => Ok((trips, false)),
                Holds::Always => self.unread(node, "this loop never ends"),
                Holds::Unclear => self.unread(node, "the end of this loop is not understood"),
            },
            [name] => match self.trips_over(condition, name) {
                Some(found) => Ok(found),
                None => match self.split_on_others(condition) {
                    Some(split) => Err(split),
                    None => self.unread(node, unclear(name)),
                },
            },
            [name, ..] => match self.split_on_others(condition) {
                Some(split) => Err(split),
                None => self.unread(node, unclear(name)),
            },
        }
    }

    /// Returns the most iterations over all values of a variable, and whether
    /// some have fewer.
    fn trips_over(&self, condition: &Condition, name: &str) -> Option<(i64, bool)> {
        let mut counts = Vec::new();
        for value in self.values_of(name)? {
            let here = condition.substitute(name, &Affine::constant(value))?;
            let Holds::For(trips) = holding_all(&here) else {
                return None;
            };
            counts.push((here, trips));
        }
        let most = counts.iter().map(|(_, trips)| *trips).max()?;
        let fewest = counts.iter().map(|(_, trips)| *trips).min()?;
        if most == fewest {
            return Some((most, false));
        }
        // A test in every iteration must not come true again.
        for (here, trips) in &counts {
            if RAGGED_LIMIT < most - trips {
                return None;
            }
            for count in *trips..most {
                if here.evaluate(&|_| Some(count))? {
                    return None;
                }
            }
        }
        Some((most, true))
    }

    /// Returns where loops around must be split for the parts of a condition
    /// that do not change over the iterations.
    fn split_on_others(&self, condition: &Condition) -> Option<Obstacle> {
        match condition {
            Condition::All(parts) | Condition::Any(parts) => {
                parts.iter().find_map(|part| self.split_on_others(part))
            }
            part if part.mentions(COUNT) => None,
            part => self.split_on(part),
        }
    }

    /// Chooses the variable that counts the iterations, and its bounds.
    fn form(
        &self,
        header: &Header<'tree>,
        changing: &[Changing],
        condition: &Condition,
        trips: i64,
    ) -> Read<Form> {
        let named = |variable: &&Changing| {
            let mut pending = vec![header.condition];
            while let Some(node) = pending.pop() {
                if node.kind() == "identifier" && self.text(node) == variable.before.name {
                    return true;
                }
                pending.extend(crate::syntax::children(node));
            }
            false
        };
        let counting = changing.iter().filter(named).find_map(|variable| {
            let (Course::Linear(steps), Binding::Known(Quantity::Integer(before))) =
                (&variable.course, &variable.before.binding)
            else {
                return None;
            };
            let (start, step) = (before.as_constant()?, *steps.first()?);
            let small = start.abs() < BOUND && 0 < step && step < BOUND;
            (small && variable.before.orbit.is_none()).then_some((variable, start, step))
        });
        let any = changing.iter().find(named);
        let name = match (&counting, any) {
            (Some((variable, ..)), _) => variable.before.name.as_str(),
            (None, Some(variable)) => variable.before.name.as_str(),
            (None, None) => "n",
        };
        let variable = self.fresh_name(name);
        let Some((_, start, step)) = counting else {
            return Ok(Form {
                variable,
                start: 0,
                end: trips,
                step: 1,
                trips,
            });
        };
        let Some(least) = (trips.max(1) - 1)
            .checked_mul(step)
            .and_then(|s| s.checked_add(start))
        else {
            return self.unread(header.node, "this loop runs too often");
        };
        // The bound that the text names, if it is one of this variable.
        let written = match condition {
            Condition::Compare(expression, relation) if !header.tests_last => {
                let offset = expression.constant_part();
                let mut terms = expression.terms();
                match (terms.next(), terms.next(), relation) {
                    // The condition may be divided by a common factor.
                    (Some((_, slope)), None, Relation::Negative | Relation::NonZero)
                        if 0 < slope && step % slope == 0 =>
                    {
                        let rest = offset.checked_mul(step / slope);
                        rest.and_then(|rest| start.checked_sub(rest))
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        let end = written
            .filter(|end| least < *end && *end <= least.saturating_add(step))
            .unwrap_or(least + 1);
        Ok(Form {
            variable,
            start,
            end,
            step,
            trips,
        })
    }

    /// Reads the body for all iterations, in as many parts as it takes.
    fn parts(
        &mut self,
        header: &Header<'tree>,
        changing: &[Changing],
        form: &Form,
        tests: Option<&Condition>,
        out: &mut Vec<Statement>,
    ) -> Read<()> {
        let scope = self.scope.clone();
        let mut pending = VecDeque::from([(0, form.trips)]);
        let mut limit = PART_LIMIT;
        let mut count = 1;
        while let Some((from, to)) = pending.pop_front() {
            if to <= from {
                continue;
            }
            self.scope.clone_from(&scope);
            let ranges = self.ranges.len();
            let mut statements = Vec::new();
            let noted = self.unread.len();
            let read = self.part(header, changing, form, (tests, from, to), &mut statements);
            self.ranges.truncate(ranges);
            if read.is_err() {
                self.emitted.clear();
                self.unread.truncate(noted);
            }
            match read {
                Err(Obstacle::Split { variable, at, each }) if variable == form.variable => {
                    limit = limit.max(if each { EACH_LIMIT } else { PART_LIMIT });
                    count += 1;
                    let middle = (at - form.start) / form.step;
                    if limit < count || middle <= from || to <= middle {
                        self.scope = scope;
                        return self.unread(
                            header.node,
                            "the iterations of this loop differ too much from each other",
                        );
                    }
                    pending.push_front((middle, to));
                    pending.push_front((from, middle));
                }
                Err(other) => return Err(other),
                Ok(()) => out.append(&mut statements),
            }
        }
        self.scope = scope;
        Ok(())
    }

    fn part(
        &mut self,
        header: &Header<'tree>,
        changing: &[Changing],
        form: &Form,
        (tests, from, to): (Option<&Condition>, i64, i64),
        out: &mut Vec<Statement>,
    ) -> Read<()> {
        let at = |trip: i64| form.start + trip * form.step;
        let single = to == from + 1;
        let index = if single {
            Index::plain(Affine::constant(from))
        } else {
            self.ranges.push(Range {
                variable: form.variable.clone(),
                first: at(from),
                last: at(to - 1),
                step: form.step,
            });
            let scaled = Affine::variable(&form.variable).plus_constant(-form.start);
            let value = scaled
                .as_ref()
                .and_then(|scaled| scaled.divided_by(form.step));
            let (Some(scaled), Some(value)) = (scaled, value) else {
                return self.unread(header.node, "the numbers of this loop are too large");
            };
            Index {
                value,
                scaled,
                step: form.step,
            }
        };
        for variable in changing {
            let binding = self.at_start(variable, changing, &index);
            self.scope[variable.place].binding = binding;
        }
        let mut body = Vec::new();
        let tests = tests.and_then(|tests| tests.substitute(COUNT, &index.value));
        let tests = tests.map(|tests| self.folded(tests));
        let flow = self.block(header.body, &mut body)?;
        if matches!(flow, Flow::Done(_)) {
            return self.unread(header.node, "this loop may leave the function");
        }
        if let Some(condition) = tests {
            let then = std::mem::take(&mut body);
            match condition {
                Condition::Constant(false) => {}
                Condition::Constant(true) => body = then,
                condition => body.push(Statement::Guard(Guard {
                    condition,
                    then,
                    otherwise: Vec::new(),
                })),
            }
        }
        if single {
            append(out, body);
            return Ok(());
        }
        if body
            .iter()
            .all(|statement| matches!(statement, Statement::Comment(_)))
        {
            return Ok(());
        }
        let around = |body| {
            Statement::Loop(Loop {
                variable: form.variable.clone(),
                start: at(from),
                end: if to == form.trips { form.end } else { at(to) },
                step: form.step,
                body,
            })
        };
        // What is the same in every iteration is asked once.
        let statement = match body.as_mut_slice() {
            [Statement::Guard(guard)] if !guard.condition.mentions(&form.variable) => {
                let then = std::mem::take(&mut guard.then);
                let otherwise = std::mem::take(&mut guard.otherwise);
                let bare = otherwise.is_empty();
                Statement::Guard(Guard {
                    condition: guard.condition.clone(),
                    then: vec![around(then)],
                    otherwise: if bare {
                        Vec::new()
                    } else {
                        vec![around(otherwise)]
                    },
                })
            }
            _ => around(body),
        };
        append(out, vec![statement]);
        Ok(())
    }

    /// Returns a name for a loop variable that no loop around has.
    fn fresh_name(&self, name: &str) -> String {
        let taken = |name: &str| {
            self.ranges.iter().any(|range| range.variable == name)
                || self.arrays.iter().any(|array| array.name == name)
                || self
                    .scope
                    .iter()
                    .any(|entry| entry.name == name && matches!(entry.binding, Binding::Kept(_)))
        };
        if !taken(name) {
            return name.to_owned();
        }
        let mut number = 2;
        loop {
            let candidate = format!("{name}{number}");
            if !taken(&candidate) && !self.source.contains(&candidate) {
                return candidate;
            }
            number += 1;
        }
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

/// Adds statements; what follows under the same condition joins it.
pub(super) fn append(out: &mut Vec<Statement>, statements: Vec<Statement>) {
    for statement in statements {
        match (out.last_mut(), statement) {
            (Some(Statement::Guard(last)), Statement::Guard(next))
                if last.condition == next.condition =>
            {
                append(&mut last.then, next.then);
                append(&mut last.otherwise, next.otherwise);
            }
            (_, statement) => out.push(statement),
        }
    }
}

/// For how many iterations from the first on a condition holds.
enum Holds {
    For(i64),
    Always,
    Unclear,
}

/// Returns for how long a condition over the number of the iteration holds.
fn holding_all(condition: &Condition) -> Holds {
    match condition {
        Condition::Constant(false) => Holds::For(0),
        Condition::Constant(true) => Holds::Always,
        Condition::All(parts) => {
            let mut least = Holds::Always;
            for part in parts {
                least = match (least, holding_all(part)) {
                    (_, Holds::Unclear) | (Holds::Unclear, _) => return Holds::Unclear,
                    (Holds::For(one), Holds::For(two)) => Holds::For(one.min(two)),
                    (Holds::For(one), Holds::Always) | (Holds::Always, Holds::For(one)) => {
                        Holds::For(one)
                    }
                    (Holds::Always, Holds::Always) => Holds::Always,
                };
            }
            least
        }
        Condition::Any(_) => Holds::Unclear,
        Condition::Compare(expression, relation) => {
            let mut terms = expression.terms();
            let slope = match (terms.next(), terms.next()) {
                (Some((Atom::Variable(name), slope)), None) if name == COUNT => slope,
                _ => return Holds::Unclear,
            };
            match holding(slope, expression.constant_part(), *relation) {
                Some(trips) => Holds::For(trips),
                None => Holds::Always,
            }
        }
    }
}

/// Returns for how many whole numbers from 0 on `slope * n + offset relation 0`
/// holds; `None` if for all.
fn holding(slope: i64, offset: i64, relation: Relation) -> Option<i64> {
    if !relation.holds(offset) {
        return Some(0);
    }
    match relation {
        Relation::Negative if 0 < slope => {
            // slope * n < -offset
            let distance = offset.checked_neg()?;
            Some(distance / slope + i64::from(distance % slope != 0))
        }
        Relation::NonNegative if slope < 0 => Some(offset / slope.checked_neg()? + 1),
        Relation::NonZero if slope != 0 => {
            let exact = offset % slope == 0 && 0 < -(offset / slope);
            exact.then(|| -(offset / slope))
        }
        Relation::Zero if slope != 0 => Some(1),
        _ => None,
    }
}
