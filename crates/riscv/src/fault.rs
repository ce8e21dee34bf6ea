//! Why a simulated program stopped.

use std::fmt;

/// How memory was touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// Instruction fetch.
    Fetch,
    /// CPU load.
    Load,
    /// CPU store or atomic.
    Store,
    /// Read by the accelerator's DMA.
    DmaRead,
    /// Write by the accelerator's DMA.
    DmaWrite,
}

/// The class of a fault; decides the outcome of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Trap of the scalar core without a handler: illegal instruction,
    /// misaligned or unmapped access, `ebreak`.
    Trap,
    /// Access outside the buffers that a kernel may touch.
    OutOfBounds,
    /// Write to memory that must not change.
    ReadOnly,
    /// A rule of the accelerator was broken.
    IllegalCommand,
    /// Local memory was read before it was written.
    Uninitialized,
    /// DMA and another access to the same bytes are not ordered by a fence.
    Race,
}

/// A program stopped because of what it did. Never a bug of the simulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The class.
    pub kind: FaultKind,
    /// Stable kebab-case name of the rule (`misaligned`, `unmapped`).
    pub rule: &'static str,
    /// Address of the instruction at fault.
    pub pc: u64,
    /// Address of another instruction involved (the one depended on), if any.
    pub other_pc: Option<u64>,
    /// Memory address involved, if any.
    pub address: Option<u64>,
    /// What happened, with the numbers and the legal range.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at pc {:#x})", self.message, self.pc)
    }
}

impl std::error::Error for Fault {}
