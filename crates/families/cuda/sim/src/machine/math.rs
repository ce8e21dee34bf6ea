//! Functions of the special unit, computed far more precisely than the hardware does and in
//! the same way on every computer.

/// Returns `2^x`.
pub(crate) fn exp2(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if 1100.0 < x {
        return f64::INFINITY;
    }
    if x < -1100.0 {
        return 0.0;
    }
    let whole = x.round_ties_even();
    let power = exp_of_small((x - whole) * std::f64::consts::LN_2);
    scaled(power, whole as i32)
}

/// Returns `e^x` for `|x| <= 0.4`, by its series.
fn exp_of_small(x: f64) -> f64 {
    let mut sum = 1.0;
    for n in (1..=16).rev() {
        sum = 1.0 + x / f64::from(n) * sum;
    }
    sum
}

/// Returns `x * 2^power`.
fn scaled(x: f64, power: i32) -> f64 {
    let first = power.clamp(-1000, 1000);
    let of = |power: i32| f64::from_bits(((1023 + power) as u64) << 52);
    x * of(first) * of(power - first)
}

/// Returns the logarithm of `x` to the base 2.
pub(crate) fn log2(x: f64) -> f64 {
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 {
        return f64::NEG_INFINITY;
    }
    if x == f64::INFINITY {
        return x;
    }
    let (x, shift) = if x < f64::MIN_POSITIVE {
        (x * f64::from_bits((1023 + 60) << 52), -60.0)
    } else {
        (x, 0.0)
    };
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i32 - 1023;
    let mut mantissa = f64::from_bits(bits & !(0x7ff << 52) | 1023 << 52);
    if std::f64::consts::SQRT_2 < mantissa {
        mantissa *= 0.5;
        exponent += 1;
    }
    // The series of the area tangent.
    let ratio = (mantissa - 1.0) / (mantissa + 1.0);
    let square = ratio * ratio;
    let mut sum = 0.0;
    for n in (0..14).rev() {
        sum = sum * square + 1.0 / f64::from(2 * n + 1);
    }
    2.0 * ratio * sum * std::f64::consts::LOG2_E + f64::from(exponent) + shift
}

/// Returns sine and cosine of `x`.
pub(crate) fn sin_cos(x: f64) -> (f64, f64) {
    if !x.is_finite() {
        return (f64::NAN, f64::NAN);
    }
    let quarter = (x * std::f64::consts::FRAC_2_PI).round_ties_even();
    // Half of a turn in three parts, of which the products with `quarter` are exact.
    let rest = x - quarter * 1.570_796_326_734_125_6;
    let rest = rest - quarter * 6.077_100_506_506_192e-11;
    let rest = rest - quarter * 2.022_266_248_795_950_6e-21;
    let square = rest * rest;
    let (mut sine, mut cosine) = (1.0, 1.0);
    for n in (1..=9).rev() {
        let n = f64::from(n);
        sine = 1.0 - square / ((2.0 * n) * (2.0 * n + 1.0)) * sine;
        cosine = 1.0 - square / ((2.0 * n - 1.0) * (2.0 * n)) * cosine;
    }
    let sine = rest * sine;
    match quarter.rem_euclid(4.0) as u8 {
        0 => (sine, cosine),
        1 => (cosine, -sine),
        2 => (-sine, -cosine),
        _ => (-cosine, sine),
    }
}

/// Returns the hyperbolic tangent of `x`.
pub(crate) fn tanh(x: f64) -> f64 {
    if x.abs() < 1e-4 {
        // A zero keeps its sign.
        return (x - x * x * x / 3.0).copysign(x);
    }
    let power = exp2(2.0 * x.abs() * std::f64::consts::LOG2_E);
    let magnitude = 1.0 - 2.0 / (power + 1.0);
    magnitude.copysign(x)
}
