//! Maps by content hash: such keys are random already, and a long run has many.

use crate::hash::ContentHash;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by content hash. Nothing may depend on the order of its entries.
pub type ByHash<V> = HashMap<ContentHash, V, BuildHasherDefault<FirstBytes>>;

/// Takes the first bytes of a key for its hash.
#[derive(Clone, Copy, Debug, Default)]
pub struct FirstBytes(u64);

impl Hasher for FirstBytes {
    fn write(&mut self, bytes: &[u8]) {
        if let Some(first) = bytes.first_chunk() {
            self.0 = u64::from_le_bytes(*first);
        }
    }

    // The length of the key, which is always the same.
    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}
