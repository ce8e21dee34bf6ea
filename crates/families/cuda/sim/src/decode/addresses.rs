//! Where memories, variables and buffers lie among addresses.

use crate::ptx::{Module, Space, Variable};

/// Addresses from here on are those of shared memory where an address of any memory is meant.
pub const SHARED_WINDOW: u64 = 1 << 40;
/// The same for memory of one thread.
pub const LOCAL_WINDOW: u64 = 1 << 41;
/// Where variables of the module begin: global ones, then constants, each in a range of its own.
pub const VARIABLE_WINDOW: u64 = 1 << 43;
/// Where buffers begin, each in a range of its own.
pub const BUFFER_WINDOW: u64 = 1 << 44;
/// Bytes between the begins of two ranges.
pub const RANGE: u64 = 1 << 36;

/// Returns the address of the first byte of the buffer `number`.
#[must_use]
pub const fn buffer_address(number: u32) -> u64 {
    BUFFER_WINDOW + number as u64 * RANGE + RANGE / 2
}

/// Returns the address of the first byte of the variable `number` of the module.
pub(crate) const fn variable_address(number: u32) -> u64 {
    VARIABLE_WINDOW + number as u64 * RANGE + RANGE / 2
}

/// Returns the memory that an address of any memory is in.
#[inline(always)]
pub(crate) fn space_at(address: u64) -> Space {
    match address {
        VARIABLE_WINDOW.. => Space::Global,
        LOCAL_WINDOW.. => Space::Local,
        SHARED_WINDOW.. => Space::Shared,
        _ => Space::Global,
    }
}

impl Module {
    /// Returns the variables that lie in memory of the device, with their addresses.
    pub(crate) fn outside(&self) -> impl Iterator<Item = (&Variable, u64)> {
        let outside = self.variables.iter().filter(|it| it.space != Space::Shared);
        outside.zip((0..).map(variable_address))
    }

    /// Returns where a variable of this name lies in memory of the device.
    #[must_use]
    pub fn variable_address(&self, name: &str) -> Option<u64> {
        let mut all = self.outside();
        all.find_map(|(variable, address)| (variable.name == name).then_some(address))
    }
}
