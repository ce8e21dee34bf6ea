//! Execution of statements.

use std::rc::Rc;

use super::interpreter::Interpreter;
use super::package::PACKAGE;
use super::tree::{Action, Node, Statement, Target};
use super::value::{Frame, Value};
use crate::device::Device;
use crate::diagnostic::{Failure, Outcome};
use crate::foreign::Foreign;

/// How a block ended.
pub(super) enum Flow<F: Foreign> {
    Next,
    Break,
    Continue,
    Return(Value<F>),
}

impl<F: Foreign> Interpreter<F> {
    pub(super) fn block(
        &mut self,
        body: &[Statement<F>],
        frame: &Rc<Frame<F>>,
    ) -> Outcome<Flow<F>> {
        for statement in body {
            match self.execute(statement, frame)? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    pub(super) fn test(&mut self, node: &Node<F>, frame: &Rc<Frame<F>>) -> Outcome<bool> {
        let value = self.evaluate(node, frame)?;
        self.truth(&value).map_err(|f| f.at(node.line))
    }

    pub(super) fn execute(
        &mut self,
        statement: &Statement<F>,
        frame: &Rc<Frame<F>>,
    ) -> Outcome<Flow<F>> {
        let line = statement.line;
        self.step(line)?;
        self.device.set_line(line);
        match &statement.kind {
            Action::Evaluate(node) => {
                self.evaluate(node, frame)?;
            }
            Action::Assign(targets, node) => {
                let value = self.evaluate(node, frame)?;
                let named = targets.iter().any(|t| !matches!(t, Target::Subscript(..)));
                if let (Value::Foreign(value), true) = (&value, named) {
                    value.keep();
                }
                let (last, first) = match targets.split_last() {
                    Some(parts) => parts,
                    None => return Ok(Flow::Next),
                };
                for target in first {
                    self.store(target, value.clone(), frame, line)?;
                }
                self.store(last, value, frame, line)?;
            }
            Action::Augment(target, operator, node) => {
                let value = self.evaluate(node, frame)?;
                self.augment(target, *operator, value, frame, line)?;
            }
            Action::If(test, body, rest) => {
                let chosen = if self.test(test, frame)? { body } else { rest };
                let opened = self.device.open_branch();
                let flow = self.block(chosen, frame);
                if opened {
                    self.device.close_scope();
                }
                return flow;
            }
            Action::For(target, iterable, body, rest) => {
                return self.run_for(target, iterable, body, rest, frame, line);
            }
            Action::While(test, body, rest) => {
                let mut carried = None;
                loop {
                    let value = self.evaluate(test, frame)?;
                    let decided = match &value {
                        Value::Foreign(value) => value.goes_on(&mut self.device)?,
                        _ => None,
                    };
                    let goes_on = match decided {
                        Some(goes_on) => {
                            carried.get_or_insert_with(|| self.surroundings(Some(frame)));
                            goes_on
                        }
                        None => self.truth(&value).map_err(|f| f.at(test.line))?,
                    };
                    if !goes_on {
                        break;
                    }
                    self.step(line)?;
                    self.device.open_scope();
                    let flow = self.block(body, frame);
                    self.device.close_scope();
                    match flow? {
                        Flow::Break => return Ok(Flow::Next),
                        Flow::Return(value) => return Ok(Flow::Return(value)),
                        Flow::Next | Flow::Continue => {}
                    }
                    if let Some(carried) = &mut carried {
                        self.close_iteration(carried, line)?;
                    }
                }
                if let Some(carried) = carried {
                    carried.close();
                }
                return self.block(rest, frame);
            }
            Action::Try(guarded) => return self.run_guarded(guarded, frame, line),
            Action::With(items, body) => {
                return self.run_with(items, body, frame, line);
            }
            Action::Return(node) => {
                let value = match node {
                    Some(node) => self.evaluate(node, frame)?,
                    None => Value::None,
                };
                return Ok(Flow::Return(value));
            }
            Action::Assert(test, message) => {
                if !self.test(test, frame)? {
                    let text = match message {
                        Some(node) => {
                            let value = self.evaluate(node, frame)?;
                            self.text(&value, line)?
                        }
                        None => "the condition does not hold".to_owned(),
                    };
                    return Err(Failure::python(
                        "assertion-error",
                        format!("assertion failed: {text}"),
                        "make the condition hold for these inputs, or remove it",
                    )
                    .at(line));
                }
            }
            Action::Raise(node) => {
                let text = match node {
                    Some(node) => {
                        let value = self.evaluate(node, frame)?;
                        self.text(&value, line)?
                    }
                    None => String::new(),
                };
                return Err(Failure::python(
                    "raised",
                    format!("the kernel raised {text}"),
                    "see the message",
                )
                .at(line));
            }
            Action::Define(target, code, decorators) => {
                let mut function = self.closure(code, frame)?;
                for (name, whole) in decorators.iter().rev() {
                    // Names of harnesses need not be there.
                    let Ok(Value::Function(_) | Value::Partial(_)) = self.evaluate(name, frame)
                    else {
                        continue;
                    };
                    let decorator = self.evaluate(whole, frame)?;
                    let arguments = super::Arguments {
                        positional: vec![function],
                        keywords: Vec::new(),
                    };
                    function = self
                        .call(&decorator, arguments, line)
                        .map_err(|f| f.at(line))?;
                }
                self.store(target, function, frame, line)?;
            }
            Action::Match(subject, cases) => {
                return self.run_match(subject, cases, frame, line);
            }
            Action::Class(target, code) => {
                let class = self.define_class(code, frame).map_err(|f| f.at(line))?;
                self.store(target, class, frame, line)?;
            }
            Action::Import(target, path) => {
                let module = match super::modules::import::<F>(path) {
                    Ok(module) => module,
                    Err(_) if !super::modules::is_foreign::<F>(path) => Value::Module(PACKAGE),
                    Err(failure) => return Err(failure.at(line)),
                };
                self.store(target, module, frame, line)?;
            }
            Action::ImportFrom(target, path, name) => {
                if !super::modules::is_module::<F>(path, name) {
                    let own = self.import_own(target, path, name, frame, line);
                    own.map_err(|f| f.at(line))?;
                } else if let ("*", Some(module)) = (&**name, super::modules::module_of::<F>(path))
                {
                    self.starred.push(module);
                } else {
                    let value = super::modules::import_from(&self.device, path, name);
                    self.store(target, value.map_err(|f| f.at(line))?, frame, line)?;
                }
            }
            Action::Delete(targets) => {
                for target in targets {
                    match target {
                        Target::Subscript(object, index) => {
                            let object = self.evaluate(object, frame)?;
                            let index = self.evaluate(index, frame)?;
                            self.delete_subscript(&object, &index)
                                .map_err(|f| f.at(line))?;
                        }
                        other => self.store(other, Value::Unbound, frame, line)?,
                    }
                }
            }
            Action::Break => return Ok(Flow::Break),
            Action::Continue => return Ok(Flow::Continue),
            Action::Pass => {}
            Action::Refused(failure) => return Err(Box::new(Failure::clone(failure)).at(line)),
        }
        Ok(Flow::Next)
    }

    /// Enters values, runs a block, and leaves them in turn.
    fn run_with(
        &mut self,
        items: &[(Node<F>, Option<Target<F>>)],
        body: &[Statement<F>],
        frame: &Rc<Frame<F>>,
        line: u32,
    ) -> Outcome<Flow<F>> {
        let Some(((node, name), rest)) = items.split_first() else {
            return self.block(body, frame);
        };
        let value = self.evaluate(node, frame)?;
        if matches!(value, Value::Symbol(name) if name.starts_with("context:")) {
            self.device.enter();
            let flow = self.run_with(rest, body, frame, line);
            self.device.leave();
            return flow;
        }
        let Some(entered) = self.special(&value, "__enter__", Vec::new(), line) else {
            return Err(Failure::unsupported(
                "unsupported-python",
                "`with` is not supported for this value",
                F::CONTEXTS,
            )
            .at(line));
        };
        let entered = entered?;
        if let Some(name) = name {
            self.store(name, entered, frame, line)?;
        }
        let flow = self.run_with(rest, body, frame, line)?;
        let nothing = vec![Value::None; 3];
        self.special(&value, "__exit__", nothing, line)
            .transpose()?;
        Ok(flow)
    }

    fn augment(
        &mut self,
        target: &Target<F>,
        operator: super::tree::Binary,
        value: Value<F>,
        frame: &Rc<Frame<F>>,
        line: u32,
    ) -> Outcome<()> {
        self.device.set_line(line);
        match target {
            Target::Subscript(object, index) => {
                let object = self.evaluate(object, frame)?;
                let index = self.evaluate(index, frame)?;
                self.device.set_line(line);
                let old = self.subscript(&object, &index).map_err(|f| f.at(line))?;
                let Some(new) = self.augmented(operator, old, value, line)? else {
                    return Ok(());
                };
                self.store_subscript(&object, &index, new)
                    .map_err(|f| f.at(line))
            }
            Target::Attribute(object, name) => {
                let object = self.evaluate(object, frame)?;
                self.device.set_line(line);
                let old = self.attribute(&object, name).map_err(|f| f.at(line))?;
                let Some(new) = self.augmented(operator, old, value, line)? else {
                    return Ok(());
                };
                self.store_attribute(&object, name, new, line)
                    .map_err(|f| f.at(line))
            }
            _ => {
                let old = self.read_target(target, frame, line)?;
                if let (Value::List(list), super::tree::Binary::Add) = (&old, operator) {
                    let items = self.iterate(&value, line)?;
                    self.reserve(items.len() as u64, line)?;
                    for item in &items {
                        self.cycles.note(&old, item);
                    }
                    list.borrow_mut().0.extend(items);
                    return Ok(());
                }
                let Some(new) = self.augmented(operator, old, value, line)? else {
                    return Ok(());
                };
                self.store(target, new, frame, line)
            }
        }
    }

    /// Returns what `old` is to be replaced by; nothing if it changes in its place.
    fn augmented(
        &mut self,
        operator: super::tree::Binary,
        old: Value<F>,
        value: Value<F>,
        line: u32,
    ) -> Outcome<Option<Value<F>>> {
        let result = match old {
            Value::Foreign(old) if old.changes_in_place() => {
                old.augment(self, operator, value).map(|()| None)
            }
            old => self.binary(operator, old, value, line).map(Some),
        };
        result.map_err(|f| f.at(line))
    }

    fn read_target(
        &mut self,
        target: &Target<F>,
        frame: &Rc<Frame<F>>,
        line: u32,
    ) -> Outcome<Value<F>> {
        use super::tree::Expression;
        let kind = match target {
            Target::Local(slot) => Expression::Local(*slot),
            Target::Outer { depth, slot } => Expression::Outer {
                depth: *depth,
                slot: *slot,
            },
            Target::Global(slot) => Expression::Global(*slot),
            Target::Refused(failure) => return Err(Box::new(Failure::clone(failure)).at(line)),
            _ => {
                return Err(Failure::unsupported(
                    "unsupported-python",
                    "this target cannot be augmented",
                    "augment a name or a subscript",
                )
                .at(line));
            }
        };
        self.evaluate(&Node { line, kind }, frame)
    }
}
