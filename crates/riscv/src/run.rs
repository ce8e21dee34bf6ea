//! The interpreter's outer loops: executes blocks one after the other.

use crate::coprocessor::Coprocessor;
use crate::fault::AccessKind;
use crate::hart::{Exit, Hart, Limits};
use crate::memory::Memory;
use crate::record::{Below, How, Left};
use crate::trap::Trap;

/// Why a chain of blocks ended.
enum End {
    /// Go on at `Hart::pc`.
    Next,
    /// Stop before `Hart::pc`.
    Stop(Exit),
    /// An instruction raised an exception.
    Trap(Trap),
}

impl Hart {
    pub(crate) fn run_blocks<const TIMED: bool>(
        &mut self,
        memory: &mut Memory,
        coprocessor: &mut dyn Coprocessor,
        limits: Limits,
    ) -> Exit {
        loop {
            // A chain ends at `fence.i`, behind which changed code takes effect.
            if memory.take_code_changed() {
                self.code.clear();
            }
            let block_idx = match self.enter(memory) {
                Ok(Some(block_idx)) => block_idx,
                Ok(None) => return Exit::Returned,
                Err(trap) => match self.trap::<TIMED>(trap, limits) {
                    None => continue,
                    Some(exit) => return exit,
                },
            };
            match self.run_chain::<TIMED>(block_idx, memory, coprocessor, limits) {
                End::Next => {}
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
        Some(self.code.blocks[self.code.find(base, pc)?].last)
    }

    /// Returns the index of the block at `pc`, `None` if the program returned.
    #[inline(always)]
    fn enter(&mut self, memory: &mut Memory) -> Result<Option<usize>, Trap> {
        match self.code.find(memory.base(), self.pc) {
            Some(block_idx) => Ok(Some(block_idx)),
            None => self.enter_new(memory),
        }
    }

    #[cold]
    #[inline(never)]
    fn enter_new(&mut self, memory: &mut Memory) -> Result<Option<usize>, Trap> {
        if self.return_address == Some(self.pc) {
            return Ok(None);
        }
        self.code
            .translate(self.pc, memory)
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
        if core.instructions > limits.instructions {
            return Some(Exit::Limit);
        }
        core.reservation = None;
        self.pc = core.csr.enter_trap(pc, cause, value);
        if TIMED {
            core.pipeline.now += 1;
            core.pipeline.flush(self.pc);
        }
        None
    }

    /// Executes blocks from `block_idx` on, as long as the next one is known.
    fn run_chain<const TIMED: bool>(
        &mut self,
        block_idx: usize,
        memory: &mut Memory,
        coprocessor: &mut dyn Coprocessor,
        limits: Limits,
    ) -> End {
        let base = memory.base();
        let core = &mut self.core;
        let mut below = Below { coprocessor };
        let mut now = core.pipeline.now;
        let mut block_idx = block_idx;
        let mut block = &self.code.blocks[block_idx];
        loop {
            if core.instructions >= limits.instructions || TIMED && now >= limits.cycles {
                self.pc = block.pc;
                core.pipeline.now = now;
                return End::Stop(Exit::Limit);
            }
            core.instructions += u64::from(block.instructions);
            core.start = block.pc;
            if TIMED {
                now = core.pipeline.enter_block(block, now, below.coprocessor);
            }
            let left = (block.first)(core, memory, &block.records, now, &mut below);
            now = left.now;
            let taken = left.how != How::NotTaken;
            let next = match left.how {
                How::NotTaken | How::Taken => block.targets[usize::from(taken)],
                How::Indirect => core.pc,
                _ => {
                    let (after, instructions) = (block.after, block.instructions);
                    return self.leave::<TIMED>(left, after, instructions);
                }
            };
            if TIMED && let Some(transfer) = block.transfer {
                core.pipeline.transfer(now, block, next, taken, transfer);
            }
            // The block that followed last time is tried first.
            let link = block.links[usize::from(taken)];
            match self.code.blocks.get(link as usize) {
                Some(linked) if left.how != How::Indirect || linked.pc == next => {
                    block_idx = link as usize;
                    block = linked;
                }
                _ => match self.code.find(base, next) {
                    Some(next_idx) => {
                        self.code.blocks[block_idx].links[usize::from(taken)] = next_idx as u32;
                        block_idx = next_idx;
                        block = &self.code.blocks[next_idx];
                    }
                    None => {
                        self.pc = next;
                        core.pipeline.now = now;
                        return End::Next;
                    }
                },
            }
        }
    }

    /// Ends a chain behind a block of so many instructions that ends at `after`.
    #[inline(never)]
    fn leave<const TIMED: bool>(&mut self, left: Left, after: u64, instructions: u32) -> End {
        let core = &mut self.core;
        core.pipeline.now = left.now;
        self.pc = match left.how {
            How::Stop | How::Elsewhere => core.pc,
            _ => after,
        };
        match left.how {
            How::Restart | How::Elsewhere => {
                if TIMED {
                    core.pipeline.flush(self.pc);
                }
            }
            How::Trap | How::Stop => {
                // The instruction at fault and those behind it did not retire.
                core.instructions -= u64::from(instructions) - u64::from(core.retired);
            }
            _ => {}
        }
        if let Some(trap) = core.trap.take() {
            return End::Trap(trap);
        }
        core.exit.take().map_or(End::Next, End::Stop)
    }
}
