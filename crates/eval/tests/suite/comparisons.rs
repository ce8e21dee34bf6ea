//! What is told of wrong outputs.

use autocomp_catalog::{Buffer, DataType, Role, Tolerance};
use autocomp_eval::comparison::compare;

fn buffer() -> Buffer {
    Buffer {
        name: "C".into(),
        dtype: DataType::Int8,
        shape: vec![64, 64],
        role: Role::Output,
        alignment: 64,
        used: None,
    }
}

/// Compares a ramp with itself after `spoil` has changed some elements.
fn report(spoil: impl Fn(usize, usize, i8) -> i8) -> String {
    let expected: Vec<i8> = (0..64 * 64).map(|idx| (idx * 7 % 100) as i8).collect();
    let got: Vec<u8> = expected
        .iter()
        .enumerate()
        .map(|(idx, value)| spoil(idx / 64, idx % 64, *value).cast_unsigned())
        .collect();
    let expected: Vec<u8> = expected.iter().map(|value| value.cast_unsigned()).collect();
    let poison = vec![0x5a; expected.len()];
    match compare(&buffer(), &expected, &got, &poison, Tolerance::Exact {}, 16) {
        Some(found) => format!(
            "{}: {}\n  {}",
            found.code,
            found.message,
            found.notes.join("\n  ")
        ),
        None => "equal".into(),
    }
}

#[test]
fn patterns_are_named() {
    let cases = [
        ("nothing", report(|_, _, v| v)),
        (
            "everything negated",
            report(|_, _, v| if v == 0 { 1 } else { -v }),
        ),
        (
            "odd tile columns",
            report(|_, c, v| if c / 16 % 2 == 1 { v ^ 1 } else { v }),
        ),
        (
            "checkerboard",
            report(|r, c, v| if (r / 16 + c / 16) % 2 == 1 { v ^ 1 } else { v }),
        ),
        (
            "second half of 32 rows",
            report(|r, _, v| if 16 <= r % 32 { v + 1 } else { v }),
        ),
        (
            "last rows never written",
            report(|r, _, v| if 48 <= r { 0x5a } else { v }),
        ),
        (
            "one element",
            report(|r, c, v| if (r, c) == (5, 9) { 0 } else { v }),
        ),
        ("one column", report(|_, c, v| if c == 63 { -1 } else { v })),
        (
            "edges of tiles",
            report(|r, c, v| {
                if r % 16 == 15 && c % 16 == 15 {
                    v ^ 2
                } else {
                    v
                }
            }),
        ),
    ];
    let text: Vec<String> = cases
        .iter()
        .map(|(name, text)| format!("{name}\n  {text}"))
        .collect();
    insta::assert_snapshot!(text.join("\n"));
}

#[test]
fn tolerance_decides_on_floats_and_nan_is_wrong() {
    let buffer = Buffer {
        dtype: DataType::Float32,
        shape: vec![2],
        ..buffer()
    };
    let bytes = |a: f32, b: f32| [a.to_le_bytes(), b.to_le_bytes()].concat();
    let tolerance = Tolerance::Close {
        relative: 1e-3,
        absolute: 0.0,
    };
    let compare =
        |got: Vec<u8>| compare(&buffer, &bytes(1.0, 2.0), &got, &[0; 8], tolerance, 4).is_none();
    assert!(compare(bytes(1.0005, 2.0)));
    assert!(!compare(bytes(1.002, 2.0)));
    assert!(!compare(bytes(1.0, f32::NAN)));
    assert!(!compare(bytes(f32::INFINITY, 2.0)));
}

#[test]
fn nothing_but_the_same_infinity_is_near_an_infinity() {
    let buffer = Buffer {
        dtype: DataType::Float32,
        shape: vec![2],
        ..buffer()
    };
    let tolerance = Tolerance::Close {
        relative: 1e-3,
        absolute: 1e30,
    };
    let is_near = |expected: f32, got: f32| {
        let bytes = |value: f32| [value.to_le_bytes(), 1.0_f32.to_le_bytes()].concat();
        compare(
            &buffer,
            &bytes(expected),
            &bytes(got),
            &[0; 8],
            tolerance,
            4,
        )
        .is_none()
    };
    for infinity in [f32::INFINITY, f32::NEG_INFINITY] {
        assert!(is_near(infinity, infinity));
        for other in [0.0, f32::MAX, f32::MIN, -infinity, f32::NAN] {
            assert!(!is_near(infinity, other), "{infinity} {other}");
            assert!(!is_near(other, infinity), "{other} {infinity}");
        }
    }
}

#[test]
fn a_tolerance_is_told_with_what_it_allows_and_what_an_element_is_off_by() {
    let buffer = Buffer {
        name: "y".into(),
        dtype: DataType::Float32,
        shape: vec![2, 3],
        role: Role::Output,
        alignment: 64,
        used: None,
    };
    let bytes = |values: [f32; 6]| values.iter().flat_map(|it| it.to_le_bytes()).collect();
    let expected: Vec<u8> = bytes([1.0, 2.0, 3.0, 40.0, 0.0, 6.0]);
    let got: Vec<u8> = bytes([1.0, 2.03125, 3.0, 41.0, 0.125, 6.0]);
    let tolerance = Tolerance::Close {
        relative: 0.01,
        absolute: 0.001,
    };
    let found = compare(&buffer, &expected, &got, &[0xff; 24], tolerance, 16).expect("a report");
    assert_eq!(
        found.notes.last().map(String::as_str),
        Some(
            "the tolerance is the larger of 0.001 and 0.01 times the right value: y[0][1] may be off by 0.0200, and is off by 0.0312; the worst is y[1][1], off by 0.125 where 0.00100 is allowed"
        )
    );
}

/// Returns what is said of each element of `got` alone, beside the right one.
fn verdicts(dtype: DataType, pairs: &[(f64, f64)], tolerance: Tolerance) -> Vec<bool> {
    let one = |value: f64| {
        let mut bytes = Vec::new();
        dtype.push(value, &mut bytes);
        bytes
    };
    let verdict = |(right, got): &(f64, f64)| {
        let buffer = Buffer {
            dtype,
            shape: vec![1],
            ..buffer()
        };
        let poison = vec![0x5a; dtype.bytes()];
        compare(&buffer, &one(*right), &one(*got), &poison, tolerance, 16).is_none()
    };
    pairs.iter().map(verdict).collect()
}

#[test]
fn nothing_finite_is_close_to_infinity_in_any_type() {
    let tolerance = Tolerance::Close {
        relative: 1e-2,
        absolute: 1e-3,
    };
    let infinite = f64::INFINITY;
    let pairs = [
        (infinite, infinite),
        (infinite, -infinite),
        (infinite, 0.0),
        (infinite, 65504.0),
        (-infinite, -65504.0),
        (1.0, infinite),
        (1.0, 1.0078125),
        (1.0, 1.0625),
        (1.0, f64::NAN),
        (f64::NAN, 1.0),
        (f64::NAN, -f64::NAN),
        (0.0, -0.0),
    ];
    let right = [
        true, false, false, false, false, false, true, false, false, false, true, true,
    ];
    for dtype in [DataType::Float16, DataType::BFloat16, DataType::Float32] {
        assert_eq!(verdicts(dtype, &pairs, tolerance), right, "{dtype:?}");
    }
    let whole = [(100.0, 101.0), (100.0, 102.0), (0.0, 0.0), (0.0, 1.0)];
    for dtype in [DataType::UInt8, DataType::Int8, DataType::Int32] {
        let found = verdicts(dtype, &whole, tolerance);
        assert_eq!(found, [true, false, true, false], "{dtype:?}");
    }
}

#[test]
fn poison_is_right_nowhere() {
    let buffer = Buffer {
        dtype: DataType::Float32,
        shape: vec![1],
        ..buffer()
    };
    let poison = 0x7f81_2345_u32.to_le_bytes();
    let right = f32::NAN.to_le_bytes();
    let tolerance = Tolerance::Close {
        relative: 1e-2,
        absolute: 1e-3,
    };
    let found = compare(&buffer, &right, &poison, &poison, tolerance, 16);
    assert_eq!(found.expect("a finding").code, "output-not-written");
}
