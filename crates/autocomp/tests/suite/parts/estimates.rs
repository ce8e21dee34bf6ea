//! How large a run is going to be.

use autocomp::inside::run_shape;
use autocomp_core::SearchSettings;

#[test]
fn a_run_draws_what_its_iterations_allot() {
    let search = SearchSettings {
        beam: 4,
        plans: 3,
        drafts: 2,
        repairs: 2,
        iterations: 8,
        max_evaluations: None,
        ..SearchSettings::default()
    };
    let shape = run_shape(&search);
    assert_eq!(shape.parents, 1 + 7 * 4);
    assert_eq!((shape.plans, shape.drafts), (8 * 4 * 3, 8 * 4 * 3 * 2));
    assert_eq!(shape.repairs, 2 * shape.drafts);
    let bounded = run_shape(&SearchSettings {
        max_evaluations: Some(41),
        ..search
    });
    assert_eq!(bounded.drafts, 40);
    assert!(bounded.plans <= 40);
}
