//! Lessons that a run is told, and what is kept of its own.

use autocomp_core::{Lesson, Outcome};
use autocomp_runner::{chosen, merge};

fn lesson(id: &str, problem: &str, factor: Option<f64>) -> Lesson {
    Lesson {
        id: id.to_owned(),
        target: "toy".to_owned(),
        problem: problem.to_owned(),
        menu_item: "unroll".to_owned(),
        plan: "Unroll.".to_owned(),
        outcome: Some(if factor.is_some() {
            Outcome::Ok
        } else {
            Outcome::Wrong
        }),
        factor,
        finding: String::new(),
        attempts: 1,
    }
}

fn ids(lessons: &[Lesson]) -> Vec<&str> {
    lessons.iter().map(|it| it.id.as_str()).collect()
}

#[test]
fn a_run_is_told_what_is_near_and_telling() {
    let other_target = Lesson {
        target: "other".to_owned(),
        ..lesson("x", "toy/gemm-4x4", Some(9.0))
    };
    let lessons = [
        lesson("far", "toy/conv-3", Some(5.0)),
        lesson("kin", "toy/gemm-8x8", Some(1.5)),
        lesson("own", "toy/gemm-4x4", Some(1.2)),
        lesson("own-more", "toy/gemm-4x4", Some(2.0)),
        lesson("slower", "toy/gemm-4x4", Some(0.5)),
        lesson("wrong", "toy/gemm-4x4", None),
        other_target,
    ];
    let told = |most| chosen(&lessons, "toy", "toy/gemm-4x4", most);
    assert_eq!(ids(&told(3)), ["own-more", "slower", "own"]);
    assert_eq!(
        ids(&told(20)),
        ["own-more", "slower", "own", "wrong", "kin", "far"]
    );
    assert!(told(0).is_empty());
}

#[test]
fn the_better_of_two_stays_and_counts_as_new() {
    let mut known = vec![lesson("a", "p", Some(2.0)), lesson("b", "p", Some(1.1))];
    merge(
        &mut known,
        vec![
            lesson("a", "p", Some(1.5)),
            lesson("b", "p", Some(1.3)),
            lesson("c", "p", None),
        ],
    );
    assert_eq!(ids(&known), ["a", "b", "c"]);
    assert_eq!([known[0].factor, known[1].factor], [Some(2.0), Some(1.3)]);
}
