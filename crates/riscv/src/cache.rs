//! An L1 cache: which lines are present, not what they hold.

use crate::config::CacheConfig;

const DIRTY: u64 = 1;
const EMPTY: u64 = u64::MAX;

/// What a lookup found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    Hit,
    /// Present and written for the first time; it is now dirty. Whether it may be
    /// written is known below.
    FirstWrite,
    Miss,
}

/// A line that had to go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Victim {
    pub address: u64,
    pub dirty: bool,
}

/// Tags of a set-associative cache with random replacement.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    set_mask: u64,
    ways: usize,
    /// Sets lie this many places apart, as a power of two.
    way_bits: u32,
    /// Line number << 1 | dirty, set by set; [`EMPTY`] if none.
    lines: Vec<u64>,
    /// The way of the last hit in each set, tried first.
    recent: Vec<u8>,
    random: u16,
    seed: u16,
}

impl Cache {
    /// Makes an empty cache whose random sequence starts with `seed`, or 1 if that
    /// is 0.
    pub fn new(config: &CacheConfig, seed: u16) -> Self {
        let sets = config.sets.max(1).next_power_of_two();
        let ways = config.ways.clamp(1, 64);
        let seed = seed.max(1);
        Self {
            set_mask: sets as u64 - 1,
            ways,
            way_bits: ways.next_power_of_two().trailing_zeros(),
            lines: vec![EMPTY; sets * ways.next_power_of_two()],
            recent: vec![0; sets],
            random: seed,
            seed,
        }
    }

    /// Empties the cache and restarts the random sequence.
    pub fn reset(&mut self) {
        self.lines.fill(EMPTY);
        self.random = self.seed;
    }

    /// Looks up the line of `address`; a write marks it dirty.
    #[inline(always)]
    pub fn access(&mut self, address: u64, write: bool) -> Lookup {
        let line = address >> 6;
        let set = (line & self.set_mask) as usize;
        let slot = (set << self.way_bits) + usize::from(self.recent[set]);
        let entry = self.lines[slot];
        if entry >> 1 == line && (!write || entry & DIRTY != 0) {
            return Lookup::Hit;
        }
        self.access_other(line, set, write)
    }

    #[inline(never)]
    fn access_other(&mut self, line: u64, set: usize, write: bool) -> Lookup {
        let first = set << self.way_bits;
        let ways = &mut self.lines[first..first + self.ways];
        let Some(way) = ways.iter().position(|entry| entry >> 1 == line) else {
            return Lookup::Miss;
        };
        self.recent[set] = way as u8;
        if write {
            let clean = ways[way] & DIRTY == 0;
            ways[way] |= DIRTY;
            if clean {
                return Lookup::FirstWrite;
            }
        }
        Lookup::Hit
    }

    /// Returns whether a lookup would be a hit.
    pub fn holds(&self, address: u64, write: bool) -> bool {
        let line = address >> 6;
        let first = ((line & self.set_mask) as usize) << self.way_bits;
        let wanted = if write { DIRTY } else { 0 };
        self.lines[first..first + self.ways]
            .iter()
            .any(|entry| entry >> 1 == line && entry & wanted == wanted)
    }

    /// Puts the line of `address`, which is not there, into the cache; returns one that
    /// had to go.
    pub fn fill(&mut self, address: u64, write: bool) -> Option<Victim> {
        let line = address >> 6;
        let set = (line & self.set_mask) as usize;
        let first = set << self.way_bits;
        let random = self.next_random();
        let ways = &mut self.lines[first..first + self.ways];
        // The hardware does not prefer ways that are empty.
        let way = usize::from(random) % self.ways;
        let victim = ways[way];
        ways[way] = line << 1 | if write { DIRTY } else { 0 };
        self.recent[set] = way as u8;
        (victim != EMPTY).then_some(Victim {
            address: victim >> 1 << 6,
            dirty: victim & DIRTY != 0,
        })
    }

    /// Obeys a probe: gives the line up, or keeps it clean.
    pub fn probe(&mut self, address: u64, invalidate: bool) {
        let line = address >> 6;
        let first = ((line & self.set_mask) as usize) << self.way_bits;
        for entry in &mut self.lines[first..first + self.ways] {
            if *entry >> 1 == line {
                *entry = if invalidate { EMPTY } else { line << 1 };
            }
        }
    }

    /// Returns a random number and goes on to the next one, as with every request
    /// for a line or for the right to write it.
    pub fn next_random(&mut self) -> u16 {
        let random = self.random;
        self.random = shifted(random);
        random
    }
}

/// Returns what follows `state` in the linear feedback shift register of
/// Rocket's `RandomReplacement`, which shifts once per refill; from reset on
/// it starts with 1.
pub(crate) fn shifted(state: u16) -> u16 {
    let bit = (state >> 15 ^ state >> 13 ^ state >> 12 ^ state >> 10) & 1;
    state << 1 | bit
}
