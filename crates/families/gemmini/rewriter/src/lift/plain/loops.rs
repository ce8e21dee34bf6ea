//! Follows loops: all steps at once, in stretches in which they are alike.

use super::super::program::{Binary, Expression, Statement};
use super::affine::{Affine, Counter, Stop, refused};
use super::follow::{Flow, Follower, Frame, Scope, Value};
use super::node::{Id, Node};

/// Steps that a loop may have whose number is not known yet.
const UNKNOWN: i64 = 1 << 40;
/// Steps of a loop that may be followed one by one.
const EACH: i64 = 4096;
/// Steps of a loop that are followed one by one to find what is alike.
const FIRST: i64 = 3;

/// How a variable changes from one step of a loop to the next.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Habit {
    /// By a number.
    Steps(i64),
    /// By what is computed from the contents of memory.
    Data,
    /// In another way: its value is new in each step.
    New,
}

/// A loop's parts.
#[derive(Clone, Copy)]
struct Parts<'program> {
    condition: Option<&'program Expression>,
    step: Option<&'program Expression>,
    body: &'program [Statement],
}

impl<'program> Follower<'program> {
    pub(super) fn follow_loop(
        &mut self,
        statement: &'program Statement,
        frame: &mut Frame,
    ) -> Result<Flow, Stop> {
        let Statement::Loop {
            condition,
            after,
            step,
            body,
        } = statement
        else {
            return Err(refused("a loop that is not followed"));
        };
        let parts = Parts {
            condition: condition.as_ref(),
            step: step.as_ref(),
            body,
        };
        if *after {
            let flow = self.block(body, frame, false)?;
            match flow {
                Flow::On => {}
                Flow::Break => return Ok(Flow::On),
                flow => return Ok(flow),
            }
        }
        // Steps that are followed one by one before others are tried at once.
        let mut single = 0;
        let mut first = 0;
        loop {
            self.step()?;
            if !self.goes_on(parts, frame)? {
                return Ok(Flow::On);
            }
            if single == 0 {
                match self.stretch(statement, parts, frame)? {
                    Done::All => continue,
                    Done::Not(steps) => {
                        first += 1;
                        if FIRST < first && EACH < steps {
                            return Err(refused(
                                "a variable that changes from step to step in a way that is not followed",
                            ));
                        }
                        single = if FIRST < first { steps } else { 1 };
                    }
                    Done::Each(steps) => single = steps,
                }
            }
            single -= 1;
            match self.once(parts, frame)? {
                Flow::On | Flow::Continue => {}
                Flow::Break => return Ok(Flow::On),
                flow => return Ok(flow),
            }
        }
    }

    /// Returns whether the loop has another step; asking may change variables, which it
    /// does only if there is none.
    fn goes_on(&mut self, parts: Parts<'program>, frame: &mut Frame) -> Result<bool, Stop> {
        let Some(condition) = parts.condition else {
            return Ok(true);
        };
        let mut asked = frame.clone();
        let value = self.eval(condition, &mut asked)?;
        let holds = self.holds(&value)?;
        if !holds {
            *frame = asked;
        }
        Ok(holds)
    }

    /// Follows one step.
    fn once(&mut self, parts: Parts<'program>, frame: &mut Frame) -> Result<Flow, Stop> {
        if let Some(condition) = parts.condition {
            let value = self.eval(condition, frame)?;
            if !self.holds(&value)? {
                return Ok(Flow::Break);
            }
        }
        let flow = self.block(parts.body, frame, true)?;
        if matches!(flow, Flow::On | Flow::Continue)
            && let Some(step) = parts.step
        {
            self.eval(step, frame)?;
        }
        Ok(flow)
    }

    /// Returns how variables change in a step, as seen in one.
    fn habits(
        &mut self,
        parts: Parts<'program>,
        frame: &Frame,
    ) -> Result<Vec<(usize, Habit)>, Stop> {
        let mut after = frame.clone();
        let served = self.served.clone();
        self.scopes.push(Scope::default());
        let depth = self.scopes.len();
        let flow = self.once(parts, &mut after);
        self.scopes.truncate(depth - 1);
        self.served = served;
        flow?;
        let both = frame.iter().zip(&after).enumerate();
        let changed = both.filter(|(_, (before, after))| before != after);
        Ok(changed
            .map(|(slot, (before, after))| {
                let habit = match (before, after) {
                    (Value::Number(before), Value::Number(after)) => after
                        .plus(before, -1)
                        .known()
                        .map_or(Habit::New, Habit::Steps),
                    (Value::Data(_) | Value::Number(_), Value::Data(_)) => Habit::Data,
                    _ => Habit::New,
                };
                (slot, habit)
            })
            .collect())
    }

    /// Follows as many steps at once as are alike, from the current one on.
    fn stretch(
        &mut self,
        statement: &'program Statement,
        parts: Parts<'program>,
        frame: &mut Frame,
    ) -> Result<Done, Stop> {
        let key = std::ptr::from_ref(statement);
        let mut is_known = self.habits.contains_key(&key);
        if !is_known {
            let habits = self.habits(parts, frame)?;
            self.habits.insert(key, habits);
        }
        let mut habits = self.habits[&key].clone();
        let mut steps = self.trips(parts, &habits, frame)?;
        let mut all = steps;
        loop {
            if steps < 2 {
                return Ok(Done::Each(steps.max(1)));
            }
            let counter = self.counters.new_of(steps);
            let shape = vec![(counter, 1)];
            self.unexpected = None;
            match self.at_once(parts, &habits, frame, &shape) {
                Ok(()) => return Ok(Done::All),
                Err(Stop::Split(other, at)) if other == counter && 0 < at && at < steps => {
                    steps = at;
                }
                Err(Stop::Each(other)) if other == counter => {
                    if EACH < steps {
                        return Err(refused("a loop whose steps are all different"));
                    }
                    return Ok(Done::Each(steps));
                }
                Err(Stop::Nest(other, inner)) if other == counter && 1 < inner => {
                    if steps < inner {
                        return Err(refused("steps of a loop that are not followed"));
                    }
                    let lines = steps / inner;
                    if lines == 1 {
                        steps = inner;
                        continue;
                    }
                    let line = self.counters.new_of(lines);
                    let inside = self.counters.new_of(inner);
                    let shape = vec![(inside, 1), (line, inner)];
                    return match self.at_once(parts, &habits, frame, &shape) {
                        Ok(()) => Ok(Done::All),
                        Err(Stop::Split(other, at)) if other == line && 0 < at && at < lines => {
                            steps = at * inner;
                            continue;
                        }
                        Err(Stop::Split(other, _) | Stop::Each(other) | Stop::Nest(other, _))
                            if other == line || other == inside =>
                        {
                            if EACH < steps {
                                return Err(refused("a loop whose steps are all different"));
                            }
                            Ok(Done::Each(steps))
                        }
                        Err(Stop::Unknown) => Ok(Done::Not(all)),
                        Err(stop) => Err(stop),
                    };
                }
                Err(Stop::Unknown) if self.learns(&mut habits) => {
                    // The first step was no example of the others.
                    self.habits.insert(key, habits.clone());
                }
                Err(Stop::Unknown) if is_known => {
                    // What was seen of it before may not be true here.
                    is_known = false;
                    habits = self.habits(parts, frame)?;
                    self.habits.insert(key, habits.clone());
                    steps = self.trips(parts, &habits, frame)?;
                    all = steps;
                }
                Err(Stop::Unknown) => {
                    self.habits.remove(&key);
                    return Ok(Done::Not(all));
                }
                Err(stop) => return Err(stop),
            }
        }
    }

    /// Adds how a variable was seen to change that was taken not to, or otherwise; returns
    /// whether that is new.
    fn learns(&mut self, habits: &mut Vec<(usize, Habit)>) -> bool {
        let Some((slot, habit)) = self.unexpected.take() else {
            return false;
        };
        match habits.iter_mut().find(|it| it.0 == slot) {
            Some(it) if it.1 == habit => return false,
            Some(it) => it.1 = habit,
            None => habits.push((slot, habit)),
        }
        true
    }

    /// Sets variables to what they hold at the beginning of a step.
    fn begin(&mut self, habits: &[(usize, Habit)], frame: &mut Frame, shape: &[(Counter, i64)]) {
        for (slot, habit) in habits {
            let now = &mut frame[*slot];
            *now = match (habit, &*now) {
                (Habit::Steps(by), Value::Number(start)) => {
                    let mut number = start.clone();
                    for (counter, every) in shape {
                        number = number.plus(&Affine::counter(*counter), by * every);
                    }
                    Value::Number(number)
                }
                (Habit::Data, _) => {
                    let carried = Node::Carried(shape[0].0, *slot);
                    Value::Data(self.nodes.add(carried))
                }
                _ => Value::Unknown,
            };
        }
    }

    /// Returns how many steps the loop has from here.
    fn trips(
        &mut self,
        parts: Parts<'program>,
        habits: &[(usize, Habit)],
        frame: &Frame,
    ) -> Result<i64, Stop> {
        let Some(condition) = parts.condition else {
            return Ok(EACH);
        };
        let counter = self.counters.new_of(UNKNOWN);
        let mut begun = frame.clone();
        self.begin(habits, &mut begun, &[(counter, 1)]);
        match self.trips_of(condition, &mut begun, counter) {
            // It changes in another way than by a number: step by step.
            Err(Stop::Unknown) => Ok(1),
            Err(Stop::Split(other, _) | Stop::Each(other) | Stop::Nest(other, _))
                if other == counter =>
            {
                Ok(1)
            }
            other => other,
        }
    }

    fn trips_of(
        &mut self,
        condition: &'program Expression,
        frame: &mut Frame,
        counter: Counter,
    ) -> Result<i64, Stop> {
        let one = Affine::of(1);
        let (difference, is_order) = match condition {
            Expression::Binary(Binary::And, both) => {
                let left = self.trips_of(&both.0, frame, counter)?;
                return Ok(left.min(self.trips_of(&both.1, frame, counter)?));
            }
            Expression::Binary(
                operation @ (Binary::Less | Binary::LessEqual | Binary::NotEqual),
                both,
            ) => {
                let left = self.eval(&both.0, frame)?;
                let right = self.eval(&both.1, frame)?;
                let (Value::Number(left), Value::Number(right)) = (left, right) else {
                    return Err(Stop::Unknown);
                };
                let difference = left.plus(&right, -1);
                match operation {
                    Binary::LessEqual => (difference.plus(&one, -1), true),
                    Binary::Less => (difference, true),
                    _ => (difference, false),
                }
            }
            other => match self.eval(other, frame)? {
                Value::Number(number) => (number, false),
                _ => return Err(Stop::Unknown),
            },
        };
        let by = difference.factor(counter);
        let start = difference.without(counter);
        let Some(start) = start.known() else {
            // The number of steps depends on a loop around it.
            return Err(self.counters.each(&[&start]));
        };
        let endless = || refused("a loop without an end");
        if is_order {
            return match by {
                _ if 0 <= start => Ok(0),
                by if by <= 0 => Err(endless()),
                by => Ok((by - start - 1).div_euclid(by)),
            };
        }
        match by {
            0 => Err(endless()),
            by if start % by != 0 || start / by > 0 => Err(endless()),
            by => Ok(-start / by),
        }
    }

    /// Follows one step that stands for all of a stretch.
    ///
    /// `shape`: the counters of the stretch, the innermost first, and how many steps lie
    /// between neighbours.
    fn at_once(
        &mut self,
        parts: Parts<'program>,
        habits: &[(usize, Habit)],
        frame: &mut Frame,
        shape: &[(Counter, i64)],
    ) -> Result<(), Stop> {
        let before = frame.clone();
        let served = self.served.clone();
        let [scopes, open] = [self.scopes.len(), self.open.len()];
        let mut result = self.stretched(parts, habits, &before, shape);
        self.scopes.truncate(scopes + 1);
        self.open.truncate(open);
        let scope = self.scopes.pop();
        if let (Ok(end), Some(scope)) = (&mut result, scope) {
            // Everything as it was before the loop, then what the loop changed.
            for (value, before) in end.iter_mut().zip(&before) {
                if let Value::Data(id) = value {
                    if *before == Value::Unknown {
                        *value = Value::Unknown;
                    } else {
                        *id = self.resolved(*id, &[])?;
                    }
                }
            }
            let mut all = Vec::new();
            for write in scope.writes {
                self.settle(write, &mut all)?;
            }
            for write in all {
                self.write(write)?;
            }
        }
        match result {
            Ok(end) => {
                *frame = end;
                Ok(())
            }
            Err(stop) => {
                self.served = served;
                Err(stop)
            }
        }
    }

    /// Returns the variables behind the stretch; what it writes is in the last scope.
    fn stretched(
        &mut self,
        parts: Parts<'program>,
        habits: &[(usize, Habit)],
        before: &Frame,
        shape: &[(Counter, i64)],
    ) -> Result<Frame, Stop> {
        let mut start = before.clone();
        self.begin(habits, &mut start, shape);
        let mut end = start.clone();
        self.scopes.push(Scope::default());
        self.open.extend(shape.iter().rev().map(|it| it.0));
        match self.once(parts, &mut end)? {
            Flow::On | Flow::Continue => {}
            _ => return Err(Stop::Split(shape[shape.len() - 1].0, 1)),
        }
        let mut writes = self
            .scopes
            .last_mut()
            .map(|it| std::mem::take(&mut it.writes));
        for (counter, _) in shape {
            self.open.retain(|other| other != counter);
            writes = Some(self.closed(*counter, writes.unwrap_or_default())?);
        }
        let writes = writes.unwrap_or_default();
        let carried = |nodes: &super::node::Nodes, id: Id| {
            let inside = nodes.inside(id).into_iter();
            let mut own = inside.filter(
                |id| matches!(nodes.get(*id), Node::Carried(counter, _) if *counter == shape[0].0),
            );
            own.next()
        };
        if writes
            .iter()
            .any(|write| carried(&self.nodes, write.value).is_some())
        {
            return Err(refused("what is stored depends on the step before"));
        }
        let last: Vec<(Counter, Affine)> = shape
            .iter()
            .map(|(counter, _)| (*counter, Affine::of(self.counters.extent(*counter) - 1)))
            .collect();
        let steps: i64 = shape.iter().map(|it| self.counters.extent(it.0)).product();
        for slot in 0..end.len() {
            let habit = habits.iter().find(|it| it.0 == slot).map(|it| &it.1);
            if end[slot] == start[slot] && habit.is_none_or(|it| *it != Habit::Data) {
                end[slot] = before[slot].clone();
                if matches!(habit, Some(Habit::Steps(by)) if *by != 0) {
                    return Err(Stop::Unknown);
                }
                continue;
            }
            end[slot] = match (habit, &end[slot]) {
                (Some(Habit::Steps(by)), Value::Number(number)) => {
                    let (Value::Number(from), Value::Number(whole)) = (&start[slot], &before[slot])
                    else {
                        return Err(Stop::Unknown);
                    };
                    if number.plus(from, -1).known() != Some(*by) {
                        return Err(Stop::Unknown);
                    }
                    Value::Number(whole.plus(&Affine::of(by * steps), 1))
                }
                (Some(Habit::Steps(_)) | None, now) => {
                    let habit = match (&before[slot], now) {
                        (Value::Data(_) | Value::Number(_), Value::Data(_)) => Habit::Data,
                        _ => Habit::New,
                    };
                    self.unexpected = Some((slot, habit));
                    return Err(Stop::Unknown);
                }
                (_, Value::Number(number)) => {
                    let mut number = number.clone();
                    for (counter, value) in &last {
                        number = number.with(*counter, value);
                    }
                    Value::Number(number)
                }
                (_, Value::Data(id)) => {
                    let id = *id;
                    match carried(&self.nodes, id) {
                        None => Value::Data(self.nodes.with(id, &last)),
                        Some(own) if *self.nodes.get(own) == Node::Carried(shape[0].0, slot) => {
                            let whole = self.data(&before[slot])?;
                            let mut sum = self.without(id, own)?;
                            if carried(&self.nodes, sum).is_some() {
                                return Err(recurrence());
                            }
                            for (counter, _) in shape {
                                sum = self.nodes.sum(*counter, sum);
                            }
                            Value::Data(self.nodes.binary(Binary::Add, whole, sum))
                        }
                        Some(_) => return Err(recurrence()),
                    }
                }
                (_, Value::Unknown) => Value::Unknown,
            };
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.writes = writes;
        }
        Ok(end)
    }

    /// Returns what is added to `start` in an expression that is a sum with it.
    pub(super) fn without(&mut self, id: Id, start: Id) -> Result<Id, Stop> {
        if id == start {
            return Ok(self.nodes.add(Node::Integer(0)));
        }
        match *self.nodes.get(id) {
            // A sum that its variable can hold.
            Node::Narrow(4 | 8, true, inner) => self.without(inner, start),
            Node::Unary(super::super::program::Unary::Float, inner) => self.without(inner, start),
            Node::Binary(operation @ (Binary::Add | Binary::Subtract), left, right) => {
                let is_left = self.nodes.inside(left).contains(&start);
                let is_right = self.nodes.inside(right).contains(&start);
                match (is_left, is_right, operation) {
                    (true, false, _) => {
                        let left = self.without(left, start)?;
                        Ok(self.nodes.binary(operation, left, right))
                    }
                    (false, true, Binary::Add) => {
                        let right = self.without(right, start)?;
                        Ok(self.nodes.binary(Binary::Add, left, right))
                    }
                    _ => Err(recurrence()),
                }
            }
            _ => Err(recurrence()),
        }
    }
}

/// What became of an attempt to follow steps at once.
enum Done {
    All,
    /// Variables change in a way that is not known; so many steps are left.
    Not(i64),
    /// So many steps are to be followed one by one.
    Each(i64),
}

fn recurrence() -> Stop {
    refused("what is computed depends on the step before, and is no sum")
}
