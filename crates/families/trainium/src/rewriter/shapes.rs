//! Shapes of the expressions of a kernel, found by going through it once without running it.
//!
//! Loop variables stay symbols: whole numbers are sums of multiples of them. What is not
//! understood has no value, and transformations leave it alone.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ruff_python_ast::{self as ast, Expr, ExprContext, Number, Operator, Stmt, UnaryOp};
use ruff_text_size::{Ranged, TextRange};

use super::source::{Source, base_of, each_expression_in, each_statement, name_of};

/// A whole number: a constant and multiples of loop variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Affine {
    pub(super) constant: i64,
    pub(super) terms: BTreeMap<String, i64>,
}

impl Affine {
    fn of(constant: i64) -> Self {
        Self {
            constant,
            terms: BTreeMap::new(),
        }
    }

    fn variable(name: &str) -> Self {
        Self {
            constant: 0,
            terms: BTreeMap::from([(name.to_owned(), 1)]),
        }
    }

    fn plus(&self, other: &Self, sign: i64) -> Option<Self> {
        let mut sum = self.clone();
        sum.constant = sum
            .constant
            .checked_add(other.constant.checked_mul(sign)?)?;
        for (name, factor) in &other.terms {
            let term = sum.terms.entry(name.clone()).or_default();
            *term = term.checked_add(factor.checked_mul(sign)?)?;
        }
        sum.terms.retain(|_, factor| *factor != 0);
        Some(sum)
    }

    fn times(&self, factor: i64) -> Option<Self> {
        let mut product = self.clone();
        product.constant = product.constant.checked_mul(factor)?;
        for term in product.terms.values_mut() {
            *term = term.checked_mul(factor)?;
        }
        product.terms.retain(|_, factor| *factor != 0);
        Some(product)
    }

    pub(super) fn fixed(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// As text of a kernel.
    pub(super) fn text(&self) -> String {
        let mut parts: Vec<String> = self
            .terms
            .iter()
            .map(|(name, factor)| {
                if *factor == 1 {
                    name.clone()
                } else {
                    format!("{name} * {factor}")
                }
            })
            .collect();
        if self.constant != 0 || parts.is_empty() {
            parts.push(self.constant.to_string());
        }
        parts.join(" + ")
    }
}

/// Where a tensor lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    Main,
    Sbuf,
    Psum,
}

/// A tensor as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tensor {
    pub(super) shape: Vec<i64>,
    pub(super) memory: Memory,
    /// Name of the type, if it is known.
    pub(super) dtype: Option<String>,
}

impl Tensor {
    /// Elements in each partition.
    pub(super) fn free(&self) -> i64 {
        self.shape.iter().skip(1).product()
    }

    pub(super) fn is_column(&self) -> bool {
        self.free() == 1
    }
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Whole(Affine),
    Number(f64),
    Tuple(Vec<Value>),
    Tensor(Tensor),
    /// `nl.ds(start, size)` or a slice.
    Window(Affine, i64),
    /// An index expression of this shape.
    Index(Vec<i64>),
    Type(String),
    Unknown,
}

/// One loop.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub(super) variable: String,
    pub(super) trips: i64,
    /// `nl.affine_range` and the like.
    pub(super) kind: String,
}

/// Everything that is known about a kernel.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    values: HashMap<TextRange, Value>,
    loops: HashMap<TextRange, Loop>,
    /// Where each name is bound.
    pub(super) bound: BTreeMap<String, Vec<TextRange>>,
    /// Where each name is read.
    pub(super) read: BTreeMap<String, Vec<TextRange>>,
    /// Names whose content is changed after they were bound, with where.
    pub(super) changed: BTreeMap<String, Vec<TextRange>>,
    /// Lines whose meaning is not known, from 1.
    pub(super) unknown: BTreeSet<u32>,
}

/// A parameter of the kernel: name, shape, type.
pub(super) type Parameter = (String, Vec<i64>, String);

impl Shapes {
    pub(super) fn of(source: &Source<'_>, parameters: &[Parameter]) -> Self {
        let mut walk = Walk {
            source,
            shapes: Self::default(),
            names: HashMap::new(),
        };
        walk.block(source.module());
        let function = source.function();
        for (at, parameter) in function.parameters.iter_non_variadic_params().enumerate() {
            let name = parameter.parameter.name.as_str();
            let found = parameters
                .iter()
                .find(|it| it.0 == name)
                .or_else(|| parameters.get(at));
            if let Some((_, shape, dtype)) = found {
                let tensor = Tensor {
                    shape: shape.clone(),
                    memory: Memory::Main,
                    dtype: Some(dtype.clone()),
                };
                walk.names.insert(name.to_owned(), Value::Tensor(tensor));
            }
        }
        walk.block(&function.body);
        walk.uses(&function.body);
        walk.shapes
    }

    pub(super) fn value(&self, expression: &Expr) -> &Value {
        self.values
            .get(&expression.range())
            .unwrap_or(&Value::Unknown)
    }

    pub(super) fn tensor(&self, expression: &Expr) -> Option<&Tensor> {
        match self.value(expression) {
            Value::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// A tensor in SBUF or PSUM.
    pub(super) fn tile(&self, expression: &Expr) -> Option<&Tensor> {
        self.tensor(expression)
            .filter(|it| it.memory != Memory::Main)
    }

    pub(super) fn is_number(&self, expression: &Expr) -> bool {
        match self.value(expression) {
            Value::Number(_) => true,
            Value::Whole(it) => it.terms.is_empty(),
            _ => false,
        }
    }

    pub(super) fn number(&self, expression: &Expr) -> Option<f64> {
        match self.value(expression) {
            Value::Number(number) => Some(*number),
            Value::Whole(it) => it.fixed().map(|it| it as f64),
            _ => None,
        }
    }

    pub(super) fn get_loop(&self, statement: &ast::StmtFor) -> Option<&Loop> {
        self.loops.get(&statement.range())
    }

    /// Whether a name is bound once and never changed.
    pub(super) fn constant(&self, name: &str) -> bool {
        self.bound.get(name).is_none_or(|it| it.len() == 1) && !self.changed.contains_key(name)
    }

    pub(super) fn reads(&self, name: &str) -> usize {
        self.read.get(name).map_or(0, Vec::len)
    }

    /// Whether a name is bound or changed within a part of the text.
    pub(super) fn touched(&self, name: &str, within: TextRange) -> bool {
        let any = |map: &BTreeMap<String, Vec<TextRange>>| {
            map.get(name)
                .is_some_and(|it| it.iter().any(|at| within.contains_range(*at)))
        };
        any(&self.bound) || any(&self.changed)
    }
}

struct Walk<'s, 't> {
    source: &'s Source<'t>,
    shapes: Shapes,
    names: HashMap<String, Value>,
}

impl Walk<'_, '_> {
    fn uses(&mut self, body: &[Stmt]) {
        let shapes = &mut self.shapes;
        each_statement(body, &mut Vec::new(), &mut |place, _| {
            let range = place.statement().range();
            match place.statement() {
                Stmt::Assign(it) => {
                    for target in &it.targets {
                        if let (Expr::Subscript(_), Some(name)) = (target, base_of(target)) {
                            shapes
                                .changed
                                .entry(name.to_owned())
                                .or_default()
                                .push(range);
                        }
                    }
                }
                Stmt::AugAssign(it) => {
                    if let Some(name) = base_of(&it.target) {
                        shapes
                            .changed
                            .entry(name.to_owned())
                            .or_default()
                            .push(range);
                    }
                }
                _ => {}
            }
        });
        for statement in body {
            each_expression_in(statement, &mut |it| match it {
                Expr::Name(name) => {
                    let map = match name.ctx {
                        ExprContext::Store => &mut shapes.bound,
                        _ => &mut shapes.read,
                    };
                    map.entry(name.id.to_string()).or_default().push(it.range());
                }
                Expr::Call(call) => {
                    for keyword in &call.arguments.keywords {
                        let written = matches!(keyword.arg.as_deref(), Some("reduce_res" | "dst"));
                        if let (true, Some(name)) = (written, base_of(&keyword.value)) {
                            shapes
                                .changed
                                .entry(name.to_owned())
                                .or_default()
                                .push(it.range());
                        }
                    }
                }
                _ => {}
            });
        }
    }

    fn block(&mut self, block: &[Stmt]) {
        for statement in block {
            self.statement(statement);
        }
    }

    fn not_known(&mut self, node: &impl Ranged) {
        let before = self
            .source
            .text
            .get(..usize::from(node.start()))
            .unwrap_or_default();
        self.shapes
            .unknown
            .insert(before.matches('\n').count() as u32 + 1);
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Assign(it) => {
                let value = self.value(&it.value);
                if value == Value::Unknown {
                    self.not_known(statement);
                }
                for target in &it.targets {
                    self.bind(target, value.clone());
                }
            }
            Stmt::AnnAssign(it) => {
                if let Some(value) = &it.value {
                    let value = self.value(value);
                    self.bind(&it.target, value);
                }
            }
            Stmt::AugAssign(it) => {
                self.value(&it.target);
                self.value(&it.value);
                if let Some(name) = name_of(&it.target)
                    && !matches!(self.names.get(name), Some(Value::Tensor(_)))
                {
                    self.names.insert(name.to_owned(), Value::Unknown);
                }
            }
            Stmt::For(it) => {
                let found = self.loop_of(it);
                if found.is_none() {
                    self.not_known(statement);
                }
                if let Some(found) = found {
                    self.names.insert(
                        found.variable.clone(),
                        Value::Whole(Affine::variable(&found.variable)),
                    );
                    self.shapes.loops.insert(it.range(), found);
                } else {
                    self.bind(&it.target, Value::Unknown);
                }
                self.block(&it.body);
            }
            Stmt::If(it) => {
                self.value(&it.test);
                self.block(&it.body);
                for clause in &it.elif_else_clauses {
                    self.block(&clause.body);
                }
            }
            Stmt::With(it) => self.block(&it.body),
            Stmt::While(it) => {
                self.not_known(statement);
                self.block(&it.body);
            }
            Stmt::Expr(it) => {
                self.value(&it.value);
            }
            Stmt::Return(it) => {
                if let Some(value) = &it.value {
                    self.value(value);
                }
            }
            _ => {}
        }
    }

    fn loop_of(&mut self, it: &ast::StmtFor) -> Option<Loop> {
        let variable = name_of(&it.target)?.to_owned();
        let Expr::Call(call) = it.iter.as_ref() else {
            return None;
        };
        let kind = match self.source.path(&call.func) {
            Some(path) => path,
            None => name_of(&call.func)?.to_owned(),
        };
        let known = [
            "nl.affine_range",
            "nl.sequential_range",
            "nl.static_range",
            "range",
        ];
        if !known.contains(&kind.as_str()) || call.arguments.args.len() != 1 {
            call.arguments.args.iter().for_each(|it| {
                self.value(it);
            });
            return None;
        }
        match self.value(&call.arguments.args[0]) {
            Value::Whole(trips) => Some(Loop {
                variable,
                trips: trips.fixed()?,
                kind,
            }),
            _ => None,
        }
    }

    fn bind(&mut self, target: &Expr, value: Value) {
        match (target, value) {
            (Expr::Name(name), value) => {
                self.names.insert(name.id.to_string(), value);
            }
            (Expr::Tuple(targets), Value::Tuple(values)) if targets.elts.len() == values.len() => {
                for (target, value) in targets.elts.iter().zip(values) {
                    self.bind(target, value);
                }
            }
            (Expr::Tuple(targets), _) => {
                for target in &targets.elts {
                    self.bind(target, Value::Unknown);
                }
            }
            (Expr::Subscript(_), _) => {
                self.value(target);
            }
            _ => {}
        }
    }

    fn value(&mut self, expression: &Expr) -> Value {
        let value = self.find(expression).unwrap_or(Value::Unknown);
        self.shapes.values.insert(expression.range(), value.clone());
        value
    }

    fn find(&mut self, expression: &Expr) -> Option<Value> {
        match expression {
            Expr::NumberLiteral(it) => match &it.value {
                Number::Int(number) => Some(Value::Whole(Affine::of(number.as_i64()?))),
                Number::Float(number) => Some(Value::Number(*number)),
                Number::Complex { .. } => None,
            },
            Expr::Name(it) => self.names.get(it.id.as_str()).cloned(),
            Expr::Tuple(it) => Some(Value::Tuple(
                it.elts.iter().map(|it| self.value(it)).collect(),
            )),
            Expr::List(it) => Some(Value::Tuple(
                it.elts.iter().map(|it| self.value(it)).collect(),
            )),
            Expr::UnaryOp(it) => {
                let value = self.value(&it.operand);
                match (it.op, value) {
                    (UnaryOp::USub, Value::Whole(number)) => Some(Value::Whole(number.times(-1)?)),
                    (UnaryOp::USub, Value::Number(number)) => Some(Value::Number(-number)),
                    (UnaryOp::USub, value @ Value::Tensor(_)) => Some(value),
                    _ => None,
                }
            }
            Expr::BinOp(it) => {
                let (left, right) = (self.value(&it.left), self.value(&it.right));
                operate(it.op, left, right)
            }
            Expr::Attribute(it) => {
                if let Some(path) = self.source.path(expression) {
                    return path
                        .strip_prefix("nl.")
                        .map(|name| Value::Type(name.to_owned()));
                }
                let Value::Tensor(tensor) = self.value(&it.value) else {
                    return None;
                };
                match it.attr.as_str() {
                    "shape" => Some(Value::Tuple(
                        tensor
                            .shape
                            .iter()
                            .map(|it| Value::Whole(Affine::of(*it)))
                            .collect(),
                    )),
                    "dtype" => tensor.dtype.map(Value::Type),
                    _ => None,
                }
            }
            Expr::Subscript(it) => {
                if self.source.path(&it.value).as_deref() == Some("nl.mgrid") {
                    return self.grid(&it.slice);
                }
                let whole = self.value(&it.value);
                match whole {
                    Value::Tuple(items) => match self.value(&it.slice) {
                        Value::Whole(at) => {
                            let at = at.fixed()?;
                            let at = if at < 0 { at + items.len() as i64 } else { at };
                            items.get(usize::try_from(at).ok()?).cloned()
                        }
                        _ => None,
                    },
                    Value::Tensor(tensor) => {
                        let parts = match it.slice.as_ref() {
                            Expr::Tuple(parts) => parts.elts.iter().collect(),
                            other => vec![other],
                        };
                        self.part(tensor, &parts)
                    }
                    Value::Index(shape) => {
                        // `[:, None]` adds a dimension.
                        let Expr::Tuple(parts) = it.slice.as_ref() else {
                            return None;
                        };
                        let mut sizes = shape.iter();
                        let mut out = Vec::new();
                        for part in &parts.elts {
                            match part {
                                Expr::NoneLiteral(_) => out.push(1),
                                Expr::Slice(_) => out.push(*sizes.next()?),
                                _ => return None,
                            }
                        }
                        Some(Value::Index(out))
                    }
                    _ => None,
                }
            }
            Expr::Call(it) => self.call(it),
            _ => None,
        }
    }

    /// `nl.mgrid[0:a, 0:b]`: an index expression for each dimension.
    fn grid(&mut self, slice: &Expr) -> Option<Value> {
        let Expr::Tuple(parts) = slice else {
            return None;
        };
        let mut shape = Vec::new();
        for part in &parts.elts {
            let Expr::Slice(slice) = part else {
                return None;
            };
            let low = match &slice.lower {
                Some(low) => self.value(low),
                None => Value::Whole(Affine::default()),
            };
            let (Value::Whole(low), Value::Whole(high)) = (low, self.value(slice.upper.as_ref()?))
            else {
                return None;
            };
            shape.push(high.plus(&low, -1)?.fixed()?);
        }
        Some(Value::Tuple(vec![Value::Index(shape.clone()); shape.len()]))
    }

    fn part(&mut self, tensor: Tensor, parts: &[&Expr]) -> Option<Value> {
        let mut shape = Vec::new();
        let mut sizes = tensor.shape.iter().copied();
        let mut index: Option<Vec<i64>> = None;
        for part in parts {
            if matches!(part, Expr::EllipsisLiteral(_)) {
                shape.extend(sizes.by_ref());
                continue;
            }
            let size = sizes.next()?;
            let value = match part {
                Expr::Slice(slice) => {
                    let low = slice.lower.as_ref().map(|it| self.value(it));
                    let high = slice.upper.as_ref().map(|it| self.value(it));
                    if slice.step.is_some() {
                        return None;
                    }
                    let whole = |value: Option<Value>, default: i64| match value {
                        None => Some(Affine::of(default)),
                        Some(Value::Whole(it)) => Some(it),
                        _ => None,
                    };
                    let (low, high) = (whole(low, 0)?, whole(high, size)?);
                    let length = high.plus(&low, -1)?.fixed()?;
                    let window = Value::Window(low, length);
                    self.shapes.values.insert(part.range(), window.clone());
                    window
                }
                other => self.value(other),
            };
            match value {
                Value::Whole(_) => {}
                Value::Window(_, length) => shape.push(length),
                Value::Index(sizes) => {
                    index = Some(match index {
                        None => sizes,
                        Some(old) => broadcast(&old, &sizes)?,
                    });
                }
                _ => return None,
            }
        }
        shape.extend(sizes);
        if let Some(index) = index {
            shape = index;
        }
        if shape.is_empty() {
            shape.push(1);
        }
        Some(Value::Tensor(Tensor { shape, ..tensor }))
    }

    fn call(&mut self, call: &ast::ExprCall) -> Option<Value> {
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
            ("nisa", "nc_transpose") | ("nl", "transpose") => {
                let Value::Tensor(a) = argument(0, "data")? else {
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
            ("nl", "broadcast_to") => {
                let Value::Tensor(a) = argument(0, "x")? else {
                    return None;
                };
                tile(sizes(&argument(1, "shape")?)?, a.memory, a.dtype)
            }
            ("nl", _) | ("nisa", _) => {
                // Element-wise: the shapes of all tiles together.
                let elementwise = super::operation::is_elementwise(&path);
                let mut shape: Option<Vec<i64>> = None;
                let mut kind = None;
                for value in arguments.iter().chain(
                    named
                        .iter()
                        .filter(|(name, _)| *name != "reduce_res")
                        .map(|it| it.1),
                ) {
                    if let Value::Tensor(it) = value {
                        kind = kind.or_else(|| it.dtype.clone());
                        shape = Some(match shape {
                            None => it.shape.clone(),
                            Some(old) => broadcast(&old, &it.shape)?,
                        });
                    }
                }
                let given = dtype(named.get("dtype").cloned());
                if elementwise {
                    tile(shape?, Memory::Sbuf, given.or(kind))
                } else {
                    None
                }
            }
            _ => None,
        }
    }

    fn method(&mut self, call: &ast::ExprCall, arguments: &[Value]) -> Option<Value> {
        if let Some("min" | "max") = name_of(&call.func) {
            let least = name_of(&call.func) == Some("min");
            let numbers = arguments.iter().map(|it| match it {
                Value::Whole(number) => number.fixed(),
                _ => None,
            });
            let numbers: Vec<i64> = numbers.collect::<Option<_>>()?;
            let found = if least {
                numbers.into_iter().min()
            } else {
                numbers.into_iter().max()
            };
            return Some(Value::Whole(Affine::of(found?)));
        }
        let Expr::Attribute(it) = call.func.as_ref() else {
            return None;
        };
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

fn sizes(value: &Value) -> Option<Vec<i64>> {
    match value {
        Value::Tuple(items) => items
            .iter()
            .map(|it| match it {
                Value::Whole(size) => size.fixed(),
                _ => None,
            })
            .collect(),
        Value::Whole(size) => Some(vec![size.fixed()?]),
        _ => None,
    }
}

/// The shape of two tiles combined; a single partition or column repeats.
pub(super) fn broadcast(a: &[i64], b: &[i64]) -> Option<Vec<i64>> {
    let rank = a.len().max(b.len());
    let size = |shape: &[i64], at: usize| {
        (at + shape.len())
            .checked_sub(rank)
            .map_or(1, |at| shape[at])
    };
    (0..rank)
        .map(|at| match (size(a, at), size(b, at)) {
            (x, y) if x == y => Some(x),
            (1, y) => Some(y),
            (x, 1) => Some(x),
            _ => None,
        })
        .collect()
}

fn operate(operator: Operator, left: Value, right: Value) -> Option<Value> {
    Some(match (left, right) {
        (Value::Whole(a), Value::Whole(b)) => match operator {
            Operator::Add => Value::Whole(a.plus(&b, 1)?),
            Operator::Sub => Value::Whole(a.plus(&b, -1)?),
            Operator::Mult => match (a.fixed(), b.fixed()) {
                (Some(a), _) => Value::Whole(b.times(a)?),
                (_, Some(b)) => Value::Whole(a.times(b)?),
                _ => return None,
            },
            Operator::FloorDiv => {
                Value::Whole(Affine::of(a.fixed()?.checked_div_euclid(b.fixed()?)?))
            }
            Operator::Mod => Value::Whole(Affine::of(a.fixed()?.checked_rem_euclid(b.fixed()?)?)),
            Operator::Div => Value::Number(a.fixed()? as f64 / b.fixed()? as f64),
            Operator::Pow => Value::Whole(Affine::of(
                a.fixed()?.checked_pow(u32::try_from(b.fixed()?).ok()?)?,
            )),
            _ => return None,
        },
        (Value::Index(shape), Value::Whole(_)) | (Value::Whole(_), Value::Index(shape)) => {
            Value::Index(shape)
        }
        (Value::Index(a), Value::Index(b)) => Value::Index(broadcast(&a, &b)?),
        (Value::Tensor(a), Value::Tensor(b)) => Value::Tensor(Tensor {
            shape: broadcast(&a.shape, &b.shape)?,
            memory: Memory::Sbuf,
            dtype: a.dtype,
        }),
        (Value::Tensor(a), Value::Whole(_) | Value::Number(_))
        | (Value::Whole(_) | Value::Number(_), Value::Tensor(a)) => Value::Tensor(Tensor {
            memory: Memory::Sbuf,
            ..a
        }),
        (a, b) => {
            let number = |value: &Value| match value {
                Value::Number(it) => Some(*it),
                Value::Whole(it) => it.fixed().map(|it| it as f64),
                _ => None,
            };
            let (a, b) = (number(&a)?, number(&b)?);
            Value::Number(match operator {
                Operator::Add => a + b,
                Operator::Sub => a - b,
                Operator::Mult => a * b,
                Operator::Div => a / b,
                Operator::Pow => a.powf(b),
                _ => return None,
            })
        }
    })
}
