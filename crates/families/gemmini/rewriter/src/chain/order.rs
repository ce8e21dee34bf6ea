//! In which order the array computes groups: whoever waits longest for what
//! comes behind it goes first, and others fill the gaps.
//!
//! The model: an operation takes as many cycles as the array has rows, in order;
//! a result can be taken up some cycles behind the last operation of its group
//! ([`ChainCosts`]).

use super::tiles::{Group, Lowered, Tile};
use crate::costs::ChainCosts;
use std::collections::BTreeMap;

/// Choices of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taste {
    /// Cycles that others may hold up who waits longest.
    pub(super) slack: i64,
    /// Groups that hold up nobody: 0 as soon as possible, 1 as late as possible.
    pub(super) late: bool,
}

/// An order, and what the model says of it.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// Groups in order, each with its operations in order.
    pub(super) groups: Vec<Group>,
    pub(super) cycles: i64,
}

/// A group that is in order already.
#[derive(Clone, Copy)]
struct Done {
    /// The cycle in which its last operation ends.
    end: i64,
    /// Operations up to and with its last.
    behind: usize,
}

/// What an operation waits for.
#[derive(Default)]
struct Needs {
    /// Groups, and whether their results begin where the operand begins.
    results: Vec<(usize, bool)>,
    /// Cycle at which what it takes from memory has come in.
    loaded: i64,
}

impl Needs {
    /// Returns when everything is there.
    fn ready(&self, done: &[Option<Done>], latency: i64) -> i64 {
        let results = self.results.iter().filter_map(|(other, _)| done[*other]);
        results
            .map(|other| other.end + latency)
            .chain([self.loaded])
            .max()
            .unwrap_or(0)
    }
}

struct Node {
    /// What the sum begins with, as an operation's operands.
    first: Needs,
    steps: Vec<Needs>,
    length: i64,
    /// Cycles from its beginning to the end of everything that waits for it.
    urgency: i64,
}

impl Node {
    fn needs(&self) -> impl Iterator<Item = (usize, bool)> {
        let steps = self.steps.iter().chain([&self.first]);
        steps.flat_map(|step| step.results.iter().copied())
    }
}

/// Finds an order; `None` if results that belong together cannot be kept apart.
pub(super) fn order(
    lowered: &Lowered,
    (dim, costs): (i64, &ChainCosts),
    taste: Taste,
) -> Option<Order> {
    let latency = costs.result_cycles + 3 * dim;
    let apart = [costs.operations_apart, costs.operations_apart_settled];
    let mut nodes = nodes(lowered, dim, costs);
    for at in (0..nodes.len()).rev() {
        let after = (0..nodes.len())
            .filter(|other| nodes[*other].needs().any(|one| one.0 == at))
            .map(|other| nodes[other].urgency + latency)
            .max();
        nodes[at].urgency = nodes[at].length + after.unwrap_or(0);
    }
    let mut done: Vec<Option<Done>> = vec![None; nodes.len()];
    let mut settled = 0;
    let mut order = Vec::new();
    let (mut now, mut operations) = (0, 0);
    while order.len() < nodes.len() {
        let is_turned = |at: usize| lowered.groups[at].is_turned;
        // All groups of one configuration come before those of the other.
        let pending_turned = (0..nodes.len()).any(|at| done[at].is_none() && is_turned(at));
        let mut best: Option<(i64, i64, usize)> = None;
        let mut urgent: Option<(i64, i64, usize)> = None;
        for at in 0..nodes.len() {
            if done[at].is_some() || pending_turned != is_turned(at) {
                continue;
            }
            let Some(start) = start(
                &nodes[at],
                &done,
                [now, dim, latency],
                [operations, settled],
                apart,
            ) else {
                continue;
            };
            let urgency = nodes[at].urgency;
            let key = (start, -urgency, at);
            if urgent.is_none_or(|other| (-urgency, start) < (other.1, other.0)) {
                urgent = Some(key);
            }
            best = Some(best.map_or(key, |other| other.min(key)));
        }
        let (_, _, mut next) = urgent?;
        let (wait, ..) = urgent?;
        // Something else fits before whoever waits longest.
        let fitting = (0..nodes.len())
            .filter(|at| done[*at].is_none() && pending_turned == is_turned(*at) && *at != next)
            .filter_map(|at| {
                let start = start(
                    &nodes[at],
                    &done,
                    [now, dim, latency],
                    [operations, settled],
                    apart,
                )?;
                let node = &nodes[at];
                let fits = start + node.length <= wait + taste.slack;
                let idle = taste.late && node.urgency == node.length;
                (fits && start < wait && !idle).then_some((start, -node.urgency, at))
            })
            .min();
        if let Some((_, _, at)) = fitting {
            next = at;
        }
        let node = &nodes[next];
        let mut steps: Vec<usize> = (0..node.steps.len()).collect();
        steps.sort_by_key(|step| node.steps[*step].ready(&done, latency));
        let begin = start(
            node,
            &done,
            [now, dim, latency],
            [operations, settled],
            apart,
        )?;
        now = begin;
        for step in &steps {
            now = now.max(node.steps[*step].ready(&done, latency)) + dim;
        }
        operations += steps.len();
        for (other, is_whole) in node.needs() {
            if let Some(other) = done[other].filter(|_| is_whole) {
                settled = settled.max(other.behind);
            }
        }
        done[next] = Some(Done {
            end: now,
            behind: operations,
        });
        let mut group = lowered.groups[next].clone();
        group.steps = steps
            .iter()
            .map(|step| lowered.groups[next].steps[*step])
            .collect();
        order.push(group);
    }
    let end = done.iter().flatten().map(|one| one.end).max().unwrap_or(0);
    Some(Order {
        groups: order,
        cycles: end + latency + costs.last_store_cycles,
    })
}

/// Returns when a group can begin so that it need not wait in between; `None` if
/// something it takes is not computed yet, or too little lies in between.
fn start(
    node: &Node,
    done: &[Option<Done>],
    [now, dim, latency]: [i64; 3],
    [operations, settled]: [usize; 2],
    apart: [usize; 2],
) -> Option<i64> {
    for (other, is_whole) in node.needs() {
        let behind = done[other]?.behind;
        let apart = apart[usize::from(behind <= settled)];
        if !is_whole && operations < behind + apart {
            return None;
        }
    }
    let steps = node.steps.iter();
    let mut times: Vec<i64> = steps.map(|step| step.ready(done, latency)).collect();
    times.sort_unstable();
    let mut begin = now.max(node.first.ready(done, latency));
    for (at, time) in times.iter().enumerate() {
        begin = begin.max(time - at as i64 * dim);
    }
    Some(begin)
}

fn nodes(lowered: &Lowered, dim: i64, costs: &ChainCosts) -> Vec<Node> {
    let mut writers: BTreeMap<(usize, i64), (usize, i64)> = BTreeMap::new();
    for (at, group) in lowered.groups.iter().enumerate() {
        for row in 0..group.dest.rows {
            let place = (group.dest.container, group.dest.row + row);
            writers.insert(place, (at, group.dest.row));
        }
    }
    let mut arrival: BTreeMap<(usize, i64), i64> = BTreeMap::new();
    let mut time = costs.first_load_cycles;
    for load in &lowered.loads {
        time += load.tile.rows.max(costs.least_load_rows) + costs.load_cycles;
        for row in rows(load.tile, dim) {
            arrival.insert((load.tile.container, row), time);
        }
    }
    let of = |tile: &Tile| -> Vec<(usize, bool)> {
        let mut found: Vec<(usize, bool)> = (0..tile.rows)
            .filter_map(|row| writers.get(&(tile.container, tile.row + row)))
            .map(|(group, first)| (*group, *first == tile.row))
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    };
    let come = |tile: &Tile| {
        (0..tile.rows)
            .filter_map(|row| arrival.get(&(tile.container, tile.row + row)))
            .max()
            .copied()
            .unwrap_or(0)
    };
    let needs = |tiles: &[Tile]| Needs {
        results: tiles.iter().flat_map(of).collect(),
        loaded: tiles.iter().map(come).max().unwrap_or(0),
    };
    let node = |group: &Group| Node {
        first: needs(group.first.as_slice()),
        steps: group.steps.iter().map(|step| needs(step)).collect(),
        length: group.steps.len() as i64 * dim,
        urgency: 0,
    };
    lowered.groups.iter().map(node).collect()
}

/// Returns the rows of local memory that a move touches.
pub(super) fn rows(tile: Tile, dim: i64) -> Vec<i64> {
    let across = (tile.extents[1] + dim - 1) / dim;
    (0..across)
        .flat_map(|block| (0..tile.rows).map(move |row| tile.row + block * dim + row))
        .collect()
}
