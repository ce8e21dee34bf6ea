//! Branch prediction: branch target buffer, history table, return stack.
//!
//! *Source*: Rocket Chip, `BTB` and `Frontend`; constants measured on RTL.

use crate::config::CoreConfig;

/// What a control transfer is to the predictors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transfer {
    Branch,
    Jump,
    /// A jump that writes a link register.
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

/// One executed control transfer, as the fetch unit sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Executed {
    /// Address of its last halfword; the group of four bytes there decides.
    pub last_half: u64,
    /// What that adds to the number of a counter ([`counter_address`]).
    pub counter_address: u32,
    /// Address of the next instruction.
    pub after: u64,
    /// Where it goes if taken.
    pub target: u64,
    pub taken: bool,
    pub transfer: Transfer,
    /// Cycle in which its fetch group was delivered.
    pub fetched: u64,
    /// Whether fetching began in the upper half of the group: the target
    /// buffer, which knows whole groups, is then not hit.
    pub entered_late: bool,
    /// Whether the queue was so empty that a bubble was likely to show.
    pub queue_short: bool,
}

const NO_TARGET: u64 = u64::MAX;
const SLOTS: usize = 256;

#[derive(Clone, Copy, Debug)]
struct Target {
    last_half: u64,
    target: u64,
}

/// The predictors of a Rocket core.
#[derive(Clone, Debug)]
pub(crate) struct Predictor {
    targets: Vec<Target>,
    next_target: usize,
    /// By a hash of the address: the number of targets and the newest one.
    slots: [(u8, u8); SLOTS],
    /// The address of that one; [`NO_TARGET`] if it is gone.
    newest: [u64; SLOTS],
    counters: Vec<bool>,
    history: u32,
    /// The history before its last change, and when that was: a lookup in the
    /// cycle after it does not see it yet.
    older_history: u32,
    history_changed: u64,
    /// The bit of a history that the next outcome takes.
    newest_outcome: u32,
    /// By the history, what it adds to the number of a counter.
    hashes: Vec<u32>,
    counter_mask: u32,
    stack: Vec<u64>,
    stack_top: usize,
    stack_depth: usize,
    /// When the last return address was pushed, and the depth before.
    pushed: u64,
}

impl Predictor {
    pub fn new(config: &CoreConfig) -> Self {
        let history_length = config.bht_history.clamp(1, 16);
        let history_bits = config.bht_history_bits.min(history_length);
        let counter_bits = counter_bits(config);
        let counters = 1 << counter_bits;
        let factor = (0.75f64.sqrt() * f64::from(1u32 << history_length)) as u32;
        let hash = |history: u32| {
            let hash = factor.wrapping_mul(history) & ((1 << history_length) - 1);
            hash >> (history_length - history_bits) << counter_bits.saturating_sub(history_bits)
        };
        let mut predictor = Self {
            targets: vec![
                Target {
                    last_half: NO_TARGET,
                    target: 0
                };
                config.btb_entries.clamp(1, 255)
            ],
            next_target: 0,
            slots: [(0, 0); SLOTS],
            newest: [NO_TARGET; SLOTS],
            counters: vec![false; counters],
            history: 0,
            older_history: 0,
            history_changed: 0,
            newest_outcome: 1 << (history_length - 1),
            hashes: (0..1 << history_length).map(hash).collect(),
            counter_mask: counters as u32 - 1,
            stack: vec![0; config.ras_entries.max(1)],
            stack_top: 0,
            stack_depth: 0,
            pushed: 0,
        };
        predictor.reset();
        predictor
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        self.targets.fill(Target {
            last_half: NO_TARGET,
            target: 0,
        });
        self.next_target = 0;
        self.slots.fill((0, 0));
        self.newest.fill(NO_TARGET);
        self.counters.fill(false);
        self.history = 0;
        self.older_history = 0;
        self.stack_depth = 0;
    }

    /// A return on a path that turned out wrong took an address from the stack.
    pub fn lose_return(&mut self) {
        self.stack_depth = self.stack_depth.saturating_sub(1);
    }

    /// Returns whether a branch surely is predicted right and without a bubble.
    #[inline(always)]
    pub fn foresees_branch(&self, executed: Executed) -> bool {
        let taken = executed.taken;
        let seen = self.visible_history(executed.fetched);
        self.counters[self.counter_idx(executed, seen)] == taken
            && (!taken || self.foresees_jump(executed))
    }

    /// Learns from a branch that was predicted right.
    #[inline(always)]
    pub fn note_branch(&mut self, executed: Executed) {
        self.older_history = self.history;
        self.history = self.shifted(self.history, executed.taken);
        self.history_changed = executed.fetched;
    }

    /// Predicts and then learns from one executed branch.
    #[inline(always)]
    pub fn resolve_branch(&mut self, executed: Executed) -> Prediction {
        let Executed {
            last_half,
            target,
            taken,
            fetched,
            ..
        } = executed;
        let seen = self.visible_history(fetched);
        let idx = self.counter_idx(executed, seen);
        let guess = self.counters[idx];
        if guess != taken {
            self.counters[idx] = taken;
            self.history = self.shifted(seen, taken);
            self.older_history = self.history;
            if taken {
                self.learn_target(last_half, target);
            }
            return Prediction::Wrong;
        }
        self.note_branch(executed);
        if !taken || self.knows(executed) {
            return Prediction::Right;
        }
        if executed.queue_short {
            self.learn_target(last_half, target);
        }
        Prediction::Late
    }

    /// Returns whether the target buffer surely is hit: all there is to a jump
    /// that neither is a call nor indirect.
    #[inline(always)]
    pub fn foresees_jump(&self, executed: Executed) -> bool {
        let last_half = executed.last_half;
        self.newest[slot(last_half)] == last_half && !executed.entered_late
    }

    fn knows(&self, executed: Executed) -> bool {
        !executed.entered_late && self.find(executed.last_half).is_some()
    }

    /// Predicts and then learns from one executed jump.
    #[inline(never)]
    pub fn resolve_jump(&mut self, executed: Executed) -> Prediction {
        let Executed {
            last_half,
            after,
            target,
            transfer,
            fetched,
            ..
        } = executed;
        let found = if executed.entered_late {
            None
        } else {
            self.find(last_half)
        };
        let prediction = match (transfer, found) {
            (Transfer::Jump | Transfer::Call, Some(_)) => Prediction::Right,
            (Transfer::Jump | Transfer::Call, None) => Prediction::Late,
            (Transfer::Return, Some(idx)) => {
                // The buffer answers a cycle before a call fetched just ahead
                // has pushed its address.
                let depth = self.stack_depth - usize::from(self.is_push_unseen(fetched));
                let guess = match depth {
                    0 => self.targets[idx].target,
                    _ => self.stack_at(self.stack_depth - depth),
                };
                if guess == target {
                    Prediction::Right
                } else {
                    Prediction::Wrong
                }
            }
            (Transfer::Return, None) if self.stack_depth > 0 && self.stack_at(0) == target => {
                Prediction::Late
            }
            (Transfer::Indirect | Transfer::IndirectCall, Some(idx))
                if self.targets[idx].target == target =>
            {
                Prediction::Right
            }
            _ => Prediction::Wrong,
        };
        match transfer {
            Transfer::Call | Transfer::IndirectCall => {
                self.stack_top = (self.stack_top + 1) % self.stack.len();
                self.stack[self.stack_top] = after;
                self.stack_depth = (self.stack_depth + 1).min(self.stack.len());
                self.pushed = fetched;
            }
            Transfer::Return if self.stack_depth > 0 => {
                self.stack_depth -= 1;
                self.stack_top = (self.stack_top + self.stack.len() - 1) % self.stack.len();
            }
            _ => {}
        }
        match prediction {
            Prediction::Wrong => {
                self.history = self.visible_history(fetched);
                self.older_history = self.history;
                self.learn_target(last_half, target);
            }
            Prediction::Late if executed.queue_short => self.learn_target(last_half, target),
            Prediction::Late | Prediction::Right => {}
        }
        prediction
    }

    fn is_push_unseen(&self, fetched: u64) -> bool {
        self.stack_depth > 0 && fetched < self.pushed + 2
    }

    fn stack_at(&self, below_top: usize) -> u64 {
        self.stack[(self.stack_top + self.stack.len() - below_top) % self.stack.len()]
    }

    fn visible_history(&self, fetched: u64) -> u32 {
        if fetched < self.history_changed + 2 {
            self.older_history
        } else {
            self.history
        }
    }

    fn shifted(&self, history: u32, taken: bool) -> u32 {
        let outcome = if taken { self.newest_outcome } else { 0 };
        outcome | history >> 1
    }

    #[inline(always)]
    fn counter_idx(&self, executed: Executed, history: u32) -> usize {
        ((executed.counter_address ^ self.hashes[history as usize]) & self.counter_mask) as usize
    }

    fn find(&self, last_half: u64) -> Option<usize> {
        let (count, newest) = self.slots[slot(last_half)];
        if count == 0 {
            return None;
        }
        if self.targets[usize::from(newest)].last_half == last_half {
            return Some(newest.into());
        }
        self.targets
            .iter()
            .position(|target| target.last_half == last_half)
    }

    fn learn_target(&mut self, last_half: u64, target: u64) {
        if let Some(idx) = self.find(last_half) {
            self.targets[idx].target = target;
            return;
        }
        let idx = self.next_target;
        self.next_target = (idx + 1) % self.targets.len();
        let old = self.targets[idx].last_half;
        if old != NO_TARGET {
            self.slots[slot(old)].0 -= 1;
            if self.newest[slot(old)] == old {
                self.newest[slot(old)] = NO_TARGET;
            }
        }
        self.targets[idx] = Target { last_half, target };
        let entry = &mut self.slots[slot(last_half)];
        *entry = (entry.0 + 1, idx as u8);
        self.newest[slot(last_half)] = last_half;
    }
}

fn counter_bits(config: &CoreConfig) -> u32 {
    let counters = config.bht_entries.clamp(1, 1 << 24).next_power_of_two();
    counters.trailing_zeros()
}

/// Returns what a branch whose last halfword lies there adds to the number of
/// a counter.
pub(crate) fn counter_address(config: &CoreConfig, last_half: u64) -> u32 {
    let group = last_half >> 2;
    (group as u32) ^ ((group >> counter_bits(config)) as u32 & 3)
}

fn slot(last_half: u64) -> usize {
    (last_half >> 1) as usize & (SLOTS - 1)
}
