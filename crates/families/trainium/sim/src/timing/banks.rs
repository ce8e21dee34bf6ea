//! When the banks of the accumulators are taken, and when they come free.

use crate::tensor::storage::Buffer;
use crate::trace::{Instruction, Long, Tensor};

/// Accumulator banks in program order: bytes that an instruction opens, and that it closes; 0
/// where it does not.
pub(super) struct Banks {
    pub(super) opens: Vec<u32>,
    pub(super) closes: Vec<u32>,
    /// The instructions that open any.
    pub(super) order: Vec<u32>,
}

/// The banks that instructions open and close; there are `tiles` tiles.
pub(super) fn banks(instructions: &Long<Instruction>, tensors: &[Tensor], tiles: u32) -> Banks {
    // Bytes and last use of those in the accumulators.
    let mut lives: Vec<Option<(u32, u32)>> = vec![None; tiles as usize];
    let mut opens = vec![0; instructions.len()];
    for (position, instruction) in (0u32..).zip(instructions) {
        for region in instruction.writes.iter().chain(&instruction.reads) {
            let tensor = tensors.get(region.tile.tensor as usize);
            let Some(tensor) = tensor.filter(|it| it.buffer == Buffer::Psum) else {
                continue;
            };
            match &mut lives[region.tile.at()] {
                Some((_, last)) => *last = position,
                fresh => {
                    let bytes = tensor.bytes as u32;
                    *fresh = Some((bytes, position));
                    // An instruction that opens two tiles opens them together.
                    opens[position as usize] += bytes;
                }
            }
        }
    }
    let mut closes = vec![0; instructions.len()];
    for (bytes, last) in lives.into_iter().flatten() {
        closes[last as usize] += bytes;
    }
    let order = (0u32..).zip(&opens);
    let order = order.filter(|(_, opened)| **opened > 0);
    Banks {
        order: order.map(|(position, _)| position).collect(),
        opens,
        closes,
    }
}
