//! What was done, in numbers.

use autocomp_riscv::RoccCommand;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Hashes an instruction address by one multiplication.
#[derive(Clone, Copy, Debug, Default)]
struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(self.0 ^ u64::from(*byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        let mixed = value.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

/// Counts since the last [`reset`](super::Functional::reset_statistics).
#[derive(Clone, Debug)]
pub struct Statistics {
    /// Commands received, by function field.
    pub commands: [u64; 128],
    /// A number that stands for all commands received, with their operands and in their
    /// order: equal for equal commands, and hardly ever for others.
    pub digest: u64,
    /// Commands made by the loop units, by the function field they would have.
    pub expanded: [u64; 128],
    /// Multiplications with logical operands: rows of A x columns of A x
    /// columns of C, limited to what reaches the result.
    pub macs_useful: u64,
    /// Multiplications of the whole array for as many rows as A has.
    pub macs_issued: u64,
    /// Bytes that load commands read from DRAM.
    pub dma_read_bytes: u64,
    /// Bytes that store commands wrote to DRAM.
    pub dma_written_bytes: u64,
    /// Counts of instructions that were issued lately, at the place that their
    /// address gives; not yet in `by_pc`.
    recent: [(u64, u64); RECENT],
    by_pc: HashMap<u64, u64, BuildHasherDefault<AddressHasher>>,
}

/// Function field of commands about counters.
const COUNTER_FUNCTION: usize = 126;

/// Places for instructions issued lately; a power of two.
const RECENT: usize = 256;

impl Default for Statistics {
    fn default() -> Self {
        Self {
            commands: [0; 128],
            digest: 0,
            expanded: [0; 128],
            macs_useful: 0,
            macs_issued: 0,
            dma_read_bytes: 0,
            dma_written_bytes: 0,
            recent: [(0, 0); RECENT],
            by_pc: HashMap::default(),
        }
    }
}

impl Statistics {
    #[inline]
    pub(crate) fn command(&mut self, command: &RoccCommand) {
        // Multiplying by an odd number and turning loses nothing.
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        let RoccCommand {
            funct,
            rs1,
            rs2,
            pc,
            ..
        } = *command;
        self.commands[usize::from(funct & 127)] += 1;
        for word in [u64::from(funct), rs1, rs2] {
            self.digest = (self.digest ^ word).wrapping_mul(ODD).rotate_left(29);
        }
        // Instructions are at even addresses.
        let recent = &mut self.recent[(pc >> 1) as usize % RECENT];
        if recent.0 == pc {
            recent.1 += 1;
        } else {
            let (pc, count) = std::mem::replace(recent, (pc, 1));
            self.keep(pc, count);
        }
    }

    #[cold]
    fn keep(&mut self, pc: u64, count: u64) {
        if count > 0 {
            *self.by_pc.entry(pc).or_insert(0) += count;
        }
    }

    /// Returns the number of commands that read or set counters.
    #[must_use]
    pub fn counter_accesses(&self) -> u64 {
        self.commands[COUNTER_FUNCTION]
    }

    /// Returns cycles that an array of `dim` x `dim` needs at least for what was
    /// counted, whatever it does at once: it takes one row of operands, one
    /// command and, each way, one beat of 16 bytes in a cycle.
    #[must_use]
    pub fn least_cycles(&self, dim: u64) -> u64 {
        const BEAT_BYTES: u64 = 16;
        let rows = self.macs_issued / (dim * dim).max(1);
        let commands = self.commands.iter().chain(&self.expanded).sum();
        let beats = self.dma_read_bytes.max(self.dma_written_bytes) / BEAT_BYTES;
        rows.max(beats).max(commands)
    }

    /// Returns the number of commands issued at each address, by address.
    #[must_use]
    pub fn commands_by_pc(&self) -> Vec<(u64, u64)> {
        let mut all = self.by_pc.clone();
        for (pc, count) in self.recent {
            if count > 0 {
                *all.entry(pc).or_insert(0) += count;
            }
        }
        let mut counts: Vec<_> = all.into_iter().collect();
        counts.sort_unstable();
        counts
    }
}
