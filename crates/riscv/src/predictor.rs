//! Branch prediction: what the fetch unit guesses of branches and jumps.
//!
//! All of it works on fetch groups of four bytes. A group is looked up once, and
//! one history bit, one counter and at most one target serve whatever it holds.
//!
//! *Source*: Rocket Chip, `BTB` (with `BHT` and `RAS`), `Frontend` and `IBuf`; when
//! the core corrects them, `RocketCore`.

mod targets;
mod transfer;

use crate::config::CoreConfig;
use std::hint::select_unpredictable;
use targets::{Place, Targets};

pub(crate) use transfer::{Executed, Prediction, Transfer};

/// The most histories there can be.
const HISTORIES: usize = 1 << 16;

/// The most counters there can be.
const COUNTERS: usize = 1 << 16;

/// What the fetch unit does about the transfer in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guess {
    GoOn,
    /// As the target buffer says, without a bubble.
    Target(u64),
    /// What the bytes say, a cycle later.
    Decoded,
}

/// The outcomes of the last branches, and what they add to the number of a counter in
/// the upper half.
#[derive(Clone, Copy, Debug)]
struct History(u32);

impl History {
    const NONE: Self = Self(0);

    #[inline(always)]
    fn outcomes(self) -> u16 {
        self.0 as u16
    }

    #[inline(always)]
    fn hash(self) -> u16 {
        (self.0 >> 16) as u16
    }
}

/// The predictors of a Rocket core.
#[derive(Clone, Debug)]
pub(crate) struct Predictor {
    targets: Targets,
    /// As many as a number of 16 bits can name, so that no index needs a check.
    counters: Box<[bool; COUNTERS]>,
    history: History,
    /// The history before its last change, and when that was: a lookup in the
    /// cycle after it does not see it yet.
    older_history: History,
    history_changed: u64,
    /// The history that the last branch's group was looked up with, and what the
    /// counter said.
    last_seen: History,
    last_guess: bool,
    /// The bit of a history that the next outcome takes.
    newest_outcome: u16,
    /// By the outcomes: as many as there can be, so that no index needs a check.
    histories: Box<[History; HISTORIES]>,
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
        let factor = (0.75f64.sqrt() * f64::from(1u32 << history_length)) as u32;
        let history = |outcomes: u32| {
            let hash = factor.wrapping_mul(outcomes) & ((1 << history_length) - 1);
            let hash = hash >> (history_length - history_bits)
                << counter_bits.saturating_sub(history_bits);
            History(outcomes | hash << 16)
        };
        let histories: Vec<History> = (0..HISTORIES as u32).map(history).collect();
        let histories = histories.into_boxed_slice().try_into();
        let histories = histories.expect("there is one for each of them");
        let mut predictor = Self {
            targets: Targets::new(config.btb_entries),
            counters: Box::new([false; COUNTERS]),
            history: History::NONE,
            older_history: History::NONE,
            history_changed: 0,
            last_seen: History::NONE,
            last_guess: false,
            newest_outcome: 1 << (history_length - 1),
            histories,
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
        self.targets.reset();
        self.counters.fill(false);
        self.history = History::NONE;
        self.older_history = History::NONE;
        self.stack_depth = 0;
    }

    /// A return on a path that turned out wrong took an address from the stack.
    pub fn lose_return(&mut self) {
        self.pop();
    }

    /// A call on such a path put one there.
    pub fn gain_return(&mut self) {
        // Nothing returns there: instructions have even addresses.
        self.push(1);
    }

    /// The line behind the instruction that ends before `pc` had to be fetched.
    /// The core, which sees no next instruction, corrects the fetch unit as if it
    /// had predicted a jump: the target that the instruction's group has is lost,
    /// and the first one if it has none.
    pub fn lose_target(&mut self, pc: u64) {
        let place = self.targets.find(pc - 2);
        self.targets.remove(place.map_or(0, |place| place.idx));
    }

    /// Returns whether a branch that does not stand alone in the upper half of its group
    /// surely is predicted right and without a bubble, and learns from it if so.
    #[inline(always)]
    pub fn foresees_branch(&mut self, executed: Executed) -> bool {
        let Executed { taken, fetched, .. } = executed;
        let seen = self.visible_history(fetched);
        if self.counter(executed, seen) != taken || taken && !self.targets.knows(executed.last_half)
        {
            return false;
        }
        if !taken {
            // For a branch that follows in the same group.
            self.last_seen = seen;
            self.last_guess = false;
        }
        self.advance(taken, fetched);
        true
    }

    /// Returns whether such a branch surely is predicted wrongly and its target known, and
    /// learns from it if so: what [`resolve_branch`](Self::resolve_branch) does, but
    /// sooner.
    #[inline(always)]
    pub fn mistakes_branch(&mut self, executed: Executed) -> bool {
        let Executed { taken, fetched, .. } = executed;
        let seen = self.visible_history(fetched);
        let idx = self.counter_idx(executed, seen);
        let counter = &mut self.counters[usize::from(idx)];
        if *counter == taken {
            return false;
        }
        match self.targets.target_of(executed.last_half) {
            Some(target) if target == executed.target || !taken => {}
            _ => return false,
        }
        *counter = taken;
        self.history = self.shifted(seen, taken);
        self.older_history = self.history;
        self.history_changed = fetched;
        true
    }

    /// Predicts such a branch and learns from it, if the target buffer holds its target,
    /// and if it `is_simple` or predicted right; returns whether it is predicted wrongly,
    /// `None` if nothing has been done. What
    /// [`resolve_branch`](Self::resolve_branch) does, without a jump of the host that
    /// hangs on the prediction.
    #[inline(always)]
    pub fn weigh_branch(&mut self, executed: Executed, is_simple: bool) -> Option<bool> {
        let Executed { taken, fetched, .. } = executed;
        let (place, target) = self.targets.at(executed.last_half)?;
        if taken && target != executed.target {
            return None;
        }
        let seen = self.visible_history(fetched);
        let idx = self.counter_idx(executed, seen);
        let guess = self.counters[usize::from(idx)];
        let wrong = guess != taken;
        if !is_simple && wrong {
            return None;
        }
        self.counters[usize::from(idx)] = taken;
        self.targets.touch_if(place, taken || wrong);
        if !taken {
            // For a branch that follows in the same group.
            self.last_seen = seen;
            self.last_guess = guess;
        }
        let before = select_unpredictable(wrong, seen, self.history);
        let behind = self.shifted(before, taken);
        self.older_history = select_unpredictable(wrong, behind, self.history);
        self.history = behind;
        self.history_changed = fetched;
        Some(wrong)
    }

    /// Predicts and then learns from one executed branch.
    #[inline(always)]
    pub fn resolve_branch(&mut self, executed: Executed) -> Prediction {
        let Executed {
            last_half,
            target,
            taken,
            fetched,
            queue_short,
            ..
        } = executed;
        let in_same_group = executed.follows_branch();
        if !in_same_group {
            self.last_seen = self.visible_history(fetched);
            self.last_guess = self.counter(executed, self.last_seen);
            self.advance(self.last_guess, fetched);
        }
        let seen = self.last_seen;
        let idx = self.counter_idx(executed, seen);
        self.counters[usize::from(idx)] = taken;
        let place = self.look_up(&executed);
        let guess = place.and_then(|place| self.guess(place, self.last_guess, last_half));
        let guess = match guess {
            Some(guess) => guess,
            None if self.last_guess => Guess::Decoded,
            None => Guess::GoOn,
        };
        if guess == Guess::Decoded && place.is_none() && queue_short {
            self.targets.add(last_half, target, Transfer::Branch);
        }
        match guess {
            Guess::GoOn if !taken => return Prediction::Right,
            Guess::Target(known) if taken && known == target => return Prediction::Right,
            Guess::Decoded if taken => return Prediction::Late,
            _ => {}
        }
        self.history = self.shifted(seen, taken);
        self.older_history = self.history;
        if taken {
            // Without a target of its own the branch takes the first place.
            let place = place.map_or(0, |place| place.idx);
            self.targets
                .replace(place, last_half, target, Transfer::Branch);
        }
        Prediction::Wrong
    }

    /// Returns whether the target buffer surely is hit, by a jump that does not stand
    /// alone in the upper half of its group: all there is to it if it neither is a
    /// call nor indirect.
    #[inline(always)]
    pub fn foresees_jump(&mut self, executed: Executed) -> bool {
        self.targets.knows(executed.last_half)
    }

    /// Returns whether a call, return or indirect jump that does not stand alone in the
    /// upper half of its group was predicted right and without a bubble, as far as that is
    /// soon seen, and learns from it if so.
    #[inline(always)]
    pub fn foresees_any_jump(&mut self, executed: Executed) -> bool {
        let Some(known) = self.targets.target_of(executed.last_half) else {
            return false;
        };
        let target = match executed.transfer {
            Transfer::Return => self.seen_return(executed.fetched).unwrap_or(known),
            _ => known,
        };
        if target != executed.target {
            return false;
        }
        self.follow_links(executed);
        true
    }

    /// Does to the stack what a call or return does.
    #[inline(always)]
    fn follow_links(&mut self, executed: Executed) {
        match executed.transfer {
            Transfer::Call | Transfer::IndirectCall => {
                self.push(executed.after);
                self.pushed = executed.fetched;
            }
            Transfer::Return => self.pop(),
            Transfer::Branch | Transfer::Jump | Transfer::Indirect => {}
        }
    }

    /// Predicts and then learns from one executed jump.
    #[inline(always)]
    pub fn resolve_jump(&mut self, executed: Executed) -> Prediction {
        let Executed {
            last_half,
            target,
            transfer,
            fetched,
            queue_short,
            ..
        } = executed;
        let place = self.look_up(&executed);
        let guess = place.and_then(|place| {
            let taken = place.transfer != Transfer::Branch || self.seen_counter(executed).1;
            self.guess(place, taken, last_half)
        });
        let decoded = match transfer {
            Transfer::Return => self.next_return(),
            Transfer::Jump | Transfer::Call => Some(target),
            _ => None,
        };
        let prediction = match (guess, decoded) {
            (Some(Guess::Target(known)), _) => {
                let seen = match transfer {
                    Transfer::Return => self.seen_return(fetched).unwrap_or(known),
                    _ => known,
                };
                if seen == target {
                    Prediction::Right
                } else {
                    Prediction::Wrong
                }
            }
            (None, Some(known)) if known == target => Prediction::Late,
            _ => Prediction::Wrong,
        };
        self.follow_links(executed);
        if guess.is_none() && decoded.is_some() && place.is_none() && queue_short {
            self.targets.add(last_half, target, transfer);
        }
        if prediction == Prediction::Wrong {
            self.history = self.seen_counter(executed).0;
            self.older_history = self.history;
            match place {
                Some(place) if guess.is_some() => {
                    self.targets.replace(place.idx, last_half, target, transfer);
                }
                _ => self.targets.add(last_half, target, transfer),
            }
        }
        prediction
    }

    /// Returns the history that the group of a jump was looked up with, and what the
    /// counter said.
    #[inline(always)]
    fn seen_counter(&self, executed: Executed) -> (History, bool) {
        if executed.follows_branch() {
            return (self.last_seen, self.last_guess);
        }
        let seen = self.visible_history(executed.fetched);
        (seen, self.counter(executed, seen))
    }

    /// Does what is done about a branch or jump when it is fetched, before it is
    /// fetched again.
    pub fn guess_in_vain(&mut self, executed: Executed) {
        let fetched = executed.fetched;
        match executed.transfer {
            Transfer::Branch => {
                let seen = self.visible_history(fetched);
                let guess = self.counter(executed, seen);
                self.advance(guess, fetched);
            }
            Transfer::Call | Transfer::IndirectCall => self.push(executed.after),
            Transfer::Return => self.pop(),
            Transfer::Jump | Transfer::Indirect => {}
        }
    }

    /// Returns what the target buffer holds for the group of a transfer.
    #[inline(always)]
    fn look_up(&mut self, executed: &Executed) -> Option<Place> {
        if executed.is_entered_late() {
            None
        } else {
            self.targets.find(executed.last_half)
        }
    }

    /// Returns what the target buffer says to the transfer that ends at `last_half`, if
    /// branches in its group are `taken` by their counter or not; `None` if it leaves it
    /// to the bytes.
    #[inline(always)]
    fn guess(&mut self, place: Place, taken: bool, last_half: u64) -> Option<Guess> {
        if place.transfer == Transfer::Branch && !taken {
            return None;
        }
        self.targets.touch(place.idx);
        if place.last_half == last_half {
            Some(Guess::Target(place.target))
        } else {
            Some(Guess::GoOn)
        }
    }

    #[inline(always)]
    fn push(&mut self, address: u64) {
        self.stack_top += 1;
        if self.stack_top >= self.stack.len() {
            self.stack_top = 0;
        }
        self.stack[self.stack_top] = address;
        self.stack_depth = (self.stack_depth + 1).min(self.stack.len());
    }

    #[inline(always)]
    fn pop(&mut self) {
        if self.stack_depth > 0 {
            self.stack_depth -= 1;
            self.stack_top = self.below_top();
        }
    }

    #[inline(always)]
    fn below_top(&self) -> usize {
        let top = self.stack_top;
        top.checked_sub(1).unwrap_or(self.stack.len() - 1)
    }

    fn is_push_unseen(&self, fetched: u64) -> bool {
        self.stack_depth > 0 && fetched < self.pushed + 2
    }

    /// Returns the address that the target buffer gives a return fetched then,
    /// if there is one: it answers a cycle before a call fetched just ahead has
    /// pushed its address.
    #[inline(always)]
    fn seen_return(&self, fetched: u64) -> Option<u64> {
        if !self.is_push_unseen(fetched) {
            return self.next_return();
        }
        (self.stack_depth > 1).then(|| self.stack[self.below_top()])
    }

    /// Returns the address that the next return takes from the stack.
    #[inline(always)]
    fn next_return(&self) -> Option<u64> {
        (self.stack_depth > 0).then(|| self.stack[self.stack_top])
    }

    #[inline(always)]
    fn is_change_unseen(&self, fetched: u64) -> bool {
        fetched < self.history_changed + 2
    }

    #[inline(always)]
    fn visible_history(&self, fetched: u64) -> History {
        let unseen = self.is_change_unseen(fetched);
        select_unpredictable(unseen, self.older_history, self.history)
    }

    #[inline(always)]
    fn advance(&mut self, taken: bool, fetched: u64) {
        self.older_history = self.history;
        self.history = self.shifted(self.history, taken);
        self.history_changed = fetched;
    }

    #[inline(always)]
    fn shifted(&self, history: History, taken: bool) -> History {
        let outcome = if taken { self.newest_outcome } else { 0 };
        self.histories[usize::from(outcome | history.outcomes() >> 1)]
    }

    #[inline(always)]
    fn counter_idx(&self, executed: Executed, history: History) -> u16 {
        executed.counter_address ^ history.hash()
    }

    #[inline(always)]
    fn counter(&self, executed: Executed, history: History) -> bool {
        self.counters[usize::from(self.counter_idx(executed, history))]
    }
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
