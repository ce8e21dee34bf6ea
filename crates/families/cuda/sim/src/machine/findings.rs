//! What is wrong with a kernel.

use crate::ptx::{Line, Space};

/// Who did it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// Index of its block.
    pub block: [u32; 3],
    /// Its index in the block.
    pub thread: [u32; 3],
}

/// What was done wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are named as in the messages")]
pub enum Fault {
    /// An access beyond a buffer, a variable or the memory of block or thread. `distance` is
    /// bytes beyond the end (0 for the first byte behind it), or before the begin if it is
    /// below zero.
    OutOfBounds {
        space: Space,
        area: Option<u32>,
        size: u64,
        distance: i64,
        bytes: u32,
        write: bool,
    },
    /// An address that no buffer is near.
    WildAddress {
        address: u64,
        bytes: u32,
        write: bool,
    },
    /// An address that the width of the access does not divide.
    Misaligned { address: u64, bytes: u32 },
    /// A write to what may only be read.
    ReadOnly { area: Option<u32> },
    /// Two threads use the same bytes, one of them writes, and nothing orders them; the other one
    /// is not known where threads of several blocks have used them.
    Race {
        space: Space,
        area: Option<u32>,
        offset: u64,
        other: Option<Thread>,
        writes: [bool; 2],
        same_warp: bool,
    },
    /// A read by the path for what never changes during a launch, which the launch wrote.
    Changed {
        area: Option<u32>,
        offset: u64,
        other: Option<Thread>,
    },
    /// A read of memory that nobody wrote.
    Uninitialised {
        space: Space,
        area: Option<u32>,
        offset: u64,
    },
    /// An access to memory that the host function has given back.
    Freed { area: Option<u32>, write: bool },
    /// The host function gives back what it was not given.
    BadFree { address: u64 },
    /// A barrier for a number of threads that are no whole warps.
    BarrierSize { threads: u32 },
    /// Threads of a warp or block wait at different barriers.
    DivergedBarrier { other: Line },
    /// Threads wait for others that never come.
    Deadlock,
    /// A warp operation names threads that do not take part.
    MissingThreads { members: u32, missing: u32 },
    /// A thread takes part in a warp operation that does not name it.
    NotNamed { members: u32 },
    /// Copies are under way when a block ends.
    LeftInFlight { copies: u32 },
    /// The kernel stopped itself (`__trap`, `assert`).
    Trap,
    /// It took more steps than it may.
    TooLong { steps: u64 },
    /// It took them in a loop that waits for what another thread writes.
    WaitsForOthers { steps: u64 },
    /// No device accepts the launch.
    BadLaunch { refusal: Refusal, reason: String },
    /// What the simulator does not do.
    NotSimulated { what: String },
}

impl Fault {
    /// Returns whether the steps that the kernel may take were over.
    #[must_use]
    pub fn is_out_of_steps(&self) -> bool {
        matches!(self, Self::TooLong { .. } | Self::WaitsForOthers { .. })
    }
}

/// What no device accepts about a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A dimension of grid or block is zero.
    Nothing,
    /// Blocks are too many threads deep.
    Depth,
    /// Blocks have too many threads.
    Threads,
    /// Blocks have more threads than `__launch_bounds__` says.
    Bounds,
    /// The grid is too long in a dimension.
    Grid,
    /// There are too many blocks.
    Blocks,
    /// Shared memory that the kernel declares.
    StaticShared,
    /// Shared memory that was not allowed.
    DynamicShared,
    /// Shared memory, all together.
    Shared,
    /// Arguments that the kernel does not have.
    Arguments,
}

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What.
    pub fault: Fault,
    /// The kernel, mangled.
    pub kernel: String,
    /// Line of the source, 0 if it is not known.
    pub line: Line,
    /// Who.
    pub thread: Thread,
}

/// A thread has read what another has stored, both by volatile or relaxed accesses, and got what
/// was there before, since nothing ordered them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LateRead {
    /// Line of the source, 0 if it is not known.
    pub line: Line,
    /// Who has read.
    pub reader: Thread,
    /// Who has stored.
    pub writer: Thread,
}
