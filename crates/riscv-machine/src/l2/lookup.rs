//! What a request needs, once its line has been looked up.
//!
//! *Source*: SiFive's inclusive cache, `Directory`, `MSHR`.

use super::MemorySystem;
use crate::l2::directory::{CORE, CORE_DIRTY, DIRTY, OWNED};
use crate::l2::request::{Kind, Request};
use crate::l2::trackers::{Step, Transaction};

impl MemorySystem {
    /// Looks up the line of a request that has got a tracker, and decides what
    /// has to be done from cycle `ready` on.
    #[inline]
    pub(super) fn plan(&mut self, idx: usize, ready: u64) {
        let request = *self.trackers.request(idx);
        let found = self.directory.find(request.line);
        if let Some(slot) = found
            && request.is_read()
            && self.directory.entry(slot) & (OWNED | CORE_DIRTY) == 0
        {
            self.counts.hits += 1;
            return self.trackers.begin_hit(idx, ready);
        }
        self.plan_more(idx, found, ready);
    }

    /// The same, of anything but a read of the accelerator that needs nothing but the
    /// data pipeline.
    #[inline(never)]
    fn plan_more(&mut self, idx: usize, found: Option<usize>, ready: u64) {
        let request = *self.trackers.request(idx);
        let (transaction, step) = self.enter(&request, found);
        self.trackers.begin(idx, transaction, step, ready);
    }

    /// Notes in the directory what a request does to its line, which is in place
    /// `found` if the L2 holds it; returns the transaction and its first step.
    #[inline(always)]
    pub(super) fn enter(&mut self, request: &Request, found: Option<usize>) -> (Transaction, Step) {
        let mut victim = None;
        let (slot, step, changes) = if let Some(slot) = found {
            if !request.is_from_core() {
                self.counts.hits += 1;
            }
            let entry = self.directory.entry(slot);
            match request.kind {
                Kind::Get if entry & (OWNED | CORE_DIRTY) != 0 => (slot, Step::Probe, true),
                Kind::Get => (slot, Step::Answer, false),
                Kind::Put { .. } => {
                    self.directory.change(slot, 0, DIRTY);
                    let step = if entry & CORE != 0 {
                        Step::Probe
                    } else {
                        Step::Answer
                    };
                    (slot, step, step == Step::Probe || entry & DIRTY == 0)
                }
                Kind::Acquire { write } => {
                    self.grant(slot, request.line, write);
                    (slot, Step::Answer, true)
                }
                Kind::Release => {
                    self.directory.change(slot, CORE, DIRTY);
                    if entry & CORE != 0 {
                        self.sharing.lose(request.line);
                    }
                    (slot, Step::Answer, true)
                }
            }
        } else if request.kind == Kind::Release {
            // The line was taken from the core on the way.
            (0, Step::Answer, false)
        } else {
            if !request.is_from_core() {
                self.counts.misses += 1;
            }
            let slot;
            (slot, victim) = self.directory.replace(request.line);
            let state = match request.kind {
                Kind::Put { .. } => DIRTY,
                Kind::Acquire { write: true } => OWNED | CORE_DIRTY,
                Kind::Acquire { write: false } => OWNED,
                Kind::Get | Kind::Release => 0,
            };
            self.directory.change(slot, 0, state);
            if state & CORE != 0 {
                self.sharing.hold(request.line);
            }
            if let Some(victim) = victim.filter(|victim| victim.core) {
                self.sharing.lose(victim.line);
            }
            let step = match victim {
                Some(victim) if victim.core => Step::Recall,
                Some(_) => Step::Release,
                None => Step::Acquire,
            };
            (slot, step, true)
        };
        let transaction = Transaction {
            slot,
            victim,
            changes,
            hit: found.is_some(),
        };
        (transaction, step)
    }
}
