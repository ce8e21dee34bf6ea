//! Types of the elements of buffers.

use crate::short_float::{BITS_4_3, BITS_4_3_FINITE, BITS_5_2};
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
    /// Signed 16-bit integer.
    Int16,
    /// Unsigned 16-bit integer.
    UInt16,
    /// Signed 32-bit integer.
    Int32,
    /// Unsigned 32-bit integer.
    UInt32,
    /// A byte that is 0 or 1.
    Bool,
    /// Four bits of exponent, three of mantissa, infinities as in IEEE formats: 240 at most.
    #[serde(rename = "float8_e4m3")]
    Float8E4M3,
    /// The same without infinities, as the Open Compute Project has it: 448 at most.
    #[serde(rename = "float8_e4m3fn")]
    Float8E4M3Fn,
    /// Five bits of exponent, two of mantissa: the upper half of IEEE binary16.
    #[serde(rename = "float8_e5m2")]
    Float8E5M2,
    /// IEEE binary16.
    Float16,
    /// The upper half of IEEE binary32.
    BFloat16,
    /// IEEE binary32.
    Float32,
}

impl DataType {
    /// Every type.
    pub const ALL: [Self; 13] = [
        Self::Int8,
        Self::UInt8,
        Self::Int16,
        Self::UInt16,
        Self::Int32,
        Self::UInt32,
        Self::Bool,
        Self::Float8E4M3,
        Self::Float8E4M3Fn,
        Self::Float8E5M2,
        Self::Float16,
        Self::BFloat16,
        Self::Float32,
    ];

    /// Returns the size of one element in bytes.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::Int8
            | Self::UInt8
            | Self::Bool
            | Self::Float8E4M3
            | Self::Float8E4M3Fn
            | Self::Float8E5M2 => 1,
            Self::Int16 | Self::UInt16 | Self::Float16 | Self::BFloat16 => 2,
            Self::Int32 | Self::UInt32 | Self::Float32 => 4,
        }
    }

    /// Returns the name in `problem.toml`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Int8 => "int8",
            Self::UInt8 => "uint8",
            Self::Int16 => "int16",
            Self::UInt16 => "uint16",
            Self::Int32 => "int32",
            Self::UInt32 => "uint32",
            Self::Bool => "bool",
            Self::Float8E4M3 => "float8_e4m3",
            Self::Float8E4M3Fn => "float8_e4m3fn",
            Self::Float8E5M2 => "float8_e5m2",
            Self::Float16 => "float16",
            Self::BFloat16 => "bfloat16",
            Self::Float32 => "float32",
        }
    }

    /// Returns the type of its elements in C: for floating point that C does not have, the one
    /// that holds its bits.
    #[must_use]
    pub fn c_name(self) -> &'static str {
        match self {
            Self::Int8 => "int8_t",
            Self::UInt8 | Self::Bool | Self::Float8E4M3 | Self::Float8E4M3Fn | Self::Float8E5M2 => {
                "uint8_t"
            }
            Self::Int16 => "int16_t",
            Self::UInt16 | Self::Float16 | Self::BFloat16 => "uint16_t",
            Self::Int32 => "int32_t",
            Self::UInt32 => "uint32_t",
            Self::Float32 => "float",
        }
    }

    /// Returns the least and the greatest value of an integer type.
    #[must_use]
    pub fn limits(self) -> Option<(f64, f64)> {
        match self {
            Self::Int8 => Some((-128.0, 127.0)),
            Self::UInt8 => Some((0.0, 255.0)),
            Self::Int16 => Some((f64::from(i16::MIN), f64::from(i16::MAX))),
            Self::UInt16 => Some((0.0, f64::from(u16::MAX))),
            Self::Int32 => Some((f64::from(i32::MIN), f64::from(i32::MAX))),
            Self::UInt32 => Some((0.0, f64::from(u32::MAX))),
            Self::Bool => Some((0.0, 1.0)),
            Self::Float8E4M3
            | Self::Float8E4M3Fn
            | Self::Float8E5M2
            | Self::Float16
            | Self::BFloat16
            | Self::Float32 => None,
        }
    }

    /// Returns the least and the greatest finite value.
    #[must_use]
    pub fn range(self) -> (f64, f64) {
        let most = match self {
            Self::Float8E4M3 => 240.0,
            Self::Float8E4M3Fn => 448.0,
            Self::Float8E5M2 => 57_344.0,
            Self::Float16 => f16::MAX.to_f64(),
            Self::BFloat16 => bf16::MAX.to_f64(),
            _ => f64::from(f32::MAX),
        };
        self.limits().unwrap_or((-most, most))
    }

    /// Returns whether elements can be infinite.
    #[must_use]
    pub fn has_infinity(self) -> bool {
        self.limits().is_none() && self != Self::Float8E4M3Fn
    }

    /// Returns an element as a number, exactly; not-a-number if `bytes` is not
    /// as long as an element.
    #[must_use]
    pub fn value(self, bytes: &[u8]) -> f64 {
        match (self, bytes) {
            (Self::Int8, [byte]) => f64::from(byte.cast_signed()),
            (Self::UInt8 | Self::Bool, [byte]) => f64::from(*byte),
            (Self::Int16, [a, b]) => f64::from(i16::from_le_bytes([*a, *b])),
            (Self::UInt16, [a, b]) => f64::from(u16::from_le_bytes([*a, *b])),
            (Self::UInt32, [a, b, c, d]) => f64::from(u32::from_le_bytes([*a, *b, *c, *d])),
            (Self::Float8E4M3, [byte]) => BITS_4_3.value(*byte),
            (Self::Float8E4M3Fn, [byte]) => BITS_4_3_FINITE.value(*byte),
            (Self::Float8E5M2, [byte]) => BITS_5_2.value(*byte),
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
            Self::Bool => bytes.push(u8::from(value != 0.0)),
            Self::Int16 => bytes.extend((rounded(value) as i16).to_le_bytes()),
            Self::UInt16 => bytes.extend((rounded(value) as u16).to_le_bytes()),
            Self::UInt32 => bytes.extend((rounded(value) as u32).to_le_bytes()),
            Self::Float8E4M3 => bytes.push(BITS_4_3.bits(value)),
            Self::Float8E4M3Fn => bytes.push(BITS_4_3_FINITE.bits(value)),
            Self::Float8E5M2 => bytes.push(BITS_5_2.bits(value)),
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
        match self.limits() {
            None => (value as f32).to_string(),
            Some(_) => value.to_string(),
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
