//! One hart: registers, translated code, and how runs begin and end.

use crate::code::CodeCache;
use crate::config::CoreConfig;
use crate::coprocessor::Coprocessor;
use crate::csr::ControlRegisters;
use crate::fault::Fault;
use crate::instruction::Extensions;
use crate::memory::Memory;
use crate::record::Core;
use crate::schedule::Schedule;
use crate::scoreboard::{PARTS, Scoreboard, ScoreboardConfig, Spent};
use crate::statistics::CoreStatistics;
use crate::vector::VectorUnit;
use std::ops::RangeInclusive;

/// Whether cycles are modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Results only: every cycle given to the coprocessor is 0, and the cycle
    /// counter shows the number of instructions.
    Functional,
    /// Results and cycles.
    Timed,
}

/// When a run must end at the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Total of retired instructions, as [`Hart::instructions`] counts them. A
    /// run ends at the first jump behind it, at most 64 instructions later.
    pub instructions: u64,
    /// Core cycle, as [`Hart::cycle`] counts them; ignored in functional mode.
    pub cycles: u64,
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The program jumped to the return address set by [`Hart::set_return_address`].
    Returned,
    /// A limit was reached.
    Limit,
    /// The program stored to a page with [`Memory::hook`].
    Hook,
    /// The program wrote this value to `mscratch`, and
    /// [`Hart::stop_on_scratch`] asked to be told.
    Scratch(u64),
    /// The program did something illegal.
    Fault(Fault),
}

/// A RISC-V hart (RV64IMAFDC, machine mode only).
#[derive(Clone, Debug)]
pub struct Hart {
    pub(crate) core: Core,
    pub(crate) pc: u64,
    pub(crate) code: CodeCache,
    pub(crate) return_address: Option<u64>,
    /// The last run reached a limit between two blocks, code of which may have changed
    /// without taking effect yet.
    pub(crate) cut: bool,
    mode: Mode,
    /// What integer and floating-point registers hold behind [`reset_registers`](Self::reset_registers).
    at_reset: [u64; 2],
}

impl Hart {
    /// Makes a hart at address 0 with cold caches.
    #[must_use]
    pub fn new(config: &CoreConfig, mode: Mode) -> Self {
        Self {
            core: Core::new(config),
            pc: 0,
            code: CodeCache::new(Schedule::new(config, mode == Mode::Timed)),
            return_address: None,
            cut: false,
            mode,
            at_reset: [0; 2],
        }
    }

    /// Gives the hart a vector unit, switched on. It has none otherwise, and vector instructions
    /// are illegal.
    #[must_use]
    pub fn with_vectors(mut self, unit: VectorUnit) -> Self {
        self.core.csr = ControlRegisters::new(true, true);
        self.core.vector = Some(Box::new(unit));
        self
    }

    /// Gives the hart extensions of its scalar part. Their instructions are illegal otherwise.
    #[must_use]
    pub fn with_extensions(mut self, extensions: Extensions) -> Self {
        self.code.extend(extensions);
        self
    }

    /// Gives the hart another timing than that of the core that it was made with: that of a core
    /// that issues in order as these numbers say. Changes nothing in functional mode.
    #[must_use]
    pub fn with_scoreboard(mut self, config: &ScoreboardConfig) -> Self {
        if self.mode == Mode::Timed {
            self.code.keep_time(&self.core.pipeline.config);
            self.core.scoreboard = Some(Box::new(Scoreboard::new(config)));
        }
        self
    }

    /// From now on a program whose stack pointer leaves these addresses is stopped, where no time
    /// is kept.
    pub fn watch_stack(&mut self, stack: RangeInclusive<u64>) {
        self.core.stack = Some(stack);
        self.code.watch_stack();
    }

    /// Returns the lowest value that the program has given its stack pointer since
    /// [`reset_registers`](Self::reset_registers), if the stack is watched and no time is kept.
    #[must_use]
    pub fn lowest_stack_pointer(&self) -> Option<u64> {
        let is_known = self.core.stack.is_some() && self.mode == Mode::Functional;
        is_known.then_some(self.core.lowest_stack_pointer)
    }

    /// Begins to note what cycles are spent on, for code from `base` on, if the hart has a
    /// scoreboard.
    pub fn note_causes(&mut self, base: u64) {
        if let Some(board) = &mut self.core.scoreboard {
            board.note_causes(base);
        }
    }

    /// Returns what has been noted since then: by address what instructions cost.
    #[must_use]
    pub fn causes(&self) -> Vec<(u64, Spent)> {
        let board = self.core.scoreboard.as_ref();
        board.map_or(Vec::new(), |board| board.causes())
    }

    /// Returns the vector unit, if there is one.
    #[must_use]
    pub fn vectors(&self) -> Option<&VectorUnit> {
        self.core.vector.as_deref()
    }

    /// Returns the vector unit for changes, if there is one.
    #[must_use]
    pub fn vectors_mut(&mut self) -> Option<&mut VectorUnit> {
        self.core.vector.as_deref_mut()
    }

    /// Returns the address of the next instruction.
    #[must_use]
    pub fn pc(&self) -> u64 {
        self.pc
    }

    /// Sets the address of the next instruction; bit 0 is ignored.
    pub fn set_pc(&mut self, pc: u64) {
        self.pc = pc & !1;
    }

    /// Returns an integer register, 0 to 31.
    #[must_use]
    pub fn register(&self, number: usize) -> u64 {
        self.core.x[number & 31]
    }

    /// Sets an integer register, 1 to 31; writes to `x0` are ignored.
    pub fn set_register(&mut self, number: usize, value: u64) {
        if number & 31 != 0 {
            self.core.x[number & 31] = value;
        }
    }

    /// Returns the bits of a floating-point register, 0 to 31.
    #[must_use]
    pub fn float_register(&self, number: usize) -> u64 {
        self.core.f[number & 31]
    }

    /// Sets the bits of a floating-point register, 0 to 31. Single-precision
    /// values have all upper bits set.
    pub fn set_float_register(&mut self, number: usize, bits: u64) {
        self.core.f[number & 31] = bits;
    }

    /// Returns the floating-point control and status register.
    #[must_use]
    pub fn float_status(&self) -> u64 {
        u64::from(self.core.csr.frm) << 5 | u64::from(self.core.csr.fflags)
    }

    /// Returns the number of instructions retired so far.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.core.instructions
    }

    /// Returns the cycle in which the last instruction issued; in functional
    /// mode the number of instructions.
    #[must_use]
    pub fn cycle(&self) -> u64 {
        match self.mode {
            Mode::Functional => self.core.instructions,
            Mode::Timed => match &self.core.scoreboard {
                // What the vector unit still does is part of what was asked for.
                Some(board) => board.drained(self.core.pipeline.now).div_ceil(PARTS),
                None => self.core.pipeline.now,
            },
        }
    }

    /// Returns where the cycles went so far.
    #[must_use]
    pub fn statistics(&self) -> CoreStatistics {
        self.core.pipeline.statistics
    }

    /// Returns whether a program has ever read a control register that counts
    /// cycles, time or instructions. Without, registers are the same in
    /// both modes.
    #[must_use]
    pub fn has_read_counters(&self) -> bool {
        self.core.counters_read
    }

    /// Lets the hart wait until `cycle`; earlier ones are ignored.
    pub fn advance_to(&mut self, cycle: u64) {
        let parts = self.core.scoreboard.as_ref().map_or(1, |_| PARTS);
        let now = self.core.pipeline.now.max(cycle.saturating_mul(parts));
        self.core.pipeline.now = now;
    }

    /// Returns the mode.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Makes a jump to `address` end the run. Such an address should lie
    /// outside memory.
    pub fn set_return_address(&mut self, address: Option<u64>) {
        self.return_address = address;
    }

    /// Makes writes to `mscratch` end the run ([`Exit::Scratch`]).
    pub fn stop_on_scratch(&mut self, stop: bool) {
        self.core.stop_on_scratch = stop;
    }

    /// From now on control registers that count cycles, time or instructions show the
    /// instructions since [`reset_registers`](Self::reset_registers) in both modes, or
    /// again what they count.
    pub fn set_time_hidden(&mut self, is_hidden: bool) {
        self.core.hides_time = is_hidden;
    }

    /// From now on [`reset_registers`](Self::reset_registers) leaves these bits in integer and in
    /// floating-point registers, in place of zeros; not in `x0` to `x4`, which a platform gives
    /// a program.
    pub fn set_registers_at_reset(&mut self, integer: u64, float: u64) {
        self.at_reset = [integer, float];
    }

    /// Clears registers, control registers, the translated code and what has been noted of
    /// [causes](Self::causes), but neither counters nor caches.
    pub fn reset_registers(&mut self) {
        if let Some(board) = &mut self.core.scoreboard {
            board.forget_causes();
        }
        *self.core.x = [0; 256];
        *self.core.f = [0; 256];
        let [integer, float] = self.at_reset;
        self.core.x[5..32].fill(integer);
        self.core.f[..32].fill(float);
        self.core.csr = ControlRegisters::new(true, self.core.vector.is_some());
        if let Some(unit) = &mut self.core.vector {
            unit.reset();
        }
        self.core.reservation = None;
        self.core.lowest_stack_pointer = u64::MAX;
        self.core.instructions_before = self.core.instructions;
        self.cut = false;
        self.forget_code();
    }

    /// Empties caches and predictors.
    pub fn cool(&mut self) {
        self.core.pipeline.cool();
        if let Some(board) = &mut self.core.scoreboard {
            board.cool();
        }
    }

    /// Executes instructions until something in [`Exit`] happens. A program cannot tell
    /// whether a limit has been reached in between ([`Exit::Limit`]): code that has changed
    /// takes effect where it would have. What the host changes takes effect at once
    /// otherwise, and behind [`reset_registers`](Self::reset_registers).
    pub fn run<C: Coprocessor>(
        &mut self,
        memory: &mut Memory,
        coprocessor: &mut C,
        limits: Limits,
    ) -> Exit {
        std::mem::swap(&mut self.core.memory, memory);
        let exit = match self.mode {
            Mode::Functional => self.run_blocks::<false>(coprocessor, limits),
            Mode::Timed if self.core.scoreboard.is_some() => {
                self.run_blocks::<false>(coprocessor, limits)
            }
            Mode::Timed => self.run_blocks::<true>(coprocessor, limits),
        };
        std::mem::swap(&mut self.core.memory, memory);
        exit
    }

    /// Executes one block: instructions up to and including the next jump, at
    /// most 64. Returns why it ended ([`Exit::Limit`] if nothing happened) and
    /// the address of its last instruction.
    pub fn run_block<C: Coprocessor>(
        &mut self,
        memory: &mut Memory,
        coprocessor: &mut C,
    ) -> (Exit, u64) {
        let first = self.pc;
        let limits = Limits {
            instructions: self.core.instructions + 1,
            cycles: u64::MAX,
        };
        let exit = self.run(memory, coprocessor, limits);
        let last = self.block_end(memory.base(), first).unwrap_or(first);
        (exit, last)
    }

    /// Executes up to `count` further blocks and returns the addresses of the
    /// first and last instruction of each: what a program that never ends is
    /// doing. Ends early where the program does.
    pub fn sample<C: Coprocessor>(
        &mut self,
        memory: &mut Memory,
        coprocessor: &mut C,
        count: usize,
    ) -> Vec<(u64, u64)> {
        let mut seen = Vec::with_capacity(count);
        while seen.len() < count {
            let first = self.pc;
            let (exit, last) = self.run_block(memory, coprocessor);
            seen.push((first, last));
            if !matches!(exit, Exit::Limit | Exit::Hook | Exit::Scratch(_)) {
                break;
            }
        }
        seen
    }
}
