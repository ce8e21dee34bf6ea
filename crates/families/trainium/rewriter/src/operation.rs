//! Element-wise calls and operators in one form, whichever way they are written.

use ruff_python_ast::{Expr, ExprCall, Operator, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::shapes::{Shapes, Tensor};
use super::source::{Place, Source, name_of, names_in};

/// Operations of two operands, and whether they may be swapped.
const BINARY: &[(&str, bool)] = &[
    ("add", true),
    ("subtract", false),
    ("multiply", true),
    ("divide", false),
    ("maximum", true),
    ("minimum", true),
];
/// Functions of the scalar engine.
const FUNCTIONS: &[&str] = &[
    "exp",
    "log",
    "sqrt",
    "rsqrt",
    "square",
    "relu",
    "gelu",
    "sigmoid",
    "tanh",
    "silu",
    "softplus",
    "mish",
    "erf",
    "sin",
    "arctan",
    "gelu_apprx_tanh",
    "abs",
    "sign",
];

/// Operations of two operands that give ones and zeros.
pub(super) const COMPARISONS: &[&str] = &[
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
];

/// The name of an operation of two operands that computes with numbers.
pub(super) fn arithmetic(name: &str) -> Option<&'static str> {
    let mut known = BINARY.iter().map(|it| it.0);
    known.find(|it| *it == name)
}

/// Whether a call is computed element by element.
pub(super) fn is_elementwise(path: &str) -> bool {
    let name = path
        .strip_prefix("nl.")
        .or_else(|| path.strip_prefix("nisa."))
        .unwrap_or(path);
    arithmetic(name).is_some()
        || FUNCTIONS.contains(&name)
        || COMPARISONS.contains(&name)
        || [
            "copy",
            "tensor_copy",
            "activation",
            "activation_reduce",
            "tensor_tensor",
            "tensor_scalar",
            "scalar_tensor_tensor",
            "reciprocal",
            "negative",
            "tensor_tensor_scan",
            "where",
            "power",
            "softmax",
            "affine_select",
        ]
        .contains(&name)
}

/// An element-wise operation.
#[derive(Clone, Debug)]
pub(super) enum Operation<'t> {
    /// A tile and a number or column.
    Scalar {
        op: &'static str,
        data: &'t Expr,
        operand: &'t Expr,
        reverse: bool,
    },
    /// Two tiles of one shape.
    Tensor {
        op: &'static str,
        a: &'t Expr,
        b: &'t Expr,
    },
    /// `f(data * scale + bias)`.
    Function {
        function: String,
        data: &'t Expr,
        scale: Option<&'t Expr>,
        bias: Option<&'t Expr>,
    },
    /// One over each element.
    Reciprocal { data: &'t Expr },
    /// Over the last axis; a mean is a sum divided by `count`.
    Reduce {
        op: &'static str,
        data: &'t Expr,
        count: Option<i64>,
    },
    /// A copy of a tile.
    Copy { data: &'t Expr },
}

/// A kernel with what is known about it.
#[derive(Debug)]
pub(super) struct View<'s> {
    pub(super) source: Source<'s>,
    pub(super) shapes: Shapes,
    /// `nl.` and `nisa.` as the file spells them.
    pub(super) nl: String,
    pub(super) nisa: String,
}

/// An instruction of the second dialect, which writes to a tile.
#[derive(Clone, Debug)]
pub(super) struct Written<'t> {
    /// Name in `nisa`.
    pub(super) name: String,
    pub(super) call: &'t ExprCall,
    pub(super) dst: &'t Expr,
}

/// The argument of a call by position or name.
pub(super) fn argument<'t>(call: &'t ExprCall, at: usize, name: &str) -> Option<&'t Expr> {
    let named = call
        .arguments
        .keywords
        .iter()
        .find(|it| it.arg.as_deref() == Some(name));
    call.arguments
        .args
        .get(at)
        .or_else(|| named.map(|it| &it.value))
}

/// Whether a call has no other keywords than these.
pub(super) fn only(call: &ExprCall, names: &[&str]) -> bool {
    call.arguments
        .keywords
        .iter()
        .all(|it| it.arg.as_deref().is_some_and(|it| names.contains(&it)))
}

fn binary(name: &str) -> Option<&'static str> {
    BINARY.iter().find(|it| it.0 == name).map(|it| it.0)
}

/// Whether the operands of an operation may be swapped.
pub(super) fn commutes(op: &str) -> bool {
    BINARY.iter().any(|it| it.0 == op && it.1)
}

impl<'s> View<'s> {
    /// Name of an operation passed as `op=`.
    fn op(&self, expression: &Expr) -> Option<&'static str> {
        let path = self.source.path(expression)?;
        binary(path.split_once('.')?.1)
    }

    /// The element-wise operation that an expression is, of the type that comes of its operands.
    pub(super) fn operation<'t>(&self, expression: &'t Expr) -> Option<Operation<'t>> {
        self.read(expression, false)
    }

    /// The element-wise operation that an expression is, and the argument `, dtype=…` by which it
    /// names its type, if it does.
    pub(super) fn typed_operation<'t>(
        &self,
        expression: &'t Expr,
    ) -> Option<(Operation<'t>, String)> {
        let dtype = match expression {
            Expr::Call(call) if self.source.first_dialect() => {
                argument(call, usize::MAX, "dtype").map(|it| format!(", dtype={}", self.text(it)))
            }
            _ => None,
        };
        let operation = self.read(expression, dtype.is_some())?;
        Some((operation, dtype.unwrap_or_default()))
    }

    /// The function of an instruction of the first dialect that sums its results on the way, and the
    /// arguments `, reduce_op=…` and so on that it has besides.
    pub(super) fn summed_function<'t>(
        &self,
        expression: &'t Expr,
    ) -> Option<(Operation<'t>, String)> {
        let Expr::Call(call) = expression else {
            return None;
        };
        if !self.source.first_dialect()
            || self.source.path(&call.func)? != "nisa.activation_reduce"
            || 2 < call.arguments.args.len()
        {
            return None;
        }
        let own = ["op", "data", "bias", "scale"];
        let others = call.arguments.keywords.iter().filter_map(|it| {
            let name = it.arg.as_deref()?;
            (!own.contains(&name)).then(|| format!(", {name}={}", self.text(&it.value)))
        });
        let path = self.source.path(argument(call, 0, "op")?)?;
        let function = Operation::Function {
            function: path.split_once('.')?.1.to_owned(),
            data: argument(call, 1, "data")?,
            scale: argument(call, usize::MAX, "scale"),
            bias: argument(call, usize::MAX, "bias"),
        };
        Some((function, others.collect()))
    }

    fn read<'t>(&self, expression: &'t Expr, typed: bool) -> Option<Operation<'t>> {
        match expression {
            Expr::BinOp(it) => {
                let op = match it.op {
                    Operator::Add => "add",
                    Operator::Sub => "subtract",
                    Operator::Mult => "multiply",
                    Operator::Div => "divide",
                    _ => return None,
                };
                self.two(op, &it.left, &it.right)
            }
            Expr::Call(call) => self.call(call, typed),
            _ => None,
        }
    }

    fn two<'t>(&self, op: &'static str, a: &'t Expr, b: &'t Expr) -> Option<Operation<'t>> {
        let narrow = |it: &Expr| {
            self.shapes.is_number(it) || self.shapes.tile(it).is_some_and(Tensor::is_column)
        };
        let tile = |it: &Expr| self.shapes.tile(it).cloned();
        match (tile(a), tile(b)) {
            (Some(x), Some(y)) if x.shape == y.shape && !x.is_column() => {
                Some(Operation::Tensor { op, a, b })
            }
            (Some(x), _) if narrow(b) && self.repeats(b, &x) => {
                if op == "divide" && self.shapes.number(a) == Some(1.0) {
                    return None;
                }
                Some(Operation::Scalar {
                    op,
                    data: a,
                    operand: b,
                    reverse: false,
                })
            }
            (_, Some(y)) if narrow(a) && self.repeats(a, &y) => {
                if op == "divide" && self.shapes.number(a) == Some(1.0) {
                    return Some(Operation::Reciprocal { data: b });
                }
                Some(Operation::Scalar {
                    op,
                    data: b,
                    operand: a,
                    reverse: !commutes(op),
                })
            }
            _ => None,
        }
    }

    /// Whether a number or column can be combined with a tile.
    fn repeats(&self, operand: &Expr, tile: &Tensor) -> bool {
        self.shapes
            .tile(operand)
            .is_none_or(|it| it.shape.first() == tile.shape.first())
    }

    /// The operation of a call, which may name its type if `typed`.
    fn call<'t>(&self, call: &'t ExprCall, typed: bool) -> Option<Operation<'t>> {
        let path = self.source.path(&call.func)?;
        let (module, name) = path.split_once('.')?;
        let second = !self.source.first_dialect();
        // Instructions that write to a tile name all of their operands.
        if second && (module != "nisa" || !call.arguments.args.is_empty()) {
            return None;
        }
        let only = |call: &ExprCall, names: &[&str]| {
            call.arguments.keywords.iter().all(|it| {
                it.arg.as_deref().is_some_and(|it| {
                    names.contains(&it) || (second && it == "dst") || (typed && it == "dtype")
                })
            })
        };
        let function = |name: &str, data| Operation::Function {
            function: name.to_owned(),
            data,
            scale: None,
            bias: None,
        };
        match (module, name) {
            ("nl", "negative") => None,
            ("nl", "reciprocal") if only(call, &["x"]) => Some(Operation::Reciprocal {
                data: argument(call, 0, "x")?,
            }),
            ("nisa", "reciprocal") if only(call, &["data"]) => Some(Operation::Reciprocal {
                data: argument(call, 0, "data")?,
            }),
            ("nl", "copy") if only(call, &["src"]) => Some(Operation::Copy {
                data: argument(call, 0, "src")?,
            }),
            ("nisa", "tensor_copy") if only(call, &["src"]) => Some(Operation::Copy {
                data: argument(call, 0, "src")?,
            }),
            ("nl", name) if FUNCTIONS.contains(&name) && only(call, &["x"]) => {
                Some(function(name, argument(call, 0, "x")?))
            }
            ("nl", name) if binary(name).is_some() && only(call, &["x", "y"]) => self.two(
                binary(name)?,
                argument(call, 0, "x")?,
                argument(call, 1, "y")?,
            ),
            ("nisa", "activation") if only(call, &["op", "data", "bias", "scale"]) => {
                let path = self.source.path(argument(call, 0, "op")?)?;
                Some(Operation::Function {
                    function: path.split_once('.')?.1.to_owned(),
                    data: argument(call, 1, "data")?,
                    scale: argument(call, 9, "scale"),
                    bias: argument(call, 9, "bias"),
                })
            }
            ("nisa", "tensor_tensor") if only(call, &["data1", "data2", "op"]) => {
                let (a, b) = (argument(call, 0, "data1")?, argument(call, 1, "data2")?);
                let op = self.op(argument(call, 2, "op")?)?;
                let same = self.shapes.tile(a)?.shape == self.shapes.tile(b)?.shape;
                same.then_some(Operation::Tensor { op, a, b })
            }
            ("nisa", "tensor_scalar")
                if only(call, &["data", "op0", "operand0"]) && call.arguments.args.len() <= 3 =>
            {
                Some(Operation::Scalar {
                    op: self.op(argument(call, 1, "op0")?)?,
                    data: argument(call, 0, "data")?,
                    operand: argument(call, 2, "operand0")?,
                    reverse: false,
                })
            }
            ("nl", "sum" | "max" | "min" | "mean") if only(call, &["x", "axis", "keepdims"]) => {
                let data = argument(call, 0, "x")?;
                self.last_axis(call, data, 1)?;
                let shape = &self.shapes.tile(data)?.shape;
                Some(Operation::Reduce {
                    op: match name {
                        "max" => "maximum",
                        "min" => "minimum",
                        _ => "add",
                    },
                    data,
                    count: if name == "mean" {
                        Some(*shape.last()?)
                    } else {
                        None
                    },
                })
            }
            ("nisa", "tensor_reduce") if only(call, &["op", "data", "axis", "keepdims"]) => {
                let data = argument(call, 1, "data")?;
                self.last_axis(call, data, 2)?;
                let op = self.source.path(argument(call, 0, "op")?)?;
                let op = match op.split_once('.')?.1 {
                    "add" | "sum" => "add",
                    "max" | "maximum" => "maximum",
                    _ => return None,
                };
                Some(Operation::Reduce {
                    op,
                    data,
                    count: None,
                })
            }
            _ => None,
        }
    }

    /// The comparison of a float32 tile with a number or column that an expression is, in the first
    /// dialect: its ones and zeros are exact in whatever type an operation goes on with them.
    pub(super) fn comparison<'t>(&self, expression: &'t Expr) -> Option<Operation<'t>> {
        let Expr::Call(call) = expression else {
            return None;
        };
        let path = self.source.path(&call.func)?;
        let name = path.strip_prefix("nl.")?;
        let op = COMPARISONS.iter().find(|it| **it == name)?;
        if !self.source.first_dialect() || !only(call, &["x", "y"]) {
            return None;
        }
        let found = self.two(op, argument(call, 0, "x")?, argument(call, 1, "y")?)?;
        let Operation::Scalar { data, .. } = found else {
            return None;
        };
        let wide = self.shapes.tile(data)?.dtype.as_deref() == Some("float32");
        wide.then_some(found)
    }

    /// Requires a reduction of a two-dimensional tile over its columns.
    pub(super) fn last_axis(&self, call: &ExprCall, data: &Expr, at: usize) -> Option<()> {
        let axis = argument(call, at, "axis")?;
        let axis = match axis {
            Expr::Tuple(it) if it.elts.len() == 1 => &it.elts[0],
            Expr::List(it) if it.elts.len() == 1 => &it.elts[0],
            other => other,
        };
        let axis = self.shapes.number(axis)?;
        (self.shapes.tile(data)?.shape.len() == 2 && (axis == 1.0 || axis == -1.0)).then_some(())
    }

    /// The instruction of the second dialect that a statement is.
    pub(super) fn written<'t>(&self, statement: &'t Stmt) -> Option<Written<'t>> {
        let Stmt::Expr(it) = statement else {
            return None;
        };
        let Expr::Call(call) = it.value.as_ref() else {
            return None;
        };
        let path = self.source.path(&call.func)?;
        let name = path.strip_prefix("nisa.")?.to_owned();
        if !call.arguments.args.is_empty() {
            return None;
        }
        let dst = argument(call, usize::MAX, "dst")?;
        Some(Written { name, call, dst })
    }

    /// What an operand is made by: itself if it is an expression, or the expression that its
    /// name was bound to before in the same block, with that statement. The name must be read
    /// nowhere else if `alone`.
    pub(super) fn made_by<'t>(
        &self,
        place: Place<'t>,
        operand: &'t Expr,
        alone: bool,
    ) -> Option<(&'t Expr, Option<&'t Stmt>)> {
        let Some(name) = name_of(operand) else {
            return Some((operand, None));
        };
        // In the second dialect the instruction that writes a tile names it, too.
        let readers = match self.source.first_dialect() {
            true => 1,
            false => 2,
        };
        if !self.shapes.constant(name) || (alone && self.shapes.reads(name) != readers) {
            return None;
        }
        for statement in place.block[..place.at].iter().rev() {
            let (target, value) = match statement {
                Stmt::Assign(it) if readers == 1 => match it.targets.as_slice() {
                    [target] => (target, it.value.as_ref()),
                    _ => continue,
                },
                Stmt::Expr(it) if readers == 2 => match self.written(statement) {
                    Some(written) => (written.dst, it.value.as_ref()),
                    None => continue,
                },
                _ => continue,
            };
            if name_of(target) != Some(name) {
                continue;
            }
            // Nothing that it reads may change before it is used.
            let between = TextRange::new(statement.end(), place.statement().end());
            let stays = names_in(value)
                .into_iter()
                .all(|it| !self.shapes.touched(it, between));
            return stays.then_some((value, Some(statement)));
        }
        None
    }

    /// The text of a node.
    pub(super) fn text(&self, node: &impl Ranged) -> &'s str {
        self.source.slice(node)
    }

    /// The line of a node, from 1.
    pub(super) fn line(&self, node: &impl Ranged) -> usize {
        let before = self
            .source
            .text
            .get(..usize::from(node.start()))
            .unwrap_or_default();
        before.matches('\n').count() + 1
    }
}
