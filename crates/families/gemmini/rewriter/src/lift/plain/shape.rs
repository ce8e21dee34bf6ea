//! The dimensions of an array, as the addresses in it tell.

use super::affine::{Affine, Counters};
use super::node::Element;
use crate::memory::Memory;
use std::collections::BTreeSet;

/// Returns the extents of an array, outermost first: those that it is declared with, and those
/// that loops walk through. Nothing if they do not fit each other, or its size is not known.
pub(super) fn of<'seen>(
    memory: &Memory,
    addresses: impl Iterator<Item = &'seen Affine>,
    counters: &Counters,
) -> Option<Vec<i64>> {
    let width = memory.element;
    let mut end = 0;
    let mut steps: BTreeSet<(i64, i64)> = BTreeSet::new();
    for address in addresses {
        let (_, offset) = Memory::of(address.constant as u64)?;
        let [_, most] = counters.range(address);
        let most = i64::try_from(most - i128::from(address.constant)).ok()? + offset;
        end = end.max(most / width + 1);
        for (counter, factor) in &address.terms {
            if factor % width != 0 {
                return None;
            }
            steps.insert((factor.abs() / width, counters.extent(*counter)));
        }
    }
    // Elements between neighbours of each dimension, the innermost first.
    let mut pitches: BTreeSet<i64> = BTreeSet::from([1]);
    let mut inner = 1;
    for extent in memory.extents.iter().skip(1).rev() {
        inner *= extent;
        pitches.insert(inner);
    }
    for (step, _) in &steps {
        // Steps over several elements of a dimension that others walk through one by one.
        let is_within = |(other, extent): &(i64, i64)| {
            other < step && step % other == 0 && *step <= other * (extent - 1)
        };
        if !steps.iter().any(is_within) {
            pitches.insert(*step);
        }
    }
    let whole = match memory.bytes() {
        Some(bytes) => bytes / width,
        None => end,
    };
    let pitches: Vec<i64> = pitches.into_iter().collect();
    let mut extents = Vec::new();
    for (at, pitch) in pitches.iter().enumerate() {
        extents.push(match pitches.get(at + 1) {
            Some(next) if next % pitch != 0 => return None,
            Some(next) => next / pitch,
            None => (whole + pitch - 1) / pitch,
        });
    }
    extents.reverse();
    (0 < whole && extents.iter().all(|extent| 0 < *extent)).then_some(extents)
}

/// Returns the index in each dimension of an array; nothing if they cannot be told apart.
pub(super) fn indices(
    address: &Affine,
    element: Element,
    extents: &[i64],
    counters: &Counters,
) -> Option<Vec<Affine>> {
    let width = element.bytes();
    let (_, offset) = Memory::of(address.constant as u64)?;
    let mut rest = Affine::of(offset / width);
    for (counter, factor) in &address.terms {
        if factor % width != 0 {
            return None;
        }
        rest = rest.plus(&Affine::counter(*counter), factor / width);
    }
    let mut found = Vec::new();
    for dim in 0..extents.len() {
        let inner: i64 = extents[dim + 1..].iter().product();
        let [index, left] = counters.divided(&rest, inner).ok()?;
        found.push(index);
        rest = left;
    }
    Some(found)
}

/// Returns the number of the element with some indices, outermost first.
pub(super) fn number(indices: &[&Affine], extents: &[i64]) -> Affine {
    let mut number = Affine::of(0);
    let mut inner = 1;
    for (index, extent) in indices.iter().zip(extents).rev() {
        number = number.plus(index, inner);
        inner *= extent;
    }
    number
}

/// Returns the address of the element with some indices, outermost first.
pub(super) fn address(
    array: usize,
    indices: &[&Affine],
    extents: &[i64],
    element: Element,
) -> Affine {
    Affine::of(Memory::base(array) as i64).plus(&number(indices, extents), element.bytes())
}

/// Returns an address by counters that go over all elements of an array, one of whose elements
/// has the indices `place`; nothing if it depends on more than that.
pub(super) fn everywhere(address: &Affine, place: &[Affine], whole: &[Affine]) -> Option<Affine> {
    let mut all = address.clone();
    for counter in address.counters() {
        let dim = place.iter().position(|it| it.factor(counter) == 1)?;
        let first = place[dim].without(counter).known()?;
        all = all.with(counter, &whole[dim].plus(&Affine::of(first), -1));
    }
    Some(all)
}

/// Returns the address in a place of what has an address by counters that go over all elements.
pub(super) fn at(everywhere: &Affine, place: &[Affine], whole: &[Affine]) -> Affine {
    let mut address = everywhere.clone();
    for (index, counter) in place.iter().zip(whole) {
        for own in counter.counters() {
            address = address.without(own).plus(index, everywhere.factor(own));
        }
    }
    address
}
