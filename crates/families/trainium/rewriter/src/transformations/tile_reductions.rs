//! Reductions of rows and products as instructions.

use ruff_python_ast::Expr;

use super::super::operation::only;
use super::super::shapes::Memory;
use super::tile_functions::Argument::{self, Operand, Text, Tile};
use super::tile_functions::{Filled, Function, Instruction, Made, float};
use autocomp_trainium_sim::Dtype;

impl<'t> Function<'_, '_, 't> {
    /// What a reduction of a tile of two dimensions over its columns is given.
    fn reduced(&self) -> Option<(&'t Expr, Dtype)> {
        only(self.call, &["x", "axis", "dtype", "keepdims"]).then_some(())?;
        let data = self.argument(0, "x")?;
        self.view.last_axis(self.call, data, 1)?;
        Some((data, float(self.tile(data)?)?))
    }

    pub(super) fn reduction(&self, stem: &'static str, op: &str) -> Option<Filled<'t>> {
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
    pub(super) fn variance(&self) -> Option<Filled<'t>> {
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

    pub(super) fn mean(&self) -> Option<Filled<'t>> {
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
    pub(super) fn softmax(&self) -> Option<Filled<'t>> {
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

    pub(super) fn transpose(&self) -> Option<Filled<'t>> {
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

    pub(super) fn product(&self) -> Option<Filled<'t>> {
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
