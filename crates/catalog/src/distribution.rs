//! How the elements of an input buffer are drawn.

use crate::problem::Buffer;
use autocomp_core::Seed;
use serde::{Deserialize, Serialize};

/// The distribution of a buffer's elements. Values are rounded to the
/// element type and clamped to its range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Distribution {
    /// Whole numbers from `low` to `high`, both included, all equally likely.
    Uniform {
        /// Least value.
        low: i64,
        /// Greatest value.
        high: i64,
    },
    /// Real numbers from `low` up to `high`; for floating-point buffers.
    Real {
        /// Least value.
        low: f64,
        /// Upper bound.
        high: f64,
    },
    /// One of `values`, all equally likely.
    Choice {
        /// What to choose from.
        values: Vec<f64>,
    },
    /// One of `values` with probability `1 / one_in`, else zero.
    Sparse {
        /// What to choose from.
        values: Vec<f64>,
        /// The inverse of the density.
        one_in: u64,
    },
    /// The same value everywhere.
    Constant {
        /// The value.
        value: f64,
    },
    /// One where the last two indices are equal, else zero.
    Identity {},
}

impl Distribution {
    /// Draws the elements of `buffer` and returns them as the bytes that lie
    /// in little-endian memory. Equal seeds give equal bytes.
    #[must_use]
    pub fn fill(&self, buffer: &Buffer, mut seed: Seed) -> Vec<u8> {
        let elements = buffer.elements();
        let width = buffer.dtype.bytes();
        let columns = buffer.shape.last().copied().unwrap_or(1).max(1);
        let rows = buffer
            .shape
            .iter()
            .rev()
            .nth(1)
            .copied()
            .unwrap_or(1)
            .max(1);
        let mut bytes = Vec::with_capacity(elements * width);
        for idx in 0..elements as u64 {
            let value = match self {
                Self::Uniform { low, high } => {
                    let span = high.abs_diff(*low).saturating_add(1);
                    let step = below(&mut seed, span);
                    low.saturating_add_unsigned(step) as f64
                }
                Self::Real { low, high } => {
                    // 53 random bits make a fraction in [0, 1).
                    let fraction = (seed.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
                    low + (high - low) * fraction
                }
                Self::Choice { values } => choose(values, &mut seed),
                Self::Sparse { values, one_in } => {
                    if below(&mut seed, (*one_in).max(1)) == 0 {
                        choose(values, &mut seed)
                    } else {
                        0.0
                    }
                }
                Self::Constant { value } => *value,
                Self::Identity {} => f64::from(u8::from(idx % columns == idx / columns % rows)),
            };
            buffer.dtype.push(value, &mut bytes);
        }
        bytes
    }
}

/// A random number below `n`, which is not zero.
fn below(seed: &mut Seed, n: u64) -> u64 {
    ((u128::from(seed.next_u64()) * u128::from(n)) >> 64) as u64
}

fn choose(values: &[f64], seed: &mut Seed) -> f64 {
    if values.is_empty() {
        0.0
    } else {
        values[seed.below(values.len())]
    }
}
