//! Against an independent software implementation, operand by operand.

use autocomp_riscv::inside::{
    DIVIDE_BY_ZERO, DOUBLE, FloatForm, FloatOperation, Format, FusedForm, INEXACT, INVALID,
    OVERFLOW, Outcome, Rounding, SINGLE, UNDERFLOW, execute, execute_fused, plain_fused_single,
    plain_product_double, plain_product_single, plain_sum_double, plain_sum_single,
};
use proptest::prelude::*;
use rustc_apfloat::ieee::{Double, Single};
use rustc_apfloat::{Float, FloatConvert, Round, Status, StatusAnd};

const MODES: [(Rounding, Round); 5] = [
    (Rounding::NearestEven, Round::NearestTiesToEven),
    (Rounding::TowardZero, Round::TowardZero),
    (Rounding::Down, Round::TowardNegative),
    (Rounding::Up, Round::TowardPositive),
    (Rounding::NearestAway, Round::NearestTiesToAway),
];

/// Bits at which mistakes show: small and great exponents, few fraction bits,
/// exponents near each other.
fn double() -> impl Strategy<Value = u64> {
    let exponent = prop_oneof![0u64..3, 970u64..1080, 2040u64..2048, 0u64..2048];
    let fraction = prop_oneof![
        any::<u64>(),
        (0u32..52).prop_map(|shift| u64::MAX << shift),
        (0u32..52).prop_map(|shift| 1 << shift),
        0u64..4,
    ];
    (any::<bool>(), exponent, fraction).prop_map(|(negative, exponent, fraction)| {
        u64::from(negative) << 63 | exponent << 52 | fraction & ((1 << 52) - 1)
    })
}

fn single() -> impl Strategy<Value = u64> {
    let exponent = prop_oneof![0u64..3, 100u64..155, 250u64..256, 0u64..256];
    let fraction = prop_oneof![
        any::<u64>(),
        (0u32..23).prop_map(|shift| u64::MAX << shift),
        (0u32..23).prop_map(|shift| 1 << shift),
        0u64..4,
    ];
    (any::<bool>(), exponent, fraction).prop_map(|(negative, exponent, fraction)| {
        u64::from(negative) << 31 | exponent << 23 | fraction & ((1 << 23) - 1)
    })
}

/// Compares with the reference where the two standards agree: any NaN counts as
/// the canonical one, the reference reports an overflow only when the result is
/// infinite, and it judges tininess by the delivered result.
fn same<F: Float>(
    format: Format,
    ours: Outcome,
    theirs: StatusAnd<F>,
    what: &str,
) -> Result<(), TestCaseError> {
    let (bits, flags) = ours;
    if theirs.value.is_nan() {
        prop_assert_eq!(bits, format.nan(), "{}", what);
        return Ok(());
    }
    let expected = theirs.value.to_bits() as u64;
    prop_assert_eq!(
        bits,
        expected,
        "{}: {:#x}, should be {:#x}",
        what,
        bits,
        expected
    );
    let status = theirs.status;
    for (flag, bit) in [
        (INVALID, Status::INVALID_OP),
        (DIVIDE_BY_ZERO, Status::DIV_BY_ZERO),
        (INEXACT, Status::INEXACT),
    ] {
        prop_assert_eq!(
            flags & flag != 0,
            status.contains(bit),
            "{}: flag {}",
            what,
            flag
        );
    }
    if theirs.value.is_infinite() {
        prop_assert_eq!(
            flags & OVERFLOW != 0,
            status.contains(Status::OVERFLOW),
            "{}",
            what
        );
    }
    let least = 1 << format.fraction_bits;
    if bits & !format.sign_bit() != least {
        prop_assert_eq!(
            flags & UNDERFLOW != 0,
            status.contains(Status::UNDERFLOW),
            "{}",
            what
        );
    }
    Ok(())
}

fn all<F: Float>(format: Format, a: u64, b: u64, c: u64) -> Result<(), TestCaseError> {
    let [x, y, z] = [a, b, c].map(|bits| F::from_bits(bits.into()));
    for (mode, round) in MODES {
        same(format, format.add(a, b, mode), x.add_r(y, round), "add")?;
        same(
            format,
            format.subtract(a, b, mode),
            x.sub_r(y, round),
            "subtract",
        )?;
        same(
            format,
            format.multiply(a, b, mode),
            x.mul_r(y, round),
            "multiply",
        )?;
        same(
            format,
            format.divide(a, b, mode),
            x.div_r(y, round),
            "divide",
        )?;
        same(
            format,
            format.fused(a, b, c, mode),
            x.mul_add_r(y, z, round),
            "fused",
        )?;
        // A sum that nearly cancels.
        let near = format.multiply(a, b, Rounding::NearestEven).0 ^ format.sign_bit();
        let n = F::from_bits(near.into());
        same(
            format,
            format.fused(a, b, near, mode),
            x.mul_add_r(y, n, round),
            "cancel",
        )?;
        for (signed, bits) in [(true, 32), (true, 64), (false, 32), (false, 64)] {
            if x.is_nan() {
                continue;
            }
            let mut exact = false;
            let (ours, flags) = format.to_integer(a, bits, signed, mode);
            let (theirs, status) = if signed {
                let result = x.to_i128_r(bits as usize, round, &mut exact);
                (result.value as u64, result.status)
            } else {
                let result = x.to_u128_r(bits as usize, round, &mut exact);
                (result.value as u64, result.status)
            };
            let theirs = if bits == 32 {
                theirs as i32 as i64 as u64
            } else {
                theirs
            };
            prop_assert_eq!(ours, theirs, "to integer of {} bits", bits);
            prop_assert_eq!(flags & INVALID != 0, status.contains(Status::INVALID_OP));
            prop_assert_eq!(flags & INEXACT != 0, status.contains(Status::INEXACT));
        }
        let theirs = F::from_u128_r(b.into(), round);
        same(
            format,
            format.integer_to_float(b, false, mode),
            theirs,
            "from integer",
        )?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn double_precision_is_right(a in double(), b in double(), c in double()) {
        all::<Double>(DOUBLE, a, b, c)?;
        let x = Double::from_bits(a.into());
        for (mode, round) in MODES {
            let mut loses = false;
            let theirs: StatusAnd<Single> = x.convert_r(round, &mut loses);
            if !x.is_nan() {
                same(SINGLE, DOUBLE.convert(a, SINGLE, mode), theirs, "to single")?;
            }
        }
    }

    #[test]
    fn single_precision_is_right(a in single(), b in single(), c in single()) {
        all::<Single>(SINGLE, a, b, c)?;
        if !Single::from_bits(a.into()).is_nan() {
            let exact = f64::from(f32::from_bits(a as u32)).to_bits();
            prop_assert_eq!(SINGLE.convert(a, DOUBLE, Rounding::Down), (exact, 0));
        }
    }

    #[test]
    fn the_fast_path_gives_the_same_bits_and_flags(
        a in double(), b in double(), c in double(), s in single(), t in single(), u in single(),
        flags in prop::sample::select(vec![0u8, INEXACT]),
    ) {
        use FloatOperation as F;
        const BOX: u64 = 0xffff_ffff_0000_0000;
        let mode = Rounding::NearestEven;
        for double in [true, false] {
            let format = Format::of(double);
            let [a, b, c] = if double { [a, b, c] } else { [s, t, u] };
            let wrap = |bits: u64| if double { bits } else { bits | BOX };
            for (operation, exact) in [
                (F::Add, format.add(a, b, mode)),
                (F::Subtract, format.subtract(a, b, mode)),
                (F::Multiply, format.multiply(a, b, mode)),
                (F::Divide, format.divide(a, b, mode)),
                (F::SquareRoot, format.square_root(a, mode)),
            ] {
                let form = FloatForm { operation, double, rounding: 0, integer: 0 };
                let (bits, raised) = execute(form, wrap(a), wrap(b), 0, 0, flags).unwrap();
                prop_assert_eq!((bits, raised | flags), (wrap(exact.0), exact.1 | flags));
            }
            let form =
                FusedForm { negate_product: false, negate_addend: false, double, rounding: 0 };
            let exact = format.fused(a, b, c, mode);
            let (bits, raised) =
                execute_fused(form, wrap(a), wrap(b), wrap(c), 0, flags).unwrap();
            prop_assert_eq!((bits, raised | flags), (wrap(exact.0), exact.1 | flags));
        }
    }

    #[test]
    fn usual_operands_are_plain(a in 1u32..1000, b in 1u32..1000) {
        let [x, y] = [a, b].map(|value| value as f32 / 7.0);
        prop_assert!(plain_sum_single(x + y).is_some() && plain_product_single(x, y).is_some());
        prop_assert!(plain_fused_single(1.1, 2.3, 0.7).is_some());
        let [x, y] = [a, b].map(|value| f64::from(value) / 7.0);
        prop_assert!(plain_sum_double(x - y).is_some() && plain_product_double(x, y).is_some());
    }

    #[test]
    fn what_is_plain_is_right_and_at_most_inexact(
        a in double(), b in double(), s in single(), t in single(), u in single(), near in 0u64..8,
    ) {
        let mode = Rounding::NearestEven;
        let is_right = |plain: Option<u64>, exact: Outcome| match plain {
            Some(bits) => (bits, exact.1 & !INEXACT) == (exact.0, 0),
            None => true,
        };
        let [x, y] = [a, b].map(f64::from_bits);
        let plain = plain_sum_double(x + y).map(f64::to_bits);
        prop_assert!(is_right(plain, DOUBLE.add(a, b, mode)));
        let plain = plain_product_double(x, y).map(f64::to_bits);
        prop_assert!(is_right(plain, DOUBLE.multiply(a, b, mode)));
        let float = |bits: u64| f32::from_bits(bits as u32);
        let bits = |value: f32| u64::from(value.to_bits());
        let plain = plain_sum_single(float(s) + float(t)).map(bits);
        prop_assert!(is_right(plain, SINGLE.add(s, t, mode)));
        let plain = plain_product_single(float(s), float(t)).map(bits);
        prop_assert!(is_right(plain, SINGLE.multiply(s, t, mode)));
        // Far from the product, and nearly what it is without its sign; a product of
        // few bits, to which very little is added, lies halfway.
        let opposite = SINGLE.negate(SINGLE.multiply(s, t, mode).0) ^ near;
        let few = |bits: u64| bits & !0xfff;
        for (s, t, u) in [(s, t, u), (s, t, opposite), (few(s) | 0x800, few(t) | 0x1000, u)] {
            let exact = SINGLE.fused(s, t, u, mode);
            if let Some(value) = plain_fused_single(float(s), float(t), float(u)) {
                prop_assert_eq!((bits(value), exact.1 & !INEXACT), (exact.0, 0));
            }
        }
    }

    #[test]
    fn square_roots_are_the_nearest_below_and_above(a in double(), s in single()) {
        // The host rounds to nearest even; the other modes bracket the root.
        let (a, s) = (a & !(1 << 63), s & !(1 << 31));
        let nearest = f64::from_bits(a).sqrt();
        if nearest.is_finite() {
            prop_assert_eq!(DOUBLE.square_root(a, Rounding::NearestEven).0, nearest.to_bits());
            let (down, flags) = DOUBLE.square_root(a, Rounding::Down);
            let (up, _) = DOUBLE.square_root(a, Rounding::Up);
            prop_assert_eq!(up - down, u64::from(flags & INEXACT != 0));
            prop_assert!(down == nearest.to_bits() || up == nearest.to_bits());
            prop_assert_eq!(DOUBLE.square_root(a, Rounding::TowardZero).0, down);
        }
        let nearest = f32::from_bits(s as u32).sqrt();
        if nearest.is_finite() {
            let ours = SINGLE.square_root(s, Rounding::NearestEven).0;
            prop_assert_eq!(ours, u64::from(nearest.to_bits()));
        }
    }
}

#[test]
fn tininess_is_judged_after_rounding_as_if_the_exponent_had_no_limit() {
    let least_normal = 1 << 52;
    let below = least_normal - 1;
    let just_above_one = 1.0f64.to_bits() + 1;
    let just_below_one = 1.0f64.to_bits() - 1;
    let nearest = Rounding::NearestEven;
    // (1 - 2^-104) times the least normal number rounds to it in either way.
    assert_eq!(
        DOUBLE.multiply(below, just_above_one, nearest),
        (least_normal, INEXACT)
    );
    // (1 - 2^-53) times it fits into 53 bits, but rounds to it as a subnormal.
    let outcome = DOUBLE.multiply(least_normal, just_below_one, nearest);
    assert_eq!(outcome, (least_normal, INEXACT | UNDERFLOW));
    assert_eq!(
        DOUBLE.multiply(least_normal, 0.5f64.to_bits(), nearest),
        (least_normal / 2, 0)
    );
}
