//! What operators of element-wise instructions ask of their operands, results and engines.

use super::arithmetic::Alu;
use super::elementwise::{GPSIMD, SCALAR};
use super::{Bound, Device, Dialect, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::dtype::Dtype;
use crate::trace::Choice;

/// Refuses bitwise operations that write to floating point (documentation of `tensor_tensor` and
/// `tensor_scalar`: with operators on bits, inputs and outputs are integers).
pub(super) fn check_bits(bound: &Bound, operator: Alu, result: Dtype) -> Outcome<()> {
    if !operator.is_bitwise() || result.is_integer() {
        return Ok(());
    }
    Err(Failure::documented(
        "err_unsupported_dtype",
        format!(
            "{}: {operator:?} writes integers, and the result is {}",
            bound.api.full_name(),
            result.name()
        ),
        "write to an integer tile, and cast by nisa.tensor_copy from there",
    ))
}

/// Refuses a column of another type than float32 for arithmetic in the second dialect, whose
/// compiler says `operand0 must be float32`.
pub(super) fn check_column(
    device: &Device,
    bound: &Bound,
    name: &str,
    operator: Alu,
    column: Dtype,
) -> Outcome<()> {
    let is_taken = device.dialect == Dialect::V1
        || operator.is_bitwise()
        || matches!(column, Dtype::Float32 | Dtype::Tfloat32);
    if is_taken {
        return Ok(());
    }
    Err(Failure::documented(
        "err_unsupported_dtype",
        format!(
            "{}: the column `{name}` is {}; arithmetic takes columns of float32",
            bound.api.full_name(),
            column.name()
        ),
        "make the column a float32 tile; transfers and copies cast",
    ))
}

/// The operand of an operator. One that takes none is given nothing or zero, as the documentation
/// asks for.
pub(super) fn operand_of(bound: &mut Bound, name: &str, operator: Alu) -> Outcome<Value> {
    let Some(value) = bound.take(name) else {
        return match operator.is_of_one() {
            true => Ok(Value::Float(0.0)),
            false => Err(bound.missing(name)),
        };
    };
    if operator.is_of_one() && value.as_number().is_some_and(|number| number != 0.0) {
        return Err(Failure::documented(
            "err_unsupported_operation",
            format!(
                "{}: {operator:?} has one operand, so `{name}` must be None or 0",
                bound.api.full_name()
            ),
            format!("leave {name}= away, or put the operation with the number into op0="),
        ));
    }
    Ok(value)
}

/// Checks that the engine that `tensor_scalar` asks for has its operators: the scalar engine
/// multiplies, adds, or multiplies and then adds; the gpsimd engine takes reciprocal roots only.
pub(super) fn check_operators(
    bound: &Bound,
    choice: Choice,
    op0: Alu,
    op1: Option<Alu>,
) -> Outcome<()> {
    let message = match (choice, op0, op1) {
        (GPSIMD, Alu::InverseRoot, _) | (GPSIMD, _, Some(Alu::InverseRoot)) => return Ok(()),
        (GPSIMD, ..) => "the gpsimd engine runs tensor_scalar for op0=nl.rsqrt only",
        (SCALAR, Alu::Multiply, None | Some(Alu::Add)) | (SCALAR, Alu::Add, None) => return Ok(()),
        (SCALAR, ..) => {
            "the scalar engine runs tensor_scalar for multiply, add, or multiply and then add only"
        }
        _ => return Ok(()),
    };
    Err(Failure::documented(
        "err_unsupported_engine",
        format!("{}: {message}", bound.api.full_name()),
        "leave engine= away, or use the vector engine",
    ))
}
