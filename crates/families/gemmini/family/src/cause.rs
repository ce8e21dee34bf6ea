//! What the cycles of a call are spent on.

use crate::texts::{CauseText, TEXTS};
use serde::Serialize;

/// What a cycle of a call is spent on. Every cycle has exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The array takes a row of a multiplication.
    Mesh,
    /// The array takes a stationary operand and multiplies nothing meanwhile.
    PreloadAlone,
    /// Operands of one operation lie in one bank and are read in turns.
    BankConflict,
    /// A move uses the bank that an operand lies in.
    PortConflict,
    /// The array has no room for another operation's results.
    ArrayFull,
    /// A move in is waited for, and the way to memory and back is what takes time.
    LoadLatency,
    /// A move in is waited for, and bytes before it or its own are coming in.
    LoadBandwidth,
    /// A move in is waited for, and its bytes come from behind the L2.
    LoadMemory,
    /// A move out is waited for.
    Store,
    /// The result of an earlier operation is still in the array.
    Dependency,
    /// A move in waits until an earlier operation has read the rows that it
    /// overwrites.
    RowsInUse,
    /// A change of settings waits until the array is empty.
    ConfigDrain,
    /// The core has not sent the command yet.
    CoreIssue,
    /// The core has not sent the command yet, since it waits for a line of its caches.
    CacheMiss,
    /// The core has not sent the command yet, since it waits in a fence.
    Fence,
    /// A loop unit has not made the command yet.
    LoopUnit,
    /// All load entries of the reservation station are in use.
    LoadEntries,
    /// All store entries of the reservation station are in use.
    StoreEntries,
    /// All execute entries of the reservation station are in use.
    ExecuteEntries,
    /// Commands are on their way through queues.
    Latency,
    /// Addresses are translated.
    Tlb,
    /// The recording was too short to tell.
    Unrecorded,
}

impl Cause {
    /// All causes.
    pub const ALL: [Self; 22] = [
        Self::Mesh,
        Self::PreloadAlone,
        Self::BankConflict,
        Self::PortConflict,
        Self::ArrayFull,
        Self::LoadLatency,
        Self::LoadBandwidth,
        Self::LoadMemory,
        Self::Store,
        Self::Dependency,
        Self::RowsInUse,
        Self::ConfigDrain,
        Self::CoreIssue,
        Self::CacheMiss,
        Self::Fence,
        Self::LoopUnit,
        Self::LoadEntries,
        Self::StoreEntries,
        Self::ExecuteEntries,
        Self::Latency,
        Self::Tlb,
        Self::Unrecorded,
    ];

    /// Returns the serialised name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mesh => "mesh",
            Self::PreloadAlone => "preload-alone",
            Self::BankConflict => "bank-conflict",
            Self::PortConflict => "port-conflict",
            Self::ArrayFull => "array-full",
            Self::LoadLatency => "load-latency",
            Self::LoadBandwidth => "load-bandwidth",
            Self::LoadMemory => "load-memory",
            Self::Store => "store",
            Self::Dependency => "dependency",
            Self::RowsInUse => "rows-in-use",
            Self::ConfigDrain => "config-drain",
            Self::CoreIssue => "core-issue",
            Self::CacheMiss => "cache-miss",
            Self::Fence => "fence",
            Self::LoopUnit => "loop-unit",
            Self::LoadEntries => "load-entries",
            Self::StoreEntries => "store-entries",
            Self::ExecuteEntries => "execute-entries",
            Self::Latency => "latency",
            Self::Tlb => "tlb",
            Self::Unrecorded => "unrecorded",
        }
    }

    /// Returns in a few words what happens.
    #[must_use]
    pub fn summary(self) -> &'static str {
        &self.text().summary
    }

    /// Returns why a cause never has cycles on the machines modelled.
    #[must_use]
    pub fn absent_because(self) -> Option<&'static str> {
        self.text().absent_because.as_deref()
    }

    /// Returns whether these cycles are lost: whether the array could have
    /// multiplied in them.
    #[must_use]
    pub fn is_loss(self) -> bool {
        self != Self::Mesh
    }

    /// Returns what happens, to follow "because".
    #[must_use]
    pub fn explanation(self) -> &'static str {
        &self.text().explanation
    }

    /// Returns everything that is said of it.
    pub(crate) fn text(self) -> &'static CauseText {
        TEXTS.causes.of(self.name())
    }
}
