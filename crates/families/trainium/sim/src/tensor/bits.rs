//! Bytes of elements, for views that see the elements of a tensor as those of another type.
//!
//! Values lie in memory as single precision (integers as their bits); here they are what the
//! device's memory would hold, little-endian.

use super::dtype::{Dtype, POISON};

/// Bits of exponent and mantissa of the narrow floats.
const fn fields(dtype: Dtype) -> Option<(u32, u32)> {
    match dtype {
        Dtype::Float16 => Some((5, 10)),
        Dtype::Float8E4m3 | Dtype::Float8E4m3fn => Some((4, 3)),
        Dtype::Float8E5m2 => Some((5, 2)),
        _ => None,
    }
}

/// The bits of an element of `dtype` that memory holds as `stored`.
pub fn encode(dtype: Dtype, stored: f32) -> u32 {
    let bits = stored.to_bits();
    match dtype {
        Dtype::Bfloat16 => bits >> 16,
        Dtype::Int16 | Dtype::Uint16 if bits != POISON => bits & 0xFFFF,
        Dtype::Int8 | Dtype::Uint8 if bits != POISON => bits & 0xFF,
        Dtype::Int16 | Dtype::Uint16 => POISON >> 16,
        Dtype::Int8 | Dtype::Uint8 => (POISON >> 16) & 0xFF,
        _ => match fields(dtype) {
            Some((exponent, mantissa)) => narrow(dtype, stored, exponent, mantissa),
            None => bits,
        },
    }
}

fn narrow(dtype: Dtype, value: f32, exponent: u32, mantissa: u32) -> u32 {
    let sign = (value.to_bits() >> 31) << (exponent + mantissa);
    let full = (1 << exponent) - 1;
    // The type without infinities has one pattern that is no number, and uses the rest.
    let finite_only = dtype == Dtype::Float8E4m3fn;
    if value.is_nan() {
        let payload = if finite_only {
            (1 << mantissa) - 1
        } else {
            1 << (mantissa - 1)
        };
        return sign | (full << mantissa) | payload;
    }
    if value.is_infinite() {
        return sign | (full << mantissa);
    }
    if value == 0.0 {
        return sign;
    }
    let bias = (1i32 << (exponent - 1)) - 1;
    let magnitude = f64::from(value.abs());
    let power = ((magnitude.to_bits() >> 52) & 0x7FF) as i32 - 1023;
    // Values are rounded to the type already, so that these are whole numbers.
    if power < 1 - bias {
        return sign | (magnitude * f64::from(bias - 1 + mantissa as i32).exp2()) as u32;
    }
    let fraction = (magnitude / f64::from(power).exp2() - 1.0) * f64::from(mantissa).exp2();
    sign | (((power + bias) as u32) << mantissa) | fraction as u32
}

/// What memory holds for an element of `dtype` with these bits.
pub fn decode(dtype: Dtype, bits: u32) -> f32 {
    match dtype {
        Dtype::Bfloat16 => f32::from_bits(bits << 16),
        Dtype::Int16 => f32::from_bits(i32::from(bits as u16 as i16) as u32),
        Dtype::Int8 => f32::from_bits(i32::from(bits as u8 as i8) as u32),
        Dtype::Uint16 => f32::from_bits(bits & 0xFFFF),
        Dtype::Uint8 => f32::from_bits(bits & 0xFF),
        Dtype::Tfloat32 => dtype.round(f32::from_bits(bits)),
        _ => match fields(dtype) {
            Some((exponent, mantissa)) => widen(dtype, bits, exponent, mantissa),
            None => f32::from_bits(bits),
        },
    }
}

fn widen(dtype: Dtype, bits: u32, exponent: u32, mantissa: u32) -> f32 {
    let full = (1u32 << exponent) - 1;
    let sign = if (bits >> (exponent + mantissa)) & 1 == 1 {
        -1.0
    } else {
        1.0
    };
    let power = (bits >> mantissa) & full;
    let fraction = bits & ((1 << mantissa) - 1);
    let bias = (1i32 << (exponent - 1)) - 1;
    let finite_only = dtype == Dtype::Float8E4m3fn;
    if power == full && !finite_only {
        return if fraction == 0 {
            sign * f32::INFINITY
        } else {
            f32::NAN
        };
    }
    if finite_only && power == full && fraction == (1 << mantissa) - 1 {
        return f32::NAN;
    }
    let step = f64::from(mantissa).exp2();
    let magnitude = if power == 0 {
        f64::from(fraction) / step * f64::from(1 - bias).exp2()
    } else {
        (1.0 + f64::from(fraction) / step) * f64::from(power as i32 - bias).exp2()
    };
    sign * magnitude as f32
}

/// The element of `seen` that begins `at` bytes into the elements `data` of `stored`. Poison stays
/// poison.
pub fn read(data: &[f32], stored: Dtype, seen: Dtype, at: usize) -> Option<f32> {
    let (wide, narrow) = (stored.bytes(), seen.bytes());
    if narrow <= wide {
        let whole = *data.get(at / wide)?;
        if whole.to_bits() == POISON {
            return Some(whole);
        }
        let bits = encode(stored, whole) >> (8 * (at % wide));
        return Some(decode(seen, keep(bits, narrow)));
    }
    let mut bits = 0;
    for part in 0..narrow / wide {
        let one = *data.get(at / wide + part)?;
        if one.to_bits() == POISON {
            return Some(one);
        }
        bits |= keep(encode(stored, one), wide) << (8 * wide * part);
    }
    Some(decode(seen, bits))
}

/// Puts the element `value` of `seen`, as memory holds it, `at` bytes into the elements `data` of
/// `stored`; nothing happens beyond the end.
pub fn write(data: &mut [f32], stored: Dtype, seen: Dtype, at: usize, value: f32) {
    let (wide, narrow) = (stored.bytes(), seen.bytes());
    let bits = keep(encode(seen, value), narrow);
    if narrow <= wide {
        if let Some(slot) = data.get_mut(at / wide) {
            let shift = 8 * (at % wide);
            let others = keep(encode(stored, *slot), wide) & !(keep(u32::MAX, narrow) << shift);
            *slot = decode(stored, others | (bits << shift));
        }
        return;
    }
    for part in 0..narrow / wide {
        if let Some(slot) = data.get_mut(at / wide + part) {
            *slot = decode(stored, keep(bits >> (8 * wide * part), wide));
        }
    }
}

/// The lowest `bytes` bytes.
pub const fn keep(bits: u32, bytes: usize) -> u32 {
    if bytes >= 4 {
        bits
    } else {
        bits & ((1 << (8 * bytes)) - 1)
    }
}
