//! Floats of 16 bits, and the 10-bit ones of matrix products, as bits.

/// What a NaN of 16 bits is written as.
pub(crate) const HALF_NAN: u16 = 0x7fff;
/// What a NaN of 32 bits is written as.
pub(crate) const SINGLE_NAN: u32 = 0x7fff_ffff;

/// Returns the value of a half.
#[inline(always)]
pub(crate) fn half_to_f32(bits: u16) -> f32 {
    // The exponent is moved to that of a float by a product, which is right for subnormal
    // halves, too; infinities and NaN need theirs set.
    let magnitude = u32::from(bits & 0x7fff) << 13;
    let scaled = f32::from_bits(magnitude) * f32::from_bits(0x7780_0000);
    let special = f32::from_bits(magnitude | 0x7f80_0000);
    let value = if bits & 0x7c00 == 0x7c00 {
        special
    } else {
        scaled
    };
    f32::from_bits(value.to_bits() | u32::from(bits & 0x8000) << 16)
}

/// Returns the nearest half.
#[inline(always)]
pub(crate) fn half_from_f32(value: f32) -> u16 {
    if value.is_nan() {
        return HALF_NAN;
    }
    half::f16::from_f32_const(value).to_bits()
}

/// Returns the nearest half, rounded once.
pub(crate) fn half_from_f64(value: f64) -> u16 {
    if value.is_nan() {
        return HALF_NAN;
    }
    half_from_f32(to_odd(value))
}

/// Returns the value of a bfloat16.
#[inline(always)]
pub(crate) fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// Returns the nearest bfloat16.
#[inline(always)]
pub(crate) fn bf16_from_f32(value: f32) -> u16 {
    if value.is_nan() {
        return HALF_NAN;
    }
    let bits = value.to_bits();
    let odd = bits >> 16 & 1;
    (bits.wrapping_add(0x7fff + odd) >> 16) as u16
}

/// Returns the nearest bfloat16, rounded once.
pub(crate) fn bf16_from_f64(value: f64) -> u16 {
    if value.is_nan() {
        return HALF_NAN;
    }
    bf16_from_f32(to_odd(value))
}

/// Returns a float of 32 bits that is rounded to one of 16 as the value would be: where anything
/// is left of the value, the last bit is set, so that no tie is made (round to odd).
fn to_odd(value: f64) -> f32 {
    let near = value as f32;
    if f64::from(near) == value || near.is_infinite() || value.is_nan() {
        return near;
    }
    let is_farther = value.abs() < f64::from(near).abs();
    f32::from_bits((near.to_bits() - u32::from(is_farther)) | 1)
}

/// Rounds to 10 bits, ties away from zero, as `cvt.rna.tf32.f32` does.
#[inline(always)]
pub(crate) fn tf32_from_f32(bits: u32) -> u32 {
    if f32::from_bits(bits).is_nan() {
        return SINGLE_NAN;
    }
    if bits & 0x7f80_0000 == 0x7f80_0000 {
        return bits;
    }
    bits.wrapping_add(0x1000) & 0xffff_e000
}
