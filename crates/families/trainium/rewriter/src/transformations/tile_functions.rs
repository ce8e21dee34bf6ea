//! What functions of `nl` that return tiles are in instructions that write to them.

use ruff_python_ast::{Expr, ExprCall};

use super::super::operation::{COMPARISONS, View, argument, arithmetic, commutes, only};
use super::super::shapes::{Memory, Tensor};
use super::super::source::base_of;
use autocomp_trainium_sim::Dtype;

/// Functions of the scalar engine that have the same name in `nl`.
const ACTIVATIONS: &[&str] = &[
    "exp",
    "log",
    "sqrt",
    "rsqrt",
    "square",
    "abs",
    "sign",
    "relu",
    "gelu",
    "gelu_apprx_tanh",
    "gelu_apprx_sigmoid",
    "gelu_dx",
    "sigmoid",
    "tanh",
    "silu",
    "silu_dx",
    "softplus",
    "mish",
    "erf",
    "erf_dx",
    "sin",
    "arctan",
];
/// Which functions are written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parts {
    All,
    WithoutProducts,
}

/// An argument of an instruction.
#[derive(Clone, Debug)]
pub(super) enum Argument<'t> {
    /// What the kernel gave to the function.
    Operand(&'t Expr),
    /// One of the tiles of [`Filled`].
    Tile(usize),
    Text(String),
}

/// A tile that is made.
#[derive(Clone, Debug)]
pub(super) struct Made<'t> {
    pub(super) stem: &'static str,
    pub(super) shape: Vec<i64>,
    /// What has its shape.
    pub(super) like: Option<&'t Expr>,
    /// Text of its type.
    pub(super) dtype: String,
    pub(super) memory: Memory,
}

#[derive(Clone, Debug)]
pub(super) struct Instruction<'t> {
    pub(super) name: &'static str,
    /// Which tile it writes to.
    pub(super) dst: usize,
    pub(super) arguments: Vec<(&'static str, Argument<'t>)>,
}

/// A function as instructions, in order; the first tile is what it returns.
#[derive(Clone, Debug)]
pub(super) struct Filled<'t> {
    pub(super) stem: &'static str,
    pub(super) tiles: Vec<Made<'t>>,
    pub(super) instructions: Vec<Instruction<'t>>,
}

use Argument::{Operand, Text};

/// What a call is; `None` for functions that are no instruction, and operands that are not known.
pub(super) fn filled<'t>(view: &View<'_>, call: &'t ExprCall, parts: Parts) -> Option<Filled<'t>> {
    let path = view.source.path(&call.func)?;
    let name = path.strip_prefix("nl.")?;
    let from = Function { view, call };
    if let Some(function) = ACTIVATIONS.iter().copied().find(|it| *it == name) {
        return from.activation(function);
    }
    if let Some(op) = arithmetic(name) {
        return from.binary(op, false);
    }
    if let Some(op) = COMPARISONS.iter().copied().find(|it| *it == name) {
        return from.binary(op, true);
    }
    match name {
        "load" => from.load(),
        "reciprocal" => from.simple("inverse", "x", "reciprocal", "data", vec![]),
        "copy" => from.simple("copied", "src", "tensor_copy", "src", vec![]),
        "negative" => {
            let times = vec![
                ("op0", Text(format!("{}.multiply", view.nl))),
                ("operand0", Text("-1.0".to_owned())),
            ];
            from.simple("negated", "x", "tensor_scalar", "data", times)
        }
        "sum" => from.reduction("total", "add"),
        "max" => from.reduction("largest", "maximum"),
        "min" => from.reduction("smallest", "minimum"),
        "mean" => from.mean(),
        "var" => from.variance(),
        "softmax" => from.softmax(),
        "transpose" if parts == Parts::All => from.transpose(),
        "matmul" if parts == Parts::All => from.product(),
        _ => None,
    }
}

/// A call of a function of `nl`.
pub(super) struct Function<'v, 's, 't> {
    pub(super) view: &'v View<'s>,
    pub(super) call: &'t ExprCall,
}

impl<'t> Function<'_, '_, 't> {
    pub(super) fn argument(&self, at: usize, name: &str) -> Option<&'t Expr> {
        argument(self.call, at, name)
    }

    pub(super) fn tile(&self, it: &Expr) -> Option<&Tensor> {
        self.view.shapes.tile(it).filter(|it| 2 <= it.shape.len())
    }

    /// The type that is asked for, or this one.
    pub(super) fn dtype(&self, own: Option<Dtype>) -> Option<String> {
        match self.argument(usize::MAX, "dtype") {
            Some(given) => Some(self.view.text(given).to_owned()),
            None => Some(format!("{}.{}", self.view.nl, own?.name())),
        }
    }

    pub(super) fn op(&self, name: &str) -> Argument<'t> {
        Text(format!("{}.{name}", self.view.nl))
    }

    pub(super) fn single(&self) -> String {
        format!("{}.float32", self.view.nl)
    }

    pub(super) fn made(
        &self,
        stem: &'static str,
        like: &'t Expr,
        dtype: String,
    ) -> Option<Made<'t>> {
        Some(Made {
            stem,
            shape: self.tile(like)?.shape.clone(),
            like: Some(like),
            dtype,
            memory: Memory::Sbuf,
        })
    }

    /// A column with an element for each row of a tile of two dimensions.
    pub(super) fn column(
        &self,
        stem: &'static str,
        of: &'t Expr,
        dtype: String,
    ) -> Option<Made<'t>> {
        let shape = &self.tile(of)?.shape;
        (shape.len() == 2).then_some(Made {
            stem,
            shape: vec![shape[0], 1],
            like: None,
            dtype,
            memory: Memory::Sbuf,
        })
    }

    /// One instruction on one tile.
    fn simple(
        &self,
        stem: &'static str,
        parameter: &str,
        name: &'static str,
        keyword: &'static str,
        more: Vec<(&'static str, Argument<'t>)>,
    ) -> Option<Filled<'t>> {
        only(self.call, &[parameter, "dtype"]).then_some(())?;
        let data = self.argument(0, parameter)?;
        let own = float(self.tile(data)?)?;
        let mut arguments = vec![(keyword, Operand(data))];
        arguments.extend(more);
        Some(Filled {
            stem,
            tiles: vec![self.made(stem, data, self.dtype(Some(own))?)?],
            instructions: vec![Instruction {
                name,
                dst: 0,
                arguments,
            }],
        })
    }

    fn activation(&self, function: &'static str) -> Option<Filled<'t>> {
        let mut found = self.simple(function, "x", "activation", "data", vec![])?;
        let arguments = &mut found.instructions[0].arguments;
        arguments.insert(0, ("op", self.op(function)));
        Some(found)
    }

    fn load(&self) -> Option<Filled<'t>> {
        only(self.call, &["src", "dtype"]).then_some(())?;
        let view = self.view;
        let src = self.argument(0, "src")?;
        let from = view.shapes.tensor(src)?;
        if from.memory != Memory::Main || from.shape.len() < 2 {
            return None;
        }
        let base = base_of(src).filter(|_| matches!(src, Expr::Name(_) | Expr::Subscript(_)));
        let dtype = match (self.argument(usize::MAX, "dtype"), base) {
            (None, Some(base)) => format!("{base}.dtype"),
            _ => self.dtype(from.dtype.as_deref().and_then(Dtype::parse))?,
        };
        Some(Filled {
            stem: "loaded",
            tiles: vec![Made {
                stem: "loaded",
                shape: from.shape.clone(),
                like: Some(src),
                dtype,
                memory: Memory::Sbuf,
            }],
            instructions: vec![Instruction {
                name: "dma_copy",
                dst: 0,
                arguments: vec![("src", Operand(src))],
            }],
        })
    }

    fn binary(&self, op: &'static str, compares: bool) -> Option<Filled<'t>> {
        only(self.call, &["x", "y", "dtype"]).then_some(())?;
        let shapes = &self.view.shapes;
        let (x, y) = (self.argument(0, "x")?, self.argument(1, "y")?);
        let (a, b) = (self.tile(x), self.tile(y));
        let own = match (a, b) {
            (Some(a), Some(b)) => float(a)?.promote(float(b)?),
            (Some(one), None) | (None, Some(one)) => float(one)?,
            (None, None) => return None,
        };
        let own = if compares { Dtype::Uint8 } else { own };
        let dtype = self.dtype(Some(own))?;
        let one = |name, like, arguments| -> Option<Filled<'t>> {
            Some(Filled {
                stem: "result",
                tiles: vec![self.made("result", like, dtype.clone())?],
                instructions: vec![Instruction {
                    name,
                    dst: 0,
                    arguments,
                }],
            })
        };
        // A tile with a number or column.
        let with = |data, operand, reverse: bool| {
            let mut arguments = vec![
                ("data", Operand(data)),
                ("op0", self.op(op)),
                ("operand0", Operand(operand)),
            ];
            if reverse && !commutes(op) {
                arguments.push(("reverse0", Text("True".to_owned())));
            }
            one("tensor_scalar", data, arguments)
        };
        match (a, b) {
            (Some(a), Some(b)) if a.shape == b.shape && !b.is_column() => {
                let psum = |it: &Tensor| it.memory == Memory::Psum;
                if psum(a) && psum(b) {
                    return None;
                }
                let tiles = vec![
                    ("data1", Operand(x)),
                    ("data2", Operand(y)),
                    ("op", self.op(op)),
                ];
                one("tensor_tensor", x, tiles)
            }
            (Some(a), Some(b)) if b.is_column() && a.shape[0] == b.shape[0] => with(x, y, false),
            (Some(a), Some(b)) if a.is_column() && a.shape[0] == b.shape[0] => with(y, x, true),
            (Some(_), None) if shapes.is_number(y) => with(x, y, false),
            (None, Some(_)) if op == "divide" && shapes.number(x) == Some(1.0) => {
                one("reciprocal", y, vec![("data", Operand(y))])
            }
            (None, Some(_)) if shapes.is_number(x) => with(y, x, true),
            _ => None,
        }
    }
}

/// The type of a tile of floating-point numbers.
pub(super) fn float(tile: &Tensor) -> Option<Dtype> {
    let dtype = Dtype::parse(tile.dtype.as_deref()?)?;
    (!dtype.is_integer()).then_some(dtype)
}
