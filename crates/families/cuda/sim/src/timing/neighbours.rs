//! How much of what a block reads the other blocks of its SM read, too: they find it in the L1,
//! which they share.

use crate::machine::Access;
use crate::ptx::Space;
use std::collections::HashSet;

/// Bytes that the L1 holds at once.
const SECTOR: u64 = 32;
/// Sectors of a block that are kept at most: more than any L1 has.
const MOST: usize = 16 << 10;

/// What two blocks read that an SM has one behind the other: blocks go around the SMs.
#[derive(Debug)]
pub(super) struct Neighbours {
    /// The number of the second one; the first one is 0.
    second: u32,
    /// What each has read.
    read: [HashSet<u64>; 2],
}

impl Neighbours {
    pub(super) fn new(sms: u32) -> Self {
        Self {
            second: sms,
            read: Default::default(),
        }
    }

    /// Notes an access of a block.
    pub(super) fn note(&mut self, block: u32, access: &Access<'_>) {
        let read = match block {
            0 => &mut self.read[0],
            block if block == self.second => &mut self.read[1],
            _ => return,
        };
        if access.write || access.atomic || access.no_l1 || access.memory() != Space::Global {
            return;
        }
        for lane in (0..32).filter(|lane| access.lanes >> lane & 1 == 1) {
            if read.len() < MOST {
                read.insert(access.addresses[lane] / SECTOR);
            }
        }
    }

    /// Returns the bytes of an L1 that a block has to itself, as it were, among `blocks` of them:
    /// all of it if they read the same, an equal share if each reads what the others do not.
    pub(super) fn share(&self, l1_bytes: u64, blocks: u32) -> u64 {
        let [first, second] = &self.read;
        let new = second.difference(first).count();
        let own = match second.is_empty() {
            true => 1.0,
            false => new as f64 / second.len() as f64,
        };
        (l1_bytes as f64 / (1.0 + f64::from(blocks.saturating_sub(1)) * own)) as u64
    }
}
