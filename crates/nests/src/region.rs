//! The parts of a kernel that can be carried out in several ways.

use super::code::{Element, Loop, Named, Statement};
use super::jam::Jammed;
use super::nest::Nest;
use super::tables::Counting;
use super::turn::TurnNest;
use super::wide::WideLoop;
use std::collections::BTreeMap;

/// A part of a kernel that can be carried out in several ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Region {
    /// A sum of products.
    Product(Nest),
    /// A transposition.
    Turn(TurnNest),
    /// Counters that are looked up.
    Counting(Counting),
    /// An innermost loop.
    Wide(WideLoop),
    /// A loop around another one, which may be done on vectors itself.
    Jam(Jammed, Option<WideLoop>),
}

impl Region {
    /// What kind of part it is.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Product(_) => "product",
            Self::Turn(_) => "turn",
            Self::Counting(_) => "counting",
            Self::Wide(_) | Self::Jam(_, Some(_)) => "vectors",
            Self::Jam(_, None) => "jam",
        }
    }
}

/// Returns what part a loop is, if it is one.
pub(super) fn region(outer: &Loop, names: &BTreeMap<String, Named>) -> Option<Region> {
    if let Some(nest) = Nest::read(outer, names)
        && let Some(vector) = nest.vector_loop(names)
    {
        let beside = |access: &&Element| {
            let extents = names.get(&access.name).map_or(&[][..], |it| &it.extents);
            !access.mentions(&vector.variable)
                || access.stride(&vector.variable, extents) == Some(1)
        };
        // Packing what is used once only costs.
        if nest.row_loop(vector).is_some() || nest.reads().iter().all(beside) {
            return Some(Region::Product(nest));
        }
    }
    if let Some(turn) = TurnNest::read(outer, names) {
        return Some(Region::Turn(turn));
    }
    if let Some(counting) = Counting::read(outer, names) {
        return Some(Region::Counting(counting));
    }
    if let Some(wide) = WideLoop::read(outer, names) {
        return Some(Region::Wide(wide));
    }
    let jammed = Jammed::read(outer)?;
    let inner = outer.body.iter().find_map(|it| match it {
        Statement::Loop(inner) => WideLoop::read(inner, names),
        _ => None,
    });
    Some(Region::Jam(jammed, inner))
}

/// Returns the parts of a kernel whose loops were distributed, with how often
/// each of them is run.
pub(super) fn regions(
    statements: &[Statement],
    names: &BTreeMap<String, Named>,
) -> Vec<(f64, Region)> {
    let mut found = Vec::new();
    for statement in statements {
        let Statement::Loop(inner) = statement else {
            continue;
        };
        match region(inner, names) {
            Some(region) => found.push((1.0, region)),
            None => {
                let below = regions(&inner.body, names);
                let trips = inner.trips() as f64;
                found.extend(below.into_iter().map(|(times, it)| (times * trips, it)));
            }
        }
    }
    found
}
