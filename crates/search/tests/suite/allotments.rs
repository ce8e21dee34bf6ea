//! Parts of a budget.

use autocomp_core::SearchSettings;
use autocomp_search::{Allotment, allot};
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

fn allot_slots(settings: &SearchSettings, iteration: u32, remaining: Option<u32>) -> Vec<Vec<u32>> {
    allot(settings, iteration, remaining, 1).slots
}

fn settings(beam: u32, plans: u32, drafts: u32, iterations: u32) -> SearchSettings {
    SearchSettings {
        beam,
        plans,
        drafts,
        iterations,
        ..SearchSettings::default()
    }
}

#[test]
fn without_a_budget_every_slot_is_allotted() {
    assert_eq!(
        allot_slots(&settings(2, 3, 4, 5), 1, None),
        [[4, 4, 4], [4, 4, 4]]
    );
}

#[test]
fn a_budget_is_spread_over_iterations_places_and_plans() {
    // 20 left for 4 iterations: 5 now.
    assert_eq!(
        allot_slots(&settings(2, 3, 4, 5), 2, Some(20)),
        [vec![1, 1, 1], vec![1, 1]]
    );
    // Second drafts come after first drafts of all plans.
    assert_eq!(
        allot_slots(&settings(2, 2, 2, 5), 5, Some(5)),
        [[2, 1], [1, 1]]
    );
    // The last three: one for each of the first three places.
    assert_eq!(
        allot_slots(&settings(4, 3, 1, 9), 1, Some(3)),
        [vec![1], vec![1], vec![1], vec![]]
    );
    assert_eq!(
        allot_slots(&settings(2, 2, 2, 5), 5, Some(0)),
        [vec![], Vec::<u32>::new()]
    );
}

#[test]
fn repairs_reserve_evaluations_and_give_way_at_the_end() {
    let settings = SearchSettings {
        repairs: 2,
        ..settings(2, 3, 1, 4)
    };
    let all = vec![vec![1; 3]; 2];
    assert_eq!(
        allot(&settings, 1, None, 1),
        Allotment {
            slots: all,
            repairs: 2,
            polish: 0
        }
    );
    // 24 left for 4 iterations: 6 drafts now, and 24 would do for 3 repairs each.
    assert_eq!(
        allot(&settings, 1, Some(24), 1),
        Allotment {
            slots: vec![vec![1; 3]; 2],
            repairs: 2,
            polish: 0
        }
    );
    let two = vec![vec![1], vec![1]];
    assert_eq!(
        allot(&settings, 3, Some(4), 1),
        Allotment {
            slots: two,
            repairs: 1,
            polish: 0
        }
    );
    assert_eq!(
        allot(&settings, 4, Some(5), 1),
        Allotment {
            slots: vec![vec![1; 3], vec![1; 2]],
            repairs: 0,
            polish: 0
        }
    );
}

proptest! {
    #[test]
    fn slots_stay_within_budget_and_are_fair(
        beam in 1u32..7, plans in 1u32..7, drafts in 1u32..4, remaining in 0u32..400,
        iterations in 1u32..20, repairs in 0u32..4, iteration in 1u32..20,
    ) {
        let settings = SearchSettings { repairs, ..settings(beam, plans, drafts, iterations) };
        let allotment = allot(&settings, iteration.min(iterations), Some(remaining), 1);
        let slots = allotment.slots;
        let sums: Vec<u32> = slots.iter().map(|plans| plans.iter().sum()).collect();
        let total: u32 = sums.iter().sum();
        prop_assert!(total * (1 + allotment.repairs) <= remaining);
        prop_assert!(total <= settings.drafts_per_iteration());
        prop_assert!(allotment.repairs <= repairs);
        prop_assert_eq!(total == 0, remaining == 0);
        prop_assert!(sums.iter().max().unwrap() - sums.iter().min().unwrap() <= 1);
        prop_assert!(slots.iter().flatten().all(|n| 1 <= *n && *n <= drafts));
        if iterations <= iteration {
            prop_assert_eq!(total, remaining.min(settings.drafts_per_iteration()));
        }
    }
}
