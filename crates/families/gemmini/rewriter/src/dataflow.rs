//! Follows data through a kernel without values: which products are summed
//! into which element of the output.
//!
//! Every local row carries a fingerprint of what it holds: the place in memory
//! it came from, or the sum of the products added to it. Two kernels with the
//! same fingerprints in memory at the end compute the same, whatever the order
//! of their commands. Sums of fingerprints wrap, so that the order of products
//! does not matter.

use crate::kernel::{Command, Kernel, Local, Memory, Weights};
use crate::limits::HardwareLimits;
use crate::walk::{Event, Issue, Place, Program};
use std::collections::HashMap;

/// The most commands and iterations that are followed.
const EVENT_LIMIT: usize = 1 << 21;

/// What a kernel leaves in memory: for each row of a tile that is stored, a
/// fingerprint of what it is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    stored: HashMap<(usize, u64), u64>,
}

/// Returns what the kernel leaves in memory; `None` if it cannot be followed
/// or reads local rows that nothing wrote.
pub fn outcome(kernel: &Kernel, limits: &HardwareLimits) -> Option<Outcome> {
    let mut machine = Machine {
        dim: limits.dim,
        scratchpad: vec![0; usize::try_from(limits.rows(Memory::Scratchpad)).ok()?],
        accumulator: vec![0; usize::try_from(limits.rows(Memory::Accumulator)).ok()?],
        block_strides: [limits.dim; 3],
        pending: None,
        weights: 0,
        stored: HashMap::new(),
    };
    Program::of(kernel)?.run(&mut { EVENT_LIMIT }, &mut |event| match event {
        Event::Issue(issue) => machine.command(&issue),
        Event::Iteration | Event::Test => Some(()),
    })?;
    Some(Outcome {
        stored: machine.stored,
    })
}

struct Machine {
    dim: i64,
    /// Fingerprints; 0 for rows that nothing wrote.
    scratchpad: Vec<u64>,
    accumulator: Vec<u64>,
    block_strides: [i64; 3],
    /// Weights and target of the last preload.
    pending: Option<(u64, Option<Target>)>,
    weights: u64,
    stored: HashMap<(usize, u64), u64>,
}

#[derive(Clone, Copy)]
struct Target {
    first: usize,
    rows: usize,
    overwrites: bool,
}

/// What a row of zeros in the accumulator holds: the empty sum.
const EMPTY_SUM: u64 = 0x5eed_0000_0000_0001;

fn mix(left: u64, right: u64) -> u64 {
    let mut z = left.rotate_left(23) ^ right.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    z ^ (z >> 29)
}

impl Machine {
    /// Returns the fingerprint of consecutive scratchpad rows.
    fn tile(&self, local: &Local, first: Option<usize>, size: (i64, i64)) -> Option<u64> {
        let (Local::Row(row), Some(first)) = (local, first) else {
            return Some(1);
        };
        if row.memory != Memory::Scratchpad {
            return None;
        }
        let rows = self
            .scratchpad
            .get(first..first.checked_add(usize::try_from(size.1).ok()?)?)?;
        let mut fingerprint = mix(size.0 as u64, size.1 as u64);
        for row in rows {
            if *row == 0 {
                return None;
            }
            fingerprint = mix(fingerprint, *row);
        }
        Some(fingerprint)
    }

    fn command(&mut self, issue: &Issue<'_>) -> Option<()> {
        match issue.command {
            Command::ConfigLoad {
                block_stride,
                channel,
                ..
            } => {
                *self.block_strides.get_mut(*channel)? = *block_stride;
            }
            Command::MoveIn(load) => {
                let target = load.target.as_row()?;
                let first = i64::try_from(issue.rows[0]?).ok()?;
                let stride = *self.block_strides.get(load.channel)?;
                let place = issue.place;
                let overwrites = issue.overwrites;
                let blocks = (load.columns + self.dim - 1) / self.dim;
                for block in 0..blocks {
                    let columns = (load.columns - block * self.dim).min(self.dim);
                    let base = usize::try_from(first + block * stride).ok()?;
                    for row in 0..usize::try_from(load.rows).ok()? {
                        let held = match place {
                            None => EMPTY_SUM,
                            Some(Place {
                                array,
                                row: from_row,
                                column,
                            }) => {
                                let key =
                                    mix(array as u64 + 3, from_row.wrapping_add(row as i64) as u64);
                                mix(
                                    mix(key, column.wrapping_add(block * self.dim) as u64),
                                    columns as u64,
                                ) | 1
                            }
                        };
                        let rows = match target.memory {
                            Memory::Scratchpad => &mut self.scratchpad,
                            Memory::Accumulator => &mut self.accumulator,
                        };
                        let cell = rows.get_mut(base.checked_add(row)?)?;
                        *cell = if target.memory == Memory::Accumulator && !overwrites {
                            if *cell == 0 {
                                return None;
                            }
                            cell.wrapping_add(held.wrapping_sub(EMPTY_SUM))
                        } else {
                            held
                        };
                    }
                }
            }
            Command::MoveOut(store) => {
                let source = store.source.as_row()?;
                let first = issue.rows[0]?;
                let Place {
                    array,
                    row: to_row,
                    column,
                } = issue.place?;
                let blocks = (store.columns + self.dim - 1) / self.dim;
                for block in 0..blocks {
                    let columns = (store.columns - block * self.dim).min(self.dim);
                    for row in 0..store.rows {
                        let offset = usize::try_from(block * self.dim + row).ok()?;
                        let rows = match source.memory {
                            Memory::Scratchpad => &self.scratchpad,
                            Memory::Accumulator => &self.accumulator,
                        };
                        let held = *rows.get(first.checked_add(offset)?)?;
                        if held == 0 {
                            return None;
                        }
                        let to_column = column.wrapping_add(block * self.dim) as u64;
                        let place = mix(
                            mix(to_row.wrapping_add(row) as u64, to_column),
                            columns as u64,
                        );
                        self.stored
                            .insert((array, place), mix(held, source.full_width.into()));
                    }
                }
            }
            Command::Preload(preload) => {
                let weights = self.tile(&preload.weights, issue.rows[0], preload.weights_size)?;
                let target = match &preload.target {
                    Local::Garbage => None,
                    Local::Row(row) if row.memory == Memory::Accumulator => Some(Target {
                        first: issue.rows[1]?,
                        rows: usize::try_from(preload.target_size.1).ok()?,
                        overwrites: issue.overwrites,
                    }),
                    // Results in the scratchpad are not followed.
                    Local::Row(_) => return None,
                };
                let weights = mix(weights, preload.target_size.0 as u64);
                self.pending = Some((weights, target));
            }
            Command::Compute(compute) => {
                let (weights, target) = self.pending.take()?;
                if compute.weights == Weights::Preloaded {
                    self.weights = weights;
                } else if self.weights == 0 {
                    return None;
                }
                if compute.addend != Local::Garbage {
                    return None;
                }
                let input = compute.input.as_row()?;
                if input.memory != Memory::Scratchpad {
                    return None;
                }
                let input_first = issue.rows[0]?;
                let Some(target) = target else {
                    return Some(());
                };
                for row in 0..target.rows {
                    let moving = *self.scratchpad.get(input_first.checked_add(row)?)?;
                    if moving == 0 || compute.input_size.1 < row as i64 {
                        return None;
                    }
                    let product = mix(mix(moving, compute.input_size.0 as u64), self.weights);
                    let cell = self.accumulator.get_mut(target.first.checked_add(row)?)?;
                    if !target.overwrites && *cell == 0 {
                        return None;
                    }
                    let sum = if target.overwrites { EMPTY_SUM } else { *cell };
                    *cell = sum.wrapping_add(product);
                }
            }
            Command::ConfigExecute(_) | Command::ConfigStore(_) | Command::Fence => {}
        }
        Some(())
    }
}
