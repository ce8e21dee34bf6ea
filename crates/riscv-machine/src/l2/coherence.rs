//! Coherence with the core's L1: lines that it asks for, and lines taken back.
//!
//! *Source*: SiFive's inclusive cache, `SourceB`, `SinkC`, `MSHR`.

use super::{BANKS, BEATS, LINE_SHIFT, MemorySystem, THROUGH_L2};
use crate::l2::directory::{CORE, CORE_DIRTY, DIRTY, OWNED, SHARED};
use crate::l2::request::{Client, Kind, Request};
use crate::l2::trackers::Step;
use autocomp_riscv::LineAccess;
use std::collections::VecDeque;

/// Cycles from the L2 sending a probe to the L1 seeing it.
const PROBE_TO_L1: u64 = 1;
/// Runs of probes that are remembered while no one asks.
pub const RUNS: usize = 64;

/// Cycles in which the core's data cache takes no requests of the core: from a
/// probe being there to the line's new state being noted. Probes go first, so
/// those that follow each other leave no cycle between them.
///
/// *Source*: Rocket Chip, `DCache`: a probe at the port keeps requests from the
/// tags, `release_state` everything while it is worked on.
#[derive(Clone, Debug, Default)]
pub struct Turns {
    /// First cycle of each run, and that behind it, the oldest first.
    pub runs: VecDeque<(u64, u64)>,
}

impl Turns {
    /// Adds a probe that is there in cycle `from` and done before cycle `end`.
    pub fn add(&mut self, from: u64, end: u64) {
        if let Some((_, last)) = self.runs.back_mut()
            && from <= *last
        {
            *last = end.max(*last);
            return;
        }
        if self.runs.len() == RUNS {
            self.runs.pop_front();
        }
        self.runs.push_back((from, end));
    }

    /// Returns the first cycle from `cycle` on in which a request is taken, and
    /// forgets runs that have ended before: no one asks for earlier ones.
    pub fn next(&mut self, cycle: u64) -> u64 {
        while let Some((from, end)) = self.runs.front() {
            if cycle < *end {
                return if *from <= cycle { *end } else { cycle };
            }
            self.runs.pop_front();
        }
        cycle
    }
}

impl MemorySystem {
    /// Moves the probes for the core's L1 into `probes`: lines to give up (`true`)
    /// or to clean.
    #[inline]
    pub fn take_probes(&mut self, probes: &mut Vec<(u64, bool)>) {
        probes.append(&mut self.probes);
    }

    /// Returns the first cycle from `cycle` on in which the core's data cache takes
    /// a request, as far as is known.
    #[inline]
    pub fn core_turn(&mut self, cycle: u64) -> u64 {
        self.turns.next(cycle)
    }

    /// Returns when a request that the core sends in cycle `sent` is at the L2.
    #[inline]
    #[must_use]
    pub fn arrival_from_core(&self, sent: u64) -> u64 {
        sent + u64::from(self.config.core_hit_latency).saturating_sub(THROUGH_L2 + BEATS - 1)
    }

    /// The core's L1 caches access the line at `address`; returns the cycle at
    /// which the line is usable there, or `None` if that is up to the L2, which
    /// answers.
    pub fn core_access(&mut self, address: u64, access: LineAccess, cycle: u64) -> Option<u64> {
        self.counts.core_requests += 1;
        let Some(request) = self.core_request(address >> LINE_SHIFT, access, cycle) else {
            return Some(cycle);
        };
        self.trackers.send(self.arrival_from_core(cycle), request);
        (access == LineAccess::WriteBack).then_some(cycle)
    }

    /// Returns what the core's L1 caches send in cycle `sent` to access a line; nothing
    /// if the line is exclusive, so that no one has to be asked.
    pub(super) fn core_request(
        &mut self,
        line: u64,
        access: LineAccess,
        sent: u64,
    ) -> Option<Request> {
        let (kind, client, beats) = match access {
            LineAccess::Fetch => (Kind::Get, Client::Core, BEATS),
            LineAccess::Read => (Kind::Acquire { write: false }, Client::Core, BEATS),
            LineAccess::ReadToWrite => (Kind::Acquire { write: true }, Client::Core, BEATS),
            LineAccess::Write => {
                let slot = self.directory.find(line);
                let held = slot.map_or(0, |slot| self.directory.entry(slot));
                if let Some(slot) = slot.filter(|_| held & (OWNED | CORE_DIRTY) != 0) {
                    self.directory.change(slot, 0, OWNED | CORE_DIRTY);
                    return None;
                }
                // The right to write comes without data if the core has them.
                let beats = if held & SHARED == 0 { BEATS } else { 1 };
                (Kind::Acquire { write: true }, Client::Core, beats)
            }
            LineAccess::WriteBack => (Kind::Release, Client::Nobody, BEATS),
        };
        Some(Request {
            line,
            beat: 0,
            beats: beats as u8,
            kind,
            client,
            sent,
        })
    }

    /// The core's data cache gets the line in a place of the directory, which the L2
    /// holds already, and with it the right to write it if it asks for that or no
    /// one else had the line. A line that it has given up without a word, as it does
    /// with clean ones, counts as held: it comes without the right.
    ///
    /// *Source*: `MSHR`, `req_promoteT` and the state that follows `TRUNK`.
    pub(super) fn grant(&mut self, slot: usize, line: u64, write: bool) {
        let entry = self.directory.entry(slot);
        let written = if entry & CORE_DIRTY != 0 { DIRTY } else { 0 };
        let (clear, set) = match (write, entry & CORE != 0) {
            (true, _) => (SHARED, OWNED | CORE_DIRTY),
            (false, true) => (OWNED | CORE_DIRTY, SHARED | written),
            (false, false) => (0, OWNED),
        };
        self.directory.change(slot, clear, set);
        if entry & CORE == 0 {
            self.sharing.hold(line);
        }
    }

    /// Asks the core for a line, which it has written if `dirty`; returns the
    /// cycle at which its answer begins.
    pub(super) fn ask_core(&mut self, line: u64, dirty: bool, invalidate: bool, now: u64) -> u64 {
        self.counts.probes += 1;
        self.probes.push((line << LINE_SHIFT, invalidate));
        let config = &self.config;
        let (latency, occupancy) = if dirty {
            (config.probe_dirty_latency, config.probe_dirty_occupancy)
        } else {
            (config.probe_clean_latency, config.probe_clean_occupancy)
        };
        let start = now.max(self.probe_free);
        self.probe_free = start + u64::from(occupancy);
        self.turns
            .add(now + PROBE_TO_L1, self.probe_free + PROBE_TO_L1);
        // A read of what the core has written waits for its first beat.
        let wait = config.hit_latency + u32::from(dirty);
        start + u64::from(latency.saturating_sub(wait))
    }

    /// Notes that the core has given up a line, or cleaned it.
    pub(super) fn take_back(&mut self, line: u64, slot: usize, invalidate: bool) {
        let dirty = self.directory.entry(slot) & CORE_DIRTY != 0;
        let kept = if invalidate { 0 } else { SHARED };
        let written = if dirty { DIRTY } else { 0 };
        self.directory.change(slot, CORE, written | kept);
        if invalidate {
            self.sharing.lose(line);
        }
    }

    /// Takes the line of a request back from the core, in cycle `now`.
    pub(super) fn probe(&mut self, idx: usize, request: &Request, slot: usize, now: u64) {
        let dirty = self.directory.entry(slot) & CORE_DIRTY != 0;
        let invalidate = request.kind != Kind::Get;
        let back = self.ask_core(request.line, dirty, invalidate, now);
        self.take_back(request.line, slot, invalidate);
        let rest = if dirty { BEATS - 1 } else { 0 };
        if dirty {
            for beat in 0..BEATS {
                self.pipeline.mark_bank(beat as usize % BANKS, back + beat);
            }
        }
        self.trackers.settle(idx, back + rest);
        // Only a request for the line's start is answered while the rest is
        // still coming.
        let ready = if request.beat == 0 { back } else { back + rest };
        self.trackers.go_on(idx, Step::Answer, ready);
    }
}
