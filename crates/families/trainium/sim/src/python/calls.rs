//! Calls: of functions of the file, of interfaces of NKI, of built-in functions and methods.

use std::cell::RefCell;
use std::rc::Rc;

use super::binding::{Binding, bind};
use super::dictionary::{Dict, Key};
use super::interpreter::{Interpreter, type_error};
use super::release::Items;
use super::statements::Flow;
use super::tree::{Argument, Call};
use super::value::{Closure, Frame, Value};
use crate::api::{Bound, Dialect, Grid, placement};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::dtype::Dtype;
use crate::tensor::place::{Allocator, Rule};

/// Evaluated arguments.
#[derive(Default)]
pub(crate) struct Arguments {
    pub(crate) positional: Vec<Value>,
    pub(crate) keywords: Vec<(Rc<str>, Value)>,
}

impl Interpreter {
    pub(super) fn call_node(
        &mut self,
        line: u32,
        call: &Call,
        frame: &Rc<Frame>,
    ) -> Outcome<Value> {
        let function = self.evaluate(&call.function, frame)?;
        if let Value::Api(api) = function
            && !api.is_of_host()
        {
            let dialect = self.device.dialect;
            let binding = || Binding::of(api, &call.arguments, dialect);
            if let Some(binding) = call.binding.get_or_init(binding)
                && std::ptr::eq(binding.api, api)
            {
                return self.call_bound(line, binding, &call.arguments, frame);
            }
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

    /// Calls an interface with arguments whose parameters are known.
    fn call_bound(
        &mut self,
        line: u32,
        binding: &Binding,
        arguments: &[Argument],
        frame: &Rc<Frame>,
    ) -> Outcome<Value> {
        let values = match arguments {
            // Most calls of many kernels are these, in the indices of transfers.
            [Argument::Positional(start), Argument::Positional(size)]
                if binding.api.is_window() =>
            {
                match (self.evaluate(start, frame)?, self.evaluate(size, frame)?) {
                    (Value::Int(start), Value::Int(size)) => {
                        self.device.line = line;
                        return Ok(Value::Window(start, size, false));
                    }
                    (start, size) => vec![Some(start), Some(size)],
                }
            }
            _ => {
                let mut values = self.spare.pop().unwrap_or_default();
                values.resize(binding.names.len(), None);
                for (argument, place) in arguments.iter().zip(&binding.places) {
                    let (Argument::Positional(node) | Argument::Keyword(_, node)) = argument else {
                        continue;
                    };
                    let value = self.evaluate(node, frame)?;
                    if let Some(place) = place {
                        values[*place as usize] = Some(value);
                    }
                }
                values
            }
        };
        self.device.line = line;
        let mut bound = Bound::new(binding.api, Rc::clone(&binding.names), values);
        self.device
            .begins(|| binding.api.identity(), bound.arguments());
        if bound.allocates() {
            self.place_blocks(&mut bound, line)?;
        }
        let result = (binding.api.handler)(&mut self.device, &mut bound);
        self.spare.push(bound.into_emptied());
        self.device.line = line;
        result.map_err(|f| f.at(line))
    }

    /// Asks a function of the kernel where the blocks of a tensor lie that is about to be made.
    fn place_blocks(&mut self, bound: &mut Bound, line: u32) -> Outcome<()> {
        let (Some(Value::Allocator(allocator)), Some(shape)) =
            (bound.peek("buffer"), bound.peek("shape"))
        else {
            return Ok(());
        };
        let Rule::Function(function) = &allocator.rule else {
            return Ok(());
        };
        let items = match &shape {
            Value::Tuple(items) => items.0.clone(),
            Value::List(list) => list.borrow().0.clone(),
            _ => return Ok(()),
        };
        let marked = items
            .iter()
            .position(|it| matches!(it, Value::Partition(_)));
        let at = marked.unwrap_or(0);
        let Some(sizes) = crate::api::sizes(&shape).filter(|sizes| at < sizes.len()) else {
            return Ok(());
        };
        let dtype = bound.peek("dtype").as_ref().and_then(crate::api::dtype_of);
        let width = dtype.unwrap_or(Dtype::Float32).bytes();
        let free = sizes[at + 1..]
            .iter()
            .copied()
            .fold(width, usize::saturating_mul);
        let mut places = Vec::new();
        for block in placement::blocks(&sizes[..at])? {
            let block = block.into_iter().map(Value::Int).collect();
            // By name, as published kernels rely on.
            let arguments = Arguments {
                positional: Vec::new(),
                keywords: vec![
                    ("idx".into(), Value::tuple(block)),
                    ("pdim_size".into(), Value::Int(sizes[at] as i64)),
                    ("fdim_size".into(), Value::Int(free as i64)),
                ],
            };
            let place = self.call(function, arguments, line)?;
            places.push(placement::returned(allocator.buffer, &place)?);
        }
        let rule = Rule::Listed(places.into());
        let buffer = allocator.buffer;
        bound.replace(
            "buffer",
            Value::Allocator(Rc::new(Allocator { buffer, rule })),
        );
        Ok(())
    }

    /// Calls a value from a line of the file.
    fn call_at(&mut self, line: u32, function: &Value, arguments: Arguments) -> Outcome<Value> {
        self.device.line = line;
        let result = self.call(function, arguments, line).map_err(|f| f.at(line));
        // Calls change the line; what follows belongs to this one again.
        self.device.line = line;
        result
    }

    /// Calls a value.
    pub(crate) fn call(
        &mut self,
        function: &Value,
        arguments: Arguments,
        line: u32,
    ) -> Outcome<Value> {
        match function {
            Value::Function(closure) => self.call_closure(closure, arguments, line),
            Value::Api(api) => {
                if let Some(value) = self.host_call(api, &arguments)? {
                    return Ok(value);
                }
                let mut bound = bind(api, self.device.dialect, arguments)?;
                self.device.begins(|| api.identity(), bound.arguments());
                if bound.allocates() {
                    self.place_blocks(&mut bound, line)?;
                }
                (api.handler)(&mut self.device, &mut bound)
            }
            Value::Builtin(name) => self.builtin(name, arguments, line),
            Value::Type(name) => self.builtin(name, arguments, line),
            Value::Bound(bound) => self.method(&bound.0, &bound.1, arguments, line),
            Value::Class(class) => self.instantiate(class, arguments, line),
            Value::Launch(launch) => self.launch(launch, arguments, line),
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
            Value::ScalarOf(dtype) => match arguments.positional.first().and_then(Value::as_number)
            {
                Some(number) if dtype.is_integer() => {
                    Ok(Value::Int(dtype.round(number as f32) as i64))
                }
                Some(number) => Ok(Value::Float(f64::from(dtype.round(number as f32)))),
                None => Err(type_error("a NumPy scalar is made from one number")),
            },
            Value::Dtype(dtype) => self.call(&Value::ScalarOf(*dtype), arguments, line),
            Value::Module(super::package::PACKAGE) => {
                Err(super::package::elsewhere("what is called here"))
            }
            // `context:` constants are entered with `with`, and called first.
            Value::Symbol(name) if name.starts_with("context:") => Ok(function.clone()),
            other => Err(type_error(&format!(
                "a {} cannot be called",
                other.type_name()
            ))),
        }
    }

    fn call_closure(
        &mut self,
        closure: &Rc<Closure>,
        arguments: Arguments,
        line: u32,
    ) -> Outcome<Value> {
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
        let extra: Vec<Value> = positional.collect();
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
        // Tensors passed by name belong to the caller.
        for slot in &slots {
            if let Value::Tensor(view) = slot {
                view.storage.producer.set(None);
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
        self.within_kernel |= code.is_kernel;
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

    /// Runs every program of a grid, one after the other; what the last one returns.
    fn launch(
        &mut self,
        (function, sizes): &(Rc<Closure>, Vec<i64>),
        arguments: Arguments,
        line: u32,
    ) -> Outcome<Value> {
        if self.device.dialect == Dialect::V2 {
            return self.launch_on_cores(function, sizes, arguments, line);
        }
        if self.within_kernel || !self.device.grid.sizes.is_empty() {
            return Err(Failure::documented(
                "err_nested_kernel_with_spmd_grid",
                format!(
                    "`{}` is called with the grid {sizes:?} from within a kernel",
                    function.code.name
                ),
                "call it without a grid, once for each program, with the program's indices as arguments",
            ));
        }
        let before = std::mem::replace(&mut self.device.grid, Grid::new(sizes.clone()));
        let result = loop {
            let arguments = Arguments {
                positional: arguments.positional.clone(),
                keywords: arguments.keywords.clone(),
            };
            let result = self
                .step(line)
                .and_then(|()| self.call_closure(function, arguments, line));
            if result.is_err() || !self.device.grid.advance() {
                break result;
            }
        };
        self.device.grid = before;
        result
    }

    /// Runs this core's program of a kernel that is launched on as many cores as `sizes` says.
    fn launch_on_cores(
        &mut self,
        function: &Rc<Closure>,
        sizes: &[i64],
        arguments: Arguments,
        line: u32,
    ) -> Outcome<Value> {
        let place = self.device.enter_cores(sizes)?;
        let before = std::mem::replace(&mut self.device.grid, place);
        let result = self.call_closure(function, arguments, line);
        self.device.line = line;
        let result = result.and_then(|value| self.device.leave_cores().map(|()| value));
        self.device.grid = before;
        result
    }

    /// Runs a generator to its end; the list of what it yields. That is what looping over it
    /// gives as long as it runs nothing on the device, whose instructions have an order.
    fn generate(
        &mut self,
        code: &super::tree::Code,
        frame: &Rc<Frame>,
        line: u32,
    ) -> Outcome<Value> {
        if self.device.dialect == crate::api::Dialect::V1 {
            return Err(Failure::unsupported(
                "unsupported-python",
                "yield is not supported in kernels of NKI 1",
                "return a list",
            )
            .at(code.line));
        }
        let before = self.device.trace.len();
        self.yielded.push(Vec::new());
        let flow = match &code.value {
            Some(node) => self.evaluate(node, frame).map(|_| Flow::Next),
            None => self.block(&code.body, frame),
        };
        let items = self.yielded.pop().unwrap_or_default();
        flow?;
        if self.device.trace.len() > before {
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
    pub(crate) fn call_entry(&mut self, entry: &str, arguments: Arguments) -> Outcome<Value> {
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
    pub(crate) fn entry_parameters(&self, entry: &str) -> Option<Vec<Rc<str>>> {
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
