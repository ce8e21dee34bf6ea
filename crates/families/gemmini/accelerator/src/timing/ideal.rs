//! Costs that can be taken away, to see by experiment what they cost.

/// Which costs a machine does without. The default is a real machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ideal {
    /// A move in is complete in the cycle after it went to its controller: no
    /// latency, no limit on bytes, and no bank is taken from the array.
    pub loads: bool,
    /// The same for moves out.
    pub stores: bool,
    /// Reading an operand takes no turn of a bank.
    pub banks: bool,
    /// A fence waits for nothing.
    pub fences: bool,
}
