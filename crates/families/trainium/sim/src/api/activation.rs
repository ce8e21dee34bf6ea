//! Functions of the scalar engine, with the sums that it keeps.

use super::arithmetic::{Alu, Function};
use super::compiler_tiles::no_bias;
use super::elementwise::{Operand, SCALAR};
use super::operands::{Elementwise, not_a_column, select, selected_shape, tensor};
use super::results::result_type;
use super::{Bound, Device, Dialect, Nki, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::dtype::Dtype;
use crate::tensor::index::Selection;
use crate::tensor::storage::{Buffer, poison};
use crate::tensor::view::View;
use crate::trace::Operation;

/// `nisa.activation` and `nisa.activation_reduce`: `f(data·scale + bias)`, summed on request.
pub(super) fn activation(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let destination = device.take_destination(bound)?;
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
    let data = device.operand(bound, "data", data)?;
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
        Some(value @ Value::Foreign(Nki::Tensor(_))) => {
            match device.scalar_operand(bound, "scale", value, partitions) {
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
        Some(Value::Foreign(Nki::Tensor(view))) => {
            let view = device.operand(bound, "bias", View::clone(&view))?;
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
    if !bias {
        device.leave(|| no_bias(&bound.api.full_name()))?;
    }
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
    let dtype = result_type(destination.as_ref(), dtype, data.dtype);
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
    let mut beyond = None;
    let wants_sums = command != "reduce_cmd.idle";
    let selection = select(mask.as_ref(), &shape)?;
    let rows = selected_shape(&selection, &shape)
        .first()
        .copied()
        .unwrap_or(1);
    device.spend(function.work() * request.elements())?;
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
        let outside: Vec<usize> = match function.range().is_some() {
            true => (0..x.len())
                .filter(|at| function.is_outside(x[*at]))
                .collect(),
            false => Vec::new(),
        };
        beyond = outside.first().map(|at| x[*at]);
        function.apply_all(&mut x);
        outside.into_iter().for_each(|at| x[at] = poison());
        if wants_sums {
            let width = x.len() / rows.max(1);
            sums = x.chunks(width.max(1)).map(|row| row.iter().sum()).collect();
        }
        x
    })?;
    if let (Some(value), Some(range)) = (beyond, function.range()) {
        let remedy = match function {
            Function::Sin if device.dialect == Dialect::V2 => {
                "bring the operand into the range first, or call nl.sin, which does so itself"
            }
            _ => "bring the operand into the range first",
        };
        device.warn(
            "activation-range",
            format!(
                "{}: the function of `op` is given {value}, and the scalar engine computes it for operands {range} only",
                bound.api.full_name()
            ),
            remedy,
        );
    }
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
        let target = device.operand(bound, "reduce_res", target)?;
        if target.free() != 1 || target.partitions() != partitions {
            return Err(not_a_column(&target, partitions));
        }
        let values: Vec<f32> = if device.functional {
            device.accumulators[..partitions.min(128)].to_vec()
        } else {
            Vec::new()
        };
        device.also_write(&target, &values)?;
        // The accumulated column is no part of the tile that a later assignment may redirect.
        result.storage.producer.set(result.storage.producer.get());
    }
    Ok(tensor(result))
}
