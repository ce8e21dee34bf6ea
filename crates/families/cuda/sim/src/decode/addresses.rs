//! Where memories, variables and buffers lie among addresses.

use crate::ptx::Space;

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
