//! Follows what the core computes, for all steps of a loop at once where they are alike.

use super::super::Reason;
use super::super::program::{Memory, Program, Statement};
use super::super::walk::Habits;
use super::affine::{Affine, Counter, Counters, Stop, refused};
use super::node::{Element, Id, Node, Nodes};
use super::region::{Lookup, Write, append};
use super::summed::Outlets;
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

    /// Follows both branches of what depends on the contents of memory.
    fn branches(
        &mut self,
        condition: Id,
        branches: [&'program [Statement]; 2],
        rest: &'program [Statement],
        frame: &mut Frame,
        is_last: bool,
    ) -> Result<Flow, Stop> {
        let mut ends = Vec::new();
        for (at, branch) in branches.into_iter().enumerate() {
            let mut own = frame.clone();
            self.scopes.push(Scope {
                is_branch: true,
                ..Scope::default()
            });
            let flow = self.block(branch, &mut own, is_last && rest.is_empty());
            let writes = self.scopes.pop().map(|scope| scope.writes);
            ends.push((flow?, own, writes.unwrap_or_default(), at));
        }
        if ends.iter().any(|end| end.0 != Flow::On) {
            let ends_here = |flow: &Flow| match flow {
                Flow::Return(_) | Flow::Continue => is_last,
                Flow::On => true,
                Flow::Break => false,
            };
            if !ends.iter().all(|end| ends_here(&end.0)) {
                return Err(refused(
                    "a loop that ends where the contents of memory say so",
                ));
            }
            // What follows is done by the branch that does not end.
            for (flow, own, writes, _) in &mut ends {
                if *flow == Flow::On {
                    self.scopes.push(Scope {
                        is_branch: true,
                        writes: std::mem::take(writes),
                    });
                    let new = self.block(rest, own, true);
                    let left = self.scopes.pop().map(|scope| scope.writes);
                    (*flow, *writes) = (new?, left.unwrap_or_default());
                }
            }
        }
        let (Some(otherwise), Some(then)) = (ends.pop(), ends.pop()) else {
            return Err(refused("a branch that is not followed"));
        };
        self.join(condition, then.2, otherwise.2)?;
        for (slot, value) in frame.iter_mut().enumerate() {
            *value = self.chosen(condition, &then.1[slot], &otherwise.1[slot]);
        }
        let flow = match (then.0, otherwise.0) {
            (Flow::On, Flow::On) => return self.block(rest, frame, is_last),
            (Flow::Return(one), Flow::Return(other)) => {
                Flow::Return(self.chosen(condition, &one, &other))
            }
            (Flow::On | Flow::Continue, Flow::On | Flow::Continue) => Flow::Continue,
            (Flow::Return(Value::Unknown), Flow::On) | (Flow::On, Flow::Return(Value::Unknown)) => {
                Flow::Return(Value::Unknown)
            }
            _ => {
                return Err(refused(
                    "a function that ends where the contents of memory say so",
                ));
            }
        };
        Ok(flow)
    }

    /// Notes what either of two branches wrote.
    fn join(&mut self, condition: Id, then: Vec<Write>, otherwise: Vec<Write>) -> Result<(), Stop> {
        let mut otherwise: Vec<Option<Write>> = otherwise.into_iter().map(Some).collect();
        let mut joined = Vec::new();
        for one in then {
            let same = otherwise.iter_mut().find(|other| {
                let other = other.as_ref();
                other.is_some_and(|it| it.address == one.address && it.dims == one.dims)
            });
            let other = same.and_then(Option::take).map(|it| it.value);
            joined.push((Some(one.value), other, one));
        }
        joined.extend(
            otherwise
                .into_iter()
                .flatten()
                .map(|it| (None, Some(it.value), it)),
        );
        for (then, otherwise, write) in joined {
            let before = self.load(&write.address, write.element)?;
            let [then, otherwise] = [then, otherwise].map(|value| value.unwrap_or(before));
            let value = self.nodes.select(condition, then, otherwise);
            self.write(Write { value, ..write })?;
        }
        Ok(())
    }

    fn chosen(&mut self, condition: Id, then: &Value, otherwise: &Value) -> Value {
        if then == otherwise {
            return then.clone();
        }
        let known = |value: &Value| match value {
            Value::Number(number) => number.known().is_some(),
            Value::Data(_) => true,
            Value::Unknown => false,
        };
        if !known(then) || !known(otherwise) {
            return Value::Unknown;
        }
        match (self.data(then), self.data(otherwise)) {
            (Ok(then), Ok(otherwise)) => Value::Data(self.nodes.select(condition, then, otherwise)),
            _ => Value::Unknown,
        }
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

    /// Writes an element.
    pub(super) fn write(&mut self, mut write: Write) -> Result<(), Stop> {
        let array = write.address.array();
        if array.is_some_and(|array| self.served.contains(&array)) {
            return Err(refused(
                "an array that is given elements again after it was read",
            ));
        }
        self.order += 1;
        write.order = self.order;
        let scope = self.scopes.last_mut().ok_or(Stop::Unknown)?;
        append(
            &mut scope.writes,
            write,
            &mut self.nodes,
            &mut self.counters,
        )
    }

    /// Returns what an element holds.
    pub(super) fn load(&mut self, address: &Affine, element: Element) -> Result<Id, Stop> {
        let id = self.nodes.add(Node::Load(address.clone(), element));
        self.resolved(id, &[])
    }

    /// Returns an expression with what was written in this step of the innermost loop
    /// in place of what is read.
    ///
    /// `bound`: counters of loops that have ended around it.
    pub(super) fn resolved(&mut self, id: Id, bound: &[Counter]) -> Result<Id, Stop> {
        let mut around = self.open.clone();
        around.extend(bound);
        let whole = self.scopes.iter().rposition(|scope| !scope.is_branch);
        let scopes = self.scopes[whole.unwrap_or(0)..].iter().rev();
        let mut lookup = Lookup {
            scopes: scopes.map(|scope| scope.writes.as_slice()).collect(),
            nodes: &mut self.nodes,
            counters: &mut self.counters,
            memories: &self.program.memories,
            served: &mut self.served,
            done: HashMap::new(),
        };
        lookup.resolved(id, &mut around)
    }

    /// Copies bytes from one array to another.
    pub(super) fn copy(&mut self, to: &Affine, from: &Affine, bytes: i64) -> Result<(), Stop> {
        let kind = |address: &Affine| {
            let memory = self.program.memories.get(address.array()?)?;
            Element::of(&memory.kind)
        };
        let element = kind(to).ok_or_else(outside)?;
        let width = element.bytes();
        if kind(from) != Some(element) || bytes < 1 || bytes % width != 0 {
            return Err(refused("bytes that are copied are no elements"));
        }
        let mut write = Write {
            address: to.clone(),
            dims: Vec::new(),
            element,
            value: 0,
            order: 0,
        };
        let mut from = from.clone();
        if width < bytes {
            let counter = self.counters.new_of(bytes / width);
            let own = Affine::counter(counter);
            write.dims.push(counter);
            write.address = write.address.plus(&own, width);
            from = from.plus(&own, width);
        }
        for end in [&write.address, &from] {
            let [least, most] = self.counters.range(end);
            let array = |address: i128| Memory::of(u64::try_from(address).ok()?).map(|it| it.0);
            if array(least).is_none() || array(least) != array(most) {
                return Err(outside());
            }
        }
        write.value = self.nodes.add(Node::Load(from, element));
        let mut all = Vec::new();
        self.settle(write, &mut all)?;
        for write in all {
            self.write(write)?;
        }
        Ok(())
    }

    /// Sets bytes to zero; all of the array if `bytes` is none.
    pub(super) fn clear(&mut self, address: &Affine, bytes: Option<i64>) -> Result<(), Stop> {
        let (array, offset) = Memory::of(address.constant as u64).ok_or_else(outside)?;
        let memory = self.program.memories.get(array).ok_or_else(outside)?;
        let whole = memory.bytes().map(|bytes| bytes - offset);
        let bytes = bytes.or(whole).ok_or_else(outside)?;
        if bytes < 1 || bytes % memory.element != 0 {
            return Err(refused("bytes that are set to zero are no elements"));
        }
        let element = Element::of(&memory.kind).ok_or_else(outside)?;
        let count = bytes / memory.element;
        let value = self.nodes.add(match element {
            Element::Integer(..) => Node::Integer(0),
            _ => Node::Float(0),
        });
        let mut write = Write {
            address: address.clone(),
            dims: Vec::new(),
            element,
            value,
            order: 0,
        };
        if 1 < count {
            let counter = self.counters.new_of(count);
            write.dims.push(counter);
            write.address = write
                .address
                .plus(&Affine::counter(counter), memory.element);
        }
        self.write(write)
    }
}

pub(super) fn outside() -> Stop {
    refused("an address outside all arrays")
}
