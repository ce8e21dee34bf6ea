//! Comparing an output with the right one, and describing the difference.

mod pattern;

use autocomp_catalog::{Buffer, Tolerance};
use autocomp_core::{Diagnostic, Severity, Stage};
use pattern::Mismatches;

/// Elements listed after the first.
const LISTED: usize = 5;

/// Compares `got` with `expected`; `poison` is what the buffer held before.
///
/// `tile` is the side of the accelerator's tiles, for patterns.
/// Returns nothing if every element is within `tolerance`.
pub fn compare(
    buffer: &Buffer,
    expected: &[u8],
    got: &[u8],
    poison: &[u8],
    tolerance: Tolerance,
    tile: usize,
) -> Option<Diagnostic> {
    if expected == got {
        return None;
    }
    let width = buffer.dtype.bytes();
    let wrong: Vec<usize> = (0..buffer.elements())
        .filter(|idx| {
            let at = idx * width..(idx + 1) * width;
            expected[at.clone()] != got[at.clone()]
                && !is_close(
                    buffer.dtype.value(&expected[at.clone()]),
                    buffer.dtype.value(&got[at]),
                    tolerance,
                )
        })
        .collect();
    let first = *wrong.first()?;
    let element =
        |bytes: &[u8], idx: usize| buffer.dtype.value(&bytes[idx * width..(idx + 1) * width]);
    let n_poison = wrong
        .iter()
        .filter(|idx| got[*idx * width..][..width] == poison[*idx * width..][..width])
        .count();
    // The poison has the right value nowhere, so what was not written is wrong.
    let never_written = wrong.len() == n_poison;
    let mismatches = Mismatches::new(buffer, &wrong, tile);
    let count = format!(
        "{} of {} elements of {}",
        wrong.len(),
        buffer.elements(),
        buffer.name
    );
    let text = |bytes: &[u8], idx: usize| buffer.dtype.shown(&bytes[idx * width..][..width]);
    let (at, right, pattern) = (
        place(buffer, first),
        text(expected, first),
        mismatches.pattern(),
    );
    let (was, is) = match wrong.len() {
        1 => ("was", "is"),
        _ => ("were", "are"),
    };
    let message = if never_written {
        format!(
            "{count} {was} never written: {pattern}; the first is {at}, which should be {right}"
        )
    } else {
        format!(
            "{at} is {} instead of {right}; {count} {is} wrong: {pattern}",
            text(got, first)
        )
    };
    let listed = spread(&wrong).filter(|_| !never_written);
    let mut notes: Vec<String> = listed
        .map(|idx| {
            format!(
                "{}: expected {}, got {}",
                place(buffer, idx),
                text(expected, idx),
                text(got, idx)
            )
        })
        .collect();
    if !never_written {
        notes.extend(relation(buffer, &wrong, |idx| {
            (element(expected, idx), element(got, idx))
        }));
    }
    Some(Diagnostic {
        stage: Stage::Test,
        severity: Severity::Error,
        code: if never_written {
            "output-not-written"
        } else {
            "output-mismatch"
        }
        .into(),
        message,
        location: None,
        notes,
        remedy: None,
    })
}

/// Returns a few wrong elements spread over all of them, without the first.
fn spread(wrong: &[usize]) -> impl Iterator<Item = usize> + '_ {
    let count = (wrong.len() - 1).min(LISTED);
    (1..=count).map(move |step| wrong[step * (wrong.len() - 1) / count])
}

/// Returns what relates the wrong values to the right ones, if something does.
fn relation(
    buffer: &Buffer,
    wrong: &[usize],
    pair: impl Fn(usize) -> (f64, f64),
) -> Option<String> {
    let all = |holds: &dyn Fn(f64, f64) -> bool| {
        wrong.iter().all(|idx| {
            let (expected, got) = pair(*idx);
            holds(expected, got)
        })
    };
    let (first_expected, first_got) = pair(wrong[0]);
    let offset = first_got - first_expected;
    if all(&|_, got| got == first_got) && 1 < wrong.len() {
        Some(format!("every wrong element is {first_got}"))
    } else if all(&|expected, got| got == -expected) {
        Some("every wrong element has the right magnitude and the wrong sign".into())
    } else if all(&|expected, got| (got - expected - offset).abs() < 1e-9) && 1 < wrong.len() {
        Some(format!(
            "every wrong element is {} by {}",
            if offset > 0.0 {
                "too large"
            } else {
                "too small"
            },
            offset.abs()
        ))
    } else if let Some((least, greatest)) = buffer.dtype.limits()
        && all(&|expected, _| expected == greatest || expected == least)
    {
        Some(format!(
            "wrong only where the right value is at the limit of {}: sums must be clamped, once, at the end",
            buffer.dtype.name()
        ))
    } else {
        None
    }
}

/// Returns `C[3][17]`.
pub fn place(buffer: &Buffer, element: usize) -> String {
    let mut rest = element;
    let mut indices: Vec<usize> = Vec::new();
    for extent in buffer.shape.iter().rev() {
        indices.push(rest % *extent as usize);
        rest /= *extent as usize;
    }
    let indices: Vec<String> = indices.iter().rev().map(|idx| format!("[{idx}]")).collect();
    format!("{}{}", buffer.name, indices.concat())
}

fn is_close(expected: f64, got: f64, tolerance: Tolerance) -> bool {
    match tolerance {
        Tolerance::Exact {} => expected == got,
        // No finite value is near an infinite one, and every one is within any part of it.
        Tolerance::Close { .. } if !expected.is_finite() => expected == got,
        Tolerance::Close { relative, absolute } => {
            // Not-a-number is close to nothing, not even to itself.
            (got - expected).abs() <= absolute.max(relative * expected.abs())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::compare;
    use autocomp_catalog::{Buffer, DataType, Role, Tolerance};

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
        let compare = |got: Vec<u8>| {
            compare(&buffer, &bytes(1.0, 2.0), &got, &[0; 8], tolerance, 4).is_none()
        };
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
}
