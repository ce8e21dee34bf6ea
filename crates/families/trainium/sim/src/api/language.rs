//! Functions of `nki.language` that lower to instructions.

use super::arithmetic::{Alu, Function};
use super::compiler_tiles::no_bias;
use super::elementwise::{SCALAR, VECTOR};
use super::operands::{Elementwise, tensor};
use super::{Bound, Device, Dialect, Nki, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::dtype::Dtype;
use crate::tensor::index::Selection;
use crate::tensor::storage::Buffer;
use crate::tensor::view::View;
use crate::trace::{Choice, Operation};
use autocomp_python::Binary;

/// A function of one operand.
pub(super) fn unary(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let x = bound.view("x")?;
    let x = device.operand(bound, "x", x)?;
    let (dtype, mask) = (bound.dtype("dtype")?, bound.mask()?);
    let Some(function) = Function::from_name(bound.api.name) else {
        return Err(bound.missing("x"));
    };
    let (operation, choice) = match function {
        Function::Reciprocal => (Operation::Reciprocal, VECTOR),
        Function::Negative | Function::Abs => (Operation::TensorScalar, Choice::VectorOrScalar),
        Function::Square => (Operation::Activation, Choice::VectorOrScalar),
        Function::LogicalNot | Function::Invert => (Operation::TensorScalar, VECTOR),
        Function::Copy => (Operation::Copy, Choice::VectorOrScalar),
        _ => (Operation::Activation, SCALAR),
    };
    if choice == SCALAR {
        device.leave(|| no_bias(&bound.api.full_name()))?;
    }
    let dtype = dtype.unwrap_or(
        if x.dtype.is_integer() && operation == Operation::Activation {
            Dtype::Float32
        } else {
            x.dtype
        },
    );
    let request = Elementwise::of_one(operation, choice, x, dtype, mask, None);
    device.spend(function.work() * request.elements())?;
    device
        .change(request, |x| function.apply_all(x))
        .map(tensor)
}

/// A function of two operands.
pub(super) fn binary(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let (x, y) = (bound.required("x")?, bound.required("y")?);
    let (dtype, mask) = (bound.dtype("dtype")?, bound.mask()?);
    let Some(alu) = Alu::from_name(bound.api.name) else {
        return Err(bound.missing("x"));
    };
    if alu.is_comparison() && dtype.is_none() {
        return device
            .combine(alu, x, y, mask, Some(Dtype::Uint8), None, true)
            .map(tensor);
    }
    device
        .combine(alu, x, y, mask, dtype, None, true)
        .map(tensor)
}

/// `nl.copy`
pub(super) fn copy(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    // As an operation it is the identity; as a function it copies a tile.
    let source = bound.view("src")?;
    let source = device.operand(bound, "src", source)?;
    let (mask, dtype) = (bound.mask()?, bound.dtype("dtype")?);
    let dtype = dtype.unwrap_or(source.dtype);
    device.copied(source, dtype, mask).map(tensor)
}

/// `nl.softmax`
pub(super) fn softmax(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let x = bound.view("x")?;
    let x = device.operand(bound, "x", x)?;
    let dtype = bound.dtype("dtype")?.unwrap_or(x.dtype);
    let axis = bound.integer("axis")?.unwrap_or(-1);
    let rank = x.dimensions.len();
    if axis != -1 && axis != rank as i64 - 1 {
        return Err(Failure::documented(
            "err_unsupported_axis",
            format!("nl.softmax over axis {axis}"),
            "use the last axis",
        ));
    }
    let reduction = |alu, negate| super::reduce::Reduction {
        alu,
        axes: vec![rank - 1],
        keep: true,
        dtype: Dtype::Float32,
        negate,
        scale: None,
        mask: None,
        destination: None,
    };
    let largest = device.reduce(x.clone(), reduction(Alu::Maximum, false))?;
    let shifted = device.combine(
        Alu::Subtract,
        tensor(x),
        tensor(largest),
        None,
        Some(Dtype::Float32),
        None,
        true,
    )?;
    let (activation, single) = (Operation::Activation, Dtype::Float32);
    device.leave(|| no_bias(&bound.api.full_name()))?;
    let request = Elementwise::of_one(activation, SCALAR, shifted, single, None, None);
    let powers = device.change(request, |x| Function::Exp.apply_all(x))?;
    let total = device.reduce(powers.clone(), reduction(Alu::Add, false))?;
    let inverse = device.combine(
        Alu::Divide,
        Value::Float(1.0),
        tensor(total),
        None,
        None,
        None,
        true,
    )?;
    device
        .combine(
            Alu::Multiply,
            tensor(powers),
            tensor(inverse),
            None,
            Some(dtype),
            None,
            true,
        )
        .map(tensor)
}

/// `nl.rms_norm(x, w, axis, n, epsilon)`
pub(super) fn rms_norm(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let x = bound.view("x")?;
    let x = device.operand(bound, "x", x)?;
    let weight = bound.view("w")?;
    let rank = x.dimensions.len();
    let count = bound
        .integer("n")?
        .unwrap_or_else(|| x.dimensions.last().map_or(1, |d| d.size as i64))
        .max(1);
    let epsilon = bound.number("epsilon")?.unwrap_or(1e-6);
    let dtype = bound.dtype("dtype")?.unwrap_or(x.dtype);
    let squares = device.combine(
        Alu::Multiply,
        tensor(x.clone()),
        tensor(x.clone()),
        None,
        Some(Dtype::Float32),
        None,
        true,
    )?;
    let total = device.reduce(
        squares,
        super::reduce::Reduction {
            alu: Alu::Add,
            axes: vec![rank - 1],
            keep: true,
            dtype: Dtype::Float32,
            negate: false,
            scale: None,
            mask: None,
            destination: None,
        },
    )?;
    let mean = device.combine(
        Alu::Multiply,
        tensor(total),
        Value::Float(1.0 / count as f64),
        None,
        None,
        None,
        true,
    )?;
    let mean = device.combine(
        Alu::Add,
        tensor(mean),
        Value::Float(epsilon),
        None,
        None,
        None,
        true,
    )?;
    let (activation, single) = (Operation::Activation, Dtype::Float32);
    device.leave(|| no_bias(&bound.api.full_name()))?;
    let request = Elementwise::of_one(activation, SCALAR, mean, single, None, None);
    let inverse = device.change(request, |x| Function::Rsqrt.apply_all(x))?;
    let scaled = device.combine(
        Alu::Multiply,
        tensor(x),
        tensor(inverse),
        None,
        Some(Dtype::Float32),
        None,
        true,
    )?;
    device
        .combine(
            Alu::Multiply,
            tensor(scaled),
            tensor(weight),
            None,
            Some(dtype),
            None,
            true,
        )
        .map(tensor)
}

/// `nl.loop_reduce(x, op, loop_indices)`: the running total over the iterations of loops.
pub(super) fn loop_reduce(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let x = bound.view("x")?;
    let x = device.operand(bound, "x", x)?;
    let alu = bound.alu("op")?;
    let indices = bound.required("loop_indices")?;
    let (dtype, mask) = (bound.dtype("dtype")?, bound.mask()?);
    let first = match &indices {
        Value::List(list) => list.borrow().0.iter().all(|v| v.as_int() == Some(0)),
        Value::Tuple(items) => items.0.iter().all(|v| v.as_int() == Some(0)),
        other => other.as_int() == Some(0),
    };
    let key = device.line;
    let shape = x.shape();
    let dtype = dtype.unwrap_or(x.dtype);
    let old = if first {
        None
    } else {
        device.loop_totals.get(&key).cloned()
    };
    let request = Elementwise {
        operation: if old.is_none() {
            Operation::Copy
        } else {
            Operation::TensorTensor
        },
        choice: VECTOR,
        inputs: vec![x],
        streams: 1,
        shape,
        dtype,
        buffer: Buffer::Sbuf,
        mask,
        destination: None,
    };
    let (mut own, mut total) = (Vec::new(), Vec::new());
    device.accumulating = Some(match alu {
        Alu::Add => Binary::Add,
        _ => Binary::Multiply,
    });
    let result = device.elementwise(request, |mut inputs| {
        let mut x = inputs.pop().unwrap_or_default();
        own.clone_from(&x);
        if let Some(old) = &old {
            alu.apply_all(&mut x, old);
        }
        total.clone_from(&x);
        x
    });
    device.accumulating = None;
    let result = result?;
    if *result.storage.selection.borrow() != Selection::Nothing {
        device.loop_totals.insert(key, total);
    }
    // A place that it is assigned to holds the total so far: other loops inside may have gone
    // over other places since.
    let added = !first && device.functional;
    device.reducing = added.then(|| super::Reducing {
        storage: result.storage.id,
        values: own,
        alu,
    });
    Ok(tensor(result))
}

/// `nl.program_id`, `nl.num_programs`, `nl.program_ndim`
pub(super) fn program(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let axis = bound.take("axis").and_then(|value| value.as_int());
    let axis = usize::try_from(axis.unwrap_or(0)).unwrap_or(usize::MAX);
    Ok(Value::Int(match bound.api.name {
        "program_ndim" => device.grid.sizes.len() as i64,
        "num_programs" => device.grid.sizes.get(axis).copied().unwrap_or(1),
        _ => device.grid.place.get(axis).copied().unwrap_or(0),
    }))
}

/// `nisa.get_nc_version`
pub(super) fn version(device: &mut Device, _: &mut Bound) -> Outcome<Value> {
    Ok(Value::Int(i64::from(device.architecture.generation)))
}

/// `sizeinbytes(dtype)`
pub(super) fn size_in_bytes(_: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let dtype = bound
        .dtype("dtype")?
        .ok_or_else(|| bound.missing("dtype"))?;
    Ok(Value::Int(dtype.bytes() as i64))
}

/// `nl.expand_dims`, `nl.broadcast_to`
pub(super) fn reshaping(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let x = std::rc::Rc::new(bound.view("x")?);
    let argument = bound.required(if bound.api.name == "expand_dims" {
        "axis"
    } else {
        "shape"
    })?;
    // In the second dialect the result is a tile: one partition is repeated by products.
    if bound.api.name == "broadcast_to"
        && device.dialect == Dialect::V2
        && x.buffer().on_chip()
        && x.partitions() == 1
        && let Some(&[partitions, ..]) = super::sizes(&argument).as_deref()
        && 1 < partitions
    {
        let one = device.broadcast_partitions(View::clone(&x), partitions)?;
        let one = std::rc::Rc::new(one);
        return device.tensor_method(&one, bound.api.name, vec![argument], Vec::new());
    }
    device.tensor_method(&x, bound.api.name, vec![argument], Vec::new())
}

/// `nl.nc`: a number of cores; `nl.spmd_dim`: programs along an axis, and the cores that share them.
/// The one core that is simulated runs them all.
pub(super) fn cores(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let mut size = 1i64;
    for name in ["value", "cores"] {
        let Some(value) = bound.take(name) else {
            continue;
        };
        let number = value.as_int().filter(|it| (1..=1 << 31).contains(it));
        let number = number.ok_or_else(|| bound.wrong(name, "a positive number", &value))?;
        size = size.saturating_mul(number);
    }
    if 1 < size && bound.api.name == "nc" && device.dialect == Dialect::V1 {
        device.warn(
            "several-cores",
            format!("the programs of {size} cores run one after the other on one core; side by side they take between {size} times less and as long, as the cores share the main memory"),
            "compare kernels of one grid with each other only",
        );
    }
    Ok(Value::Int(size))
}

/// `nl.is_sbuf`, `nl.is_psum`, `nl.is_hbm`, `nl.is_on_chip`: which memory a buffer is.
pub(super) fn memory(_: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let buffer = match bound.required("buffer")? {
        Value::Foreign(Nki::Buffer(buffer)) => buffer,
        Value::Foreign(Nki::Tensor(view)) => view.buffer(),
        other => return Err(bound.wrong("buffer", "a buffer such as tile.buffer", &other)),
    };
    Ok(Value::Bool(match bound.api.name {
        "is_sbuf" => buffer == Buffer::Sbuf,
        "is_psum" => buffer == Buffer::Psum,
        "is_hbm" => !buffer.on_chip(),
        _ => buffer.on_chip(),
    }))
}

/// Functions of NumPy called on the device.
pub(super) fn numpy(_: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    Err(Failure::unsupported(
        "numpy-on-tensor",
        format!("{} cannot be called in a kernel", bound.api.full_name()),
        "NumPy's functions serve as op= only",
    ))
}

/// `nl.static_cast` and the like: a copy with another type.
pub(super) fn cast(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let x: View = bound.view("value")?;
    let dtype = bound.required("dtype")?;
    device.tensor_method(&std::rc::Rc::new(x), "astype", vec![dtype], Vec::new())
}
