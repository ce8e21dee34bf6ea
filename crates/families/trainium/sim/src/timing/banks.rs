//! When the banks of the accumulators are taken, and when they come free.

use super::uses::Uses;
use crate::tensor::storage::Buffer;
use crate::trace::Tensor;

/// Accumulator banks in program order: bytes that an instruction opens, and that it closes; 0
/// where it does not.
pub(super) struct Banks {
    pub(super) opens: Vec<u32>,
    pub(super) closes: Vec<u32>,
    /// The instructions that open any.
    pub(super) order: Vec<u32>,
}

/// The banks that so many instructions open and close, of which `uses` says what they do.
pub(super) fn banks(uses: &Uses, tensors: &[Tensor], instructions: usize) -> Banks {
    let (mut opens, mut closes) = (vec![0; instructions], vec![0; instructions]);
    for span in uses.spans() {
        let tensor = tensors.get(span.tile.tensor as usize);
        if let Some(tensor) = tensor.filter(|it| it.buffer == Buffer::Psum) {
            // An instruction that opens two tiles opens them together.
            opens[span.first as usize] += tensor.bytes as u32;
            closes[span.last as usize] += tensor.bytes as u32;
        }
    }
    let order = (0u32..).zip(&opens);
    let order = order.filter(|(_, opened)| **opened > 0);
    Banks {
        order: order.map(|(position, _)| position).collect(),
        opens,
        closes,
    }
}
