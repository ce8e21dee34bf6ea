//! Loads and stores: the data cache and the store buffer.
//!
//! *Source*: Rocket Chip, `DCache`.

#![allow(missing_docs, reason = "public for the suite alone, see `inside`")]

use super::{DATA_LINES, Pipeline, WRITE_BACK};
use crate::cache::Lookup;
use crate::coprocessor::{Coprocessor, LineAccess};
use crate::record::Surroundings;

/// Bits of an address by which the cache tells whether a load reads what a store
/// writes that it still buffers: those that need no translation.
const PAGE: u64 = 0xfff;

/// Cycles from a store's issue for which it is buffered, if no load needs the
/// array in the meantime: it is written in the first cycle behind them without
/// one.
const BUFFERED: u64 = 2;

/// Cycles by which what an atomic writes is buffered later than what a store does:
/// for the arithmetic.
const MODIFIED: u64 = 1;

/// A store that may still be in its buffer: from the lowest bit on 12 of its address
/// within its page, 4 of its number of bytes, 0 for none, and the cycle in which it
/// issued, or a later one if its value came late. One number, as copying several is
/// slow right after they were written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Store(u64);

impl Store {
    const ISSUE: u32 = 16;

    #[inline(always)]
    pub fn new(address: u64, bytes: u64, issue: u64) -> Self {
        Self(issue << Self::ISSUE | bytes << 12 | address & PAGE)
    }

    fn issue(self) -> u64 {
        self.0 >> Self::ISSUE
    }

    #[inline(always)]
    fn is_in_word(self, address: u64) -> bool {
        (self.0 ^ address) & PAGE & !7 == 0
    }

    /// Returns whether it has left its buffer when a load issues at `issue`.
    #[inline(always)]
    fn is_over(self, issue: u64) -> bool {
        issue << Self::ISSUE > self.0 + (BUFFERED << Self::ISSUE)
    }

    /// Returns whether it writes one of `bytes` bytes that a load reads which
    /// could issue at `issue`, and is still buffered then.
    pub fn stops(self, issue: u64, address: u64, bytes: u64) -> bool {
        let first = address & PAGE;
        let own = self.0 & PAGE;
        let own_bytes = self.0 >> 12 & 15;
        !self.is_over(issue) && first < own + own_bytes && own < first + bytes
    }
}

impl Pipeline {
    /// Returns whether a load surely finds its line in the cache.
    #[inline(always)]
    pub fn has_read(&self, address: u64) -> bool {
        let line = address >> 6;
        line == self.read_lines[line as usize % DATA_LINES]
    }

    /// Returns whether a store may be in the way of a load that issues at `issue`.
    #[inline(always)]
    pub fn is_near_store(&self, issue: u64, address: u64) -> bool {
        issue <= self.last_store_over
            && (self.stores[0].is_in_word(address) || self.stores[1].is_in_word(address))
    }

    /// Returns whether a store surely finds its line in the cache and dirty.
    #[inline(always)]
    pub fn store_hits(&self, address: u64) -> bool {
        let line = address >> 6;
        line == self.written_lines[line as usize % DATA_LINES]
    }

    /// Notes a store of `bytes` bytes that issued at `issue`.
    #[inline(always)]
    pub fn stored(&mut self, issue: u64, address: u64, bytes: u64) {
        let store = Store::new(address, bytes, issue);
        self.stores = [store, self.stores[0]];
        self.last_store_over = issue + BUFFERED;
        self.portless = issue;
    }

    /// Returns the cycle `now`, in which a fence is over that issued at `issued`, or
    /// the one from which on what follows comes to the next access as late as that
    /// must be: those before the fence have to have left the pipeline then.
    pub fn hold_behind_fence(&mut self, issued: u64, now: u64, around: Surroundings) -> u64 {
        if around.behind == 0 {
            return now;
        }
        let load = match around.before {
            0 => 0,
            before => issued.saturating_sub(before.into()),
        };
        let ordered = load.max(self.stores[0].issue()) + WRITE_BACK + 1;
        let held = now.max(ordered.saturating_sub(around.behind.into()));
        if held > now {
            self.run_start = held + 1;
        }
        held
    }

    /// Returns the issue cycle of an access that reads `bytes` bytes and whose
    /// operands allow `issue`: it is replayed, which takes so many cycles, if a store
    /// to one of them has not left its buffer.
    #[inline(always)]
    pub fn behind_stores(&self, issue: u64, address: u64, bytes: u64, replay: u64) -> u64 {
        let stopped = |store: &Store| store.stops(issue, address, bytes);
        if self.stores.iter().any(stopped) {
            issue + replay
        } else {
            issue
        }
    }

    /// Returns the issue cycle of a load of `bytes` bytes whose operands allow
    /// `issue`, and which takes `replay` cycles to issue again.
    #[inline(always)]
    pub fn read(
        &mut self,
        issue: u64,
        address: u64,
        bytes: u64,
        replay: u64,
        below: &mut dyn Coprocessor,
    ) -> u64 {
        let issue = self.turn(issue, replay, below);
        let mut issue = self.behind_stores(issue, address, bytes, replay);
        let line = address >> 6;
        if line != self.read_lines[line as usize % DATA_LINES] {
            let missed = self.data_cache.access(address, false) != Lookup::Hit;
            if missed {
                issue = self.miss(issue, address, false, replay, below);
            }
            if !self.shares_lines {
                self.read_lines[line as usize % DATA_LINES] = line;
                if missed && self.probed {
                    self.doubt(address, false);
                }
            }
        }
        issue
    }

    /// Returns the issue cycle of a store or atomic of `bytes` bytes, which takes
    /// `replay` cycles to issue again.
    #[inline(always)]
    pub fn store(
        &mut self,
        issue: u64,
        address: u64,
        bytes: u64,
        replay: u64,
        below: &mut dyn Coprocessor,
    ) -> u64 {
        let mut issue = self.turn(issue, replay, below);
        let line = address >> 6;
        if line != self.written_lines[line as usize % DATA_LINES] {
            let found = self.data_cache.access(address, true);
            match found {
                Lookup::Hit => {}
                Lookup::FirstWrite => issue = self.first_write(issue, address, below),
                Lookup::Miss => issue = self.miss(issue, address, true, replay, below),
            }
            if !self.shares_lines {
                self.written_lines[line as usize % DATA_LINES] = line;
                if found != Lookup::Hit && self.probed {
                    self.doubt(address, true);
                }
            }
        }
        self.stored(issue, address, bytes);
        issue
    }

    /// Returns the issue cycle of an atomic of `bytes` bytes that reads and writes.
    pub fn modify(
        &mut self,
        issue: u64,
        address: u64,
        bytes: u64,
        replay: u64,
        below: &mut dyn Coprocessor,
    ) -> u64 {
        let issue = self.behind_stores(issue, address, bytes, replay);
        let issue = self.store(issue, address, bytes, replay, below);
        self.stores[0].0 += MODIFIED << Store::ISSUE;
        self.last_store_over += MODIFIED;
        issue
    }

    /// Returns the issue cycle of an access whose operands allow `issue`: it is
    /// replayed if the cache is busy with lines that it is asked for when it comes
    /// from decode, which takes `replay` cycles, and waits in decode until the cache
    /// takes requests.
    #[inline(always)]
    fn turn(&mut self, issue: u64, replay: u64, below: &mut dyn Coprocessor) -> u64 {
        if self.shares_lines {
            self.shared_turn(issue, replay, below)
        } else {
            issue
        }
    }

    #[inline(never)]
    fn shared_turn(&mut self, issue: u64, replay: u64, below: &mut dyn Coprocessor) -> u64 {
        let mut at = issue;
        loop {
            let turn = below.data_turn(at + 1);
            if turn <= at + 1 {
                break;
            }
            // That the cache takes requests again is seen a cycle later.
            at = (at + replay).max(turn + 1);
        }
        self.take_probes(below);
        if at > issue {
            self.run_start = at;
            self.statistics.data_miss_cycles += at - issue;
        }
        at
    }

    /// Returns when an access that misses issues again: the cache refuses it,
    /// and it waits in decode, with all behind it, until the line is there.
    #[inline(never)]
    fn miss(
        &mut self,
        issue: u64,
        address: u64,
        write: bool,
        replay: u64,
        below: &mut dyn Coprocessor,
    ) -> u64 {
        let line = address & !63;
        // One that lies in two fetch groups leaves decode a cycle later each time that
        // it has waited there.
        let split = replay.saturating_sub(self.config.flush_penalty + 1);
        self.forget_doubtful();
        let mut ask = issue;
        if let Some(victim) = self.data_cache.fill(line, write) {
            self.forget_line(victim.address);
            if victim.dirty {
                // It has to be gone before the new one is asked for.
                below.line_access(victim.address, LineAccess::WriteBack, issue);
                ask += self.config.write_back_cycles + split;
            }
        }
        let access = if write {
            LineAccess::ReadToWrite
        } else {
            LineAccess::Read
        };
        let filled = below.line_access(line, access, ask) + self.config.l1d.miss_overhead + split;
        self.take_probes(below);
        self.run_start = filled;
        self.statistics.data_misses += 1;
        self.statistics.data_miss_cycles += filled.saturating_sub(issue);
        filled
    }

    /// Returns when a store to a line that the cache holds clean issues: as it
    /// could, or when the right to write the line has come.
    #[inline(never)]
    fn first_write(&mut self, issue: u64, address: u64, below: &mut dyn Coprocessor) -> u64 {
        let writable = below.line_access(address & !63, LineAccess::Write, issue);
        if writable > issue {
            self.forget_doubtful();
            // Chosen for nothing: the line has its place.
            self.data_cache.next_random();
            self.run_start = writable;
            self.statistics.data_misses += 1;
            self.statistics.data_miss_cycles += writable - issue;
        }
        self.take_probes(below);
        issue.max(writable)
    }

    /// Obeys the probes that the memory system has collected.
    pub fn take_probes(&mut self, below: &mut dyn Coprocessor) {
        below.take_probes(&mut self.probes);
        self.probed = !self.probes.is_empty();
        if self.probed {
            self.obey_probes();
        }
        self.share_lines(below.shares_lines());
    }

    #[inline(never)]
    fn obey_probes(&mut self) {
        self.forget_doubtful();
        let mut probes = std::mem::take(&mut self.probes);
        for (address, invalidate) in probes.drain(..) {
            self.forget_line(address);
            self.data_cache.probe(address, invalidate);
        }
        self.probes = probes;
    }

    /// Learns whether the memory system may be about to ask for lines.
    #[inline]
    pub fn share_lines(&mut self, shares_lines: bool) {
        if shares_lines && !self.shares_lines {
            self.read_lines.fill(u64::MAX);
            self.written_lines.fill(u64::MAX);
            self.doubtful = None;
        }
        self.shares_lines = shares_lines;
    }

    /// Remembers if the line of `address` was given up as soon as it came: those
    /// behind the access still find it, until the next miss or probe.
    fn doubt(&mut self, address: u64, write: bool) {
        if !self.data_cache.holds(address, write) {
            self.doubtful = Some(address);
        }
    }

    fn forget_doubtful(&mut self) {
        if let Some(address) = self.doubtful.take() {
            self.forget_line(address);
        }
    }

    /// Stops relying on the data cache to hold the line of `address`.
    fn forget_line(&mut self, address: u64) {
        let line = address >> 6;
        for lines in [&mut self.read_lines, &mut self.written_lines] {
            let known = &mut lines[line as usize % DATA_LINES];
            if *known == line {
                *known = u64::MAX;
            }
        }
    }
}
