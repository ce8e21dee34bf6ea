//! The model of a core against what has been measured on it.

use crate::c908;
use autocomp_rvv::calibration::{Compared, Measured, errors};

#[test]
fn instructions_cost_what_they_do_on_the_board() {
    let (measured, machine) = (Measured::c908(), c908());
    let (median, worst) = errors(&measured.instructions(&machine));
    assert!(median < 0.05 && worst < 0.15, "{median} {worst}");
}

#[test]
fn copying_and_filling_cost_what_they_do_on_the_board() {
    let (measured, machine) = (Measured::c908(), c908());
    let curves: Vec<Compared> = measured
        .curves(&machine)
        .into_iter()
        .map(|it| it.0)
        .collect();
    let (_, worst) = errors(&curves);
    assert!(worst < 0.15, "{worst}");
}

/// No number was fitted to them. The loop of the first is known, the code of the second is
/// assumed.
#[test]
fn published_kernels_cost_what_they_do_on_the_board() {
    let (measured, machine) = (Measured::c908(), c908());
    let kernels = measured.kernels(&machine);
    let errors: Vec<f64> = kernels.iter().map(Compared::error).collect();
    assert!(
        matches!(errors[..], [known, assumed] if known < 0.1 && assumed < 0.2),
        "{kernels:?}"
    );
}
