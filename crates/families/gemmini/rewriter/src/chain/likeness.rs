//! Statements that do the same with other operands.

use crate::graph::{Graph, Statement, View};
use std::collections::BTreeMap;

/// Statements that multiply the same matrices with different vectors.
#[derive(Clone, Debug)]
pub(super) struct Likeness {
    /// Their numbers, in the order in which they can be computed.
    pub(super) statements: Vec<usize>,
}

/// What statements that are alike have in common.
type Key = (Vec<(u32, View, [i64; 2])>, Vec<(u32, [i64; 2])>, [i64; 2]);

fn key(statement: &Statement) -> Key {
    let products = statement.products.iter();
    let addends = statement.addends.iter();
    (
        products
            .map(|one| (one.factor.to_bits(), one.left, one.right.extents))
            .collect(),
        addends
            .map(|one| (one.factor.to_bits(), one.view.extents))
            .collect(),
        statement.dest.extents,
    )
}

/// Returns all sets of statements with products that are alike.
pub(super) fn likes(graph: &Graph) -> Vec<Likeness> {
    let mut sets: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
    for (index, statement) in graph.statements.iter().enumerate() {
        if !statement.products.is_empty() {
            sets.entry(key(statement)).or_default().push(index);
        }
    }
    let mut sets: Vec<Likeness> = sets
        .into_values()
        .filter(|statements| 1 < statements.len())
        .map(|statements| Likeness { statements })
        .collect();
    sets.sort_by_key(|like| like.statements[0]);
    sets
}

/// Returns what some statements compute, and everything that depends on it.
pub(super) fn dependents(graph: &Graph, statements: &[usize]) -> Vec<View> {
    let dependencies = graph.dependencies();
    let mut reached = vec![false; graph.statements.len()];
    for statement in statements {
        reached[*statement] = true;
    }
    loop {
        let mut is_changed = false;
        for (at, needs) in dependencies.iter().enumerate() {
            if !reached[at] && needs.iter().any(|other| reached[*other]) {
                reached[at] = true;
                is_changed = true;
            }
        }
        if !is_changed {
            break;
        }
    }
    let statements = graph.statements.iter().zip(reached);
    statements
        .filter(|(_, reached)| *reached)
        .map(|(statement, _)| statement.dest)
        .collect()
}

/// Returns whether `statement` depends on any of `others`.
pub(super) fn depends(graph: &Graph, statement: usize, others: &[usize]) -> bool {
    let dependencies = graph.dependencies();
    let mut stack = dependencies[statement].clone();
    let mut seen = vec![false; graph.statements.len()];
    while let Some(at) = stack.pop() {
        if others.contains(&at) {
            return true;
        }
        if !std::mem::replace(&mut seen[at], true) {
            stack.extend(&dependencies[at]);
        }
    }
    false
}
