//! Runs a program: integers and addresses are computed, contents of memory are not known.

use super::Reason;
use super::calls::is_of_memory;
use super::program::{Binary, Expression, Program, Statement, Unary};

/// Steps that a run may take.
const STEP_LIMIT: u64 = 40_000_000;
/// The deepest that functions may call each other.
const CALL_DEPTH: usize = 24;

/// What a variable or expression holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Integer(i64),
    Float(f64),
    /// Something that depends on the contents of memory.
    Unknown,
    /// The same, with a name of the world's.
    Named(u32),
}

/// What a program does to the world.
pub(super) trait World {
    /// A call of one of the accelerator's macros.
    fn command(&mut self, name: &str, arguments: &[Value]) -> Result<(), String>;
    /// The core writes to memory.
    fn store(&mut self, address: u64, bytes: i64, value: Value) -> Result<(), String>;
    /// The core reads memory.
    fn load(&mut self, address: u64) -> Result<Value, String>;
    /// The core computes with contents of memory.
    fn compute(&mut self, _operation: Binary, _left: Value, _right: Value) -> Value {
        Value::Unknown
    }
    /// Another statement of the entry function begins.
    fn statement(&mut self, index: usize);
}

/// Runs a program from beginning to end.
///
/// # Errors
/// The line that cannot be followed, and why.
pub(super) fn run(program: &Program, world: &mut impl World) -> Result<(), Reason> {
    let mut frame = vec![Value::Unknown; program.slots];
    for (slot, address) in &program.parameters {
        frame[*slot] = Value::Integer(*address as i64);
    }
    let mut runner = Runner {
        program,
        world,
        steps: 0,
        depth: 0,
    };
    for (index, (statements, _)) in program.body.iter().enumerate() {
        runner.world.statement(index);
        match runner.block(statements, &mut frame)? {
            Flow::On => {}
            Flow::Return(_) => break,
            Flow::Break | Flow::Continue => return Err(Reason::at(0, "a jump out of no loop")),
        }
    }
    Ok(())
}

enum Flow {
    On,
    Break,
    Continue,
    Return(Value),
}

struct Runner<'program, W> {
    program: &'program Program,
    world: &'program mut W,
    steps: u64,
    depth: usize,
}

impl<W: World> Runner<'_, W> {
    fn block(&mut self, statements: &[Statement], frame: &mut Vec<Value>) -> Result<Flow, Reason> {
        for statement in statements {
            match self.statement(statement, frame)? {
                Flow::On => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::On)
    }

    fn step(&mut self) -> Result<(), Reason> {
        self.steps += 1;
        if STEP_LIMIT < self.steps {
            return Err(Reason::at(0, "it runs for longer than is followed"));
        }
        Ok(())
    }

    fn holds(&mut self, condition: &Expression, frame: &mut Vec<Value>) -> Result<bool, Reason> {
        match self.value(condition, frame)? {
            Value::Integer(value) => Ok(value != 0),
            Value::Float(value) => Ok(value != 0.0),
            Value::Unknown | Value::Named(_) => Err(Reason::at(
                0,
                "a condition depends on the contents of memory",
            )),
        }
    }

    fn statement(&mut self, statement: &Statement, frame: &mut Vec<Value>) -> Result<Flow, Reason> {
        self.step()?;
        match statement {
            Statement::Expression(expression) => {
                self.value(expression, frame)?;
            }
            Statement::Declare(slot, value) => {
                frame[*slot] = match value {
                    Some(value) => self.value(value, frame)?,
                    None => Value::Unknown,
                };
            }
            Statement::If(condition, then, otherwise) => {
                let branch = if self.holds(condition, frame)? {
                    then
                } else {
                    otherwise
                };
                return self.block(branch, frame);
            }
            // What the core leaves there is not followed.
            Statement::Clear(..) => {}
            Statement::Block(inner) => return self.block(inner, frame),
            Statement::Loop {
                condition,
                after,
                step,
                body,
            } => {
                let mut first = *after;
                loop {
                    if let Some(condition) = condition
                        && !std::mem::take(&mut first)
                        && !self.holds(condition, frame)?
                    {
                        break;
                    }
                    match self.block(body, frame)? {
                        Flow::On | Flow::Continue => {}
                        Flow::Break => break,
                        Flow::Return(value) => return Ok(Flow::Return(value)),
                    }
                    if let Some(step) = step {
                        self.value(step, frame)?;
                    }
                    self.step()?;
                }
            }
            Statement::Return(value) => {
                return Ok(Flow::Return(match value {
                    Some(value) => self.value(value, frame)?,
                    None => Value::Unknown,
                }));
            }
            Statement::Break => return Ok(Flow::Break),
            Statement::Continue => return Ok(Flow::Continue),
        }
        Ok(Flow::On)
    }

    fn value(&mut self, expression: &Expression, frame: &mut Vec<Value>) -> Result<Value, Reason> {
        Ok(match expression {
            Expression::Integer(value) => Value::Integer(*value),
            Expression::Float(value) => Value::Float(*value),
            Expression::Variable(slot) => frame[*slot],
            Expression::Unary(operation, inner) => match (operation, self.value(inner, frame)?) {
                (Unary::Negate, value @ Value::Named(_)) => {
                    self.world
                        .compute(Binary::Subtract, Value::Float(0.0), value)
                }
                (operation, value) => operate(*operation, value),
            },
            Expression::Binary(operation, both) => {
                let left = self.value(&both.0, frame)?;
                match (operation, left) {
                    (Binary::And, Value::Integer(0)) => return Ok(Value::Integer(0)),
                    (Binary::Or, Value::Integer(value)) if value != 0 => {
                        return Ok(Value::Integer(1));
                    }
                    _ => {}
                }
                match (left, self.value(&both.1, frame)?) {
                    (left, right) if is_named(left) || is_named(right) => {
                        self.world.compute(*operation, left, right)
                    }
                    (left, right) => match compute(*operation, left, right) {
                        Some(value) => value,
                        None => return Err(Reason::at(0, "a division by zero")),
                    },
                }
            }
            Expression::Choice(parts) => {
                if self.holds(&parts.0, frame)? {
                    self.value(&parts.1, frame)?
                } else {
                    self.value(&parts.2, frame)?
                }
            }
            Expression::Load(address, kind) => match self.value(address, frame)? {
                Value::Integer(address) => match self.program.constant(address as u64, kind) {
                    Some(known) => Value::Integer(known),
                    None => self
                        .world
                        .load(address as u64)
                        .map_err(|why| Reason::at(0, &why))?,
                },
                _ => Value::Unknown,
            },
            Expression::Assign(slot, value) => {
                let value = self.value(value, frame)?;
                frame[*slot] = value;
                value
            }
            Expression::Replace(slot, value) => {
                let value = self.value(value, frame)?;
                std::mem::replace(&mut frame[*slot], value)
            }
            Expression::Sequence(parts) => {
                let mut last = Value::Unknown;
                for part in parts {
                    last = self.value(part, frame)?;
                }
                last
            }
            Expression::Store(both, kind) => {
                let value = self.value(&both.1, frame)?;
                let Value::Integer(address) = self.value(&both.0, frame)? else {
                    return Err(Reason::at(0, "a write to an address that is not known"));
                };
                self.step()?;
                self.world
                    .store(address as u64, kind.size(), value)
                    .map_err(|why| Reason::at(0, &why))?;
                value
            }
            Expression::Narrow(bytes, signed, inner) => {
                narrowed(self.value(inner, frame)?, *bytes, *signed)
            }
            Expression::Call(function, arguments, line) => {
                let called = &self.program.functions[*function];
                let mut inner = vec![Value::Unknown; called.slots.max(arguments.len())];
                for (slot, argument) in inner.iter_mut().zip(arguments) {
                    *slot = self.value(argument, frame)?;
                }
                if CALL_DEPTH <= self.depth {
                    return Err(Reason::at(0, "functions call each other too deeply"));
                }
                self.depth += 1;
                let flow = self.block(&called.body, &mut inner);
                // What has no line of its own has that of the call, and so has what is
                // not understood of the library.
                let flow = flow.map_err(|why| match why.line {
                    _ if called.is_library => {
                        Reason::at(*line, &format!("`{}`: {}", called.name, why.text))
                    }
                    0 => Reason::at(*line, &why.text),
                    _ => why,
                })?;
                self.depth -= 1;
                match flow {
                    Flow::Return(value) => value,
                    _ => Value::Unknown,
                }
            }
            Expression::Refused(reason) => return Err(reason.clone()),
            Expression::Command(name, _, line) if is_of_memory(name) => {
                let why = format!("a call that is not understood: `{name}`");
                return Err(Reason::at(*line, &why));
            }
            Expression::Command(name, arguments, line) => {
                self.step()?;
                let mut values = [Value::Unknown; 64];
                let values = values
                    .get_mut(..arguments.len())
                    .ok_or_else(|| Reason::at(*line, "too many arguments"))?;
                for (value, argument) in values.iter_mut().zip(arguments) {
                    *value = self.value(argument, frame)?;
                }
                self.world
                    .command(name, values)
                    .map_err(|why| Reason::at(*line, &why))?;
                Value::Unknown
            }
        })
    }
}

fn is_named(value: Value) -> bool {
    matches!(value, Value::Named(_))
}

/// Returns what an operation makes of a value.
pub(super) fn operate(operation: Unary, value: Value) -> Value {
    match (operation, value) {
        (Unary::Float, Value::Integer(value)) => Value::Float((value as f32).into()),
        (Unary::Float, Value::Float(value)) => Value::Float((value as f32).into()),
        (Unary::Float, value) => value,
        (operation, Value::Integer(value)) => Value::Integer(unary(operation, value)),
        (Unary::Negate, Value::Float(value)) => Value::Float(-value),
        (Unary::Not, Value::Float(value)) => Value::Integer((value == 0.0).into()),
        (Unary::Bits, Value::Float(value)) => Value::Integer((value as f32).to_bits().into()),
        _ => Value::Unknown,
    }
}

/// Returns what an operation makes of two values; `None` for a division of integers by
/// zero. Where C rounds to `float`, the program says so.
pub(super) fn compute(operation: Binary, left: Value, right: Value) -> Option<Value> {
    if let (Value::Integer(left), Value::Integer(right)) = (left, right) {
        return binary(operation, left, right).map(Value::Integer);
    }
    let number = |value: Value| match value {
        Value::Integer(value) => Some(value as f64),
        Value::Float(value) => Some(value),
        _ => None,
    };
    let (Some(left), Some(right)) = (number(left), number(right)) else {
        return Some(Value::Unknown);
    };
    let truth = |holds: bool| Value::Integer(holds.into());
    Some(match operation {
        Binary::Add => Value::Float(left + right),
        Binary::Subtract => Value::Float(left - right),
        Binary::Multiply => Value::Float(left * right),
        Binary::Divide => Value::Float(left / right),
        Binary::Less => truth(left < right),
        Binary::LessEqual => truth(left <= right),
        Binary::Equal => truth(left == right),
        Binary::NotEqual => truth(left != right),
        Binary::And => truth(left != 0.0 && right != 0.0),
        Binary::Or => truth(left != 0.0 || right != 0.0),
        _ => Value::Unknown,
    })
}

/// Returns what an integer of so many bytes keeps of a value.
pub(super) fn narrowed(value: Value, bytes: u8, signed: bool) -> Value {
    match value {
        Value::Integer(value) => Value::Integer(narrow(value, bytes, signed)),
        Value::Float(value) => Value::Integer(narrow(value as i64, bytes, signed)),
        Value::Named(_) | Value::Unknown => Value::Unknown,
    }
}

pub(super) fn unary(operation: Unary, value: i64) -> i64 {
    match operation {
        Unary::Negate => value.wrapping_neg(),
        Unary::Invert => !value,
        Unary::Not => i64::from(value == 0),
        Unary::Bits => (value as f32).to_bits().into(),
        Unary::Float => value,
    }
}

/// Returns the result; `None` for a division by zero.
pub(super) fn binary(operation: Binary, left: i64, right: i64) -> Option<i64> {
    Some(match operation {
        Binary::Add => left.wrapping_add(right),
        Binary::Subtract => left.wrapping_sub(right),
        Binary::Multiply => left.wrapping_mul(right),
        Binary::Divide => left.checked_div(right)?,
        Binary::Remainder => left.checked_rem(right)?,
        Binary::ShiftLeft => left.wrapping_shl(right as u32),
        Binary::ShiftRight => left.wrapping_shr(right as u32),
        Binary::BitAnd => left & right,
        Binary::BitOr => left | right,
        Binary::BitXor => left ^ right,
        Binary::Less => i64::from(left < right),
        Binary::LessEqual => i64::from(left <= right),
        Binary::Equal => i64::from(left == right),
        Binary::NotEqual => i64::from(left != right),
        Binary::And => i64::from(left != 0 && right != 0),
        Binary::Or => i64::from(left != 0 || right != 0),
    })
}

/// Returns what an integer of so many bytes keeps of a value.
pub(super) fn narrow(value: i64, bytes: u8, signed: bool) -> i64 {
    let shift = 64 - 8 * u32::from(bytes.clamp(1, 8));
    if signed {
        value.wrapping_shl(shift) >> shift
    } else {
        ((value as u64).wrapping_shl(shift) >> shift) as i64
    }
}
