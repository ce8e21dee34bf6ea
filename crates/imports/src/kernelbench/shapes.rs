//! What the functions of a task that make its inputs would return, found without running them.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Arguments, Expr, ExprCall, Number, Operator, Stmt, UnaryOp};
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

/// Methods that change a tensor in place, and neither its shape nor its type.
const IN_PLACE: [&str; 10] = [
    "uniform_", "normal_", "random_", "fill_", "zero_", "clamp_", "abs_", "mul_", "add_", "div_",
];

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
            Stmt::AnnAssign(assign) => {
                if let Some(it) = &assign.value {
                    bind(&assign.target, value(it, names), names);
                }
            }
            Stmt::AugAssign(assign) => {
                let new = || {
                    let old = value(&assign.target, names)?;
                    joined(assign.op, old, value(&assign.value, names)?)
                };
                bind(&assign.target, new(), names);
            }
            Stmt::Return(returns) => return value(returns.value.as_deref()?, names),
            Stmt::Expr(it) => changed_in_place(&it.value, names),
            Stmt::Import(_) | Stmt::ImportFrom(_) | Stmt::Pass(_) | Stmt::Assert(_) => {}
            Stmt::FunctionDef(it) => drop(names.remove(it.name.as_str())),
            Stmt::ClassDef(it) => drop(names.remove(it.name.as_str())),
            other => {
                let mut inner = Inner::default();
                inner.visit_stmt(other);
                for name in inner.bound {
                    names.remove(name);
                }
                if inner.returns {
                    return None;
                }
            }
        }
    }
    None
}

/// What statements that may be skipped, or repeated, bind, and whether they return.
#[derive(Default)]
struct Inner<'a> {
    bound: Vec<&'a str>,
    returns: bool,
}

impl<'a> Visitor<'a> for Inner<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        self.returns |= matches!(statement, Stmt::Return(_));
        walk_stmt(self, statement);
    }

    // Whatever is bound, or changed in place.
    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Name(it) if it.ctx.is_store() => self.bound.push(it.id.as_str()),
            Expr::Call(it) => {
                if let Some((name, _)) = method_of_name(it) {
                    self.bound.push(name);
                }
            }
            _ => {}
        }
        walk_expr(self, expression);
    }
}

/// Returns the name of which a call calls a method, and that one's.
fn method_of_name(call: &ExprCall) -> Option<(&str, &str)> {
    let Expr::Attribute(function) = &*call.func else {
        return None;
    };
    let Expr::Name(name) = &*function.value else {
        return None;
    };
    Some((name.id.as_str(), function.attr.as_str()))
}

/// Forgets what a statement that is a call changes.
fn changed_in_place(expression: &Expr, names: &mut Names) {
    let Expr::Call(call) = expression else { return };
    if let Some((name, method)) = method_of_name(call)
        && !IN_PLACE.contains(&method)
    {
        names.remove(name);
    }
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
        Expr::Compare(it) => match (value(&it.left, names)?, &*it.comparators) {
            (Known::Tensor(tensor), [other])
                if matches!(value(other, names)?, Known::Whole(_) | Known::Plain(_)) =>
            {
                let dtype = "bool";
                Some(Known::Tensor(Tensor { dtype, ..tensor }))
            }
            _ => None,
        },
        Expr::Call(call) => {
            let Expr::Attribute(function) = &*call.func else {
                return None;
            };
            let is_torch = matches!(&*function.value, Expr::Name(it) if it.id.as_str() == "torch");
            match is_torch {
                true => drawn(function.attr.as_str(), &call.arguments, names),
                false => {
                    let of = value(&function.value, names)?;
                    changed(function.attr.as_str(), &call.arguments, of, names)
                }
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
        (Operator::MatMult, ..) => None,
        // A tensor and one that has one element, or the same shape.
        (_, Known::Tensor(a), Known::Tensor(b)) if a.dtype == b.dtype => {
            let found = match (a.shape.len(), b.shape.len()) {
                (_, 0) => a,
                (0, _) => b,
                _ if a == b => a,
                _ => return None,
            };
            Some(Known::Tensor(found.joined(operator, "int64")))
        }
        (_, Known::Tensor(it), Known::Whole(_)) | (_, Known::Whole(_), Known::Tensor(it)) => {
            Some(Known::Tensor(it.joined(operator, "int64")))
        }
        (_, Known::Tensor(it), Known::Plain(number))
        | (_, Known::Plain(number), Known::Tensor(it)) => {
            number.parse::<f64>().ok()?;
            Some(Known::Tensor(it.joined(operator, "float32")))
        }
        _ => None,
    }
}

impl Tensor {
    /// Returns the tensor that comes of it and a number of a type.
    fn joined(self, operator: Operator, number: &'static str) -> Self {
        let is_fraction = operator == Operator::Div || number == "float32";
        let dtype = match self.dtype {
            it if it.contains("float") => it,
            _ if is_fraction => "float32",
            "bool" => "int64",
            it => it,
        };
        Self { dtype, ..self }
    }
}

/// Returns a type of PyTorch that an expression names.
fn dtype(expression: &Expr) -> Option<&'static str> {
    let Expr::Attribute(it) = expression else {
        return None;
    };
    let is_torch = matches!(&*it.value, Expr::Name(it) if it.id.as_str() == "torch");
    let name = match it.attr.as_str() {
        "float" => "float32",
        "half" => "float16",
        "double" => "float64",
        "int" => "int32",
        "long" => "int64",
        name => name,
    };
    DTYPES.into_iter().find(|it| is_torch && *it == name)
}

/// Types of elements, as PyTorch calls them.
const DTYPES: [&str; 15] = [
    "float16",
    "float32",
    "float64",
    "bfloat16",
    "float8_e4m3fn",
    "float8_e5m2",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
];

/// Returns what a function of `torch` returns.
fn drawn(name: &str, arguments: &Arguments, names: &Names) -> Option<Known> {
    let (mut told, mut size) = (None, None);
    for keyword in &arguments.keywords {
        match keyword.arg.as_ref()?.as_str() {
            "dtype" => told = Some(dtype(&keyword.value)?),
            "size" => size = Some(value(&keyword.value, names)?),
            "device" | "requires_grad" | "generator" | "pin_memory" | "diagonal" => {}
            _ => return None,
        }
    }
    let extents = |from: usize| match &size {
        Some(size) => Some(size.clone()),
        None => list(arguments.args.get(from..)?, names),
    };
    let like = |first: &Expr| match value(first, names)? {
        Known::Tensor(it) => Some(it),
        _ => None,
    };
    let (dtype, extents) = match (name, &*arguments.args) {
        ("rand" | "randn" | "zeros" | "ones" | "empty", _) => ("float32", extents(0)?),
        ("randint", [_, _] | [_]) if size.is_some() => ("int64", extents(0)?),
        ("randint", [_, _, _]) => ("int64", extents(2)?),
        ("randint", [_, _]) => ("int64", extents(1)?),
        ("full", [extents, filled]) => match value(filled, names)? {
            Known::Whole(_) => ("int64", value(extents, names)?),
            Known::Plain(it) if it.parse::<f64>().is_ok() => ("float32", value(extents, names)?),
            _ => return None,
        },
        ("triu" | "tril", [of, ..]) if told.is_none() => return Some(Known::Tensor(like(of)?)),
        ("rand_like" | "randn_like" | "zeros_like" | "ones_like" | "empty_like", [of]) => {
            let of = like(of)?;
            let dtype = told.unwrap_or(of.dtype);
            return Some(Known::Tensor(Tensor { dtype, ..of }));
        }
        _ => return None,
    };
    let shape = shape(extents)?;
    let dtype = told.unwrap_or(dtype);
    Some(Known::Tensor(Tensor { shape, dtype }))
}

/// Returns extents that stand one by one, or in a list.
fn shape(extents: Known) -> Option<Vec<i64>> {
    let Known::List(mut extents) = extents else {
        return None;
    };
    if let [Known::List(inner)] = &mut extents[..] {
        extents = std::mem::take(inner);
    }
    let shape = extents.into_iter().map(|it| match it {
        Known::Whole(it) if 0 < it => Some(it),
        _ => None,
    });
    shape.collect()
}

/// Returns what a method of a tensor returns.
fn changed(name: &str, arguments: &Arguments, of: Known, names: &Names) -> Option<Known> {
    let Known::Tensor(mut tensor) = of else {
        return None;
    };
    let no_fraction = !tensor.dtype.contains("float");
    tensor.dtype = match name {
        "float" => "float32",
        "half" => "float16",
        "bfloat16" => "bfloat16",
        "double" => "float64",
        "bool" => "bool",
        "int" => "int32",
        "long" => "int64",
        "to" | "type" => {
            let told = arguments.keywords.iter().find_map(|it| dtype(&it.value));
            told.or_else(|| arguments.args.iter().find_map(dtype))
                // A device, which changes nothing, is a text.
                .or(match &*arguments.args {
                    [Expr::StringLiteral(_)] => Some(tensor.dtype),
                    _ => None,
                })?
        }
        "softmax" | "sigmoid" | "exp" if no_fraction => return None,
        "softmax" | "sigmoid" | "exp" | "contiguous" | "clone" | "abs" | "detach" | "cuda"
        | "cpu" | "requires_grad_" => tensor.dtype,
        "view" | "reshape" => {
            let count = |shape: &[i64]| shape.iter().try_fold(1_i64, |n, it| n.checked_mul(*it));
            let before = count(&tensor.shape)?;
            tensor.shape = shape(list(&arguments.args, names)?)?;
            (count(&tensor.shape)? == before).then_some(tensor.dtype)?
        }
        _ if IN_PLACE.contains(&name) => tensor.dtype,
        _ => return None,
    };
    Some(Known::Tensor(tensor))
}
