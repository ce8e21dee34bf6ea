//! Properties of rounding.

use autocomp_trainium_sim::Dtype;
use proptest::prelude::*;

/// Neighbours of a value in a format with this many bits of mantissa and this smallest exponent,
/// by exact arithmetic in double precision.
fn nearest(value: f32, mantissa: i32, minimum: i32) -> f64 {
    let wide = f64::from(value);
    let exponent = wide.abs().log2().floor() as i32;
    let step = 2f64.powi(exponent.max(minimum) - mantissa);
    let (low, high) = ((wide / step).floor(), (wide / step).ceil());
    let middle = wide / step - low;
    let chosen = if middle < 0.5 || (middle == 0.5 && low % 2.0 == 0.0) {
        low
    } else {
        high
    };
    chosen * step
}

proptest! {
    #[test]
    fn rounding_takes_the_nearest(bits in any::<u32>()) {
        let value = f32::from_bits(bits);
        prop_assume!(value.is_finite() && value != 0.0);
        for (dtype, mantissa, minimum, largest) in [
            (Dtype::Bfloat16, 7, -126, 3.38e38f64),
            (Dtype::Tfloat32, 10, -126, 3.4e38),
            (Dtype::Float16, 10, -14, 65504.0),
            (Dtype::Float8E4m3, 3, -6, 240.0),
            (Dtype::Float8E5m2, 2, -14, 57344.0),
        ] {
            let expected = nearest(value, mantissa, minimum);
            let found = dtype.round(value);
            if expected.abs() <= largest {
                prop_assert_eq!(f64::from(found), expected, "{} of {}", dtype.name(), value);
            } else if expected.abs() > 1.01 * largest {
                prop_assert!(found.is_infinite(), "{} of {} is {}", dtype.name(), value, found);
            }
            prop_assert_eq!(dtype.round(found).to_bits(), found.to_bits());
        }
    }

    #[test]
    fn rounding_keeps_order(a in -1e5f32..1e5, b in -1e5f32..1e5) {
        for dtype in Dtype::ALL {
            if a <= b {
                let (x, y) = (dtype.round(a), dtype.round(b));
                prop_assert!(x <= y || x.is_nan() || y.is_nan());
            }
        }
    }
}

#[test]
fn edges() {
    assert_eq!(Dtype::Float16.round(65519.0), 65504.0);
    assert_eq!(Dtype::Float16.round(65520.0), f32::INFINITY);
    assert_eq!(Dtype::Float8E4m3.round(240.0), 240.0);
    assert_eq!(Dtype::Float8E4m3fn.round(448.0), 448.0);
    assert!(Dtype::Float8E4m3fn.round(480.0).is_nan());
    assert_eq!(Dtype::Bfloat16.round(1.003_906_3), 1.0);
    assert_eq!(Dtype::Bfloat16.round(1.011_718_8), 1.015_625);
    assert_eq!(Dtype::Uint8.round(300.0), 255.0);
    assert_eq!(Dtype::Int8.round(-2.5), -2.0);
    assert_eq!(Dtype::Float8E5m2.round(1e-9), 0.0);
}
