//! What the cycles of a call are spent on.

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
    /// The same, while the core waits for a line of its caches.
    CacheMiss,
    /// The same, while the core waits in a fence.
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
        match self {
            Self::Mesh => "array multiplies",
            Self::PreloadAlone => "array only takes a stationary operand",
            Self::BankConflict => "operands lie in one bank, read in turns",
            Self::PortConflict => "bank that is read is being written to",
            Self::ArrayFull => "no room for results in the array",
            Self::LoadLatency => "move in on the way to the L2 and back",
            Self::LoadBandwidth => "move in limited by the port's width",
            Self::LoadMemory => "move in from behind the L2",
            Self::Store => "move out not done",
            Self::Dependency => "result of an earlier operation awaited",
            Self::RowsInUse => "move in waits for rows still being read",
            Self::ConfigDrain => "configuration waits for an empty array",
            Self::CoreIssue => "core has not sent the command",
            Self::CacheMiss => "the same, core waits for its caches",
            Self::Fence => "the same, core waits in a fence",
            Self::LoopUnit => "loop unit has not made the command",
            Self::LoadEntries => "all load entries of the station in use",
            Self::StoreEntries => "all store entries of the station in use",
            Self::ExecuteEntries => "all execute entries of the station in use",
            Self::Latency => "command on its way through queues",
            Self::Tlb => "address translation",
            Self::Unrecorded => "beyond the recording",
        }
    }

    /// Returns why a cause never has cycles on the machines modelled.
    #[must_use]
    pub fn absent_because(self) -> Option<&'static str> {
        (self == Self::Tlb)
            .then_some("kernels run in machine mode, where addresses are not translated")
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
        match self {
            Self::Mesh => "the array multiplies",
            Self::PreloadAlone => {
                "the array takes a stationary operand while it multiplies nothing"
            }
            Self::BankConflict => {
                "operands that are used together lie in one scratchpad bank and are read in turns"
            }
            Self::PortConflict => {
                "moves in or results are written to the scratchpad bank that an operand is being read from, and go first"
            }
            Self::ArrayFull => "the array has no room for the results of another operation",
            Self::LoadLatency => {
                "an operand was requested too late to be there in time, and is on its way"
            }
            Self::LoadBandwidth => {
                "operands are still coming in, as fast as the port to memory allows"
            }
            Self::LoadMemory => "operands are still coming from the memory behind the L2",
            Self::Store => "results are still being moved out",
            Self::RowsInUse => {
                "a move in waits until the array has done with the rows that it overwrites"
            }
            Self::Dependency => "the result of an earlier operation is still in the array",
            Self::ConfigDrain => "a configuration command waits until the array is empty",
            Self::CoreIssue => "the core has not sent the next command yet",
            Self::CacheMiss => "the core waits for its caches before it can send the next command",
            Self::Fence => "the core waits in a fence and sends no commands",
            Self::LoopUnit => "the loop unit has not made the next command yet",
            Self::LoadEntries => {
                "all load entries of the reservation station are in use, and the next move in blocks the commands behind it"
            }
            Self::StoreEntries => {
                "all store entries of the reservation station are in use, and the next move out blocks the commands behind it"
            }
            Self::ExecuteEntries => {
                "all execute entries of the reservation station are in use, and the next compute command blocks the moves behind it"
            }
            Self::Latency => "commands are on their way through the queues",
            Self::Tlb => "addresses are translated",
            Self::Unrecorded => "more commands came than were recorded",
        }
    }

    /// Returns what can be done about it.
    #[must_use]
    pub fn remedy(self) -> Option<&'static str> {
        Some(match self {
            Self::Mesh | Self::Latency | Self::Tlb | Self::Unrecorded => return None,
            Self::PreloadAlone => {
                "send each preload right behind the multiplication before it, so that both overlap, and multiply as many rows with each stationary operand as the array has, or more"
            }
            Self::BankConflict => "put the operands into different banks",
            Self::PortConflict => {
                "move into a bank that is not being computed from, with the operands of the next step (double buffering across banks)"
            }
            Self::ArrayFull => "use each stationary operand for more rows",
            Self::LoadLatency => "move it in earlier, into rows that are not in use",
            Self::LoadBandwidth => {
                "move in fewer bytes by keeping in local memory what is used again, and move in ahead, into rows that are not in use"
            }
            Self::LoadMemory => {
                "move in earlier, and use data again while it is in local memory or the L2"
            }
            Self::Store => {
                "use other accumulator rows for the next tile and move out while it is computed"
            }
            Self::RowsInUse => "move into other rows than those in use, two sets of them in turn",
            Self::Dependency => "work on other tiles in between",
            Self::ConfigDrain => "configure once, outside loops",
            Self::CoreIssue => {
                "send fewer and larger commands, and spend fewer instructions between them (unroll, hoist address arithmetic)"
            }
            Self::CacheMiss => "touch less memory from the core, and keep code small",
            Self::Fence => "fence only where the core reads results",
            Self::LoopUnit => "give the loop unit larger loops",
            Self::LoadEntries => {
                "spread moves in between the computations so that few are pending, and make them wider"
            }
            Self::StoreEntries => {
                "spread moves out over the computation of the next tile, and make them wider"
            }
            Self::ExecuteEntries => "send moves in before the computations that do not need them",
        })
    }

    /// Returns what can be done about it where the commands are those of a loop unit,
    /// which decides by itself when it moves what, and where to: what is left to choose
    /// are the extents of loops, the operands moved in, and halves of the local memories.
    #[must_use]
    pub fn loop_remedy(self) -> Option<&'static str> {
        Some(match self {
            Self::PreloadAlone | Self::ArrayFull => {
                "give the loop more rows of results, so that it uses each stationary operand for more of them"
            }
            Self::BankConflict => {
                "choose extents with which each operand of the loop fills one bank at most, so that the loop unit puts them into different ones"
            }
            Self::PortConflict => {
                "let the next loop move into the other half of the scratchpad than the one being computed from, or send moves and computations one by one, into banks of your choice"
            }
            Self::LoadLatency | Self::LoadMemory => {
                "start the next loop while this one computes (no fence in between), and choose extents with which a loop computes for longer than its operands take to come in"
            }
            Self::LoadBandwidth => {
                "move in fewer bytes: choose extents with which a loop uses its operands more often, and leave out (with a null address) those that an earlier loop has left in the scratchpad"
            }
            Self::Store | Self::StoreEntries => {
                "start the next loop while this one moves out (no fence in between), and give loops more depth, so that they compute for longer than their results take to move out"
            }
            Self::RowsInUse => {
                "let the next loop use the other half of the scratchpad, with extents whose operands fit into one half"
            }
            Self::Dependency => {
                "give the loop more tiles of results, so that it works on them in turn"
            }
            Self::LoadEntries | Self::ExecuteEntries => {
                "choose extents that take fewer and wider moves for the same work, or send moves and computations one by one, in an order of your choice"
            }
            _ => return self.remedy(),
        })
    }
}
