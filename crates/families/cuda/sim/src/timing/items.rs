//! Items that warps take from a counter: how long these are busy if each takes the next one as soon
//! as it is done. Blocks that are simulated side by side take turns by steps, not by time.

use super::places::Places;
use std::collections::HashMap;

/// Items that are remembered.
const MOST: usize = 1 << 20;

/// What warps have taken.
#[derive(Debug, Default)]
pub(super) struct Items {
    /// Of each warp of a block, the item that it has in hand, and since when.
    in_hand: HashMap<(u32, u32), (usize, f64)>,
    /// When each warp has taken its first item.
    begins: Vec<f64>,
    /// How long each item takes.
    cycles: Vec<f64>,
}

impl Items {
    /// Notes that a warp of a block takes the next item.
    pub(super) fn take(&mut self, warp: (u32, u32), now: f64) {
        if MOST <= self.cycles.len() {
            return;
        }
        match self.in_hand.insert(warp, (self.cycles.len(), now)) {
            Some((item, since)) => self.cycles[item] = now - since,
            None => self.begins.push(now),
        }
        self.cycles.push(0.0);
    }

    /// Returns the part of the time of the slowest block that passes until all items are done;
    /// `blocks` are the cycles that each takes.
    pub(super) fn level(&self, blocks: &[f64]) -> f64 {
        if self.cycles.is_empty() || MOST <= self.cycles.len() {
            return 1.0;
        }
        let mut cycles = self.cycles.clone();
        for ((block, _), (item, since)) in &self.in_hand {
            cycles[*item] = blocks.get(*block as usize).map_or(0.0, |it| it - since);
        }
        let mut places = Places::new(self.begins.iter().copied());
        cycles.iter().for_each(|it| {
            places.take(*it);
        });
        let slowest = blocks.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        (places.end() / slowest).min(1.0)
    }
}
