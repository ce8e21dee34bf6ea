//! Values and choices by the place of an element: `affine_select` and `iota`.

use super::arithmetic::Alu;
use super::elementwise::GPSIMD;
use super::operands::{Elementwise, tensor};
use super::results::result_type;
use super::{Bound, Device, Dialect, Nki, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::dtype::Dtype;
use crate::tensor::index::{Index, Mask, Selection};
use crate::tensor::storage::Buffer;
use crate::trace::{Instruction, Operation};

/// Whole numbers of an index expression over a shape, in row-major order.
fn index_values(index: &Index, shape: &[usize]) -> Vec<i64> {
    let mut out = Vec::with_capacity(shape.iter().product());
    let skip = shape.len().saturating_sub(index.coefficients.len());
    let mut position = vec![0usize; shape.len()];
    for _ in 0..shape.iter().product::<usize>() {
        let mut value = index.constant;
        for (d, c) in index.coefficients.iter().enumerate() {
            if index.shape[d] > 1 {
                value = value.saturating_add(c.saturating_mul(position[skip + d] as i64));
            }
        }
        out.push(value);
        for d in (0..shape.len()).rev() {
            position[d] += 1;
            if position[d] < shape[d] {
                break;
            }
            position[d] = 0;
        }
    }
    out
}

/// The explicit pattern of the second dialect as an index over `[partitions, counts…]`.
fn pattern_index(bound: &mut Bound, partitions: usize) -> Outcome<Index> {
    let value = bound.required("pattern")?;
    let items = value.listed();
    let items = items.ok_or_else(|| bound.wrong("pattern", "a list of [step, count]", &value))?;
    let multiplier = bound.integer("channel_multiplier")?.unwrap_or(0);
    let offset = bound.integer("offset")?.unwrap_or(0);
    let mut shape = vec![partitions];
    let mut coefficients = vec![multiplier];
    for item in &items {
        let pair: Option<Vec<i64>> = match item {
            Value::List(list) => list.borrow().0.iter().map(Value::as_int).collect(),
            Value::Tuple(items) => items.0.iter().map(Value::as_int).collect(),
            _ => None,
        };
        match pair.as_deref() {
            Some(&[step, count]) if (1..=1 << 20).contains(&count) => {
                shape.push(count as usize);
                coefficients.push(step);
            }
            _ => return Err(bound.wrong("pattern", "a list of [step, count]", &value)),
        }
    }
    Ok(Index {
        shape,
        coefficients,
        constant: offset,
    })
}

/// `nisa.affine_select`
pub(super) fn affine_select(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let destination = device.take_destination(bound)?;
    let data = bound.view("on_true_tile")?;
    let data = device.operand(bound, "on_true_tile", data)?;
    let otherwise = bound
        .number("on_false_value")?
        .ok_or_else(|| bound.missing("on_false_value"))? as f32;
    let mut shape = data.shape();
    let predicate = if device.dialect == Dialect::V1 {
        match bound.required("pred")? {
            Value::Foreign(Nki::Mask(mask)) if mask.conditions.len() == 1 && !mask.never => {
                Mask::clone(&mask)
            }
            Value::Foreign(Nki::Mask(_)) => {
                return Err(Failure::documented(
                    "err_unsupported_expression_in_mask",
                    "affine_select takes a single comparison",
                    "split it into several selections",
                ));
            }
            Value::Bool(value) => Mask {
                conditions: Vec::new(),
                never: !value,
            },
            other => return Err(bound.wrong("pred", "a comparison of index expressions", &other)),
        }
    } else {
        let index = pattern_index(bound, data.partitions())?;
        let alu = bound.optional_alu("cmp_op")?.unwrap_or(Alu::GreaterEqual);
        let turned = |i: &Index| i.scale(-1);
        let conditions = match alu {
            Alu::GreaterEqual => vec![Some(index)],
            Alu::Greater => vec![index.shift(-1)],
            Alu::LessEqual => vec![turned(&index)],
            Alu::Less => vec![turned(&index).and_then(|i| i.shift(-1))],
            Alu::Equal => vec![turned(&index), Some(index)],
            _ => {
                return Err(Failure::documented(
                    "err_unsupported_operation",
                    "cmp_op is no comparison",
                    "use nl.greater_equal, less, equal …",
                ));
            }
        };
        if let Some(Some(first)) = conditions.first() {
            shape = first.shape[..].into();
        }
        Mask {
            conditions: conditions.into_iter().flatten().collect(),
            never: false,
        }
    };
    let mask = bound.mask()?;
    let dtype = bound.dtype("dtype")?;
    let data = if device.dialect == Dialect::V1 {
        device.in_sbuf(data)?
    } else if data.buffer() == Buffer::Psum {
        return Err(Failure::documented(
            "err_unsupported_memory",
            "affine_select reads SBUF only",
            "copy out of PSUM first",
        ));
    } else {
        data
    };
    let data = if data.shape() == shape {
        data
    } else {
        data.reshape(&shape)
            .ok_or_else(|| bound.wrong("pattern", "as large as the tile", &Value::None))?
    };
    let chosen = super::operands::select(Some(&predicate), &shape)?;
    let inside = flags(&chosen, &shape);
    let selection = super::operands::select(mask.as_ref(), &shape)?;
    let kept = match &selection {
        Selection::Part(bounds, _) => {
            let mut kept = Vec::new();
            let mut position = vec![0usize; shape.len()];
            for flag in &inside {
                if position
                    .iter()
                    .zip(bounds)
                    .all(|(p, (low, high))| p >= low && p < high)
                {
                    kept.push(*flag);
                }
                advance(&mut position, &shape);
            }
            kept
        }
        _ => inside,
    };
    let dtype = result_type(destination.as_ref(), dtype, data.dtype);
    let operation = Operation::Select;
    let request = Elementwise::of_one(operation, GPSIMD, data, dtype, mask, destination);
    device
        .change(request, |x| {
            for (value, keep) in x.iter_mut().zip(kept) {
                if !keep {
                    *value = otherwise;
                }
            }
        })
        .map(tensor)
}

fn advance(position: &mut [usize], shape: &[usize]) {
    for d in (0..shape.len()).rev() {
        position[d] += 1;
        if position[d] < shape[d] {
            break;
        }
        position[d] = 0;
    }
}

/// A selection as one flag for each element.
fn flags(selection: &Selection, shape: &[usize]) -> Vec<bool> {
    let count = shape.iter().product();
    match selection {
        Selection::All => vec![true; count],
        Selection::Nothing => vec![false; count],
        Selection::Part(bounds, flags) => {
            let mut out = Vec::with_capacity(count);
            let mut position = vec![0usize; shape.len()];
            let mut within = 0;
            for _ in 0..count {
                let inside = position
                    .iter()
                    .zip(bounds)
                    .all(|(p, (low, high))| p >= low && p < high);
                let flag = inside
                    && flags
                        .as_ref()
                        .is_none_or(|f| f.get(within).copied().unwrap_or(false));
                within += usize::from(inside);
                out.push(flag);
                advance(&mut position, shape);
            }
            out
        }
    }
}

/// `nisa.iota`
pub(super) fn iota(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let destination = device.take_destination(bound)?;
    let (index, shape, dtype) = match &destination {
        Some(target) => {
            let target = device.operand(bound, "dst", target.clone())?;
            let index = pattern_index(bound, target.partitions())?;
            let shape = index.shape.clone();
            (index, shape, target.dtype)
        }
        None => {
            let value = bound.required("expr")?;
            let Value::Foreign(Nki::Index(index)) = &value else {
                return Err(bound.wrong("expr", "an index expression", &value));
            };
            let dtype = bound.dtype("dtype")?.unwrap_or(Dtype::Int32);
            (Index::clone(index), index.shape.clone(), dtype)
        }
    };
    super::memory::check_tile(Buffer::Sbuf, dtype, &shape)?;
    let values = if device.functional {
        index_values(&index, &shape)
            .into_iter()
            .map(|v| v as f32)
            .collect()
    } else {
        Vec::new()
    };
    let mut one = Instruction::new(Operation::Iota, GPSIMD, device.line);
    one.partitions = shape[0] as u16;
    one.free = shape[1..].iter().product::<usize>() as u32;
    device
        .finish_tile(one, shape.into(), dtype, values, destination)
        .map(tensor)
}
