//! When the warps of a block do what, if nothing but results is waited for.

use super::machine::Machine;
use crate::decode::Op;

/// Instructions ahead of those that a warp waits for: compilers unroll loops and move loads to
/// the front, so that those of a few iterations are under way at once.
const AHEAD: usize = 32;

/// When a warp does what.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    /// When it issues the next instruction.
    now: f64,
    ready: Vec<f64>,
    /// When the last instructions have their operands, in a ring.
    starts: [f64; AHEAD],
    at: usize,
    /// When the last result is there.
    end: f64,
    /// When the copies that nobody waits for are there: those of each group, then the others.
    groups: Vec<f64>,
    copies: f64,
}

impl Clock {
    pub(super) fn new(registers: usize) -> Self {
        Self {
            now: 0.0,
            ready: vec![0.0; registers],
            starts: [0.0; AHEAD],
            at: 0,
            end: 0.0,
            groups: Vec::new(),
            copies: 0.0,
        }
    }

    /// Waits until `time` at least.
    pub(super) fn wait(&mut self, time: f64) {
        self.now = self.now.max(time);
    }

    /// Issues an instruction that reads and writes registers, and returns the cycles that it
    /// waits for what it reads.
    pub(super) fn issue(
        &mut self,
        (reads, writes): &(Vec<u32>, Vec<u32>),
        issue: f64,
        latency: f64,
    ) -> f64 {
        self.now = self.now.max(self.starts[self.at]);
        let ready = reads.iter().map(|it| self.ready[*it as usize]);
        let start = ready.fold(self.now, f64::max);
        let waited = start - self.now;
        self.starts[self.at] = start;
        self.at = (self.at + 1) % AHEAD;
        self.now += issue;
        self.end = self.end.max(start + latency);
        for register in writes {
            self.ready[*register as usize] = start + latency;
        }
        waited
    }

    /// Returns when the last instruction had its operands.
    pub(super) fn issued(&self) -> f64 {
        self.starts[(self.at + AHEAD - 1) % AHEAD]
    }

    /// Makes the results of the last instruction later.
    pub(super) fn result(&mut self, writes: &[u32], latency: f64) {
        let issued = self.issued();
        self.end = self.end.max(issued + latency);
        for register in writes {
            let ready = &mut self.ready[*register as usize];
            *ready = ready.max(issued + latency);
        }
    }

    /// Does something over and over for so many cycles, and nothing else.
    pub(super) fn spin(&mut self, cycles: f64) {
        self.wait(self.issued() + cycles);
    }

    /// Begins a copy that nobody waits for yet.
    pub(super) fn copy(&mut self, latency: f64) {
        self.copies = self.copies.max(self.issued() + latency);
    }

    /// Does what an instruction says of the order of others, but for barriers, which are a matter
    /// of all warps.
    pub(super) fn order(&mut self, op: &Op, machine: &Machine) {
        match op {
            // It waits until what was written before is at the L2.
            Op::Fence { device: true } => self.wait(self.begun() + machine.l2_latency),
            Op::CopyCommit => self.commit(),
            Op::CopyWait { groups } => self.wait_for_copies(*groups),
            _ => {}
        }
    }

    /// Makes a group of the copies since the last one.
    fn commit(&mut self) {
        self.groups.push(self.copies);
        self.copies = 0.0;
    }

    /// Waits until at most `left` groups are under way; without a number, for all copies.
    fn wait_for_copies(&mut self, left: Option<u32>) {
        let done = self.groups.len().saturating_sub(left.unwrap_or(0) as usize);
        let groups = self.groups.drain(..done);
        self.now = groups.fold(self.now, f64::max);
        if left.is_none() {
            self.now = self.now.max(self.copies);
        }
    }

    /// Returns when all of its instructions so far have begun.
    pub(super) fn begun(&self) -> f64 {
        self.starts.iter().fold(self.now, |a, b| a.max(*b))
    }

    /// Returns when it has ended.
    pub(super) fn ended(&self) -> f64 {
        self.now.max(self.end)
    }
}
