//! Whose place in the on-chip memory a tile takes.
//!
//! Tiles have places before anything runs: in program order, one that finds no free place takes
//! that of the tiles that came out of use first, and waits until they are.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::uses::{Span, Uses};
use crate::tensor::storage::Buffer;
use crate::trace::Tensor;

/// Fewest bytes in each partition of a tile that takes another's place: smaller ones lie in what is
/// left between the others.
const LEAST: u64 = 1024;

/// Which instruction is the first to write to a place, and which the last to use what was there,
/// ordered by the first.
pub(super) fn successions(uses: &Uses, tensors: &[Tensor], bytes: u64) -> Vec<(u32, u32)> {
    let size = |span: &Span| match tensors.get(span.tile.tensor as usize) {
        Some(tensor) if tensor.buffer == Buffer::Sbuf && tensor.places.is_none() => tensor.bytes,
        _ => 0,
    };
    let mut spans: Vec<(Span, u64)> = uses.spans().map(|span| (span, size(&span))).collect();
    spans.retain(|(_, bytes)| LEAST <= *bytes);
    let all: u64 = spans.iter().map(|(_, bytes)| bytes).sum();
    if all <= bytes {
        return Vec::new();
    }
    spans.sort_unstable_by_key(|(span, _)| span.first);
    let mut taken = 0;
    let mut used: BinaryHeap<Reverse<(u32, u64)>> = BinaryHeap::new();
    let mut found = Vec::new();
    for (span, own) in spans {
        taken += own;
        while bytes < taken {
            match used.peek() {
                Some(Reverse((last, freed))) if *last < span.first => {
                    found.push((span.first, *last));
                    taken -= freed;
                    used.pop();
                }
                _ => break,
            }
        }
        used.push(Reverse((span.last, own)));
    }
    found
}
