//! Which cycles of a window something is in use, one bit per cycle.

#![allow(
    missing_docs,
    clippy::new_without_default,
    reason = "public for the suite alone, see `inside`"
)]

const WORDS: usize = 16;

/// A set of cycles within a sliding window of 1024 cycles.
///
/// Words are recycled as time goes on: a word that holds older cycles reads as
/// empty and is cleared by the first mark of newer ones.
#[derive(Clone, Debug)]
pub struct Calendar {
    /// Which 64 cycles a word stands for, and the word.
    words: [(u64, u64); WORDS],
    /// One past the latest cycle ever marked.
    end: u64,
}

impl Calendar {
    pub fn new() -> Self {
        Self {
            words: [(u64::MAX, 0); WORDS],
            end: 0,
        }
    }

    #[inline]
    fn word(&self, epoch: u64) -> u64 {
        let (of, word) = self.words[(epoch as usize) % WORDS];
        if of == epoch { word } else { 0 }
    }

    #[inline]
    fn word_mut(&mut self, epoch: u64) -> &mut u64 {
        let (of, word) = &mut self.words[(epoch as usize) % WORDS];
        if *of != epoch {
            *of = epoch;
            *word = 0;
        }
        word
    }

    #[inline]
    pub fn mark(&mut self, cycle: u64) {
        *self.word_mut(cycle >> 6) |= 1 << (cycle & 63);
        self.end = self.end.max(cycle + 1);
    }

    #[inline]
    pub fn is_marked(&self, cycle: u64) -> bool {
        self.end > cycle && self.word(cycle >> 6) >> (cycle & 63) & 1 != 0
    }

    /// Returns the marks of 64 cycles from `start` on, the first in bit 0.
    #[inline]
    pub fn window(&self, start: u64) -> u64 {
        if self.end <= start {
            return 0;
        }
        let (epoch, offset) = (start >> 6, start & 63);
        let low = self.word(epoch) >> offset;
        if offset == 0 {
            low
        } else {
            low | self.word(epoch + 1) << (64 - offset)
        }
    }

    /// Marks those of 64 cycles from `start` on whose bit is set.
    #[inline]
    pub fn mark_window(&mut self, start: u64, bits: u64) {
        if bits == 0 {
            return;
        }
        let (epoch, offset) = (start >> 6, start & 63);
        *self.word_mut(epoch) |= bits << offset;
        if offset != 0 && bits >> (64 - offset) != 0 {
            *self.word_mut(epoch + 1) |= bits >> (64 - offset);
        }
        self.end = self.end.max(start + 64 - u64::from(bits.leading_zeros()));
    }

    /// Returns the first cycle from `start` on that is not marked.
    #[inline]
    pub fn first_free(&self, start: u64) -> u64 {
        let mut at = start;
        while at < self.end {
            let free = !self.word(at >> 6) >> (at & 63);
            if free != 0 {
                let skip = u64::from(free.trailing_zeros());
                if skip < 64 - (at & 63) {
                    return at + skip;
                }
            }
            at = (at | 63) + 1;
        }
        at.max(start)
    }
}
