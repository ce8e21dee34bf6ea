//! Follows loops: all steps at once, in stretches in which they are alike.

mod stretch;
mod trips;

use super::super::program::{Expression, Statement};
use super::affine::{Affine, Counter, Stop, refused};
use super::follow::{Flow, Follower, Frame, Scope, Value};
use super::node::Node;

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
