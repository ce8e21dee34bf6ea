//! Operands of element-wise instructions, and what they have in common.

use super::arithmetic::Alu;
use super::bitwise::{BitStep, whole};
use super::indexing::mask_of;
use super::operands::Elementwise;
use super::partitions::check_start;
use super::{Bound, Device, Dialect, Nki, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::dtype::Dtype;
use crate::tensor::index::{Mask, broadcast};
use crate::tensor::storage::Buffer;
use crate::tensor::view::View;
use crate::trace::{Choice, Engine, Operation};

pub(super) const VECTOR: Choice = Choice::Fixed(Engine::Vector);
pub(super) const SCALAR: Choice = Choice::Fixed(Engine::Scalar);
pub(super) const GPSIMD: Choice = Choice::Fixed(Engine::Gpsimd);

/// A number or a tile of one column.
pub(super) enum Operand {
    Number(f32),
    Column(View),
}

impl Bound {
    /// The operation on two operands named by an argument.
    #[inline(always)]
    pub(super) fn alu(&mut self, name: &str) -> Outcome<Alu> {
        let value = self.required(name)?;
        self.as_alu(name, &value)
    }

    /// The operation of one or two operands named by an argument, as `op0=` and `op1=` take it.
    #[inline(always)]
    pub(super) fn operator(&mut self, name: &str) -> Outcome<Option<Alu>> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let of_one = match &value {
            Value::Foreign(Nki::Api(api)) => Alu::of_one(api.name),
            Value::Builtin(name) => Alu::of_one(name),
            _ => None,
        };
        match of_one {
            Some(alu) => Ok(Some(alu)),
            None => self.as_alu(name, &value).map(Some),
        }
    }

    #[inline(always)]
    pub(super) fn optional_alu(&mut self, name: &str) -> Outcome<Option<Alu>> {
        match self.take(name) {
            None => Ok(None),
            Some(value) => self.as_alu(name, &value).map(Some),
        }
    }

    pub(super) fn as_alu(&self, name: &str, value: &Value) -> Outcome<Alu> {
        Alu::from_value(value).ok_or_else(|| {
            let function = match value {
                Value::Foreign(Nki::Api(api)) => {
                    super::arithmetic::Function::from_name(api.name).is_some()
                }
                _ => false,
            };
            Failure::documented(
                "err_unsupported_operation",
                format!(
                    "{}: `{name}` is no operation of two operands",
                    self.api.full_name()
                ),
                if function {
                    "the scalar engine computes functions of one operand: nisa.activation(op=…)"
                } else {
                    "pass nl.add, nl.multiply, nl.subtract, nl.maximum, np.add or the like"
                },
            )
        })
    }

    #[inline(always)]
    pub(super) fn mask(&mut self) -> Outcome<Option<Mask>> {
        mask_of(self.take("mask"))
    }
}

impl Device {
    /// A scalar operand: a number, or a tile with one element in each partition.
    pub(super) fn scalar_operand(
        &mut self,
        bound: &Bound,
        name: &str,
        value: Value,
        partitions: usize,
    ) -> Outcome<Operand> {
        match value {
            Value::Foreign(Nki::Tensor(view)) => {
                let view = self.operand(bound, name, View::clone(&view))?;
                if view.free() != 1 || (view.partitions() != partitions && view.partitions() != 1) {
                    return Err(Failure::documented(
                        "err_num_partition_mismatch",
                        format!(
                            "{}: `{name}` of shape {:?} must have one element in each of {partitions} partitions",
                            bound.api.full_name(),
                            view.shape()
                        ),
                        "pass a number or a tile of shape (partitions, 1)",
                    ));
                }
                Ok(Operand::Column(view))
            }
            other => match other.as_number() {
                Some(number) => Ok(Operand::Number(number as f32)),
                None => Err(bound.wrong(name, "a number or a tile", &other)),
            },
        }
    }

    /// Two tiles of equal size.
    pub(super) fn pair(
        &mut self,
        bound: &Bound,
        names: [&str; 2],
        a: View,
        b: View,
    ) -> Outcome<(View, View)> {
        let a = self.operand(bound, names[0], a)?;
        let b = self.operand(bound, names[1], b)?;
        if a.partitions() != b.partitions() {
            return Err(Failure::documented(
                "err_num_partition_mismatch",
                format!(
                    "{}: `{}` {:?} and `{}` {:?} differ in partitions",
                    bound.api.full_name(),
                    names[0],
                    a.shape(),
                    names[1],
                    b.shape()
                ),
                "give both the same first dimension",
            ));
        }
        if a.free() != b.free() {
            // A single column repeats.
            if let Some(spread) = b.spread(&a.shape()) {
                return Ok((a, spread));
            }
            if let Some(spread) = a.spread(&b.shape()) {
                return Ok((spread, b));
            }
            return Err(Failure::documented(
                "err_annotation_shape_mismatch",
                format!(
                    "{}: `{}` {:?} and `{}` {:?} differ in size",
                    bound.api.full_name(),
                    names[0],
                    a.shape(),
                    names[1],
                    b.shape()
                ),
                "give both the same number of elements",
            ));
        }
        let b = if a.shape() == b.shape() {
            b
        } else {
            b.reshape(&a.shape()).unwrap_or(b)
        };
        Ok((a, b))
    }

    pub(super) fn not_both_psum(
        &mut self,
        bound: &Bound,
        a: View,
        b: View,
        sugar: bool,
    ) -> Outcome<(View, View)> {
        if a.buffer() == Buffer::Psum && b.buffer() == Buffer::Psum {
            if sugar {
                let b = self.in_sbuf(b)?;
                return Ok((a, b));
            }
            return Err(Failure::documented(
                "err_unsupported_memory",
                format!("{}: both operands are in PSUM", bound.api.full_name()),
                "copy one of them to SBUF first",
            ));
        }
        Ok((a, b))
    }

    /// The destination of a call of the second dialect.
    pub(super) fn take_destination(&mut self, bound: &mut Bound) -> Outcome<Option<View>> {
        if self.dialect == Dialect::V1 {
            Ok(None)
        } else {
            let target = bound.view("dst")?;
            check_start(self, bound.api, "dst", &target)?;
            Ok(Some(target))
        }
    }

    /// Two operands of any kind: tiles, columns, numbers; what the language's functions and the
    /// operators lower to. One partition is repeated over many where `repeats`, which operators do
    /// not (the vendor's list of known issues).
    #[expect(
        clippy::too_many_arguments,
        reason = "the arguments of nl's functions, one for one"
    )]
    pub(super) fn combine(
        &mut self,
        alu: Alu,
        left: Value,
        right: Value,
        mask: Option<Mask>,
        dtype: Option<Dtype>,
        destination: Option<View>,
        repeats: bool,
    ) -> Outcome<View> {
        let bad = |value: &Value| {
            Failure::python(
                "type-error",
                format!("{alu:?} of a {}", value.type_name()),
                "pass tiles and numbers",
            )
        };
        match (left, right) {
            (Value::Foreign(Nki::Tensor(a)), Value::Foreign(Nki::Tensor(b))) => {
                let (a, b) = (View::clone(&a), View::clone(&b));
                let name = "nl";
                let a = self.operand_of(name, "x", a)?;
                let b = self.operand_of(name, "y", b)?;
                let shape = broadcast(&a.shape(), &b.shape())
                    .or_else(|| {
                        (a.elements() == b.elements() && a.partitions() == b.partitions())
                            .then(|| a.shape().to_vec())
                    })
                    .ok_or_else(|| {
                        Failure::documented(
                            "err_annotation_shape_mismatch",
                            format!("{alu:?} of shapes {:?} and {:?}", a.shape(), b.shape()),
                            "make the shapes equal, or broadcastable along the free dimensions",
                        )
                    })?;
                let a = self.spread_partitions(a, shape[0], repeats)?;
                let b = self.spread_partitions(b, shape[0], repeats)?;
                let (a, b) = if a.buffer() == Buffer::Psum && b.buffer() == Buffer::Psum {
                    let b = self.in_sbuf(b)?;
                    (a, b)
                } else {
                    (a, b)
                };
                let dtype = dtype.unwrap_or_else(|| a.dtype.promote(b.dtype));
                let full: usize = shape[1..].iter().product();
                let column = full > 1 && (a.free() == 1 || b.free() == 1);
                let (first, second, reversed) = if column && a.free() == 1 {
                    (b, a, true)
                } else {
                    (a, b, false)
                };
                let other = second.spread(&shape).or_else(|| second.reshape(&shape));
                let (Some(x), Some(y)) = (first.spread(&shape), other) else {
                    return Err(Failure::documented(
                        "err_annotation_shape_mismatch",
                        format!(
                            "{alu:?} of shapes {:?} and {:?}",
                            first.shape(),
                            second.shape()
                        ),
                        "make the shapes equal",
                    ));
                };
                let elements = shape.iter().product::<usize>() as u64;
                self.spend(alu.work() * elements)?;
                let on_bits = alu.is_bitwise() && x.dtype.is_integer() && y.dtype.is_integer();
                let request = Elementwise {
                    operation: if column {
                        Operation::TensorScalar
                    } else {
                        Operation::TensorTensor
                    },
                    choice: if column && matches!(alu, Alu::Add | Alu::Multiply) {
                        Choice::VectorOrScalar
                    } else {
                        VECTOR
                    },
                    inputs: vec![x, y],
                    streams: if column { 1 } else { 2 },
                    shape: shape.into(),
                    dtype,
                    buffer: Buffer::Sbuf,
                    mask,
                    destination,
                };
                if on_bits && dtype.is_integer() {
                    let step = BitStep {
                        operator: alu,
                        number: None,
                        reversed,
                    };
                    return self.bitwise(request, [step]);
                }
                self.elementwise(request, |mut inputs| {
                    let y = inputs.pop().unwrap_or_default();
                    let mut x = inputs.pop().unwrap_or_default();
                    if reversed {
                        for (a, b) in x.iter_mut().zip(y) {
                            *a = alu.apply(b, *a);
                        }
                    } else {
                        alu.apply_all(&mut x, &y);
                    }
                    x
                })
            }
            (Value::Foreign(Nki::Tensor(a)), other) => {
                other.as_number().ok_or_else(|| bad(&other))?;
                self.with_number(
                    alu,
                    View::clone(&a),
                    &other,
                    false,
                    mask,
                    dtype,
                    destination,
                )
            }
            (other, Value::Foreign(Nki::Tensor(b))) => {
                other.as_number().ok_or_else(|| bad(&other))?;
                self.with_number(alu, View::clone(&b), &other, true, mask, dtype, destination)
            }
            (other, _) => Err(bad(&other)),
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the arguments of nl's functions, one for one"
    )]
    pub(super) fn with_number(
        &mut self,
        alu: Alu,
        view: View,
        value: &Value,
        reversed: bool,
        mask: Option<Mask>,
        dtype: Option<Dtype>,
        destination: Option<View>,
    ) -> Outcome<View> {
        let dtype = dtype.unwrap_or_else(|| weak(&view, value));
        let number = value.as_number().unwrap_or(f64::NAN) as f32;
        let view = self.operand_of("nl", "x", view)?;
        let reciprocal = alu == Alu::Divide && reversed && number == 1.0;
        let operation = if reciprocal {
            Operation::Reciprocal
        } else {
            Operation::TensorScalar
        };
        let choice = if matches!(alu, Alu::Add | Alu::Multiply | Alu::Subtract)
            || (alu == Alu::Divide && !reversed)
        {
            Choice::VectorOrScalar
        } else {
            VECTOR
        };
        let is_integer = view.dtype.is_integer() && dtype.is_integer();
        let request = Elementwise::of_one(operation, choice, view, dtype, mask, destination);
        self.spend(alu.work() * request.elements())?;
        if alu.is_bitwise() && is_integer {
            let step = BitStep {
                operator: alu,
                number: whole(value),
                reversed,
            };
            return self.bitwise(request, [step]);
        }
        self.change(request, |x| alu.apply_scalar(x, number, reversed))
    }
}

/// The type of a tile combined with a plain number.
pub(super) fn weak(view: &View, number: &Value) -> Dtype {
    match number {
        Value::Float(_) if view.dtype.is_integer() => Dtype::Float32,
        _ => view.dtype,
    }
}
