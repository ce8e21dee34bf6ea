//! Branch prediction: what the fetch unit guesses of branches and jumps.
//!
//! All of it works on fetch groups of four bytes. A group is looked up once, and
//! one history bit, one counter and at most one target serve whatever it holds.
//!
//! *Source*: Rocket Chip, `BTB` (with `BHT` and `RAS`), `Frontend` and `IBuf`; when
//! the core corrects them, `RocketCore`.

mod history;
mod returns;
pub(crate) mod targets;
pub(crate) mod transfer;

use crate::config::CoreConfig;
use history::{History, HistoryTable};
use returns::ReturnStack;
use targets::{Place, Targets};

pub(crate) use history::counter_address;
pub(crate) use transfer::{Executed, Prediction, Transfer};

/// What the fetch unit does about the transfer in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guess {
    GoOn,
    /// As the target buffer says, without a bubble.
    Target(u64),
    /// What the bytes say, a cycle later.
    Decoded,
}

/// The predictors of a Rocket core.
#[derive(Clone, Debug)]
pub(crate) struct Predictor {
    targets: Targets,
    history: HistoryTable,
    /// The history that the last branch's group was looked up with, and what the
    /// counter said.
    last_seen: History,
    last_guess: bool,
    returns: ReturnStack,
}

impl Predictor {
    pub fn new(config: &CoreConfig) -> Self {
        let mut predictor = Self {
            targets: Targets::new(config.btb_entries),
            history: HistoryTable::new(config),
            last_seen: History::NONE,
            last_guess: false,
            returns: ReturnStack::new(config),
        };
        predictor.reset();
        predictor
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        self.targets.reset();
        self.history.reset();
        self.returns.reset();
    }

    /// A return on a path that turned out wrong took an address from the stack.
    pub fn lose_return(&mut self) {
        self.returns.pop();
    }

    /// A call on such a path put one there.
    pub fn gain_return(&mut self) {
        // Nothing returns there: instructions have even addresses.
        self.returns.push(1);
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
        let seen = self.history.visible(fetched);
        if self.history.counter(executed, seen) != taken
            || taken && !self.targets.knows(executed.last_half)
        {
            return false;
        }
        if !taken {
            // For a branch that follows in the same group.
            self.last_seen = seen;
            self.last_guess = false;
        }
        self.history.advance(taken, fetched);
        true
    }

    /// Returns whether such a branch surely is predicted wrongly and its target known, and
    /// learns from it if so: what [`resolve_branch`](Self::resolve_branch) does, but
    /// sooner.
    #[inline(always)]
    pub fn mistakes_branch(&mut self, executed: Executed) -> bool {
        let Executed { taken, fetched, .. } = executed;
        let seen = self.history.visible(fetched);
        let counter = self.history.counter_mut(executed, seen);
        if *counter == taken {
            return false;
        }
        match self.targets.target_of(executed.last_half) {
            Some(target) if target == executed.target || !taken => {}
            _ => return false,
        }
        *counter = taken;
        self.history.correct(seen, taken);
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
        let seen = self.history.visible(fetched);
        let counter = self.history.counter_mut(executed, seen);
        let guess = *counter;
        let wrong = guess != taken;
        if !is_simple && wrong {
            return None;
        }
        *counter = taken;
        self.targets.touch_if(place, taken || wrong);
        if !taken {
            // For a branch that follows in the same group.
            self.last_seen = seen;
            self.last_guess = guess;
        }
        self.history.follow(wrong, seen, taken, fetched);
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
            self.last_seen = self.history.visible(fetched);
            self.last_guess = self.history.counter(executed, self.last_seen);
            self.history.advance(self.last_guess, fetched);
        }
        let seen = self.last_seen;
        *self.history.counter_mut(executed, seen) = taken;
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
        self.history.correct(seen, taken);
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
            Transfer::Return => self.returns.seen(executed.fetched).unwrap_or(known),
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
                self.returns.push_fetched(executed.after, executed.fetched);
            }
            Transfer::Return => self.returns.pop(),
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
            Transfer::Return => self.returns.next(),
            Transfer::Jump | Transfer::Call => Some(target),
            _ => None,
        };
        let prediction = match (guess, decoded) {
            (Some(Guess::Target(known)), _) => {
                let seen = match transfer {
                    Transfer::Return => self.returns.seen(fetched).unwrap_or(known),
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
            self.history.restore(self.seen_counter(executed).0);
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
        let seen = self.history.visible(executed.fetched);
        (seen, self.history.counter(executed, seen))
    }

    /// Does what is done about a branch or jump when it is fetched, before it is
    /// fetched again.
    pub fn guess_in_vain(&mut self, executed: Executed) {
        let fetched = executed.fetched;
        match executed.transfer {
            Transfer::Branch => {
                let seen = self.history.visible(fetched);
                let guess = self.history.counter(executed, seen);
                self.history.advance(guess, fetched);
            }
            Transfer::Call | Transfer::IndirectCall => self.returns.push(executed.after),
            Transfer::Return => self.returns.pop(),
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
}
