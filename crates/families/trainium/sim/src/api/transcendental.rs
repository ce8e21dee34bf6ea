//! Functions that are computed by series.

use std::f64::consts::{LN_2, LOG2_E};

/// Added to a number of less than 2^51 and taken away again, it leaves the nearest whole number, even
/// ones in ties: what is lost is what a double of this size cannot hold.
const WHOLE: f64 = 6_755_399_441_055_744.0;

/// Arguments of whose exponentials the range reduction is good.
pub const RANGE: std::ops::RangeInclusive<f32> = -100.0..=88.8;

/// `eˣ` of each value. Nothing in the loop branches, so that several are computed at once.
pub fn exponentials(values: &mut [f32]) {
    for few in values.chunks_mut(64) {
        if few.iter().all(|it| RANGE.contains(it)) {
            few.iter_mut().for_each(|it| *it = near(*it));
        } else {
            for it in few {
                *it = match RANGE.contains(it) {
                    true => near(*it),
                    false => f64::from(*it).exp() as f32,
                };
            }
        }
    }
}

/// `eˣ` to within one unit in the last place, in the range: range reduction in double precision,
/// then a polynomial. The library's own function is too slow for attention over long sequences.
#[inline]
fn near(x: f32) -> f32 {
    let wide = f64::from(x) * LOG2_E;
    let shifted = wide + WHOLE;
    let rest = (wide - (shifted - WHOLE)) * LN_2;
    let polynomial = 1.0
        + rest
            * (1.0
                + rest
                    * (0.5
                        + rest
                            * (1.0 / 6.0
                                + rest
                                    * (1.0 / 24.0
                                        + rest
                                            * (1.0 / 120.0
                                                + rest * (1.0 / 720.0 + rest / 5040.0))))));
    // The lowest bits of what was shifted are the whole number.
    let whole = shifted.to_bits().wrapping_sub(WHOLE.to_bits());
    let scale = f64::from_bits(whole.wrapping_add(1023) << 52);
    (polynomial * scale) as f32
}

/// The error function: a series for small arguments, a continued fraction for large ones.
pub(super) fn erf(x: f64) -> f64 {
    let a = x.abs();
    let value = if a < 2.5 {
        let mut term = a;
        let mut sum = a;
        for n in 1..60 {
            term *= -a * a / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        sum * 2.0 / std::f64::consts::PI.sqrt()
    } else if a > 6.0 {
        1.0
    } else {
        let mut fraction = a;
        for n in (1..=60).rev() {
            fraction = a + f64::from(n) / 2.0 / fraction;
        }
        1.0 - (-a * a).exp() / (std::f64::consts::PI.sqrt() * fraction)
    };
    value.copysign(x)
}
