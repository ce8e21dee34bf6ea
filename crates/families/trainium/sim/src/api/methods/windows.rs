//! Methods that see a part of a tensor.

use std::rc::Rc;

use super::Call;
use crate::api::access::out_of_bounds;
use crate::api::operands::tensor;
use crate::api::{Device, Nki, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::view::{Dimension, Indirect, View};

pub(super) fn indirect(_: &mut Device, _: &Call<'_>) -> Outcome<Value> {
    Err(Failure::unsupported(
        "not-simulated",
        "tensor indirection by `indirect` is not simulated here",
        "gather with nisa.nc_n_gather or nisa.local_gather",
    ))
}

/// One place of a dimension, which is left out of the view, unless it is that of the partitions.
pub(super) fn select(device: &mut Device, call: &Call<'_>) -> Outcome<Value> {
    let mut out = call.own();
    let d = call.dimension(0, "dim")?;
    let index = call.argument(1, "index");
    out.by_register |= matches!(
        index,
        Some(Value::Foreign(Nki::Register(_)) | Value::Foreign(Nki::Tensor(_)))
    );
    let at = match index {
        Some(Value::Foreign(Nki::Register(register))) => Some(device.used(&register).unwrap_or(0)),
        // Its value is known when the kernel runs.
        Some(Value::Foreign(Nki::Tensor(tile))) if tile.elements() == 1 => {
            let index = device.operand_of("select", "index", View::clone(&tile))?;
            Some(device.address(&index)?)
        }
        Some(other) => other.as_int(),
        None => None,
    };
    let Some(at) = at else {
        return Err(Failure::unsupported(
            "unsupported-dynamic-index",
            "select with an index tile of several elements is not supported",
            "select with a whole number, a register, a scalar or a tile of one element",
        ));
    };
    let own = out.dimensions[d];
    if at < 0 || at >= own.size as i64 {
        return Err(out_of_bounds(call.view, d, at, at));
    }
    out.offset += at * own.stride;
    if call.is_on_chip() && d == 0 {
        out.dimensions[0].size = 1;
    } else {
        out.dimensions.edit(|all| {
            all.remove(d);
        });
    }
    Ok(tensor(out))
}

pub(super) fn slice(_: &mut Device, call: &Call<'_>) -> Outcome<Value> {
    let mut out = call.own();
    let d = call.dimension(0, "dim")?;
    let start = call.number(1, "start").unwrap_or(0);
    let end = call.number(2, "end").ok_or_else(|| call.wrong())?;
    let step = call.number(3, "step").unwrap_or(1);
    let own = out.dimensions[d];
    if start < 0 || end > own.size as i64 || start >= end || step < 1 {
        return Err(out_of_bounds(call.view, d, start, end - 1));
    }
    out.offset += start * own.stride;
    out.dimensions[d] = Dimension {
        size: ((end - start).saturating_add(step - 1) / step) as usize,
        stride: own.stride * step,
    };
    Ok(tensor(out))
}

/// Rows of main memory that a tile of indices names.
pub(super) fn vector_select(_: &mut Device, call: &Call<'_>) -> Outcome<Value> {
    let mut out = call.own();
    let d = call.dimension(0, "dim")?;
    let named = call.argument(1, "indices");
    let rows = match named.or_else(|| call.keyword("vector_offset")) {
        Some(Value::Foreign(Nki::Tensor(rows))) => View::clone(&rows),
        _ => return Err(call.wrong()),
    };
    if d != 0 || call.is_on_chip() {
        return Err(call.wrong());
    }
    let own = out.dimensions[0];
    let count = rows.partitions();
    out.indirect = Some(Rc::new(Indirect {
        rows,
        stride: own.stride,
        limit: own.size,
        dimension: 0,
    }));
    out.dimensions[0] = Dimension {
        size: count,
        stride: 0,
    };
    Ok(tensor(out))
}
