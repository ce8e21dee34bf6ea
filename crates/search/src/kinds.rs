//! What the plans of an iteration are for: steps, items for which plans are set
//! aside, polish.

use crate::attempt::Pairs;
use autocomp_core::{CandidateId, MenuItem, PlanKind, Scope, Seed};

/// Sets plans aside for the menu items that ask for it, by lot from `seed`, and
/// returns what each plan of `slots` is for; nothing if all are steps.
///
/// An item about two kernels takes a plan only if another survivor is left that
/// the plan's parent was never combined with.
pub(crate) fn plan_kinds(
    menu: &[MenuItem],
    iteration: u32,
    parents: &[CandidateId],
    slots: &[Vec<u32>],
    mut pairs: Pairs,
    mut seed: Seed,
) -> Vec<Vec<PlanKind>> {
    let mut kinds: Vec<Vec<PlanKind>> = slots
        .iter()
        .map(|plans| vec![PlanKind::Step; plans.len()])
        .collect();
    let mut places: Vec<(usize, usize)> = slots
        .iter()
        .enumerate()
        .flat_map(|(parent, plans)| (0..plans.len()).map(move |plan| (parent, plan)))
        .filter(|(parent, plan)| 0 < slots[*parent][*plan])
        .collect();
    let n_plans = places.len() as u32;
    for idx in 0..places.len() {
        let other = idx + seed.below(places.len() - idx);
        places.swap(idx, other);
    }
    let mut drawn = places.into_iter();
    for item in menu.iter().filter(|item| item.scope != Scope::Step) {
        // Rounded down, so that a single plan is for the menu of steps.
        let wanted = item.percent_in(iteration) * n_plans / 100;
        for _ in 0..wanted {
            let Some((place, plan)) = drawn.next() else {
                return kinds;
            };
            let other = if item.scope == Scope::Combination {
                let free: Vec<CandidateId> = distinct(parents)
                    .filter(|other| *other != parents[place])
                    .filter(|other| !pairs.has(parents[place], *other))
                    .collect();
                if free.is_empty() {
                    continue;
                }
                let other = free[seed.below(free.len())];
                pairs.note(parents[place], other);
                Some(other)
            } else {
                None
            };
            kinds[place][plan] = PlanKind::Reserved {
                item: item.id.clone(),
                other,
            };
        }
    }
    if kinds.iter().flatten().all(|kind| *kind == PlanKind::Step) {
        return Vec::new();
    }
    kinds
}

/// Adds `n_polish` plans of one draft each, dealt in turns to `places`: one for
/// each distinct parent.
pub(crate) fn add_polish(
    n_polish: u32,
    places: &[usize],
    slots: &mut [Vec<u32>],
    kinds: &mut Vec<Vec<PlanKind>>,
) {
    if n_polish == 0 {
        return;
    }
    if kinds.is_empty() {
        *kinds = slots
            .iter()
            .map(|plans| vec![PlanKind::Step; plans.len()])
            .collect();
    }
    let numbers = (0..).flat_map(|number| places.iter().map(move |place| (number, *place)));
    for (number, place) in numbers.take(n_polish as usize) {
        slots[place].push(1);
        kinds[place].push(PlanKind::Polish { number });
    }
}

fn distinct(parents: &[CandidateId]) -> impl Iterator<Item = CandidateId> {
    first_places(parents).map(|idx| parents[idx])
}

/// Returns the first place of each distinct parent.
pub(crate) fn first_places(parents: &[CandidateId]) -> impl Iterator<Item = usize> {
    (0..parents.len()).filter(|idx| !parents[..*idx].contains(&parents[*idx]))
}
