//! How many registers a kernel needs.

use crate::decode::Kernel;

/// Registers of a thread that the compiler needs beside those of the kernel.
const BESIDE: u32 = 6;
/// Most registers of a thread.
pub const MOST: u32 = 255;

/// What is alive where.
#[derive(Debug)]
pub(crate) struct Pressure {
    /// Registers of 32 bits of each step, with what the compiler adds.
    at: Vec<u32>,
}

impl Pressure {
    /// Returns the most registers that a thread needs at once.
    pub(crate) fn most(&self) -> u32 {
        self.at.iter().copied().max().unwrap_or(BESIDE)
    }

    /// Returns of each step the part of what is alive that `limit` registers do not hold.
    pub(crate) fn spills(&self, limit: u32) -> Vec<f64> {
        let over = |it: &u32| f64::from(it.saturating_sub(limit)) / f64::from((*it).max(1));
        self.at.iter().map(over).collect()
    }
}

/// Returns the 32-bit registers that are alive at each step, as the text stands, and some for
/// what the compiler adds. Constants and special registers need none.
pub(crate) fn pressure(kernel: &Kernel) -> Pressure {
    let mut at = vec![BESIDE; kernel.steps.len()];
    kernel.liveness.walk(kernel, |step, alive| {
        at[step] += weight(alive, kernel.words as usize)
    });
    Pressure { at }
}

/// Counts registers of 32 bits.
fn weight(alive: &[u64], words: usize) -> u32 {
    let mut sum = 0;
    for (idx, bits) in alive.iter().enumerate() {
        let first = idx * 64;
        sum += bits.count_ones();
        if words < first + 64 {
            let doubles = if words <= first {
                *bits
            } else {
                bits >> (words - first)
            };
            sum += doubles.count_ones();
        }
    }
    sum
}
