//! Volatile and relaxed stores that others do not see yet.
//!
//! Such a store is seen by others in any order with other words, until its thread passes a fence
//! or, by those of its own block, until it meets them (PTX ISA, memory consistency model). In the mixed run, reads of the same kind
//! by other threads therefore get what was there before, for a number of such reads that a seed
//! decides. A thread that polls a flag reads it again; one that takes the word for data goes
//! wrong.

use super::access::{Failed, How};
use super::block::Block;
use super::findings::{LateRead, Thread};
use super::observer::Witness;
use super::precedence::Who;
use super::warp::Warp;
use crate::ptx::{Line, Space};
use std::collections::HashMap;

/// A store is hidden from up to two to the power of this reads of others: from a few of them as
/// likely as from hundreds, so that blocks far apart may miss it, and those that poll seldom wait
/// for long.
const LONGEST: u64 = 10;

/// A word: its block where it lies in shared memory, its address, and its bytes.
pub(super) type Word = (Option<u32>, u64, u32);

/// Returns the word that a thread of `block` means by an address, if others see that memory, too.
pub(super) fn word(block: u32, how: How, address: u64) -> Option<Word> {
    let (how, address) = how.resolved(address);
    match how.space {
        Space::Shared => Some((Some(block), address, how.bytes)),
        Space::Global => Some((None, address, how.bytes)),
        _ => None,
    }
}

#[derive(Clone, Copy, Debug)]
struct Hidden {
    /// Block and thread that wrote it.
    by: (u32, Who),
    /// What others see.
    old: u64,
    until: u64,
    /// Whether its block has met since, or its thread has passed a fence of the block.
    own_block_sees: bool,
}

impl Hidden {
    /// Returns whether one of these threads of a warp wrote it.
    fn is_of(&self, block: u32, warp: u32, lanes: u32) -> bool {
        let (of, who) = self.by;
        (of, who.warp) == (block, warp) && lanes >> who.lane & 1 == 1
    }
}

/// Stores of a launch that others do not see yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delays {
    words: HashMap<Word, Hidden>,
    /// Strong reads of the launch.
    time: u64,
}

impl Delays {
    /// Notes that a warp reads what others change.
    pub(super) fn read(&mut self) {
        self.time += 1;
    }

    /// Hides that `by` has changed a word, which held `old`, from others for a while.
    pub(super) fn hide(&mut self, word: Word, by: (u32, Who), old: u64) {
        let is_hidden = |it: &Hidden| it.by == by && self.time < it.until && !it.own_block_sees;
        if self.words.get(&word).is_some_and(is_hidden) {
            return;
        }
        let drawn = (word.1 ^ self.time).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let until = self.time + 1 + (1 << (drawn % (LONGEST + 1)));
        let hidden = Hidden {
            by,
            old,
            until,
            own_block_sees: false,
        };
        self.words.insert(word, hidden);
    }

    /// Returns what `by` sees of a word, if that is not what it holds, and who has written it.
    pub(super) fn seen(&mut self, word: Word, by: (u32, Who)) -> Option<(u64, (u32, Who))> {
        let hidden = *self.words.get(&word)?;
        if hidden.until <= self.time {
            self.words.remove(&word);
            return None;
        }
        let is_own_block = hidden.by.0 == by.0;
        let sees = hidden.by == by || hidden.own_block_sees && is_own_block;
        (!sees).then_some((hidden.old, hidden.by))
    }

    /// Lets all see a word.
    pub(super) fn show(&mut self, word: Word) {
        self.words.remove(&word);
    }

    /// Lets their block see what threads of a warp have written.
    pub(super) fn show_block(&mut self, block: u32, warp: u32, lanes: u32) {
        for hidden in self.words.values_mut() {
            hidden.own_block_sees |= hidden.is_of(block, warp, lanes);
        }
    }

    /// Lets all see what threads of a warp have written, and what they may have seen of others of
    /// their block.
    pub(super) fn show_all(&mut self, block: u32, warp: u32, lanes: u32) {
        self.words.retain(|_, hidden| {
            let is_seen = hidden.by.0 == block && hidden.own_block_sees;
            !is_seen && !hidden.is_of(block, warp, lanes)
        });
    }
}

impl<O: Witness> Block<'_, O> {
    /// Returns what a thread sees at an address, if that is not what it holds.
    pub(super) fn seen(
        &mut self,
        warp: &Warp,
        lane: u32,
        (how, line): (How, u32),
        address: u64,
    ) -> Option<u64> {
        let by = self.who(warp, lane);
        let word = word(self.number, how, address)?;
        let (old, writer) = self.delays.as_mut()?.seen(word, by)?;
        let launch = self.launch;
        let thread = |(block, who): (u32, Who)| Thread {
            block: launch.block_position(block),
            thread: launch.thread(who.warp * 32 + who.lane),
        };
        self.memory.late_read.get_or_insert_with(|| LateRead {
            line: Line(line),
            reader: thread(by),
            writer: thread(writer),
        });
        Some(old)
    }

    fn who(&self, warp: &Warp, lane: u32) -> (u32, Who) {
        (
            self.number,
            Who {
                warp: warp.number,
                lane,
            },
        )
    }

    /// Hides from others, for a while, what a thread is about to write.
    pub(super) fn hide(
        &mut self,
        warp: &Warp,
        lane: u32,
        how: How,
        address: u64,
    ) -> Result<(), Failed> {
        let old = self.read_one(warp, lane, how, address)?;
        let by = self.who(warp, lane);
        if let (Some(delays), Some(word)) = (&mut self.delays, word(self.number, how, address)) {
            delays.hide(word, by, old);
        }
        Ok(())
    }

    /// Lets all see what an address holds.
    pub(super) fn show(&mut self, how: How, address: u64) {
        if let (Some(delays), Some(word)) = (&mut self.delays, word(self.number, how, address)) {
            delays.show(word);
        }
    }

    /// Lets the threads of the block see what those of a warp have written.
    pub(super) fn show_block(&mut self, warp: u32, lanes: u32) {
        let block = self.number;
        if let Some(delays) = &mut self.delays {
            delays.show_block(block, warp, lanes);
        }
    }

    /// Lets all see what threads of a warp have written, and what they may have seen of others of
    /// their block.
    pub(super) fn show_all(&mut self, warp: u32, lanes: u32) {
        let block = self.number;
        if let Some(delays) = &mut self.delays {
            delays.show_all(block, warp, lanes);
        }
    }
}
