//! Means and variances.

use super::arithmetic::Alu;
use super::elementwise::VECTOR;
use super::operands::tensor;
use super::reduce::{Reduction, axes};
use super::{Bound, Device, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::dtype::{Dtype, is_undefined};
use crate::tensor::view::View;
use crate::trace::{Instruction, Operation};

/// `nl.var`
pub(super) fn variance(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let data = bound.view("x")?;
    let data = device.operand(bound, "x", data)?;
    let axes = axes(bound, data.dimensions.len())?;
    let count: usize = axes.iter().map(|a| data.dimensions[*a].size).product();
    let dtype = bound.dtype("dtype")?.unwrap_or(data.dtype);
    let again = |axes: &Vec<usize>| Reduction {
        alu: Alu::Add,
        axes: axes.clone(),
        keep: false,
        dtype: Dtype::Float32,
        negate: false,
        scale: None,
        mask: None,
        destination: None,
    };
    let total = device.reduce(data.clone(), again(&axes))?;
    let inverse = Value::Float(1.0 / count as f64);
    let mean = device.combine(
        Alu::Multiply,
        tensor(total),
        inverse.clone(),
        None,
        None,
        None,
        true,
    )?;
    let centred = device.combine(
        Alu::Subtract,
        tensor(data),
        tensor(mean),
        None,
        Some(Dtype::Float32),
        None,
        true,
    )?;
    let squared = device.combine(
        Alu::Multiply,
        tensor(centred.clone()),
        tensor(centred),
        None,
        None,
        None,
        true,
    )?;
    let total = device.reduce(squared, again(&axes))?;
    device
        .combine(
            Alu::Multiply,
            tensor(total),
            inverse,
            None,
            Some(dtype),
            None,
            true,
        )
        .map(tensor)
}

/// `nisa.bn_stats`: count, mean and sum of squared deviations of even and odd elements.
pub(super) fn bn_stats(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let destination = device.take_destination(bound)?;
    let data = bound.view("data")?;
    let data = device.operand(bound, "data", data)?;
    if data.free() > 512 {
        return Err(Failure::documented(
            "err_size_of_dimension_exceed_arch_limit",
            format!(
                "bn_stats of shape {:?}: at most 512 elements in each partition",
                data.shape()
            ),
            "call it for pieces and merge them with bn_aggr",
        ));
    }
    let operation = Operation::BatchStatistics;
    by_rows(device, bound, operation, data, destination, |row| {
        let [even, odd] = [0, 1].map(|half| {
            let picked: Vec<f64> = row
                .iter()
                .skip(half)
                .step_by(2)
                .map(|v| f64::from(*v))
                .collect();
            let count = picked.len() as f64;
            let mean = if count > 0.0 {
                picked.iter().sum::<f64>() / count
            } else {
                0.0
            };
            let spread = picked.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
            [count, mean, spread]
        });
        [even[0], even[1], even[2], odd[0], odd[1], odd[2]]
    })
}

/// Makes `N` figures of each partition of `data`.
fn by_rows<const N: usize>(
    device: &mut Device,
    bound: &mut Bound,
    operation: Operation,
    data: View,
    destination: Option<View>,
    figures: impl Fn(&[f32]) -> [f64; N],
) -> Outcome<Value> {
    let dtype = bound.dtype("dtype")?.unwrap_or(Dtype::Float32);
    let (rows, width) = (data.partitions(), data.free());
    let source = device.read(&data)?;
    let mut values = Vec::new();
    if device.functional {
        for row in source.chunks(width.max(1)) {
            match row.iter().find(|it| is_undefined(**it)) {
                Some(unknown) => values.extend([*unknown; N]),
                None => values.extend(figures(row).map(|it| it as f32)),
            }
        }
    }
    let mut one = Instruction::new(operation, VECTOR, device.line);
    one.partitions = rows as u16;
    one.free = width as u32;
    device.describe(&mut one, &[data], 1);
    device
        .finish_tile(one, [rows, N].into(), dtype, values, destination)
        .map(tensor)
}

/// `nisa.bn_aggr`: mean and variance of everything that `bn_stats` saw.
pub(super) fn bn_aggr(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let destination = device.take_destination(bound)?;
    let data = bound.view("data")?;
    let data = device.operand(bound, "data", data)?;
    if data.free() % 3 != 0 {
        return Err(Failure::documented(
            "err_size_of_dimension_exceed_arch_limit",
            format!(
                "bn_aggr of shape {:?}: the free size must be a multiple of 3",
                data.shape()
            ),
            "pass results of bn_stats",
        ));
    }
    let operation = Operation::BatchAggregate;
    by_rows(device, bound, operation, data, destination, |row| {
        let (mut count, mut mean, mut spread) = (0.0f64, 0.0f64, 0.0f64);
        for triple in row.chunks(3) {
            let (c, m, s) = (
                f64::from(triple[0]),
                f64::from(triple[1]),
                f64::from(triple[2]),
            );
            let total = count + c;
            if total > 0.0 {
                let delta = m - mean;
                mean += delta * c / total;
                spread += s + delta * delta * count * c / total;
            } else {
                spread += s;
            }
            count = total;
        }
        [mean, spread / count]
    })
}
