//! How the elements of an input buffer are drawn.

use crate::problem::Buffer;
use autocomp_core::Seed;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The distribution of a buffer's elements. Values are rounded to the
/// element type and, unless they are infinite, clamped to its range.
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
        #[serde(with = "several")]
        values: Vec<f64>,
    },
    /// One of `values` with probability `1 / one_in`, else zero.
    Sparse {
        /// What to choose from.
        #[serde(with = "several")]
        values: Vec<f64>,
        /// The inverse of the density.
        one_in: u64,
    },
    /// The same value everywhere.
    Constant {
        /// The value.
        #[serde(with = "number")]
        value: f64,
    },
    /// One where the last two indices are equal, else zero.
    Identity {},
    /// A triangle of the last two dimensions: `inside` on the diagonal and on one side of it,
    /// `outside` on the other.
    Triangle {
        /// The side, seen from the diagonal.
        part: Part,
        /// How elements of the triangle are drawn.
        inside: Box<Self>,
        /// The value of the others.
        #[serde(default, with = "number")]
        outside: f64,
    },
    /// The numbers of a file beside the description, in the order of the elements.
    Table {
        /// Its name: a text of numbers with commas, spaces or line ends between them.
        file: String,
        /// The numbers, once they are read.
        #[serde(default, with = "numbers")]
        values: Arc<[f64]>,
    },
    /// The elements of another input, whose dimensions lie elsewhere: transposed, or repeated
    /// along a dimension that it does not have.
    View {
        /// Name of the other buffer, of the same type.
        of: String,
        /// For each dimension, that of the other buffer which it runs along, or -1 for
        /// repetitions.
        axes: Vec<i64>,
    },
}

/// A number on its way to whoever evaluates, as a text in which no number is infinite.
mod number {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged, expecting = "invalid value: expected a number")]
    pub(super) enum Written {
        Number(f64),
        Infinite(Infinite),
    }

    #[derive(Serialize, Deserialize)]
    pub(super) enum Infinite {
        #[serde(rename = "inf")]
        Greatest,
        #[serde(rename = "-inf")]
        Least,
    }

    impl From<f64> for Written {
        fn from(number: f64) -> Self {
            match number {
                f64::INFINITY => Self::Infinite(Infinite::Greatest),
                f64::NEG_INFINITY => Self::Infinite(Infinite::Least),
                number => Self::Number(number),
            }
        }
    }

    impl From<Written> for f64 {
        fn from(written: Written) -> Self {
            match written {
                Written::Number(number) => number,
                Written::Infinite(Infinite::Greatest) => Self::INFINITY,
                Written::Infinite(Infinite::Least) => Self::NEG_INFINITY,
            }
        }
    }

    pub(super) fn serialize<S: Serializer>(number: &f64, to: S) -> Result<S::Ok, S::Error> {
        Written::from(*number).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        Written::deserialize(from).map(f64::from)
    }
}

/// Several such numbers.
mod several {
    use super::number::Written;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(numbers: &[f64], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(numbers.iter().map(|it| Written::from(*it)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
        let written = Vec::<Written>::deserialize(from)?;
        Ok(written.into_iter().map(f64::from).collect())
    }
}

/// Numbers of a table on their way to whoever evaluates.
mod numbers {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::sync::Arc;

    pub(super) fn serialize<S: Serializer>(
        numbers: &Arc<[f64]>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        (**numbers).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<[f64]>, D::Error> {
        Vec::deserialize(deserializer).map(Arc::from)
    }
}

/// A side of the diagonal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Where the last index is not greater than the one before.
    Lower,
    /// Where it is not less.
    Upper,
}

impl Distribution {
    /// Returns the greatest magnitude that it gives.
    #[must_use]
    pub fn largest(&self) -> f64 {
        let of = |values: &[f64]| values.iter().fold(0.0f64, |most, it| most.max(it.abs()));
        match self {
            Self::Uniform { low, high } => {
                (low.unsigned_abs() as f64).max(high.unsigned_abs() as f64)
            }
            Self::Real { low, high } => of(&[*low, *high]),
            Self::Choice { values } | Self::Sparse { values, .. } => of(values),
            Self::Table { values, .. } => of(values),
            Self::Constant { value } => value.abs(),
            Self::Identity {} => 1.0,
            Self::Triangle {
                inside, outside, ..
            } => inside.largest().max(outside.abs()),
            // As much as the other buffer, which is looked at itself.
            Self::View { .. } => 0.0,
        }
    }

    /// Returns whether the numbers that describe it are some: none is not-a-number, and ends of
    /// ranges are finite.
    #[must_use]
    pub fn has_numbers(&self) -> bool {
        match self {
            Self::Real { low, high } => low.is_finite() && high.is_finite(),
            Self::Choice { values } | Self::Sparse { values, .. } => {
                !values.iter().any(|it| it.is_nan())
            }
            Self::Constant { value } => !value.is_nan(),
            Self::Triangle {
                inside, outside, ..
            } => !outside.is_nan() && inside.has_numbers(),
            Self::Uniform { .. } | Self::Identity {} | Self::Table { .. } | Self::View { .. } => {
                true
            }
        }
    }

    /// Returns whether it gives numbers that are zero, infinite, or too small to be normal in
    /// binary32, more often than by an accident.
    #[must_use]
    pub fn has_special_numbers(&self) -> bool {
        let is_special = |it: &f64| it.is_infinite() || it.abs() < f64::from(f32::MIN_POSITIVE);
        match self {
            Self::Uniform { low, high } => (*low..=*high).contains(&0),
            Self::Real { low, high } => is_special(low) && is_special(high),
            Self::Choice { values } => values.iter().any(is_special),
            Self::Table { values, .. } => values.iter().any(is_special),
            Self::Constant { value } => is_special(value),
            Self::Sparse { .. } | Self::Identity {} => true,
            Self::Triangle {
                inside, outside, ..
            } => is_special(outside) || inside.has_special_numbers(),
            // As the other buffer has them, which is looked at itself.
            Self::View { .. } => false,
        }
    }

    /// Returns the distribution with no more than `count` of the numbers that it chooses from; with
    /// others than zero, where there are such. Elements of a table that has more have one of them
    /// instead, by turns. What is not drawn element by element stays.
    #[must_use]
    pub fn of_few(&self, count: usize) -> Self {
        let few = |numbers: &[f64]| {
            let mut found: Vec<f64> = Vec::new();
            for number in numbers {
                if *number != 0.0 && number.is_finite() && !found.contains(number) {
                    found.push(*number);
                }
            }
            found.truncate(count);
            match found.is_empty() {
                true => numbers.iter().take(1).copied().collect(),
                false => found,
            }
        };
        match self {
            // The first one has the same bits in every type that has a sign.
            Self::Uniform { low, high } => {
                let all = [-1, 2, 1, *low, *high].into_iter();
                let all = all.filter(|it| (*low..=*high).contains(it));
                let all: Vec<f64> = all.map(|it| it as f64).collect();
                Self::Choice { values: few(&all) }
            }
            Self::Real { low, high } => {
                let part = |part: f64| low + (high - low) * part;
                let all = [0.5, -0.5, part(0.25), part(0.75), part(0.125)];
                let all: Vec<f64> = all
                    .into_iter()
                    .filter(|it| low <= it && it < high)
                    .collect();
                Self::Choice { values: few(&all) }
            }
            Self::Choice { values } => Self::Choice {
                values: few(values),
            },
            Self::Sparse { values, one_in } => Self::Sparse {
                values: few(values),
                one_in: *one_in,
            },
            Self::Triangle {
                part,
                inside,
                outside,
            } => Self::Triangle {
                part: *part,
                inside: Box::new(inside.of_few(count)),
                outside: *outside,
            },
            Self::Table { file, values } => {
                let few = few(values);
                let one = |(idx, number): (usize, &f64)| match few.contains(number) {
                    true => *number,
                    false => few[idx % few.len()],
                };
                Self::Table {
                    file: file.clone(),
                    values: values.iter().enumerate().map(one).collect(),
                }
            }
            Self::Constant { .. } | Self::Identity {} | Self::View { .. } => self.clone(),
        }
    }

    /// Draws the elements of `buffer` and returns them as the bytes that lie
    /// in little-endian memory. Equal seeds give equal bytes. The elements of a view, which are
    /// those of another buffer, are zero.
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
        let (least, most) = buffer.dtype.range();
        let mut bytes = Vec::with_capacity(elements * width);
        for idx in 0..elements as u64 {
            let place = (idx, idx / columns % rows, idx % columns);
            let value = self.value(place, &mut seed);
            let is_held = value.is_infinite() && buffer.dtype.has_infinity();
            let held = if is_held {
                value
            } else {
                value.clamp(least, most)
            };
            buffer.dtype.push(held, &mut bytes);
        }
        bytes
    }

    /// Draws the element at an index, in a row and a column.
    fn value(&self, (idx, row, column): (u64, u64, u64), seed: &mut Seed) -> f64 {
        match self {
            Self::Uniform { low, high } => {
                let span = high.abs_diff(*low).saturating_add(1);
                let step = below(seed, span);
                low.saturating_add_unsigned(step) as f64
            }
            Self::Real { low, high } => {
                // 53 random bits make a fraction in [0, 1).
                let fraction = (seed.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
                low + (high - low) * fraction
            }
            Self::Choice { values } => choose(values, seed),
            Self::Sparse { values, one_in } => {
                if below(seed, (*one_in).max(1)) == 0 {
                    choose(values, seed)
                } else {
                    0.0
                }
            }
            Self::Constant { value } => *value,
            Self::Identity {} => f64::from(u8::from(column == row)),
            Self::Triangle {
                part,
                inside,
                outside,
            } => {
                let is_inside = match part {
                    Part::Lower => column <= row,
                    Part::Upper => row <= column,
                };
                if is_inside {
                    inside.value((idx, row, column), seed)
                } else {
                    *outside
                }
            }
            Self::Table { values, .. } => values.get(idx as usize).copied().unwrap_or(0.0),
            Self::View { .. } => 0.0,
        }
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

/// Returns the elements of `content`, which is `from`, as `to` has them: `axes` names for each of
/// its dimensions one of `from`, or none for repetitions.
pub(crate) fn viewed(from: &Buffer, content: &[u8], to: &Buffer, axes: &[i64]) -> Vec<u8> {
    let width = from.dtype.bytes();
    // How far the elements of `from` lie apart along each dimension of `to`.
    let strides = axes.iter().map(|axis| {
        let inner = usize::try_from(*axis)
            .ok()
            .and_then(|axis| from.shape.get(axis + 1..));
        inner.map_or(0, |inner| inner.iter().product::<u64>() as usize)
    });
    let strides: Vec<usize> = strides.collect();
    let mut bytes = Vec::with_capacity(to.bytes());
    for element in 0..to.elements() {
        let (mut rest, mut at) = (element, 0);
        for (extent, stride) in to.shape.iter().zip(&strides).rev() {
            at += rest % *extent as usize * stride;
            rest /= *extent as usize;
        }
        bytes.extend(
            content
                .get(at * width..(at + 1) * width)
                .unwrap_or(&[0; 4][..width]),
        );
    }
    bytes
}
