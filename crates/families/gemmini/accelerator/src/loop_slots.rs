//! What a loop unit keeps from one hardware loop to the next.

/// The two sets of parameters of a loop unit `P`, which take turns, as do the two
/// halves of the accumulator.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoopSlots<P> {
    /// Parameters of the two slots.
    parameters: [P; 2],
    /// Slot that is configured and run next.
    slot: usize,
    /// Accumulator half of the next bias and output.
    half: u32,
}

impl<P: Copy> LoopSlots<P> {
    /// Returns the parameters of the loop that is configured, to be set.
    pub fn current(&mut self) -> &mut P {
        &mut self.parameters[self.slot]
    }

    /// Starts the loop that has been configured: returns its parameters, its
    /// slot, and its half of the accumulator. The next one has the other slot,
    /// and the other half if this one `stores` its output.
    ///
    /// *Source*: RTL: `ld_d_addr_start`, `ex_c_addr_start` and `st_c_addr_start`
    /// of `LoopMatmul` (`ld_bias_addr_start` and its like in `LoopConv`) all
    /// move on with loops that have an output, with a bias or without.
    pub fn start(&mut self, stores: impl FnOnce(&P) -> bool) -> (P, [u32; 2]) {
        let parameters = self.parameters[self.slot];
        let place = [self.slot as u32, self.half];
        self.slot ^= 1;
        self.half ^= u32::from(stores(&parameters));
        (parameters, place)
    }
}
