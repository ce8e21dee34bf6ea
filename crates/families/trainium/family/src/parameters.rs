//! What kernels get from a problem: tensors for its buffers, and further arguments by name.

use autocomp_catalog::{Argument, Buffer, DataType, Problem, Role};
use autocomp_eval::EvalError;
use autocomp_trainium_sim::{Array, Dtype, Input};
use std::collections::BTreeMap;

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

/// Returns what a problem's kernels get, each with the name of its parameter: a tensor for each
/// buffer that is read, made by `tensor`, and then the arguments. A buffer that an argument
/// holds comes with that.
pub(crate) fn given(
    problem: &Problem,
    tensor: impl Fn(usize, &Buffer) -> Array,
) -> Vec<(String, Input)> {
    let arguments = &problem.arguments;
    let held: Vec<&str> = arguments.values().flat_map(Argument::buffers).collect();
    let read = problem.buffers.iter().enumerate();
    let mut tensors: BTreeMap<&str, Input> = read
        .filter(|(_, buffer)| buffer.is_read())
        .map(|(number, buffer)| (buffer.name.as_str(), Input::Array(tensor(number, buffer))))
        .collect();
    let alone = problem
        .buffers
        .iter()
        .filter(|it| !held.contains(&it.name.as_str()));
    let mut all: Vec<(String, Input)> = alone
        .filter_map(|it| Some((it.name.clone(), tensors.remove(it.name.as_str())?)))
        .collect();
    let named = arguments.iter();
    all.extend(named.map(|(name, value)| (name.clone(), input(value, &mut tensors))));
    all
}

/// Returns a tensor of the shape and type of a buffer.
pub(crate) fn array(buffer: &Buffer, data: Vec<f32>) -> Array {
    Array {
        dtype: element(buffer.dtype),
        shape: buffer.shape.iter().map(|extent| *extent as usize).collect(),
        data,
    }
}

fn input(argument: &Argument, tensors: &mut BTreeMap<&str, Input>) -> Input {
    match argument {
        Argument::Bool(value) => Input::Bool(*value),
        Argument::Integer(value) => Input::Int(*value),
        Argument::Number(value) => Input::Float(*value),
        Argument::Text(text) => Input::Text(text.clone()),
        Argument::Several(items) => {
            Input::Tuple(items.iter().map(|it| input(it, tensors)).collect())
        }
        Argument::Type(of) => Input::Dtype(element(of.dtype)),
        // Descriptions name each buffer once, and one that is read.
        Argument::Buffer(of) => tensors.remove(of.buffer.as_str()).unwrap_or(Input::None),
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
