//! The border between the core and what surrounds it: the RoCC port and the
//! memory system below the L1 caches.

use crate::fault::Fault;
use crate::memory::Memory;

/// One custom instruction as it leaves the core at write-back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoccCommand {
    /// The custom opcode used, 0 to 3.
    pub custom: u8,
    /// The function field, 0 to 127.
    pub funct: u8,
    /// Value of the first operand register.
    pub rs1: u64,
    /// Value of the second operand register.
    pub rs2: u64,
    /// Whether the instruction has a destination register.
    pub wants_reply: bool,
    /// Address of the instruction, for diagnostics and profiles.
    pub pc: u64,
    /// Core cycle of write-back; 0 in functional mode.
    pub cycle: u64,
}

/// What the accelerator answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoccReply {
    /// Value for the destination register, if the instruction has one.
    pub value: u64,
    /// Core cycle at which the command was taken: later than
    /// [`RoccCommand::cycle`] if the queue was full. 0 in functional mode.
    pub accepted: u64,
    /// Core cycle at which `value` can be used. 0 without a destination.
    pub value_ready: u64,
    /// What [`BelowL1::shares_lines`] would return now.
    pub shares_lines: bool,
}

/// An access of the core's L1 caches to the memory below them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineAccess {
    /// Instruction fetch of a line.
    Fetch,
    /// Data line for reading.
    Read,
    /// Data line for writing, of which the L1 holds no copy.
    ReadToWrite,
    /// A data line that the L1 holds is written for the first time since it came
    /// or was cleaned. Costs nothing if the L1 has the right to do so.
    Write,
    /// Write-back of a dirty line that the L1 evicted.
    WriteBack,
}

/// What sits on the other side of the RoCC port: an accelerator, or nothing.
///
/// Functional effects happen at once, in program order. Cycles are absolute
/// core cycles. In functional mode every cycle given and returned is 0.
pub trait Rocc {
    /// Executes one command.
    ///
    /// # Errors
    /// A [`Fault`] if the command is illegal; the machine then stops.
    fn execute(&mut self, command: RoccCommand, memory: &mut Memory) -> Result<RoccReply, Fault>;

    /// A RISC-V `fence` reached decode at `cycle`: returns the cycle at which
    /// the accelerator is idle and the fence may go on (at least `cycle`).
    ///
    /// # Errors
    /// A [`Fault`] if work is left that can never finish.
    fn fence(&mut self, pc: u64, cycle: u64, memory: &mut Memory) -> Result<u64, Fault>;

    /// A CPU load or store touched a page that has
    /// [`Memory::watch`] set: the accelerator may report a race.
    ///
    /// # Errors
    /// A [`Fault`] if the access races with work of the accelerator that no
    /// fence has ordered.
    fn cpu_access(&mut self, address: u64, bytes: u64, store: bool, pc: u64) -> Result<(), Fault>;
}

/// The memory system below the core's L1 caches. Asked in timed mode only; cycles are
/// absolute core cycles.
pub trait BelowL1 {
    /// The core accesses the 64-byte line at `address` below its L1 caches at
    /// `cycle`: returns the cycle at which the line is usable in the L1.
    fn line_access(&mut self, address: u64, access: LineAccess, cycle: u64) -> u64;

    /// Takes the lines that the memory system asks the L1 data cache to give
    /// up (`true`: invalidate) or to clean (`false`) since the last call.
    fn take_probes(&mut self, probes: &mut Vec<(u64, bool)>);

    /// Returns whether the memory system may be about to ask the L1 data cache for
    /// lines, so that [`data_turn`](Self::data_turn) has to be asked. Changes only
    /// where another function is called, of this or of [`Rocc`].
    fn shares_lines(&self) -> bool {
        false
    }

    /// The core wants to access its L1 data cache in `cycle`, which is no earlier
    /// than at the last call: returns the first cycle from then on in which the
    /// cache has time for it. While it gives up or cleans lines it has none.
    fn data_turn(&mut self, cycle: u64) -> u64 {
        cycle
    }
}

/// Both sides of a core.
pub trait Coprocessor: Rocc + BelowL1 {}

impl<T: Rocc + BelowL1> Coprocessor for T {}
