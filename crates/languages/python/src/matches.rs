//! `match`.

use std::rc::Rc;

use super::calls::Arguments;
use super::interpreter::{Interpreter, MAXIMUM_DEPTH};
use super::statements::Flow;
use super::tree::{Case, Comparison, Node, Pattern};
use super::value::{Frame, Value};
use crate::device::Device;
use crate::diagnostic::{Failure, Outcome};
use crate::foreign::Foreign;

impl<F: Foreign> Interpreter<F> {
    pub(super) fn run_match(
        &mut self,
        subject: &Node<F>,
        cases: &[Case<F>],
        frame: &Rc<Frame<F>>,
        line: u32,
    ) -> Outcome<Flow<F>> {
        let value = self.evaluate(subject, frame)?;
        for case in cases {
            if !self.fits(&case.pattern, &value, frame, line, MAXIMUM_DEPTH)? {
                continue;
            }
            if let Some(guard) = &case.guard
                && !self.test(guard, frame)?
            {
                continue;
            }
            let opened = self.device.open_branch();
            let flow = self.block(&case.body, frame);
            if opened {
                self.device.close_scope();
            }
            return flow;
        }
        Ok(Flow::Next)
    }

    /// Whether a value fits a pattern, whose names then get their values.
    fn fits(
        &mut self,
        pattern: &Pattern<F>,
        value: &Value<F>,
        frame: &Rc<Frame<F>>,
        line: u32,
        depth: u32,
    ) -> Outcome<bool> {
        self.step(line)?;
        let Some(depth) = depth.checked_sub(1) else {
            return Ok(false);
        };
        match pattern {
            Pattern::Value(node) => {
                let wanted = self.evaluate(node, frame)?;
                let equal = self.compare(Comparison::Equal, value, &wanted);
                let equal = equal.map_err(|f| f.at(line))?;
                self.truth(&equal).map_err(|f| f.at(line))
            }
            Pattern::Same(wanted) => {
                let same = self.compare(Comparison::Is, value, wanted)?;
                self.truth(&same)
            }
            Pattern::Any(patterns) => {
                for pattern in patterns {
                    if self.fits(pattern, value, frame, line, depth)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Pattern::Capture(inner, name) => {
                if let Some(inner) = inner
                    && !self.fits(inner, value, frame, line, depth)?
                {
                    return Ok(false);
                }
                if let Some(name) = name {
                    self.store(name, value.clone(), frame, line)?;
                }
                Ok(true)
            }
            Pattern::Sequence(patterns, star) => {
                if !matches!(value, Value::List(_) | Value::Tuple(_)) {
                    return Ok(false);
                }
                let items = self.iterate(value, line)?;
                let Some(extra) = items.len().checked_sub(patterns.len()) else {
                    return Ok(false);
                };
                if star.is_none() && extra > 0 {
                    return Ok(false);
                }
                let (place, name) = match star {
                    Some((place, name)) => (*place, name.as_ref()),
                    None => (patterns.len(), None),
                };
                for (at, pattern) in patterns.iter().enumerate() {
                    let at = if at < place { at } else { at + extra };
                    if !self.fits(pattern, &items[at], frame, line, depth)? {
                        return Ok(false);
                    }
                }
                if let Some(name) = name {
                    let rest = items[place..place + extra].to_vec();
                    self.store(name, Value::list(rest), frame, line)?;
                }
                Ok(true)
            }
            Pattern::Class(node) => {
                let class = self.evaluate(node, frame)?;
                let arguments = Arguments {
                    positional: vec![value.clone(), class],
                    keywords: Vec::new(),
                };
                let is = self.builtin("isinstance", arguments, line)?;
                self.truth(&is)
            }
            Pattern::Refused(failure) => Err(Box::new(Failure::clone(failure)).at(line)),
        }
    }
}
