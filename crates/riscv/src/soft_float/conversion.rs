//! From one format to another, to integers and from them.

use super::{Format, INEXACT, INVALID, Kind, Outcome, Rounding, drop_bits};

impl Format {
    /// Converts to another format.
    pub fn convert(self, bits: u64, to: Format, rounding: Rounding) -> Outcome {
        let a = self.unpack(bits);
        match a.kind {
            Kind::SignalingNan => (to.nan(), INVALID),
            Kind::QuietNan => (to.nan(), 0),
            Kind::Infinity => (to.infinity(a.negative), 0),
            Kind::Zero => (to.zero(a.negative), 0),
            Kind::Finite => to.round(a.negative, a.exponent, a.wide(), rounding),
        }
    }

    /// Converts to an integer of `bits` bits; out of range gives the nearest
    /// limit, NaN the greatest value. The result is sign-extended to 64 bits.
    pub fn to_integer(self, value: u64, bits: u32, signed: bool, rounding: Rounding) -> Outcome {
        let a = self.unpack(value);
        let greatest = if signed {
            (1u128 << (bits - 1)) - 1
        } else {
            (1u128 << bits) - 1
        };
        let least = if signed { 1u128 << (bits - 1) } else { 0 };
        let (magnitude, inexact) = match a.kind {
            Kind::Zero => (0, false),
            // Beyond every limit.
            Kind::Infinity => (u128::MAX, false),
            Kind::QuietNan | Kind::SignalingNan => {
                return (extend_integer(greatest as u64, bits), INVALID);
            }
            Kind::Finite if a.exponent > 66 => (u128::MAX, false),
            Kind::Finite => {
                let shift = (127 - a.exponent).clamp(0, 255) as u32;
                drop_bits(a.wide(), shift, a.negative, rounding)
            }
        };
        let limit = if a.negative { least } else { greatest };
        if magnitude > limit {
            let nearest = if a.negative {
                limit.wrapping_neg()
            } else {
                limit
            };
            return (extend_integer(nearest as u64, bits), INVALID);
        }
        let value = if a.negative {
            magnitude.wrapping_neg()
        } else {
            magnitude
        };
        (
            extend_integer(value as u64, bits),
            if inexact { INEXACT } else { 0 },
        )
    }

    /// Converts from an integer.
    pub fn integer_to_float(self, magnitude: u64, negative: bool, rounding: Rounding) -> Outcome {
        if magnitude == 0 {
            return (0, 0);
        }
        self.round(negative, 63, u128::from(magnitude) << 64, rounding)
    }
}

/// Sign-extends the last 32 bits, if that is the width.
fn extend_integer(value: u64, bits: u32) -> u64 {
    if bits == 32 {
        value as u32 as i32 as i64 as u64
    } else {
        value
    }
}
