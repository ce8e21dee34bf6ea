//! Evaluation of expressions.

use std::cell::RefCell;
use std::rc::Rc;

use super::calls::Signature;
use super::tree::{
    Binary, Built, Clause, Code, Comparison, Expression, Module, Node, Target, Unary,
};
use super::value::{Closure, Cycles, Dict, Frame, Items, Value};
use crate::api::Device;
use crate::diagnostic::{Failure, FailureKind, Outcome};
use crate::keyed::Keyed;

/// Deepest calls and containers.
pub(super) const MAXIMUM_DEPTH: u32 = 120;

/// A run of one file.
pub(crate) struct Interpreter {
    pub(super) module: Rc<Module>,
    pub(super) globals: Rc<Frame>,
    pub(crate) device: Device,
    pub(super) steps: u64,
    pub(super) step_limit: u64,
    pub(super) items: u64,
    pub(super) item_limit: u64,
    pub(super) depth: u32,
    pub(super) cycles: Cycles,
    /// Parameters of the interfaces called so far, by their addresses.
    pub(super) signatures: Keyed<usize, Signature>,
    /// What the running generators have yielded, innermost last.
    pub(super) yielded: Vec<Vec<Value>>,
    /// Attributes of modules read so far, by the addresses of the names of both in the file.
    attributes: Keyed<(usize, usize, usize), Value>,
}

impl Interpreter {
    /// Prepares to run `module` on `device`.
    pub(crate) fn new(module: Module, device: Device, step_limit: u64) -> Self {
        let slots = vec![Value::Unbound; module.names.len()];
        Self {
            module: Rc::new(module),
            globals: Rc::new(Frame {
                slots: RefCell::new(Items(slots)),
                code: None,
                parent: None,
            }),
            device,
            steps: 0,
            step_limit,
            items: 0,
            item_limit: 5_000_000,
            depth: 0,
            cycles: Cycles::default(),
            signatures: Keyed::default(),
            yielded: Vec::new(),
            attributes: Keyed::default(),
        }
    }

    /// Steps taken so far.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Frees whatever refers to itself.
    pub(crate) fn finish(&mut self) {
        self.cycles.clear();
        let items = std::mem::take(&mut self.globals.slots.borrow_mut().0);
        drop(Items(items));
        for items in self.yielded.drain(..) {
            drop(Items(items));
        }
    }

    pub(super) fn step(&mut self, line: u32) -> Outcome<()> {
        self.steps += 1;
        if self.steps > self.step_limit {
            return Err(Failure::new(
                FailureKind::Limit,
                "step-limit",
                format!(
                    "the kernel takes more than {} steps of Python",
                    self.step_limit
                ),
                "make loops finite, and tiles larger so that there are fewer of them",
            )
            .at(line));
        }
        Ok(())
    }

    /// Accounts for work on `count` items that one step does.
    pub(super) fn charge(&mut self, count: usize, line: u32) -> Outcome<()> {
        self.steps += count as u64 / 8;
        self.step(line)
    }

    /// Equality; large values take steps.
    pub(super) fn equal(&mut self, left: &Value, right: &Value) -> Outcome<bool> {
        let mut budget = self.step_limit.saturating_sub(self.steps);
        let before = budget;
        let result = super::operators::equal(left, right, MAXIMUM_DEPTH, &mut budget);
        self.steps += before - budget;
        result
    }

    /// Accounts for `count` items of lists and strings.
    pub(super) fn reserve(&mut self, count: u64, line: u32) -> Outcome<()> {
        self.items = self.items.saturating_add(count);
        if self.items > self.item_limit {
            return Err(Failure::new(
                FailureKind::Limit,
                "memory-limit",
                format!(
                    "the kernel builds lists and strings of more than {} items",
                    self.item_limit
                ),
                "build smaller lists; tensors belong on the device",
            )
            .at(line));
        }
        Ok(())
    }

    pub(crate) fn evaluate(&mut self, node: &Node, frame: &Rc<Frame>) -> Outcome<Value> {
        self.step(node.line)?;
        let line = node.line;
        match &node.kind {
            Expression::Constant(value) => Ok(value.clone()),
            Expression::Local(slot) => self.read(frame, *slot, line, None),
            Expression::Outer { depth, slot } => {
                let mut at = Rc::clone(frame);
                for _ in 0..*depth {
                    match &at.parent {
                        Some(parent) => {
                            let parent = Rc::clone(parent);
                            at = parent;
                        }
                        None => return Err(unbound("?").at(line)),
                    }
                }
                self.read(&at, *slot, line, None)
            }
            Expression::Global(slot) => {
                let globals = Rc::clone(&self.globals);
                let module = Rc::clone(&self.module);
                let name = module.names.get(*slot as usize).map_or("?", |n| n);
                self.read(&globals, *slot, line, Some(name))
            }
            Expression::Unbound(name) => self.unbound_name(name).map_err(|f| f.at(line)),
            Expression::Attribute(object, name) => {
                let object = self.evaluate(object, frame)?;
                let Value::Module(module) = object else {
                    return self.attribute(&object, name).map_err(|f| f.at(line));
                };
                // What a module holds never changes, and the file keeps its names.
                let (module, length) = (module.as_ptr() as usize, module.len());
                let place = (module, length, name.as_ptr() as usize);
                if let Some(known) = self.attributes.get(&place) {
                    return Ok(known.clone());
                }
                let found = self.attribute(&object, name).map_err(|f| f.at(line))?;
                self.attributes.insert(place, found.clone());
                Ok(found)
            }
            Expression::Call(function, arguments) => {
                self.call_node(line, function, arguments, frame)
            }
            Expression::Binary(operator, left, right) => {
                let left = self.evaluate(left, frame)?;
                let right = self.evaluate(right, frame)?;
                self.device.line = line;
                self.binary(*operator, left, right, line)
                    .map_err(|f| f.at(line))
            }
            Expression::Compare(first, rest) => {
                let mut left = self.evaluate(first, frame)?;
                let mut result = Value::Bool(true);
                for (position, (operator, right)) in rest.iter().enumerate() {
                    let right = self.evaluate(right, frame)?;
                    self.device.line = line;
                    let one = self
                        .compare(*operator, &left, &right)
                        .map_err(|f| f.at(line))?;
                    if position + 1 == rest.len() && position == 0 {
                        return Ok(one);
                    }
                    if !self.truth(&one).map_err(|f| f.at(line))? {
                        return Ok(one);
                    }
                    result = one;
                    left = right;
                }
                Ok(result)
            }
            Expression::Logic(and, nodes) => {
                let mut last = Value::None;
                for node in nodes {
                    last = self.evaluate(node, frame)?;
                    let truth = self.truth(&last).map_err(|f| f.at(line))?;
                    if truth != *and {
                        return Ok(last);
                    }
                }
                Ok(last)
            }
            Expression::Unary(operator, operand) => {
                let value = self.evaluate(operand, frame)?;
                self.device.line = line;
                if *operator == Unary::Not {
                    return Ok(Value::Bool(!self.truth(&value).map_err(|f| f.at(line))?));
                }
                self.unary(*operator, value).map_err(|f| f.at(line))
            }
            Expression::Subscript(object, index) => {
                let object = self.evaluate(object, frame)?;
                let index = self.evaluate(index, frame)?;
                self.device.line = line;
                self.subscript(&object, &index).map_err(|f| f.at(line))
            }
            Expression::Slice(lower, upper, step) => {
                let mut parts = Vec::with_capacity(3);
                for part in [lower, upper, step] {
                    parts.push(match part {
                        Some(node) => self.evaluate(node, frame)?,
                        None => Value::None,
                    });
                }
                Ok(Value::Slice(Rc::new(Items(parts))))
            }
            Expression::Tuple(nodes) => Ok(Value::tuple(self.sequence(nodes, frame)?)),
            Expression::List(nodes) => Ok(Value::list(self.sequence(nodes, frame)?)),
            Expression::Set(nodes) => {
                let items = self.sequence(nodes, frame)?;
                self.make_set(items).map_err(|f| f.at(line))
            }
            Expression::Dict(items) => {
                let mut dict = Dict::default();
                for (key, value) in items {
                    let value = self.evaluate(value, frame)?;
                    match key {
                        Some(key) => {
                            let name = self.evaluate(key, frame)?;
                            let key = hashable(&name).map_err(|f| f.at(line))?;
                            dict.insert(key, name, value);
                        }
                        None => match value {
                            Value::Dict(other) => {
                                for (name, value) in &other.borrow().entries {
                                    let key = hashable(name).map_err(|f| f.at(line))?;
                                    dict.insert(key, name.clone(), value.clone());
                                }
                            }
                            other => {
                                return Err(type_error(&format!(
                                    "** needs a dict, not {}",
                                    other.type_name()
                                ))
                                .at(line));
                            }
                        },
                    }
                }
                self.reserve(dict.entries.len() as u64, line)?;
                Ok(Value::Dict(Rc::new(RefCell::new(dict))))
            }
            Expression::Starred(_) => {
                Err(type_error("a starred expression is not allowed here").at(line))
            }
            Expression::Comprehension(built, clauses) => {
                let mut items = Vec::new();
                let mut dict = Dict::default();
                self.comprehend(built, clauses, frame, &mut items, &mut dict)?;
                match **built {
                    Built::List(_) => Ok(Value::list(items)),
                    Built::Set(_) => self.make_set(items).map_err(|f| f.at(line)),
                    Built::Dict(..) => Ok(Value::Dict(Rc::new(RefCell::new(dict)))),
                }
            }
            Expression::Lambda(code) => self.closure(code, frame),
            Expression::Conditional(test, yes, no) => {
                let test = self.evaluate(test, frame)?;
                let chosen = if self.truth(&test).map_err(|f| f.at(line))? {
                    yes
                } else {
                    no
                };
                self.evaluate(chosen, frame)
            }
            Expression::Format(pieces) => self.format_pieces(pieces, frame, line),
            Expression::Walrus(target, value) => {
                let value = self.evaluate(value, frame)?;
                self.store(target, value.clone(), frame, line)?;
                Ok(value)
            }
            Expression::Yield(value, several) => {
                let value = match value {
                    Some(node) => self.evaluate(node, frame)?,
                    None => Value::None,
                };
                let items = match several {
                    true => self.iterate(&value, line)?,
                    false => vec![value],
                };
                self.reserve(items.len() as u64, line)?;
                if let Some(yielded) = self.yielded.last_mut() {
                    yielded.extend(items);
                }
                Ok(Value::None)
            }
            Expression::First(items, default) => {
                let items = self.evaluate(items, frame)?;
                match (self.iterate(&items, line)?.into_iter().next(), default) {
                    (Some(first), _) => Ok(first),
                    (None, Some(default)) => self.evaluate(default, frame),
                    (None, None) => {
                        Err(
                            Failure::python("value-error", "next of nothing", "pass a default")
                                .at(line),
                        )
                    }
                }
            }
            Expression::Super(class) => {
                let class = self.evaluate(class, frame)?;
                // The first parameter of a method is the object or class.
                let object = self.read(frame, 0, line, None)?;
                match class {
                    Value::Class(class) => Ok(Value::Super(Rc::new((class, object)))),
                    _ => Err(type_error("super() has no class").at(line)),
                }
            }
            Expression::Refused(failure) => Err(Box::new(Failure::clone(failure)).at(line)),
        }
    }

    fn read(
        &mut self,
        frame: &Rc<Frame>,
        slot: u32,
        line: u32,
        name: Option<&str>,
    ) -> Outcome<Value> {
        let value = frame
            .slots
            .borrow()
            .0
            .get(slot as usize)
            .cloned()
            .unwrap_or(Value::Unbound);
        match value {
            Value::Unbound => match name {
                Some(name) => self.unbound_name(name).map_err(|f| f.at(line)),
                None => {
                    let names = frame.code.as_ref().map_or(&[][..], |code| &code.names);
                    let name = names.get(slot as usize).map_or("?", |name| name);
                    Err(Failure::python(
                        "name-error",
                        format!("`{name}` has no value here"),
                        "assign to it on every way that leads to this line",
                    )
                    .at(line))
                }
            },
            Value::Broken(failure) => Err(Box::new(Failure::clone(&failure)).at(line)),
            value => Ok(value),
        }
    }

    fn unbound_name(&mut self, name: &str) -> Outcome<Value> {
        super::modules::ambient(&self.device, name).ok_or_else(|| unbound(name))
    }

    fn sequence(&mut self, nodes: &[Node], frame: &Rc<Frame>) -> Outcome<Vec<Value>> {
        let mut items = Vec::with_capacity(nodes.len());
        for node in nodes {
            if let Expression::Starred(inner) = &node.kind {
                let value = self.evaluate(inner, frame)?;
                items.extend(self.iterate(&value, node.line)?);
            } else {
                items.push(self.evaluate(node, frame)?);
            }
        }
        let line = nodes.first().map_or(0, |n| n.line);
        self.reserve(items.len() as u64, line)?;
        Ok(items)
    }

    pub(super) fn make_set(&mut self, items: Vec<Value>) -> Outcome<Value> {
        let mut dict = Dict::default();
        for item in items {
            dict.insert(hashable(&item)?, item, Value::None);
        }
        Ok(Value::Set(Rc::new(RefCell::new(dict))))
    }

    fn comprehend(
        &mut self,
        built: &Built,
        clauses: &[Clause],
        frame: &Rc<Frame>,
        items: &mut Vec<Value>,
        dict: &mut Dict,
    ) -> Outcome<()> {
        let Some((clause, rest)) = clauses.split_first() else {
            match built {
                Built::List(node) | Built::Set(node) => {
                    self.reserve(1, node.line)?;
                    items.push(self.evaluate(node, frame)?);
                }
                Built::Dict(key, value) => {
                    self.reserve(1, key.line)?;
                    let name = self.evaluate(key, frame)?;
                    let value = self.evaluate(value, frame)?;
                    dict.insert(hashable(&name).map_err(|f| f.at(key.line))?, name, value);
                }
            }
            return Ok(());
        };
        let line = clause.iterable.line;
        let iterable = self.evaluate(&clause.iterable, frame)?;
        let mut walk = self.walk(iterable, line)?;
        'next: while let Some(item) = walk.next() {
            self.step(line)?;
            self.store(&clause.target, item, frame, line)?;
            for condition in &clause.conditions {
                let value = self.evaluate(condition, frame)?;
                if !self.truth(&value).map_err(|f| f.at(line))? {
                    continue 'next;
                }
            }
            self.comprehend(built, rest, frame, items, dict)?;
        }
        Ok(())
    }

    pub(super) fn closure(&mut self, code: &Rc<Code>, frame: &Rc<Frame>) -> Outcome<Value> {
        let mut defaults = Vec::new();
        for parameter in code.positional.iter().chain(&code.keyword_only) {
            defaults.push(match &parameter.default {
                Some(node) => self.evaluate(node, frame)?,
                None => Value::Unbound,
            });
        }
        let parent = if Rc::ptr_eq(frame, &self.globals) {
            None
        } else {
            self.cycles.frames.push(Rc::downgrade(frame));
            Some(Rc::clone(frame))
        };
        Ok(Value::Function(Rc::new(Closure {
            code: Rc::clone(code),
            defaults: Items(defaults),
            parent,
        })))
    }

    /// Stores a value in a target.
    pub(super) fn store(
        &mut self,
        target: &Target,
        value: Value,
        frame: &Rc<Frame>,
        line: u32,
    ) -> Outcome<()> {
        match target {
            Target::Local(slot) => set(frame, *slot, value),
            Target::Global(slot) => {
                let globals = Rc::clone(&self.globals);
                set(&globals, *slot, value);
            }
            Target::Outer { depth, slot } => {
                let mut at = Rc::clone(frame);
                for _ in 0..*depth {
                    if let Some(parent) = &at.parent {
                        let parent = Rc::clone(parent);
                        at = parent;
                    }
                }
                set(&at, *slot, value);
            }
            Target::Subscript(object, index) => {
                let object = self.evaluate(object, frame)?;
                let index = self.evaluate(index, frame)?;
                self.device.line = line;
                self.store_subscript(&object, &index, value)
                    .map_err(|f| f.at(line))?;
            }
            Target::Attribute(object, name) => {
                let object = self.evaluate(object, frame)?;
                self.store_attribute(&object, name, value, line)
                    .map_err(|f| f.at(line))?;
            }
            Target::Unpack(targets, star) => {
                let items = self.iterate(&value, line)?;
                let count = targets.len();
                let fits = match star {
                    Some(_) => items.len() + 1 >= count,
                    None => items.len() == count,
                };
                if !fits {
                    return Err(Failure::python(
                        "value-error",
                        format!("cannot unpack {} values into {count} names", items.len()),
                        "name as many targets as there are values",
                    )
                    .at(line));
                }
                let extra = items.len() + 1 - count;
                let mut items = items.into_iter();
                for (position, target) in targets.iter().enumerate() {
                    let value = if *star == Some(position) {
                        Value::list(items.by_ref().take(extra).collect())
                    } else {
                        items.next().unwrap_or(Value::None)
                    };
                    self.store(target, value, frame, line)?;
                }
            }
            Target::Refused(failure) => return Err(Box::new(Failure::clone(failure)).at(line)),
        }
        Ok(())
    }

    /// Truth of a value.
    pub(super) fn truth(&mut self, value: &Value) -> Outcome<bool> {
        Ok(match value {
            Value::None => false,
            Value::Bool(value) => *value,
            Value::Int(value) | Value::Partition(value) => *value != 0,
            Value::Float(value) => *value != 0.0,
            Value::Str(text) => !text.is_empty(),
            Value::List(list) => !list.borrow().0.is_empty(),
            Value::Tuple(items) => !items.0.is_empty(),
            Value::Dict(dict) | Value::Set(dict) => !dict.borrow().entries.is_empty(),
            Value::Range(start, stop, step, _) => {
                super::subscripts::range_length(*start, *stop, *step) > 0
            }
            Value::Register(register) => crate::api::registers::known(register)? != 0,
            Value::Tensor(_) => {
                return Err(Failure::documented(
                    "err_ambiguous_tensor_truth_value",
                    "a tensor has no truth value while the kernel is being compiled",
                    "decide with shapes, arguments or loop indices, or use nl.where",
                ));
            }
            Value::Index(_) | Value::Mask(_) | Value::Grid(_) => {
                return Err(Failure::documented(
                    "err_control_flow_condition_depending_on_arange",
                    "a condition depends on nl.arange or nl.mgrid",
                    "pass the condition as mask= instead of branching on it",
                ));
            }
            object @ Value::Object(_) => {
                let line = self.device.line;
                for method in ["__bool__", "__len__"] {
                    if let Some(result) = self.special(object, method, Vec::new(), line) {
                        return match result? {
                            Value::Bool(value) => Ok(value),
                            Value::Int(value) => Ok(value != 0),
                            _ => Err(type_error(&format!("`{method}` gives no truth value"))),
                        };
                    }
                }
                true
            }
            _ => true,
        })
    }

    pub(super) fn enter_call(&mut self, line: u32) -> Outcome<()> {
        self.depth += 1;
        if self.depth > MAXIMUM_DEPTH {
            self.depth -= 1;
            return Err(Failure::new(
                FailureKind::Limit,
                "depth-limit",
                format!("functions call each other more than {MAXIMUM_DEPTH} deep"),
                "replace recursion by a loop",
            )
            .at(line));
        }
        Ok(())
    }

    /// The binary operators used by `sum` and the like.
    pub(super) fn add(&mut self, left: Value, right: Value, line: u32) -> Outcome<Value> {
        self.binary(Binary::Add, left, right, line)
    }

    pub(super) fn less(&mut self, left: &Value, right: &Value) -> Outcome<bool> {
        let result = self.compare(Comparison::Less, left, right)?;
        self.truth(&result)
    }
}

fn set(frame: &Rc<Frame>, slot: u32, value: Value) {
    let old = {
        let mut slots = frame.slots.borrow_mut();
        let at = slot as usize;
        if slots.0.len() <= at {
            slots.0.resize(at + 1, Value::Unbound);
        }
        std::mem::replace(&mut slots.0[at], value)
    };
    if old.is_container() {
        drop(Items(vec![old]));
    }
}

pub(super) fn unbound(name: &str) -> Box<Failure> {
    if let Some(remedy) = super::modules::instead(name) {
        return Failure::python(
            "name-error",
            format!("`{name}` of Python is not available in kernels"),
            remedy,
        );
    }
    Failure::python(
        "name-error",
        format!("`{name}` is not defined here"),
        "define it before it is used, or import it",
    )
}

pub(super) fn type_error(message: &str) -> Box<Failure> {
    Failure::python("type-error", message, "check the types of the operands")
}

pub(super) fn hashable(value: &Value) -> Outcome<super::value::Key> {
    value
        .key(MAXIMUM_DEPTH)
        .ok_or_else(|| type_error(&format!("a {} cannot be a key", value.type_name())))
}
