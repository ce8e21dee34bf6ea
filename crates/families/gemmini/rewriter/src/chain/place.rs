//! Gives each container rows of the scratchpad: what the array reads at the same
//! time lies in different banks, and rows are taken again when nothing needs
//! them any more.

use super::tiles::{Container, Group, Tile};
use std::collections::BTreeMap;

/// Sizes of the scratchpad.
#[derive(Clone, Copy, Debug)]
pub(super) struct Banks {
    pub(super) dim: i64,
    pub(super) count: i64,
    /// Rows of one.
    pub(super) rows: i64,
}

/// When a container is written first and read last, in groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) first: usize,
    pub(super) last: usize,
}

/// Returns the first row of each container; `None` if there is no room.
///
/// `spans`: when each is in use; rows of those that are over serve again.
pub(super) fn place(
    containers: &[Container],
    groups: &[Group],
    spans: &[Span],
    banks: Banks,
) -> Option<Vec<i64>> {
    let conflicts = conflicts(groups);
    let mut order: Vec<usize> = (0..containers.len()).collect();
    let weight = |at: usize| -> i64 {
        let pairs = conflicts.iter();
        pairs
            .filter(|((one, other), _)| *one == at || *other == at)
            .map(|(_, count)| count)
            .sum()
    };
    order.sort_by_key(|at| (-weight(*at), *at));
    let mut places: Vec<Option<(i64, i64)>> = vec![None; containers.len()];
    for at in order {
        let rows = containers[at].rows(banks.dim);
        let cost = |bank: i64| -> i64 {
            let pairs = conflicts.iter();
            pairs
                .filter_map(|((one, other), count)| match (at == *one, at == *other) {
                    (true, false) => Some((*other, count)),
                    (false, true) => Some((*one, count)),
                    _ => None,
                })
                .filter(|(other, _)| places[*other].is_some_and(|(_, theirs)| theirs == bank))
                .map(|(_, count)| *count)
                .sum()
        };
        let free = |bank: i64| first_free(at, rows, bank, &places, containers, spans, banks);
        let (row, bank) = (0..banks.count)
            .filter_map(|bank| Some((cost(bank), bank, free(bank)?)))
            .min()
            .map(|(_, bank, row)| (row, bank))?;
        places[at] = Some((row, bank));
    }
    places
        .into_iter()
        .map(|place| place.map(|(row, bank)| bank * banks.rows + row))
        .collect()
}

/// Returns the first row of a bank that is free for as long as container `at` lives.
fn first_free(
    at: usize,
    rows: i64,
    bank: i64,
    places: &[Option<(i64, i64)>],
    containers: &[Container],
    spans: &[Span],
    banks: Banks,
) -> Option<i64> {
    let mut taken: Vec<(i64, i64)> = (0..containers.len())
        .filter(|other| {
            let (one, two) = (spans[at], spans[*other]);
            one.first <= two.last && two.first <= one.last
        })
        .filter_map(|other| {
            let (row, theirs) = places[other]?;
            (theirs == bank).then_some((row, row + containers[other].rows(banks.dim)))
        })
        .collect();
    taken.sort_unstable();
    let mut row = 0;
    for (start, end) in taken {
        if row + rows <= start {
            break;
        }
        row = row.max(end);
    }
    (row + rows <= banks.rows).then_some(row)
}

/// Counts how often two containers are in use at once: both operands of an
/// operation, what the next sum begins with, and where the last one goes.
fn conflicts(groups: &[Group]) -> BTreeMap<(usize, usize), i64> {
    let mut found = BTreeMap::new();
    let mut note = |one: usize, other: usize, weight: i64| {
        if one != other {
            *found.entry((one.min(other), one.max(other))).or_default() += weight;
        }
    };
    let container = |tile: &Tile| tile.container;
    for (at, group) in groups.iter().enumerate() {
        for [left, right] in &group.steps {
            note(container(left), container(right), 16);
        }
        let Some(last) = group.steps.last() else {
            continue;
        };
        let next = groups.get(at + 1);
        // The next sum's first value comes in beside the last operation.
        if let Some(first) = next.and_then(|next| next.first) {
            note(first.container, last[0].container, 8);
            note(first.container, last[1].container, 8);
        }
        // The result leaves while later groups read.
        for later in groups.iter().skip(at + 1).take(2) {
            for [left, right] in &later.steps {
                note(group.dest.container, left.container, 1);
                note(group.dest.container, right.container, 1);
            }
        }
    }
    found
}
