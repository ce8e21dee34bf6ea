//! When the banks of the accumulators are taken, and when they come free.

use crate::keyed::Keyed;
use crate::tensor::storage::Buffer;
use crate::trace::{Instruction, Tensor};

/// Accumulator banks in program order: which tile an instruction opens, and which it closes.
pub(super) struct Banks {
    pub(super) opens: Vec<Option<(u32, u64)>>,
    pub(super) closes: Keyed<u32, Vec<(u32, u64)>>,
    pub(super) order: Vec<u32>,
}

/// The banks that instructions open and close.
pub(super) fn banks(instructions: &[Instruction], tensors: &[Tensor]) -> Banks {
    let mut first: Keyed<(u32, u32), (u32, u32)> = Keyed::default();
    let mut keys = Vec::new();
    for (position, instruction) in instructions.iter().enumerate() {
        for region in instruction.writes.iter().chain(&instruction.reads) {
            if tensors
                .get(region.tensor as usize)
                .is_some_and(|t| t.buffer == Buffer::Psum)
            {
                let key = (region.tensor, region.block);
                first
                    .entry(key)
                    .and_modify(|(_, last)| *last = position as u32)
                    .or_insert_with(|| {
                        keys.push(key);
                        (position as u32, position as u32)
                    });
            }
        }
    }
    let mut banks = Banks {
        opens: vec![None; instructions.len()],
        closes: Keyed::default(),
        order: Vec::new(),
    };
    for (number, key) in keys.iter().enumerate() {
        let (open, close) = first[key];
        let bytes = tensors.get(key.0 as usize).map_or(0, |t| t.bytes);
        // An instruction that opens two tiles opens them together.
        match &mut banks.opens[open as usize] {
            Some((_, total)) => *total += bytes,
            slot => {
                *slot = Some((number as u32, bytes));
                banks.order.push(open);
            }
        }
        banks
            .closes
            .entry(close)
            .or_default()
            .push((number as u32, bytes));
    }
    banks
}
