//! Built-in functions, and functions of NumPy and `math` on plain numbers.

use std::rc::Rc;

use super::calls::Arguments;
use super::interpreter::{Interpreter, type_error};
use super::subscripts::range_length;
use super::value::{Dict, HostArray, Items, LoopKind, Value};
use crate::api::Api;
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::dtype::Dtype;
use crate::tensor::storage::Buffer;

impl Interpreter {
    pub(super) fn builtin(
        &mut self,
        name: &'static str,
        arguments: Arguments,
        line: u32,
    ) -> Outcome<Value> {
        let Arguments {
            positional,
            keywords,
        } = arguments;
        let count = positional.len();
        let wrong = || {
            type_error(&format!(
                "`{name}` cannot be called with {count} arguments like these"
            ))
        };
        let first = positional.first();
        let second = positional.get(1);
        let integer = |at: usize| positional.get(at).and_then(Value::as_int).ok_or_else(wrong);
        Ok(match name {
            "range" | "affine_range" | "sequential_range" | "static_range" => {
                let kind = match name {
                    "range" => LoopKind::Python,
                    "affine_range" => LoopKind::Affine,
                    "sequential_range" => LoopKind::Sequential,
                    _ => LoopKind::Static,
                };
                let (start, stop, step) = match count {
                    1 => (0, integer(0)?, 1),
                    2 => (integer(0)?, integer(1)?, 1),
                    3 => (integer(0)?, integer(1)?, integer(2)?),
                    _ => return Err(wrong()),
                };
                if step == 0 {
                    return Err(Failure::python(
                        "value-error",
                        "a range has step 0",
                        "use another step",
                    ));
                }
                Value::Range(start, stop, step, kind)
            }
            "len" => Value::Int(match first.ok_or_else(wrong)? {
                Value::List(list) => list.borrow().0.len() as i64,
                Value::Tuple(items) => items.0.len() as i64,
                Value::Dict(dict) | Value::Set(dict) => dict.borrow().entries.len() as i64,
                Value::Str(text) => text.chars().count() as i64,
                Value::Range(start, stop, step, _) => range_length(*start, *stop, *step).max(0),
                Value::Tensor(view) => view.dimensions.first().map_or(0, |d| d.size as i64),
                _ => return Err(wrong()),
            }),
            "int" => match first {
                Some(Value::Str(text)) => text.trim().parse().map(Value::Int).map_err(|_| {
                    Failure::python(
                        "value-error",
                        "the string is no whole number",
                        "pass digits",
                    )
                })?,
                Some(value) => match value.as_int() {
                    Some(value) => Value::Int(value),
                    None => {
                        let number = value.as_number().ok_or_else(wrong)?;
                        if !number.is_finite() || number.abs() > 9e18 {
                            return Err(Failure::python(
                                "overflow-error",
                                "the number does not fit 64 bits",
                                "check the number",
                            ));
                        }
                        Value::Int(number as i64)
                    }
                },
                None => Value::Int(0),
            },
            "float" => match first {
                Some(Value::Str(text)) => match text.trim() {
                    "inf" | "infinity" => Value::Float(f64::INFINITY),
                    "-inf" => Value::Float(f64::NEG_INFINITY),
                    "nan" => Value::Float(f64::NAN),
                    other => other.parse().map(Value::Float).map_err(|_| wrong())?,
                },
                Some(value) => Value::Float(value.as_number().ok_or_else(wrong)?),
                None => Value::Float(0.0),
            },
            "bool" => match first {
                Some(value) => Value::Bool(self.truth(value)?),
                None => Value::Bool(false),
            },
            "str" => match first {
                Some(value) => Value::str(&self.text(value, line)?),
                None => Value::str(""),
            },
            "repr" => Value::str(&self.repr(first.ok_or_else(wrong)?, line)?),
            "abs" => match first.ok_or_else(wrong)? {
                Value::Float(value) => Value::Float(value.abs()),
                Value::Tensor(_) => return Err(type_error("use nl.abs for tensors")),
                value => Value::Int(
                    value
                        .as_int()
                        .and_then(i64::checked_abs)
                        .ok_or_else(wrong)?,
                ),
            },
            "round" => {
                let number = first.and_then(Value::as_number).ok_or_else(wrong)?;
                match second {
                    None => Value::Int(number.round_ties_even() as i64),
                    Some(digits) => {
                        let digits = digits.as_int().ok_or_else(wrong)?.clamp(-300, 300) as i32;
                        let scale = 10f64.powi(digits);
                        Value::Float((number * scale).round_ties_even() / scale)
                    }
                }
            }
            "divmod" => {
                let pair = [
                    super::tree::Binary::FloorDivide,
                    super::tree::Binary::Modulo,
                ];
                let mut parts = Vec::new();
                for operator in pair {
                    let (a, b) = (
                        first.cloned().ok_or_else(wrong)?,
                        second.cloned().ok_or_else(wrong)?,
                    );
                    parts.push(self.binary(operator, a, b, line)?);
                }
                Value::tuple(parts)
            }
            "pow" => {
                let (a, b) = (
                    first.cloned().ok_or_else(wrong)?,
                    second.cloned().ok_or_else(wrong)?,
                );
                self.binary(super::tree::Binary::Power, a, b, line)?
            }
            "min" | "max" => {
                let items = if count == 1 {
                    self.iterate(first.ok_or_else(wrong)?, line)?
                } else {
                    positional.clone()
                };
                self.steps += items.len() as u64;
                let mut best: Option<Value> = None;
                for item in items {
                    let better = match &best {
                        None => true,
                        Some(best) if name == "min" => self.less(&item, best)?,
                        Some(best) => self.less(best, &item)?,
                    };
                    if better {
                        best = Some(item);
                    }
                }
                best.or_else(|| {
                    keywords
                        .into_iter()
                        .find(|(k, _)| &**k == "default")
                        .map(|(_, v)| v)
                })
                .ok_or_else(|| {
                    Failure::python(
                        "value-error",
                        format!("{name} of nothing"),
                        "pass at least one value",
                    )
                })?
            }
            "sum" => {
                let mut total = second.cloned().unwrap_or(Value::Int(0));
                for item in self.iterate(first.ok_or_else(wrong)?, line)? {
                    self.step(line)?;
                    total = self.add(total, item, line)?;
                }
                total
            }
            "any" | "all" => {
                let mut result = name == "all";
                for item in self.iterate(first.ok_or_else(wrong)?, line)? {
                    if self.truth(&item)? != (name == "all") {
                        result = name != "all";
                        break;
                    }
                }
                Value::Bool(result)
            }
            "tuple" => match first {
                Some(value) => Value::tuple(self.iterate(value, line)?),
                None => Value::tuple(Vec::new()),
            },
            "list" => match first {
                Some(value) => {
                    let items = self.iterate(value, line)?;
                    self.reserve(items.len() as u64, line)?;
                    Value::list(items)
                }
                None => Value::list(Vec::new()),
            },
            "set" => {
                let items = match first {
                    Some(value) => self.iterate(value, line)?,
                    None => Vec::new(),
                };
                self.make_set(items)?
            }
            "dict" => {
                let mut dict = Dict::default();
                if let Some(value) = first {
                    let pairs = match value {
                        Value::Dict(other) => other.borrow().entries.clone(),
                        other => {
                            let mut pairs = Vec::new();
                            for item in self.iterate(other, line)? {
                                let pair = self.iterate(&item, line)?;
                                match <[Value; 2]>::try_from(pair) {
                                    Ok([key, value]) => pairs.push((key, value)),
                                    Err(_) => return Err(wrong()),
                                }
                            }
                            pairs
                        }
                    };
                    for (key, value) in pairs {
                        dict.insert(super::interpreter::hashable(&key)?, key, value);
                    }
                }
                for (key, value) in keywords {
                    let name = Value::Str(key);
                    dict.insert(super::interpreter::hashable(&name)?, name, value);
                }
                self.reserve(dict.entries.len() as u64, line)?;
                Value::Dict(Rc::new(std::cell::RefCell::new(dict)))
            }
            "slice" => {
                let mut parts = positional.clone();
                match count {
                    1 => parts = vec![Value::None, parts.remove(0), Value::None],
                    2 => parts.push(Value::None),
                    3 => {}
                    _ => return Err(wrong()),
                }
                Value::Slice(Rc::new(Items(parts)))
            }
            "enumerate" => {
                let start = second
                    .or(keywords
                        .iter()
                        .find(|(k, _)| &**k == "start")
                        .map(|(_, v)| v))
                    .map_or(Some(0), Value::as_int)
                    .ok_or_else(wrong)?;
                let items = self.iterate(first.ok_or_else(wrong)?, line)?;
                self.reserve(2 * items.len() as u64, line)?;
                Value::list(
                    items
                        .into_iter()
                        .enumerate()
                        .map(|(i, v)| {
                            Value::tuple(vec![Value::Int(start.saturating_add(i as i64)), v])
                        })
                        .collect(),
                )
            }
            "zip" => {
                let mut columns = Vec::new();
                for value in &positional {
                    columns.push(self.iterate(value, line)?);
                }
                let rows = columns.iter().map(Vec::len).min().unwrap_or(0);
                self.reserve((rows * count) as u64, line)?;
                Value::list(
                    (0..rows)
                        .map(|row| Value::tuple(columns.iter().map(|c| c[row].clone()).collect()))
                        .collect(),
                )
            }
            "map" | "filter" => {
                let function = first.ok_or_else(wrong)?.clone();
                let mut columns = Vec::new();
                for value in &positional[1..] {
                    columns.push(self.iterate(value, line)?);
                }
                let rows = columns.iter().map(Vec::len).min().unwrap_or(0);
                self.reserve(rows as u64, line)?;
                let mut items = Vec::new();
                for row in 0..rows {
                    self.step(line)?;
                    let arguments: Vec<Value> = columns.iter().map(|c| c[row].clone()).collect();
                    let item = arguments[0].clone();
                    if name == "filter" && matches!(function, Value::None) {
                        if self.truth(&item)? {
                            items.push(item);
                        }
                        continue;
                    }
                    let result = self.call(
                        &function,
                        Arguments {
                            positional: arguments,
                            keywords: Vec::new(),
                        },
                        line,
                    )?;
                    if name == "map" {
                        items.push(result);
                    } else if self.truth(&result)? {
                        items.push(item);
                    }
                }
                Value::list(items)
            }
            "reduce" => {
                let function = first.ok_or_else(wrong)?.clone();
                let items = self.iterate(second.ok_or_else(wrong)?, line)?;
                let mut items = items.into_iter();
                let mut total = match positional.get(2) {
                    Some(value) => value.clone(),
                    None => items.next().ok_or_else(wrong)?,
                };
                for item in items {
                    self.step(line)?;
                    total = self.call(
                        &function,
                        Arguments {
                            positional: vec![total, item],
                            keywords: Vec::new(),
                        },
                        line,
                    )?;
                }
                total
            }
            "mul" | "operator_add" => {
                let operator = if name == "mul" {
                    super::tree::Binary::Multiply
                } else {
                    super::tree::Binary::Add
                };
                let (a, b) = (
                    first.cloned().ok_or_else(wrong)?,
                    second.cloned().ok_or_else(wrong)?,
                );
                self.binary(operator, a, b, line)?
            }
            "reversed" => {
                let mut items = self.iterate(first.ok_or_else(wrong)?, line)?;
                items.reverse();
                Value::list(items)
            }
            "sorted" => Value::list(self.sorted(first.ok_or_else(wrong)?, &keywords, line)?),
            "isinstance" => {
                let kinds = match second.ok_or_else(wrong)? {
                    Value::Tuple(items) => items.0.clone(),
                    other => vec![other.clone()],
                };
                let own = first.ok_or_else(wrong)?.type_name();
                Value::Bool(kinds.iter().any(|kind| match kind {
                    Value::Type(name) => *name == own || (*name == "int" && own == "bool"),
                    _ => false,
                }))
            }
            "type" => Value::Type(first.ok_or_else(wrong)?.type_name()),
            "callable" => Value::Bool(first.is_some_and(|v| v.type_name() == "function")),
            "hasattr" | "getattr" => {
                let (Some(object), Some(Value::Str(attribute))) = (first, second) else {
                    return Err(wrong());
                };
                if attribute.starts_with("__") {
                    return Err(Failure::unsupported(
                        "unsupported-python",
                        format!("the name `{attribute}` is not available in kernels"),
                        "use the interfaces of NKI",
                    ));
                }
                match (self.attribute(object, attribute), name, positional.get(2)) {
                    (result, "hasattr", _) => Value::Bool(result.is_ok()),
                    (Ok(value), ..) => value,
                    (Err(_), _, Some(default)) => default.clone(),
                    (Err(failure), _, None) => return Err(failure),
                }
            }
            "allocate_sbuf" | "allocate_psum" => {
                self.device.remark(
                    "direct-allocation",
                    "addresses of direct allocation are not modelled: tensors are placed as if the compiler did it",
                );
                Value::Buffer(match name {
                    "allocate_sbuf" => Buffer::Sbuf,
                    _ => Buffer::Psum,
                })
            }
            "print" | "device_print" => Value::None,
            "mgrid" => return Err(type_error("mgrid is subscripted: nl.mgrid[0:128, 0:512]")),
            _ => {
                return Err(Failure::unsupported(
                    "unsupported-python",
                    format!("the built-in `{name}` is not available in kernels"),
                    "use loops, lists and the interfaces of NKI",
                ));
            }
        })
    }

    pub(super) fn sorted(
        &mut self,
        value: &Value,
        keywords: &[(Rc<str>, Value)],
        line: u32,
    ) -> Outcome<Vec<Value>> {
        let items = self.iterate(value, line)?;
        let mut keyed = Vec::with_capacity(items.len());
        let key = keywords
            .iter()
            .find(|(name, _)| &**name == "key")
            .map(|(_, v)| v.clone());
        for item in items {
            let rank = match &key {
                Some(key) if !matches!(key, Value::None) => self.call(
                    key,
                    Arguments {
                        positional: vec![item.clone()],
                        keywords: Vec::new(),
                    },
                    line,
                )?,
                _ => item.clone(),
            };
            keyed.push((rank, item));
        }
        // Merge sort, so that comparisons may fail.
        let mut width = 1;
        while width < keyed.len() {
            let mut merged = Vec::with_capacity(keyed.len());
            for chunk in keyed.chunks(2 * width) {
                let (left, right) = chunk.split_at(width.min(chunk.len()));
                let (mut i, mut j) = (0, 0);
                while i < left.len() || j < right.len() {
                    self.step(line)?;
                    let take_right = i >= left.len()
                        || (j < right.len() && self.less(&right[j].0, &left[i].0)?);
                    if take_right {
                        merged.push(right[j].clone());
                        j += 1;
                    } else {
                        merged.push(left[i].clone());
                        i += 1;
                    }
                }
            }
            keyed = merged;
            width *= 2;
        }
        let mut items: Vec<Value> = keyed.into_iter().map(|(_, item)| item).collect();
        if let Some((_, reverse)) = keywords.iter().find(|(name, _)| &**name == "reverse")
            && self.truth(reverse)?
        {
            items.reverse();
        }
        Ok(items)
    }

    /// Functions of NumPy and `math` called with plain numbers and lists. `None` where a tensor
    /// is among the arguments, or the interface is one of the device.
    pub(super) fn host_call(
        &mut self,
        api: &'static Api,
        arguments: &Arguments,
    ) -> Outcome<Option<Value>> {
        let host = matches!(api.module, "np" | "math");
        let tensors = arguments
            .positional
            .iter()
            .chain(arguments.keywords.iter().map(|(_, v)| v))
            .any(|v| matches!(v, Value::Tensor(_)));
        if !host {
            return Ok(None);
        }
        if tensors {
            return Err(Failure::unsupported(
                "numpy-on-tensor",
                format!(
                    "{} cannot be called on a tensor of the device",
                    api.full_name()
                ),
                format!(
                    "use nl.{} or an instruction of nisa; NumPy's functions serve as op= only",
                    api.name
                ),
            ));
        }
        let number = |at: usize| arguments.positional.get(at).and_then(Value::as_number);
        let wrong = || type_error(&format!("{} cannot be called like this", api.full_name()));
        let keyword = |name: &str| {
            arguments
                .keywords
                .iter()
                .find(|(k, _)| &**k == name)
                .map(|(_, v)| v)
        };
        let unary: Option<fn(f64) -> f64> = match api.name {
            "sqrt" => Some(f64::sqrt),
            "exp" => Some(f64::exp),
            "log" => Some(f64::ln),
            "log2" => Some(f64::log2),
            "sin" => Some(f64::sin),
            "cos" => Some(f64::cos),
            "tanh" => Some(f64::tanh),
            "abs" | "fabs" => Some(f64::abs),
            "square" => Some(|x| x * x),
            _ => None,
        };
        if let (Some(f), Some(x)) = (unary, number(0)) {
            if api.name == "log" && number(1).is_some() {
                return Ok(Some(Value::Float(
                    x.ln() / number(1).unwrap_or(f64::NAN).ln(),
                )));
            }
            if api.module == "math" && !f(x).is_finite() && x.is_finite() {
                return Err(Failure::python(
                    "value-error",
                    "math domain error",
                    "check the argument",
                ));
            }
            return Ok(Some(Value::Float(f(x))));
        }
        let whole = |value: f64| {
            if value.abs() < 9e18 {
                Ok(Value::Int(value as i64))
            } else {
                Err(wrong())
            }
        };
        let result = match (api.name, number(0), number(1)) {
            ("ceil", Some(x), _) if api.module == "math" => whole(x.ceil())?,
            ("floor", Some(x), _) if api.module == "math" => whole(x.floor())?,
            ("trunc", Some(x), _) => whole(x.trunc())?,
            ("ceil", Some(x), _) => Value::Float(x.ceil()),
            ("floor", Some(x), _) => Value::Float(x.floor()),
            ("pow" | "power", Some(x), Some(y)) => Value::Float(x.powf(y)),
            ("add", Some(x), Some(y)) => Value::Float(x + y),
            ("subtract", Some(x), Some(y)) => Value::Float(x - y),
            ("multiply", Some(x), Some(y)) => Value::Float(x * y),
            ("divide", Some(x), Some(y)) => Value::Float(x / y),
            ("maximum", Some(x), Some(y)) => Value::Float(x.max(y)),
            ("minimum", Some(x), Some(y)) => Value::Float(x.min(y)),
            ("gcd", Some(x), Some(y)) => {
                let (mut a, mut b) = ((x as i64).unsigned_abs(), (y as i64).unsigned_abs());
                while b != 0 {
                    (a, b) = (b, a % b);
                }
                whole(a as f64)?
            }
            ("isclose", Some(x), Some(y)) => {
                Value::Bool((x - y).abs() <= 1e-9 * x.abs().max(y.abs()))
            }
            ("log10", Some(x), _) => Value::Float(x.log10()),
            ("prod" | "sum" | "max" | "min", ..) => {
                let items = self.iterate(arguments.positional.first().ok_or_else(wrong)?, 0)?;
                let mut whole_numbers = true;
                let mut total: Option<f64> = None;
                let mut exact: Option<i64> = Some(if api.name == "prod" { 1 } else { 0 });
                for item in &items {
                    let value = item.as_number().ok_or_else(wrong)?;
                    whole_numbers &= item.as_int().is_some();
                    let int = item.as_int().unwrap_or(0);
                    exact = exact.and_then(|e| {
                        if api.name == "prod" {
                            e.checked_mul(int)
                        } else {
                            e.checked_add(int)
                        }
                    });
                    total = Some(match (api.name, total) {
                        (_, None) => value,
                        ("prod", Some(t)) => t * value,
                        ("sum", Some(t)) => t + value,
                        ("max", Some(t)) => t.max(value),
                        (_, Some(t)) => t.min(value),
                    });
                }
                let total = total.unwrap_or(if api.name == "prod" { 1.0 } else { 0.0 });
                if whole_numbers && matches!(api.name, "prod" | "sum") {
                    Value::Int(exact.ok_or_else(wrong)?)
                } else if whole_numbers {
                    Value::Int(total as i64)
                } else {
                    Value::Float(total)
                }
            }
            (
                "identity" | "eye" | "zeros" | "ones" | "full" | "array" | "arange" | "tril"
                | "triu",
                ..,
            ) => {
                return self
                    .host_array(api.name, arguments, keyword("dtype"))
                    .map(Some);
            }
            ("dtype", ..) => match arguments.positional.first() {
                Some(value) => Value::Dtype(crate::api::dtype_of(value).ok_or_else(wrong)?),
                None => return Err(wrong()),
            },
            _ => return Err(wrong()),
        };
        Ok(Some(result))
    }

    fn host_array(
        &mut self,
        name: &str,
        arguments: &Arguments,
        dtype: Option<&Value>,
    ) -> Outcome<Value> {
        let wrong = || {
            Failure::unsupported(
                "unsupported-numpy",
                format!("np.{name} cannot be called like this in a kernel"),
                "constants are made with np.identity, zeros, ones, full, arange or array of numbers",
            )
        };
        let argument = |at: usize| arguments.positional.get(at);
        let position = match name {
            "full" => 2,
            _ => 1,
        };
        let named = dtype.or_else(|| argument(position).filter(|v| matches!(v, Value::Dtype(_))));
        let dtype = match named {
            Some(value) => crate::api::dtype_of(value).ok_or_else(wrong)?,
            None => Dtype::Float32,
        };
        let size = |at: usize| {
            argument(at)
                .and_then(Value::as_int)
                .and_then(|n| usize::try_from(n).ok())
        };
        let (shape, data): (Vec<usize>, Vec<f32>) = match name {
            "identity" | "eye" => {
                let n = size(0).filter(|n| *n <= 4096).ok_or_else(wrong)?;
                self.reserve((n * n) as u64, 0)?;
                (
                    vec![n, n],
                    (0..n * n)
                        .map(|i| if i / n == i % n { 1.0 } else { 0.0 })
                        .collect(),
                )
            }
            "zeros" | "ones" | "full" => {
                let shape = match argument(0).ok_or_else(wrong)? {
                    value if value.as_int().is_some() => vec![size(0).ok_or_else(wrong)?],
                    value => {
                        let items = self.iterate(value, 0)?;
                        items
                            .iter()
                            .map(|v| v.as_int().and_then(|n| usize::try_from(n).ok()))
                            .collect::<Option<_>>()
                            .ok_or_else(wrong)?
                    }
                };
                let count = shape
                    .iter()
                    .try_fold(1usize, |a, b| a.checked_mul(*b))
                    .ok_or_else(wrong)?;
                self.reserve(count as u64, 0)?;
                let value = match name {
                    "zeros" => 0.0,
                    "ones" => 1.0,
                    _ => argument(1).and_then(Value::as_number).ok_or_else(wrong)? as f32,
                };
                (shape, vec![value; count])
            }
            "arange" => {
                let (start, stop) = match (size(0), size(1)) {
                    (Some(stop), None) => (0, stop),
                    (Some(start), Some(stop)) => (start, stop),
                    _ => return Err(wrong()),
                };
                let count = stop.saturating_sub(start);
                self.reserve(count as u64, 0)?;
                (vec![count], (start..stop).map(|v| v as f32).collect())
            }
            "tril" | "triu" => {
                let Some(Value::Host(array)) = argument(0) else {
                    return Err(wrong());
                };
                let &[rows, columns] = &array.shape[..] else {
                    return Err(wrong());
                };
                let mut data = array.data.clone();
                for i in 0..rows {
                    for j in 0..columns {
                        if (name == "tril" && j > i) || (name == "triu" && j < i) {
                            data[i * columns + j] = 0.0;
                        }
                    }
                }
                (array.shape.clone(), data)
            }
            _ => {
                let items = self.iterate(argument(0).ok_or_else(wrong)?, 0)?;
                let mut rows = Vec::new();
                let mut columns = None;
                for item in &items {
                    match item.as_number() {
                        Some(value) => rows.push(value as f32),
                        None => {
                            let inner = self.iterate(item, 0)?;
                            if columns.is_some_and(|c| c != inner.len()) {
                                return Err(wrong());
                            }
                            columns = Some(inner.len());
                            for value in &inner {
                                rows.push(value.as_number().ok_or_else(wrong)? as f32);
                            }
                        }
                    }
                }
                self.reserve(rows.len() as u64, 0)?;
                let shape = match columns {
                    Some(columns) if columns * items.len() == rows.len() => {
                        vec![items.len(), columns]
                    }
                    Some(_) => return Err(wrong()),
                    None => vec![rows.len()],
                };
                (shape, rows)
            }
        };
        let data = data.into_iter().map(|v| dtype.round(v)).collect();
        Ok(Value::Host(Rc::new(HostArray { shape, dtype, data })))
    }
}

pub(super) fn host_method(
    array: &Rc<HostArray>,
    name: &str,
    arguments: &Arguments,
) -> Outcome<Value> {
    let wrong = || type_error("arrays of the host have astype and reshape only");
    let first = arguments.positional.first().ok_or_else(wrong)?;
    match name {
        "astype" => {
            let dtype = crate::api::dtype_of(first).ok_or_else(wrong)?;
            let data = array.data.iter().map(|v| dtype.round(*v)).collect();
            Ok(Value::Host(Rc::new(HostArray {
                shape: array.shape.clone(),
                dtype,
                data,
            })))
        }
        "reshape" => {
            let sizes: Vec<Value> = match first {
                Value::Tuple(items) => items.0.clone(),
                Value::List(list) => list.borrow().0.clone(),
                _ => arguments.positional.clone(),
            };
            let shape: Vec<usize> = sizes
                .iter()
                .map(|v| v.as_int().and_then(|n| usize::try_from(n).ok()))
                .collect::<Option<_>>()
                .ok_or_else(wrong)?;
            let count = shape.iter().try_fold(1usize, |a, b| a.checked_mul(*b));
            if count != Some(array.data.len()) {
                return Err(wrong());
            }
            Ok(Value::Host(Rc::new(HostArray {
                shape,
                dtype: array.dtype,
                data: array.data.clone(),
            })))
        }
        _ => Err(wrong()),
    }
}
