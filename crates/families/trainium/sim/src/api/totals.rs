//! The accumulators of the vector engine, one in each partition, which several instructions share
//! and which last from one to the next.
//!
//! Facts: the sections "Accumulator behavior" of NKI's documentation of `tensor_scalar_reduce`,
//! `tensor_scalar_cumulative`, `exponential`, `range_select` and `select_reduce`.

use super::arithmetic::Alu;
use super::elementwise::Operand;
use super::{Bound, Device, Value};
use crate::diagnostic::{Failure, Outcome};

/// What the accumulators hold when an instruction starts.
pub(super) enum Start {
    /// The neutral element of the reduction.
    Neutral,
    /// What they held before.
    Kept,
    /// One value for each partition.
    Loaded(Vec<f32>),
}

/// What `reduce_cmd` and `reduce_init` ask for; without a command the accumulators start anew.
pub(super) fn start(
    device: &mut Device,
    bound: &mut Bound,
    alu: Alu,
    partitions: usize,
) -> Outcome<Start> {
    if !matches!(
        alu,
        Alu::Add | Alu::Subtract | Alu::Multiply | Alu::Maximum | Alu::Minimum
    ) {
        return Err(Failure::documented(
            "err_unsupported_operation",
            format!("{}: {alu:?} is no reduction here", bound.api.full_name()),
            "reduce by nl.add, nl.multiply, nl.maximum or nl.minimum",
        ));
    }
    let command = bound.take("reduce_cmd");
    let initial = bound.take("reduce_init").or_else(|| bound.take("imm1"));
    Ok(match command {
        None | Some(Value::Symbol("reduce_cmd.reset_reduce" | "reduce_cmd.idle")) => Start::Neutral,
        Some(Value::Symbol("reduce_cmd.reduce")) => Start::Kept,
        Some(Value::Symbol("reduce_cmd.load_reduce")) => {
            let initial = initial.ok_or_else(|| bound.missing("reduce_init"))?;
            Start::Loaded(
                match device.scalar_operand(bound, "reduce_init", initial, partitions)? {
                    Operand::Number(number) => vec![number; partitions],
                    Operand::Column(view) => device.read(&view)?,
                },
            )
        }
        Some(other) => return Err(bound.wrong("reduce_cmd", "one of nisa.reduce_cmd", &other)),
    })
}

/// The reduction of each row.
pub(super) fn of_rows(values: &[f32], width: usize, alu: Alu) -> Vec<f32> {
    let total = |row: &[f32]| row.iter().copied().reduce(|a, b| alu.apply(a, b));
    let rows = values.chunks(width.max(1));
    rows.map(|row| total(row).unwrap_or_else(|| alu.neutral()))
        .collect()
}

impl Start {
    /// What the accumulator of a partition holds.
    pub(super) fn of(&self, device: &Device, partition: usize) -> Option<f32> {
        match self {
            Self::Neutral => None,
            Self::Kept => device.totals.get(partition).copied(),
            Self::Loaded(values) => values.get(partition).copied(),
        }
    }
}

/// Adds what the accumulators started with, and keeps what they hold now.
pub(super) fn carry(device: &mut Device, start: &Start, totals: Vec<f32>, alu: Alu) -> Vec<f32> {
    let carried: Vec<f32> = totals
        .into_iter()
        .enumerate()
        .map(|(partition, total)| match start.of(device, partition) {
            Some(old) => alu.apply(old, total),
            None => total,
        })
        .collect();
    device.totals.clone_from(&carried);
    carried
}
