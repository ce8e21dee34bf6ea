//! Functions of NumPy and `math` on plain numbers and lists, and small arrays of the host.

use std::cell::RefCell;
use std::rc::Rc;

use autocomp_python::{Arguments, type_error, wrap};

use super::{Api, Interpreter, Nki, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::dtype::Dtype;

/// Array on the host (for `shared_constant`).
pub(crate) struct HostArray {
    pub(crate) shape: Vec<usize>,
    pub(crate) dtype: Dtype,
    /// Shared with those that were reshaped from it.
    pub(crate) data: Rc<RefCell<Vec<f32>>>,
}

/// Functions of NumPy and `math` called with plain numbers and lists. `None` where a tensor
/// is among the arguments, or the interface is one of the device.
pub(super) fn call(
    run: &mut Interpreter,
    api: &'static Api,
    arguments: &Arguments<Nki>,
) -> Outcome<Option<Value>> {
    if !api.is_of_host() {
        return Ok(None);
    }
    let tensors = arguments
        .positional
        .iter()
        .chain(arguments.keywords.iter().map(|(_, v)| v))
        .any(|v| matches!(v, Value::Foreign(Nki::Tensor(_))));
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
        ("isclose", Some(x), Some(y)) => Value::Bool((x - y).abs() <= 1e-9 * x.abs().max(y.abs())),
        ("log10", Some(x), _) => Value::Float(x.log10()),
        ("prod" | "sum" | "max" | "min", ..) => {
            let items = run.iterate(arguments.positional.first().ok_or_else(wrong)?, 0)?;
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
            "identity" | "eye" | "zeros" | "ones" | "full" | "array" | "arange" | "tril" | "triu",
            ..,
        ) => {
            return made(run, api.name, arguments, keyword("dtype")).map(Some);
        }
        ("dtype", ..) => match arguments.positional.first() {
            Some(value) => Value::Foreign(Nki::Dtype(super::dtype_of(value).ok_or_else(wrong)?)),
            None => return Err(wrong()),
        },
        _ => return Err(wrong()),
    };
    Ok(Some(result))
}

/// A new array.
fn made(
    run: &mut Interpreter,
    name: &str,
    arguments: &Arguments<Nki>,
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
    let named =
        dtype.or_else(|| argument(position).filter(|v| matches!(v, Value::Foreign(Nki::Dtype(_)))));
    let dtype = match named {
        Some(value) => super::dtype_of(value).ok_or_else(wrong)?,
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
            run.reserve((n * n) as u64, 0)?;
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
                    let items = run.iterate(value, 0)?;
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
            run.reserve(count as u64, 0)?;
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
            run.reserve(count as u64, 0)?;
            (vec![count], (start..stop).map(|v| v as f32).collect())
        }
        "tril" | "triu" => {
            let Some(Value::Foreign(Nki::Host(array))) = argument(0) else {
                return Err(wrong());
            };
            let &[rows, columns] = &array.shape[..] else {
                return Err(wrong());
            };
            let mut data = array.data.borrow().clone();
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
            let items = run.iterate(argument(0).ok_or_else(wrong)?, 0)?;
            let mut rows = Vec::new();
            let mut columns = None;
            for item in &items {
                match item.as_number() {
                    Some(value) => rows.push(value as f32),
                    None => {
                        let inner = run.iterate(item, 0)?;
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
            run.reserve(rows.len() as u64, 0)?;
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
    Ok(host_value(shape, dtype, data))
}

fn host_value(shape: Vec<usize>, dtype: Dtype, data: Vec<f32>) -> Value {
    let data = Rc::new(RefCell::new(data));
    Value::Foreign(Nki::Host(Rc::new(HostArray { shape, dtype, data })))
}

impl HostArray {
    /// Where one element lies, by a number for each dimension.
    fn place(&self, index: &Value) -> Outcome<usize> {
        let numbers: Option<Vec<i64>> = match index {
            Value::Tuple(items) => items.0.iter().map(Value::as_int).collect(),
            one => one.as_int().map(|number| vec![number]),
        };
        let numbers = numbers.filter(|numbers| numbers.len() == self.shape.len());
        let numbers = numbers.ok_or_else(|| {
            type_error("arrays of the host have items by one number for each dimension only")
        })?;
        let mut place = 0;
        for (number, size) in numbers.into_iter().zip(&self.shape) {
            place = place * size + wrap(number, *size)?;
        }
        Ok(place)
    }

    /// One element.
    pub(super) fn item(&self, index: &Value) -> Outcome<Value> {
        let place = self.place(index)?;
        let value = self.data.borrow().get(place).copied();
        Ok(Value::Float(f64::from(value.unwrap_or(f32::NAN))))
    }

    /// Gives one element another value.
    pub(super) fn set_item(&self, index: &Value, value: &Value) -> Outcome<()> {
        let place = self.place(index)?;
        let number = value
            .as_number()
            .ok_or_else(|| type_error("items of arrays of the host are numbers"))?;
        if let Some(slot) = self.data.borrow_mut().get_mut(place) {
            *slot = self.dtype.round(number as f32);
        }
        Ok(())
    }
}

/// A method of an array.
pub(super) fn method(
    array: &Rc<HostArray>,
    name: &str,
    arguments: &Arguments<Nki>,
) -> Outcome<Value> {
    let wrong = || type_error("arrays of the host have astype and reshape only");
    let first = arguments.positional.first().ok_or_else(wrong)?;
    match name {
        "astype" => {
            let dtype = super::dtype_of(first).ok_or_else(wrong)?;
            let data = array.data.borrow();
            let data = data.iter().map(|v| dtype.round(*v)).collect();
            Ok(host_value(array.shape.clone(), dtype, data))
        }
        "reshape" => {
            let sizes = first.listed();
            let sizes = sizes.unwrap_or_else(|| arguments.positional.clone());
            let shape: Vec<usize> = sizes
                .iter()
                .map(|v| v.as_int().and_then(|n| usize::try_from(n).ok()))
                .collect::<Option<_>>()
                .ok_or_else(wrong)?;
            let count = shape.iter().try_fold(1usize, |a, b| a.checked_mul(*b));
            if count != Some(array.data.borrow().len()) {
                return Err(wrong());
            }
            Ok(Value::Foreign(Nki::Host(Rc::new(HostArray {
                shape,
                dtype: array.dtype,
                data: Rc::clone(&array.data),
            }))))
        }
        _ => Err(wrong()),
    }
}
