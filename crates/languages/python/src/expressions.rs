//! Evaluation of expressions.

use std::cell::RefCell;
use std::rc::Rc;

use super::dictionary::Dict;
use super::interpreter::{Interpreter, hashable, type_error, unbound};
use super::release::Items;
use super::tree::{Built, Clause, Code, Expression, Node, Unary};
use super::value::{Closure, Frame, Value};
use crate::device::Device;
use crate::diagnostic::{Failure, Outcome};
use crate::foreign::Foreign;

impl<F: Foreign> Interpreter<F> {
    /// The value of an expression.
    ///
    /// # Errors
    /// What Python, the language or a limit refuses, with the line.
    pub fn evaluate(&mut self, node: &Node<F>, frame: &Rc<Frame<F>>) -> Outcome<Value<F>> {
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
                let slots = self.globals.slots.borrow();
                match slots.0.get(*slot as usize) {
                    Some(value)
                        if !matches!(value, Value::Unbound | Value::Broken(_) | Value::Left(_)) =>
                    {
                        return Ok(value.clone());
                    }
                    _ => drop(slots),
                }
                let globals = Rc::clone(&self.globals);
                let module = Rc::clone(&self.module);
                let name = module.names.get(*slot as usize).map_or("?", |n| n);
                self.read(&globals, *slot, line, Some(name))
            }
            Expression::Unbound(name) => self.unbound_name(name).map_err(|f| f.at(line)),
            Expression::Attribute(node) => {
                // Most attributes are those of modules that the file has imported.
                if let (Expression::Global(slot), Some((module, value))) =
                    (&node.object.kind, node.of_module.get())
                    && self.is_module(*slot, module)
                {
                    self.step(node.object.line)?;
                    return Ok(value.clone());
                }
                let object = self.evaluate(&node.object, frame)?;
                if let (Value::Module(module), Some((known, value))) =
                    (&object, node.of_module.get())
                    && std::ptr::eq(*module, *known)
                {
                    return Ok(value.clone());
                }
                let found = self.attribute(&object, &node.name);
                let found = found.map_err(|f| f.at(line))?;
                if let Value::Module(module) = object
                    && module != super::package::PACKAGE
                {
                    // Where another module was asked first, that one stays known.
                    let _ = node.of_module.set((module, found.clone()));
                }
                Ok(found)
            }
            Expression::Call(call) => self.call_node(line, call, frame),
            Expression::Binary(operator, left, right) => {
                let left = self.evaluate(left, frame)?;
                let right = self.evaluate(right, frame)?;
                self.device.set_line(line);
                self.binary(*operator, left, right, line)
                    .map_err(|f| f.at(line))
            }
            Expression::Compare(first, rest) => {
                let mut left = self.evaluate(first, frame)?;
                let mut result = Value::Bool(true);
                for (position, (operator, right)) in rest.iter().enumerate() {
                    let right = self.evaluate(right, frame)?;
                    self.device.set_line(line);
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
                self.device.set_line(line);
                if *operator == Unary::Not {
                    return Ok(Value::Bool(!self.truth(&value).map_err(|f| f.at(line))?));
                }
                self.unary(*operator, value).map_err(|f| f.at(line))
            }
            Expression::Subscript(object, index) => {
                let object = self.evaluate(object, frame)?;
                let index = self.evaluate(index, frame)?;
                self.device.set_line(line);
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
            Expression::Format(pieces) => self
                .format_pieces(pieces, frame, line)
                .map_err(|f| f.at(line)),
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

    /// Whether a name of the file stands for a module.
    #[inline]
    fn is_module(&self, slot: u32, module: &'static str) -> bool {
        let slots = self.globals.slots.borrow();
        let value = slots.0.get(slot as usize);
        matches!(value, Some(Value::Module(it)) if std::ptr::eq(*it, module))
    }

    fn sequence(&mut self, nodes: &[Node<F>], frame: &Rc<Frame<F>>) -> Outcome<Vec<Value<F>>> {
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

    pub(super) fn make_set(&mut self, items: Vec<Value<F>>) -> Outcome<Value<F>> {
        let set = Dict::of_members(items)?;
        Ok(Value::Set(Rc::new(RefCell::new(set))))
    }

    fn comprehend(
        &mut self,
        built: &Built<F>,
        clauses: &[Clause<F>],
        frame: &Rc<Frame<F>>,
        items: &mut Vec<Value<F>>,
        dict: &mut Dict<F>,
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
        'next: while let Some(item) = walk.next()? {
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

    pub(super) fn closure(
        &mut self,
        code: &Rc<Code<F>>,
        frame: &Rc<Frame<F>>,
    ) -> Outcome<Value<F>> {
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
            is_kernel: code.is_kernel,
        })))
    }
}
