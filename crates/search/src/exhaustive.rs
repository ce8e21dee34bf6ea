//! Every menu item in turn: plans that do not draw from the menu.

use autocomp_core::{CandidateId, MenuItem, PlanKind};
use std::borrow::Borrow;
use std::collections::BTreeSet;

/// Items that had their turn on a kernel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns(BTreeSet<(CandidateId, String)>);

impl Turns {
    pub(crate) fn note(&mut self, id: CandidateId, item: &str) {
        self.0.insert((id, item.to_owned()));
    }

    fn has(&self, id: CandidateId, item: &str) -> bool {
        self.0.contains(&(id, item.to_owned()))
    }
}

/// Gives the plans that would draw from the menu to single items: `places` name one place
/// for each distinct survivor, the best first, and each gets a plan for every item of
/// `steps` that had no turn on it, as long as there are plans. Plans left over draw as
/// before, and plans set aside are left alone. The number of drafts stays the same.
pub(crate) fn deal(
    steps: &[impl Borrow<MenuItem>],
    parents: &[CandidateId],
    places: &[usize],
    turns: &Turns,
    slots: &mut [Vec<u32>],
    kinds: &mut Vec<Vec<PlanKind>>,
) {
    if kinds.is_empty() {
        *kinds = slots
            .iter()
            .map(|plans| vec![PlanKind::Step; plans.len()])
            .collect();
    }
    let items = || {
        let items = steps.iter().map(Borrow::<MenuItem>::borrow);
        items.filter(|item| item.id != MenuItem::OTHER)
    };
    let pairs = places
        .iter()
        .flat_map(|place| items().map(move |item| (*place, item)))
        .filter(|(place, item)| !turns.has(parents[*place], &item.id));
    // The last plans of the last places give way first, so that each place keeps what it
    // has as long as it can; no place loses its plans for nothing.
    let mut free: Vec<(usize, usize)> = Vec::new();
    for (place, kinds) in kinds.iter().enumerate() {
        let of_place = kinds.iter().enumerate();
        free.extend(
            of_place
                .filter(|(_, kind)| **kind == PlanKind::Step)
                .map(|(plan, _)| (place, plan)),
        );
    }
    let mut dealt: Vec<(usize, &MenuItem)> = pairs.take(free.len()).collect();
    // First those that can stay where a plan is, so that few plans move.
    let mut moved = Vec::new();
    dealt.retain(|(place, item)| {
        let own = free.iter().position(|(of, _)| of == place);
        match own.map(|idx| free.remove(idx)) {
            Some((place, plan)) => {
                kinds[place][plan] = PlanKind::Exhaustive {
                    item: item.id.clone(),
                };
                false
            }
            None => true,
        }
    });
    for (place, item) in dealt {
        let Some((from, plan)) = free.pop() else {
            break;
        };
        moved.push((place, item.id.clone(), slots[from][plan]));
        slots[from].remove(plan);
        kinds[from].remove(plan);
    }
    for (place, item, drafts) in moved {
        slots[place].push(drafts);
        kinds[place].push(PlanKind::Exhaustive { item });
    }
}

#[cfg(test)]
mod tests {
    use super::{Turns, deal};
    use autocomp_core::{CandidateId, MenuItem, PlanKind};

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
}
