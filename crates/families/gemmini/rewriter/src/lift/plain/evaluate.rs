//! Computes expressions: numbers in counters, and what follows from the contents of memory.

use super::super::Reason;
use super::super::program::{Binary, Expression, Unary};
use super::super::run::{binary, narrow, unary};
use super::super::walk::is_fence;
use super::affine::{Affine, Stop, refused};
use super::follow::{DEPTH, Flow, Follower, Frame, Value, outside};
use super::node::{Element, Node};
use super::region::Write;
use crate::memory::Memory;

impl<'program> Follower<'program> {
    pub(super) fn eval(
        &mut self,
        expression: &'program Expression,
        frame: &mut Frame,
    ) -> Result<Value, Stop> {
        self.step()?;
        Ok(match expression {
            Expression::Integer(value) => Value::Number(Affine::of(*value)),
            Expression::Float(value) => Value::Data(self.nodes.add(Node::Float(value.to_bits()))),
            Expression::Variable(slot) => frame[*slot].clone(),
            Expression::Unary(operation, inner) => match (operation, self.eval(inner, frame)?) {
                (Unary::Negate, Value::Number(number)) => Value::Number(number.times(-1)),
                (Unary::Not, Value::Number(number)) => {
                    let is_zero = self.counters.is_zero(&number)?;
                    Value::Number(Affine::of(is_zero.into()))
                }
                (Unary::Invert, Value::Number(number)) => match number.known() {
                    Some(known) => Value::Number(Affine::of(unary(Unary::Invert, known))),
                    None => Value::Number(number.times(-1).plus(&Affine::of(1), -1)),
                },
                (_, Value::Unknown) => return Err(Stop::Unknown),
                (operation, value) => {
                    let inner = self.data(&value)?;
                    let id = self.nodes.unary(*operation, inner);
                    self.of_node(id)
                }
            },
            Expression::Binary(operation, both) => {
                let left = self.eval(&both.0, frame)?;
                match (operation, &left) {
                    (Binary::And, Value::Number(_)) if !self.holds(&left)? => {
                        return Ok(Value::Number(Affine::of(0)));
                    }
                    (Binary::Or, Value::Number(_)) if self.holds(&left)? => {
                        return Ok(Value::Number(Affine::of(1)));
                    }
                    _ => {}
                }
                let right = self.eval(&both.1, frame)?;
                match (left, right) {
                    (Value::Number(left), Value::Number(right)) => {
                        self.of_numbers(*operation, &left, &right)?
                    }
                    (left, right) => {
                        let (left, right) = (self.data(&left)?, self.data(&right)?);
                        let id = self.nodes.binary(*operation, left, right);
                        self.of_node(id)
                    }
                }
            }
            Expression::Choice(parts) => {
                let condition = self.eval(&parts.0, frame)?;
                if let Value::Data(condition) = condition {
                    let then = self.eval(&parts.1, frame)?;
                    let otherwise = self.eval(&parts.2, frame)?;
                    let (then, otherwise) = (self.data(&then)?, self.data(&otherwise)?);
                    let id = self.nodes.select(condition, then, otherwise);
                    self.of_node(id)
                } else if self.holds(&condition)? {
                    self.eval(&parts.1, frame)?
                } else {
                    self.eval(&parts.2, frame)?
                }
            }
            Expression::Load(address, kind) => {
                let address = self.address(address, frame)?;
                let element = Element::of(kind).ok_or_else(outside)?;
                let id = self.load(&address, element)?;
                self.of_node(id)
            }
            Expression::Assign(slot, value) => {
                let value = self.eval(value, frame)?;
                frame[*slot] = value.clone();
                value
            }
            Expression::Replace(slot, value) => {
                let value = self.eval(value, frame)?;
                std::mem::replace(&mut frame[*slot], value)
            }
            Expression::Store(both, kind) => {
                let value = self.eval(&both.1, frame)?;
                let address = self.address(&both.0, frame)?;
                let id = self.data(&value)?;
                let element = Element::of(kind).ok_or_else(outside)?;
                self.write(Write {
                    address,
                    dims: Vec::new(),
                    element,
                    value: id,
                    order: 0,
                })?;
                value
            }
            Expression::Narrow(bytes, signed, inner) => match self.eval(inner, frame)? {
                Value::Number(number) => match number.known() {
                    Some(known) => Value::Number(Affine::of(narrow(known, *bytes, *signed))),
                    None if *bytes == 8 => Value::Number(number),
                    None => Value::Number(self.kept(number, *bytes, *signed)?),
                },
                Value::Data(id) => {
                    let id = self.nodes.narrow(*bytes, *signed, id);
                    self.of_node(id)
                }
                Value::Unknown => Value::Unknown,
            },
            Expression::Sequence(parts) => {
                let mut last = Value::Unknown;
                for part in parts {
                    last = self.eval(part, frame)?;
                }
                last
            }
            Expression::Call(function, arguments, line) => {
                let program = self.program;
                let called = &program.functions[*function];
                let mut inner = vec![Value::Unknown; called.slots.max(arguments.len())];
                for (slot, argument) in inner.iter_mut().zip(arguments) {
                    *slot = self.eval(argument, frame)?;
                }
                if DEPTH <= self.depth {
                    return Err(refused("functions call each other too deeply"));
                }
                self.depth += 1;
                let flow = self.block(&called.body, &mut inner, true);
                self.depth -= 1;
                match flow {
                    Ok(Flow::Return(value)) => value,
                    Ok(_) => Value::Unknown,
                    Err(Stop::Refused(why)) if why.line == 0 => {
                        return Err(Stop::Refused(Reason::at(*line, &why.text)));
                    }
                    Err(stop) => return Err(stop),
                }
            }
            Expression::Refused(reason) => return Err(Stop::Refused(reason.clone())),
            Expression::Command(name, arguments, line) => {
                self.command(name, arguments, *line, frame)?
            }
        })
    }

    fn command(
        &mut self,
        name: &str,
        arguments: &'program [Expression],
        line: usize,
        frame: &mut Frame,
    ) -> Result<Value, Stop> {
        let not_followed = || Stop::Refused(Reason::at(line, "a command that is not followed"));
        let mut values = Vec::new();
        for argument in arguments {
            match self.eval(argument, frame)? {
                Value::Number(number) => values.push(number),
                Value::Data(_) => return Err(not_followed()),
                Value::Unknown => return Err(Stop::Unknown),
            }
        }
        match (name, values.as_slice()) {
            _ if is_fence(name) => Ok(Value::Unknown),
            ("memset", [to, value, bytes]) if value.known() == Some(0) => {
                self.clear(to, Some(bytes.known().ok_or_else(not_followed)?))?;
                Ok(Value::Number(to.clone()))
            }
            ("memcpy" | "memmove", [to, from, bytes]) => {
                self.copy(to, from, bytes.known().ok_or_else(not_followed)?)?;
                Ok(Value::Number(to.clone()))
            }
            _ => Err(not_followed()),
        }
    }

    fn address(
        &mut self,
        address: &'program Expression,
        frame: &mut Frame,
    ) -> Result<Affine, Stop> {
        let address = match self.eval(address, frame)? {
            Value::Number(address) => address,
            Value::Data(_) => {
                return Err(refused("an address depends on the contents of memory"));
            }
            Value::Unknown => return Err(Stop::Unknown),
        };
        let [least, most] = self.counters.range(&address);
        let array = |address: i128| Memory::of(u64::try_from(address).ok()?).map(|it| it.0);
        match (array(least), array(most)) {
            (Some(one), Some(other)) if one == other => Ok(address),
            _ => Err(outside()),
        }
    }

    fn of_numbers(&self, operation: Binary, left: &Affine, right: &Affine) -> Result<Value, Stop> {
        if let (Some(left), Some(right)) = (left.known(), right.known()) {
            let value = binary(operation, left, right);
            let value = value.ok_or_else(|| refused("a division by zero"))?;
            return Ok(Value::Number(Affine::of(value)));
        }
        let counters = &self.counters;
        let truth = |holds: bool| Affine::of(holds.into());
        let positive = |value: &Affine| value.known().filter(|value| 0 < *value);
        let difference = || left.plus(right, -1);
        Ok(Value::Number(match operation {
            Binary::Add => left.plus(right, 1),
            Binary::Subtract => difference(),
            Binary::Multiply => match (left.known(), right.known()) {
                (Some(factor), _) => right.times(factor),
                (_, Some(factor)) => left.times(factor),
                _ => return Err(counters.each(&[left, right])),
            },
            Binary::ShiftLeft => match right.known() {
                Some(bits) => left.times(1i64.wrapping_shl(bits as u32)),
                None => return Err(counters.each(&[right])),
            },
            Binary::Less => truth(counters.is_negative(&difference())?),
            Binary::LessEqual => {
                truth(counters.is_negative(&difference().plus(&Affine::of(1), -1))?)
            }
            Binary::Equal => truth(counters.is_zero(&difference())?),
            Binary::NotEqual => truth(!counters.is_zero(&difference())?),
            Binary::And | Binary::Or => truth(!counters.is_zero(right)?),
            Binary::Divide | Binary::Remainder => {
                let divisor = positive(right).ok_or_else(|| counters.each(&[right]))?;
                if counters.is_negative(left)? {
                    return Err(counters.each(&[left]));
                }
                let [quotient, rest] = counters.divided(left, divisor)?;
                if operation == Binary::Divide {
                    quotient
                } else {
                    rest
                }
            }
            Binary::ShiftRight => match positive(right).filter(|bits| *bits < 62) {
                Some(bits) => counters.divided(left, 1 << bits)?[0].clone(),
                None => return Err(counters.each(&[right])),
            },
            Binary::BitAnd => match positive(right).filter(|mask| (mask + 1) & mask == 0) {
                Some(mask) => counters.divided(left, mask + 1)?[1].clone(),
                None => return Err(counters.each(&[left, right])),
            },
            Binary::BitOr | Binary::BitXor => return Err(counters.each(&[left, right])),
        }))
    }

    /// Returns what an integer of so many bytes keeps of a number.
    fn kept(&self, number: Affine, bytes: u8, signed: bool) -> Result<Affine, Stop> {
        let bits = 8 * u32::from(bytes.clamp(1, 7));
        let [low, high] = match signed {
            true => [-(1i64 << (bits - 1)), 1 << (bits - 1)],
            false => [0, 1 << bits],
        };
        let is_below = self
            .counters
            .is_negative(&number.plus(&Affine::of(low), -1))?;
        let is_above = !self
            .counters
            .is_negative(&number.plus(&Affine::of(high), -1))?;
        if is_below || is_above {
            return Err(refused("a number that its variable cannot hold"));
        }
        Ok(number)
    }
}
