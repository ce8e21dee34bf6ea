//! Loops over ranges and values.

use std::rc::Rc;

use super::interpreter::Interpreter;
use super::statements::Flow;
use super::tree::{Node, Statement, Target};
use super::value::{Frame, Value};
use crate::device::Device;
use crate::diagnostic::Outcome;
use crate::foreign::Foreign;

impl<F: Foreign> Interpreter<F> {
    pub(super) fn run_for(
        &mut self,
        target: &Target<F>,
        iterable: &Node<F>,
        body: &[Statement<F>],
        rest: &[Statement<F>],
        frame: &Rc<Frame<F>>,
        line: u32,
    ) -> Outcome<Flow<F>> {
        let iterable = self.evaluate(iterable, frame)?;
        let (kind, trips) = match &iterable {
            Value::Range(range, kind) => {
                let (start, stop, step) = **range;
                (*kind, super::subscripts::range_length(start, stop, step))
            }
            _ => (F::Loop::default(), 0),
        };
        let mut walk = self.walk(iterable, line)?;
        self.device.open_loop(kind, trips.max(0) as u64, line);
        let mut carried = self
            .device
            .compiles_once(kind)
            .then(|| self.surroundings(Some(frame)));
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
            let (item, counted) = F::loop_item(&mut self.device, kind, item, line);
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
}
