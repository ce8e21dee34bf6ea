//! Calls: of functions of the file, of foreign values, of built-in functions and methods.

use std::cell::RefCell;
use std::rc::Rc;

use super::dictionary::{Dict, Key};
use super::interpreter::{Interpreter, type_error};
use super::release::Items;
use super::statements::Flow;
use super::tree::{Argument, Call};
use super::value::{Closure, Frame, Value};
use crate::device::{Construct, Device};
use crate::diagnostic::{Failure, Outcome};
use crate::foreign::Foreign;

/// Evaluated arguments.
pub struct Arguments<F: Foreign> {
    /// Those without a name.
    pub positional: Vec<Value<F>>,
    /// Those with a name.
    pub keywords: Vec<(Rc<str>, Value<F>)>,
}

impl<F: Foreign> Default for Arguments<F> {
    fn default() -> Self {
        Self {
            positional: Vec::new(),
            keywords: Vec::new(),
        }
    }
}

impl<F: Foreign> Interpreter<F> {
    pub(super) fn call_node(
        &mut self,
        line: u32,
        call: &Call<F>,
        frame: &Rc<Frame<F>>,
    ) -> Outcome<Value<F>> {
        let function = self.evaluate(&call.function, frame)?;
        let binding = match &function {
            Value::Foreign(callee) => callee.binding(&self.device, call),
            _ => None,
        };
        if let Some(binding) = binding {
            drop(function);
            return F::call_bound(self, line, binding, &call.arguments, frame);
        }
        let mut evaluated = Arguments {
            positional: Vec::with_capacity(call.arguments.len()),
            keywords: Vec::new(),
        };
        for argument in &call.arguments {
            match argument {
                Argument::Positional(node) => {
                    evaluated.positional.push(self.evaluate(node, frame)?)
                }
                Argument::Keyword(name, node) => {
                    let value = self.evaluate(node, frame)?;
                    evaluated.keywords.push((Rc::clone(name), value));
                }
                Argument::Spread(node) => {
                    let value = self.evaluate(node, frame)?;
                    evaluated.positional.extend(self.iterate(&value, line)?);
                }
                Argument::SpreadKeywords(node) => {
                    let value = self.evaluate(node, frame)?;
                    let Value::Dict(dict) = &value else {
                        return Err(type_error("** needs a dict").at(line));
                    };
                    for (name, value) in &dict.borrow().entries {
                        let Value::Str(name) = name else {
                            return Err(type_error("keywords must be strings").at(line));
                        };
                        evaluated.keywords.push((Rc::clone(name), value.clone()));
                    }
                }
            }
        }
        self.call_at(line, &function, evaluated)
    }

    /// Calls a value from a line of the file.
    fn call_at(
        &mut self,
        line: u32,
        function: &Value<F>,
        arguments: Arguments<F>,
    ) -> Outcome<Value<F>> {
        self.device.set_line(line);
        let result = self.call(function, arguments, line).map_err(|f| f.at(line));
        // Calls change the line; what follows belongs to this one again.
        self.device.set_line(line);
        result
    }

    /// Calls a value.
    pub fn call(
        &mut self,
        function: &Value<F>,
        arguments: Arguments<F>,
        line: u32,
    ) -> Outcome<Value<F>> {
        match function {
            Value::Function(closure) => self.call_closure(closure, arguments, line),
            Value::Foreign(callee) => callee.call(self, arguments, line),
            Value::Builtin(name) => self.builtin(name, arguments, line),
            Value::Type(name) => self.builtin(name, arguments, line),
            Value::Bound(bound) => self.method(&bound.0, &bound.1, arguments, line),
            Value::Class(class) => self.instantiate(class, arguments, line),
            Value::Launch(launch) => F::launch(self, &launch.0, &launch.1, arguments, line),
            Value::Partial(partial) => {
                let mut all = Arguments {
                    positional: partial.positional.0.clone(),
                    keywords: partial.keywords.clone(),
                };
                all.positional.extend(arguments.positional);
                for (name, value) in arguments.keywords {
                    match all.keywords.iter_mut().find(|(known, _)| *known == name) {
                        Some(known) => known.1 = value,
                        None => all.keywords.push((name, value)),
                    }
                }
                // Partials of partials go no deeper than calls do.
                self.enter_call(line)?;
                let result = self.call(&partial.function, all, line);
                self.depth -= 1;
                result
            }
            Value::Method(method) => self.call_with(&method.0, method.1.clone(), arguments, line),
            Value::Object(object) => match object.class.find(&"__call__".into()) {
                Some((Value::Function(code), _)) => {
                    self.call_with(&code, function.clone(), arguments, line)
                }
                _ => Err(type_error(&format!(
                    "an object of `{}` cannot be called",
                    object.class.name
                ))),
            },
            Value::Module(super::package::PACKAGE) => {
                Err(super::package::elsewhere("what is called here"))
            }
            Value::Symbol(name) if F::is_kernel_maker(name) => {
                match arguments.positional.as_slice() {
                    // What is asked of the compiler comes first, the function in a second call.
                    [] => Ok(function.clone()),
                    [Value::Function(made)] => Ok(Value::Function(Rc::new(Closure {
                        code: Rc::clone(&made.code),
                        defaults: Items(made.defaults.0.clone()),
                        parent: made.parent.clone(),
                        is_kernel: true,
                    }))),
                    [made @ Value::Partial(_)] => Ok(made.clone()),
                    _ => Err(type_error("a kernel is made of one function")),
                }
            }
            // `context:` constants are entered with `with`, and called first.
            Value::Symbol(name) if name.starts_with("context:") => Ok(function.clone()),
            other => Err(type_error(&format!(
                "a {} cannot be called",
                other.type_name()
            ))),
        }
    }

    /// Calls a function of the file.
    ///
    /// # Errors
    /// The arguments do not fit, or what it refuses.
    pub fn call_closure(
        &mut self,
        closure: &Rc<Closure<F>>,
        arguments: Arguments<F>,
        line: u32,
    ) -> Outcome<Value<F>> {
        let code = Rc::clone(&closure.code);
        let mut slots = vec![Value::Unbound; code.slots as usize];
        let mut positional = arguments.positional.into_iter();
        let wrong = |what: String| {
            Failure::python(
                "type-error",
                format!("`{}` {what}", code.name),
                format!("the function is defined at line {}", code.line),
            )
        };
        for parameter in &code.positional {
            if let Some(value) = positional.next() {
                slots[parameter.slot as usize] = value;
            }
        }
        let extra: Vec<Value<F>> = positional.collect();
        match code.rest {
            Some(slot) => slots[slot as usize] = Value::tuple(extra),
            None if extra.is_empty() => {}
            None => {
                return Err(wrong(format!(
                    "takes {} arguments, not {}",
                    code.positional.len(),
                    code.positional.len() + extra.len()
                )));
            }
        }
        let mut rest = Dict::default();
        for (name, value) in arguments.keywords {
            let parameter = code
                .positional
                .iter()
                .chain(&code.keyword_only)
                .find(|p| p.name == name);
            match parameter {
                Some(parameter) => {
                    let slot = &mut slots[parameter.slot as usize];
                    if !matches!(slot, Value::Unbound) {
                        return Err(wrong(format!("is given `{name}` twice")));
                    }
                    *slot = value;
                }
                None if code.keywords.is_some() => {
                    rest.insert(Key::Str(Rc::clone(&name)), Value::Str(name), value);
                }
                None => return Err(wrong(format!("has no parameter `{name}`"))),
            }
        }
        if let Some(slot) = code.keywords {
            slots[slot as usize] = Value::Dict(Rc::new(RefCell::new(rest)));
        }
        for (parameter, default) in code
            .positional
            .iter()
            .chain(&code.keyword_only)
            .zip(&closure.defaults.0)
        {
            let slot = &mut slots[parameter.slot as usize];
            if matches!(slot, Value::Unbound) {
                if matches!(default, Value::Unbound) {
                    return Err(wrong(format!("is not given `{}`", parameter.name)));
                }
                *slot = default.clone();
            }
        }
        self.enter_call(line)?;
        // What is passed by name belongs to the caller.
        for slot in &slots {
            if let Value::Foreign(value) = slot {
                value.keep();
            }
        }
        let frame = Rc::new(Frame {
            slots: RefCell::new(Items(slots)),
            code: Some(Rc::clone(&code)),
            parent: closure.parent.clone(),
        });
        if code.yields {
            let result = self.generate(&code, &frame, line);
            self.depth -= 1;
            return result;
        }
        let within = self.within_kernel;
        self.within_kernel |= closure.is_kernel;
        let result = match &code.value {
            Some(node) => self.evaluate(node, &frame),
            None => self.block(&code.body, &frame).map(|flow| match flow {
                Flow::Return(value) => value,
                _ => Value::None,
            }),
        };
        self.within_kernel = within;
        self.depth -= 1;
        result
    }

    /// Runs a generator to its end; the list of what it yields. That is what looping over it
    /// gives as long as it runs nothing on the device, whose instructions have an order.
    fn generate(
        &mut self,
        code: &super::tree::Code<F>,
        frame: &Rc<Frame<F>>,
        line: u32,
    ) -> Outcome<Value<F>> {
        let permitted = self.device.permits(Construct::Generator);
        permitted.map_err(|failure| failure.at(code.line))?;
        let before = self.device.instructions();
        self.yielded.push(Vec::new());
        let flow = match &code.value {
            Some(node) => self.evaluate(node, frame).map(|_| Flow::Next),
            None => self.block(&code.body, frame),
        };
        let items = self.yielded.pop().unwrap_or_default();
        flow?;
        if self.device.instructions() > before {
            return Err(Failure::unsupported(
                "unsupported-python",
                format!("the generator `{}` runs instructions", code.name),
                "yield indices and slices, and run instructions in the loop over them",
            )
            .at(code.line));
        }
        self.reserve(items.len() as u64, line)?;
        Ok(Value::list(items))
    }

    /// Calls the function `entry` of the file with values prepared by the caller.
    pub fn call_entry(&mut self, entry: &str, arguments: Arguments<F>) -> Outcome<Value<F>> {
        let slot = self.module.names.iter().position(|name| &**name == entry);
        let value = slot.and_then(|slot| self.globals.slots.borrow().0.get(slot).cloned());
        match value {
            Some(function @ Value::Function(_)) => self.call(&function, arguments, 0),
            Some(Value::Broken(failure)) => Err(Box::new(Failure::clone(&failure))),
            Some(Value::Unbound) | None => Err(Failure::new(
                crate::diagnostic::FailureKind::Input,
                "entry-missing",
                format!("the file defines no function `{entry}`"),
                format!("name the kernel's function `{entry}`"),
            )),
            Some(other) => Err(Failure::new(
                crate::diagnostic::FailureKind::Input,
                "entry-missing",
                format!("`{entry}` is a {}, not a function", other.type_name()),
                format!("define the kernel with `def {entry}(…)`"),
            )),
        }
    }

    /// Names of the parameters of the function `entry`.
    pub fn entry_parameters(&self, entry: &str) -> Option<Vec<Rc<str>>> {
        let slot = self.module.names.iter().position(|name| &**name == entry)?;
        match self.globals.slots.borrow().0.get(slot)? {
            Value::Function(closure) => Some(
                closure
                    .code
                    .positional
                    .iter()
                    .chain(&closure.code.keyword_only)
                    .map(|p| Rc::clone(&p.name))
                    .collect(),
            ),
            _ => None,
        }
    }
}
