//! Which branches and jumps are foreseen.

use super::config::BranchTiming;
use super::parts;
use crate::predictor::Transfer;

/// Counters, history and returns.
#[derive(Clone, Debug)]
pub(super) struct Branches {
    /// Two-bit counters: taken from 2 on.
    counters: Vec<u8>,
    history: u64,
    history_mask: u64,
    returns: Vec<u64>,
    most_returns: usize,
    /// Where indirect jumps went last, by their address.
    targets: [(u64, u64); 64],
    /// Parts of a cycle lost.
    pub taken: u64,
    pub missed: u64,
}

impl Branches {
    pub fn new(timing: &BranchTiming) -> Self {
        Self {
            counters: vec![1; 1 << timing.counter_bits.min(16)],
            history: 0,
            history_mask: (1 << timing.history_bits.min(16)) - 1,
            returns: Vec::new(),
            most_returns: timing.return_stack,
            targets: [(0, 0); 64],
            taken: parts(timing.taken_cycles),
            missed: parts(timing.mispredict_cycles),
        }
    }

    /// Returns the parts of a cycle that a branch loses, and whether it was not foreseen.
    #[inline(always)]
    pub fn branch(&mut self, pc: u64, taken: bool) -> (u64, bool) {
        let mask = self.counters.len() - 1;
        let place = ((pc >> 1) ^ (self.history & self.history_mask)) as usize & mask;
        let counter = &mut self.counters[place];
        let foreseen = *counter >= 2;
        *counter = if taken {
            (*counter + 1).min(3)
        } else {
            counter.saturating_sub(1)
        };
        self.history = self.history << 1 | u64::from(taken);
        match (foreseen == taken, taken) {
            (false, _) => (self.missed, true),
            (true, true) => (self.taken, false),
            (true, false) => (0, false),
        }
    }

    /// The same for a jump to `target`; a call will return to `behind`.
    pub fn jump(&mut self, pc: u64, target: u64, kind: Transfer, behind: u64) -> (u64, bool) {
        let is_foreseen = match kind {
            Transfer::Branch | Transfer::Jump | Transfer::Call => true,
            Transfer::Return => self.returns.pop() == Some(target),
            Transfer::Indirect | Transfer::IndirectCall => {
                let known = &mut self.targets[(pc >> 1) as usize % 64];
                let is_known = *known == (pc, target);
                *known = (pc, target);
                is_known
            }
        };
        if matches!(kind, Transfer::Call | Transfer::IndirectCall) {
            if self.returns.len() >= self.most_returns.max(1) {
                self.returns.remove(0);
            }
            self.returns.push(behind);
        }
        if is_foreseen {
            (self.taken, false)
        } else {
            (self.missed, true)
        }
    }
}
