//! The branch history table: where the last branches went, and counters that tell by
//! that where the next one goes.
//!
//! *Source*: Rocket Chip, `BHT`.

use super::Executed;
use crate::config::CoreConfig;
use std::hint::select_unpredictable;

/// The most histories there can be.
const HISTORIES: usize = 1 << 16;

/// The most counters there can be.
const COUNTERS: usize = 1 << 16;

/// The outcomes of the last branches, and what they add to the number of a counter in
/// the upper half.
#[derive(Clone, Copy, Debug)]
pub(super) struct History(u32);

impl History {
    pub const NONE: Self = Self(0);

    #[inline(always)]
    fn outcomes(self) -> u16 {
        self.0 as u16
    }

    #[inline(always)]
    fn hash(self) -> u16 {
        (self.0 >> 16) as u16
    }
}

/// The table, of one-bit counters.
#[derive(Clone, Debug)]
pub(super) struct HistoryTable {
    /// As many as a number of 16 bits can name, so that no index needs a check.
    counters: Box<[bool; COUNTERS]>,
    history: History,
    /// The history before its last change, and when that was: a lookup in the
    /// cycle after it does not see it yet.
    older: History,
    changed: u64,
    /// The bit of a history that the next outcome takes.
    newest_outcome: u16,
    /// By the outcomes: as many as there can be, so that no index needs a check.
    histories: Box<[History; HISTORIES]>,
}

impl HistoryTable {
    pub fn new(config: &CoreConfig) -> Self {
        let length = config.bht_history.clamp(1, 16);
        let bits = config.bht_history_bits.min(length);
        let counter_bits = counter_bits(config);
        let factor = (0.75f64.sqrt() * f64::from(1u32 << length)) as u32;
        let history = |outcomes: u32| {
            let hash = factor.wrapping_mul(outcomes) & ((1 << length) - 1);
            let hash = hash >> (length - bits) << counter_bits.saturating_sub(bits);
            History(outcomes | hash << 16)
        };
        let histories: Vec<History> = (0..HISTORIES as u32).map(history).collect();
        let histories = histories.into_boxed_slice().try_into();
        let histories = histories.expect("there is one for each of them");
        Self {
            counters: Box::new([false; COUNTERS]),
            history: History::NONE,
            older: History::NONE,
            changed: 0,
            newest_outcome: 1 << (length - 1),
            histories,
        }
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        self.counters.fill(false);
        self.restore(History::NONE);
    }

    /// Returns the history that a lookup in cycle `fetched` sees.
    #[inline(always)]
    pub fn visible(&self, fetched: u64) -> History {
        let unseen = fetched < self.changed + 2;
        select_unpredictable(unseen, self.older, self.history)
    }

    /// Returns whether the counter of a branch with this history says that it is taken.
    #[inline(always)]
    pub fn counter(&self, executed: Executed, history: History) -> bool {
        self.counters[usize::from(counter_idx(executed, history))]
    }

    #[inline(always)]
    pub fn counter_mut(&mut self, executed: Executed, history: History) -> &mut bool {
        &mut self.counters[usize::from(counter_idx(executed, history))]
    }

    /// Adds the outcome of a branch that is looked up in cycle `fetched`.
    #[inline(always)]
    pub fn advance(&mut self, taken: bool, fetched: u64) {
        self.older = self.history;
        self.history = self.shifted(self.history, taken);
        self.changed = fetched;
    }

    /// Goes back to the history `seen` by a branch that was predicted wrongly, and adds
    /// its outcome.
    #[inline(always)]
    pub fn correct(&mut self, seen: History, taken: bool) {
        self.restore(self.shifted(seen, taken));
    }

    /// [Corrects](Self::correct) the history if a branch was predicted `wrong`ly,
    /// otherwise [advances](Self::advance) it, without a jump of the host that hangs on
    /// that.
    #[inline(always)]
    pub fn follow(&mut self, wrong: bool, seen: History, taken: bool, fetched: u64) {
        let before = select_unpredictable(wrong, seen, self.history);
        let behind = self.shifted(before, taken);
        self.older = select_unpredictable(wrong, behind, self.history);
        self.history = behind;
        self.changed = fetched;
    }

    /// Goes back to a history, which all lookups see from now on.
    #[inline(always)]
    pub fn restore(&mut self, history: History) {
        self.history = history;
        self.older = history;
    }

    #[inline(always)]
    fn shifted(&self, history: History, taken: bool) -> History {
        let outcome = if taken { self.newest_outcome } else { 0 };
        self.histories[usize::from(outcome | history.outcomes() >> 1)]
    }
}

#[inline(always)]
fn counter_idx(executed: Executed, history: History) -> u16 {
    executed.counter_address ^ history.hash()
}

fn counter_bits(config: &CoreConfig) -> u32 {
    let counters = config.bht_entries.clamp(1, COUNTERS).next_power_of_two();
    counters.trailing_zeros()
}

/// Returns what a branch whose last halfword lies there adds to the number of
/// a counter.
pub(crate) fn counter_address(config: &CoreConfig, last_half: u64) -> u16 {
    let group = last_half >> 2;
    let bits = counter_bits(config);
    (((group as u32) ^ ((group >> bits) as u32 & 3)) & ((1 << bits) - 1)) as u16
}
