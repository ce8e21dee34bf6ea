//! Constants of a machine fitted anew with one group of kernels left out: how well the model does
//! on kernels that it was not fitted on.
//!
//! One step of Gauss and Newton on the logarithms of constants and errors, damped, each group
//! weighing the same: the constants are near a fit already, and the model is not smooth enough for
//! more.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::calibrate::{Case, timed};
use crate::diagnostic::Outcome;
use crate::timing::Machine;

/// A constant of a machine.
type Constant = (&'static str, fn(&mut Machine) -> &mut f64);

/// What is fitted: the machine's file says of everything else whether it is documented, was fitted
/// to one operator or is assumed.
const CONSTANTS: [Constant; 8] = [
    ("tensor.overhead_cycles", |it| {
        &mut it.tensor.overhead_cycles
    }),
    ("vector.overhead_cycles", |it| {
        &mut it.vector.overhead_cycles
    }),
    ("vector.slowdown", |it| &mut it.vector.slowdown),
    ("scalar.overhead_cycles", |it| {
        &mut it.scalar.overhead_cycles
    }),
    ("dma.bytes_per_ns", |it| &mut it.dma.bytes_per_ns),
    ("dma.descriptor_ns", |it| &mut it.dma.descriptor_ns),
    ("dma.latency_ns", |it| &mut it.dma.latency_ns),
    ("tail_ns", |it| &mut it.tail_ns),
];
/// Step of the differences, and how strongly constants stay where they are.
const STEP: f64 = 1.1;
const DAMPING: f64 = 0.02;
/// Largest factor by which a constant moves.
const MOST: f64 = 2.0;

/// One group of kernels, left out of the fit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeftOut {
    /// The group.
    pub group: String,
    /// Machine that its kernels were measured on.
    pub machine: String,
    /// Kernels of the group that ran.
    pub cases: usize,
    /// Geometric mean of the error of its kernels with the constants as they are.
    pub geomean_error: f64,
    /// The same with constants fitted to the other groups of the machine; none without others.
    pub refitted_error: Option<f64>,
    /// Geometric mean of the error of all other kernels of the suite, as it is.
    pub others_error: Option<f64>,
    /// Factors by which constants moved, by more than a hundredth.
    pub moved: BTreeMap<&'static str, f64>,
}

/// A kernel's logarithmic error, and how it changes with each constant.
struct Sample<'a> {
    case: &'a Case,
    error: f64,
    slopes: [f64; CONSTANTS.len()],
}

/// Fits the constants without each group in turn. Kernels that do not run are left away.
///
/// # Errors
/// What is wrong with a machine's file.
pub fn leave_one_out(
    cases: &[Case],
    mut source: impl FnMut(&str) -> Outcome<String>,
    mut machine: impl FnMut(&str) -> Outcome<Machine>,
) -> Outcome<Vec<LeftOut>> {
    let names: BTreeSet<&str> = cases.iter().map(|case| case.machine.as_str()).collect();
    let mut found = Vec::new();
    let mut all: Vec<(String, f64)> = Vec::new();
    for name in names {
        let machine = machine(name)?;
        let own = cases
            .iter()
            .filter(|case| case.machine == name && case.flaw.is_none());
        let mut moved: Vec<Machine> = vec![machine.clone()];
        for (_, constant) in CONSTANTS {
            let mut other = machine.clone();
            *constant(&mut other) *= STEP;
            moved.push(other);
        }
        let mut samples = Vec::new();
        for case in own {
            let text = source(&case.file).ok();
            let latencies = text.and_then(|text| timed(case, &text, &moved).ok());
            let Some((base, rest)) = latencies.as_deref().and_then(<[f64]>::split_first) else {
                continue;
            };
            let mut slopes = [0.0; CONSTANTS.len()];
            for (slope, latency) in slopes.iter_mut().zip(rest) {
                *slope = (latency / base).ln() / STEP.ln();
            }
            let error = (base / case.latency_us).ln();
            all.push((case.group.clone(), error));
            samples.push(Sample {
                case,
                error,
                slopes,
            });
        }
        let groups: BTreeSet<&str> = samples.iter().map(|it| it.case.group.as_str()).collect();
        for group in &groups {
            let inside = |sample: &&Sample<'_>| sample.case.group == *group;
            let errors: Vec<f64> = samples.iter().filter(inside).map(|it| it.error).collect();
            let (mut refitted, mut factors) = (None, BTreeMap::new());
            if groups.len() > 1 {
                let others = samples.iter().filter(|it| !inside(it));
                let steps = fitted(&others.collect::<Vec<_>>());
                let mut other = machine.clone();
                for ((name, constant), step) in CONSTANTS.iter().zip(steps) {
                    *constant(&mut other) *= step.exp();
                    if 0.01 < step.abs() {
                        factors.insert(*name, step.exp());
                    }
                }
                let machines = [other];
                let again = samples.iter().filter(inside).filter_map(|it| {
                    let text = source(&it.case.file).ok()?;
                    let latencies = timed(it.case, &text, &machines).ok()?;
                    Some((latencies.first()? / it.case.latency_us).ln())
                });
                refitted = geomean(again);
            }
            found.push(LeftOut {
                group: (*group).to_owned(),
                machine: name.to_owned(),
                cases: errors.len(),
                geomean_error: geomean(errors.into_iter()).unwrap_or(1.0),
                refitted_error: refitted,
                others_error: None,
                moved: factors,
            });
        }
    }
    for row in &mut found {
        let others = all.iter().filter(|(group, _)| *group != row.group);
        row.others_error = geomean(others.map(|(_, error)| *error));
    }
    Ok(found)
}

/// Geometric mean of errors given as logarithms.
fn geomean(errors: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut count, mut total) = (0, 0.0);
    for error in errors {
        count += 1;
        total += error.abs();
    }
    (count != 0).then(|| (total / f64::from(count)).exp())
}

/// Steps of the constants' logarithms that make the squared errors least.
fn fitted(samples: &[&Sample<'_>]) -> [f64; CONSTANTS.len()] {
    const N: usize = CONSTANTS.len();
    let mut sizes: BTreeMap<&str, f64> = BTreeMap::new();
    for sample in samples {
        *sizes.entry(sample.case.group.as_str()).or_default() += 1.0;
    }
    let (mut matrix, mut right) = ([[0.0; N]; N], [0.0; N]);
    for sample in samples {
        let weight = 1.0 / sizes[sample.case.group.as_str()];
        for (i, row) in matrix.iter_mut().enumerate() {
            right[i] -= weight * sample.slopes[i] * sample.error;
            for (sum, slope) in row.iter_mut().zip(&sample.slopes) {
                *sum += weight * sample.slopes[i] * slope;
            }
        }
    }
    for (i, row) in matrix.iter_mut().enumerate() {
        row[i] += DAMPING;
    }
    solved(matrix, right).map(|step| step.clamp(-MOST.ln(), MOST.ln()))
}

/// Solves a positive definite system by elimination.
pub fn solved<const N: usize>(mut matrix: [[f64; N]; N], mut right: [f64; N]) -> [f64; N] {
    for at in 0..N {
        for row in at + 1..N {
            let pivot = matrix[at];
            let factor = matrix[row][at] / pivot[at];
            for (value, above) in matrix[row].iter_mut().zip(pivot).skip(at) {
                *value -= factor * above;
            }
            right[row] -= factor * right[at];
        }
    }
    for at in (0..N).rev() {
        let known: f64 = (at + 1..N)
            .map(|column| matrix[at][column] * right[column])
            .sum();
        right[at] = (right[at] - known) / matrix[at][at];
    }
    right
}
