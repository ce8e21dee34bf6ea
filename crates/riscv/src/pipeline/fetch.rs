//! The fetch unit: lines of instructions, branches and jumps.

use super::{Pipeline, RECENT_LINES, WRITE_BACK};
use crate::cache::Lookup;
use crate::coprocessor::{Coprocessor, LineAccess};
use crate::predictor::{Executed, Prediction, Transfer};
use crate::record::{Buffering, Ending, LinkBehind};
use std::hint::select_unpredictable;

/// Cycles from the one in which an instruction whose line is missing comes to decode
/// until the line is asked for, compared with what a load misses: on a path that could
/// be wrong nothing is asked for. The instruction is fetched again when it has gone
/// through the pipeline, and misses again.
///
/// *Source*: Rocket Chip, `Frontend`: `s2_speculative`, `icache.io.s2_kill`.
const FETCH_AGAIN: u64 = 2;

/// Fetch groups that the queue in front of the instruction buffer holds.
const QUEUE_GROUPS: u64 = 5;

/// More cycles than the fetch unit can be ahead ([`Ending::fetch_ahead`]).
const MOST_AHEAD: u64 = 16;

impl Pipeline {
    /// Returns whether the first instruction of a block at `pc` surely comes
    /// from the same line as the one before.
    #[inline(always)]
    pub fn is_on_line(&self, pc: u64) -> bool {
        pc >> 6 == self.current_line && pc & 63 != 62
    }

    /// Goes on to the line of an instruction at `pc` that lies in one line, if nothing
    /// has to be done for it; returns whether that is so.
    #[inline(always)]
    pub fn goes_on_to(&mut self, pc: u64) -> bool {
        let line = pc >> 6;
        if line == self.current_line {
            return true;
        }
        let known = self.is_fetched(line);
        if known {
            self.current_line = line;
        }
        known
    }

    #[inline(always)]
    fn is_fetched(&self, line: u64) -> bool {
        self.fetched_lines[line as usize % RECENT_LINES] == line
    }

    /// Goes on to the line of that number if nothing has to be done for it; returns
    /// whether that is so.
    #[inline(always)]
    pub fn goes_on_in_line(&mut self, line: u64) -> bool {
        let known = self.is_fetched(line);
        if known {
            self.current_line = line;
        }
        known
    }

    /// Goes on to the line of `pc` if nothing has to be done for it; returns
    /// whether that is so.
    #[inline(always)]
    pub fn enter_known_line(&mut self, pc: u64) -> bool {
        // Two lines are looked at where the instruction could lie in both.
        let line = (pc + 2) >> 6;
        let known = self.is_fetched(line) && (pc >> 6 == line || self.is_fetched(pc >> 6));
        if known {
            self.current_line = line;
        }
        known
    }

    /// Prepares for an instruction at `pc` that uses these registers and lies
    /// or ends in another line than the one before it, which issued at `now`:
    /// returns the cycle before the one in which it can issue. `split` is whether it
    /// follows a jump and lies in two fetch groups.
    pub fn enter_line(
        &mut self,
        uses: u64,
        pc: u64,
        split: bool,
        now: u64,
        below: &mut dyn Coprocessor,
    ) -> u64 {
        let mut issue = now + 1;
        if pc >> 6 != self.current_line || pc & 63 == 62 {
            issue = issue.max(self.fetch_line(pc, split, now, below));
        }
        self.issue(uses, now, issue) - 1
    }

    #[inline(never)]
    fn fetch_line(&mut self, pc: u64, split: bool, now: u64, below: &mut dyn Coprocessor) -> u64 {
        let mut available = 0;
        for address in [pc, pc + 2] {
            if address != pc && address & 63 != 0 {
                break;
            }
            self.current_line = address >> 6;
            if self.instruction_cache.access(address, false) != Lookup::Hit {
                if pc != self.fetch_pc {
                    self.predictor.lose_target(pc);
                }
                let line = address & !63;
                let decoded = self.fetch_start.max(now + 1);
                // Its first half is fetched again before the line of the second.
                let ask = decoded + FETCH_AGAIN + u64::from(address != pc);
                let filled = below.line_access(line, LineAccess::Fetch, ask);
                available = filled + self.config.l1i.miss_overhead;
                if address == pc && split {
                    available += 1;
                }
                if let Some(victim) = self.instruction_cache.fill(line, false) {
                    let lost = victim.address >> 6;
                    let known = &mut self.fetched_lines[lost as usize % RECENT_LINES];
                    if *known == lost {
                        *known = u64::MAX;
                    }
                }
                self.statistics.fetch_misses += 1;
                self.statistics.fetch_miss_cycles += available.saturating_sub(now + 1);
                self.fetch_start = available;
                self.fetch_pc = address;
            }
            self.fetched_lines[self.current_line as usize % RECENT_LINES] = self.current_line;
        }
        available
    }

    /// Begins a run at `pc`. What is fetched in the first cycles of all, by which the fetch
    /// unit can be ahead, lies nowhere before.
    pub fn begin(&mut self, pc: u64) {
        if self.now < MOST_AHEAD {
            self.fetch_pc = self.fetch_pc.min(pc);
        }
    }

    /// Enters a block after the instruction that issued at `now`: returns the
    /// cycle before the one in which its first instruction has been fetched;
    /// `split` is whether that lies in two fetch groups.
    #[inline(always)]
    pub fn enter(&mut self, now: u64, split: bool) -> u64 {
        let first = if split {
            let group_free = self.taken + 1 - self.taken_buffering.taken();
            self.fetch_start.max(group_free) + 1
        } else {
            self.fetch_start
        };
        if first <= now + 1 {
            return now;
        }
        self.run_start = first;
        first - 1
    }

    /// The same without a jump of the host that hangs on what has to be waited for.
    #[inline(always)]
    pub fn enter_unsure(&mut self, now: u64, split: bool) -> u64 {
        let first = if split {
            let group_free = self.taken + 1 - self.taken_buffering.taken();
            self.fetch_start.max(group_free) + 1
        } else {
            self.fetch_start
        };
        let next = now + 1;
        self.run_start = select_unpredictable(first > next, first, self.run_start);
        next.max(first) - 1
    }

    /// Accounts for a branch that issued at `now` and goes on at `next`, if the
    /// fetch unit did so too without a bubble; returns whether it did. Not for one
    /// that stands alone in the upper half of its fetch group.
    #[inline(always)]
    pub fn foreseen_branch(&mut self, now: u64, ending: &Ending, next: u64, taken: bool) -> bool {
        let executed = self.executed(now, ending, next, taken, Transfer::Branch);
        self.portless = now;
        if !self.predictor.foresees_branch(executed) {
            self.looked_up = executed.fetched;
            return false;
        }
        self.foreseen(ending, executed);
        true
    }

    /// Accounts for the branch of which [`foreseen_branch`](Self::foreseen_branch) has
    /// just said no, if it surely was predicted wrongly; returns whether that is so.
    #[inline(always)]
    pub fn mistaken_branch(&mut self, now: u64, ending: &Ending, next: u64, taken: bool) -> bool {
        let transfer = Transfer::Branch;
        let executed = self.executed_when(self.looked_up, now, ending, next, taken, transfer);
        let mistaken = self.predictor.mistakes_branch(executed);
        if mistaken {
            self.redirect(now, ending, executed, Prediction::Wrong);
        }
        mistaken
    }

    /// Accounts for such a branch whether it was foreseen or predicted wrongly, if its
    /// target is known; returns whether that is so, if not nothing has been done.
    /// Makes no jump of the host that hangs on that, which costs more where it is
    /// mostly foreseen, and less where it is not. If it is taken,
    /// [`taken_at`](Self::taken_at) has to follow.
    #[inline(always)]
    pub fn weigh_branch(&mut self, now: u64, ending: &Ending, next: u64, taken: bool) -> bool {
        let executed = self.executed(now, ending, next, taken, Transfer::Branch);
        let is_simple = !taken || !ending.has_link_behind();
        let Some(wrong) = self.predictor.weigh_branch(executed, is_simple) else {
            return false;
        };
        self.portless = now;
        self.statistics.mispredictions += u64::from(wrong);
        self.foreseen(ending, executed);
        let behind = now + 1 + self.config.mispredict_penalty;
        self.fetch_start = select_unpredictable(wrong, behind, self.fetch_start);
        self.fetch_pc = select_unpredictable(wrong, next, self.fetch_pc);
        self.buffering = select_unpredictable(wrong, Buffering::NONE, self.buffering);
        true
    }

    /// Accounts for a branch that issued at `now` and goes on at `next`.
    #[inline(always)]
    pub fn branch(&mut self, now: u64, ending: &Ending, next: u64, taken: bool) {
        self.portless = now;
        let executed = self.executed(now, ending, next, taken, Transfer::Branch);
        let prediction = self.predictor.resolve_branch(executed);
        self.redirect(now, ending, executed, prediction);
    }

    /// Accounts for a jump that neither is a call nor indirect, if the fetch
    /// unit made it without a bubble; returns whether it did. Not for one that stands
    /// alone in the upper half of its fetch group either.
    #[inline(always)]
    pub fn foreseen_jump(&mut self, now: u64, ending: &Ending, target: u64) -> bool {
        let executed = self.executed(now, ending, target, true, Transfer::Jump);
        if !self.predictor.foresees_jump(executed) {
            return false;
        }
        self.portless = now;
        self.foreseen(ending, executed);
        true
    }

    /// Accounts for any jump, if that is soon seen to have been foreseen; returns whether
    /// it was. Not for one that stands alone in the upper half of its fetch group either.
    #[inline(always)]
    pub fn foreseen_any_jump(
        &mut self,
        now: u64,
        ending: &Ending,
        target: u64,
        transfer: Transfer,
    ) -> bool {
        let executed = self.executed(now, ending, target, true, transfer);
        if !self.predictor.foresees_any_jump(executed) {
            return false;
        }
        self.jumped(now, transfer);
        self.fetched_behind(now, ending, executed, 0);
        true
    }

    /// Accounts for a jump that issued at `now` and of which
    /// [`foreseen_any_jump`](Self::foreseen_any_jump) would say no.
    #[inline(always)]
    pub fn jump(&mut self, now: u64, ending: &Ending, target: u64, transfer: Transfer) {
        self.jumped(now, transfer);
        let executed = self.executed(now, ending, target, true, transfer);
        let prediction = self.predictor.resolve_jump(executed);
        self.redirect(now, ending, executed, prediction);
    }

    /// Calls write a register.
    #[inline(always)]
    fn jumped(&mut self, now: u64, transfer: Transfer) {
        if !matches!(transfer, Transfer::Call | Transfer::IndirectCall) {
            self.portless = now;
        }
    }

    /// Notes that the instruction at `pc`, which issued at `now`, is fetched again
    /// once it has reached write-back.
    pub fn fetch_again(&mut self, pc: u64, now: u64) {
        self.fetch_start = now + 1 + self.config.flush_penalty;
        self.fetch_pc = pc;
        self.buffering = Buffering::NONE;
    }

    /// Lets the predictors do what they did about the branch or jump behind the
    /// instruction at `pc`, if it had been fetched before that reached write-back.
    pub fn fetched_in_vain(&mut self, pc: u64, now: u64, ending: &Ending, transfer: Transfer) {
        if matches!(transfer, Transfer::Jump | Transfer::Indirect) {
            return;
        }
        let written_back = now + WRITE_BACK;
        let executed = self.executed(written_back, ending, 0, false, transfer);
        let behind = (executed.last_half >> 2).saturating_sub(pc >> 2);
        // Those between write-back and the instruction buffer do not fill the queue.
        if behind <= QUEUE_GROUPS + 2 && executed.fetched < written_back {
            self.predictor.guess_in_vain(executed);
        }
    }

    /// Returns what the fetch unit knows of a branch or jump.
    #[inline(always)]
    fn executed(
        &self,
        now: u64,
        ending: &Ending,
        next: u64,
        taken: bool,
        transfer: Transfer,
    ) -> Executed {
        let last_half = ending.targets[0] - 2;
        // May be negative where a run begins elsewhere.
        let groups = (last_half >> 2) as i64 - (self.fetch_pc >> 2) as i64;
        let earliest = now as i64 - ending.fetch_ahead as i64;
        let fetched = (self.fetch_start as i64 + groups).max(earliest);
        let fetched = fetched.min(now as i64) as u64;
        self.executed_when(fetched, now, ending, next, taken, transfer)
    }

    /// The same if its group was `fetched` then.
    #[inline(always)]
    fn executed_when(
        &self,
        fetched: u64,
        now: u64,
        ending: &Ending,
        next: u64,
        taken: bool,
        transfer: Transfer,
    ) -> Executed {
        let after = ending.targets[0];
        let last_half = after - 2;
        Executed {
            last_half,
            counter_address: ending.counter_address,
            after,
            target: next,
            taken,
            transfer,
            fetched,
            upper: ending.is_upper(),
            began: self.fetch_pc,
            queue_short: now <= fetched + 2,
        }
    }

    /// Fetches on where a branch or jump goes.
    #[inline(always)]
    fn redirect(&mut self, now: u64, ending: &Ending, executed: Executed, prediction: Prediction) {
        let Executed {
            target: next,
            taken,
            fetched,
            ..
        } = executed;
        let bubble = match prediction {
            Prediction::Wrong => {
                self.statistics.mispredictions += 1;
                if taken {
                    self.fetch_link_behind(now, ending, fetched);
                }
                self.fetch_start = now + 1 + self.config.mispredict_penalty;
                self.fetch_pc = next;
                self.buffering = Buffering::NONE;
                return;
            }
            Prediction::Right => 0,
            Prediction::Late => self.config.decode_redirect_penalty,
        };
        self.fetched_behind(now, ending, executed, bubble);
    }

    /// Lets the return stack follow the call or return behind a branch or jump that
    /// issued at `now` and whose group was `fetched` then, if it was fetched too.
    #[inline(always)]
    fn fetch_link_behind(&mut self, now: u64, ending: &Ending, fetched: u64) {
        let groups = (now + 2 - fetched).min(QUEUE_GROUPS);
        match ending.link_behind() {
            Some(LinkBehind::Return(behind)) if u64::from(behind) <= groups => {
                self.predictor.lose_return();
            }
            Some(LinkBehind::Call(behind)) if u64::from(behind) <= groups => {
                self.predictor.gain_return();
            }
            _ => {}
        }
    }

    /// Notes that the fetch unit went on without a bubble where a direct branch or jump
    /// goes; if it is taken, [`taken_at`](Self::taken_at) has to follow. Its group was
    /// there before it issued: nothing has to wait behind it but an instruction in two
    /// groups.
    #[inline(always)]
    fn foreseen(&mut self, ending: &Ending, executed: Executed) {
        self.buffering = ending.buffering(self.buffering, executed.taken);
        if executed.taken {
            self.fetch_start = executed.fetched + 1;
            self.fetch_pc = executed.target;
        } else {
            self.fetch_start = executed.fetched;
            self.fetch_pc = executed.last_half;
        }
    }

    /// Notes when the branch or jump issued that was taken just now, which nothing looks
    /// at but what enters the block behind it.
    #[inline(always)]
    pub fn taken_at(&mut self, now: u64) {
        self.taken = now;
        self.taken_buffering = self.buffering;
    }

    /// Notes that the fetch unit went on, after so many cycles more than one,
    /// where the branch or jump goes that issued at `now`.
    #[inline(always)]
    fn fetched_behind(&mut self, now: u64, ending: &Ending, executed: Executed, bubble: u64) {
        self.foreseen(ending, executed);
        if executed.taken {
            self.fetch_start += bubble;
            // Where an indirect jump goes was not known before.
            let last = self.buffering.taken() == 1;
            self.buffering = Buffering::behind(last, true, executed.target);
            self.taken_at(now);
        }
    }
}
