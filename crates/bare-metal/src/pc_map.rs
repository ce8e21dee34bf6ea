//! Maps whose keys are instruction addresses, for sums over hundreds of
//! thousands of commands.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// A map with keys made of a few numbers. Its order is of no use.
pub type PcMap<K, V> = HashMap<K, V, BuildHasherDefault<PcHasher>>;

/// Multiplies by an odd constant. Those who choose the keys can make them
/// collide, which costs time within the limit of commands and nothing else.
#[derive(Default)]
pub struct PcHasher(u64);

impl Hasher for PcHasher {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

/// Places for keys that were added to lately; a power of two.
const RECENT: usize = 256;

/// Sums by keys of which a few dozen come again and again.
#[derive(Debug)]
pub struct PcSums<K> {
    /// A key and its sum at the place that its address gives; not yet in
    /// `others`.
    recent: Vec<Option<(K, u64)>>,
    others: PcMap<K, u64>,
}

impl<K: Copy + Eq + Hash> Default for PcSums<K> {
    fn default() -> Self {
        Self {
            recent: vec![None; RECENT],
            others: PcMap::default(),
        }
    }
}

impl<K: Copy + Eq + Hash> PcSums<K> {
    /// Adds to the sum of a key that contains the address `pc`, or anything
    /// else by which keys differ.
    #[inline]
    pub fn add(&mut self, key: K, pc: u64, amount: u64) {
        // Instructions are at even addresses.
        let recent = &mut self.recent[(pc >> 1) as usize % RECENT];
        match recent {
            Some((known, sum)) if *known == key => *sum += amount,
            _ => {
                if let Some((key, sum)) = recent.replace((key, amount)) {
                    *self.others.entry(key).or_default() += sum;
                }
            }
        }
    }

    /// Returns the sums, in no order.
    pub fn finish(self) -> PcMap<K, u64> {
        let mut sums = self.others;
        for (key, sum) in self.recent.into_iter().flatten() {
            *sums.entry(key).or_default() += sum;
        }
        sums
    }
}
