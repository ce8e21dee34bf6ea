//! Tables of kernels side by side.

use autocomp::inside::{
    BenchReport, Row, geometric_mean, means, report_text, row, set_side_by_side,
};
use autocomp_eval::EvalError;
use std::collections::BTreeMap;

fn rows() -> Vec<Row> {
    let make = |problem: &str, kernel: &str, cycles: Option<u64>| Row {
        cost: cycles.map(|cycles| autocomp_core::Cost::cycles(cycles).into()),
        cycles,
        percent_of_peak: cycles.map(|cycles| 100.0 / cycles as f64),
        outcome: if cycles.is_some() { "ok" } else { "wrong" }.to_owned(),
        message: cycles.is_none().then(|| "C[0][0] is 1".to_owned()),
        ..row(problem, kernel, Err(EvalError::Fault(String::new())))
    };
    let mut rows = vec![
        make("p", "baseline", Some(800)),
        make("p", "expert", Some(200)),
        make("q", "baseline", Some(100)),
        make("q", "expert", None),
        make("r", "baseline", Some(100)),
        make("r", "expert", Some(100)),
    ];
    set_side_by_side(&mut rows);
    rows
}

#[test]
fn ratios_are_within_a_problem_and_means_over_those_where_both_are_ok() {
    let rows = rows();
    assert_eq!(
        rows[1].speedup_over,
        BTreeMap::from([("baseline".to_owned(), 4.0)])
    );
    assert_eq!(rows[0].speedup_over["expert"], 0.25);
    assert!(rows[2].speedup_over.is_empty() && rows[3].speedup_over.is_empty());
    let kernels = ["baseline".to_owned(), "expert".to_owned()];
    let means = means(&rows, &kernels);
    assert_eq!((means[0].problems, means[1].problems), (3, 2));
    assert!((means[1].speedup_over["baseline"] - 2.0).abs() < 1e-12);
    assert_eq!(geometric_mean(std::iter::empty()), None);
}

#[test]
fn rows_have_stable_names_in_json() {
    let rows = serde_json::to_value(rows()).expect("serialises");
    assert_eq!(rows[1]["problem"], "p");
    assert_eq!(rows[1]["kernel"], "expert");
    assert_eq!(rows[1]["outcome"], "ok");
    assert_eq!(rows[1]["cycles"], 200);
    assert_eq!(rows[1]["percent_of_peak"], 0.5);
    assert_eq!(rows[1]["speedup_over"]["baseline"], 4.0);
    assert_eq!(rows[3]["outcome"], "wrong");
    assert!(rows[3]["cycles"].is_null());
}

#[test]
fn the_table_names_the_unit_of_its_costs() {
    let text = |costs: &[autocomp_core::Cost]| {
        let make = |cost: &autocomp_core::Cost| Row {
            cost: Some((*cost).into()),
            ..row("p", "baseline", Err(EvalError::Fault(String::new())))
        };
        let report = BenchReport {
            suite: "s".into(),
            description: "Some".into(),
            machines: vec!["t/m".into()],
            compiler: "a compiler".into(),
            geometric_means: Vec::new(),
            kernels: vec!["baseline".to_owned()],
            rows: costs.iter().map(make).collect(),
        };
        report_text(&report, false)
    };
    let (time, cycles) = (
        autocomp_core::Cost::nanoseconds(5, 0),
        autocomp_core::Cost::cycles(5),
    );
    assert!(text(&[time]).contains("how many times fewer ns than"));
    assert!(text(&[cycles, cycles]).contains("how many times fewer cycles than"));
    assert!(text(&[time, cycles]).contains("how many times less than"));
}

#[test]
fn a_failed_kernel_is_a_row_of_the_table() {
    let rows = rows();
    let kernels = vec!["baseline".to_owned(), "expert".to_owned()];
    let report = BenchReport {
        suite: "s".into(),
        description: "Some".into(),
        machines: vec!["t/fpga".into()],
        compiler: "a compiler".into(),
        geometric_means: means(&rows, &kernels),
        kernels,
        rows,
    };
    insta::assert_snapshot!(report_text(&report, false));
    insta::assert_snapshot!(report_text(&report, true));
}
