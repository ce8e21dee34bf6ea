//! Inputs with known answers, and whether a call gave them.

use autocomp_catalog::{Buffer, DataType, InputSet, Problem, Tolerance};
use autocomp_core::{Diagnostic, Seed, Severity, Stage};

/// Byte that the rest of a buffer's pages is filled with.
pub(crate) const SLACK_BYTE: u8 = 0xa7;

/// The content of every buffer before and after a right call.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// Name of the input set.
    pub name: String,
    /// Per buffer, its content before the call; poison for pure outputs.
    pub before: Vec<Vec<u8>>,
    /// Per buffer, its content after a right call; none for pure inputs.
    pub after: Vec<Option<Vec<u8>>>,
}

impl Case {
    /// Draws the inputs of a case; its answers are not known yet.
    pub(crate) fn draw(problem: &Problem, set: &InputSet, seed: Seed) -> Self {
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

/// Returns a pattern of bytes that is no likely result: for floating point,
/// signalling numbers that are none.
fn poison(buffer: &Buffer, mut seed: Seed) -> Vec<u8> {
    let mut bytes = vec![0; buffer.bytes()];
    for chunk in bytes.chunks_mut(8) {
        let mut word = seed.next_u64();
        if buffer.dtype == DataType::Float32 {
            word = word & 0x803f_ffff_803f_ffff | 0x7f80_0001_7f80_0001;
        }
        let len = chunk.len();
        chunk.copy_from_slice(&word.to_le_bytes()[..len]);
    }
    bytes
}

/// Returns whether `got` is within `tolerance` of `right` everywhere.
pub(crate) fn is_right(buffer: &Buffer, right: &[u8], got: &[u8], tolerance: Tolerance) -> bool {
    if right == got {
        return true;
    }
    let Tolerance::Close { relative, absolute } = tolerance else {
        return false;
    };
    if buffer.dtype != DataType::Float32 {
        return (0..buffer.elements())
            .all(|idx| element_is_right(buffer, right, got, idx, tolerance));
    }
    let (relative, absolute) = (relative as f32, absolute as f32);
    // Several at a time, which compilers turn into vector code.
    let (right, got) = (right.as_chunks().0, got.as_chunks().0);
    right.chunks(16).zip(got.chunks(16)).all(|(right, got)| {
        right.iter().zip(got).fold(true, |all, (right, got)| {
            let (right, got) = (f32::from_le_bytes(*right), f32::from_le_bytes(*got));
            // Not-a-number is close to nothing.
            let close = (got - right).abs() <= absolute.max(relative * right.abs());
            all & (close | (right == got))
        })
    })
}

fn element_is_right(
    buffer: &Buffer,
    right: &[u8],
    got: &[u8],
    idx: usize,
    tolerance: Tolerance,
) -> bool {
    let width = buffer.dtype.bytes();
    let at = idx * width..(idx + 1) * width;
    let (right, got) = (value(buffer, &right[at.clone()]), value(buffer, &got[at]));
    match tolerance {
        Tolerance::Exact {} => right == got,
        Tolerance::Close { relative, absolute } => {
            right == got || (got - right).abs() <= absolute.max(relative * right.abs())
        }
    }
}

fn value(buffer: &Buffer, bytes: &[u8]) -> f64 {
    buffer.dtype.value(bytes)
}

/// Describes how `got` differs from `right`, which it does; `before` is what
/// the buffer held before the call.
pub(crate) fn describe(
    buffer: &Buffer,
    right: &[u8],
    got: &[u8],
    before: &[u8],
    tolerance: Tolerance,
) -> Diagnostic {
    let width = buffer.dtype.bytes();
    let wrong: Vec<usize> = (0..buffer.elements())
        .filter(|idx| !element_is_right(buffer, right, got, *idx, tolerance))
        .collect();
    let at = |bytes: &[u8], idx: usize| value(buffer, &bytes[idx * width..(idx + 1) * width]);
    let untouched = wrong
        .iter()
        .all(|idx| got[idx * width..(idx + 1) * width] == before[idx * width..(idx + 1) * width]);
    let first = wrong.first().copied().unwrap_or(0);
    let count = format!(
        "{} of {} elements of {}",
        wrong.len(),
        buffer.elements(),
        buffer.name
    );
    let place = place(buffer, first);
    let (code, message) = if untouched && !buffer.is_read() {
        (
            "output-not-written",
            format!(
                "{count} were never written; the first is {place}, which should be {}",
                at(right, first)
            ),
        )
    } else {
        (
            "output-mismatch",
            format!(
                "{place} is {} instead of {}; {count} are wrong",
                at(got, first),
                at(right, first)
            ),
        )
    };
    Diagnostic {
        stage: Stage::Test,
        severity: Severity::Error,
        code: code.into(),
        message,
        location: None,
        notes: Vec::new(),
        remedy: None,
    }
}

/// Returns `C[3][17]`.
pub(crate) fn place(buffer: &Buffer, element: usize) -> String {
    let mut rest = element;
    let mut indices: Vec<String> = Vec::new();
    for extent in buffer.shape.iter().rev() {
        indices.push(format!("[{}]", rest % *extent as usize));
        rest /= *extent as usize;
    }
    indices.reverse();
    format!("{}{}", buffer.name, indices.concat())
}
