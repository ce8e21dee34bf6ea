//! What Python's own operations make of values of NKI.

use std::rc::Rc;

use autocomp_python::{
    Argument, Arguments, Binary, Call, Closure, Comparison, Foreign, Frame, Key, Member, Unary,
    no_items, type_error, wrap,
};

use super::binding::Binding;
use super::registers::computed;
use super::{
    Device, Interpreter, Nki, Value, calls, host_arrays, indexing, modules, placement, ranges,
    registers, remedies,
};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::index::Index;
use crate::tensor::storage::Buffer;
use crate::trace::LoopKind;

/// What of the package `nki` makes kernels of functions.
pub const KERNEL_MAKERS: [&str; 5] = ["jit", "trace", "baremetal", "benchmark", "profile"];

/// Kinds of keys of dictionaries.
const DTYPE: u32 = 0;
const ENGINE: u32 = 1;

/// What a register holds is not known while a kernel is compiled.
fn undecided() -> Box<Failure> {
    Failure::python(
        "type-error",
        "a condition depends on a register, whose value is not known while the kernel is compiled",
        "loop with nl.while_loop or `while register:`, or choose between tiles with nisa.select_reduce or nisa.tensor_copy_predicated",
    )
}

impl Foreign for Nki {
    type Device = Device;
    type Loop = LoopKind;
    type Binding = Binding;

    const DOCUMENTS: &'static str = "the documentation of NKI";
    const INTERFACES: &'static str = "the interfaces of NKI";
    const IMPORTS: &'static str = "import nki and its submodules, numpy or math only";
    const CARRIED: &'static str =
        "compute with the loop's number, or let Python loop with range or nl.static_range";
    const CONTEXTS: &'static str =
        "only nl.no_reorder() and the like can be entered, and objects with `__enter__`";

    fn type_name(&self) -> &'static str {
        match self {
            Self::Api(_) => "function",
            Self::Dtype(_) => "dtype",
            Self::Buffer(_) | Self::Allocator(_) => "buffer",
            Self::Engine(_) => "engine",
            Self::ScalarOf(_) => "type",
            Self::Tensor(_) => "tensor",
            Self::Index(_) => "index expression",
            Self::Mask(_) => "mask",
            Self::Grid(_) => "mgrid",
            Self::Partition(_) => "par_dim",
            Self::Host(_) => "numpy array",
            Self::Register(register) if register.scalar => "scalar",
            Self::Register(_) => "register",
        }
    }

    #[inline]
    fn as_int(&self) -> Option<i64> {
        match self {
            Self::Partition(value) => Some(*value),
            _ => None,
        }
    }

    fn key(&self) -> Option<Key> {
        Some(match self {
            Self::Dtype(dtype) => Key::Foreign(DTYPE, *dtype as u64),
            Self::Api(api) => Key::Name(api.name),
            Self::Engine(engine) => Key::Foreign(ENGINE, *engine as u64),
            Self::Buffer(buffer) => Key::Name(buffer.name()),
            _ => return None,
        })
    }

    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Dtype(a), Self::Dtype(b)) => a == b,
            (Self::Buffer(a), Self::Buffer(b)) => a == b,
            (Self::Engine(a), Self::Engine(b)) => a == b,
            (Self::Api(a), Self::Api(b)) => std::ptr::eq(*a, *b),
            (Self::Tensor(a), Self::Tensor(b)) => Rc::ptr_eq(a, b),
            _ => false,
        }
    }

    fn equals(&self, text: &str) -> bool {
        matches!(self, Self::Dtype(dtype) if dtype.name() == text)
    }

    fn text(&self) -> Option<String> {
        Some(match self {
            Self::Partition(value) => value.to_string(),
            Self::Dtype(dtype) => dtype.name().to_owned(),
            Self::Tensor(view) => format!(
                "tensor({:?}, {}, {})",
                view.shape(),
                view.dtype.name(),
                view.buffer().name()
            ),
            Self::Api(api) => format!("<{}>", api.full_name()),
            _ => return None,
        })
    }

    #[inline]
    fn truth(&self) -> Outcome<bool> {
        match self {
            Self::Partition(value) => Ok(*value != 0),
            Self::Register(_) => Err(undecided()),
            Self::Tensor(_) => Err(Failure::documented(
                "err_ambiguous_tensor_truth_value",
                "a tensor has no truth value while the kernel is being compiled",
                "decide with shapes, arguments or loop indices, or use nl.where",
            )),
            Self::Index(_) | Self::Mask(_) | Self::Grid(_) => Err(Failure::documented(
                "err_control_flow_condition_depending_on_arange",
                "a condition depends on nl.arange or nl.mgrid",
                "pass the condition as mask= instead of branching on it",
            )),
            _ => Ok(true),
        }
    }

    fn length(&self) -> Option<i64> {
        match self {
            Self::Tensor(view) => Some(view.dimensions.first().map_or(0, |it| it.size as i64)),
            _ => None,
        }
    }

    fn items(&self) -> Outcome<Option<Vec<Value>>> {
        match self {
            Self::Grid(parts) => {
                let part = |part: &Index| Value::Foreign(Self::Index(part.clone().into()));
                Ok(Some(parts.iter().map(part).collect()))
            }
            Self::Tensor(_) => Err(Failure::unsupported(
                "unsupported-python",
                "a tensor cannot be iterated over",
                "loop over indices with nl.affine_range and subscript the tensor",
            )),
            _ => Ok(None),
        }
    }

    fn is_of_base(&self) -> bool {
        matches!(self, Self::Tensor(_))
    }

    #[inline]
    fn changes_in_place(&self) -> bool {
        matches!(self, Self::Tensor(_))
    }

    fn instead_of(&self, builtin: &str) -> Option<&'static str> {
        let is_abs = matches!(self, Self::Tensor(_)) && builtin == "abs";
        is_abs.then_some("use nl.abs for tensors")
    }

    #[inline]
    fn keep(&self) {
        if let Self::Tensor(view) = self {
            // The result has a name now: it stays a tensor of its own.
            view.storage.producer.set(None);
        }
    }

    fn module_of(path: &str) -> Option<&'static str> {
        modules::module_of(path)
    }

    fn member(device: &Device, module: &'static str, name: &str) -> Option<Value> {
        modules::member(device, module, name)
    }

    fn ambient(device: &Device, name: &str) -> Option<Value> {
        modules::ambient(device, name)
    }

    fn remedy(path: &str) -> Option<&'static str> {
        remedies::remedy(path)
    }

    fn unknown(device: &Device, module: &'static str, name: &str) -> Box<Failure> {
        modules::unknown(device, module, name)
    }

    fn makes_kernel(package: &str, name: &str) -> bool {
        package == "nki" && KERNEL_MAKERS.contains(&name)
    }

    fn is_kernel_maker(constant: &str) -> bool {
        constant == "nki.jit"
    }

    #[inline]
    fn binary(
        run: &mut Interpreter,
        operator: Binary,
        left: Value,
        right: Value,
        line: u32,
    ) -> Outcome<Result<Value, (Value, Value)>> {
        let is_tensor = |it: &Value| matches!(it, Value::Foreign(Self::Tensor(_)));
        let is_register = |it: &Value| matches!(it, Value::Foreign(Self::Register(_)));
        if is_tensor(&left) || is_tensor(&right) {
            return run.device.binary_operator(operator, left, right).map(Ok);
        }
        if is_register(&left) || is_register(&right) {
            return registers::arithmetic(run, operator, &left, &right, line).map(Ok);
        }
        let found = indexing::arithmetic(operator, &left, &right)?;
        Ok(found.ok_or((left, right)))
    }

    fn unary(
        run: &mut Interpreter,
        operator: Unary,
        value: Value,
    ) -> Outcome<Result<Value, Value>> {
        match (operator, &value) {
            (_, Value::Foreign(Self::Tensor(_))) => {
                run.device.unary_operator(operator, value).map(Ok)
            }
            (Unary::Negate, Value::Foreign(Self::Index(_))) => {
                let found = indexing::arithmetic(Binary::Multiply, &value, &Value::Int(-1))?;
                Ok(found.ok_or(value))
            }
            (Unary::Plus, Value::Foreign(Self::Index(_))) => Ok(Ok(value)),
            _ => Ok(Err(value)),
        }
    }

    fn compare(
        run: &mut Interpreter,
        operator: Comparison,
        left: &Value,
        right: &Value,
    ) -> Outcome<Option<Value>> {
        let either = |is: fn(&Value) -> bool| is(left) || is(right);
        if either(|it| matches!(it, Value::Foreign(Self::Tensor(_)))) {
            if either(|it| matches!(it, Value::None)) {
                return Ok(Some(Value::Bool(operator == Comparison::NotEqual)));
            }
            let (left, right) = (left.clone(), right.clone());
            return run.device.compare_operator(operator, left, right).map(Some);
        }
        if let Some(result) = indexing::comparison(operator, left, right)? {
            return Ok(Some(result));
        }
        if either(|it| matches!(it, Value::Foreign(Self::Register(_)))) {
            if let Some(result) = run.object_comparison(operator, left, right)? {
                return Ok(Some(result));
            }
            return Err(undecided());
        }
        Ok(None)
    }

    #[inline]
    fn augment(&self, run: &mut Interpreter, operator: Binary, value: Value) -> Outcome<()> {
        match self {
            Self::Tensor(view) => run.device.augment(view, operator, value),
            _ => Ok(()),
        }
    }

    fn attribute(&self, device: &Device, name: &str) -> Outcome<Option<Member<Self>>> {
        Ok(self.member_of(device, name))
    }

    fn method(
        &self,
        run: &mut Interpreter,
        name: &str,
        arguments: Arguments<Self>,
        _line: u32,
    ) -> Outcome<Value> {
        match self {
            Self::Tensor(view) => {
                let (positional, keywords) = (arguments.positional, arguments.keywords);
                run.device.tensor_method(view, name, positional, keywords)
            }
            Self::Host(array) => host_arrays::method(array, name, &arguments),
            _ => Err(type_error(&format!("there is no method `{name}`"))),
        }
    }

    #[inline]
    fn subscript(run: &mut Interpreter, object: &Value, index: &Value) -> Outcome<Option<Value>> {
        match object {
            Value::Foreign(Self::Tensor(view)) => run.device.subscript(view, index),
            Value::Foreign(Self::Index(inner)) => indexing::expand(inner, index),
            Value::Foreign(Self::Grid(parts)) => match index.as_int() {
                Some(at) => parts
                    .get(wrap(at, parts.len())?)
                    .map(|part| Value::Foreign(Self::Index(part.clone().into())))
                    .ok_or_else(autocomp_python::out_of_range),
                None => Err(type_error(
                    "mgrid is unpacked, or subscripted with a number",
                )),
            },
            Value::Builtin("mgrid") => indexing::grid(index),
            Value::Foreign(Self::Host(array)) => array.item(index),
            Value::Foreign(Self::Partition(_)) => Err(type_error("this value has no items")),
            _ => return Ok(None),
        }
        .map(Some)
    }

    #[inline]
    fn set_item(&self, run: &mut Interpreter, index: &Value, value: Value) -> Outcome<()> {
        match self {
            Self::Tensor(view) => match run.device.subscript(view, index)? {
                Value::Foreign(Self::Tensor(place)) => {
                    run.device.assign(Rc::unwrap_or_clone(place), value)
                }
                other => Err(type_error(&format!(
                    "cannot assign to a {}",
                    other.type_name()
                ))),
            },
            Self::Host(array) => array.set_item(index, &value),
            Self::Index(_) | Self::Grid(_) => Err(Failure::documented(
                "err_cannot_assign_to_index",
                "an index expression cannot be assigned to",
                "build a new expression with + and *",
            )),
            _ => Err(no_items(self)),
        }
    }

    #[inline]
    fn binding<'c>(&self, device: &Device, call: &'c Call<Self>) -> Option<&'c Binding> {
        match self {
            Self::Api(api) => Binding::at(api, device.dialect, call),
            _ => None,
        }
    }

    #[inline]
    fn call_bound(
        run: &mut Interpreter,
        line: u32,
        binding: &Binding,
        arguments: &[Argument<Self>],
        frame: &Rc<Frame<Self>>,
    ) -> Outcome<Value> {
        calls::call_bound(run, line, binding, arguments, frame)
    }

    fn call(&self, run: &mut Interpreter, arguments: Arguments<Self>, line: u32) -> Outcome<Value> {
        match self {
            Self::Api(api) => calls::call(api, run, arguments, line),
            Self::ScalarOf(dtype) | Self::Dtype(dtype) => {
                match arguments.positional.first().and_then(Value::as_number) {
                    Some(number) if dtype.is_integer() => {
                        Ok(Value::Int(dtype.round(number as f32) as i64))
                    }
                    Some(number) => Ok(Value::Float(f64::from(dtype.round(number as f32)))),
                    None => Err(type_error("a NumPy scalar is made from one number")),
                }
            }
            other => Err(type_error(&format!(
                "a {} cannot be called",
                other.type_name()
            ))),
        }
    }

    fn builtin(
        run: &mut Interpreter,
        name: &'static str,
        arguments: Arguments<Self>,
        line: u32,
    ) -> Outcome<Option<Value>> {
        let allocator = |buffer, kind: &str| {
            placement::allocator(buffer, kind, &arguments.positional, &arguments.keywords)
        };
        match name {
            "fori_loop" => ranges::fori_loop(run, arguments, line),
            "while_loop" => ranges::while_loop(run, arguments, line),
            "affine_range" | "sequential_range" | "static_range" | "dynamic_range" => {
                ranges::ranged(&mut run.device, name, arguments)
            }
            "device_print" => Ok(Value::None),
            "mgrid" => Err(type_error("mgrid is subscripted: nl.mgrid[0:128, 0:512]")),
            _ => match name.split_once('.') {
                Some(("sbuf", kind)) => allocator(Buffer::Sbuf, kind),
                Some(("psum", kind)) => allocator(Buffer::Psum, kind),
                _ => return Ok(None),
            },
        }
        .map(Some)
    }

    fn launch(
        run: &mut Interpreter,
        function: &Rc<Closure<Self>>,
        sizes: &[i64],
        arguments: Arguments<Self>,
        line: u32,
    ) -> Outcome<Value> {
        calls::launch(run, function, sizes, arguments, line)
    }

    #[inline]
    fn goes_on(&self, device: &mut Device) -> Outcome<Option<bool>> {
        match self {
            // A register may decide while the kernel runs.
            Self::Register(register) => device.known(register).map(|value| Some(value != 0)),
            _ => Ok(None),
        }
    }

    #[inline]
    fn loop_item(
        device: &mut Device,
        kind: LoopKind,
        item: Value,
        line: u32,
    ) -> (Value, Outcome<()>) {
        match (kind, item) {
            // What the body gets is a number of the device, not of Python.
            (LoopKind::Dynamic, Value::Int(at)) => (computed(Some(at), false), device.branch(line)),
            (_, item) => (item, Ok(())),
        }
    }
}
