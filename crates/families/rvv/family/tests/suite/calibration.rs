//! The model of a core against what has been measured on it.

use crate::{c908, x60};
use autocomp_catalog::Catalog;
use autocomp_eval::Family;
use autocomp_eval::simulator::CalibrationRequest;
use autocomp_rvv::Rvv;
use autocomp_rvv::calibration::{Compared, Measured, errors};
use std::collections::BTreeMap;
use std::path::Path;

fn k230() -> Measured {
    let text = include_str!("../../calibration/k230/measured.toml");
    Measured::parse(text).expect("the table can be read")
}

fn k1() -> Measured {
    let text = include_str!("../../calibration/k1/measured.toml");
    Measured::parse(text).expect("the table can be read")
}

#[test]
fn instructions_cost_what_they_do_on_the_boards() {
    // Of the X60, loading a mask of 32 bytes is off by a fifth: such loads have one row for all.
    for (measured, machine, most) in [(k230(), c908(), 0.15), (k1(), x60(), 0.2)] {
        let mut rows = measured.instructions(&machine);
        rows.sort_by(|a, b| b.error().total_cmp(&a.error()));
        let (median, worst) = errors(&rows);
        let worst_rows: Vec<_> = rows.iter().take(4).collect();
        let is_near = median < 0.05 && worst < most && rows[1].error() < 0.15;
        assert!(is_near, "{median} {worst_rows:#?}");
    }
}

#[test]
fn copying_and_filling_cost_what_they_do_on_the_board() {
    let (measured, machine) = (k230(), c908());
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
    let (measured, machine) = (k230(), c908());
    let kernels = measured.kernels(&machine);
    let errors: Vec<f64> = kernels.iter().map(Compared::error).collect();
    assert!(
        matches!(errors[..], [known, assumed] if known < 0.1 && assumed < 0.2),
        "{kernels:?}"
    );
}

/// What `sim calibrate --suite` does with the folders of both boards.
#[test]
fn suites_name_the_target_that_they_are_about() {
    let suites = Rvv.calibrated().expect("there are suites");
    let catalog = Catalog::built_in().expect("the catalog");
    for (board, name) in [("k230", "rvv-k230"), ("k1", "rvv-k1")] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("calibration")
            .join(board);
        assert!(suites.recognizes(&folder), "{board}");
        assert_eq!(suites.target(Some(&folder)).as_deref(), Some(name));
        let target = catalog.target(name).expect("the target");
        let request = CalibrationRequest {
            folder: Some(&folder),
            target: Some(&target),
            surroundings: None,
            options: &BTreeMap::new(),
            tell: &mut |_| {},
        };
        let found = suites.calibrate(request).expect("a comparison");
        let rows = found.data["instructions"].as_array().expect("rows");
        assert!(600 < rows.len(), "{board}: {} rows", rows.len());
        // Nothing has no error.
        let empty = found.text.lines().find(|line| line.starts_with("0 "));
        assert_eq!(empty, None, "{board}");
    }
}
