//! Translated instructions: what the interpreter's hot path reads and calls.

use crate::config::CoreConfig;
use crate::coprocessor::Coprocessor;
use crate::csr::ControlRegisters;
use crate::doubt::Doubts;
use crate::hart::Exit;
use crate::instruction::Operation;
use crate::memory::Memory;
use crate::pipeline::Pipeline;
use crate::steps::unlinked;
use crate::trap::Trap;
use std::hint::select_unpredictable;

/// Executes the first of these records, the last instruction having issued in
/// the cycle given, and then goes on to the next one by a call in tail
/// position, until one leaves the block.
///
/// A function for each operation keeps everything in registers, and gives the
/// host's branch predictor one indirect jump per operation instead of one for
/// all. Where a compiler makes real calls of these jumps, they nest as deep as
/// a block is long.
pub(crate) type Step = for<'a> fn(&mut Core, &[Record], u64, &mut Below<'a>) -> How;

/// What is below the core while it runs.
pub(crate) struct Below<'a> {
    /// All translated code.
    pub code: &'a [Record],
    /// Cycle from which on no block may begin.
    pub last_cycle: u64,
    /// Behind two references, so that what a [`Step`] is given fits the
    /// registers in which functions are given arguments.
    pub coprocessor: &'a mut dyn Coprocessor,
}

/// One translated instruction, or something to be done between two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    /// Executes it.
    pub step: Step,
    /// As in `Instruction::immediate`; where a block begins its address, and
    /// where it ends directly the [links](Self::links).
    pub immediate: u64,
    /// Registers to be waited for, as in `Instruction::uses`.
    pub uses: u64,
    /// Destination register.
    pub rd: u8,
    /// First source register.
    pub rs1: u8,
    /// Second source register; of a load, which has none, the number of records to the
    /// branch or jump that it may be refused ahead of, 0 if there is none.
    pub rs2: u8,
    /// Number of instructions of the block before this one.
    pub index: u8,
    /// Distance from the start of the block in halfwords.
    pub halves: u8,
    /// What the instruction does, for steps that serve several operations.
    pub operation: Operation,
    /// As in `Instruction::extra`; for loads their latency, for what stands
    /// between two instructions the cycles waited.
    pub extra: u16,
}

impl Record {
    /// What begins so many halfwords further on has not been fetched when an instruction
    /// is in write-back.
    pub const FURTHEST_HALVES: u8 = 16;

    /// Returns whether this is the instruction before that of `record`, and nothing has to
    /// be done between.
    pub fn is_right_before(&self, record: &Self) -> bool {
        self.operation != Operation::Continue && self.index + 1 == record.index
    }

    /// Returns where the blocks that follow a branch or direct jump begin, not taken
    /// and taken.
    #[inline(always)]
    pub fn links(&self) -> [Link; 2] {
        [self.immediate as u32, (self.immediate >> 32) as u32].map(Link)
    }

    /// Sets one of the links.
    pub fn set_link(&mut self, taken: bool, link: Link) {
        let mut links = self.links();
        links[usize::from(taken)] = link;
        self.immediate = u64::from(links[0].0) | u64::from(links[1].0) << 32;
    }
}

/// Where a block begins in all code: 0 if that is not known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link(u32);

impl Link {
    const NEAR: u32 = 1 << 31;

    /// To what begins at `place`. It is `near` if its first instruction lies in one
    /// fetch group, and surely in the line from which the one before came.
    #[inline(always)]
    pub fn to(place: u32, near: bool) -> Self {
        Self(place | if near { Self::NEAR } else { 0 })
    }

    #[inline(always)]
    pub fn place(self) -> usize {
        (self.0 & !Self::NEAR) as usize
    }

    #[inline(always)]
    pub fn is_near(self) -> bool {
        self.0 & Self::NEAR != 0
    }
}

/// What the first record of a block tells about its first instruction, as its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(pub u8);

impl Entry {
    /// Says whether it lies in two fetch groups, and whether it could lie in two lines.
    pub fn of(split: bool, crosses: bool) -> Self {
        Self(u8::from(split) | u8::from(crosses) << 1)
    }

    /// Returns whether it surely lies in one line.
    #[inline(always)]
    pub fn is_in_one_line(self) -> bool {
        self.0 < 2
    }

    /// Returns whether it lies in one fetch group.
    pub fn is_whole(self) -> bool {
        self.0 == 0
    }

    /// Returns whether it lies in two fetch groups.
    #[inline(always)]
    pub fn is_split(self) -> bool {
        self.0 & 1 != 0
    }
}

/// What the record behind the last instruction of a block tells about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending {
    /// The address behind it, and its target if that is known.
    pub targets: [u64; 2],
    /// Cycles by which the fetch unit can be ahead of instructions as dense as
    /// those of the block: the queue holds a number of bytes. Told by the last
    /// instruction's own record.
    pub fetch_ahead: u64,
    /// What its address adds to the number of a counter of the predictor.
    pub counter_address: u16,
    /// The call or return behind it, and [`UPPER`].
    marks: u8,
    /// What becomes of [`Buffering`] if it goes on behind it, and if it goes to its
    /// target: the lower byte if the first instruction of the block does not come
    /// from the instruction buffer, the upper one if it does.
    buffering: [u16; 2],
}

/// Bit of [`Ending::marks`].
const UPPER: u8 = 1 << 5;

impl Ending {
    /// Makes what is told about a block that ends in a branch or jump, unless
    /// more is said.
    pub fn new(targets: [u64; 2], fetch_ahead: u64, counter_address: u16) -> Self {
        Self {
            targets,
            fetch_ahead,
            counter_address,
            marks: 0,
            buffering: [0; 2],
        }
    }

    /// Says that a call or return behind the last instruction would be fetched on
    /// a wrong path, or that there is none.
    #[must_use]
    pub fn with_link_behind(mut self, link: Option<LinkBehind>) -> Self {
        self.marks |= match link {
            None => 0,
            Some(LinkBehind::Call(groups)) => 1 << 6 | groups & 31,
            Some(LinkBehind::Return(groups)) => 2 << 6 | groups & 31,
        };
        self
    }

    /// Says whether the block is one instruction that fills the upper half of a
    /// fetch group.
    #[must_use]
    pub fn with_upper(mut self, upper: bool) -> Self {
        self.marks |= if upper { UPPER } else { 0 };
        self
    }

    /// Says when the last instruction is decoded from the instruction buffer.
    #[must_use]
    pub fn with_buffered(mut self, buffered: Buffered) -> Self {
        let [after, target] = self.targets;
        for (taken, address) in [(false, after), (true, target)] {
            let next = [false, true].map(|first| {
                let last = match buffered {
                    Buffered::Never => false,
                    Buffered::Always => true,
                    Buffered::AsFirst => first,
                };
                Buffering::behind(last, taken, address).0
            });
            self.buffering[usize::from(taken)] = u16::from_le_bytes(next);
        }
        self
    }

    /// Returns the call or return behind the last instruction that would be fetched
    /// on a wrong path.
    pub fn link_behind(&self) -> Option<LinkBehind> {
        let groups = self.marks & 31;
        match self.marks >> 6 {
            1 => Some(LinkBehind::Call(groups)),
            2 => Some(LinkBehind::Return(groups)),
            _ => None,
        }
    }

    /// Returns whether there is one.
    #[inline(always)]
    pub fn has_link_behind(&self) -> bool {
        self.marks >> 6 != 0
    }

    /// Returns whether the block is one instruction that fills the upper half of a
    /// fetch group.
    #[inline(always)]
    pub fn is_upper(&self) -> bool {
        self.marks & UPPER != 0
    }

    /// The same where that is known.
    #[inline(always)]
    #[must_use]
    pub fn in_upper_half(mut self, upper: bool) -> Self {
        self.marks = self.marks & !UPPER | if upper { UPPER } else { 0 };
        self
    }

    /// Returns what becomes of `before` behind the block, if it goes to its target or
    /// where that is not known.
    #[inline(always)]
    pub fn buffering(&self, before: Buffering, taken: bool) -> Buffering {
        let [other, first] = self.buffering[usize::from(taken)].to_le_bytes();
        let is_first = before.0 & Buffering::NEXT != 0;
        Buffering(select_unpredictable(is_first, first, other))
    }

    /// Reads the record of the last instruction of a block and the one behind it.
    #[inline(always)]
    pub fn of(last: &Record, ending: &Record) -> Self {
        Self {
            targets: [ending.uses, ending.immediate],
            fetch_ahead: last.extra.into(),
            counter_address: ending.extra,
            marks: ending.rd,
            buffering: [
                u16::from_le_bytes([ending.index, ending.halves]),
                u16::from_le_bytes([ending.rs1, ending.rs2]),
            ],
        }
    }

    /// Returns the record that says this.
    pub fn record(&self) -> Record {
        let [index, halves] = self.buffering[0].to_le_bytes();
        let [rs1, rs2] = self.buffering[1].to_le_bytes();
        Record {
            step: unlinked,
            immediate: self.targets[1],
            uses: self.targets[0],
            rd: self.marks,
            rs1,
            rs2,
            index,
            halves,
            operation: Operation::Continue,
            extra: self.counter_address,
        }
    }
}

/// What comes from the instruction buffer where one block follows another: the first
/// instruction of the next one, and the branch or jump before it if it was taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffering(u8);

impl Buffering {
    /// Nothing does.
    pub const NONE: Self = Self(0);
    /// No branch or jump was before.
    pub const START: Self = Self(Self::TAKEN);
    /// The next instruction: the distance of the bytes in [`Ending::buffering`].
    const NEXT: u8 = 8;
    const TAKEN: u8 = 32;

    /// Behind an instruction of which this is known, on the way to `address`.
    #[inline(always)]
    pub fn behind(last: bool, taken: bool, address: u64) -> Self {
        let in_upper_half = address & 2 != 0;
        let next = if taken {
            last && in_upper_half
        } else {
            last || in_upper_half
        };
        let next = if next { Self::NEXT } else { 0 };
        Self(next | if last && taken { Self::TAKEN } else { 0 })
    }

    /// Returns 1 if the branch or jump before was taken and came from there,
    /// otherwise 0.
    #[inline(always)]
    pub fn taken(self) -> u64 {
        u64::from(self.0 & Self::TAKEN != 0)
    }
}

/// Accesses to memory next to a fence, by the number of instructions from it; 0 if
/// there is none as near as that matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Surroundings {
    pub before: u8,
    pub behind: u8,
}

impl Surroundings {
    /// Further away an access is out of the pipeline.
    pub const FURTHEST: u8 = 3;

    /// Returns this as [`Record::extra`] of a fence.
    pub fn pack(self) -> u16 {
        u16::from_le_bytes([self.before, self.behind])
    }

    pub fn of_fence(record: &Record) -> Self {
        let [before, behind] = record.extra.to_le_bytes();
        Self { before, behind }
    }
}

/// A call or return behind the end of a block, by the number of fetch groups
/// between: less than 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkBehind {
    Call(u8),
    Return(u8),
}

/// Whether an instruction of two bytes is decoded from the instruction buffer, which
/// holds what is left of the fetch group before: half a group that follows can enter
/// it in the same cycle then.
///
/// *Source*: Rocket Chip, `IBuf`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Buffered {
    Never,
    Always,
    /// If the first instruction of the block is.
    AsFirst,
}

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

/// The state that instructions work on.
#[derive(Clone, Debug)]
pub(crate) struct Core {
    /// What the machine lends while it runs: of what a [`Step`] is given, a reference less
    /// has to be kept in the host's registers. Empty at other times.
    pub memory: Memory,
    /// Integer registers; 32 takes results for `x0`. As many as a byte can
    /// name, so that no index needs a check.
    pub x: [u64; 256],
    /// Floating-point registers; as many for the same reason.
    pub f: [u64; 256],
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
    pub pipeline: Pipeline,
    /// Retired instructions; in a block those of the whole block.
    pub instructions: u64,
    pub reservation: Option<u64>,
    pub stop_on_scratch: bool,
    /// A control register that counts has been read.
    pub counters_read: bool,
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
            x: [0; 256],
            f: [0; 256],
            start: 0,
            pc: 0,
            pause_at: 0,
            jumps: Jumps::new(),
            doubts: Doubts::new(),
            retired: 0,
            csr: ControlRegisters::new(true),
            pipeline: Pipeline::new(config),
            instructions: 0,
            reservation: None,
            stop_on_scratch: false,
            counters_read: false,
            trap: None,
            exit: None,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ending_tells_what_comes_from_the_buffer() {
        let [even, odd] = [0x1000, 0x1002];
        for (buffered, first, last) in [
            (Buffered::Never, true, false),
            (Buffered::Always, false, true),
            (Buffered::AsFirst, false, false),
            (Buffered::AsFirst, true, true),
        ] {
            for (after, target) in [(even, odd), (odd, even)] {
                let ending = Ending::new([after, target], 3, 7).with_buffered(buffered);
                let read = Ending::of(&ending.record(), &ending.record());
                for (taken, address) in [(false, after), (true, target)] {
                    // Taken to an upper half from the buffer, or not.
                    let before = Buffering::behind(first, true, odd);
                    let next = read.buffering(before, taken);
                    assert_eq!(next.0, Buffering::behind(last, taken, address).0);
                    assert_eq!(next.taken(), u64::from(taken && last));
                }
            }
        }
    }
}
