//! Running a kernel file on inputs.

use std::rc::Rc;
use std::sync::Arc;

use crate::api::{Architecture, Device, Dialect, Interpreter, Nki, Remark, STEP_WORK, Value};
use crate::cores::{Done, Link, Returned};
use crate::diagnostic::{Failure, FailureKind, Outcome};
use crate::tensor::dtype::Dtype;
use crate::tensor::view::View;
use crate::trace::Trace;

/// An array on the host. Values are those of its type, as single precision; integers beyond 2²⁴
/// lose precision.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Element type.
    pub dtype: Dtype,
    /// Sizes of its dimensions.
    pub shape: Vec<usize>,
    /// Elements in row-major order; empty where only shapes are evaluated.
    pub data: Vec<f32>,
}

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A tensor in main memory.
    Array(Array),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// A string.
    Text(String),
    /// A data type.
    Dtype(Dtype),
    /// Several values, as a list.
    List(Vec<Input>),
    /// Several values, as a tuple.
    Tuple(Vec<Input>),
    /// `None`.
    None,
}

/// How to run a kernel.
#[derive(Clone, Debug)]
pub struct Options {
    /// The dialect that the target takes; found from the imports where it is not given.
    pub dialect: Option<Dialect>,
    /// Generation of the core: 2 for trn1, 3 for trn2, 4 for trn3.
    pub generation: u8,
    /// On how many cores a kernel may be launched: one or two.
    pub cores: usize,
    /// Whether reads of memory that nothing has written are remarks (`unwritten-memory`): a second
    /// look at a kernel whose outputs come of such.
    pub finds_unwritten: bool,
    /// Whether data is computed. Without, shapes and the trace only, which is much faster.
    pub functional: bool,
    /// Most steps of Python.
    pub step_limit: u64,
    /// Most bytes of the simulator's memory for tensors.
    pub byte_limit: u64,
    /// Most instructions and transfers.
    pub instruction_limit: usize,
    /// Most work on data, in units of about a nanosecond of a processor: 1 for each element that an
    /// instruction reads or writes, up to 100 where it is given to a function, an eighth for each
    /// product of the matrix engine, 2,500 for each instruction, 18 for each step of Python.
    pub work_limit: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            dialect: None,
            generation: 2,
            cores: 2,
            finds_unwritten: false,
            functional: true,
            step_limit: 200_000_000,
            byte_limit: 8 << 30,
            instruction_limit: 5_000_000,
            work_limit: 60_000_000_000,
        }
    }
}

/// What a run yields.
#[derive(Debug)]
pub struct Evaluation {
    /// What the kernel returned.
    pub outputs: Vec<Array>,
    /// What the device did.
    pub trace: Trace,
    /// Remarks that did not stop the run.
    pub remarks: Vec<Remark>,
    /// Steps of Python.
    pub steps: u64,
    /// Work done, in the units of [`Options::work_limit`].
    pub work: u64,
    /// The dialect that was run.
    pub dialect: Dialect,
    /// Whether the compiler may rewrite the kernel: it may not where the first dialect's kernel is
    /// marked `skip_middle_end_transformations`.
    pub rewritten: bool,
    /// Elements of the outputs that were never written, or computed from what was not.
    pub unwritten: u64,
    /// What the other cores did, where the kernel runs on several.
    pub other_cores: Vec<Trace>,
    /// Whether what was done depends on values of the inputs, not on their shapes alone.
    pub depends_on_data: bool,
}

impl Evaluation {
    /// What each core did, in their order.
    pub fn traces(&self) -> impl Iterator<Item = &Trace> {
        std::iter::once(&self.trace).chain(&self.other_cores)
    }
}

/// Bytes of stack that a thread which runs kernels needs.
pub const STACK: usize = 256 << 20;

/// Runs the function `entry` of `source` on named inputs, which are passed by position where the
/// function has no parameter of that name.
///
/// Deterministic; bounded by the limits of `options`; never panics on any source.
///
/// # Errors
/// A [`Failure`] with code, line and remedy.
pub fn evaluate(
    source: &str,
    entry: &str,
    inputs: &[(String, Input)],
    options: &Options,
) -> Outcome<Evaluation> {
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, || {
                evaluate_on_this_thread(source, entry, inputs, options)
            });
        let internal = |what: &str| {
            Failure::new(
                FailureKind::Limit,
                "evaluation-failed",
                what.to_owned(),
                "report this kernel; it shows a defect of the evaluation",
            )
        };
        match worker.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(internal("the evaluation panicked")),
            Err(_) => Err(internal("no thread could be started")),
        }
    })
}

/// The same as [`evaluate`] without a thread of its own, for callers with many small kernels: the
/// thread must have [`STACK`] bytes of stack, and a panic, which would be a defect, is the caller's.
///
/// # Errors
/// A [`Failure`] with code, line and remedy.
pub fn evaluate_on_this_thread(
    source: &str,
    entry: &str,
    inputs: &[(String, Input)],
    options: &Options,
) -> Outcome<Evaluation> {
    crate::allocator::keep_memory();
    let mut asked_cores = None;
    let result = run_core(source, entry, inputs, options, None, &mut asked_cores);
    let Some(count) = asked_cores else {
        return result.map(|(evaluation, _)| evaluation);
    };
    // What one evaluation may take, the cores share.
    let mut options = options.clone();
    options.byte_limit /= count as u64;
    options.work_limit /= count as u64;
    crate::cores::run(|link| run_core(source, entry, inputs, &options, Some(link), &mut None))
}

/// Runs the function on one core; notes how many cores it asks for.
fn run_core(
    source: &str,
    entry: &str,
    inputs: &[(String, Input)],
    options: &Options,
    link: Option<Link>,
    asked_cores: &mut Option<usize>,
) -> Outcome<Done> {
    let module = autocomp_python::lower::<Nki>(source)?;
    let written = crate::dialect::Source::of(source);
    let dialect = written.dialect(options.dialect)?;
    let usable = match options.generation {
        2 => 176 << 10,
        3 => 208 << 10,
        _ => 240 << 10,
    };
    let whole_sbuf = usable + crate::timing::COMPILER_SBUF as usize;
    let usable_sbuf = match dialect {
        Dialect::V2 => whole_sbuf,
        Dialect::V1 => usable,
    };
    let architecture = Architecture {
        generation: options.generation,
        usable_sbuf,
        whole_sbuf,
    };
    let mut device = Device::new(
        dialect,
        architecture,
        options.functional,
        options.byte_limit,
    );
    device.finds_unwritten = options.finds_unwritten;
    device.instruction_limit = options.instruction_limit;
    device.work_limit = options.work_limit;
    device.ignores_places = written.is_placed_by_compiler(entry);
    device.link = link;
    device.most_cores = options.cores;
    let mut interpreter = Interpreter::new(
        module,
        device,
        options.step_limit.min(options.work_limit / STEP_WORK),
    );
    let result = drive(&mut interpreter, entry, inputs, options);
    let steps = interpreter.steps();
    *asked_cores = interpreter.device.asked_cores;
    interpreter.finish();
    let (outputs, returned, unwritten) = result?;
    let device = &mut interpreter.device;
    device.trace.tiles = device.tiles.count();
    crate::capacity::check(&device.trace, usable_sbuf as u64)?;
    let evaluation = Evaluation {
        outputs,
        trace: std::mem::take(&mut device.trace),
        remarks: std::mem::take(&mut device.remarks),
        steps,
        work: device.work.get() + STEP_WORK * steps,
        dialect,
        other_cores: Vec::new(),
        depends_on_data: device.depends_on_data,
        rewritten: dialect == Dialect::V1 && !written.is_taken_as_it_is(entry),
        unwritten,
    };
    Ok((evaluation, returned))
}

fn drive(
    interpreter: &mut Interpreter,
    entry: &str,
    inputs: &[(String, Input)],
    options: &Options,
) -> Outcome<(Vec<Array>, Vec<Returned>, u64)> {
    interpreter.load()?;
    let parameters = interpreter.entry_parameters(entry).unwrap_or_default();
    let mut arguments = autocomp_python::Arguments::default();
    for (position, (name, input)) in inputs.iter().enumerate() {
        let value = argument(&mut interpreter.device, name, input, options.functional)?;
        let by_name = parameters.iter().position(|p| **p == **name);
        match by_name {
            Some(at) if at == position && arguments.positional.len() == position => {
                arguments.positional.push(value)
            }
            Some(_) => arguments.keywords.push((name.as_str().into(), value)),
            None if arguments.positional.len() == position && position < parameters.len() => {
                arguments.positional.push(value)
            }
            None => arguments.keywords.push((name.as_str().into(), value)),
        }
    }
    let value = interpreter.call_entry(entry, arguments)?;
    // Outputs are not read by the kernel.
    interpreter.device.finds_unwritten = false;
    let values = value.listed().unwrap_or_else(|| vec![value.clone()]);
    drop(value);
    let (mut outputs, mut returned) = (Vec::new(), Vec::new());
    let mut unwritten = 0;
    for value in &values {
        let Value::Foreign(Nki::Tensor(view)) = value else {
            return Err(Failure::documented(
                "err_tensor_output_not_written_to",
                format!("the kernel returns a {}, not a tensor", value.type_name()),
                "return the tensor, or the tuple of tensors, that hold the results",
            ));
        };
        outputs.push(output(
            &mut interpreter.device,
            view,
            options.functional,
            &mut unwritten,
        )?);
        returned.push(Returned::of(view));
    }
    Ok((outputs, returned, unwritten))
}

fn output(
    device: &mut Device,
    view: &Rc<View>,
    functional: bool,
    unwritten: &mut u64,
) -> Outcome<Array> {
    if view.buffer().on_chip() {
        return Err(Failure::documented(
            "err_unsupported_memory",
            format!("the kernel returns a tensor in {}", view.buffer().name()),
            "store it to a tensor made with buffer=nl.shared_hbm and return that",
        ));
    }
    let is_private = view.storage.sharing.get().is_none() && !view.storage.immutable;
    if device.link.is_some() && is_private {
        return Err(Failure::documented(
            "err_unsupported_memory",
            "a kernel of two cores returns a tensor in hbm, of which each core has its own",
            "make it with buffer=nl.shared_hbm",
        )
        .at(view.storage.line));
    }
    if view.storage.immutable {
        return Err(Failure::documented(
            "err_mutable_parameter_not_returned",
            "the kernel returns one of its inputs",
            "return a tensor of its own",
        ));
    }
    if !view.storage.written.get() {
        return Err(Failure::documented(
            "err_tensor_output_not_written_to",
            format!(
                "the output made at line {} is never written",
                view.storage.line
            ),
            "store the result to it",
        ));
    }
    let tensors = Arc::make_mut(&mut device.trace.tensors);
    if let Some(tensor) = tensors.get_mut(view.storage.id as usize) {
        tensor.output = true;
    }
    let data = if functional {
        device.values(view)?
    } else {
        Vec::new()
    };
    *unwritten += data
        .iter()
        .filter(|v| v.to_bits() & 0x7FFF_FFFF == crate::tensor::dtype::POISON)
        .count() as u64;
    Ok(Array {
        dtype: view.dtype,
        shape: view.shape().to_vec(),
        data,
    })
}

fn argument(device: &mut Device, name: &str, input: &Input, functional: bool) -> Outcome<Value> {
    Ok(match input {
        Input::Int(value) => Value::Int(*value),
        Input::Float(value) => Value::Float(*value),
        Input::Bool(value) => Value::Bool(*value),
        Input::Text(text) => Value::str(text),
        Input::Dtype(dtype) => Value::Foreign(Nki::Dtype(*dtype)),
        Input::None => Value::None,
        Input::List(items) | Input::Tuple(items) => {
            let mut values = Vec::new();
            for item in items {
                values.push(argument(device, name, item, functional)?);
            }
            if matches!(input, Input::Tuple(_)) {
                Value::tuple(values)
            } else {
                Value::list(values)
            }
        }
        Input::Array(array) => {
            let count = array
                .shape
                .iter()
                .try_fold(1usize, |a, b| a.checked_mul(*b));
            if functional && count != Some(array.data.len()) {
                return Err(Failure::new(
                    FailureKind::Input,
                    "input-shape",
                    format!(
                        "the input `{name}` of shape {:?} has {} elements",
                        array.shape,
                        array.data.len()
                    ),
                    "give as many elements as the shape has",
                ));
            }
            let view = device.input(array.dtype, array.shape.clone(), name, &array.data)?;
            Value::Foreign(Nki::Tensor(Rc::new(view)))
        }
    })
}

/// Reads the inputs of a calibration file: `a:bf16[512,4096];g:f32[4096];eps=1e-6`. Arrays are
/// filled with numbers that depend on `seed` only, uniform in `[-1, 1)`; without data when `seed`
/// is `None`.
///
/// # Errors
/// `input-syntax` for what does not have that form.
pub fn parse_inputs(text: &str, seed: Option<u64>) -> Outcome<Vec<(String, Input)>> {
    let bad = |part: &str| {
        Failure::new(
            FailureKind::Input,
            "input-syntax",
            format!("`{part}` is no input"),
            "write name:dtype[sizes] or name=value, separated by semicolons",
        )
    };
    let mut inputs = Vec::new();
    let mut state = seed.unwrap_or(0).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x2545_F491_4F6C_DD1D;
    for part in text.split(';').map(str::trim).filter(|p| !p.is_empty()) {
        if let Some((name, value)) = part.split_once('=') {
            inputs.push((
                name.trim().to_owned(),
                literal(value.trim()).ok_or_else(|| bad(part))?,
            ));
            continue;
        }
        let (name, rest) = part.split_once(':').ok_or_else(|| bad(part))?;
        let (dtype, shape) = rest.split_once('[').ok_or_else(|| bad(part))?;
        let dtype = Dtype::parse(dtype.trim()).ok_or_else(|| bad(part))?;
        let shape = shape.trim().strip_suffix(']').ok_or_else(|| bad(part))?;
        let shape: Vec<usize> = shape
            .split(',')
            .map(|s| s.trim().parse().ok())
            .collect::<Option<_>>()
            .ok_or_else(|| bad(part))?;
        let count = shape
            .iter()
            .try_fold(1usize, |a, b| a.checked_mul(*b))
            .filter(|n| *n <= 1 << 33)
            .ok_or_else(|| bad(part))?;
        let mut data = Vec::new();
        if seed.is_some() {
            data.reserve(count);
            for _ in 0..count {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                let unit = (state >> 40) as f32 / (1u64 << 24) as f32;
                data.push(dtype.round(if dtype.is_integer() {
                    (unit * 2.0).floor()
                } else {
                    unit * 2.0 - 1.0
                }));
            }
        }
        inputs.push((
            name.trim().to_owned(),
            Input::Array(Array { dtype, shape, data }),
        ));
    }
    Ok(inputs)
}

fn literal(text: &str) -> Option<Input> {
    let tuple = text.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
    if let Some(inner) = tuple.or_else(|| text.strip_prefix('[').and_then(|t| t.strip_suffix(']')))
    {
        let mut items = Vec::new();
        let mut depth = 0;
        let mut start = 0;
        for (at, character) in inner.char_indices() {
            match character {
                '(' | '[' => depth += 1,
                ')' | ']' => depth -= 1,
                ',' if depth == 0 => {
                    items.push(literal(inner[start..at].trim())?);
                    start = at + 1;
                }
                _ => {}
            }
        }
        if !inner[start..].trim().is_empty() {
            items.push(literal(inner[start..].trim())?);
        }
        return Some(if tuple.is_some() {
            Input::Tuple(items)
        } else {
            Input::List(items)
        });
    }
    Some(match text {
        "True" | "true" => Input::Bool(true),
        "False" | "false" => Input::Bool(false),
        "None" => Input::None,
        _ => {
            if let Ok(value) = text.parse::<i64>() {
                Input::Int(value)
            } else if let Ok(value) = text.parse::<f64>() {
                Input::Float(value)
            } else if let Some(dtype) = Dtype::parse(text) {
                Input::Dtype(dtype)
            } else {
                Input::Text(text.trim_matches(|c| c == '\'' || c == '"').to_owned())
            }
        }
    })
}

/// Reads a kernel file as for a run, without running it.
///
/// # Errors
/// What the interpreter would refuse to begin with, such as another syntax or too deep a nesting.
pub fn check_source(source: &str) -> Outcome<()> {
    autocomp_python::lower::<Nki>(source).map(|_| ())
}

/// Returns whether `source` is Python, as far as its syntax goes.
pub fn is_python(source: &str) -> bool {
    let parse = || match autocomp_python::lower::<Nki>(source) {
        Ok(_) => true,
        Err(failure) => failure.kind != FailureKind::Syntax,
    };
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, parse);
        worker.is_ok_and(|worker| worker.join().unwrap_or(false))
    })
}
