//! Element-wise instructions of the vector and scalar engines.

use super::arithmetic::{Alu, Function};
use super::indexing::mask_of;
use super::operands::{Elementwise, Output, select, selected_shape, tensor};
use super::{Bound, Device, Dialect};
use crate::diagnostic::{Failure, Outcome};
use crate::python::value::Value;
use crate::tensor::dtype::Dtype;
use crate::tensor::index::{Mask, Selection, broadcast};
use crate::tensor::storage::Buffer;
use crate::tensor::view::View;
use crate::trace::{Choice, Engine, Instruction, Operation};

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
    pub(super) fn alu(&mut self, name: &str) -> Outcome<Alu> {
        let value = self.required(name)?;
        self.as_alu(name, &value)
    }

    pub(super) fn optional_alu(&mut self, name: &str) -> Outcome<Option<Alu>> {
        match self.take(name) {
            None => Ok(None),
            Some(value) => self.as_alu(name, &value).map(Some),
        }
    }

    fn as_alu(&self, name: &str, value: &Value) -> Outcome<Alu> {
        Alu::from_value(value).ok_or_else(|| {
            Failure::documented(
                "err_unsupported_operation",
                format!(
                    "{}: `{name}` is no operation of two operands",
                    self.api.full_name()
                ),
                "pass nl.add, nl.multiply, nl.subtract, nl.maximum, np.add or the like",
            )
        })
    }

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
            Value::Tensor(view) => {
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
    fn pair(&mut self, bound: &Bound, names: [&str; 2], a: View, b: View) -> Outcome<(View, View)> {
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

    fn not_both_psum(
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
            bound.view("dst").map(Some)
        }
    }

    /// Two operands of any kind: tiles, columns, numbers; what the language's functions and the
    /// operators lower to.
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
        sugar: bool,
    ) -> Outcome<View> {
        let bad = |value: &Value| {
            Failure::python(
                "type-error",
                format!("{alu:?} of a {}", value.type_name()),
                "pass tiles and numbers",
            )
        };
        match (left, right) {
            (Value::Tensor(a), Value::Tensor(b)) => {
                let (a, b) = (View::clone(&a), View::clone(&b));
                let name = "nl";
                let a = self.operand_of(name, "x", a)?;
                let b = self.operand_of(name, "y", b)?;
                let shape = broadcast(&a.shape(), &b.shape())
                    .or_else(|| {
                        (a.elements() == b.elements() && a.partitions() == b.partitions())
                            .then(|| a.shape())
                    })
                    .ok_or_else(|| {
                        Failure::documented(
                            "err_annotation_shape_mismatch",
                            format!("{alu:?} of shapes {:?} and {:?}", a.shape(), b.shape()),
                            "make the shapes equal, or broadcastable along the free dimensions",
                        )
                    })?;
                let a = self.spread_partitions(a, shape[0], sugar)?;
                let b = self.spread_partitions(b, shape[0], sugar)?;
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
                self.elementwise(
                    Elementwise {
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
                        shape,
                        dtype,
                        buffer: Buffer::Sbuf,
                        mask,
                        destination,
                    },
                    |mut inputs| {
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
                    },
                )
            }
            (Value::Tensor(a), other) => {
                let number = other.as_number().ok_or_else(|| bad(&other))? as f32;
                self.with_number(
                    alu,
                    View::clone(&a),
                    number,
                    false,
                    weak(&a, &other),
                    mask,
                    dtype,
                    destination,
                )
            }
            (other, Value::Tensor(b)) => {
                let number = other.as_number().ok_or_else(|| bad(&other))? as f32;
                self.with_number(
                    alu,
                    View::clone(&b),
                    number,
                    true,
                    weak(&b, &other),
                    mask,
                    dtype,
                    destination,
                )
            }
            (other, _) => Err(bad(&other)),
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the arguments of nl's functions, one for one"
    )]
    fn with_number(
        &mut self,
        alu: Alu,
        view: View,
        number: f32,
        reversed: bool,
        weak: Dtype,
        mask: Option<Mask>,
        dtype: Option<Dtype>,
        destination: Option<View>,
    ) -> Outcome<View> {
        let view = self.operand_of("nl", "x", view)?;
        let shape = view.shape();
        let reciprocal = alu == Alu::Divide && reversed && number == 1.0;
        let dtype = dtype.unwrap_or(weak);
        self.elementwise(
            Elementwise {
                operation: if reciprocal {
                    Operation::Reciprocal
                } else {
                    Operation::TensorScalar
                },
                choice: if matches!(alu, Alu::Add | Alu::Multiply | Alu::Subtract)
                    || (alu == Alu::Divide && !reversed)
                {
                    Choice::VectorOrScalar
                } else {
                    VECTOR
                },
                inputs: vec![view],
                streams: 1,
                shape,
                dtype,
                buffer: Buffer::Sbuf,
                mask,
                destination,
            },
            |mut inputs| {
                let mut x = inputs.pop().unwrap_or_default();
                alu.apply_scalar(&mut x, number, reversed);
                x
            },
        )
    }

    /// Repeats one partition over many: a product with a vector of ones, 512 columns at a time.
    pub(super) fn spread_partitions(
        &mut self,
        view: View,
        partitions: usize,
        allowed: bool,
    ) -> Outcome<View> {
        if view.partitions() == partitions {
            return Ok(view);
        }
        if view.partitions() != 1 || !allowed {
            return Err(Failure::documented(
                "err_num_partition_mismatch",
                format!(
                    "a tile of shape {:?} cannot be spread over {partitions} partitions",
                    view.shape()
                ),
                "use broadcast_to, or load it once for each partition",
            ));
        }
        self.broadcast_partitions(view, partitions)
    }
}

/// The type of a tile combined with a plain number.
fn weak(view: &View, number: &Value) -> Dtype {
    match number {
        Value::Float(_) if view.dtype.is_integer() => Dtype::Float32,
        _ => view.dtype,
    }
}

/// `nisa.tensor_tensor`
pub(super) fn tensor_tensor(device: &mut Device, mut bound: Bound) -> Outcome<Value> {
    let destination = device.take_destination(&mut bound)?;
    let (a, b) = (bound.view("data1")?, bound.view("data2")?);
    let alu = bound.alu("op")?;
    let mask = bound.mask()?;
    let dtype = bound.dtype("dtype")?;
    let (a, b) = device.pair(&bound, ["data1", "data2"], a, b)?;
    let (a, b) = device.not_both_psum(&bound, a, b, false)?;
    let integers = a.dtype == Dtype::Int32
        && b.dtype == Dtype::Int32
        && matches!(alu, Alu::Add | Alu::Subtract | Alu::Multiply);
    if alu.is_bitwise() && !(a.dtype.is_integer() && b.dtype.is_integer()) {
        return Err(Failure::documented(
            "err_unsupported_dtype",
            format!(
                "{}: {alu:?} works on integers, not {} and {}",
                bound.api.full_name(),
                a.dtype.name(),
                b.dtype.name()
            ),
            "use integer tiles",
        ));
    }
    let slow = alu == Alu::Power || integers;
    let choice = device.choice(
        &mut bound,
        if slow { GPSIMD } else { VECTOR },
        &[Engine::Vector, Engine::Gpsimd],
    )?;
    if choice == GPSIMD && (a.buffer() == Buffer::Psum || b.buffer() == Buffer::Psum) {
        return Err(Failure::documented(
            "err_unsupported_memory",
            format!(
                "{}: the gpsimd engine cannot read PSUM",
                bound.api.full_name()
            ),
            "copy to SBUF first, or use the vector engine",
        ));
    }
    let shape = a.shape();
    let dtype = destination
        .as_ref()
        .map_or(dtype.unwrap_or_else(|| a.dtype.promote(b.dtype)), |d| {
            d.dtype
        });
    let request = Elementwise {
        operation: Operation::TensorTensor,
        choice,
        inputs: vec![a, b],
        streams: 2,
        shape,
        dtype,
        buffer: Buffer::Sbuf,
        mask,
        destination,
    };
    device
        .elementwise(request, |mut inputs| {
            let b = inputs.pop().unwrap_or_default();
            let mut a = inputs.pop().unwrap_or_default();
            alu.apply_all(&mut a, &b);
            a
        })
        .map(tensor)
}

/// `nisa.tensor_scalar`
pub(super) fn tensor_scalar(device: &mut Device, mut bound: Bound) -> Outcome<Value> {
    let destination = device.take_destination(&mut bound)?;
    let data = bound.view("data")?;
    let data = device.operand(&bound, "data", data)?;
    let op0 = bound.alu("op0")?;
    let operand0 = bound.required("operand0")?;
    let reverse0 = bound.flag("reverse0")?;
    let op1 = bound.optional_alu("op1")?;
    let operand1 = bound.take("operand1");
    let reverse1 = bound.flag("reverse1")?;
    let mask = bound.mask()?;
    let dtype = bound.dtype("dtype")?;
    if let Some(op1) = op1
        && op0.is_bitwise() != op1.is_bitwise()
    {
        return Err(Failure::documented(
            "err_unsupported_operation",
            "op0 and op1 mix bits and arithmetic",
            "make both bitwise or both arithmetic",
        ));
    }
    let linear = |op: Alu| matches!(op, Alu::Add | Alu::Multiply);
    let simple = linear(op0) && op1.is_none_or(linear);
    let default = if simple && device.dialect == Dialect::V1 {
        Choice::VectorOrScalar
    } else {
        VECTOR
    };
    let choice = device.choice(
        &mut bound,
        default,
        &[Engine::Vector, Engine::Scalar, Engine::Gpsimd],
    )?;
    if choice == SCALAR && device.dialect == Dialect::V2 && device.architecture.generation < 3 {
        device.remark(
            "scalar-engine-generation",
            "tensor_scalar runs on the scalar engine from trn2 on",
        );
    }
    let partitions = data.partitions();
    let shape = data.shape();
    let mut inputs = vec![data.clone()];
    let mut numbers = Vec::new();
    for (name, value) in [("operand0", Some(operand0)), ("operand1", operand1)] {
        let Some(value) = value else { continue };
        match device.scalar_operand(&bound, name, value, partitions)? {
            Operand::Number(number) => numbers.push(Some(number)),
            Operand::Column(view) => {
                let view =
                    device.spread_partitions(view, partitions, device.dialect == Dialect::V1)?;
                numbers.push(None);
                inputs.push(
                    view.spread(&shape)
                        .or_else(|| {
                            view.reshape(&[partitions, 1])
                                .and_then(|v| v.spread_to(&shape))
                        })
                        .ok_or_else(|| bound.missing(name))?,
                );
            }
        }
    }
    if op1.is_some() && numbers.len() < 2 {
        return Err(bound.missing("operand1"));
    }
    let dtype = destination
        .as_ref()
        .map_or(dtype.unwrap_or(data.dtype), |d| d.dtype);
    let request = Elementwise {
        operation: Operation::TensorScalar,
        choice,
        inputs,
        streams: 1,
        shape,
        dtype,
        buffer: Buffer::Sbuf,
        mask,
        destination,
    };
    device
        .elementwise(request, |inputs| {
            let mut inputs = inputs.into_iter();
            let mut x = inputs.next().unwrap_or_default();
            let steps = [(Some(op0), reverse0), (op1, reverse1)];
            for ((op, reverse), number) in steps.into_iter().zip(numbers) {
                let Some(op) = op else { continue };
                match number {
                    Some(number) => op.apply_scalar(&mut x, number, reverse),
                    None => {
                        let column = inputs.next().unwrap_or_default();
                        if reverse {
                            for (a, b) in x.iter_mut().zip(column) {
                                *a = op.apply(b, *a);
                            }
                        } else {
                            op.apply_all(&mut x, &column);
                        }
                    }
                }
            }
            x
        })
        .map(tensor)
}

/// `nisa.scalar_tensor_tensor`: `(data op0 operand0) op1 operand1`
pub(super) fn scalar_tensor_tensor(device: &mut Device, mut bound: Bound) -> Outcome<Value> {
    let destination = device.take_destination(&mut bound)?;
    let (data, other) = (bound.view("data")?, bound.view("operand1")?);
    let (op0, op1) = (bound.alu("op0")?, bound.alu("op1")?);
    let (reverse0, reverse1) = (bound.flag("reverse0")?, bound.flag("reverse1")?);
    let operand0 = bound.required("operand0")?;
    let mask = bound.mask()?;
    let dtype = bound.dtype("dtype")?;
    let (data, other) = device.pair(&bound, ["data", "operand1"], data, other)?;
    let (data, other) = device.not_both_psum(&bound, data, other, false)?;
    let choice = device.choice(&mut bound, VECTOR, &[Engine::Vector, Engine::Gpsimd])?;
    let shape = data.shape();
    let dtype = destination.as_ref().map_or(
        dtype.unwrap_or_else(|| data.dtype.promote(other.dtype)),
        |d| d.dtype,
    );
    let partitions = data.partitions();
    let mut inputs = vec![data, other];
    let number = match device.scalar_operand(&bound, "operand0", operand0, partitions)? {
        Operand::Number(number) => Some(number),
        Operand::Column(view) => {
            inputs.push(
                view.spread_to(&shape)
                    .ok_or_else(|| bound.missing("operand0"))?,
            );
            None
        }
    };
    let request = Elementwise {
        operation: Operation::ScalarTensorTensor,
        choice,
        inputs,
        streams: 2,
        shape,
        dtype,
        buffer: Buffer::Sbuf,
        mask,
        destination,
    };
    device
        .elementwise(request, |inputs| {
            let mut inputs = inputs.into_iter();
            let mut x = inputs.next().unwrap_or_default();
            let y = inputs.next().unwrap_or_default();
            match number {
                Some(number) => op0.apply_scalar(&mut x, number, reverse0),
                None => {
                    for (a, b) in x.iter_mut().zip(inputs.next().unwrap_or_default()) {
                        *a = if reverse0 {
                            op0.apply(b, *a)
                        } else {
                            op0.apply(*a, b)
                        };
                    }
                }
            }
            for (a, b) in x.iter_mut().zip(y) {
                *a = if reverse1 {
                    op1.apply(b, *a)
                } else {
                    op1.apply(*a, b)
                };
            }
            x
        })
        .map(tensor)
}

/// `nisa.activation` and `nisa.activation_reduce`: `f(data·scale + bias)`, summed on request.
pub(super) fn activation(device: &mut Device, mut bound: Bound) -> Outcome<Value> {
    let destination = device.take_destination(&mut bound)?;
    let op = bound.required("op")?;
    let function = Function::from_value(&op).ok_or_else(|| {
        Failure::documented(
            "err_unsupported_operation",
            format!(
                "{}: `op` is no function of the scalar engine",
                bound.api.full_name()
            ),
            "pass nl.exp, nl.copy, nl.rsqrt, np.exp or the like",
        )
    })?;
    let data = bound.view("data")?;
    let data = device.operand(&bound, "data", data)?;
    let bias = bound.take("bias");
    let scale = bound.take("scale");
    let mask = bound.mask()?;
    let dtype = bound.dtype("dtype")?;
    let reduce_op = bound.optional_alu("reduce_op")?;
    let reduce_result = bound.optional_view("reduce_res")?;
    let command = bound.take("reduce_cmd");
    let shape = data.shape();
    let partitions = data.partitions();
    let mut inputs = vec![data.clone()];
    let scale = match scale {
        None => Some(1.0),
        Some(value @ Value::Tensor(_)) => {
            match device.scalar_operand(&bound, "scale", value, partitions) {
                Ok(Operand::Column(view)) if view.dtype != Dtype::Float32 => {
                    return Err(Failure::documented(
                        "err_activation_scale_invalid_type",
                        format!("the scale tile has type {}", view.dtype.name()),
                        "scale tiles are float32",
                    ));
                }
                Ok(Operand::Column(view)) => {
                    inputs.push(
                        view.spread_to(&shape)
                            .ok_or_else(|| bound.missing("scale"))?,
                    );
                    None
                }
                Ok(Operand::Number(number)) => Some(number),
                Err(failure) => {
                    return Err(Failure::documented(
                        "err_activation_scale_scalar_or_vector",
                        failure.message,
                        "pass a number or a float32 tile of shape (partitions, 1)",
                    )
                    .at(failure.line));
                }
            }
        }
        Some(other) => match other.as_number() {
            Some(number) => Some(number as f32),
            None => {
                return Err(Failure::documented(
                    "err_activation_scale_invalid_type",
                    format!("the scale is a {}", other.type_name()),
                    "pass a number or a float32 tile",
                ));
            }
        },
    };
    let mut bias_number = 0.0;
    let bias = match bias {
        None => false,
        Some(Value::Tensor(view)) => {
            let view = device.operand(&bound, "bias", View::clone(&view))?;
            if view.dtype.is_integer() || view.dtype.bytes() == 1 {
                return Err(Failure::documented(
                    "err_activation_bias_invalid_type",
                    format!("the bias tile has type {}", view.dtype.name()),
                    "bias tiles are float32, bfloat16 or float16",
                ));
            }
            if view.free() != 1 || view.partitions() != partitions {
                return Err(Failure::documented(
                    "err_num_partition_mismatch",
                    format!("the bias tile has shape {:?}", view.shape()),
                    format!("give it the shape ({partitions}, 1)"),
                ));
            }
            inputs.push(
                view.spread_to(&shape)
                    .ok_or_else(|| bound.missing("bias"))?,
            );
            true
        }
        Some(other) => match other.as_number() {
            Some(number) if device.dialect == Dialect::V2 || number == 0.0 => {
                bias_number = number as f32;
                false
            }
            _ => {
                return Err(Failure::documented(
                    "err_activation_bias_invalid_type",
                    "the bias must be a tile of shape (partitions, 1)",
                    "put the number into a tile with nl.full or nisa.memset",
                ));
            }
        },
    };
    let command = match command {
        Some(Value::Symbol(name)) => name,
        _ if bound.api.name == "activation_reduce" => "reduce_cmd.reset_reduce",
        _ if reduce_result.is_some() && reduce_op.is_some() => "reduce_cmd.reset_reduce",
        _ => "reduce_cmd.idle",
    };
    if reduce_op.is_some_and(|op| op != Alu::Add) {
        return Err(Failure::documented(
            "err_unsupported_operation",
            "the scalar engine reduces by addition only",
            "pass reduce_op=nl.add (np.add)",
        ));
    }
    let reads_out = reduce_result.is_some();
    let dtype = destination
        .as_ref()
        .map_or(dtype.unwrap_or(data.dtype), |d| d.dtype);
    let request = Elementwise {
        operation: if reads_out {
            Operation::ActivationReduce
        } else {
            Operation::Activation
        },
        choice: SCALAR,
        inputs,
        streams: 1,
        shape: shape.clone(),
        dtype,
        buffer: Buffer::Sbuf,
        mask: mask.clone(),
        destination,
    };
    let mut sums: Vec<f32> = Vec::new();
    let wants_sums = command != "reduce_cmd.idle";
    let selection = select(mask.as_ref(), &shape)?;
    let rows = selected_shape(&selection, &shape)
        .first()
        .copied()
        .unwrap_or(1);
    let result = device.elementwise(request, |inputs| {
        let mut inputs = inputs.into_iter();
        let mut x = inputs.next().unwrap_or_default();
        match scale {
            Some(1.0) => {}
            Some(number) => x.iter_mut().for_each(|v| *v *= number),
            None => Alu::Multiply.apply_all(&mut x, &inputs.next().unwrap_or_default()),
        }
        if bias {
            Alu::Add.apply_all(&mut x, &inputs.next().unwrap_or_default());
        } else if bias_number != 0.0 {
            x.iter_mut().for_each(|v| *v += bias_number);
        }
        function.apply_all(&mut x);
        if wants_sums {
            let width = x.len() / rows.max(1);
            sums = x.chunks(width.max(1)).map(|row| row.iter().sum()).collect();
        }
        x
    })?;
    if command != "reduce_cmd.idle" && selection != Selection::Nothing {
        let first = match &selection {
            Selection::Part(bounds, _) => bounds[0].0,
            _ => 0,
        };
        for partition in 0..rows {
            let Some(slot) = device.accumulators.get_mut(first + partition) else {
                break;
            };
            if command.ends_with("reset") || command.ends_with("reset_reduce") {
                *slot = 0.0;
            }
            if command.ends_with("reduce") {
                *slot += sums.get(partition).copied().unwrap_or(0.0);
            }
        }
    }
    if let Some(target) = reduce_result {
        device.check_mutable(&target)?;
        let target = device.operand(&bound, "reduce_res", target)?;
        if target.free() != 1 || target.partitions() != partitions {
            return Err(Failure::documented(
                "err_annotation_shape_mismatch",
                format!("`reduce_res` has shape {:?}", target.shape()),
                format!("give it the shape ({partitions}, 1)"),
            ));
        }
        let values: Vec<f32> = if device.functional {
            device.accumulators[..partitions.min(128)].to_vec()
        } else {
            Vec::new()
        };
        device.write(&target, &values, None)?;
        let region = device.region(&target);
        if let Some(last) = device.trace.instructions.last_mut() {
            last.writes.push(region);
        }
        // The accumulated column is no part of the tile that a later assignment may redirect.
        result.storage.producer.set(result.storage.producer.get());
    }
    Ok(tensor(result))
}

/// `nisa.tensor_copy`, `nl.copy`
pub(super) fn copy(device: &mut Device, mut bound: Bound) -> Outcome<Value> {
    let destination = device.take_destination(&mut bound)?;
    let source = bound.view("src")?;
    let source = device.operand(&bound, "src", source)?;
    let mask = bound.mask()?;
    let dtype = bound.dtype("dtype")?;
    let default = if device.dialect == Dialect::V1 {
        Choice::VectorOrScalar
    } else {
        VECTOR
    };
    let psum = source.buffer() == Buffer::Psum
        || destination
            .as_ref()
            .is_some_and(|d| d.buffer() == Buffer::Psum);
    let default = if device.dialect == Dialect::V2 && psum {
        Choice::VectorOrScalar
    } else {
        default
    };
    let choice = device.choice(
        &mut bound,
        default,
        &[Engine::Vector, Engine::Scalar, Engine::Gpsimd],
    )?;
    if choice == GPSIMD && psum {
        return Err(Failure::documented(
            "err_unsupported_memory",
            "the gpsimd engine cannot reach PSUM",
            "copy with the vector or scalar engine",
        ));
    }
    let shape = source.shape();
    let dtype = destination
        .as_ref()
        .map_or(dtype.unwrap_or(source.dtype), |d| d.dtype);
    let request = Elementwise {
        operation: Operation::Copy,
        choice,
        inputs: vec![source],
        streams: 1,
        shape,
        dtype,
        buffer: Buffer::Sbuf,
        mask,
        destination,
    };
    device
        .elementwise(request, |mut inputs| inputs.pop().unwrap_or_default())
        .map(tensor)
}

/// `nisa.reciprocal`
pub(super) fn reciprocal(device: &mut Device, mut bound: Bound) -> Outcome<Value> {
    let destination = device.take_destination(&mut bound)?;
    let data = bound.view("data")?;
    let data = device.operand(&bound, "data", data)?;
    let mask = bound.mask()?;
    let dtype = bound.dtype("dtype")?;
    let shape = data.shape();
    let dtype = destination
        .as_ref()
        .map_or(dtype.unwrap_or(data.dtype), |d| d.dtype);
    let request = Elementwise {
        operation: Operation::Reciprocal,
        choice: VECTOR,
        inputs: vec![data],
        streams: 1,
        shape,
        dtype,
        buffer: Buffer::Sbuf,
        mask,
        destination,
    };
    device
        .elementwise(request, |mut inputs| {
            let mut x = inputs.pop().unwrap_or_default();
            Function::Reciprocal.apply_all(&mut x);
            x
        })
        .map(tensor)
}

/// `nisa.tensor_copy_predicated`: copies where the predicate is not zero.
pub(super) fn copy_predicated(device: &mut Device, mut bound: Bound) -> Outcome<Value> {
    let target = bound.view("dst")?;
    let target = device.operand(&bound, "dst", target)?;
    let predicate = bound.view("predicate")?;
    let predicate = device.operand(&bound, "predicate", predicate)?;
    let reverse = bound.flag("reverse_pred")?;
    let mask = bound.mask()?;
    if !matches!(
        predicate.dtype,
        Dtype::Uint8 | Dtype::Uint16 | Dtype::Uint32
    ) {
        return Err(Failure::documented(
            "err_unsupported_dtype",
            format!("the predicate has type {}", predicate.dtype.name()),
            "predicates are uint8, uint16 or uint32",
        ));
    }
    let shape = target.shape();
    let mut inputs = vec![];
    let source = bound.required("src")?;
    let number = match source {
        Value::Tensor(view) => {
            let view = device.operand(&bound, "src", View::clone(&view))?;
            if view.buffer() == Buffer::Psum && predicate.buffer() == Buffer::Psum {
                return Err(Failure::documented(
                    "err_unsupported_memory",
                    "source and predicate are both in PSUM",
                    "copy one of them to SBUF first",
                ));
            }
            inputs.push(view.spread_to(&shape).ok_or_else(|| bound.missing("src"))?);
            None
        }
        other => Some(
            other
                .as_number()
                .ok_or_else(|| bound.wrong("src", "a tile or a number", &other))?
                as f32,
        ),
    };
    inputs.push(
        predicate
            .spread_to(&shape)
            .ok_or_else(|| bound.missing("predicate"))?,
    );
    inputs.push(target.clone());
    let streams = inputs.len() - 1;
    let request = Elementwise {
        operation: Operation::CopyPredicated,
        choice: VECTOR,
        inputs,
        streams,
        shape,
        dtype: target.dtype,
        buffer: Buffer::Sbuf,
        mask,
        destination: Some(target.clone()),
    };
    device
        .elementwise(request, |inputs| {
            let mut inputs = inputs.into_iter();
            let source = match number {
                Some(_) => Vec::new(),
                None => inputs.next().unwrap_or_default(),
            };
            let predicate = inputs.next().unwrap_or_default();
            let mut old = inputs.next().unwrap_or_default();
            for (position, (slot, p)) in old.iter_mut().zip(predicate).enumerate() {
                if (p != 0.0) != reverse {
                    *slot =
                        number.unwrap_or_else(|| source.get(position).copied().unwrap_or(f32::NAN));
                }
            }
            old
        })
        .map(tensor)
}

/// `nisa.memset`
pub(super) fn memset(device: &mut Device, mut bound: Bound) -> Outcome<Value> {
    let value = bound
        .number("value")?
        .ok_or_else(|| bound.missing("value"))? as f32;
    let choice = device.choice(
        &mut bound,
        Choice::VectorOrGpsimd,
        &[Engine::Vector, Engine::Gpsimd, Engine::Scalar],
    )?;
    if device.dialect == Dialect::V2 {
        let target = bound.view("dst")?;
        let target = device.operand(&bound, "dst", target)?;
        device.check_mutable(&target)?;
        device.fill(&target, value)?;
        if let (Some(last), Choice::Fixed(_)) = (device.trace.instructions.last_mut(), choice) {
            last.choice = choice;
        }
        return Ok(tensor(target));
    }
    let shape = bound.sizes("shape")?;
    let dtype = bound.dtype("dtype")?.unwrap_or(Dtype::Float32);
    let mask = bound.mask()?;
    let selection = select(mask.as_ref(), &shape)?;
    let part = selected_shape(&selection, &shape);
    let mut instruction = Instruction::new(Operation::Memset, choice, device.line);
    instruction.partitions = part.first().copied().unwrap_or(1).min(128) as u16;
    instruction.free = part.iter().skip(1).product::<usize>() as u32;
    instruction.features.narrow = true;
    super::memory::check_tile(Buffer::Sbuf, dtype, &shape)?;
    let values = if device.functional {
        vec![value; part.iter().product()]
    } else {
        Vec::new()
    };
    let instruction = (selection != Selection::Nothing).then_some(instruction);
    device
        .finish(
            instruction,
            Output {
                shape,
                dtype,
                buffer: Buffer::Sbuf,
                selection,
                values,
            },
            None,
        )
        .map(tensor)
}
