//! Constants that a kernel brings along.

use super::dma::DMA;
use super::operands::tensor;
use super::{Bound, Device, Nki, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::dtype::Dtype;
use crate::tensor::storage::Buffer;
use crate::tensor::view::View;
use crate::trace::{Instruction, Operation};

/// `nl.shared_constant`: a constant of the host as a tensor in main memory.
pub(super) fn shared_constant(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let value = bound.take("value").or_else(|| bound.take("constant"));
    let value = value.ok_or_else(|| bound.missing("constant"))?;
    let Value::Foreign(Nki::Host(array)) = &value else {
        return Err(bound.wrong("constant", "a NumPy array", &value));
    };
    let dtype: Dtype = bound.dtype("dtype")?.unwrap_or(array.dtype);
    constant(device, dtype, &array.shape, &array.data.borrow()).map(tensor)
}

/// `nl.shared_identity_matrix`: the unit matrix of `n` rows in SBUF, which a transfer brings there
/// from main memory.
pub(super) fn identity(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let n = bound.integer("n")?.ok_or_else(|| bound.missing("n"))?;
    let Some(n) = usize::try_from(n).ok().filter(|n| (1..=128).contains(n)) else {
        return Err(Failure::documented(
            "err_num_partition_exceed_arch_limit",
            format!("nl.shared_identity_matrix: {n} rows; there are 128 partitions"),
            "make it of 1 to 128 rows",
        ));
    };
    let dtype = bound.dtype("dtype")?.unwrap_or(Dtype::Uint8);
    let target = bound.optional_view("dst")?;
    let mut values = Vec::new();
    if device.functional {
        values = vec![0.0; n * n];
        values.iter_mut().step_by(n + 1).for_each(|it| *it = 1.0);
    }
    let source = constant(device, dtype, &[n, n], &values)?;
    let mut one = Instruction::new(Operation::Load, DMA, device.line);
    one.partitions = n as u16;
    one.free = n as u32;
    device.describe(&mut one, std::slice::from_ref(&source), 1);
    device.transfer(&mut one, &source, None, &source, 0);
    device
        .finish_tile(one, [n, n].into(), dtype, values, target)
        .map(tensor)
}

/// A tensor in main memory with these values, which is there before the kernel starts.
fn constant(device: &mut Device, dtype: Dtype, shape: &[usize], data: &[f32]) -> Outcome<View> {
    let sizes = shape.iter().copied().collect();
    let storage = device.allocate(Buffer::Hbm, dtype, sizes, 0, 0.0, "constant")?;
    let view = View::whole(&storage);
    device.write(&view, data, None)?;
    Ok(view)
}
