//! What functions of `nl` that return tiles are in instructions that write to them.

use ruff_python_ast::{Expr, ExprCall};

use super::super::operation::{View, argument, commutes, only};
use super::super::shapes::{Memory, Tensor};
use super::super::source::base_of;
use crate::tensor::dtype::Dtype;

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
/// Operations of two operands, and what they make is of the operands' type unless they compare.
const ARITHMETIC: &[&str] = &[
    "add", "subtract", "multiply", "divide", "maximum", "minimum",
];
const COMPARISONS: &[&str] = &[
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
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

use Argument::{Operand, Text, Tile};

/// What a call is; `None` for functions that are no instruction, and operands that are not known.
pub(super) fn filled<'t>(view: &View<'_>, call: &'t ExprCall, parts: Parts) -> Option<Filled<'t>> {
    let path = view.source.path(&call.func)?;
    let name = path.strip_prefix("nl.")?;
    let from = Function { view, call };
    if let Some(function) = ACTIVATIONS.iter().copied().find(|it| *it == name) {
        return from.activation(function);
    }
    if let Some(op) = ARITHMETIC.iter().copied().find(|it| *it == name) {
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

struct Function<'v, 's, 't> {
    view: &'v View<'s>,
    call: &'t ExprCall,
}

impl<'t> Function<'_, '_, 't> {
    fn argument(&self, at: usize, name: &str) -> Option<&'t Expr> {
        argument(self.call, at, name)
    }

    fn tile(&self, it: &Expr) -> Option<&Tensor> {
        self.view.shapes.tile(it).filter(|it| 2 <= it.shape.len())
    }

    /// The type that is asked for, or this one.
    fn dtype(&self, own: Option<Dtype>) -> Option<String> {
        match self.argument(usize::MAX, "dtype") {
            Some(given) => Some(self.view.text(given).to_owned()),
            None => Some(format!("{}.{}", self.view.nl, own?.name())),
        }
    }

    fn op(&self, name: &str) -> Argument<'t> {
        Text(format!("{}.{name}", self.view.nl))
    }

    fn single(&self) -> String {
        format!("{}.float32", self.view.nl)
    }

    fn made(&self, stem: &'static str, like: &'t Expr, dtype: String) -> Option<Made<'t>> {
        Some(Made {
            stem,
            shape: self.tile(like)?.shape.clone(),
            like: Some(like),
            dtype,
            memory: Memory::Sbuf,
        })
    }

    /// A column with an element for each row of a tile of two dimensions.
    fn column(&self, stem: &'static str, of: &'t Expr, dtype: String) -> Option<Made<'t>> {
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

    /// What a reduction of a tile of two dimensions over its columns is given.
    fn reduced(&self) -> Option<(&'t Expr, Dtype)> {
        only(self.call, &["x", "axis", "dtype", "keepdims"]).then_some(())?;
        let data = self.argument(0, "x")?;
        self.view.last_axis(self.call, data, 1)?;
        Some((data, float(self.tile(data)?)?))
    }

    fn reduction(&self, stem: &'static str, op: &str) -> Option<Filled<'t>> {
        let (data, own) = self.reduced()?;
        Some(Filled {
            stem,
            tiles: vec![self.column(stem, data, self.dtype(Some(own))?)?],
            instructions: vec![self.reduce(0, op, Operand(data))],
        })
    }

    fn reduce(&self, dst: usize, op: &str, data: Argument<'t>) -> Instruction<'t> {
        Instruction {
            name: "tensor_reduce",
            dst,
            arguments: vec![
                ("op", self.op(op)),
                ("data", data),
                ("axis", Text("1".to_owned())),
            ],
        }
    }

    fn with(
        &self,
        dst: usize,
        data: Argument<'t>,
        op: &str,
        operand: Argument<'t>,
    ) -> Instruction<'t> {
        Instruction {
            name: "tensor_scalar",
            dst,
            arguments: vec![("data", data), ("op0", self.op(op)), ("operand0", operand)],
        }
    }

    /// The mean of the squares of what is left without the mean.
    fn variance(&self) -> Option<Filled<'t>> {
        let (data, own) = self.reduced()?;
        let count = *self.tile(data)?.shape.last()?;
        let share = || Text(format!("{:?}", 1.0 / count as f64));
        let single = || self.single();
        Some(Filled {
            stem: "variance",
            tiles: vec![
                self.column("variance", data, self.dtype(Some(own))?)?,
                self.column("total", data, single())?,
                self.column("mean", data, single())?,
                self.made("centered", data, single())?,
                self.made("squares", data, single())?,
                self.column("spread", data, single())?,
            ],
            instructions: vec![
                self.reduce(1, "add", Operand(data)),
                self.with(2, Tile(1), "multiply", share()),
                self.with(3, Operand(data), "subtract", Tile(2)),
                Instruction {
                    name: "activation",
                    dst: 4,
                    arguments: vec![("op", self.op("square")), ("data", Tile(3))],
                },
                self.reduce(5, "add", Tile(4)),
                self.with(0, Tile(5), "multiply", share()),
            ],
        })
    }

    fn mean(&self) -> Option<Filled<'t>> {
        let (data, own) = self.reduced()?;
        let count = *self.tile(data)?.shape.last()?;
        let dtype = self.dtype(Some(own))?;
        let share = Text(format!("{:?}", 1.0 / count as f64));
        let times = self.with(0, Tile(1), "multiply", share);
        Some(Filled {
            stem: "mean",
            tiles: vec![
                self.column("mean", data, dtype.clone())?,
                self.column("total", data, dtype)?,
            ],
            instructions: vec![self.reduce(1, "add", Operand(data)), times],
        })
    }

    /// Exponentials of what is left of each row's largest element, by their sum.
    fn softmax(&self) -> Option<Filled<'t>> {
        only(self.call, &["x", "axis", "dtype"]).then_some(())?;
        let data = self.argument(0, "x")?;
        if let Some(axis) = self.argument(1, "axis") {
            let axis = self.view.shapes.number(axis)?;
            (axis == -1.0 || axis == 1.0).then_some(())?;
        }
        let own = float(self.tile(data)?)?;
        let single = || self.single();
        Some(Filled {
            stem: "weights",
            tiles: vec![
                self.made("weights", data, self.dtype(Some(own))?)?,
                self.column("largest", data, single())?,
                self.made("shifted", data, single())?,
                self.made("powers", data, single())?,
                self.column("total", data, single())?,
                self.column("inverse", data, single())?,
            ],
            instructions: vec![
                self.reduce(1, "maximum", Operand(data)),
                self.with(2, Operand(data), "subtract", Tile(1)),
                Instruction {
                    name: "activation",
                    dst: 3,
                    arguments: vec![("op", self.op("exp")), ("data", Tile(2))],
                },
                self.reduce(4, "add", Tile(3)),
                Instruction {
                    name: "reciprocal",
                    dst: 5,
                    arguments: vec![("data", Tile(4))],
                },
                self.with(0, Tile(3), "multiply", Tile(5)),
            ],
        })
    }

    /// A tile of PSUM.
    fn accumulator(&self, stem: &'static str, shape: Vec<i64>, dtype: String) -> Made<'t> {
        Made {
            stem,
            shape,
            like: None,
            dtype,
            memory: Memory::Psum,
        }
    }

    /// An operand of the matrix engine, which lies in SBUF.
    fn flat(&self, it: &Expr) -> Option<(i64, i64, Dtype)> {
        let tile = self.tile(it)?;
        let fits = tile.memory == Memory::Sbuf && tile.shape.len() == 2;
        fits.then_some((tile.shape[0], tile.shape[1], float(tile)?))
    }

    fn transpose(&self) -> Option<Filled<'t>> {
        only(self.call, &["x"]).then_some(())?;
        let x = self.argument(0, "x")?;
        let (rows, columns, own) = self.flat(x)?;
        let dtype = self.dtype(Some(own))?;
        Some(Filled {
            stem: "turned",
            tiles: vec![self.accumulator("turned", vec![columns, rows], dtype)],
            instructions: vec![Instruction {
                name: "nc_transpose",
                dst: 0,
                arguments: vec![("data", Operand(x))],
            }],
        })
    }

    fn product(&self) -> Option<Filled<'t>> {
        only(self.call, &["x", "y", "transpose_x"]).then_some(())?;
        let (x, y) = (self.argument(0, "x")?, self.argument(1, "y")?);
        let turned = match self.argument(usize::MAX, "transpose_x") {
            None => false,
            Some(Expr::BooleanLiteral(it)) => it.value,
            Some(_) => return None,
        };
        let ((a, b, own), (_, n, _)) = (self.flat(x)?, self.flat(y)?);
        let m = if turned { b } else { a };
        let mut tiles = vec![self.accumulator("product", vec![m, n], self.single())];
        let mut instructions = Vec::new();
        let mut stationary = Operand(x);
        if !turned {
            let dtype = format!("{}.{}", self.view.nl, own.name());
            tiles.push(self.accumulator("turned", vec![b, a], dtype.clone()));
            tiles.push(Made {
                memory: Memory::Sbuf,
                ..self.accumulator("stationary", vec![b, a], dtype)
            });
            instructions.push(Instruction {
                name: "nc_transpose",
                dst: 1,
                arguments: vec![("data", Operand(x))],
            });
            instructions.push(Instruction {
                name: "tensor_copy",
                dst: 2,
                arguments: vec![("src", Tile(1))],
            });
            stationary = Tile(2);
        }
        instructions.push(Instruction {
            name: "nc_matmul",
            dst: 0,
            arguments: vec![("stationary", stationary), ("moving", Operand(y))],
        });
        Some(Filled {
            stem: "product",
            tiles,
            instructions,
        })
    }
}

/// The type of a tile of floating-point numbers.
fn float(tile: &Tensor) -> Option<Dtype> {
    let dtype = Dtype::parse(tile.dtype.as_deref()?)?;
    (!dtype.is_integer()).then_some(dtype)
}
