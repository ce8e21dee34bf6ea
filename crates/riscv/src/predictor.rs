//! Branch prediction: branch target buffer, history table, return stack.

use crate::config::CoreConfig;

/// What a control transfer is to the predictors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transfer {
    Branch,
    Jump,
    /// A jump that writes `ra`.
    Call,
    /// An indirect jump that is no return.
    Indirect,
    IndirectCall,
    Return,
}

/// How well the fetch unit did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prediction {
    /// Right direction and target when fetched.
    Right,
    /// Right, but only after the bytes were seen: a bubble in the fetch unit.
    Late,
    Wrong,
}

#[derive(Clone, Copy, Debug)]
struct Target {
    pc: u64,
    target: u64,
    transfer: Transfer,
}

/// The predictors of a Rocket core.
#[derive(Clone, Debug)]
pub(crate) struct Predictor {
    targets: Vec<Option<Target>>,
    next_target: usize,
    counters: Vec<bool>,
    history: u32,
    history_length: u32,
    history_bits: u32,
    hash_factor: u32,
    stack: Vec<u64>,
    stack_entries: usize,
}

impl Predictor {
    pub fn new(config: &CoreConfig) -> Self {
        let history_length = config.bht_history.clamp(1, 16);
        Self {
            targets: vec![None; config.btb_entries],
            next_target: 0,
            counters: vec![false; config.bht_entries.max(1).next_power_of_two()],
            history: 0,
            history_length,
            history_bits: config.bht_history_bits.min(history_length),
            hash_factor: (0.75f64.sqrt() * f64::from(1u32 << history_length)) as u32,
            stack: Vec::with_capacity(config.ras_entries),
            stack_entries: config.ras_entries,
        }
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        self.targets.fill(None);
        self.next_target = 0;
        self.counters.fill(false);
        self.history = 0;
        self.stack.clear();
    }

    /// Predicts and then learns from one executed transfer at `pc`. `after` is
    /// the address of the next instruction.
    pub fn resolve(
        &mut self,
        pc: u64,
        after: u64,
        target: u64,
        taken: bool,
        transfer: Transfer,
    ) -> Prediction {
        // The fetch unit knows groups of four bytes; the last half decides.
        let group = (after - 2) & !3;
        let found = self
            .targets
            .iter()
            .position(|entry| entry.is_some_and(|entry| entry.pc == pc));
        let prediction = match transfer {
            Transfer::Branch => {
                let idx = self.counter_idx(group);
                let guess = self.counters[idx];
                self.counters[idx] = taken;
                self.history = u32::from(taken) << (self.history_length - 1) | self.history >> 1;
                match (guess == taken, taken, found) {
                    (false, _, _) => Prediction::Wrong,
                    (true, false, _) | (true, true, Some(_)) => Prediction::Right,
                    (true, true, None) => Prediction::Late,
                }
            }
            Transfer::Jump | Transfer::Call => match found {
                Some(_) => Prediction::Right,
                None => Prediction::Late,
            },
            Transfer::Return => match (self.stack.pop(), found) {
                (Some(address), Some(_)) if address == target => Prediction::Right,
                (Some(address), None) if address == target => Prediction::Late,
                _ => Prediction::Wrong,
            },
            Transfer::Indirect | Transfer::IndirectCall => match found {
                Some(idx) if self.targets[idx].is_some_and(|entry| entry.target == target) => {
                    Prediction::Right
                }
                _ => Prediction::Wrong,
            },
        };
        if matches!(transfer, Transfer::Call | Transfer::IndirectCall) && self.stack_entries > 0 {
            if self.stack.len() == self.stack_entries {
                self.stack.remove(0);
            }
            self.stack.push(after);
        }
        if prediction != Prediction::Right && taken && !self.targets.is_empty() {
            let idx = found.unwrap_or_else(|| {
                self.next_target = (self.next_target + 1) % self.targets.len();
                self.next_target
            });
            self.targets[idx] = Some(Target {
                pc,
                target,
                transfer,
            });
        }
        prediction
    }

    fn counter_idx(&self, group: u64) -> usize {
        let size = self.counters.len();
        let address = (group >> 2) as usize;
        let folded = (address & (size - 1)) ^ (address / size & 3);
        let hash = self.hash_factor.wrapping_mul(self.history) & ((1 << self.history_length) - 1);
        let hash = (hash >> (self.history_length - self.history_bits)) as usize;
        (folded ^ hash << (size.trailing_zeros() - self.history_bits.min(size.trailing_zeros())))
            & (size - 1)
    }
}
