//! How a run went.

use autocomp::inside::Course;
use autocomp_core::{
    ContentHash, Cost, Evaluated, Evaluation, Event, Measurement, Outcome, Purpose, TaskKey,
};
use std::sync::Arc;

fn evaluated(plan: u32, source: &str, cost: Option<u64>) -> Event {
    let source = ContentHash::of(source.as_bytes());
    let measurement = cost.map(|cost| Measurement {
        cost: Cost::cycles(cost),
        floor: Cost::cycles(1),
        percent_of_peak: 1.0,
        samples: Vec::new(),
        ratio_to_baseline: None,
        engine: String::new(),
        compiler: String::new(),
        figures: [].into(),
    });
    Event::Evaluated(Evaluated {
        key: TaskKey {
            iteration: 1,
            parent: 0,
            plan,
            draft: 0,
            repair: 0,
            purpose: Purpose::Evaluate,
        },
        source,
        evaluation: Arc::new(Evaluation {
            key: source,
            outcome: cost.map_or(Outcome::Wrong, |_| Outcome::Ok),
            diagnostics: Vec::new(),
            measurement,
            feedback: None,
            tiers: Vec::new(),
            worker: None,
            device: None,
        }),
        same_as: None,
        code: None,
        lacks: Vec::new(),
    })
}

/// By keys, not by when they ended; a kernel that came twice counts once.
#[test]
fn evaluations_count_in_the_order_of_tasks() {
    let mut events = vec![
        evaluated(0, "a", Some(1000)),
        evaluated(1, "b", None),
        evaluated(2, "a", Some(1000)),
        evaluated(3, "c", Some(900)),
        evaluated(4, "d", Some(950)),
        evaluated(5, "e", Some(800)),
    ];
    for _ in 0..2 {
        let course = Course::of(&events);
        assert_eq!(course.evaluations_to(1000.0), Some(1));
        assert_eq!(course.evaluations_to(999.0), Some(3));
        assert_eq!(course.evaluations_to(808.0), Some(5));
        assert_eq!(course.evaluations_to(799.0), None);
        assert_eq!(course.evaluations_to_best(), Some(5));
        events.reverse();
    }
    assert_eq!(Course::default().evaluations_to_best(), None);
}
