//! Which evaluations are known again, to whom, and as what.

use autocomp_core::{ContentHash, Cost, Evaluation, Measurement, Outcome};
use autocomp_eval::{EvalError, Evaluations, Verdict};
use std::collections::BTreeMap;

fn verdict(outcome: Outcome, cycles: u64) -> Verdict {
    let mut verdict = Verdict::failed(outcome, Vec::new());
    let cost = Cost::cycles(cycles);
    verdict.measurement = (outcome == Outcome::Ok).then(|| Measurement {
        cost,
        floor: Cost::cycles(1),
        percent_of_peak: 1.0,
        samples: Vec::new(),
        ratio_to_baseline: None,
        engine: "engine".into(),
        compiler: "compiler".into(),
        figures: BTreeMap::new(),
    });
    verdict
}

/// Evaluates `source` where a judge would say `outcome`; tells whether the judge was asked.
fn ask(
    known: &Evaluations,
    source: &str,
    outcome: Outcome,
    bound: Option<u64>,
) -> (bool, Evaluation) {
    let mut asked = false;
    let evaluation = known.get(source, bound.map(Cost::cycles), |clock| {
        asked = true;
        Ok(clock.measure("test", || verdict(outcome, 100)))
    });
    (asked, evaluation.expect("evaluated"))
}

fn base() -> ContentHash {
    ContentHash::of(b"problem and machine")
}

#[test]
fn what_simulators_made_is_known_to_all_and_what_was_measured_to_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let simulated = || Evaluations::simulated(base(), Some(folder.path()));
    let (first, second) = (simulated(), simulated());
    let (measured, other) = (
        Evaluations::measured(base(), true),
        Evaluations::measured(base(), true),
    );
    for outcome in Outcome::ALL {
        let source = format!("{outcome:?}");
        let holds = !matches!(outcome, Outcome::Cut | Outcome::Fault);
        for (asked, again, elsewhere, is_shared) in [
            (&first, &first, &second, true),
            (&measured, &measured, &other, false),
        ] {
            assert!(ask(asked, &source, outcome, None).0, "{outcome:?}");
            let (anew, evaluation) = ask(again, &source, outcome, None);
            assert_eq!(anew, !holds, "{outcome:?}");
            let tier = if holds { "cache" } else { "test" };
            assert_eq!(evaluation.tiers[0].tier, tier);
            assert_eq!(
                (evaluation.outcome, evaluation.key),
                (outcome, first.key(&source))
            );
            let anew = ask(elsewhere, &source, outcome, None).0;
            assert_eq!(anew, !(holds && is_shared), "{outcome:?}");
        }
    }
}

#[test]
fn nothing_is_known_without_a_cache_or_of_another_base() {
    let folder = tempfile::tempdir().expect("a folder");
    for known in [
        Evaluations::simulated(base(), None),
        Evaluations::measured(base(), false),
    ] {
        for _ in 0..2 {
            assert!(ask(&known, "kernel", Outcome::Ok, None).0);
        }
    }
    let known = Evaluations::simulated(base(), Some(folder.path()));
    assert!(ask(&known, "kernel", Outcome::Ok, None).0);
    let other = Evaluations::simulated(ContentHash::of(b"another"), Some(folder.path()));
    assert!(ask(&other, "kernel", Outcome::Ok, None).0);
    assert!(ask(&known, "another kernel", Outcome::Ok, None).0);
}

#[test]
fn a_bound_decides_what_is_told_and_not_what_is_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let known = Evaluations::simulated(base(), Some(folder.path()));
    // The judge goes on to the end although the bound is lower.
    assert_eq!(
        ask(&known, "kernel", Outcome::Ok, Some(50)).1.outcome,
        Outcome::Cut
    );
    for (bound, outcome) in [
        (None, Outcome::Ok),
        (Some(50), Outcome::Cut),
        (Some(200), Outcome::Ok),
    ] {
        let (asked, evaluation) = ask(&known, "kernel", Outcome::Wrong, bound);
        assert!(!asked);
        assert_eq!(evaluation.outcome, outcome, "{bound:?}");
    }
}

#[test]
fn an_error_of_the_judge_is_passed_on_and_not_known() {
    let known = Evaluations::measured(base(), true);
    let failed = known.get("kernel", None, |_| Err(EvalError::Fault("broken".into())));
    assert!(matches!(failed, Err(EvalError::Fault(_))));
    assert!(ask(&known, "kernel", Outcome::Ok, None).0);
}
