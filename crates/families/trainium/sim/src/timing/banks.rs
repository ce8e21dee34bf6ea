//! When the banks of the accumulators are taken, and when they come free.

use crate::keyed::Keyed;
use crate::tensor::storage::Buffer;
use crate::trace::{Instruction, Tensor};

/// Accumulator banks in program order: bytes that an instruction opens, and that it closes.
pub(super) struct Banks {
    pub(super) opens: Vec<Option<u64>>,
    pub(super) closes: Keyed<u32, u64>,
    /// The instructions that open any.
    pub(super) order: Vec<u32>,
}

/// The banks that instructions open and close; there are `tiles` tiles.
pub(super) fn banks(instructions: &[Instruction], tensors: &[Tensor], tiles: u32) -> Banks {
    // Bytes and last use of those in the accumulators.
    let mut lives: Vec<Option<(u64, u32)>> = vec![None; tiles as usize];
    let mut opens = vec![None; instructions.len()];
    for (position, instruction) in (0u32..).zip(instructions) {
        for region in instruction.writes.iter().chain(&instruction.reads) {
            let tensor = tensors.get(region.tile.tensor as usize);
            let Some(tensor) = tensor.filter(|it| it.buffer == Buffer::Psum) else {
                continue;
            };
            match &mut lives[region.tile.at()] {
                Some((_, last)) => *last = position,
                fresh => {
                    *fresh = Some((tensor.bytes, position));
                    // An instruction that opens two tiles opens them together.
                    *opens[position as usize].get_or_insert(0) += tensor.bytes;
                }
            }
        }
    }
    let mut closes: Keyed<u32, u64> = Keyed::default();
    for (bytes, last) in lives.into_iter().flatten() {
        *closes.entry(last).or_default() += bytes;
    }
    let order = (0u32..).zip(&opens);
    let order = order.filter(|(_, opened)| opened.is_some());
    Banks {
        order: order.map(|(position, _)| position).collect(),
        opens,
        closes,
    }
}
