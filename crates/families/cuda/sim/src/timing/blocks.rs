//! Which blocks of a launch stand for all, and how the work of all lies on the SMs.

use crate::machine::{Access, Observer};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// Counts the steps of each block.
#[derive(Default)]
pub(super) struct BlockSteps {
    steps: Vec<u64>,
}

/// What blocks that were traced stand for, as factors of the sum over them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    /// The work of all blocks.
    pub(super) all: f64,
    /// The work of the SM that has most.
    pub(super) busiest: f64,
    /// How long the blocks that follow each other in one place take, in those of the mean
    /// traced block.
    pub(super) rounds: f64,
}

impl BlockSteps {
    /// Returns what the blocks of these numbers stand for, of `blocks`, where `resident` of
    /// them are on each SM at once. Each takes its place as soon as one is free.
    pub(super) fn share(&self, numbers: &[u32], blocks: u32, (sms, resident): (u32, u32)) -> Share {
        let steps = |number: u32| self.steps.get(number as usize).copied().unwrap_or(1).max(1);
        let traced: u64 = numbers.iter().map(|it| steps(*it)).sum();
        let all: u64 = match self.steps.is_empty() {
            true => blocks.into(),
            false => (0..blocks).map(steps).sum(),
        };
        let mut free: BinaryHeap<Reverse<(u64, u32, u32)>> = (0..resident)
            .flat_map(|place| (0..sms).map(move |sm| Reverse((0, place, sm))))
            .collect();
        let mut load = vec![0_u64; sms as usize];
        let mut last = 0;
        for number in 0..blocks {
            let Some(Reverse((time, place, sm))) = free.pop() else {
                break;
            };
            let end = time + steps(number);
            load[sm as usize] += steps(number);
            last = last.max(end);
            free.push(Reverse((end, place, sm)));
        }
        let busiest = load.into_iter().max().unwrap_or(0);
        let mean = traced as f64 / numbers.len().max(1) as f64;
        Share {
            all: all as f64 / traced as f64,
            busiest: busiest as f64 / traced as f64,
            rounds: last as f64 / mean,
        }
    }
}

impl Observer for BlockSteps {
    fn block(&mut self, _number: u32, _warps: u32) {
        self.steps.push(0);
    }

    fn step(&mut self, _warp: u32, _at: u32, _lanes: u32) {
        if let Some(steps) = self.steps.last_mut() {
            *steps += 1;
        }
    }

    fn access(&mut self, _warp: u32, _access: Access<'_>) {}
}

/// Returns the blocks to trace: `sample` of all, and the first one of those with most steps.
pub(super) fn chosen(steps: &BlockSteps, blocks: u32, sample: u32, seed: u64) -> BTreeSet<u32> {
    let sample = sample.clamp(1, blocks.max(1));
    let mut chosen: BTreeSet<u32> = (0..sample)
        .map(|place| sampled(place, blocks, sample, seed))
        .collect();
    let numbered = (0..).zip(&steps.steps);
    let heaviest = numbered.max_by_key(|(number, steps)| (**steps, std::cmp::Reverse(*number)));
    chosen.extend(heaviest.map(|(number, _)| number));
    chosen
}

/// Returns the number of a block in part `place` of `count` equal parts of `blocks`; in which
/// place of its part is a matter of `seed`, so that a kernel cannot spare these blocks.
fn sampled(place: u32, blocks: u32, count: u32, seed: u64) -> u32 {
    let start = |place: u32| u64::from(place) * u64::from(blocks) / u64::from(count);
    let (first, behind) = (start(place), start(place + 1));
    // The finalizer of splitmix64 (Steele, Lea, Flood 2014).
    let mut word = seed.wrapping_add(u64::from(place + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^= word >> 31;
    (first + word % (behind - first).max(1)) as u32
}
