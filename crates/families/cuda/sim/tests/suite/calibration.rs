//! Suites that a device measured, and what they are compared with.

use autocomp_cuda_sim::calibration::{Argument, Half, Suite, compare};
use std::collections::BTreeSet;

const LAUNCHES: &str = "id\tfile\tkernel\tgrid\tblock\tshared\tblocks\targuments
a.one.n\ta\tone\t2x3\t32\t0\tsome\tx=float:64 i:7
a.two.n\ta\ttwo<4>\t1\t32\t16\tall\tx=float:64
a.two.n\ta\tlast\t1\t32\t0\tsome\tx
b.one.n\tb\tone\t1\t32\t0\tsome\t-
";
const RESULTS: &str = "id\tcold_med_us\twarm_med_us
a.one.n\t100\t90
a.two.n\t50\t40
b.one.n\t5\t4
# the end
";
const COUNTERS: &str = "id\tlaunch\ttime_ns
a.two.n\t0\t30000
a.two.n\t1\t9000
b.one.n\t0\t2500
";

fn suite() -> Suite {
    Suite::parse(LAUNCHES, RESULTS, Some(COUNTERS)).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn times_of_short_cases_are_those_of_the_launches_alone() {
    let suite = suite();
    let times: Vec<_> = suite
        .cases
        .iter()
        .map(|it| {
            (
                &*it.id,
                it.launches.len(),
                it.cold_ns,
                it.warm_ns,
                it.is_counted,
            )
        })
        .collect();
    assert_eq!(
        times,
        [
            ("a.one.n", 1, 100_000.0, Some(90_000.0), false),
            ("a.two.n", 2, 50_000.0, Some(40_000.0), false),
            ("b.one.n", 1, 2500.0, None, true),
        ]
    );
    assert_eq!(suite.cases[0].launches[0].grid, [2, 3, 1]);
    assert_eq!(suite.cases[0].launches[0].arguments[1], Argument::Whole(7));
}

#[test]
fn what_is_wrong_in_a_table_is_named_with_its_line() {
    let cases = [
        (
            LAUNCHES.replace("some\tx=", "few\tx="),
            "launches.tsv:2: `few` is neither `all` nor `some`",
        ),
        (
            LAUNCHES.replace("2x3", "2xy"),
            "launches.tsv:2: `y` is no number",
        ),
        (
            LAUNCHES.replace("b.one.n", "b.none.n"),
            "launches.tsv:5: results.tsv has no times of `b.none.n`",
        ),
        (
            LAUNCHES.replace("block", "blok"),
            "launches.tsv:1: there is no column `block`",
        ),
        (String::new(), "launches.tsv: it is empty"),
    ];
    for (launches, message) in cases {
        assert_eq!(
            Suite::parse(&launches, RESULTS, None),
            Err(message.to_owned())
        );
    }
}

#[test]
fn errors_pairs_and_regrets_are_those_of_the_times() {
    let cases = suite().cases;
    let groups: BTreeSet<String> = ["a", "b"].map(str::to_owned).into();
    // The faster of two is estimated slower when cold, and right when warm.
    let estimates = [(50_000.0, 90_000.0), (100_000.0, 40_000.0), (5000.0, 0.0)];
    let with = |(cold, warm)| Ok((cold, warm, "dram".to_owned()));
    let estimated: Vec<_> = cases.into_iter().zip(estimates.map(with)).collect();
    let report = compare(&estimated, &groups);
    assert_eq!(report.groups[0].half, Half::Mending);
    assert_eq!(report.groups[1].half, Half::Examination);
    let mending = &report.mending;
    assert_eq!(
        (mending.times, mending.pairs, mending.pairs_right),
        (4, 2, 1)
    );
    // Twice two of two times of four.
    let error = mending.geomean_error.unwrap_or_default();
    assert!((error - 2.0_f64.sqrt()).abs() < 1e-9, "{error}");
    assert_eq!(mending.max_regret, Some(1.0));
    assert_eq!(mending.mean_regret, Some(0.5));
    assert_eq!(report.examination.geomean_error, Some(2.0));
    assert_eq!(report.examination.times, 1);
    assert_eq!(report.examination.pairs, 0);
}
