//! Which tests of a problem let pass what computes nothing.

use autocomp_catalog::{Buffer, Catalog, DataType, InputSet, Problem, Role, Tolerance};
use autocomp_core::{Cost, Unit};
use autocomp_eval::EvalError;
use autocomp_eval::doubts::{
    Peaks, Refutation, WorkField, one_timed_input, too_little_work, trivial_outputs,
};
use autocomp_eval::inputs::Case;
use serde_json::json;

fn buffer(name: &str, role: Role) -> Buffer {
    Buffer {
        name: name.into(),
        dtype: DataType::Float32,
        shape: vec![4],
        role,
        alignment: 64,
        used: None,
    }
}

/// Returns a problem of two buffers that is otherwise any one.
fn problem(tolerance: Tolerance, output: Role) -> Problem {
    let catalog = Catalog::built_in().expect("built-in data");
    let name = catalog
        .problem_names()
        .next()
        .expect("a problem")
        .to_owned();
    Problem {
        name: "own/problem".into(),
        buffers: vec![buffer("x", Role::Input), buffer("y", output)],
        tolerance,
        ..catalog.problem(&name).expect("the problem")
    }
}

fn bytes(values: [f32; 4]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn case(before: [f32; 4], after: [f32; 4]) -> Case {
    Case {
        name: "set".into(),
        before: vec![Some(bytes(before)), Some(bytes(before))],
        after: vec![None, Some(bytes(after))],
    }
}

#[test]
fn what_computes_nothing_and_is_right_is_told() {
    let close = |absolute| Tolerance::Close {
        relative: 1e-5,
        absolute,
    };
    let (x, small) = ([0.5, -0.25, 3.0, 9.0], [2e-5, 1e-5, 1.5e-5, 1e-5]);
    let (near, nan) = ([7.0, 7.0, 7.1, 6.9], [f32::NAN; 4]);
    let told = |tolerance, output, cases: &[Case]| {
        trivial_outputs(&problem(tolerance, output), cases)
            .iter()
            .map(|text| text.split(" would").next().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    let zeros = "an output that is 0 everywhere";
    assert_eq!(told(close(1e-2), Role::Output, &[case(x, small)]), [zeros]);
    assert!(told(close(1e-9), Role::Output, &[case(x, small)]).is_empty());
    // One set that tells is enough.
    let both = [case(x, small), case(x, near)];
    assert!(told(close(1e-2), Role::Output, &both).is_empty());
    let mean = "one number everywhere, the mean of the right ones,";
    assert_eq!(told(close(0.2), Role::Output, &[case(x, near)]), [mean]);
    assert_eq!(
        told(close(1e-9), Role::Output, &[case(x, x)]),
        ["a copy of x"]
    );
    let untouched = told(close(1e-9), Role::Inout, &[case(x, x)]);
    assert!(
        untouched.contains(&"leaving the output as it is".to_owned()),
        "{untouched:?}"
    );
    assert_eq!(told(close(1e-9), Role::Output, &[case(x, nan)]), [mean]);
    assert!(told(Tolerance::Exact {}, Role::Output, &[case(x, near)]).is_empty());
    assert!(told(Tolerance::Exact {}, Role::Output, &[]).is_empty());
}

#[test]
fn less_work_than_the_buffers_have_is_told() {
    let mut problem = problem(Tolerance::Exact {}, Role::Output);
    problem.work.bytes = 32;
    assert_eq!(too_little_work(&problem), None);
    problem.work.bytes = 8;
    let told = too_little_work(&problem).expect("a doubt");
    assert!(told.contains("`work.bytes`") && told.contains("is 8, but each buffer once is 32"));
}

#[test]
fn timed_calls_that_are_all_alike_are_told() {
    let mut problem = problem(Tolerance::Exact {}, Role::Output);
    let set = |name: &str, fill: serde_json::Value| -> InputSet {
        serde_json::from_value(json!({ "name": name, "fill": { "x": fill } })).expect("a set")
    };
    let drawn = set("drawn", json!({ "kind": "uniform", "low": -8, "high": 8 }));
    let fixed = set("fixed", json!({ "kind": "constant", "value": 1.0 }));
    problem.input_sets = vec![fixed.clone(), drawn.clone()];
    assert_eq!(one_timed_input(&problem), None);
    problem.input_sets = vec![drawn, fixed];
    let told = one_timed_input(&problem).expect("a doubt");
    assert!(told.contains("input set `fixed`"), "{told}");
    problem.buffers.remove(0);
    assert_eq!(one_timed_input(&problem), None);
}

#[test]
fn built_in_problems_are_not_doubtful() {
    let catalog = Catalog::built_in().expect("built-in data");
    for name in catalog.problem_names() {
        let problem = catalog.problem(name).expect("the problem");
        assert_eq!(too_little_work(&problem), None);
        assert_eq!(one_timed_input(&problem), None);
    }
}

#[test]
fn work_that_is_too_high_is_told_with_its_line() {
    let catalog = Catalog::built_in().expect("built-in data");
    let name = catalog.problem_names().next().expect("a problem");
    let problem = catalog.problem(name).expect("the problem");
    let told = |peaks| {
        let refutation = Refutation {
            problem: &problem,
            fields: &[WorkField::Macs],
            peaks,
            floor: Cost::nanoseconds(20, 0),
            cost: Cost::nanoseconds(10, 0),
            did: String::new(),
            kernel: "k".to_owned(),
        };
        let EvalError::Input { message, remedies } = refutation.error() else {
            panic!("another error");
        };
        (message, remedies)
    };
    let (message, remedies) = told(None);
    assert!(message.contains("asks for more than has to be done: `work.macs`"));
    assert_eq!(remedies.len(), 2);
    let (_, rest) = remedies[0].split_once("problem.toml:").expect("a file");
    let line: usize = rest.split(')').next().unwrap().parse().expect("a line");
    assert!(1 < line, "{remedies:?}");
    // It may as well be the machine whose file says too little.
    let (message, remedies) = told(Some(Peaks::of_roofline("mine", Unit::Cycles)));
    let key = "`peak_macs_per_cycle` in `[roofline]` of the target's file, mine/target.toml";
    assert!(message.contains("or the machine can do more"), "{message}");
    assert!(message.contains(key), "{message}");
    assert!(remedies[2].contains(key), "{remedies:?}");
}

/// An output of one element is its own mean: that says nothing of the tests.
#[test]
fn one_number_is_no_mean() {
    let mut problem = problem(Tolerance::Exact {}, Role::Output);
    problem.buffers[1].shape = vec![1];
    let sums = [10.0_f32, -3.5].map(|sum| {
        let mut case = case([1.0, 2.0, 3.0, 4.0], [0.0; 4]);
        case.after[1] = Some(sum.to_le_bytes().to_vec());
        case
    });
    assert!(trivial_outputs(&problem, &sums).is_empty());
}
