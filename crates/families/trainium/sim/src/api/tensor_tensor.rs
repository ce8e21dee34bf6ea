//! Element-wise operations of two tensors, or of a tensor with numbers and columns.

use super::arithmetic::Alu;
use super::bitwise::{BitStep, whole};
use super::elementwise::{GPSIMD, Operand, SCALAR, VECTOR};
use super::operands::{Elementwise, not_a_column, tensor};
use super::operators::{check_bits, check_column, check_operators, operand_of};
use super::results::result_type;
use super::{Bound, Device, Dialect, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::dtype::Dtype;
use crate::tensor::short::Short;
use crate::tensor::storage::Buffer;
use crate::tensor::view::View;
use crate::trace::{Choice, Operation};

/// `nisa.tensor_tensor`
pub(super) fn tensor_tensor(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let destination = device.take_destination(bound)?;
    let (a, b) = (bound.view("data1")?, bound.view("data2")?);
    let alu = bound.alu("op")?;
    let dtype = bound.dtype("dtype")?;
    let mask = bound.mask()?;
    let (a, b) = device.pair(bound, ["data1", "data2"], a, b)?;
    let (a, b) = device.not_both_psum(bound, a, b, false)?;
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
    let choice = device.choice(bound, if slow { GPSIMD } else { VECTOR })?;
    let shape = a.shape();
    let dtype = result_type(destination.as_ref(), dtype, a.dtype.promote(b.dtype));
    check_bits(bound, alu, dtype)?;
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
    device.spend(alu.work() * request.elements())?;
    if alu.is_bitwise() {
        let step = BitStep {
            operator: alu,
            number: None,
            reversed: false,
        };
        return device.bitwise(request, [step]).map(tensor);
    }
    device.divides(&[alu]);
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
pub(super) fn tensor_scalar(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let destination = device.take_destination(bound)?;
    let data = bound.view("data")?;
    let data = device.operand(bound, "data", data)?;
    let op0 = bound.operator("op0")?.ok_or_else(|| bound.missing("op0"))?;
    let operand0 = operand_of(bound, "operand0", op0)?;
    let reverse0 = bound.flag("reverse0")?;
    let op1 = bound.operator("op1")?;
    let operand1 = match op1 {
        Some(op1) => Some(operand_of(bound, "operand1", op1)?),
        None => bound.take("operand1"),
    };
    if op1.is_none() && operand1.is_some() && device.dialect == Dialect::V2 {
        return Err(Failure::documented(
            "err_unsupported_operation",
            format!(
                "{}: `operand1` is given without `op1`, which alone uses it",
                bound.api.full_name()
            ),
            "pass op1=, too, or leave operand1 away",
        ));
    }
    let reverse1 = bound.flag("reverse1")?;
    let dtype = bound.dtype("dtype")?;
    let mask = bound.mask()?;
    if let Some(op1) = op1
        && op0.is_bitwise() != op1.is_bitwise()
    {
        return Err(Failure::documented(
            "err_unsupported_operation",
            "op0 and op1 mix bits and arithmetic",
            "make both bitwise or both arithmetic",
        ));
    }
    if op0.is_bitwise() && !data.dtype.is_integer() {
        return Err(Failure::documented(
            "err_unsupported_dtype",
            format!(
                "{}: {op0:?} works on integers, not {}",
                bound.api.full_name(),
                data.dtype.name()
            ),
            "use an integer tile, or an arithmetic operator",
        ));
    }
    let linear = |op: Alu| matches!(op, Alu::Add | Alu::Multiply);
    let simple = linear(op0) && op1.is_none_or(linear);
    // The vector engine has no reciprocal root (the documentation's section on engine selection).
    let root = |op: Alu| op == Alu::InverseRoot;
    let default = if root(op0) || op1.is_some_and(root) {
        GPSIMD
    } else if simple && device.dialect == Dialect::V1 {
        Choice::VectorOrScalar
    } else {
        VECTOR
    };
    let choice = device.choice(bound, default)?;
    check_operators(bound, choice, op0, op1)?;
    if choice == SCALAR && device.dialect == Dialect::V2 && device.architecture.generation < 3 {
        device.remark(
            "scalar-engine-generation",
            "tensor_scalar runs on the scalar engine from trn2 on",
        );
    }
    let (partitions, shape) = (data.partitions(), data.shape());
    let dtype = result_type(destination.as_ref(), dtype, data.dtype);
    check_bits(bound, op0, dtype)?;
    let mut inputs = vec![data];
    let mut numbers: Short<Option<f32>, 2> = Short::new();
    let mut whole_numbers: Short<Option<i64>, 2> = Short::new();
    for (name, value) in [("operand0", Some(operand0)), ("operand1", operand1)] {
        let Some(value) = value else { continue };
        whole_numbers.push(whole(&value));
        match device.scalar_operand(bound, name, value, partitions)? {
            Operand::Number(number) => numbers.push(Some(number)),
            Operand::Column(view) => {
                check_column(device, bound, name, op0, view.dtype)?;
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
    device.spend((op0.work() + op1.map_or(0, Alu::work)) * request.elements())?;
    let steps = [(Some(op0), reverse0), (op1, reverse1)];
    if op0.is_bitwise() {
        let steps = steps.into_iter().zip(&whole_numbers);
        let steps = steps.filter_map(|((operator, reversed), number)| {
            Some(BitStep {
                operator: operator?,
                // An operator of one operand looks at no other.
                number: if operator?.is_of_one() {
                    Some(0)
                } else {
                    *number
                },
                reversed,
            })
        });
        return device.bitwise(request, steps).map(tensor);
    }
    device.divides(&[op0, op1.unwrap_or(op0)]);
    device
        .elementwise(request, |inputs| {
            let mut inputs = inputs.into_iter();
            let mut x = inputs.next().unwrap_or_default();
            for ((op, reverse), number) in steps.into_iter().zip(&numbers) {
                let Some(op) = op else { continue };
                op.apply_operand(&mut x, *number, &mut inputs, reverse);
            }
            x
        })
        .map(tensor)
}

impl Device {
    /// Notes whether the next instruction divides. The compiler of the first dialect has its own
    /// ways to divide; in the second, an instruction is what it says.
    fn divides(&mut self, operators: &[Alu]) {
        self.quotient = self.dialect == Dialect::V2 && operators.iter().any(|it| it.is_quotient());
    }
}

/// The number of `operand0`; a column becomes one of `inputs`.
fn number_or_input(
    device: &mut Device,
    bound: &Bound,
    operand: Value,
    partitions: usize,
    shape: &[usize],
    inputs: &mut Vec<View>,
) -> Outcome<Option<f32>> {
    match device.scalar_operand(bound, "operand0", operand, partitions)? {
        Operand::Number(number) => Ok(Some(number)),
        Operand::Column(view) => {
            let wide = view.spread_to(shape);
            inputs.push(wide.ok_or_else(|| bound.missing("operand0"))?);
            Ok(None)
        }
    }
}

/// `nisa.scalar_tensor_tensor`: `(data op0 operand0) op1 operand1`
pub(super) fn scalar_tensor_tensor(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let destination = device.take_destination(bound)?;
    let (data, other) = (bound.view("data")?, bound.view("operand1")?);
    let op0 = bound.operator("op0")?.ok_or_else(|| bound.missing("op0"))?;
    let op1 = bound.alu("op1")?;
    if device.dialect == Dialect::V2 && (op0.is_bitwise() || op1.is_bitwise()) {
        return Err(Failure::documented(
            "err_unsupported_operation",
            format!(
                "{}: {op0:?} and {op1:?} must both be arithmetic",
                bound.api.full_name()
            ),
            "use nisa.tensor_tensor and nisa.tensor_scalar for bits",
        ));
    }
    let (reverse0, reverse1) = (bound.flag("reverse0")?, bound.flag("reverse1")?);
    let operand0 = operand_of(bound, "operand0", op0)?;
    let dtype = bound.dtype("dtype")?;
    let mask = bound.mask()?;
    let (data, other) = device.pair(bound, ["data", "operand1"], data, other)?;
    let (data, other) = device.not_both_psum(bound, data, other, false)?;
    let choice = device.choice(bound, VECTOR)?;
    let shape = data.shape();
    let dtype = result_type(destination.as_ref(), dtype, data.dtype.promote(other.dtype));
    let partitions = data.partitions();
    let mut inputs = vec![data, other];
    let number = number_or_input(device, bound, operand0, partitions, &shape, &mut inputs)?;
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
    device.spend((op0.work() + op1.work()) * request.elements())?;
    device.divides(&[op0, op1]);
    device
        .elementwise(request, |inputs| {
            let mut inputs = inputs.into_iter();
            let mut x = inputs.next().unwrap_or_default();
            let y = inputs.next().unwrap_or_default();
            op0.apply_operand(&mut x, number, &mut inputs, reverse0);
            op1.apply_column(&mut x, &y, reverse1);
            x
        })
        .map(tensor)
}

/// `nisa.tensor_scalar_reduce`: `tensor_scalar` whose result is also summed.
pub(super) fn tensor_scalar_reduce(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let destination = device.take_destination(bound)?;
    let data = bound.view("data")?;
    let data = device.operand(bound, "data", data)?;
    let op0 = bound.operator("op0")?.ok_or_else(|| bound.missing("op0"))?;
    let (reverse, reduce_op) = (bound.flag("reverse0")?, bound.alu("reduce_op")?);
    let operand = operand_of(bound, "operand0", op0)?;
    let target = bound.optional_view("reduce_res")?;
    let target = match target {
        // Without it the total stays in the engine's accumulators.
        None if device.dialect == Dialect::V2 => None,
        None => return Err(bound.missing("reduce_res")),
        Some(target) => {
            device.check_mutable(&target)?;
            Some(device.operand(bound, "reduce_res", target)?)
        }
    };
    let start = super::totals::start(device, bound, reduce_op, data.partitions())?;
    let negate = bound.flag("reduce_res_negate")?;
    let dtype = bound.dtype("dtype")?;
    let shape = data.shape();
    let partitions = data.partitions();
    let mut inputs = vec![data.clone()];
    let number = number_or_input(device, bound, operand, partitions, &shape, &mut inputs)?;
    let width = data.free().max(1);
    let mut totals = Vec::new();
    let dtype = result_type(destination.as_ref(), dtype, data.dtype);
    let result = device.elementwise(
        Elementwise {
            operation: Operation::TensorScalarReduce,
            choice: VECTOR,
            inputs,
            streams: 1,
            shape,
            dtype,
            buffer: Buffer::Sbuf,
            mask: None,
            destination,
        },
        |inputs| {
            let mut inputs = inputs.into_iter();
            let mut x = inputs.next().unwrap_or_default();
            op0.apply_operand(&mut x, number, &mut inputs, reverse);
            totals = super::totals::of_rows(&x, width, reduce_op);
            x
        },
    )?;
    let totals = super::totals::carry(device, &start, totals, reduce_op);
    let Some(target) = target else {
        return Ok(tensor(result));
    };
    if target.elements() != partitions {
        return Err(not_a_column(&target, partitions));
    }
    let sign = if negate { -1.0 } else { 1.0 };
    let totals: Vec<f32> = totals.into_iter().map(|total| sign * total).collect();
    device.also_write(&target, &totals)?;
    Ok(tensor(result))
}
