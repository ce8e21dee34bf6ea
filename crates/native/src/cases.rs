//! Inputs with known answers, and whether a call gave them.

use autocomp_catalog::{Buffer, DataType, InputSet, Problem, Tolerance};
use autocomp_core::{Diagnostic, Seed};
use autocomp_eval::{comparison, inputs};

/// The content of every buffer before and after a right call.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name of the input set.
    pub name: String,
    /// Per buffer, its content before the call; poison for pure outputs.
    pub before: Vec<Vec<u8>>,
    /// Per buffer, its content after a right call; none for pure inputs.
    pub after: Vec<Option<Vec<u8>>>,
}

impl Case {
    /// Draws the inputs of a case; its answers are not known yet.
    pub fn draw(problem: &Problem, set: &InputSet, seed: Seed) -> Self {
        let before = problem
            .buffers
            .iter()
            .map(|buffer| match set.draw(buffer, seed) {
                Some(content) => content,
                None => poison(buffer, seed.derive("poison").derive(&buffer.name)),
            })
            .collect();
        Self {
            name: set.name.clone(),
            before,
            after: vec![None; problem.buffers.len()],
        }
    }
}

impl Case {
    /// Returns the same in the form that families share.
    pub fn neutral(self, problem: &Problem) -> inputs::Case {
        let before = problem.buffers.iter().zip(self.before);
        inputs::Case {
            name: self.name,
            before: before
                .map(|(buffer, content)| buffer.is_read().then_some(content))
                .collect(),
            after: self.after,
        }
    }
}

/// Returns a pattern of bytes that is no likely result: for floating point,
/// signalling numbers that are none.
fn poison(buffer: &Buffer, mut seed: Seed) -> Vec<u8> {
    let mut bytes = vec![0; buffer.bytes()];
    for chunk in bytes.chunks_mut(8) {
        let word = match buffer.dtype {
            DataType::Float32 => seed.next_u64() & 0x803f_ffff_803f_ffff | 0x7f80_0001_7f80_0001,
            DataType::Float16 => seed.next_u64() & 0x81ff_81ff_81ff_81ff | 0x7c01_7c01_7c01_7c01,
            DataType::BFloat16 => seed.next_u64() & 0x803f_803f_803f_803f | 0x7f81_7f81_7f81_7f81,
            _ => seed.next_u64(),
        };
        let len = chunk.len();
        chunk.copy_from_slice(&word.to_le_bytes()[..len]);
    }
    bytes
}

/// Compares `got` with the right content of a buffer; `before` is what it held before the call.
pub fn compare(
    buffer: &Buffer,
    right: &[u8],
    got: &[u8],
    before: &[u8],
    tolerance: Tolerance,
) -> Option<Diagnostic> {
    // Lines of 16 elements are what vectors and unrolled loops leave out.
    const TILE: usize = 16;
    comparison::compare(buffer, right, got, before, tolerance, TILE)
}
