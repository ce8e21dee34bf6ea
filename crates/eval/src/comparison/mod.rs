//! Comparing an output with the right one, and describing the difference.

mod pattern;

use autocomp_catalog::{Buffer, DataType, Tolerance};
use autocomp_core::{Diagnostic, Severity, Stage};
use pattern::Mismatches;

/// Elements listed after the first.
const LISTED: usize = 5;

/// Compares `got` with `expected`; `poison` is what the buffer held before. Where the right
/// answer is not a number, every element that is none is right, but for the poison: what a
/// processor makes of `0.0 / 0.0` has no sign and no payload that anyone has to keep.
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
    if expected == got || buffer.dtype == DataType::Float32 && are_close(expected, got, tolerance) {
        return None;
    }
    let width = buffer.dtype.bytes();
    let wrong: Vec<usize> = (0..buffer.elements())
        .filter(|idx| {
            let at = idx * width..(idx + 1) * width;
            let (right, got) = (&expected[at.clone()], &got[at.clone()]);
            !is_right(buffer.dtype, right, got, &poison[at], tolerance)
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
        notes.extend(allowance(buffer, &wrong, tolerance, |idx| {
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

/// Says how far an element may be from the right one, with the numbers of the first wrong one and
/// of the one that is off by most of what is allowed.
fn allowance(
    buffer: &Buffer,
    wrong: &[usize],
    tolerance: Tolerance,
    pair: impl Fn(usize) -> (f64, f64),
) -> Option<String> {
    let Tolerance::Close { relative, absolute } = tolerance else {
        return None;
    };
    // Where the right value, or what came out, is no number, there is nothing to tell.
    let distances = wrong.iter().filter_map(|idx| {
        let (expected, got) = pair(*idx);
        let off = (got - expected).abs();
        let allowed = absolute.max(relative * expected.abs());
        (off.is_finite() && allowed.is_finite()).then_some((*idx, off, allowed))
    });
    let distances: Vec<(usize, f64, f64)> = distances.collect();
    let (first, off, allowed) = *distances.first()?;
    let mut text = format!(
        "the tolerance is the larger of {absolute} and {relative} times the right value: {} may be off by {}, and is off by {}",
        place(buffer, first),
        short(allowed),
        short(off)
    );
    let worst = distances
        .iter()
        .max_by(|a, b| (a.1 / a.2).total_cmp(&(b.1 / b.2)))
        .filter(|it| it.0 != first);
    if let Some((idx, off, allowed)) = worst {
        text += &format!(
            "; the worst is {}, off by {} where {} is allowed",
            place(buffer, *idx),
            short(*off),
            short(*allowed)
        );
    }
    Some(text)
}

/// Returns a number with three digits.
fn short(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        value if (1e-4..1e6).contains(&value) => {
            let digits = (2 - value.log10().floor() as i32).max(0) as usize;
            format!("{value:.digits$}")
        }
        value => format!("{value:.2e}"),
    }
}

/// Returns whether [`compare`] finds nothing, and stops at the first wrong element.
#[must_use]
pub fn are_right(
    buffer: &Buffer,
    expected: &[u8],
    got: &[u8],
    poison: &[u8],
    tolerance: Tolerance,
) -> bool {
    let width = buffer.dtype.bytes();
    expected
        .chunks_exact(width)
        .zip(got.chunks_exact(width))
        .zip(poison.chunks_exact(width))
        .all(|((right, got), poison)| is_right(buffer.dtype, right, got, poison, tolerance))
}

fn is_right(
    dtype: DataType,
    right: &[u8],
    got: &[u8],
    poison: &[u8],
    tolerance: Tolerance,
) -> bool {
    if right == got {
        return true;
    }
    let (right, value) = (dtype.value(right), dtype.value(got));
    right.is_nan() && value.is_nan() && got != poison || is_close(right, value, tolerance)
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

/// Returns whether binary32 numbers are within `tolerance` everywhere, as [`is_close`] has it.
/// Where it cannot tell it returns `false`: it is there because it looks at several at a time,
/// which compilers turn into vector code.
fn are_close(expected: &[u8], got: &[u8], tolerance: Tolerance) -> bool {
    let Tolerance::Close { relative, absolute } = tolerance else {
        return false;
    };
    // A little less than allowed, so that rounding to binary32 lets nothing pass.
    let within = 1.0 - 1e-6;
    let (relative, absolute) = ((relative * within) as f32, (absolute * within) as f32);
    let (expected, got) = (expected.as_chunks().0, got.as_chunks().0);
    expected.chunks(16).zip(got.chunks(16)).all(|(right, got)| {
        right.iter().zip(got).fold(true, |all, (right, got)| {
            let (right, got) = (f32::from_le_bytes(*right), f32::from_le_bytes(*got));
            // Infinite distances and not-a-number are below no bound.
            let close = (got - right).abs() < absolute.max(relative * right.abs());
            all & (close | (right == got))
        })
    })
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
