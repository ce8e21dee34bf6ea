//! What arrays are given, one after the other.
//!
//! An array that is stored to again after it was read has another version from then on: the
//! layers of a network take turns with two buffers, heads share one array of scores. Versions
//! that are parts of one operation, such as the rows of a product of which each block is taken
//! at once by another, become one again if no other needs them apart.

use super::contents::{Numbered, Output, Place, Store, Stored, Term};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Versions of all arrays together that are followed.
const VERSION_LIMIT: usize = 256;

const AGAIN: &str = "an array that is stored to again after it was read";

/// Everything that arrays are given.
#[derive(Clone, Debug, Default)]
pub(crate) struct Versions {
    /// The array of each, in the order in which they were begun.
    all: Vec<(usize, Stored)>,
    /// The present one of each array; none since another array began a version again.
    present: BTreeMap<usize, usize>,
}

impl Versions {
    pub(super) fn of(all: Vec<(usize, Stored)>) -> Self {
        Self {
            all,
            present: BTreeMap::new(),
        }
    }

    /// Returns all versions in order, with their arrays.
    pub(super) fn into_all(self) -> Vec<(usize, Stored)> {
        self.all
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the present version of an array.
    pub(super) fn present(&mut self, array: usize) -> Option<&mut Stored> {
        let at = self.present.get(&array)?;
        self.all.get_mut(*at).map(|(_, stored)| stored)
    }

    /// Has an array be stored to; returns whether that may be again. `now` is the number of the command.
    ///
    /// # Errors
    /// There are too many versions.
    pub(super) fn store(&mut self, array: usize, store: Store, now: usize) -> Result<bool, String> {
        if let Some(present) = self.present(array) {
            let is_other = present.store != store;
            if !is_other && present.read.is_none() {
                present.last = now;
                let mut all = self.all.iter().filter(|(other, _)| *other == array);
                return Ok(all.nth(1).is_some());
            }
            if VERSION_LIMIT <= self.all.len() {
                return Err(match is_other {
                    true => "an array that is stored to in two ways".to_owned(),
                    false => AGAIN.to_owned(),
                });
            }
            // What others are given from now on may be made of the new elements.
            self.present.clear();
        }
        self.present.insert(array, self.all.len());
        let new = Stored {
            store,
            outputs: Vec::new(),
            first: now,
            last: now,
            read: None,
        };
        let was_known = self.all.iter().any(|(other, _)| *other == array);
        self.all.push((array, new));
        Ok(was_known)
    }

    /// Returns all versions in order, those that can be together as one. Of rows that a version
    /// is given several times, the last one counts: nothing reads it in between.
    ///
    /// # Errors
    /// One that reads what it stores itself, and one that is stored to again in part.
    pub(super) fn joined(
        self,
        numbered: &Numbered,
        element: u64,
    ) -> Result<Vec<(usize, Stored)>, String> {
        let arrays: BTreeSet<usize> = self.all.iter().map(|it| it.0).collect();
        let mut versions = self.all;
        for (_, stored) in &mut versions {
            stored.keep_last();
            let outputs = stored.outputs.iter();
            let mut places: Vec<_> = outputs
                .map(|it| place(it, &stored.store, element))
                .collect();
            places.sort_unstable();
            if places.windows(2).any(|two| two[1].0 < two[0].1) {
                return Err("elements that are stored again in another row of a tile".to_owned());
            }
        }
        if arrays.len() == versions.len() {
            return Ok(versions);
        }
        let mut kept: Vec<(usize, Stored, Touched)> = Vec::new();
        for (array, mut stored) in versions {
            let touched = Touched::of(&stored, numbered, element);
            let place = kept
                .iter()
                .rposition(|(other, ..)| *other == array)
                .filter(|at| {
                    kept[*at].1.store == stored.store
                        && kept[*at..].iter().all(|it| !touched.hinders(&it.2))
                });
            let Some(at) = place else {
                kept.push((array, stored, touched));
                continue;
            };
            let (_, whole, all) = &mut kept[at];
            whole.outputs.append(&mut stored.outputs);
            whole.last = stored.last;
            all.join(touched);
        }
        if kept.iter().any(|(.., touched)| touched.hinders_itself()) {
            return Err(AGAIN.to_owned());
        }
        Ok(kept
            .into_iter()
            .map(|(array, stored, _)| (array, stored))
            .collect())
    }
}

/// Stretches of memory, in order and apart.
#[derive(Debug, Default)]
struct Stretches(Vec<(u64, u64)>);

impl Stretches {
    fn of(mut all: Vec<(u64, u64)>) -> Self {
        all.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for (start, end) in all {
            match joined.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => joined.push((start, end)),
            }
        }
        Self(joined)
    }

    fn meets(&self, other: &Self) -> bool {
        let (mut ours, mut others) = (self.0.iter().peekable(), other.0.iter().peekable());
        while let (Some(one), Some(two)) = (ours.peek(), others.peek()) {
            if one.0 < two.1 && two.0 < one.1 {
                return true;
            }
            if one.1 <= two.1 {
                ours.next();
            } else {
                others.next();
            }
        }
        false
    }

    fn join(&mut self, other: Self) {
        let mut all = std::mem::take(&mut self.0);
        all.extend(other.0);
        *self = Self::of(all);
    }
}

/// The memory that a version is made of.
#[derive(Debug)]
struct Touched {
    written: Stretches,
    read: Stretches,
}

impl Touched {
    fn of(stored: &Stored, numbered: &Numbered, element: u64) -> Self {
        let mut read = Vec::new();
        let mut seen = HashSet::new();
        let mut written = Vec::new();
        for output in &stored.outputs {
            written.push(place(output, &stored.store, element));
            read.extend(output.addends.iter().map(addend_place));
            for term in &output.terms {
                if seen.insert(term.weights) {
                    read.extend(weights_places(term, numbered, element));
                }
                read.push(input_place(term, numbered, element));
            }
        }
        Self {
            written: Stretches::of(written),
            read: Stretches::of(read),
        }
    }

    /// Returns whether a version cannot be brought forward to another one or before it.
    fn hinders(&self, other: &Self) -> bool {
        self.written.meets(&other.written)
            || self.written.meets(&other.read)
            || self.read.meets(&other.written)
    }

    fn hinders_itself(&self) -> bool {
        self.written.meets(&self.read)
    }

    fn join(&mut self, other: Self) {
        self.written.join(other.written);
        self.read.join(other.read);
    }
}

/// Returns where an output lies in memory.
fn place(output: &Output, store: &Store, element: u64) -> (u64, u64) {
    let width = if store.full_width { 4 } else { element };
    let end = output
        .address
        .saturating_add(u64::from(output.columns) * width);
    (output.address, end)
}

/// Stretches of memory that other elements were stored to, and when.
#[derive(Debug, Default)]
pub(super) struct Rewritten {
    /// End, and the number of the last command, by the start.
    stretches: BTreeMap<u64, (u64, usize)>,
    last: usize,
}

impl Rewritten {
    /// Notes that `bytes` at an address were stored to by command `now`.
    pub(super) fn note(&mut self, address: u64, bytes: u64, now: usize) {
        let (mut start, mut end) = (address, address + bytes);
        while let Some((other, (until, _))) = self.stretches.range(..end).next_back() {
            if *until <= start {
                break;
            }
            (start, end) = (start.min(*other), end.max(*until));
            let other = *other;
            self.stretches.remove(&other);
        }
        self.stretches.insert(start, (end, now));
        self.last = now;
    }

    /// Returns whether anything was stored to since command `then`.
    fn is_any(&self, then: usize) -> bool {
        then < self.last
    }

    /// Returns whether memory was stored to since command `then`.
    fn is_within(&self, (start, end): (u64, u64), then: usize) -> bool {
        let mut before = self.stretches.range(..end).rev();
        before
            .find(|(_, (until, when))| start < *until && then < *when || *until <= start)
            .is_some_and(|(_, (until, _))| start < *until)
    }

    /// Checks that what came in by command `then` at the latest is in memory still.
    ///
    /// # Errors
    /// It is not.
    pub(super) fn check(
        &self,
        then: usize,
        (addends, terms): (&[Place], &[Term]),
        numbered: &Numbered,
        element: u64,
    ) -> Result<(), String> {
        if !self.is_any(then) {
            return Ok(());
        }
        let mut read = Vec::new();
        for addend in addends {
            read.push(addend_place(addend));
        }
        for term in terms {
            read.extend(weights_places(term, numbered, element));
            read.push(input_place(term, numbered, element));
        }
        match read.iter().any(|place| self.is_within(*place, then)) {
            true => Err("what came in is used after it was stored to in memory".to_owned()),
            false => Ok(()),
        }
    }
}

/// Returns where an addend lies in memory.
fn addend_place(addend: &Place) -> (u64, u64) {
    let bytes = u64::from(addend.columns) * u64::from(addend.width);
    (addend.address, addend.address.saturating_add(bytes))
}

/// Returns where the input of a product lies in memory.
fn input_place(term: &Term, numbered: &Numbered, element: u64) -> (u64, u64) {
    let rows = u64::from(numbered.weights[term.weights as usize].rows.max(1)) - 1;
    let step = numbered.forms[term.form as usize].step;
    let end = term
        .input
        .saturating_add(rows.saturating_mul(step) + element);
    (term.input, end)
}

/// Returns where rows of the weights of a product lie in memory.
fn weights_places(
    term: &Term,
    numbered: &Numbered,
    element: u64,
) -> impl Iterator<Item = (u64, u64)> {
    let tile = numbered.weights[term.weights as usize];
    let columns = u64::from(tile.columns.max(1)) - 1;
    let bytes = columns.saturating_mul(tile.across) + element;
    (0..u64::from(tile.rows.max(1))).map(move |row| {
        let start = tile.address.wrapping_add(row.wrapping_mul(tile.pitch));
        (start, start.saturating_add(bytes))
    })
}
