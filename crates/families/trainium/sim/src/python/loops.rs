//! Loops: those over ranges and values, and those of the second dialect that run on the device.

use std::rc::Rc;

use super::calls::Arguments;
use super::interpreter::{Interpreter, type_error};
use super::statements::Flow;
use super::tree::{Node, Statement, Target};
use super::value::{Frame, LoopKind, Value};
use crate::api::registers::computed;
use crate::diagnostic::{Failure, Outcome};

impl Interpreter {
    /// A bound of a loop.
    fn bound_of(&mut self, value: &Value) -> Outcome<i64> {
        match value {
            Value::Register(register) => self.device.known(register),
            other => other.as_int().ok_or_else(|| {
                type_error("bounds of loops are whole numbers, registers or scalars")
            }),
        }
    }

    pub(super) fn run_for(
        &mut self,
        target: &Target,
        iterable: &Node,
        body: &[Statement],
        rest: &[Statement],
        frame: &Rc<Frame>,
        line: u32,
    ) -> Outcome<Flow> {
        let iterable = self.evaluate(iterable, frame)?;
        let (kind, trips) = match &iterable {
            Value::Range(range, kind) => {
                let (start, stop, step) = **range;
                (*kind, super::subscripts::range_length(start, stop, step))
            }
            _ => (LoopKind::Python, 0),
        };
        let mut walk = self.walk(iterable, line)?;
        self.device.open_loop(kind, trips.max(0) as u64, line);
        let mut carried = self
            .device
            .compiles_once(kind)
            .then(|| self.carried(Some(frame)));
        let mut result = Ok(None);
        loop {
            let item = match self.step(line).and_then(|()| walk.next()) {
                Ok(Some(item)) => item,
                Ok(None) => break,
                Err(failure) => {
                    result = Err(failure);
                    break;
                }
            };
            self.device.open_scope();
            let (item, counted) = match (kind, item) {
                // What the body gets is a number of the device, not of Python.
                (LoopKind::Dynamic, Value::Int(at)) => {
                    (computed(Some(at), false), self.device.branch(line))
                }
                (_, item) => (item, Ok(())),
            };
            let flow = counted
                .and_then(|()| self.store(target, item, frame, line))
                .and_then(|()| self.block(body, frame));
            let flow = flow.and_then(|flow| match &mut carried {
                Some(carried) => self.close_iteration(carried, line).map(|()| flow),
                None => Ok(flow),
            });
            self.device.close_scope();
            self.device.next_iteration();
            match flow {
                Ok(Flow::Next | Flow::Continue) => {}
                Ok(other) => {
                    result = Ok(Some(other));
                    break;
                }
                Err(failure) => {
                    result = Err(failure);
                    break;
                }
            }
        }
        self.device.close_loop();
        if let Some(carried) = carried {
            carried.close();
        }
        match result? {
            Some(Flow::Return(value)) => Ok(Flow::Return(value)),
            Some(_) => Ok(Flow::Next),
            None => self.block(rest, frame),
        }
    }

    /// `nl.fori_loop(lower, upper, body_fun, step=1)`
    pub(super) fn fori_loop(&mut self, arguments: Arguments, line: u32) -> Outcome<Value> {
        let [lower, upper, body, step] = named(arguments, ["lower", "upper", "body_fun", "step"])?;
        let (Some(lower), Some(upper), Some(body)) = (lower, upper, body) else {
            return Err(type_error("fori_loop takes lower, upper and body_fun"));
        };
        let step = step.map_or(Some(1), |step| step.as_int());
        let step = step.filter(|step| *step > 0).ok_or_else(|| {
            type_error("the step of fori_loop is a positive number known when it is compiled")
        })?;
        let (mut at, stop) = (self.bound_of(&lower)?, self.bound_of(&upper)?);
        let trips = super::subscripts::range_length(at, stop, step).max(0);
        self.device.open_loop(LoopKind::Dynamic, trips as u64, line);
        let mut carried = self.carried(surroundings(&body));
        let result = loop {
            if at >= stop {
                break Ok(Value::None);
            }
            // What the body gets is a number of the device, not of Python.
            if let Err(failure) = self.device.branch(line) {
                break Err(failure);
            }
            let arguments = Arguments {
                positional: vec![computed(Some(at), false)],
                keywords: Vec::new(),
            };
            let one = self
                .step(line)
                .and_then(|()| self.call(&body, arguments, line))
                .and_then(|_| self.close_iteration(&mut carried, line));
            if let Err(failure) = one {
                break Err(failure);
            }
            self.device.next_iteration();
            at = at.saturating_add(step);
        };
        self.device.close_loop();
        carried.close();
        result
    }

    /// `nl.while_loop(init, body_fun)`: as long as the register that the body returns is not zero.
    pub(super) fn while_loop(&mut self, arguments: Arguments, line: u32) -> Outcome<Value> {
        let [init, body] = named(arguments, ["init", "body_fun"])?;
        let (Some(Value::Register(mut condition)), Some(body)) = (init, body) else {
            return Err(Failure::python(
                "type-error",
                "while_loop takes a register and a function that returns the next one",
                "allocate the register with nisa.register_alloc() and load the condition into it",
            ));
        };
        self.device.open_loop(LoopKind::Dynamic, 0, line);
        let mut carried = self.carried(surroundings(&body));
        let result = loop {
            let known = self.device.known(&condition);
            match known.and_then(|value| self.device.branch(line).map(|()| value)) {
                Ok(0) => break Ok(Value::None),
                Ok(_) => {}
                Err(failure) => break Err(failure),
            }
            let arguments = Arguments {
                positional: vec![Value::Register(condition)],
                keywords: Vec::new(),
            };
            let one = self
                .step(line)
                .and_then(|()| self.call(&body, arguments, line));
            match one {
                Ok(Value::Register(next)) => condition = next,
                Ok(_) => {
                    break Err(type_error(
                        "the function of a while_loop returns the register of the next condition",
                    ));
                }
                Err(failure) => break Err(failure),
            }
            if let Err(failure) = self.close_iteration(&mut carried, line) {
                break Err(failure);
            }
            self.device.next_iteration();
        };
        self.device.close_loop();
        carried.close();
        result
    }
}

/// The variables around a function.
fn surroundings(body: &Value) -> Option<&Rc<Frame>> {
    match body {
        Value::Function(closure) => closure.parent.as_ref(),
        Value::Method(method) => method.0.parent.as_ref(),
        Value::Partial(partial) => surroundings(&partial.function),
        _ => None,
    }
}

/// Arguments in the order of their names.
fn named<const N: usize>(arguments: Arguments, names: [&str; N]) -> Outcome<[Option<Value>; N]> {
    let mut values = [const { None }; N];
    if arguments.positional.len() > N {
        return Err(type_error(&format!(
            "takes {N} arguments at most: {names:?}"
        )));
    }
    for (slot, value) in values.iter_mut().zip(arguments.positional) {
        *slot = Some(value);
    }
    for (name, value) in arguments.keywords {
        match names.iter().position(|known| *known == &*name) {
            Some(at) if values[at].is_none() => values[at] = Some(value),
            _ => {
                return Err(type_error(&format!(
                    "`{name}` is no parameter, or given twice"
                )));
            }
        }
    }
    Ok(values)
}
