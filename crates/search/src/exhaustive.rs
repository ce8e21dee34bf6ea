//! Every menu item in turn: plans that do not draw from the menu.

use autocomp_core::{CandidateId, MenuItem, PlanKind};
use std::borrow::Borrow;
use std::collections::BTreeSet;

/// Items that had their turn on a kernel.
#[derive(Clone, Debug, Default)]
pub struct Turns(BTreeSet<(CandidateId, String)>);

impl Turns {
    /// Notes that `item` had its turn on kernel `id`.
    pub fn note(&mut self, id: CandidateId, item: &str) {
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
pub fn deal(
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
