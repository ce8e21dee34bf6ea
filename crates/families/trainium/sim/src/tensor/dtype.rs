//! Data types and exact rounding in software, round-to-nearest-even.
//!
//! Facts: formats as the vendor documents them; `float8_e4m3` of the first dialect follows IEEE
//! (largest 240, infinities), `float8_e4m3fn` has no infinities (largest 448).

use serde::{Deserialize, Serialize};

/// Element types of tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    /// IEEE single precision.
    Float32,
    /// Ten bits of mantissa in four bytes.
    Tfloat32,
    /// Upper half of single precision.
    Bfloat16,
    /// IEEE half precision.
    Float16,
    /// Four bits of exponent, three of mantissa, with infinities.
    #[serde(rename = "float8_e4m3")]
    Float8E4m3,
    /// Four bits of exponent, three of mantissa, without infinities.
    #[serde(rename = "float8_e4m3fn")]
    Float8E4m3fn,
    /// Five bits of exponent, two of mantissa.
    #[serde(rename = "float8_e5m2")]
    Float8E5m2,
    /// Signed 32 bits.
    Int32,
    /// Unsigned 32 bits.
    Uint32,
    /// Signed 16 bits.
    Int16,
    /// Unsigned 16 bits.
    Uint16,
    /// Signed 8 bits.
    Int8,
    /// Unsigned 8 bits.
    Uint8,
    /// A power of two: eight bits of exponent, no sign; a scale of microscaling types.
    #[serde(rename = "float8_e8m0fnu")]
    Float8E8m0fnu,
    /// Four elements of `float8_e4m3fn` in a word.
    #[serde(rename = "float8_e4m3fn_x4")]
    Float8E4m3fnX4,
    /// Four elements of `float8_e5m2` in a word.
    #[serde(rename = "float8_e5m2_x4")]
    Float8E5m2X4,
    /// Four elements of two bits of exponent and one of mantissa in a word of 16 bits.
    #[serde(rename = "float4_e2m1fn_x4")]
    Float4E2m1fnX4,
}

use Dtype::{
    Bfloat16, Float4E2m1fnX4, Float8E4m3, Float8E4m3fn, Float8E4m3fnX4, Float8E5m2, Float8E5m2X4,
    Float8E8m0fnu, Float16, Float32, Int8, Int16, Int32, Tfloat32, Uint8, Uint16, Uint32,
};

/// Bits of a poisoned element, which nothing has written: a quiet NaN with a payload that
/// arithmetic keeps. Operations that would make a number of a NaN ask with [`is_undefined`].
pub const POISON: u32 = 0x7FC0_BADD;

/// Whether a value is what nothing has written, or was computed from such.
#[inline]
pub(crate) const fn is_undefined(value: f32) -> bool {
    value.to_bits() & 0x7FFF_FFFF == POISON
}

impl Dtype {
    /// Every type that the engines compute with, in a fixed order.
    pub const ALL: [Self; 13] = [
        Float32,
        Tfloat32,
        Bfloat16,
        Float16,
        Float8E4m3,
        Float8E4m3fn,
        Float8E5m2,
        Int32,
        Uint32,
        Int16,
        Uint16,
        Int8,
        Uint8,
    ];

    /// Size in bytes of one element in memory.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Float32 | Tfloat32 | Int32 | Uint32 | Float8E4m3fnX4 | Float8E5m2X4 => 4,
            Bfloat16 | Float16 | Int16 | Uint16 | Float4E2m1fnX4 => 2,
            _ => 1,
        }
    }

    /// Name in NKI.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Float32 => "float32",
            Tfloat32 => "tfloat32",
            Bfloat16 => "bfloat16",
            Float16 => "float16",
            Float8E4m3 => "float8_e4m3",
            Float8E4m3fn => "float8_e4m3fn",
            Float8E5m2 => "float8_e5m2",
            Int32 => "int32",
            Uint32 => "uint32",
            Int16 => "int16",
            Uint16 => "uint16",
            Int8 => "int8",
            Uint8 => "uint8",
            Float8E8m0fnu => "float8_e8m0fnu",
            Float8E4m3fnX4 => "float8_e4m3fn_x4",
            Float8E5m2X4 => "float8_e5m2_x4",
            Float4E2m1fnX4 => "float4_e2m1fn_x4",
        }
    }

    /// The type with this name or usual abbreviation (`bf16`, `f32`, …).
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "f32" | "fp32" | "float32" => Float32,
            "tf32" | "tfloat32" => Tfloat32,
            "bf16" | "bfloat16" => Bfloat16,
            "f16" | "fp16" | "float16" => Float16,
            "fp8" | "f8e4" | "float8_e4m3" => Float8E4m3,
            "float8_e4m3fn" => Float8E4m3fn,
            "f8e5" | "float8_e5m2" => Float8E5m2,
            "i32" | "int32" => Int32,
            "u32" | "uint32" => Uint32,
            "i16" | "int16" => Int16,
            "u16" | "uint16" => Uint16,
            "i8" | "int8" => Int8,
            "u8" | "uint8" | "bool" | "bool_" => Uint8,
            "float8_e8m0fnu" => Float8E8m0fnu,
            "float8_e4m3fn_x4" => Float8E4m3fnX4,
            "float8_e5m2_x4" => Float8E5m2X4,
            "float4_e2m1fn_x4" => Float4E2m1fnX4,
            _ => return None,
        })
    }

    /// Whether each element holds four numbers.
    pub(crate) const fn is_packed(self) -> bool {
        matches!(self, Float8E4m3fnX4 | Float8E5m2X4 | Float4E2m1fnX4)
    }

    /// The type of eight bits of which each element holds four.
    pub(crate) const fn packs(self) -> Option<Self> {
        match self {
            Float8E4m3fnX4 => Some(Float8E4m3fn),
            Float8E5m2X4 => Some(Float8E5m2),
            _ => None,
        }
    }

    /// Whether the engines move its elements and compute with them in products of their own only.
    pub(crate) const fn is_opaque(self) -> bool {
        self.is_packed() || matches!(self, Float8E8m0fnu)
    }

    /// The type as which its elements are moved to such of type `other`, or from there. Where both
    /// are one type every bit stays: integers of 32 bits, of which single precision holds 24, are
    /// moved as the words of float32.
    pub(crate) fn moved_with(self, other: Self) -> Self {
        match self {
            Int32 | Uint32 if self == other => Float32,
            own => own,
        }
    }

    /// Whether it holds integers.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(self, Int32 | Uint32 | Int16 | Uint16 | Int8 | Uint8)
    }

    /// Whether it holds integers with a sign.
    pub(crate) const fn is_signed(self) -> bool {
        matches!(self, Int32 | Int16 | Int8)
    }

    /// Whether the element array runs it at a quarter of its speed.
    pub(crate) const fn is_slow_on_array(self) -> bool {
        matches!(self, Float32 | Int32 | Uint32)
    }

    /// `value` as this type stores it, returned as what the engines read back.
    ///
    /// Integers round to nearest and saturate; they are exact up to 2²⁴, beyond that as close as
    /// single precision comes.
    #[must_use]
    pub fn round(self, value: f32) -> f32 {
        match self {
            Float32 => value,
            Tfloat32 => round_mantissa(value, 13),
            Bfloat16 => round_mantissa(value, 16),
            Float16 => round_small(value, 10, -14, 65504.0, Overflow::Infinity),
            Float8E4m3 => round_small(value, 3, -6, 240.0, Overflow::Infinity),
            Float8E4m3fn => round_small(value, 3, -6, 448.0, Overflow::NotANumber),
            Float8E5m2 => round_small(value, 2, -14, 57344.0, Overflow::Infinity),
            Int32 => integer(value, -2_147_483_648.0, 2_147_483_647.0),
            Uint32 => integer(value, 0.0, 4_294_967_295.0),
            Int16 => integer(value, -32768.0, 32767.0),
            Uint16 => integer(value, 0.0, 65535.0),
            Int8 => integer(value, -128.0, 127.0),
            Uint8 => integer(value, 0.0, 255.0),
            Float8E8m0fnu => power_of_two(value),
            // Words of bits.
            Float8E4m3fnX4 | Float8E5m2X4 | Float4E2m1fnX4 => value,
        }
    }

    /// Bits kept in the simulator's memory for a value computed in single precision: floats as
    /// single precision after rounding, integers as such.
    #[inline]
    pub fn store(self, value: f32) -> f32 {
        match self {
            Float32 => value,
            // An integer has no sign to be lost: what is undefined has one pattern.
            _ if self.is_integer() && is_undefined(value) => f32::from_bits(POISON),
            _ if self.is_integer() && value.is_nan() => value,
            Int32 | Int16 | Int8 => {
                f32::from_bits(self.round_integer(f64::from(value)) as i32 as u32)
            }
            Uint32 | Uint16 | Uint8 => f32::from_bits(self.round_integer(f64::from(value)) as u32),
            _ => self.round(value),
        }
    }

    /// The inverse of [`Self::store`].
    #[inline]
    pub fn load(self, stored: f32) -> f32 {
        match self {
            Int32 | Int16 | Int8 if stored.to_bits() != POISON => stored.to_bits() as i32 as f32,
            Uint32 | Uint16 | Uint8 if stored.to_bits() != POISON => stored.to_bits() as f32,
            _ => stored,
        }
    }

    /// Range of an integer type; `None` for floats.
    pub(crate) const fn range(self) -> Option<(f64, f64)> {
        Some(match self {
            Int32 => (-2_147_483_648.0, 2_147_483_647.0),
            Uint32 => (0.0, 4_294_967_295.0),
            Int16 => (-32768.0, 32767.0),
            Uint16 => (0.0, 65535.0),
            Int8 => (-128.0, 127.0),
            Uint8 => (0.0, 255.0),
            _ => return None,
        })
    }

    fn round_integer(self, value: f64) -> i64 {
        let (low, high) = self.range().unwrap_or((f64::MIN, f64::MAX));
        value.round_ties_even().clamp(low, high) as i64
    }

    /// The type that an operation on two operands yields when none is asked for.
    pub fn promote(self, other: Self) -> Self {
        if self == other {
            return self;
        }
        match (self.is_integer(), other.is_integer()) {
            (true, false) => return other,
            (false, true) => return self,
            (true, true) => {
                let (wide, narrow) = if self.bytes() >= other.bytes() {
                    (self, other)
                } else {
                    (other, self)
                };
                return match (wide.is_signed(), narrow.is_signed()) {
                    (a, b) if a == b => wide,
                    (true, false) if wide.bytes() > narrow.bytes() => wide,
                    _ => match wide.bytes() {
                        1 => Int16,
                        2 => Int32,
                        _ => Float32,
                    },
                };
            }
            (false, false) => {}
        }
        match (self.bytes(), other.bytes()) {
            (4, _) | (_, 4) => Float32,
            (2, 2) => Float32,
            (2, _) => self,
            (_, 2) => other,
            _ => Bfloat16,
        }
    }
}

#[derive(Clone, Copy)]
enum Overflow {
    Infinity,
    NotANumber,
}

/// Rounds away the lowest `drop` bits of the mantissa; keeps exponents.
fn round_mantissa(value: f32, drop: u32) -> f32 {
    if !value.is_finite() {
        return value;
    }
    let bits = value.to_bits();
    let half = (1u32 << (drop - 1)) - 1;
    let odd = (bits >> drop) & 1;
    f32::from_bits(bits.wrapping_add(half + odd) & !((1u32 << drop) - 1))
}

/// Rounds to `mantissa` bits with smallest normal exponent `minimum`; subnormals are kept.
fn round_small(value: f32, mantissa: i32, minimum: i32, largest: f32, overflow: Overflow) -> f32 {
    if value.is_nan() || value == 0.0 {
        return value;
    }
    if value.is_infinite() {
        return match overflow {
            Overflow::Infinity => value,
            Overflow::NotANumber => f32::NAN,
        };
    }
    let wide = f64::from(value);
    let exponent = ((wide.to_bits() >> 52) & 0x7FF) as i32 - 1023;
    let step = (f64::from(exponent.max(minimum) - mantissa)).exp2();
    let rounded = (wide / step).round_ties_even() * step;
    // Beyond half a step above the largest finite value lies infinity.
    if rounded.abs() > f64::from(largest) {
        return match overflow {
            Overflow::Infinity => f32::INFINITY.copysign(value),
            Overflow::NotANumber => f32::NAN,
        };
    }
    (rounded as f32).copysign(value)
}

/// The power of two next to a number, the least one for zero.
fn power_of_two(value: f32) -> f32 {
    if value.is_nan() || value < 0.0 || value.is_infinite() {
        return if is_undefined(value) { value } else { f32::NAN };
    }
    let exponent = f64::from(value).log2().round().clamp(-127.0, 127.0);
    exponent.exp2() as f32
}

fn integer(value: f32, low: f64, high: f64) -> f32 {
    if value.is_nan() {
        return value;
    }
    f64::from(value).round_ties_even().clamp(low, high) as f32
}
