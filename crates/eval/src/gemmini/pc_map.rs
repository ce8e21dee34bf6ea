//! Maps whose keys are instruction addresses, for sums over hundreds of
//! thousands of commands.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map with keys made of a few numbers. Its order is of no use.
pub(super) type PcMap<K, V> = HashMap<K, V, BuildHasherDefault<PcHasher>>;

/// Multiplies by an odd constant. Those who choose the keys can make them
/// collide, which costs time within the limit of commands and nothing else.
#[derive(Default)]
pub(super) struct PcHasher(u64);

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
