//! What the functions of a task that make its inputs would return, found without running them.

use ruff_python_ast::{Expr, Number, Operator, Stmt, UnaryOp};
use std::collections::BTreeMap;

/// Elements of a list that is read, at most.
const MOST_ELEMENTS: usize = 4096;

/// A value that is known from the text.
#[derive(Clone, Debug, PartialEq)]
pub enum Known {
    /// A whole number.
    Whole(i64),
    /// Another number, a truth or a text, as it is written.
    Plain(String),
    /// A list or a tuple.
    List(Vec<Self>),
    /// A tensor.
    Tensor(Tensor),
}

/// A tensor that a function draws.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Its extents, in elements.
    pub shape: Vec<i64>,
    /// Type of its elements, as PyTorch calls it.
    pub dtype: &'static str,
}

/// Names and what they stand for.
pub type Names = BTreeMap<String, Known>;

/// Takes over what statements assign, as far as it is known, and returns what they return.
pub fn run(statements: &[Stmt], names: &mut Names) -> Option<Known> {
    for statement in statements {
        match statement {
            Stmt::Assign(assign) => {
                let value = value(&assign.value, names);
                for target in &assign.targets {
                    bind(target, value.clone(), names);
                }
            }
            Stmt::Return(returns) => return value(returns.value.as_deref()?, names),
            _ => {}
        }
    }
    None
}

fn bind(target: &Expr, value: Option<Known>, names: &mut Names) {
    match (target, value) {
        (Expr::Name(name), Some(value)) => {
            names.insert(name.id.to_string(), value);
        }
        // What is not known any more must not stand for what it was.
        (Expr::Name(name), None) => {
            names.remove(name.id.as_str());
        }
        (Expr::Tuple(targets), value) => {
            let values = match value {
                Some(Known::List(values)) if values.len() == targets.elts.len() => values,
                _ => Vec::new(),
            };
            let mut values = values.into_iter();
            for target in &targets.elts {
                bind(target, values.next(), names);
            }
        }
        _ => {}
    }
}

fn list(elements: &[Expr], names: &Names) -> Option<Known> {
    let mut all = Vec::new();
    for element in elements {
        match element {
            Expr::Starred(starred) => match value(&starred.value, names)? {
                Known::List(more) => all.extend(more),
                _ => return None,
            },
            other => all.push(value(other, names)?),
        }
    }
    (all.len() <= MOST_ELEMENTS).then_some(Known::List(all))
}

fn value(expression: &Expr, names: &Names) -> Option<Known> {
    match expression {
        Expr::NumberLiteral(number) => match &number.value {
            Number::Int(it) => it.as_i64().map(Known::Whole),
            Number::Float(it) => Some(Known::Plain(it.to_string())),
            Number::Complex { .. } => None,
        },
        Expr::BooleanLiteral(it) => Some(Known::Plain(it.value.to_string())),
        Expr::NoneLiteral(_) => Some(Known::Plain("None".into())),
        Expr::StringLiteral(it) => Some(Known::Plain(format!("{:?}", it.value.to_str()))),
        Expr::Name(name) => names.get(name.id.as_str()).cloned(),
        Expr::List(it) => list(&it.elts, names),
        Expr::Tuple(it) => list(&it.elts, names),
        Expr::UnaryOp(it) => match (it.op, value(&it.operand, names)?) {
            (UnaryOp::USub, Known::Whole(it)) => it.checked_neg().map(Known::Whole),
            (UnaryOp::USub, Known::Plain(it)) => Some(Known::Plain(format!("-{it}"))),
            _ => None,
        },
        Expr::BinOp(it) => joined(it.op, value(&it.left, names)?, value(&it.right, names)?),
        Expr::Attribute(it) => match (it.attr.as_str(), value(&it.value, names)?) {
            ("shape", Known::Tensor(tensor)) => {
                let extents = tensor.shape.into_iter().map(Known::Whole);
                Some(Known::List(extents.collect()))
            }
            ("T", Known::Tensor(mut tensor)) => {
                tensor.shape.reverse();
                Some(Known::Tensor(tensor))
            }
            _ => None,
        },
        Expr::Call(call) => {
            let Expr::Attribute(function) = &*call.func else {
                return None;
            };
            let arguments = &call.arguments.args;
            let is_torch = matches!(&*function.value, Expr::Name(it) if it.id.as_str() == "torch");
            match is_torch {
                true => drawn(function.attr.as_str(), arguments, names),
                false => changed(function.attr.as_str(), value(&function.value, names)?),
            }
        }
        _ => None,
    }
}

fn joined(operator: Operator, left: Known, right: Known) -> Option<Known> {
    match (operator, left, right) {
        (_, Known::Whole(a), Known::Whole(b)) => match operator {
            Operator::Add => a.checked_add(b),
            Operator::Sub => a.checked_sub(b),
            Operator::Mult => a.checked_mul(b),
            Operator::FloorDiv => a.checked_div_euclid(b).filter(|_| 0 < b),
            _ => None,
        }
        .map(Known::Whole),
        (Operator::Add, Known::List(mut a), Known::List(b)) => {
            a.extend(b);
            Some(Known::List(a))
        }
        (Operator::Mult, Known::List(a), Known::Whole(times)) => {
            let times = usize::try_from(times).ok()?;
            (a.len().checked_mul(times)? <= MOST_ELEMENTS).then(|| {
                let all = std::iter::repeat_n(a, times);
                Known::List(all.flatten().collect())
            })
        }
        // A tensor and one that has one element, or the same shape.
        (_, Known::Tensor(a), Known::Tensor(b)) => match (a.shape.len(), b.shape.len()) {
            (_, 0) => Some(Known::Tensor(a)),
            (0, _) => Some(Known::Tensor(b)),
            _ => (a == b).then_some(Known::Tensor(a)),
        },
        (_, Known::Tensor(it), Known::Whole(_) | Known::Plain(_))
        | (_, Known::Whole(_) | Known::Plain(_), Known::Tensor(it)) => Some(Known::Tensor(it)),
        _ => None,
    }
}

/// Returns what a function of `torch` returns.
fn drawn(name: &str, arguments: &[Expr], names: &Names) -> Option<Known> {
    let (dtype, extents) = match (name, arguments) {
        ("rand" | "randn" | "zeros" | "ones", extents) => ("float32", list(extents, names)?),
        ("randint", [_, _, extents]) => ("int64", value(extents, names)?),
        ("triu" | "tril", [of, ..]) => {
            let of = value(of, names)?;
            return matches!(of, Known::Tensor(_)).then_some(of);
        }
        _ => return None,
    };
    let Known::List(mut extents) = extents else {
        return None;
    };
    // Extents stand one by one, or in a list.
    if let [Known::List(inner)] = &mut extents[..] {
        extents = std::mem::take(inner);
    }
    let shape = extents.into_iter().map(|it| match it {
        Known::Whole(it) if 0 < it => Some(it),
        _ => None,
    });
    let shape = shape.collect::<Option<Vec<i64>>>()?;
    Some(Known::Tensor(Tensor { shape, dtype }))
}

/// Returns what a method of a tensor returns.
fn changed(name: &str, of: Known) -> Option<Known> {
    let Known::Tensor(tensor) = of else {
        return None;
    };
    let dtype = match name {
        "float" => "float32",
        "half" => "float16",
        "bool" => "bool",
        "long" => "int64",
        "softmax" | "contiguous" | "clone" | "abs" => tensor.dtype,
        _ => return None,
    };
    Some(Known::Tensor(Tensor { dtype, ..tensor }))
}
