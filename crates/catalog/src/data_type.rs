//! Types of the elements of buffers.

use half::{bf16, f16};
use serde::{Deserialize, Serialize};

/// The type of a buffer's elements, little-endian in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DataType {
    /// Signed 8-bit integer.
    Int8,
    /// Unsigned 8-bit integer.
    UInt8,
    /// Signed 32-bit integer.
    Int32,
    /// IEEE binary16.
    Float16,
    /// The upper half of IEEE binary32.
    BFloat16,
    /// IEEE binary32.
    Float32,
}

impl DataType {
    /// Returns the size of one element in bytes.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::Int8 | Self::UInt8 => 1,
            Self::Float16 | Self::BFloat16 => 2,
            Self::Int32 | Self::Float32 => 4,
        }
    }

    /// Returns the name in `problem.toml`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Int8 => "int8",
            Self::UInt8 => "uint8",
            Self::Int32 => "int32",
            Self::Float16 => "float16",
            Self::BFloat16 => "bfloat16",
            Self::Float32 => "float32",
        }
    }

    /// Returns the least and the greatest value of an integer type.
    #[must_use]
    pub fn limits(self) -> Option<(f64, f64)> {
        match self {
            Self::Int8 => Some((-128.0, 127.0)),
            Self::UInt8 => Some((0.0, 255.0)),
            Self::Int32 => Some((f64::from(i32::MIN), f64::from(i32::MAX))),
            Self::Float16 | Self::BFloat16 | Self::Float32 => None,
        }
    }

    /// Returns an element as a number, exactly; not-a-number if `bytes` is not
    /// as long as an element.
    #[must_use]
    pub fn value(self, bytes: &[u8]) -> f64 {
        match (self, bytes) {
            (Self::Int8, [byte]) => f64::from(byte.cast_signed()),
            (Self::UInt8, [byte]) => f64::from(*byte),
            (Self::Int32, [a, b, c, d]) => f64::from(i32::from_le_bytes([*a, *b, *c, *d])),
            (Self::Float16, [a, b]) => f16::from_le_bytes([*a, *b]).to_f64(),
            (Self::BFloat16, [a, b]) => bf16::from_le_bytes([*a, *b]).to_f64(),
            (Self::Float32, [a, b, c, d]) => f64::from(f32::from_le_bytes([*a, *b, *c, *d])),
            _ => f64::NAN,
        }
    }

    /// Appends `value`, rounded to the nearest element and clamped to its range.
    pub fn push(self, value: f64, bytes: &mut Vec<u8>) {
        // `as` rounds toward zero and saturates.
        match self {
            Self::Int8 => bytes.push((rounded(value) as i8).cast_unsigned()),
            Self::UInt8 => bytes.push(rounded(value) as u8),
            Self::Int32 => bytes.extend((rounded(value) as i32).to_le_bytes()),
            Self::Float16 => bytes.extend(f16::from_f64(value).to_le_bytes()),
            Self::BFloat16 => bytes.extend(bf16::from_f64(value).to_le_bytes()),
            Self::Float32 => bytes.extend((value as f32).to_le_bytes()),
        }
    }

    /// Returns an element as text, with as many digits as its type has.
    #[must_use]
    pub fn shown(self, bytes: &[u8]) -> String {
        let value = self.value(bytes);
        match self {
            Self::Float16 | Self::BFloat16 | Self::Float32 => (value as f32).to_string(),
            Self::Int8 | Self::UInt8 | Self::Int32 => value.to_string(),
        }
    }
}

/// Rounds to an integer, ties to even. Nearly all values are integers already,
/// and where the processor's baseline has no instruction for rounding, calling
/// the library for each costs more than all else here.
fn rounded(value: f64) -> f64 {
    if value as i64 as f64 == value {
        value
    } else {
        value.round_ties_even()
    }
}
