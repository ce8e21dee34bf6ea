//! From which bytes instructions were translated.

use super::PAGE_SHIFT;

/// Bits of a page: one for each halfword, as instructions begin at even addresses and
/// have an even number of bytes.
const WORDS: usize = (1 << PAGE_SHIFT) / 2 / 64;

/// By page and halfword, whether it belongs to an instruction. Offsets are those from
/// the beginning of memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    pages: Vec<Option<Box<[u64; WORDS]>>>,
}

impl Marks {
    /// Marks the halfwords of `len` bytes.
    pub fn set(&mut self, offset: usize, len: usize) {
        for half in offset >> 1..(offset + len).div_ceil(2) {
            let (page, word, bit) = place(half);
            if self.pages.len() <= page {
                self.pages.resize(page + 1, None);
            }
            let words = self.pages[page].get_or_insert_with(|| Box::new([0; WORDS]));
            words[word] |= bit;
        }
    }

    /// Returns whether any of `len` bytes lies in a halfword that is marked.
    pub fn touch(&self, offset: usize, len: usize) -> bool {
        let Some(last) = (offset + len).checked_sub(1).filter(|_| len > 0) else {
            return false;
        };
        let (first, last) = (offset >> 1, last >> 1);
        let words = first >> 6..(last >> 6).min(self.pages.len() * WORDS) + 1;
        words.into_iter().any(|idx| {
            let page = self.pages.get(idx / WORDS).and_then(Option::as_ref);
            let Some(words) = page else { return false };
            // Only halfwords of the range count.
            let above = first.saturating_sub(idx << 6) as u32;
            let below = ((idx << 6) + 63).saturating_sub(last) as u32;
            words[idx % WORDS] & u64::MAX << above & u64::MAX >> below != 0
        })
    }

    /// Takes all marks away.
    pub fn clear(&mut self) {
        self.pages.clear();
    }
}

/// Returns page, word and bit of a halfword.
#[inline(always)]
fn place(half: usize) -> (usize, usize, u64) {
    (
        half >> (PAGE_SHIFT - 1),
        half >> 6 & (WORDS - 1),
        1 << (half & 63),
    )
}
