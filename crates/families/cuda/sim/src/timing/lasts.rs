//! Blocks that go on when all others have come: the last one to change a counter does what the
//! others leave to it.

use super::places::Places;
use crate::machine::Access;
use std::collections::HashMap;

/// Changes of words by blocks that are remembered; words that come later are not looked at.
const MOST: usize = 1 << 20;

/// A block that has changed a word.
#[derive(Clone, Debug)]
struct Change {
    /// How many blocks had before.
    rank: u32,
    /// The steps that looked at what the word held, and the time of their warp then, at last.
    seen: Vec<(usize, f64)>,
}

impl Change {
    fn look(&mut self, at: usize, cycles: f64) {
        match self.seen.iter_mut().find(|it| it.0 == at) {
            Some(seen) => seen.1 = cycles,
            None => {
                self.seen.reserve_exact(1);
                self.seen.push((at, cycles));
            }
        }
    }
}

/// Words that blocks change and look at.
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
    /// The step that looks at the word.
    pub(super) at: usize,
    /// The part of what it does behind the change that others do not do.
    pub(super) alone: f64,
    /// The part of the time of all others that has passed when it knows of those before it.
    pub(super) behind: f64,
}

impl Last {
    /// Returns whether a block comes to the word here, behind which it goes on alone.
    pub(super) fn is_at(&self, block: u32, at: usize, access: &Access<'_>) -> bool {
        (block, at) == (self.block, self.at) && words(access).any(|it| it == self.word)
    }
}

/// Returns the words of the threads of an access.
fn words(access: &Access<'_>) -> impl Iterator<Item = u64> {
    let lanes = (0..32).filter(|lane| access.lanes >> lane & 1 == 1);
    lanes.map(|lane| access.addresses[lane] / 4)
}

/// A block that looks at a word, and what it does then.
struct Visit {
    block: u32,
    rank: u32,
    /// When it does so.
    time: f64,
    /// Cycles that it goes on.
    after: f64,
}

impl Changes {
    /// Notes that a block changes words atomically in the step `at`; `is_seen` says that it looks
    /// at what they held.
    pub(super) fn note(
        &mut self,
        (block, at): (u32, usize),
        access: &Access<'_>,
        cycles: f64,
        is_seen: bool,
    ) {
        for word in words(access) {
            if MOST <= self.changes.len() && !self.blocks.contains_key(&word) {
                continue;
            }
            let blocks = &mut self.blocks;
            let change = self.changes.entry((word, block)).or_insert_with(|| {
                let count = blocks.entry(word).or_default();
                *count += 1;
                Change {
                    rank: *count - 1,
                    seen: Vec::new(),
                }
            });
            if is_seen {
                change.look(at, cycles);
            }
        }
    }

    /// Notes that a block reads words that others may change meanwhile.
    pub(super) fn look(&mut self, (block, at): (u32, usize), access: &Access<'_>, cycles: f64) {
        for word in words(access) {
            if let Some(change) = self.changes.get_mut(&(word, block)) {
                change.look(at, cycles);
            }
        }
    }

    /// Returns the block that makes all wait longest, if one has more to do than half of those
    /// that change the same word; `cycles` are those that each block takes, of which so many run
    /// at once, and what a word holds is known after `latency`.
    pub(super) fn last(&self, cycles: &[f64], at_once: u32, latency: f64) -> Option<Last> {
        let mut places = Places::new((0..at_once).map(|_| 0.0));
        let begins: Vec<f64> = cycles.iter().map(|it| places.take(*it)).collect();
        let end = |block: u32| begins[block as usize] + cycles[block as usize];
        let all = 0..cycles.len() as u32;
        let slowest = all.clone().max_by(|a, b| end(*a).total_cmp(&end(*b)))?;
        let others = all.filter(|it| *it != slowest).map(end);
        let ends_of_others = others.fold(0.0, f64::max);
        let mut visits: HashMap<(u64, usize), Vec<Visit>> = HashMap::new();
        for ((word, block), change) in &self.changes {
            for (at, since) in &change.seen {
                visits.entry((*word, *at)).or_default().push(Visit {
                    block: *block,
                    rank: change.rank,
                    time: begins[*block as usize] + since,
                    after: (cycles[*block as usize] - since).max(0.0),
                });
            }
        }
        let mut longest: Option<(f64, Last)> = None;
        for ((word, at), mut found) in visits {
            let count = found.len();
            if count < 2 {
                continue;
            }
            found.sort_by(|a, b| a.after.total_cmp(&b.after).then(a.block.cmp(&b.block)));
            // Of two blocks, one is the usual one.
            let usual = found[if count == 2 { 0 } else { count / 2 }].after;
            let mut times: Vec<f64> = found.iter().map(|it| it.time).collect();
            times.sort_by(f64::total_cmp);
            for visit in found {
                let more = visit.after - usual;
                // The others of before have come by then.
                let come = times[(visit.rank as usize).min(count - 1)].max(visit.time);
                let own = end(visit.block) - more;
                let all = match visit.block == slowest {
                    true => ends_of_others.max(own),
                    false => end(slowest),
                };
                let last = Last {
                    block: visit.block,
                    word,
                    at,
                    alone: more / visit.after.max(f64::MIN_POSITIVE),
                    behind: ((come + latency) / all).min(1.0),
                };
                let order = |value: f64, it: &Last| (value * it.behind, it.word, it.at, it.block);
                let is_longer = longest.is_none_or(|(before, it)| {
                    let (new, old) = (order(more, &last), order(before, &it));
                    new.0
                        .total_cmp(&old.0)
                        .then((new.1, new.2).cmp(&(old.1, old.2)))
                        .is_gt()
                });
                if 0.0 < more && 0 < visit.rank && is_longer {
                    longest = Some((more, last));
                }
            }
        }
        longest.map(|it| it.1)
    }
}
