//! Reads addresses of local memory.

use super::{GARBAGE, ROW_LIMIT};
use crate::affine::Affine;
use crate::condition::Condition;
use crate::kernel::{ACCUMULATE_BIT, ACCUMULATOR_BIT, FULL_WIDTH_BIT, Local, LocalRow, Memory};
use crate::value::Value;

/// Returns the local address of a value; `None` if it is not one in all cases.
pub(super) fn local(value: &Value) -> Option<Local> {
    match value {
        Value::Plain(affine) => {
            if let Some(value) = affine.as_constant()
                && value.rem_euclid(1 << 32) == GARBAGE
            {
                return Some(Local::Garbage);
            }
            let (memory, accumulate, full_width, row) = split_flags(affine)?;
            let overwrites = Condition::Constant(!accumulate);
            Some(Local::Row(LocalRow {
                memory,
                row,
                overwrites,
                full_width,
            }))
        }
        Value::Select(condition, then, otherwise) => {
            let (memory, accumulate, full_width, row) = split_flags(then)?;
            let other = split_flags(otherwise)?;
            if (memory, !accumulate, full_width, &row) != (other.0, other.1, other.2, &other.3) {
                return None;
            }
            let overwrites = if accumulate {
                condition.negate()
            } else {
                condition.clone()
            };
            Some(Local::Row(LocalRow {
                memory,
                row,
                overwrites,
                full_width,
            }))
        }
    }
}

/// Returns memory, accumulate flag, width flag and row of an address.
fn split_flags(address: &Affine) -> Option<(Memory, bool, bool, Affine)> {
    let constant = address.constant_part();
    if -ROW_LIMIT < constant && constant < ROW_LIMIT {
        return Some((Memory::Scratchpad, false, false, address.clone()));
    }
    if !(ACCUMULATOR_BIT..1 << 32).contains(&constant) {
        return None;
    }
    let flags = constant & !(ROW_LIMIT - 1);
    if flags & !(ACCUMULATOR_BIT | ACCUMULATE_BIT | FULL_WIDTH_BIT) != 0 {
        return None;
    }
    let row = address.plus_constant(-flags)?;
    Some((
        Memory::Accumulator,
        flags & ACCUMULATE_BIT != 0,
        flags & FULL_WIDTH_BIT != 0,
        row,
    ))
}

/// Drops the flag that has no meaning for reads, so that equal reads are equal.
pub(super) fn read_only(local: Local) -> Local {
    match local {
        Local::Garbage => Local::Garbage,
        Local::Row(row) => Local::Row(LocalRow {
            overwrites: Condition::Constant(true),
            ..row
        }),
    }
}
