//! Functions that are computed by series.

use std::f64::consts::{LN_2, LOG2_E};

/// Added to a number of less than 2^51 and taken away again, it leaves the nearest whole number, even
/// ones in ties: what is lost is what a double of this size cannot hold.
const WHOLE: f64 = 6_755_399_441_055_744.0;

/// Arguments of whose exponentials the range reduction is good.
const RANGE: std::ops::RangeInclusive<f32> = -100.0..=88.8;

/// `eˣ` of each value. Nothing in the loop branches, so that several are computed at once.
pub(super) fn exponentials(values: &mut [f32]) {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The same with the rounding of the standard library.
    fn plain(x: f32) -> f32 {
        let wide = f64::from(x) * LOG2_E;
        let whole = wide.round_ties_even();
        let rest = (wide - whole) * LN_2;
        let mut sum = 1.0 / 720.0 + rest / 5040.0;
        for factor in [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
            sum = factor + rest * sum;
        }
        let scale = f64::from_bits(((whole as i64 + 1023) as u64) << 52);
        (sum * scale) as f32
    }

    #[test]
    fn exponentials_round_as_the_standard_library_does() {
        // Every 4,099th number of the range, both signs, and its ends.
        let mut all: Vec<f32> = (0..=100.0_f32.to_bits())
            .step_by(4099)
            .flat_map(|bits| [f32::from_bits(bits), -f32::from_bits(bits)])
            .filter(|it| RANGE.contains(it))
            .collect();
        all.extend([0.0, -0.0, 88.8, -100.0, 1.0, -1.0]);
        let right: Vec<f32> = all.iter().map(|it| plain(*it)).collect();
        let mut found = all.clone();
        exponentials(&mut found);
        for ((x, f), r) in all.iter().zip(&found).zip(&right) {
            assert_eq!(f.to_bits(), r.to_bits(), "exp({x})");
        }
        let mut beyond = [f32::NAN, 200.0, -200.0, f32::NEG_INFINITY, 0.0];
        exponentials(&mut beyond);
        assert!(beyond[0].is_nan() && beyond[1] == f32::INFINITY);
        assert_eq!(&beyond[2..], &[0.0, 0.0, 1.0]);
    }
}
