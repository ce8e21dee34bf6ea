//! Sets of local-memory rows, computed exactly by enumeration.

use crate::affine::Affine;
use crate::tree::Site;
use std::collections::BTreeSet;

/// The most combinations of loop variables that are enumerated for one group of terms.
const COMBINATION_LIMIT: i64 = 1 << 16;
/// The most different offsets of one access.
const OFFSET_LIMIT: usize = 1 << 15;

/// A set of rows of one memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowSet {
    words: Vec<u64>,
}

impl RowSet {
    /// Returns the empty set for a memory of `rows` rows.
    #[must_use]
    pub fn empty(rows: i64) -> Self {
        let words = usize::try_from(rows.max(0)).unwrap_or(0).div_ceil(64);
        Self {
            words: vec![0; words],
        }
    }

    /// Adds a row.
    pub fn insert(&mut self, row: usize) {
        if let Some(word) = self.words.get_mut(row / 64) {
            *word |= 1 << (row % 64);
        }
    }

    /// Adds the rows of `other`.
    pub fn extend(&mut self, other: &Self) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word |= other;
        }
    }

    /// Returns whether the sets share a row.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).any(|(a, b)| a & b != 0)
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn count(&self) -> i64 {
        self.words
            .iter()
            .map(|word| i64::from(word.count_ones()))
            .sum()
    }

    /// Iterates over the rows in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let words = self.words.iter().enumerate();
        words.flat_map(|(idx, word)| {
            let left = std::iter::successors(Some(*word), |left| Some(left & (left - 1)));
            let left = left.take(word.count_ones() as usize);
            left.map(move |left| idx * 64 + left.trailing_zeros() as usize)
        })
    }

    /// Returns the lowest row that is not below `row`.
    fn from(&self, row: usize) -> Option<usize> {
        let first = self.words.get(row / 64)? & (!0 << (row % 64));
        let others = self.words.iter().skip(row / 64 + 1);
        let mut words = std::iter::once(&first).chain(others).zip(row / 64..);
        let (word, idx) = words.find(|(word, _)| **word != 0)?;
        Some(idx * 64 + word.trailing_zeros() as usize)
    }

    /// Returns which parts of the memory, `length` rows each, hold any of the rows, a bit for each;
    /// the highest bit stands for all parts from the 64th on.
    #[must_use]
    pub fn parts(&self, length: usize) -> u64 {
        let (mut parts, mut next) = (0, 0);
        while let Some(row) = self.from(next) {
            let part = row / length;
            parts |= 1 << part.min(63);
            next = (part + 1) * length;
        }
        parts
    }

    /// Returns the lowest row.
    #[must_use]
    pub fn first(&self) -> Option<i64> {
        self.from(0).map(|row| row as i64)
    }

    /// Returns the highest row.
    #[must_use]
    pub fn last(&self) -> Option<i64> {
        let idx = self.words.iter().rposition(|word| *word != 0)?;
        Some(idx as i64 * 64 + 63 - i64::from(self.words[idx].leading_zeros()))
    }

    /// Returns the set moved by `delta` rows; `None` if a row would leave the memory of `rows` rows.
    #[must_use]
    pub fn shifted(&self, delta: i64, rows: i64) -> Option<Self> {
        let (Some(first), Some(last)) = (self.first(), self.last()) else {
            return Some(self.clone());
        };
        if first + delta < 0 || rows <= last + delta {
            return None;
        }
        let mut moved = Self {
            words: vec![0; self.words.len()],
        };
        let (word_delta, bit_delta) = (delta.div_euclid(64), delta.rem_euclid(64));
        for (idx, word) in self.words.iter().enumerate() {
            if *word == 0 {
                continue;
            }
            let target = idx as i64 + word_delta;
            let mut put = |position: i64, bits: u64| {
                if bits != 0
                    && let Some(word) = usize::try_from(position)
                        .ok()
                        .and_then(|idx| moved.words.get_mut(idx))
                {
                    *word |= bits;
                }
            };
            put(target, word << bit_delta);
            if 0 < bit_delta {
                put(target + 1, word >> (64 - bit_delta));
            }
        }
        Some(moved)
    }
}

/// Returns every value that `expression` takes at `site`; `None` if there are
/// too many or a variable is unknown.
#[must_use]
pub fn values(expression: &Affine, site: &Site<'_>) -> Option<BTreeSet<i64>> {
    let mut offsets = BTreeSet::from([expression.constant_part()]);
    for (names, part) in expression.groups() {
        let part_values = group_values(&names, &part, site)?;
        let mut sums = BTreeSet::new();
        for offset in &offsets {
            for value in &part_values {
                sums.insert(offset.checked_add(*value)?);
            }
            if OFFSET_LIMIT < sums.len() {
                return None;
            }
        }
        offsets = sums;
    }
    Some(offsets)
}

fn group_values(names: &[String], part: &Affine, site: &Site<'_>) -> Option<BTreeSet<i64>> {
    let loops = names
        .iter()
        .map(|name| site.enclosing(name))
        .collect::<Option<Vec<_>>>()?;
    let mut combinations = 1i64;
    for inner in &loops {
        combinations = combinations.checked_mul(inner.trips())?;
        if COMBINATION_LIMIT < combinations {
            return None;
        }
    }
    // Only conditions that these variables decide alone.
    let conditions: Vec<_> = site
        .conditions
        .iter()
        .flat_map(|(_, condition)| condition.conjuncts())
        .filter(|condition| {
            let mut mentioned = Vec::new();
            condition.collect_variables(&mut mentioned);
            mentioned.iter().all(|name| names.contains(name))
        })
        .collect();
    let mut found = BTreeSet::new();
    let mut current: Vec<i64> = loops.iter().map(|inner| inner.start).collect();
    for _ in 0..combinations {
        let value_of = |name: &str| {
            names
                .iter()
                .position(|other| other == name)
                .map(|idx| current[idx])
        };
        let runs = conditions
            .iter()
            .all(|condition| condition.evaluate(&value_of) != Some(false));
        if runs {
            found.insert(part.evaluate(&value_of)?);
        }
        for (value, inner) in current.iter_mut().zip(&loops) {
            *value += inner.step;
            if *value < inner.end {
                break;
            }
            *value = inner.start;
        }
    }
    Some(found)
}
