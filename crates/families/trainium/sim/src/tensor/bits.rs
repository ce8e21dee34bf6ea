//! Bytes of elements, for views that see the elements of a tensor as those of another type.
//!
//! Values lie in memory as single precision (integers as their bits); here they are what the
//! device's memory would hold, little-endian.

use super::dtype::{Dtype, POISON, is_undefined};
use crate::number_maps::Keyed;

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
        Dtype::Float8E8m0fnu if stored.is_nan() => 255,
        Dtype::Float8E8m0fnu => (f64::from(stored).log2() + 127.0) as u32,
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
        Dtype::Float8E8m0fnu if bits & 0xFF == 255 => f32::NAN,
        Dtype::Float8E8m0fnu => (f64::from(bits & 0xFF) - 127.0).exp2() as f32,
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

/// Undefined elements of which some bytes were written, through a view of a narrower type: the
/// element stays undefined until all of them are. By their place: a mask of the bits that are
/// known, and the bits.
#[derive(Debug, Default)]
pub struct Parts(Keyed<usize, (u32, u32)>);

impl Parts {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Forgets what is known of the elements of `places`.
    pub fn forget(&mut self, places: std::ops::Range<usize>) {
        self.0.retain(|place, _| !places.contains(place));
    }

    /// What is known of the element at a place: a mask, and the bits.
    pub fn get(&self, place: usize) -> Option<(u32, u32)> {
        self.0.get(&place).copied()
    }

    /// Notes what is known of the element at a place.
    pub fn set(&mut self, place: usize, known: Option<(u32, u32)>) {
        match known {
            Some(known) => self.0.insert(place, known),
            None => self.0.remove(&place),
        };
    }

    /// The bits below `mask` of an undefined element, if all of them are known.
    fn bits(&self, place: usize, mask: u32) -> Option<u32> {
        let (known, bits) = self.0.get(&place)?;
        (known & mask == mask).then_some(*bits)
    }
}

/// The element of `seen` that begins `at` bytes into the elements `data` of `stored`, of which
/// `parts` says what is known of undefined ones; the first of them has the place `first` there.
/// What has an unknown byte is undefined.
pub fn read(
    data: &[f32],
    parts: &Parts,
    first: usize,
    (stored, seen): (Dtype, Dtype),
    at: usize,
) -> Option<f32> {
    let (wide, narrow) = (stored.bytes(), seen.bytes());
    if narrow <= wide {
        let whole = *data.get(at / wide)?;
        let shift = 8 * (at % wide);
        let bits = match is_undefined(whole) {
            true => match parts.bits(first + at / wide, keep(u32::MAX, narrow) << shift) {
                Some(bits) => bits,
                None => return Some(whole),
            },
            false => encode(stored, whole),
        };
        return Some(decode(seen, keep(bits >> shift, narrow)));
    }
    let mut bits = 0;
    for part in 0..narrow / wide {
        let one = *data.get(at / wide + part)?;
        if is_undefined(one) {
            return Some(one);
        }
        bits |= keep(encode(stored, one), wide) << (8 * wide * part);
    }
    Some(decode(seen, bits))
}

/// Puts the element `value` of `seen`, as memory holds it, `at` bytes into the elements `data` of
/// `stored`, of which `parts` says what is known of undefined ones, from the place `first` on;
/// nothing happens beyond the end.
pub fn write(
    data: &mut [f32],
    parts: &mut Parts,
    first: usize,
    (stored, seen): (Dtype, Dtype),
    at: usize,
    value: f32,
) {
    let (wide, narrow) = (stored.bytes(), seen.bytes());
    let bits = keep(encode(seen, value), narrow);
    let unknown = f32::from_bits(POISON);
    if narrow <= wide {
        let Some(slot) = data.get_mut(at / wide) else {
            return;
        };
        let place = first + at / wide;
        let shift = 8 * (at % wide);
        let own = keep(u32::MAX, narrow) << shift;
        let all = keep(u32::MAX, wide);
        let (known, before) = match is_undefined(*slot) {
            true => parts.0.remove(&place).unwrap_or_default(),
            false => (all, keep(encode(stored, *slot), wide)),
        };
        let (known, bits) = match is_undefined(value) {
            true => (known & !own, before),
            false => (known | own, before & !own | bits << shift),
        };
        *slot = if known == all {
            decode(stored, bits)
        } else {
            unknown
        };
        if known != all && known != 0 {
            parts.0.insert(place, (known, bits));
        }
        return;
    }
    for part in 0..narrow / wide {
        if let Some(slot) = data.get_mut(at / wide + part) {
            *slot = match is_undefined(value) {
                true => unknown,
                false => decode(stored, keep(bits >> (8 * wide * part), wide)),
            };
            parts.0.remove(&(first + at / wide + part));
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
