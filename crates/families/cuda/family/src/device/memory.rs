//! Buffers on a device, between guard zones, at addresses that differ from set to set.

use super::calls::{Device, Refusal};
use autocomp_core::Seed;
use autocomp_cuda_sim::decode::{BUFFER_WINDOW, RANGE, buffer_address};

/// Bytes of a guard zone.
const GUARD: u64 = 16 << 10;
/// What buffers are aligned to.
const ALIGNMENT: u64 = 512;
/// Bytes that a set of buffers may lie further back than another.
const SLACK: u64 = 4 << 20;

/// Memory for one set of buffers at a time.
#[derive(Debug)]
pub(super) struct Arena {
    start: u64,
    bytes: u64,
    sizes: Vec<u64>,
}

/// A set of buffers in the arena.
#[derive(Debug)]
pub(super) struct Places {
    /// Where each buffer begins.
    pub(super) starts: Vec<u64>,
    /// Guard zones: where they begin, and how many words of 32 bits they have.
    guards: Vec<(u64, u64)>,
    mark: u32,
}

impl Arena {
    /// Allocates memory for buffers of these sizes, in bytes.
    pub(super) fn new(device: &Device, sizes: Vec<u64>) -> Result<Self, Refusal> {
        let of_buffers: u64 = sizes.iter().map(|it| it + GUARD + 2 * ALIGNMENT).sum();
        let bytes = of_buffers + GUARD + SLACK + 2 * ALIGNMENT;
        Ok(Self {
            start: device.allocate(bytes as usize)?,
            bytes,
            sizes,
        })
    }

    /// Fills all of the arena with a mark and lays the buffers out anew.
    pub(super) fn places(&self, device: &Device, seed: &mut Seed) -> Result<Places, Refusal> {
        let mark = seed.next_u64() as u32 | 1;
        device.fill(self.start, mark, self.bytes / 4)?;
        let aligned = |address: u64| address.next_multiple_of(ALIGNMENT);
        let slack = seed.below((SLACK / ALIGNMENT) as usize) as u64 * ALIGNMENT;
        let mut at = aligned(self.start + slack);
        let (mut starts, mut guards) = (Vec::new(), Vec::new());
        for bytes in &self.sizes {
            let start = aligned(at + GUARD);
            guards.push((at, (start - at) / 4));
            starts.push(start);
            at = (start + bytes).next_multiple_of(4);
        }
        guards.push((at, GUARD / 4));
        Ok(Places {
            starts,
            guards,
            mark,
        })
    }
}

impl Places {
    /// Returns where a guard zone was written to: the number of the buffer behind it, or of the
    /// last one, and the distance in bytes.
    pub(super) fn broken_guard(&self, device: &Device) -> Result<Option<usize>, Refusal> {
        let mark = self.mark.to_le_bytes();
        for (number, (start, words)) in self.guards.iter().enumerate() {
            let content = device.get(*start, 4 * *words as usize)?;
            if content.chunks_exact(4).any(|word| word != mark) {
                return Ok(Some(number.saturating_sub(1)));
            }
        }
        Ok(None)
    }

    /// Returns the address on the device that stands for one of the simulator's, if it is one
    /// in the range of a buffer.
    pub(super) fn address(&self, simulated: u64) -> Option<u64> {
        let number = simulated.checked_sub(BUFFER_WINDOW)? / RANGE;
        let start = self.starts.get(usize::try_from(number).ok()?)?;
        Some(start.wrapping_add(simulated.wrapping_sub(buffer_address(number as u32))))
    }

    /// Returns arguments of a kernel with the addresses of this set. A word of 64 bits that
    /// lies in the range of a buffer is an address: the ranges begin at 2^44.
    pub(super) fn arguments(&self, recorded: &[u8]) -> Vec<u8> {
        let mut arguments = recorded.to_vec();
        for word in arguments.chunks_exact_mut(8) {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(word);
            if let Some(address) = self.address(u64::from_le_bytes(bytes)) {
                word.copy_from_slice(&address.to_le_bytes());
            }
        }
        arguments
    }
}
