//! The interpreter's outer loops: executes blocks one after the other.

use crate::code::Block;
use crate::coprocessor::Coprocessor;
use crate::fault::AccessKind;
use crate::hart::{Exit, Hart, Limits};
use crate::record::{Below, How, Jumps};
use crate::trap::Trap;

/// Instructions after which steps return: where a compiler makes real calls of
/// the jumps from step to step, they nest no deeper than this and a block.
const PAUSE_INSTRUCTIONS: u64 = 500;

/// Why a chain of blocks ended.
enum End {
    /// Go on at `Hart::pc`.
    Next,
    /// A limit was reached before `Hart::pc`.
    Cut,
    /// Stop before `Hart::pc`.
    Stop(Exit),
    /// An instruction raised an exception.
    Trap(Trap),
}

impl Hart {
    /// Executes blocks of the program in [`Core::memory`](crate::record::Core::memory).
    pub(crate) fn run_blocks<const TIMED: bool>(
        &mut self,
        coprocessor: &mut dyn Coprocessor,
        limits: Limits,
    ) -> Exit {
        if TIMED {
            self.core.pipeline.begin(self.pc);
        }
        // A chain that a limit has cut goes on as if there had been none.
        let mut goes_on = std::mem::take(&mut self.cut)
            && self.code.find(self.core.memory.base(), self.pc).is_some();
        loop {
            // A chain ends at `fence.i`, behind which changed code takes effect.
            if !std::mem::take(&mut goes_on) && self.core.memory.take_code_changed() {
                self.forget_code();
            }
            let block = match self.enter() {
                Ok(Some(block)) => block,
                Ok(None) => return Exit::Returned,
                Err(trap) => match self.trap::<TIMED>(trap, limits) {
                    None => continue,
                    Some(exit) => return exit,
                },
            };
            match self.run_chain::<TIMED>(block.place, coprocessor, limits) {
                End::Next => {}
                End::Cut => {
                    self.cut = true;
                    return Exit::Limit;
                }
                End::Stop(exit) => return exit,
                End::Trap(trap) => {
                    if let Some(exit) = self.trap::<TIMED>(trap, limits) {
                        return exit;
                    }
                }
            }
        }
    }

    /// Returns the address of the last instruction of the block that starts at
    /// `pc`, if it has been translated.
    pub(crate) fn block_end(&self, base: u64, pc: u64) -> Option<u64> {
        Some(self.code.find(base, pc)?.last)
    }

    /// Forgets all translated code.
    pub(crate) fn forget_code(&mut self) {
        self.code.clear();
        self.core.jumps = Jumps::new();
    }

    /// Returns the block at `pc`, `None` if the program returned.
    fn enter(&mut self) -> Result<Option<Block>, Trap> {
        match self.code.find(self.core.memory.base(), self.pc) {
            Some(block) => Ok(Some(block)),
            None => self.enter_new(),
        }
    }

    #[cold]
    #[inline(never)]
    fn enter_new(&mut self) -> Result<Option<Block>, Trap> {
        if self.return_address == Some(self.pc) {
            return Ok(None);
        }
        self.code
            .translate(self.pc, &mut self.core.memory)
            .map(Some)
            .map_err(|fault| Trap::access(fault, AccessKind::Fetch))
    }

    /// Enters the program's handler, or returns what stops the machine.
    #[cold]
    fn trap<const TIMED: bool>(&mut self, trap: Trap, limits: Limits) -> Option<Exit> {
        let pc = trap.fault.pc;
        self.pc = pc;
        let Some((cause, value)) = trap.handled else {
            return Some(Exit::Fault(*trap.fault));
        };
        let core = &mut self.core;
        let handler = core.csr.mtvec & !3;
        // A handler that traps on its first instruction would do so forever.
        if handler == 0 || handler == pc {
            return Some(Exit::Fault(*trap.fault));
        }
        // Traps count against the limit, so that a program that does nothing
        // but trap ends.
        core.instructions += 1;
        core.reservation = None;
        self.pc = core.csr.enter_trap(pc, cause, value);
        if TIMED {
            core.pipeline.now += 1;
            core.pipeline.flush(self.pc);
        }
        (core.instructions > limits.instructions).then_some(Exit::Limit)
    }

    /// Executes blocks from `place` on, as long as the next one is known.
    fn run_chain<const TIMED: bool>(
        &mut self,
        place: u32,
        coprocessor: &mut dyn Coprocessor,
        limits: Limits,
    ) -> End {
        let base = self.core.memory.base();
        let core = &mut self.core;
        let mut place = place;
        loop {
            core.pause_at = limits
                .instructions
                .min(core.instructions + PAUSE_INSTRUCTIONS);
            let mut below = Below {
                code: &self.code.records,
                last_cycle: limits.cycles,
                coprocessor,
            };
            let records = below.code.get(place as usize..).unwrap_or_default();
            let Some(first) = records.first() else {
                // Cannot be; going on at the same place is the harmless answer.
                return End::Next;
            };
            let now = core.pipeline.now;
            let how = (first.step)(core, records, now, &mut below);
            self.pc = core.pc;
            match how {
                How::Pause => {
                    let at_limit = core.instructions >= limits.instructions;
                    if at_limit || core.is_late::<TIMED>(limits.cycles) {
                        return End::Cut;
                    }
                    let mispredictions = core.pipeline.statistics.mispredictions;
                    if core.doubts.are_over(core.instructions, mispredictions) {
                        self.code.doubt_none(base);
                    }
                    let Some(block) = self.code.find(base, core.pc) else {
                        return End::Next;
                    };
                    place = block.place;
                }
                How::Doubted => {
                    self.code.doubt(base, core.start);
                    let Some(block) = self.code.find(base, core.pc) else {
                        return End::Next;
                    };
                    place = block.place;
                }
                How::Unlinked => {
                    let Some(block) = self.code.find(base, core.pc) else {
                        return End::Next;
                    };
                    place = block.place;
                    core.jumps.learn(core.pc, place);
                    if let Some(from) = self.code.find(base, core.start) {
                        self.code.link(from, core.pc, place);
                    }
                }
                _ => return self.leave::<TIMED>(how, base),
            }
        }
    }

    /// Ends a chain behind a block that was left otherwise than to another one.
    #[inline(never)]
    fn leave<const TIMED: bool>(&mut self, how: How, base: u64) -> End {
        let core = &mut self.core;
        if let Some(block) = self.code.find(base, core.start) {
            if matches!(how, How::Trap | How::Stop) {
                // The instruction at fault and those behind it did not retire.
                core.instructions -= u64::from(block.instructions) - u64::from(core.retired);
            }
            if matches!(how, How::After | How::Restart | How::StopAfter) {
                self.pc = block.targets[0];
            }
        }
        if TIMED && matches!(how, How::Restart | How::Elsewhere) {
            core.pipeline.flush(self.pc);
        }
        if let Some(trap) = core.trap.take() {
            return End::Trap(trap);
        }
        core.exit.take().map_or(End::Next, End::Stop)
    }
}
