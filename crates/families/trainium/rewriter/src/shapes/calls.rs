//! What calls make.

use std::collections::BTreeMap;

use ruff_python_ast::{self as ast, Expr};

use super::super::operation::{COMPARISONS, argument as argument_of};
use super::super::source::name_of;
use super::expressions::{broadcast, sizes};
use super::walk::Walk;
use super::{Affine, Memory, Tensor, Value};
use autocomp_trainium_sim::Dtype;

impl Walk<'_, '_> {
    pub(super) fn call(&mut self, call: &ast::ExprCall) -> Option<Value> {
        let arguments: Vec<Value> = call
            .arguments
            .args
            .iter()
            .map(|it| self.value(it))
            .collect();
        let mut named: BTreeMap<String, Value> = BTreeMap::new();
        for keyword in &call.arguments.keywords {
            let value = self.value(&keyword.value);
            if let Some(name) = &keyword.arg {
                named.insert(name.to_string(), value);
            }
        }
        let argument =
            |at: usize, name: &str| arguments.get(at).or_else(|| named.get(name)).cloned();
        let Some(path) = self.source.path(&call.func) else {
            return self.method(call, &arguments);
        };
        let (module, name) = path.split_once('.')?;
        if module == "math" || module == "np" {
            return number(name, &arguments);
        }
        let dtype = |value: Option<Value>| match value {
            Some(Value::Type(name)) => Some(name),
            _ => None,
        };
        let tile = |shape: Vec<i64>, memory: Memory, dtype: Option<String>| {
            Some(Value::Tensor(Tensor {
                shape,
                memory,
                dtype,
            }))
        };
        match (module, name) {
            ("nl", "ds") => {
                let (Value::Whole(start), Value::Whole(size)) =
                    (argument(0, "start")?, argument(1, "size")?)
                else {
                    return None;
                };
                Some(Value::Window(start, size.fixed()?))
            }
            ("nl", "par_dim") => argument(0, "value"),
            ("nl", "arange") => match (argument(0, "start")?, arguments.len()) {
                (Value::Whole(size), 1) => Some(Value::Index(vec![size.fixed()?])),
                _ => None,
            },
            ("nl", "ndarray" | "zeros" | "ones" | "full" | "empty") => {
                let shape = sizes(&argument(0, "shape")?)?;
                let at = if name == "full" { 2 } else { 1 };
                let memory = match named.get("buffer") {
                    Some(Value::Type(name)) if name == "psum" => Memory::Psum,
                    Some(Value::Type(name)) if name == "shared_hbm" || name == "hbm" => {
                        Memory::Main
                    }
                    _ => Memory::Sbuf,
                };
                tile(shape, memory, dtype(argument(at, "dtype")))
            }
            ("nl", "load") => {
                let Value::Tensor(from) = argument(0, "src")? else {
                    return None;
                };
                let shape = from.shape;
                tile(
                    shape,
                    Memory::Sbuf,
                    dtype(named.get("dtype").cloned()).or(from.dtype),
                )
            }
            ("nisa", "nc_matmul") => {
                let (Value::Tensor(a), Value::Tensor(b)) =
                    (argument(0, "stationary")?, argument(1, "moving")?)
                else {
                    return None;
                };
                tile(
                    vec![a.free(), b.free()],
                    Memory::Psum,
                    Some("float32".into()),
                )
            }
            ("nl", "matmul") => {
                let (Value::Tensor(a), Value::Tensor(b)) = (argument(0, "x")?, argument(1, "y")?)
                else {
                    return None;
                };
                let turned = argument_of(call, 9, "transpose_x");
                let turned = matches!(turned, Some(Expr::BooleanLiteral(it)) if it.value);
                let rows = match turned {
                    true => a.free(),
                    false => *a.shape.first()?,
                };
                let dtype = Some("float32".into());
                tile(vec![rows, b.free()], Memory::Psum, dtype)
            }
            ("nisa", "nc_transpose") | ("nl", "transpose") => {
                let parameter = if module == "nl" { "x" } else { "data" };
                let Value::Tensor(a) = argument(0, parameter)? else {
                    return None;
                };
                tile(vec![a.free(), *a.shape.first()?], Memory::Psum, a.dtype)
            }
            ("nl", "load_transpose2d") => {
                let Value::Tensor(a) = argument(0, "src")? else {
                    return None;
                };
                tile(vec![a.free(), *a.shape.first()?], Memory::Sbuf, a.dtype)
            }
            ("nl", "sum" | "max" | "min" | "mean" | "prod" | "var") | ("nisa", "tensor_reduce") => {
                let first = if module == "nl" { 0 } else { 1 };
                let Value::Tensor(a) = argument(first, if module == "nl" { "x" } else { "data" })?
                else {
                    return None;
                };
                let axes = match argument(first + 1, "axis")? {
                    Value::Whole(axis) => vec![axis.fixed()?],
                    other => sizes(&other)?,
                };
                let rank = a.shape.len() as i64;
                let axes: Vec<i64> = axes
                    .into_iter()
                    .map(|it| if it < 0 { it + rank } else { it })
                    .collect();
                let mut shape: Vec<i64> = (0..rank)
                    .zip(&a.shape)
                    .filter(|(at, _)| !axes.contains(at))
                    .map(|(_, size)| *size)
                    .collect();
                if shape.len() == 1 {
                    shape.push(1);
                }
                tile(
                    shape,
                    Memory::Sbuf,
                    dtype(named.get("dtype").cloned()).or(a.dtype),
                )
            }
            // Eight of each row, and statistics of rows.
            ("nisa", "max8" | "nc_find_index8" | "bn_stats" | "bn_aggr" | "nc_match_replace8") => {
                let first = if name == "max8" { "src" } else { "data" };
                let Value::Tensor(a) = argument(0, first)? else {
                    return None;
                };
                let rows = *a.shape.first()?;
                let shape = match name {
                    "bn_stats" => vec![rows, 6],
                    "bn_aggr" => vec![rows, 2],
                    "nc_match_replace8" => a.shape,
                    _ => vec![rows, 8],
                };
                let own = match name {
                    "nc_find_index8" => Some("uint32".to_owned()),
                    _ => a.dtype,
                };
                tile(
                    shape,
                    Memory::Sbuf,
                    dtype(named.get("dtype").cloned()).or(own),
                )
            }
            ("nl", "broadcast_to") => {
                let Value::Tensor(a) = argument(0, "x")? else {
                    return None;
                };
                tile(sizes(&argument(1, "shape")?)?, a.memory, a.dtype)
            }
            ("nl", _) | ("nisa", _) => {
                // Element-wise: the shapes of all tiles together.
                let elementwise = super::super::operation::is_elementwise(&path);
                let mut shape: Option<Vec<i64>> = None;
                let mut kinds: Vec<Option<Dtype>> = Vec::new();
                for value in arguments.iter().chain(
                    named
                        .iter()
                        .filter(|(name, _)| *name != "reduce_res")
                        .map(|it| it.1),
                ) {
                    if let Value::Tensor(it) = value {
                        kinds.push(it.dtype.as_deref().and_then(Dtype::parse));
                        shape = Some(match shape {
                            None => it.shape.clone(),
                            Some(old) => broadcast(&old, &it.shape)?,
                        });
                    }
                }
                let given = dtype(named.get("dtype").cloned());
                if elementwise {
                    let own = || result_type(name, &kinds).map(|it| it.name().to_owned());
                    tile(shape?, Memory::Sbuf, given.or_else(own))
                } else {
                    None
                }
            }
            _ => None,
        }
    }

    pub(super) fn method(&mut self, call: &ast::ExprCall, arguments: &[Value]) -> Option<Value> {
        if let Some("min" | "max") = name_of(&call.func) {
            let least = name_of(&call.func) == Some("min");
            let numbers = arguments.iter().map(|it| match it {
                Value::Whole(number) => number.fixed(),
                _ => None,
            });
            let numbers: Vec<Option<i64>> = numbers.collect();
            let known = numbers.iter().copied().flatten();
            let found = match least {
                // What moves with a loop stays below the others: no tile is larger.
                true => known.min(),
                false if numbers.contains(&None) => None,
                false => known.max(),
            };
            return Some(Value::Whole(Affine::of(found?)));
        }
        if let (Some("float"), [Value::Whole(number)]) = (name_of(&call.func), arguments) {
            return Some(Value::Number(number.fixed()? as f64));
        }
        if let (Some("int"), [Value::Whole(number)]) = (name_of(&call.func), arguments) {
            return Some(Value::Whole(number.clone()));
        }
        if let (Some("slice"), [Value::Whole(low), Value::Whole(high)]) =
            (name_of(&call.func), arguments)
        {
            return Some(Value::Window(low.clone(), high.plus(low, -1)?.fixed()?));
        }
        if let (Some("len"), [items]) = (name_of(&call.func), arguments) {
            let length = match items {
                Value::Tuple(items) => i64::try_from(items.len()).ok()?,
                Value::List(_, length) => *length,
                _ => return None,
            };
            return Some(Value::Whole(Affine::of(length)));
        }
        let Expr::Attribute(it) = call.func.as_ref() else {
            return None;
        };
        if let ("append", Some(list), [item]) = (it.attr.as_str(), name_of(&it.value), arguments) {
            self.appended(list, item.clone());
            return None;
        }
        let Value::Tensor(tensor) = self.value(&it.value) else {
            return None;
        };
        match it.attr.as_str() {
            "reshape" | "broadcast_to" => {
                let shape = match arguments {
                    [only] => sizes(only)?,
                    several => several
                        .iter()
                        .map(|it| sizes(it).and_then(|it| it.first().copied()))
                        .collect::<Option<_>>()?,
                };
                Some(Value::Tensor(Tensor { shape, ..tensor }))
            }
            _ => None,
        }
    }
}

/// The type of an element-wise result when none is asked for.
fn result_type(name: &str, operands: &[Option<Dtype>]) -> Option<Dtype> {
    if COMPARISONS.contains(&name) {
        return Some(Dtype::Uint8);
    }
    let mut all = operands.iter().copied();
    // Instructions with a scale or a number round to the type of their data.
    if ["activation", "activation_reduce", "tensor_scalar", "select"].contains(&name) {
        return all.next()?;
    }
    let mut own = all.next()??;
    for other in all {
        own = own.promote(other?);
    }
    Some(own)
}

/// A function of numbers.
fn number(name: &str, arguments: &[Value]) -> Option<Value> {
    let numbers: Option<Vec<f64>> = arguments
        .iter()
        .map(|it| match it {
            Value::Number(it) => Some(*it),
            Value::Whole(it) => it.fixed().map(|it| it as f64),
            _ => None,
        })
        .collect();
    let numbers = numbers?;
    let [x, rest @ ..] = numbers.as_slice() else {
        return None;
    };
    Some(match (name, rest) {
        ("ceil", []) => Value::Whole(Affine::of(x.ceil() as i64)),
        ("floor", []) => Value::Whole(Affine::of(x.floor() as i64)),
        ("sqrt", []) => Value::Number(x.sqrt()),
        ("exp", []) => Value::Number(x.exp()),
        ("log", []) => Value::Number(x.ln()),
        ("pow", [y]) => Value::Number(x.powf(*y)),
        _ => return None,
    })
}
