//! Access patterns: strides over all elements of a tensor.

use std::rc::Rc;

use super::Call;
use crate::api::operands::tensor;
use crate::api::{Device, Nki, Value, dtype_of};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::view::{Dimension, Dimensions, Indirect, View};

/// `ap(pattern=[[stride, count], …], offset)`: strides over the tensor's own elements.
pub(super) fn access_pattern(device: &mut Device, call: &Call<'_>) -> Outcome<Value> {
    let fail = || call.wrong();
    let view = call.view;
    let (offset, vector) = (call.argument(1, "offset"), call.keyword("vector_offset"));
    let (scalar, dtype) = (call.keyword("scalar_offset"), call.keyword("dtype"));
    let indirect_dimension = call.keyword("indirect_dim");
    let items = call.argument(0, "pattern").and_then(|it| it.listed());
    let items = items.ok_or_else(fail)?;
    let mut whole = View::whole(&view.storage);
    let whole_elements = whole.elements();
    // Strides and offset count elements of the type that is asked for.
    whole.dtype = match dtype {
        None | Some(Value::None) => view.dtype,
        Some(value) => dtype_of(&value).ok_or_else(fail)?,
    };
    let mut dimensions = Dimensions::new();
    let (mut low, mut high) = (0i64, 0i64);
    for item in &items {
        let (stride, count) = match item.listed().ok_or_else(fail)?.as_slice() {
            [stride, count] => (
                stride.as_int().ok_or_else(fail)?,
                count
                    .as_int()
                    .filter(|c| (1..=1 << 32).contains(c))
                    .ok_or_else(fail)?,
            ),
            _ => return Err(fail()),
        };
        if stride.abs() > 1 << 40 {
            return Err(fail());
        }
        let reach = stride.saturating_mul(count - 1);
        low = low.saturating_add(reach.min(0));
        high = high.saturating_add(reach.max(0));
        dimensions.push(Dimension {
            size: count as usize,
            stride,
        });
    }
    let offset = match offset {
        None | Some(Value::None) => 0,
        Some(value) => value.as_int().ok_or_else(fail)?,
    };
    let mut out = View {
        dimensions,
        offset,
        open_blocks: 0,
        by_register: view.by_register,
        ..whole
    };
    let along = indirect_dimension.and_then(|v| v.as_int()).unwrap_or(0);
    let along = usize::try_from(along)
        .ok()
        .filter(|d| *d < view.dimensions.len().max(1))
        .ok_or_else(fail)?;
    out.by_register |= matches!(
        scalar,
        Some(Value::Foreign(Nki::Register(_)) | Value::Foreign(Nki::Tensor(_)))
    );
    let scalar = match scalar {
        None | Some(Value::None) => 0,
        Some(Value::Foreign(Nki::Register(register))) => device.used(&register).unwrap_or(0),
        Some(Value::Foreign(Nki::Tensor(tile))) if tile.elements() == 1 => device.address(&tile)?,
        Some(other) => other.as_int().ok_or_else(fail)?,
    };
    // Steps along the dimension of the tensor that the offset counts in, which the strides of the
    // pattern have no say in (the vendor's deep dive on access patterns).
    let is_whole = view.is_contiguous() && view.elements() == whole_elements;
    let base = if is_whole {
        view.shape()
    } else {
        view.storage.shape.clone()
    };
    let beyond = base.get(along + 1..).unwrap_or_default();
    let step = beyond.iter().product::<usize>() as i64;
    let offset = offset.saturating_add(scalar.saturating_mul(step));
    out.offset = offset;
    if let Some(Value::Foreign(Nki::Tensor(rows))) = vector {
        if along != 0 || view.buffer().on_chip() {
            return Err(fail());
        }
        out.indirect = Some(Rc::new(Indirect {
            rows: View::clone(&rows),
            stride: step,
            limit: if step > 0 {
                base.first().copied().unwrap_or(1)
            } else {
                0
            },
            dimension: 0,
        }));
        if let Some(first) = out.dimensions.first_mut() {
            first.stride = 0;
        }
        return Ok(tensor(out));
    }
    if view.buffer().on_chip() {
        let own = view.storage.partition_elements * view.storage.dtype.bytes();
        let own = (own / out.dtype.bytes()).max(1) as i64;
        let first = out.dimensions.first().copied().unwrap_or_default();
        let free = out.dimensions.iter().skip(1);
        let (mut low, mut high) = (offset.rem_euclid(own), offset.rem_euclid(own));
        for dimension in free {
            let reach = dimension.stride.saturating_mul(dimension.size as i64 - 1);
            low = low.saturating_add(reach.min(0));
            high = high.saturating_add(reach.max(0));
        }
        if low < 0 || high >= own || (first.size > 1 && first.stride % own != 0) {
            return Err(Failure::documented(
                "err_tensor_access_out_of_bound",
                format!(
                    "the access pattern reaches from element {low} to {high} of a partition, which has {own}, and goes on to the next partition by {} elements",
                    first.stride
                ),
                "the first pair steps over partitions, by the elements of one; the others stay within a partition",
            ));
        }
    }
    let total = (out.block_elements() * view.storage.block_count()) as i64;
    if offset.saturating_add(low) < 0 || offset.saturating_add(high) >= total {
        return Err(Failure::documented(
            "err_tensor_access_out_of_bound",
            format!(
                "the access pattern reaches from element {} to {} of a tensor of {total}",
                offset.saturating_add(low),
                offset.saturating_add(high)
            ),
            "check strides, counts and offset",
        ));
    }
    Ok(tensor(out))
}
