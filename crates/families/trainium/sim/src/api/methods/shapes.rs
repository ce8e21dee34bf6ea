//! Methods that see a whole tensor in another shape.

use super::Call;
use crate::api::operands::tensor;
use crate::api::rearrange::rearranged;
use crate::api::{Device, Dialect, Value, sizes};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::view::{Dimension, Dimensions};

/// Sizes of which one may be -1: what the others leave of `elements`.
fn settled(shape: &[i64], elements: usize) -> Vec<usize> {
    let known: i64 = shape.iter().filter(|size| **size >= 0).product();
    let one = |size: &i64| match *size == -1 && known > 0 {
        true => elements / known as usize,
        false => (*size).max(0) as usize,
    };
    shape.iter().map(one).collect()
}

pub(super) fn reshape(_: &mut Device, call: &Call<'_>) -> Outcome<Value> {
    let view = call.view;
    let shape = call.list(0, "shape").ok_or_else(|| call.wrong())?;
    let shape = settled(&shape, view.elements());
    if call.is_on_chip()
        && view.open_blocks == 0
        && shape.first() != Some(&view.partitions())
        && view.partitions() > 1
    {
        return Err(Failure::documented(
            "err_unsupported_view",
            format!(
                "reshape from {:?} to {shape:?} changes the partition dimension",
                view.shape()
            ),
            "keep the first dimension; move data with transfers or transposes",
        ));
    }
    let out = view.reshape(&shape).ok_or_else(|| call.wrong())?;
    Ok(tensor(out))
}

pub(super) fn broadcast_to(device: &mut Device, call: &Call<'_>) -> Outcome<Value> {
    let (view, positional) = (call.view, &call.positional);
    let value = call.argument(0, "shape").ok_or_else(|| call.wrong())?;
    let listed = || {
        let sizes = positional.iter();
        let sizes = sizes.map(|it| it.as_int().and_then(|n| usize::try_from(n).ok()));
        sizes.collect()
    };
    let shape = sizes(&value)
        .filter(|shape| shape.len() > 1 || positional.len() == 1)
        .or_else(listed)
        .ok_or_else(|| call.wrong())?;
    let spreads_one_partition = call.is_on_chip()
        && device.dialect == Dialect::V1
        && view.partitions() == 1
        && shape.first().is_some_and(|size| *size > 1);
    let out = if spreads_one_partition {
        let source = device.operand_of("broadcast_to", "tile", call.own())?;
        if shape[0] > 128 {
            return Err(call.wrong());
        }
        let wide = device.broadcast_partitions(source, shape[0])?;
        wide.spread(&shape)
    } else {
        view.spread(&shape)
    };
    Ok(tensor(out.ok_or_else(|| call.wrong())?))
}

pub(super) fn broadcast(_: &mut Device, call: &Call<'_>) -> Outcome<Value> {
    let mut out = call.own();
    let d = call.dimension(0, "dim")?;
    let size = call.number(1, "size");
    let size = size.and_then(|n| usize::try_from(n).ok());
    let size = size.ok_or_else(|| call.wrong())?;
    if out.dimensions[d].size != 1 || (call.is_on_chip() && d == 0) {
        return Err(call.wrong());
    }
    out.dimensions[d] = Dimension { size, stride: 0 };
    Ok(tensor(out))
}

pub(super) fn permute(_: &mut Device, call: &Call<'_>) -> Outcome<Value> {
    let mut out = call.own();
    let rank = out.dimensions.len();
    let order = call.list(0, "dims").ok_or_else(|| call.wrong())?;
    let mut seen = vec![false; rank];
    let mut dimensions = Dimensions::new();
    for d in &order {
        let d = usize::try_from(*d).ok();
        let d = d.filter(|d| *d < rank && !seen[*d]);
        let d = d.ok_or_else(|| call.wrong())?;
        seen[d] = true;
        dimensions.push(out.dimensions[d]);
    }
    if order.len() != rank || (call.is_on_chip() && order.first() != Some(&0)) {
        return Err(call.wrong());
    }
    out.dimensions = dimensions;
    Ok(tensor(out))
}

pub(super) fn expand_dim(_: &mut Device, call: &Call<'_>) -> Outcome<Value> {
    let mut out = call.own();
    let rank = out.dimensions.len();
    let d = call.number(0, "dim");
    let d = d.and_then(|n| usize::try_from(n).ok());
    let d = d.filter(|d| *d <= rank).ok_or_else(|| call.wrong())?;
    if call.is_on_chip() && d == 0 {
        return Err(call.wrong());
    }
    let one = Dimension { size: 1, stride: 0 };
    out.dimensions.edit(|all| all.insert(d, one));
    Ok(tensor(out))
}

pub(super) fn squeeze_dim(_: &mut Device, call: &Call<'_>) -> Outcome<Value> {
    let mut out = call.own();
    let d = call.dimension(0, "dim")?;
    if out.dimensions[d].size != 1 || (call.is_on_chip() && d == 0) {
        return Err(call.wrong());
    }
    out.dimensions.edit(|all| {
        all.remove(d);
    });
    Ok(tensor(out))
}

pub(super) fn reshape_dim(_: &mut Device, call: &Call<'_>) -> Outcome<Value> {
    let mut out = call.own();
    let d = call.dimension(0, "dim")?;
    let shape = call.list(1, "shape").or_else(|| call.list(1, "sizes"));
    let own = out.dimensions[d];
    let shape = settled(&shape.ok_or_else(|| call.wrong())?, own.size);
    if shape.iter().product::<usize>() != own.size || (call.is_on_chip() && d == 0) {
        return Err(call.wrong());
    }
    let mut stride = own.stride;
    let mut parts = Vec::new();
    for size in shape.into_iter().rev() {
        parts.push(Dimension { size, stride });
        stride *= size as i64;
    }
    parts.reverse();
    out.dimensions.edit(|all| drop(all.splice(d..=d, parts)));
    Ok(tensor(out))
}

pub(super) fn flatten_dims(_: &mut Device, call: &Call<'_>) -> Outcome<Value> {
    let from = call.dimension(0, "start_dim")?;
    let to = call.dimension(1, "end_dim")?;
    if from > to || (call.is_on_chip() && from == 0) {
        return Err(call.wrong());
    }
    let mut shape = call.view.shape();
    let product = shape[from..=to].iter().product();
    shape.edit(|all| drop(all.splice(from..=to, [product])));
    let out = call.view.reshape(&shape).ok_or_else(|| call.wrong())?;
    Ok(tensor(out))
}

pub(super) fn rearrange(_: &mut Device, call: &Call<'_>) -> Outcome<Value> {
    let pattern = match (call.argument(0, "pattern"), call.argument(0, "src_pattern")) {
        (Some(Value::Str(pattern)), _) => pattern.to_string(),
        (_, Some(source)) => {
            let target = call
                .argument(1, "dst_pattern")
                .ok_or_else(|| call.wrong())?;
            let left = side(&source).ok_or_else(|| call.wrong())?;
            let right = side(&target).ok_or_else(|| call.wrong())?;
            format!("{left} -> {right}")
        }
        _ => return Err(call.wrong()),
    };
    let mut given = Vec::new();
    call.positional
        .get(2)
        .into_iter()
        .for_each(|it| give(&mut given, None, it));
    for (name, value) in &call.keywords {
        if !PATTERNS.contains(&&**name) {
            give(&mut given, Some(name), value);
        }
    }
    let out = rearranged(call.view, &pattern, &given).ok_or_else(|| call.wrong())?;
    Ok(tensor(out))
}

/// Arguments of `rearrange` that are patterns; all others are sizes by their names.
const PATTERNS: &[&str] = &["pattern", "src_pattern", "dst_pattern"];

/// Adds the sizes that a table names, or one that has this name.
fn give(given: &mut Vec<(String, i64)>, name: Option<&str>, value: &Value) {
    match (name, value) {
        (_, Value::Dict(dict)) => {
            for (key, value) in &dict.borrow().entries {
                if let Value::Str(key) = key {
                    given.extend(value.as_int().map(|it| (key.to_string(), it)));
                }
            }
        }
        (Some(name), value) => given.extend(value.as_int().map(|it| (name.to_owned(), it))),
        (None, _) => {}
    }
}

/// One side of a pattern of `rearrange` that is a tuple of names and of tuples of names, as text.
fn side(value: &Value) -> Option<String> {
    let items = value.listed()?;
    let word = |item: &Value| match item {
        Value::Str(name) => Some(name.to_string()),
        Value::Tuple(_) | Value::List(_) => side(item).map(|inner| format!("({inner})")),
        other => other.as_int().filter(|one| *one == 1).map(|_| "1".into()),
    };
    let words: Option<Vec<String>> = items.iter().map(word).collect();
    words.map(|words| words.join(" "))
}
