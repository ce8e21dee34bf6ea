//! The fetch unit: lines of instructions, branches and jumps.

use super::{Pipeline, RECENT_LINES, WRITE_BACK};
use crate::cache::Lookup;
use crate::coprocessor::{Coprocessor, LineAccess};
use crate::predictor::{Executed, Prediction, Transfer};
use crate::record::Ending;

impl Pipeline {
    /// Returns whether the first instruction of a block at `pc` surely comes
    /// from the same line as the one before.
    #[inline(always)]
    pub fn is_on_line(&self, pc: u64) -> bool {
        pc >> 6 == self.current_line && pc & 63 != 62
    }

    #[inline(always)]
    fn is_fetched(&self, line: u64) -> bool {
        self.fetched_lines[line as usize % RECENT_LINES] == line
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
    /// returns the cycle before the one in which it can issue.
    pub fn enter_line(&mut self, uses: u64, pc: u64, now: u64, below: &mut dyn Coprocessor) -> u64 {
        let mut issue = now + 1;
        if pc >> 6 != self.current_line || pc & 63 == 62 {
            issue = issue.max(self.fetch_line(pc, now, below));
        }
        self.issue(uses, now, issue) - 1
    }

    #[inline(never)]
    fn fetch_line(&mut self, pc: u64, now: u64, below: &mut dyn Coprocessor) -> u64 {
        let mut available = 0;
        for address in [pc, pc + 2] {
            if address != pc && address & 63 != 0 {
                break;
            }
            self.current_line = address >> 6;
            if self.instruction_cache.access(address, false) != Lookup::Hit {
                let line = address & !63;
                let ask = now.max(self.fetch_start);
                let filled = below.line_access(line, LineAccess::Fetch, ask);
                available = filled + self.config.l1i.miss_overhead;
                self.instruction_cache.fill(line, false);
                self.fetched_lines.fill(u64::MAX);
                self.statistics.fetch_misses += 1;
                self.statistics.fetch_miss_cycles += available.saturating_sub(now + 1);
                self.fetch_start = available;
                self.fetch_pc = address;
            }
            self.fetched_lines[self.current_line as usize % RECENT_LINES] = self.current_line;
        }
        available
    }

    /// Enters a block after the instruction that issued at `now`: returns the
    /// cycle before the one in which its first instruction has been fetched,
    /// which takes so many `more` fetch groups than one.
    #[inline(always)]
    pub fn enter(&mut self, now: u64, more: u64) -> u64 {
        let first = self.fetch_start + more;
        if first <= now + 1 {
            return now;
        }
        self.run_start = first;
        first - 1
    }

    /// Accounts for a branch that issued at `now` and goes on at `next`, if the
    /// fetch unit did so too without a bubble; returns whether it did.
    #[inline(always)]
    pub fn foreseen_branch(&mut self, now: u64, ending: &Ending, next: u64, taken: bool) -> bool {
        let executed = self.executed(now, ending, next, taken, Transfer::Branch);
        if !self.predictor.foresees_branch(executed) {
            return false;
        }
        self.free_port = now + WRITE_BACK;
        self.predictor.note_branch(executed);
        if taken {
            self.fetch_start = executed.fetched + 1;
            self.fetch_pc = next;
        }
        true
    }

    /// Accounts for a branch that issued at `now` and goes on at `next`.
    #[inline(always)]
    pub fn branch(&mut self, now: u64, ending: &Ending, next: u64, taken: bool) {
        self.free_port = now + WRITE_BACK;
        let executed = self.executed(now, ending, next, taken, Transfer::Branch);
        let prediction = self.predictor.resolve_branch(executed);
        self.redirect(now, ending, executed, prediction);
    }

    /// Accounts for a jump that neither is a call nor indirect, if the fetch
    /// unit made it without a bubble; returns whether it did.
    #[inline(always)]
    pub fn foreseen_jump(&mut self, now: u64, ending: &Ending, target: u64) -> bool {
        let executed = self.executed(now, ending, target, true, Transfer::Jump);
        if !self.predictor.foresees_jump(executed) {
            return false;
        }
        self.free_port = now + WRITE_BACK;
        self.fetch_start = executed.fetched + 1;
        self.fetch_pc = target;
        true
    }

    /// Accounts for a jump that issued at `now`.
    #[inline(never)]
    pub fn jump(&mut self, now: u64, ending: &Ending, target: u64, transfer: Transfer) {
        if !matches!(transfer, Transfer::Call | Transfer::IndirectCall) {
            self.free_port = now + WRITE_BACK;
        }
        let executed = self.executed(now, ending, target, true, transfer);
        let prediction = self.predictor.resolve_jump(executed);
        self.redirect(now, ending, executed, prediction);
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
        let after = ending.targets[0];
        let last_half = after - 2;
        let groups = (last_half >> 2).saturating_sub(self.fetch_pc >> 2);
        let earliest = now.saturating_sub(ending.fetch_ahead);
        let fetched = (self.fetch_start + groups).max(earliest).min(now);
        Executed {
            last_half,
            counter_address: ending.counter_address,
            after,
            target: next,
            taken,
            transfer,
            fetched,
            entered_late: groups == 0 && self.fetch_pc & 2 != 0,
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
                if taken && u64::from(ending.return_behind) <= now + 2 - fetched {
                    self.predictor.lose_return();
                }
                self.fetch_start = now + 1 + self.config.mispredict_penalty;
                self.fetch_pc = next;
                return;
            }
            _ if !taken => return,
            Prediction::Right => 0,
            Prediction::Late => self.config.decode_redirect_penalty,
        };
        self.fetch_start = fetched + 1 + bubble;
        self.fetch_pc = next;
    }
}
