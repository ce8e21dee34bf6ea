//! How many steps a loop has.

use super::super::affine::{Affine, Counter, Stop, refused};
use super::super::follow::{Follower, Frame, Value};
use super::{EACH, Habit, Parts, UNKNOWN};
use crate::lift::program::{Binary, Expression};

impl<'program> Follower<'program> {
    /// Returns how many steps the loop has from here.
    pub(super) fn trips(
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
}
