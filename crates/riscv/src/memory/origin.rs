//! Whether what the core does depends on what devices put into memory.

use super::{FROM_DEVICE, Memory, RegionAccess};

/// What is known about where the core's loads and instructions come from.
#[derive(Clone, Debug, Default)]
pub(super) struct Origins {
    /// Whether anybody wants to know.
    noted: bool,
    /// The core has read from a page that a device has written to, or
    /// executed what is not write-protected.
    mixed: bool,
}

impl Memory {
    /// Begins to note whether the core's loads and instructions are its own
    /// business ([`core_stands_alone`](Self::core_stands_alone)). Loads from pages that
    /// devices write to get slower.
    pub fn note_origins(&mut self) {
        self.origins.noted = true;
    }

    /// Returns whether origins have been noted, the core has loaded nothing
    /// from a page that a device had written to since, and all its instructions
    /// came from regions that may not be written. Registers and control flow of
    /// the core are then the same whatever devices have written.
    #[must_use]
    pub fn core_stands_alone(&self) -> bool {
        self.origins.noted && !self.origins.mixed
    }

    /// A device has written to some of these bytes, all of them memory. To be
    /// called for every write, or loads from there go unnoticed.
    #[inline]
    pub fn note_device_write(&mut self, address: u64, len: usize) {
        if self.core_stands_alone() && 0 < len {
            for page in self.pages_of(address..address + len as u64) {
                *page |= FROM_DEVICE;
            }
        }
    }

    /// The core has looked at what may not be its own.
    #[cold]
    pub(super) fn note_mixed(&mut self) {
        self.origins.mixed = true;
        // One is enough to know; the others may be fast again.
        for page in &mut self.pages {
            *page &= !FROM_DEVICE;
        }
    }

    /// Instructions are translated from these bytes.
    pub(super) fn note_code(&mut self, address: u64, len: usize) {
        if self.core_stands_alone() && !self.is_write_protected(address, len) {
            self.note_mixed();
        }
    }

    /// Returns whether no byte may be written.
    fn is_write_protected(&self, address: u64, len: usize) -> bool {
        (address..address + len as u64).all(|byte| {
            let mut regions = self.regions.iter().rev();
            let region = regions.find(|region| region.range.contains(&byte));
            region.is_some_and(|region| {
                matches!(region.access, RegionAccess::None | RegionAccess::Read)
            })
        })
    }
}
