//! Follows what the core computes, for all steps of a loop at once where they are alike.

mod branches;
mod memory;

use super::super::Reason;
use super::super::program::{Program, Statement};
use super::super::walk::Habits;
use super::affine::{Affine, Counter, Counters, Stop, refused};
use super::node::{Id, Node, Nodes};
use super::region::Write;
use super::sum::Outlets;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// Statements and expressions that are looked at, at most.
const STEPS: u64 = 20_000_000;
/// The deepest that functions may call each other.
pub(super) const DEPTH: usize = 24;
/// Expressions that are held at most.
const NODES: usize = 2_000_000;

/// What a variable holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// A number or an address.
    Number(Affine),
    /// Something that depends on the contents of memory.
    Data(Id),
    /// Nothing yet, or what changes in a way that is not known.
    Unknown,
}

/// What a program leaves: writes, their expressions and counters, and the arrays that serve
/// as operands.
pub(in super::super) struct Left {
    pub(super) writes: Vec<Write>,
    pub(super) nodes: Nodes,
    pub(super) counters: Counters,
    pub(super) served: BTreeSet<usize>,
    /// What is done to sums, as far as it was found out.
    pub(super) outlets: Outlets,
}

/// Variables of a function.
pub(super) type Frame = Vec<Value>;

/// How a statement ends.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Flow {
    On,
    Break,
    Continue,
    Return(Value),
}

/// What was written since a loop's step began, or since one of two branches did.
#[derive(Debug, Default)]
pub(super) struct Scope {
    pub(super) writes: Vec<Write>,
    pub(super) is_branch: bool,
}

/// Follows one program.
pub(in super::super) struct Follower<'program> {
    pub(super) program: &'program Program,
    pub(super) nodes: Nodes,
    pub(super) counters: Counters,
    pub(super) scopes: Vec<Scope>,
    /// Counters of loops that are being followed.
    pub(super) open: Vec<Counter>,
    /// How variables were seen to change in a loop, by where the loop stands.
    pub(super) habits: HashMap<*const Statement, Vec<(usize, super::loops::Habit)>>,
    /// How a variable changed in a step that was taken not to, or otherwise.
    pub(super) unexpected: Option<(usize, super::loops::Habit)>,
    /// Arrays that serve as operands of operations behind those that give them their elements.
    pub(super) served: BTreeSet<usize>,
    order: usize,
    steps: u64,
    pub(super) depth: usize,
}

impl<'program> Follower<'program> {
    pub(in super::super) fn new(program: &'program Program) -> Self {
        Self {
            program,
            nodes: Nodes::default(),
            counters: Counters::default(),
            scopes: vec![Scope::default()],
            open: Vec::new(),
            habits: HashMap::new(),
            unexpected: None,
            served: BTreeSet::new(),
            order: 0,
            steps: 0,
            depth: 0,
        }
    }

    /// Follows some statements of the program; returns what they leave in memory. `habits` are
    /// those of all its statements.
    ///
    /// # Errors
    /// What cannot be followed.
    pub(in super::super) fn run(
        mut self,
        range: Range<usize>,
        habits: &[Habits],
    ) -> Result<Left, Reason> {
        let mut frame = vec![Value::Unknown; self.program.slots];
        for (slot, address) in &self.program.parameters {
            frame[*slot] = Value::Number(Affine::of(*address as i64));
        }
        for (at, ((statements, _), habits)) in self.program.body.iter().zip(habits).enumerate() {
            if !range.contains(&at) && habits.works {
                // The core does it as it is written: what variables hold then is not known.
                for slot in &habits.sets {
                    frame[*slot] = Value::Unknown;
                }
                continue;
            }
            match self.block(statements, &mut frame, false) {
                Ok(Flow::On) => {}
                Ok(Flow::Return(_)) => break,
                Ok(_) => return Err(Reason::at(0, "a jump out of no loop")),
                Err(Stop::Refused(reason)) => return Err(reason),
                Err(_) => {
                    return Err(Reason::at(
                        0,
                        "its loops depend on each other too intricately",
                    ));
                }
            }
        }
        let writes = self.scopes.pop().map(|scope| scope.writes);
        Ok(Left {
            writes: writes.unwrap_or_default(),
            nodes: self.nodes,
            counters: self.counters,
            served: self.served,
            outlets: Outlets::default(),
        })
    }

    pub(super) fn step(&mut self) -> Result<(), Stop> {
        self.steps += 1;
        if STEPS < self.steps || NODES < self.nodes.len() {
            return Err(refused("it runs for longer than is followed"));
        }
        Ok(())
    }

    /// Follows statements; `is_last`: nothing of the function or of the loop's step
    /// comes behind them.
    pub(super) fn block(
        &mut self,
        statements: &'program [Statement],
        frame: &mut Frame,
        is_last: bool,
    ) -> Result<Flow, Stop> {
        for (at, statement) in statements.iter().enumerate() {
            let rest = &statements[at + 1..];
            if let Statement::If(condition, then, otherwise) = statement {
                let condition = self.eval(condition, frame)?;
                if let Value::Data(condition) = condition {
                    return self.branches(condition, [then, otherwise], rest, frame, is_last);
                }
                let holds = self.holds(&condition)?;
                let branch = if holds { then } else { otherwise };
                match self.block(branch, frame, is_last && rest.is_empty())? {
                    Flow::On => continue,
                    other => return Ok(other),
                }
            }
            match self.statement(statement, frame, is_last && rest.is_empty())? {
                Flow::On => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::On)
    }

    fn statement(
        &mut self,
        statement: &'program Statement,
        frame: &mut Frame,
        is_last: bool,
    ) -> Result<Flow, Stop> {
        self.step()?;
        match statement {
            Statement::Expression(expression) => {
                self.eval(expression, frame)?;
            }
            Statement::Declare(slot, value) => {
                frame[*slot] = match value {
                    Some(value) => self.eval(value, frame)?,
                    None => Value::Unknown,
                };
            }
            Statement::Clear(address, is_zero) => {
                if !is_zero {
                    return Err(refused(
                        "an array that begins with other elements than zeros",
                    ));
                }
                self.clear(&Affine::of(*address as i64), None)?;
            }
            Statement::If(..) => {
                return self.block(std::slice::from_ref(statement), frame, is_last);
            }
            Statement::Block(inner) => {
                let flow = self.block(inner, frame, is_last)?;
                // Variables of the block are no more.
                for statement in inner {
                    if let Statement::Declare(slot, _) = statement {
                        frame[*slot] = Value::Unknown;
                    }
                }
                return Ok(flow);
            }
            Statement::Loop { .. } => return self.follow_loop(statement, frame),
            Statement::Return(value) => {
                return Ok(Flow::Return(match value {
                    Some(value) => self.eval(value, frame)?,
                    None => Value::Unknown,
                }));
            }
            Statement::Break => return Ok(Flow::Break),
            Statement::Continue => return Ok(Flow::Continue),
        }
        Ok(Flow::On)
    }

    /// Returns the expression that stands for a value.
    pub(super) fn data(&mut self, value: &Value) -> Result<Id, Stop> {
        match value {
            Value::Number(number) => Ok(self.nodes.index(number.clone())),
            Value::Data(id) => Ok(*id),
            Value::Unknown => Err(Stop::Unknown),
        }
    }

    pub(super) fn of_node(&self, id: Id) -> Value {
        match self.nodes.get(id) {
            Node::Integer(value) => Value::Number(Affine::of(*value)),
            Node::Index(value) => Value::Number(value.clone()),
            _ => Value::Data(id),
        }
    }

    pub(super) fn holds(&self, value: &Value) -> Result<bool, Stop> {
        match value {
            Value::Number(number) => Ok(!self.counters.is_zero(number)?),
            Value::Data(id) => match self.nodes.get(*id) {
                Node::Float(bits) => Ok(f64::from_bits(*bits) != 0.0),
                _ => Err(refused("a condition depends on the contents of memory")),
            },
            Value::Unknown => Err(Stop::Unknown),
        }
    }
}

pub(super) fn outside() -> Stop {
    refused("an address outside all arrays")
}
