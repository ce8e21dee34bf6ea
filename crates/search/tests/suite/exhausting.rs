//! Turns of lists.

use autocomp_core::{CandidateId, MenuItem, PlanKind};
use autocomp_search::inside::{Turns, deal};

fn menu() -> Vec<MenuItem> {
    ["a", "b", "c", MenuItem::OTHER]
        .map(|id| MenuItem {
            id: id.to_owned(),
            ..MenuItem::default()
        })
        .to_vec()
}

fn names(kinds: &[Vec<PlanKind>]) -> Vec<Vec<String>> {
    let name = |kind: &PlanKind| match kind {
        PlanKind::Exhaustive { item } => item.clone(),
        PlanKind::Step => "-".to_owned(),
        _ => "aside".to_owned(),
    };
    kinds
        .iter()
        .map(|kinds| kinds.iter().map(name).collect())
        .collect()
}

#[test]
fn the_best_gets_every_item_and_the_rest_draws() {
    let parents = [CandidateId(4), CandidateId(2), CandidateId(4)];
    let mut slots = vec![vec![2, 2], vec![2, 2], vec![2]];
    let mut kinds = Vec::new();
    deal(
        &menu(),
        &parents,
        &[0, 1],
        &Turns::default(),
        &mut slots,
        &mut kinds,
    );
    assert_eq!(names(&kinds), [vec!["a", "b", "c"], vec!["a", "b"], vec![]]);
    assert_eq!(slots, [vec![2, 2, 2], vec![2, 2], vec![]]);
}

#[test]
fn items_have_one_turn_and_plans_set_aside_stay() {
    let parents = [CandidateId(4)];
    let mut turns = Turns::default();
    turns.note(CandidateId(4), "a");
    turns.note(CandidateId(4), "c");
    let aside = PlanKind::Polish { number: 0 };
    let mut slots = vec![vec![1, 1, 1]];
    let mut kinds = vec![vec![PlanKind::Step, aside, PlanKind::Step]];
    deal(&menu(), &parents, &[0], &turns, &mut slots, &mut kinds);
    assert_eq!(names(&kinds), [["b", "aside", "-"]]);
    assert_eq!(slots, [[1, 1, 1]]);
}
