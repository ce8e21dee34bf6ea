//! What instructions work on, and why a block of them is left.

use super::Record;
use crate::config::CoreConfig;
use crate::csr::ControlRegisters;
use crate::doubt::Doubts;
use crate::hart::Exit;
use crate::memory::Memory;
use crate::pipeline::Pipeline;
use crate::scoreboard::{PARTS, Scoreboard};
use crate::trap::Trap;
use crate::vector::VectorUnit;
use std::ops::{Deref, DerefMut, RangeInclusive};

const JUMPS: usize = 1024;

/// Where blocks begin to which indirect jumps have gone.
#[derive(Clone, Debug)]
pub(crate) struct Jumps {
    /// Address and place in all code, by the lowest bits of the address.
    places: [(u64, u32); JUMPS],
}

impl Jumps {
    pub fn new() -> Self {
        // No instruction has an odd address.
        Self {
            places: [(1, 0); JUMPS],
        }
    }

    /// Returns where the block at `pc` begins, 0 if that is not known.
    #[inline(always)]
    pub fn find(&self, pc: u64) -> u32 {
        let (known, place) = self.places[(pc >> 1) as usize % JUMPS];
        if known == pc { place } else { 0 }
    }

    pub fn learn(&mut self, pc: u64, place: u32) {
        self.places[(pc >> 1) as usize % JUMPS] = (pc, place);
    }
}

/// Registers: as many as a byte can name, so that no index needs a check. The 32 of the program
/// share no cache line of the host with anything else.
#[derive(Clone, Debug)]
#[repr(align(256))]
pub(crate) struct Registers(pub [u64; 256]);

impl Deref for Registers {
    type Target = [u64; 256];

    fn deref(&self) -> &[u64; 256] {
        &self.0
    }
}

impl DerefMut for Registers {
    fn deref_mut(&mut self) -> &mut [u64; 256] {
        &mut self.0
    }
}

/// The state that instructions work on.
#[derive(Clone, Debug)]
pub(crate) struct Core {
    /// The machine's memory, which lies here while the program runs: so a [`Step`] is given one
    /// reference less, and this computer keeps one register more. Empty at other times.
    pub memory: Memory,
    /// Integer registers; 32 takes results for `x0`.
    pub x: Registers,
    /// Floating-point registers.
    pub f: Registers,
    /// Address of the block that is executed.
    pub start: u64,
    /// Where to go on: set before a block is entered, and on leaving one where
    /// [`How`] says so.
    pub pc: u64,
    /// Count of instructions from which on no block begins without a look at
    /// the limits. Never far away: it also bounds how deep steps can nest.
    pub pause_at: u64,
    pub jumps: Jumps,
    pub doubts: Doubts,
    /// Instructions of the block that retired, for [`How::Trap`] and [`How::Stop`].
    pub retired: u8,
    pub csr: ControlRegisters,
    pub vector: Option<Box<VectorUnit>>,
    pub pipeline: Pipeline,
    /// Keeps time instead of the pipeline, which then is given parts of a cycle.
    pub scoreboard: Option<Box<Scoreboard>>,
    /// Retired instructions; in a block those of the whole block.
    pub instructions: u64,
    pub reservation: Option<u64>,
    pub stop_on_scratch: bool,
    /// Where the stack pointer may be, if that is looked at.
    pub stack: Option<RangeInclusive<u64>>,
    /// The lowest stack pointer that was looked at since registers were cleared last.
    pub lowest_stack_pointer: u64,
    /// A control register that counts has been read.
    pub counters_read: bool,
    /// Control registers that count show nothing but instructions.
    pub hides_time: bool,
    /// Retired instructions when registers were cleared last.
    pub instructions_before: u64,
    /// What [`How::Trap`] is about.
    pub trap: Option<Trap>,
    /// What [`How::Stop`] is about.
    pub exit: Option<Exit>,
}

impl Core {
    /// Makes a core with cold caches.
    pub fn new(config: &CoreConfig) -> Self {
        Self {
            memory: Memory::new(0, 0),
            x: Registers([0; 256]),
            f: Registers([0; 256]),
            start: 0,
            pc: 0,
            pause_at: 0,
            jumps: Jumps::new(),
            doubts: Doubts::new(),
            retired: 0,
            csr: ControlRegisters::new(true, false),
            vector: None,
            pipeline: Pipeline::new(config),
            scoreboard: None,
            instructions: 0,
            reservation: None,
            stop_on_scratch: false,
            stack: None,
            lowest_stack_pointer: u64::MAX,
            counters_read: false,
            hides_time: false,
            instructions_before: 0,
            trap: None,
            exit: None,
        }
    }

    /// Returns how many instructions have retired before the last one of the block that is
    /// executed, as a program can see it.
    pub fn counted_instructions(&self) -> u64 {
        let before = match self.hides_time {
            true => self.instructions_before,
            false => 0,
        };
        self.instructions - before - 1
    }

    /// Returns whether so many cycles are over.
    pub fn is_late<const TIMED: bool>(&self, cycles: u64) -> bool {
        match &self.scoreboard {
            Some(_) => self.pipeline.now / PARTS >= cycles,
            None => TIMED && self.pipeline.now >= cycles,
        }
    }

    /// Returns the address of a record of the block that is executed.
    #[inline(always)]
    pub fn pc_of(&self, record: &Record) -> u64 {
        self.start + 2 * u64::from(record.halves)
    }

    /// Leaves the block, the last instruction of which issued at `now`.
    #[inline(always)]
    pub fn leave(&mut self, now: u64, how: How) -> How {
        self.pipeline.now = now;
        how
    }

    /// Leaves the block because the instruction of `record` raised an exception.
    #[cold]
    #[inline(never)]
    pub fn raise(&mut self, trap: Trap, record: &Record, now: u64) -> How {
        self.trap = Some(trap);
        self.retired = record.index;
        self.leave(now, How::Trap)
    }

    /// Leaves the block because the instruction of `record`, which issues at `now`, is
    /// illegal, and says why.
    #[cold]
    pub fn refuse(&mut self, record: &Record, now: u64, why: &str) -> How {
        let trap = Trap::illegal(self.pc_of(record), self.bits_of(record), why);
        self.raise(trap, record, now)
    }

    /// Returns the bits of the instruction of `record`, as `mtval` shows them.
    fn bits_of(&self, record: &Record) -> u64 {
        let pc = self.pc_of(record);
        let half = |at| match self.memory.host(at, 2) {
            Some([low, high]) => u64::from(u16::from_le_bytes([*low, *high])),
            _ => 0,
        };
        match half(pc) {
            low if low & 3 == 3 => low | half(pc + 2) << 16,
            low => low,
        }
    }

    /// Leaves the block behind the instruction of `record`, which stored to a
    /// hooked page; what follows has not happened yet.
    #[cold]
    #[inline(never)]
    pub fn stop_for_hook(&mut self, records: &[Record], now: u64) -> How {
        self.exit = Some(Exit::Hook);
        self.retired = records.first().map_or(0, |record| record.index + 1);
        self.pc = records.get(1).map_or(self.start, |next| self.pc_of(next));
        self.leave(now, How::Stop)
    }
}

/// Why a block was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// To [`Core::pc`], where a block begins whose place is not known, from
    /// the one at [`Core::start`].
    Unlinked,
    /// Before the block at [`Core::pc`], to look at the limits.
    Pause,
    /// The same, behind a branch that came to be doubted: it gets another step.
    Doubted,
    /// By its end, and what is known about code must be asked again.
    After,
    /// The same, and the pipeline restarts.
    Restart,
    /// To [`Core::pc`], and the pipeline restarts.
    Elsewhere,
    /// By an exception, [`Core::trap`].
    Trap,
    /// To stop before [`Core::pc`], for [`Core::exit`].
    Stop,
    /// To stop at its end, for [`Core::exit`].
    StopAfter,
}
