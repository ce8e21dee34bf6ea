//! Tiles turned around, on the matrix engine and on the vector engine.

use super::operands::{select, tensor};
use super::results::Output;
use super::{Bound, Device, Dialect, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::dtype::Dtype;
use crate::tensor::index::Selection;
use crate::tensor::storage::Buffer;
use crate::tensor::view::View;
use crate::trace::{Choice, Engine, Instruction, Operation};

impl Device {
    /// A transpose by the matrix engine.
    pub(super) fn turn(
        &mut self,
        data: View,
        mask: Option<&crate::tensor::index::Mask>,
        destination: Option<View>,
    ) -> Outcome<View> {
        self.leave(|| super::compiler_tiles::turned(&data.shape()))?;
        let (p, f) = (data.partitions(), data.free());
        let selection = select(mask, &[p, f])?;
        super::operands::within(&data, mask, &selection, &data.shape())?;
        let mut values = Vec::new();
        let mut instruction = None;
        let (rows, columns) = match &selection {
            Selection::Part(bounds, _) => (bounds[0], bounds[1]),
            _ => ((0, p), (0, f)),
        };
        let flat = data.reshape(&[p, f]).unwrap_or_else(|| data.clone());
        if selection != Selection::Nothing {
            let part = if flat.dimensions.len() == 2 {
                flat.part(&[rows, columns])
            } else {
                flat
            };
            let (h, w) = (rows.1 - rows.0, columns.1 - columns.0);
            if self.functional {
                let source = self.read(&part)?;
                values = vec![0.0; source.len()];
                for i in 0..h {
                    for j in 0..w {
                        if let (Some(slot), Some(value)) =
                            (values.get_mut(j * h + i), source.get(i * w + j))
                        {
                            *slot = *value;
                        }
                    }
                }
            }
            let mut one = Instruction::new(
                Operation::Transpose,
                Choice::Fixed(Engine::Tensor),
                self.line,
            );
            one.partitions = h as u16;
            one.free = w as u32;
            one.columns = h as u32;
            self.describe(&mut one, std::slice::from_ref(&part), 1);
            one.features.fp32 = data.dtype.is_slow_on_array();
            one.features.onezero = true;
            let flops = 2 * (h * h * w) as u64;
            self.trace.matrix_flops += flops;
            self.trace.moving_flops += flops;
            instruction = Some(one);
        }
        let selection = match selection {
            Selection::Part(_, _) => Selection::Part(vec![columns, rows], None),
            other => other,
        };
        let dtype = destination.as_ref().map_or(data.dtype, |d| d.dtype);
        self.finish(
            instruction,
            Output {
                shape: [f, p].into(),
                dtype,
                buffer: Buffer::Psum,
                selection,
                values,
            },
            destination,
        )
    }
}

/// `nisa.nc_transpose`
pub(super) fn nc_transpose(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let destination = device.take_destination(bound)?;
    let data = bound.view("data")?;
    let data = device.operand(bound, "data", data)?;
    let mask = bound.mask()?;
    let dtype = bound.dtype("dtype")?;
    let cast = destination.as_ref().filter(|it| it.dtype != data.dtype);
    // The documentation asks for equal types; published kernels that ran on the device turn
    // two-byte numbers into float32 accumulators.
    let widened = cast.is_some_and(|target| {
        let short = matches!(data.dtype, Dtype::Bfloat16 | Dtype::Float16);
        short && target.dtype == Dtype::Float32 && target.buffer() == Buffer::Psum
    });
    if widened {
        device.remark(
            "transpose-widens",
            format!(
                "nisa.nc_transpose: `dst` is float32 and `data` {}; the documentation asks for one type, kernels that ran on the device had two",
                data.dtype.name()
            ),
        );
    }
    if let Some(target) = cast.filter(|_| !widened) {
        return Err(Failure::documented(
            "err_unsupported_dtype",
            format!(
                "{}: `dst` is {} and `data` {}; what is turned keeps its type",
                bound.api,
                target.dtype.name(),
                data.dtype.name()
            ),
            "make `dst` of the type of `data`, and cast by nisa.tensor_copy from there",
        ));
    }
    let (p, f) = (data.partitions(), data.free());
    let small = p <= 32 && f <= 32;
    let into_sbuf = destination
        .as_ref()
        .is_some_and(|d| d.buffer() == Buffer::Sbuf);
    let from_psum = device.dialect == Dialect::V2 && data.buffer() == Buffer::Psum;
    let fitting = if (into_sbuf || from_psum) && small {
        Engine::Vector
    } else {
        Engine::Tensor
    };
    let engine = match device.choice(bound, Choice::Fixed(fitting))? {
        Choice::Fixed(engine) => engine,
        _ => fitting,
    };
    // The compiler of the first dialect turns to the matrix engine for what is too large.
    let engine = if engine == Engine::Vector && !small && device.dialect == Dialect::V1 {
        device.remark(
            "vector-transpose-limit",
            "the vector engine transposes 32 by 32 at most; the matrix engine is used",
        );
        Engine::Tensor
    } else {
        engine
    };
    let limit = if engine == Engine::Vector { 32 } else { 128 };
    if p > limit || f > limit {
        return Err(Failure::documented(
            "err_size_of_dimension_exceed_arch_limit",
            format!(
                "{}: data of shape {:?}; the {} engine transposes at most {limit}x{limit}",
                bound.api.full_name(),
                data.shape(),
                engine.name()
            ),
            "transpose tile by tile",
        ));
    }
    if engine == Engine::Tensor {
        let data = if data.buffer() == Buffer::Psum {
            // Documentation of `nc_transpose`, memory types. The compiler of the first dialect
            // copies.
            if device.dialect == Dialect::V2 {
                return Err(Failure::documented(
                    "err_unsupported_memory",
                    format!(
                        "{}: the matrix engine turns tiles in SBUF, and `data` of shape {:?} is in PSUM",
                        bound.api.full_name(),
                        data.shape()
                    ),
                    "copy it by nisa.tensor_copy into a tile in SBUF and turn that; the vector engine turns 32 by 32 out of PSUM",
                ));
            }
            device.in_sbuf(data)?
        } else {
            data
        };
        let result = device.turn(data, mask.as_ref(), destination)?;
        return match dtype {
            Some(dtype) if dtype != result.dtype => {
                // The cast takes a copy.
                result.storage.producer.set(None);
                device.copied(result, dtype, None).map(tensor)
            }
            _ => Ok(tensor(result)),
        };
    }
    let flat = data.reshape(&[p, f]).unwrap_or_else(|| data.clone());
    let source = device.read(&flat)?;
    let mut values = vec![0.0; source.len()];
    if device.functional {
        for i in 0..p {
            for j in 0..f {
                values[j * p + i] = source[i * f + j];
            }
        }
    }
    let mut one = Instruction::new(
        Operation::VectorTranspose,
        Choice::Fixed(Engine::Vector),
        device.line,
    );
    one.partitions = p as u16;
    one.free = f as u32;
    device.describe(&mut one, &[flat], 1);
    let dtype = dtype.unwrap_or(data.dtype);
    device
        .finish_tile(one, [f, p].into(), dtype, values, destination)
        .map(tensor)
}

/// `nl.transpose`
pub(super) fn transpose(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let data = bound.view("x")?;
    let data = device.operand(bound, "x", data)?;
    if data.dimensions.len() > 2 {
        return Err(Failure::documented(
            "err_exceed_max_supported_dimension",
            format!(
                "nl.transpose of shape {:?}, which has {} dimensions of at most 2",
                data.shape(),
                data.dimensions.len()
            ),
            "reshape it to two dimensions first, or call nisa.nc_transpose, which takes all free dimensions for one",
        ));
    }
    let data = device.in_sbuf(data)?;
    if data.free() > 128 {
        return Err(Failure::documented(
            "err_size_of_dimension_exceed_arch_limit",
            format!("nl.transpose of shape {:?}", data.shape()),
            "transpose tiles of 128 by 128",
        ));
    }
    device.turn(data, None, None).map(tensor)
}
