//! Requests that take no time and leave behind what they would in the L2's directory
//! and in the core's L1.

use super::{LINE_SHIFT, MemorySystem};
use crate::l2::request::{Client, Kind, Request};
use crate::l2::trackers::Step;
use autocomp_riscv::LineAccess;

impl MemorySystem {
    /// The accelerator accesses the line at `address`.
    #[inline]
    pub fn pass(&mut self, address: u64, kind: Kind) {
        self.settle(&Request {
            line: address >> LINE_SHIFT,
            kind,
            client: Client::Writer,
            ..Request::NONE
        });
    }

    /// The core's L1 caches access the line at `address` in cycle `cycle`; returns the
    /// cycle at which the line is usable there.
    pub fn pass_core(&mut self, address: u64, access: LineAccess, cycle: u64) -> u64 {
        let Some(request) = self.core_request(address >> LINE_SHIFT, access, cycle) else {
            return cycle;
        };
        self.settle(&request);
        match access {
            LineAccess::WriteBack => cycle,
            _ => cycle + u64::from(self.config.core_hit_latency),
        }
    }

    /// Returns whether the core's L1 has not been told yet of all lines that it has to
    /// give up or to clean.
    #[inline]
    #[must_use]
    pub fn has_probes(&self) -> bool {
        !self.probes.is_empty()
    }

    /// Does at once all that a request does to its line and to the one that makes room.
    fn settle(&mut self, request: &Request) {
        self.directory.note_lookup();
        let found = self.directory.find(request.line);
        let (transaction, step) = self.enter(request, found);
        match (step, transaction.victim) {
            (Step::Recall, Some(victim)) => {
                self.probes.push((victim.line << LINE_SHIFT, true));
            }
            (Step::Probe, _) => {
                let invalidate = request.kind != Kind::Get;
                self.take_back(request.line, transaction.slot, invalidate);
                self.probes.push((request.line << LINE_SHIFT, invalidate));
            }
            _ => {}
        }
    }
}
