//! Newtypes for quantities, so that a bare `u64` never crosses a crate border.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

quantity! {
    /// Nanoseconds of wall time on the host.
    Nanos
}
quantity! {
    /// Millionths of a United States dollar.
    UsdMicros
}
quantity! {
    /// The seed of a random stream. Streams of tasks are derived with [`Seed::derive`].
    Seed
}

impl Seed {
    /// Returns the seed of the sub-stream named `label`.
    ///
    /// The result depends on the seed and the label only, so a task draws the
    /// same numbers whatever the order in which tasks run.
    #[must_use]
    pub fn derive(self, label: &str) -> Self {
        let mut hasher = crate::ContentHasher::new("seed");
        hasher.update(&self.0.to_le_bytes());
        hasher.update(label.as_bytes());
        let bytes = hasher.finish().0;
        let mut word = [0; 8];
        word.copy_from_slice(&bytes[..8]);
        Self(u64::from_le_bytes(word))
    }

    /// Returns the next 64 random bits and advances the seed.
    ///
    /// Source: SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom
    /// number generators", OOPSLA 2014).
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a random index below `n`, and advances the seed.
    ///
    /// # Panics
    /// Panics if `n` is zero.
    pub fn below(&mut self, n: usize) -> usize {
        assert!(0 < n, "a random index needs a non-empty range");
        // Multiply-shift; the bias is below n / 2^64.
        ((u128::from(self.next_u64()) * n as u128) >> 64) as usize
    }
}
