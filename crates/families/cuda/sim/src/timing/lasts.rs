//! Blocks that go on when all others have come: the last one to change a counter does what the
//! others leave to it.

use crate::machine::Access;
use std::collections::HashMap;

/// Changes of words by blocks that are remembered; words that come later are not looked at.
const MOST: usize = 1 << 20;

/// A block that has changed a word for the first time.
#[derive(Clone, Copy, Debug)]
struct Change {
    /// How many blocks had before.
    rank: u32,
    /// The time of its warp then.
    cycles: f64,
}

/// Words that blocks change and look at: when each block did so first.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Of each word, how many blocks.
    blocks: HashMap<u64, u32>,
    changes: HashMap<(u64, u32), Change>,
}

/// A block that has more to do than others behind the change of a word that they all make.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Last {
    pub(super) block: u32,
    pub(super) word: u64,
    /// The part of what it does behind the change that others do not do.
    pub(super) alone: f64,
    /// The part of all blocks that change the word that must have done so before.
    pub(super) behind: f64,
}

impl Last {
    /// Returns whether a block comes to the word here, behind which it goes on alone.
    pub(super) fn is_at(&self, block: u32, access: &Access<'_>) -> bool {
        access.atomic && block == self.block && word(access) == self.word
    }
}

/// Returns the word of the first thread of an access.
fn word(access: &Access<'_>) -> u64 {
    access.first() / 4
}

impl Changes {
    /// Notes that a block changes a word atomically and looks at what it held.
    pub(super) fn note(&mut self, block: u32, access: &Access<'_>, cycles: f64) {
        let word = word(access);
        if MOST <= self.changes.len() && !self.blocks.contains_key(&word) {
            return;
        }
        let blocks = &mut self.blocks;
        self.changes.entry((word, block)).or_insert_with(|| {
            let count = blocks.entry(word).or_default();
            *count += 1;
            let rank = *count - 1;
            Change { rank, cycles }
        });
    }

    /// Returns the block that makes all wait longest, if one has more to do than half of those
    /// that change the same word; `ends` are the cycles that each block takes.
    pub(super) fn last(&self, ends: &[f64]) -> Option<Last> {
        let mut words: HashMap<u64, Vec<(u32, u32, f64)>> = HashMap::new();
        for ((word, block), change) in &self.changes {
            if 1 < self.blocks.get(word).copied().unwrap_or(0) {
                let end = ends.get(*block as usize).copied().unwrap_or(0.0);
                let after = (end - change.cycles).max(0.0);
                let found = words.entry(*word).or_default();
                found.push((change.rank, *block, after));
            }
        }
        let mut longest: Option<(f64, Last)> = None;
        for (word, mut found) in words {
            let count = found.len();
            let middle = count / 2;
            found.sort_by(|a, b| a.2.total_cmp(&b.2).then(a.1.cmp(&b.1)));
            let usual = found.get(middle).map_or(0.0, |it| it.2);
            // Of two blocks, one is the usual one.
            let usual = if count == 2 { found[0].2 } else { usual };
            for (rank, block, after) in found {
                let more = after - usual;
                let behind = f64::from(rank) / (count - 1) as f64;
                let last = Last {
                    block,
                    word,
                    alone: more / after.max(f64::MIN_POSITIVE),
                    behind,
                };
                let order = |value: f64, it: &Last| (value * it.behind, it.word, it.block);
                let is_longer = longest.is_none_or(|(before, it)| {
                    let (new, old) = (order(more, &last), order(before, &it));
                    new.0.total_cmp(&old.0).then(new.1.cmp(&old.1)).is_gt()
                });
                if 0.0 < more && 0 < rank && is_longer {
                    longest = Some((more, last));
                }
            }
        }
        longest.map(|it| it.1)
    }
}
