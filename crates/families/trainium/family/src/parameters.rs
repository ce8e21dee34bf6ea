//! What kernels get from a problem: tensors for its buffers, and further arguments by name.

use autocomp_catalog::{Argument, Buffer, DataType, Problem, Role};
use autocomp_eval::EvalError;
use autocomp_trainium_sim::{Dtype, Input};

/// Largest whole number up to which the simulator holds all: it computes in single precision.
const EXACT: f64 = 16_777_216.0;

/// Says what the simulator cannot do, before any kernel is blamed.
pub(crate) fn check(problem: &Problem) -> Result<(), EvalError> {
    let inout = problem.buffers.iter().find(|it| it.role == Role::Inout);
    if let Some(buffer) = inout {
        return Err(EvalError::Input {
            message: format!(
                "buffer {} of {} has the role inout, which problems of Trainium cannot have",
                buffer.name, problem.name
            ),
            remedies: vec!["use an input and an output: kernels return what they write".into()],
        });
    }
    for set in &problem.input_sets {
        for (name, distribution) in &set.fill {
            let wide = |it: &&Buffer| {
                it.name == *name && matches!(it.dtype, DataType::Int32 | DataType::UInt32)
            };
            let Some(buffer) = problem.buffers.iter().find(wide) else {
                continue;
            };
            if EXACT < distribution.largest() {
                return Err(EvalError::Input {
                    message: format!(
                        "input set {} fills {} ({}) with numbers beyond {EXACT}, which the simulator does not hold exactly: its engines compute in single precision",
                        set.name,
                        buffer.name,
                        buffer.dtype.name()
                    ),
                    remedies: vec![
                        "give values from -16777216 to 16777216, or a 16-bit type".into(),
                    ],
                });
            }
        }
    }
    Ok(())
}

/// The arguments of a problem's kernels beside its buffers.
pub(crate) fn arguments(problem: &Problem) -> impl Iterator<Item = (String, Input)> {
    let all = problem.arguments.iter();
    all.map(|(name, argument)| (name.clone(), input(argument)))
}

fn input(argument: &Argument) -> Input {
    match argument {
        Argument::Bool(value) => Input::Bool(*value),
        Argument::Integer(value) => Input::Int(*value),
        Argument::Number(value) => Input::Float(*value),
        Argument::Text(text) => Input::Text(text.clone()),
        Argument::Several(items) => Input::Tuple(items.iter().map(input).collect()),
        Argument::Type(of) => Input::Dtype(element(of.dtype)),
    }
}

/// The type of the device's elements for that of a buffer.
pub(crate) fn element(dtype: DataType) -> Dtype {
    match dtype {
        DataType::Int8 => Dtype::Int8,
        // As the device has it.
        DataType::UInt8 | DataType::Bool => Dtype::Uint8,
        DataType::Int16 => Dtype::Int16,
        DataType::UInt16 => Dtype::Uint16,
        DataType::Int32 => Dtype::Int32,
        DataType::UInt32 => Dtype::Uint32,
        DataType::Float8E4M3 => Dtype::Float8E4m3,
        DataType::Float8E4M3Fn => Dtype::Float8E4m3fn,
        DataType::Float8E5M2 => Dtype::Float8E5m2,
        DataType::Float16 => Dtype::Float16,
        DataType::BFloat16 => Dtype::Bfloat16,
        DataType::Float32 => Dtype::Float32,
    }
}
