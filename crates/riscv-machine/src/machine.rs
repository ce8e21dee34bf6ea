//! A core, its memory and an accelerator.

use crate::error::ProgramError;
use crate::program::Program;
use autocomp_riscv::{
    Coprocessor, CoreConfig, CoreStatistics, Exit, Fault, Hart, Limits, Memory, Mode,
};

/// First address of simulated memory.
pub const MEMORY_BASE: u64 = 0x8000_0000;

/// Size of simulated memory in bytes. Pages that nothing touches cost nothing.
pub const MEMORY_BYTES: usize = 256 << 20;

/// Where a called kernel returns to: an address outside memory.
pub const RETURN_ADDRESS: u64 = 0x10;

/// Blocks of code looked at to tell where an endless loop is spinning.
const SPIN_SAMPLE: usize = 4096;

/// A simulated machine with accelerator `C`.
#[derive(Debug)]
pub struct Machine<C> {
    hart: Hart,
    memory: Memory,
    accelerator: C,
}

/// What a completed kernel call cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallReport {
    /// Cycles from the call until the accelerator was idle; in functional mode
    /// the number of instructions.
    pub cycles: u64,
    /// Cycles from the call until the kernel returned.
    pub issue_cycles: u64,
    /// Instructions retired.
    pub instructions: u64,
    /// Of these, those that load or store whole vector registers, as compilers do with what they
    /// keep on the stack.
    pub spills: u64,
    /// The kernel's return value (`a0`).
    pub value: u64,
    /// Where the core's cycles went during the call.
    pub core: CoreStatistics,
}

/// A block of instructions that the core has executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObservedBlock {
    /// Address of the first instruction.
    pub first: u64,
    /// Address of the last instruction.
    pub last: u64,
    /// The core's cycle before it.
    pub cycle: u64,
    /// Cycles that it took; in functional mode, instructions.
    pub cycles: u64,
    /// Where they went, as far as the core counts it.
    pub core: CoreStatistics,
}

/// Where a program was spinning when its limit was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spin {
    /// Address of the next instruction when the limit was reached.
    pub pc: u64,
    /// Lowest address executed in the sample taken afterwards.
    pub first: u64,
    /// Highest address of a last instruction of a block in the sample.
    pub last: u64,
    /// Starts of the most frequent blocks with their counts, most frequent
    /// first, at most eight.
    pub hottest: Vec<(u64, u64)>,
}

/// A kernel call that has begun ([`Machine::begin`]).
#[derive(Clone, Copy, Debug)]
pub struct Call {
    start_cycle: u64,
    start_instructions: u64,
    start_spills: u64,
    statistics: CoreStatistics,
    limits: Limits,
}

/// How far a call has come ([`Machine::proceed`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The kernel has returned and the accelerator is idle.
    Completed(CallReport),
    /// There is more to do.
    Paused,
}

/// Why a call did not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The kernel did something illegal.
    Fault(Fault),
    /// A limit was reached.
    Limit(Spin),
}

impl<C: Coprocessor> Machine<C> {
    /// Makes a machine with zeroed memory and cold caches.
    #[must_use]
    pub fn new(config: &CoreConfig, accelerator: C, mode: Mode) -> Self {
        Self::with_memory(config, accelerator, mode, MEMORY_BYTES)
    }

    /// The same with a memory of `memory_bytes`, a multiple of 4096.
    #[must_use]
    pub fn with_memory(
        config: &CoreConfig,
        accelerator: C,
        mode: Mode,
        memory_bytes: usize,
    ) -> Self {
        Self::of_hart(Hart::new(config, mode), accelerator, memory_bytes)
    }

    /// Makes a machine around a core that has more than a plain one: vectors, another timing.
    #[must_use]
    pub fn of_hart(hart: Hart, accelerator: C, memory_bytes: usize) -> Self {
        Self {
            hart,
            memory: Memory::new(MEMORY_BASE, memory_bytes),
            accelerator,
        }
    }

    /// Loads a program's segments.
    ///
    /// # Errors
    /// If a segment lies outside memory.
    pub fn load(&mut self, program: &Program) -> Result<(), ProgramError> {
        program.load(&mut self.memory)
    }

    /// Returns the memory.
    pub fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }

    /// Returns the accelerator.
    pub fn accelerator(&mut self) -> &mut C {
        &mut self.accelerator
    }

    /// Returns the core.
    pub fn hart(&mut self) -> &mut Hart {
        &mut self.hart
    }

    /// Returns core, memory and accelerator at once.
    pub fn parts(&mut self) -> (&mut Hart, &mut Memory, &mut C) {
        (&mut self.hart, &mut self.memory, &mut self.accelerator)
    }

    /// Empties the core's caches and predictors, so that the next call is cold.
    pub fn cool(&mut self) {
        self.hart.cool();
    }

    /// Calls the function at `entry` with at most eight integer arguments.
    ///
    /// Registers are cleared, caches and predictors stay as they are. The
    /// limits count from the start of the call.
    ///
    /// # Errors
    /// [`Stop`] if it did something illegal or reached a limit.
    pub fn call(
        &mut self,
        entry: u64,
        arguments: &[u64],
        stack_pointer: u64,
        limits: Limits,
    ) -> Result<CallReport, Stop> {
        self.call_observed(entry, arguments, stack_pointer, limits, None)
    }

    /// The same, and tells `observer`, if there is one, of every block of
    /// instructions. Cycles are the same with and without it.
    ///
    /// # Errors
    /// [`Stop`] if it did something illegal or reached a limit.
    pub fn call_observed(
        &mut self,
        entry: u64,
        arguments: &[u64],
        stack_pointer: u64,
        limits: Limits,
        mut observer: Option<&mut dyn FnMut(&ObservedBlock)>,
    ) -> Result<CallReport, Stop> {
        let call = self.begin(entry, arguments, stack_pointer, limits);
        loop {
            // The lifetime of the reborrow must not outlast the turn.
            let observer: Option<&mut dyn FnMut(&ObservedBlock)> = match &mut observer {
                Some(observe) => Some(&mut **observe),
                None => None,
            };
            if let Progress::Completed(report) = self.proceed(&call, u64::MAX, observer)? {
                return Ok(report);
            }
        }
    }

    /// Begins a call as [`call`](Self::call) does, and leaves it to
    /// [`proceed`](Self::proceed) to go on with it.
    pub fn begin(
        &mut self,
        entry: u64,
        arguments: &[u64],
        stack_pointer: u64,
        limits: Limits,
    ) -> Call {
        self.hart.reset_registers();
        self.hart.set_register(1, RETURN_ADDRESS);
        self.hart.set_register(2, stack_pointer);
        for (number, argument) in arguments.iter().take(8).enumerate() {
            self.hart.set_register(10 + number, *argument);
        }
        self.hart.set_return_address(Some(RETURN_ADDRESS));
        self.hart.stop_on_scratch(false);
        self.hart.set_pc(entry);
        let (start_cycle, start_instructions) = (self.hart.cycle(), self.hart.instructions());
        Call {
            start_cycle,
            start_instructions,
            start_spills: self.spills(),
            statistics: self.hart.statistics(),
            limits: Limits {
                instructions: start_instructions.saturating_add(limits.instructions),
                cycles: start_cycle.saturating_add(limits.cycles),
            },
        }
    }

    /// Goes on with a call for about `cycles` of the core's cycles, at least
    /// one; in functional mode, for as many instructions. Where a call is paused makes no
    /// difference to its cycles and results.
    ///
    /// # Errors
    /// [`Stop`] if it did something illegal or reached a limit.
    pub fn proceed(
        &mut self,
        call: &Call,
        cycles: u64,
        mut observer: Option<&mut dyn FnMut(&ObservedBlock)>,
    ) -> Result<Progress, Stop> {
        let limits = call.limits;
        let pause_from = self.hart.cycle().saturating_add(cycles.max(1));
        let pause = match self.hart.mode() {
            Mode::Timed => Limits {
                cycles: limits.cycles.min(pause_from),
                ..limits
            },
            Mode::Functional => Limits {
                instructions: limits.instructions.min(pause_from),
                ..limits
            },
        };
        loop {
            let exit = match &mut observer {
                None => self
                    .hart
                    .run(&mut self.memory, &mut self.accelerator, pause),
                Some(observe) => {
                    let (first, cycle) = (self.hart.pc(), self.hart.cycle());
                    let before = self.hart.statistics();
                    let (exit, last) = self.hart.run_block(&mut self.memory, &mut self.accelerator);
                    observe(&ObservedBlock {
                        first,
                        last,
                        cycle,
                        cycles: self.hart.cycle() - cycle,
                        core: self.hart.statistics().since(&before),
                    });
                    if exit == Exit::Limit && !self.is_over(pause) {
                        continue;
                    }
                    exit
                }
            };
            match exit {
                Exit::Returned => break,
                Exit::Limit if !self.is_over(limits) => return Ok(Progress::Paused),
                Exit::Limit => return Err(Stop::Limit(self.spin())),
                Exit::Fault(fault) => return Err(Stop::Fault(fault)),
                Exit::Hook | Exit::Scratch(_) => {}
            }
        }
        let returned = self.hart.cycle();
        let timed = self.hart.mode() == Mode::Timed;
        let idle = self
            .accelerator
            .fence(
                self.hart.pc(),
                if timed { returned } else { 0 },
                &mut self.memory,
            )
            .map_err(Stop::Fault)?
            .max(returned);
        if timed {
            self.hart.advance_to(idle);
        }
        Ok(Progress::Completed(CallReport {
            cycles: idle - call.start_cycle,
            issue_cycles: returned - call.start_cycle,
            instructions: self.hart.instructions() - call.start_instructions,
            spills: self.spills() - call.start_spills,
            value: self.hart.register(10),
            core: self.hart.statistics().since(&call.statistics),
        }))
    }

    /// Ends a call that is not over by itself, as if it had reached its limit.
    /// The machine's state is of no further use afterwards.
    pub fn give_up(&mut self) -> Stop {
        Stop::Limit(self.spin())
    }

    fn spills(&self) -> u64 {
        self.hart.vectors().map_or(0, |unit| unit.whole_accesses())
    }

    fn is_over(&self, limits: Limits) -> bool {
        limits.instructions <= self.hart.instructions()
            || (self.hart.mode() == Mode::Timed && limits.cycles <= self.hart.cycle())
    }

    /// Runs on for a little to see where the program is spinning. The machine's
    /// state is of no further use afterwards.
    pub(crate) fn spin(&mut self) -> Spin {
        let pc = self.hart.pc();
        let blocks = self
            .hart
            .sample(&mut self.memory, &mut self.accelerator, SPIN_SAMPLE);
        let first = blocks.iter().map(|(start, _)| *start).min().unwrap_or(pc);
        let last = blocks.iter().map(|(_, last)| *last).max().unwrap_or(pc);
        let mut counts = std::collections::BTreeMap::<u64, u64>::new();
        for (start, _) in &blocks {
            *counts.entry(*start).or_default() += 1;
        }
        let mut hottest: Vec<(u64, u64)> = counts.into_iter().collect();
        hottest.sort_by_key(|(start, count)| (std::cmp::Reverse(*count), *start));
        hottest.truncate(8);
        Spin {
            pc,
            first,
            last,
            hottest,
        }
    }
}
