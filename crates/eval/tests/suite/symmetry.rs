//! Axes that are symmetries, and some that are not.

use autocomp_catalog::{Axis, AxisPosition, Buffer, Catalog, DataType, Problem, Role, Tolerance};
use autocomp_eval::inputs::Case;
use autocomp_eval::symmetry::check;

fn problem() -> Problem {
    let catalog = Catalog::built_in().expect("built-in data");
    let name = catalog.problem_names().next().expect("a problem");
    let buffer = |name: &str, role| Buffer {
        name: name.into(),
        dtype: DataType::Int8,
        shape: vec![16],
        role,
        alignment: 64,
        used: None,
    };
    let along = |name: &str, buffers: &[usize]| Axis {
        name: name.into(),
        of: buffers
            .iter()
            .map(|&buffer| AxisPosition {
                buffer,
                dimension: 0,
            })
            .collect(),
    };
    Problem {
        name: "own/problem".into(),
        buffers: vec![buffer("x", Role::Input), buffer("y", Role::Output)],
        tolerance: Tolerance::Exact {},
        axes: vec![along("i", &[0, 1])],
        ..catalog.problem(name).expect("the problem")
    }
}

#[test]
fn a_reference_that_looks_at_places_has_no_axis() {
    let problem = problem();
    let squares = |x: &[u8]| -> Vec<u8> { x.iter().map(|x| x.wrapping_mul(*x)).collect() };
    let sums = |x: &[u8]| -> Vec<u8> {
        let mut sum = 0u8;
        let add = |x: &u8| {
            sum = sum.wrapping_add(*x);
            sum
        };
        x.iter().map(add).collect()
    };
    let said = |reference: &dyn Fn(&[u8]) -> Vec<u8>| {
        let x: Vec<u8> = (1..17).collect();
        let case = Case {
            name: "set".into(),
            after: vec![None, Some(reference(&x))],
            before: vec![Some(x), None],
        };
        let run = |case: &Case| {
            let x = case.before[0].as_deref().expect("an input");
            assert!(case.before[1].is_some(), "outputs hold something");
            Ok(vec![None, Some(reference(x))])
        };
        check(&problem, &case, 1, run).map_err(|error| error.to_string())
    };
    assert_eq!(said(&squares), Ok(()));
    let error = said(&sums).expect_err("no symmetry");
    assert!(
        error.contains("the axis `i` of problem own/problem permuted (input set set)"),
        "{error}"
    );
}
