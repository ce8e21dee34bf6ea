//! Maps whose keys are numbers: tensors, blocks, lines, places.
//!
//! They are asked several times for each instruction, so they hash by one multiplication for each
//! number of a key instead of a keyed function. What a kernel chooses freely, such as the keys of
//! its dictionaries, is hashed with the standard one.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map whose keys are numbers.
pub(crate) type Keyed<K, V> = HashMap<K, V, BuildHasherDefault<Mixer>>;

/// Fractional bits of the golden ratio, and of the square root of two.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
const START: u64 = 0x6a09_e667_f3bc_c908;

/// Mixes numbers by multiplication; both halves of the product count, so that all bits of the
/// result depend on all bits of the number.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mixer(u64);

impl Hasher for Mixer {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    #[inline]
    fn write_u8(&mut self, number: u8) {
        self.write_u64(number.into());
    }

    #[inline]
    fn write_u16(&mut self, number: u16) {
        self.write_u64(number.into());
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        let product = u128::from(self.0 ^ number ^ START) * u128::from(FACTOR);
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
