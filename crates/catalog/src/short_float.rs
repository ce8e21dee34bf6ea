//! Floating-point numbers of eight bits.
//!
//! Facts: the formats E4M3 and E5M2 of the Open Compute Project's "OFP8" specification, and E4M3
//! with the infinities of IEEE formats, as machine-learning libraries name the three.

/// A format of one sign bit, a biased exponent and a mantissa.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShortFloat {
    /// Bits of the mantissa.
    mantissa: u32,
    /// Exponent of a number whose exponent bits are 1.
    least: i32,
    /// Bits of the largest finite magnitude.
    largest: u8,
    /// Bits of infinity, if there is one.
    infinity: Option<u8>,
}

/// E4M3 with infinities.
pub(crate) const BITS_4_3: ShortFloat = ShortFloat {
    mantissa: 3,
    least: -6,
    largest: 0x77,
    infinity: Some(0x78),
};
/// E4M3 without infinities.
pub(crate) const BITS_4_3_FINITE: ShortFloat = ShortFloat {
    mantissa: 3,
    least: -6,
    largest: 0x7e,
    infinity: None,
};
/// E5M2.
pub(crate) const BITS_5_2: ShortFloat = ShortFloat {
    mantissa: 2,
    least: -14,
    largest: 0x7b,
    infinity: Some(0x7c),
};
/// All bits but the sign: not-a-number in all formats.
const MAGNITUDE: u8 = 0x7f;

impl ShortFloat {
    /// Returns the number that `bits` stand for, exactly.
    pub(crate) fn value(self, bits: u8) -> f64 {
        let magnitude = bits & MAGNITUDE;
        let size = if Some(magnitude) == self.infinity {
            f64::INFINITY
        } else if self.largest < magnitude {
            f64::NAN
        } else {
            let exponent = i32::from(magnitude >> self.mantissa);
            let fraction = i32::from(magnitude & ((1 << self.mantissa) - 1));
            let (whole, exponent) = match exponent {
                0 => (fraction, self.least),
                _ => (fraction + (1 << self.mantissa), self.least + exponent - 1),
            };
            f64::from(whole) * f64::from(exponent - self.mantissa as i32).exp2()
        };
        if bits == magnitude { size } else { -size }
    }

    /// Returns the bits of the nearest number, ties to even; what is larger than all of them is
    /// infinite, or not-a-number where there is no infinity.
    pub(crate) fn bits(self, value: f64) -> u8 {
        let sign = if value.is_sign_negative() { 0x80 } else { 0 };
        let size = value.abs();
        if size.is_nan() {
            return sign | MAGNITUDE;
        }
        let beyond = self.infinity.unwrap_or(MAGNITUDE);
        if size.is_infinite() {
            return sign | beyond;
        }
        let exponent = ((size.to_bits() >> 52) & 0x7ff) as i32 - 1023;
        let exponent = exponent.max(self.least);
        let step = f64::from(exponent - self.mantissa as i32).exp2();
        // Whole steps; as many as make the next exponent carry into it.
        let steps = (size / step).round_ties_even() as u32;
        let bits = steps + (((exponent - self.least) as u32) << self.mantissa);
        match u8::try_from(bits) {
            Ok(bits) if bits <= self.largest => sign | bits,
            _ => sign | beyond,
        }
    }
}
