//! Follows data through a kernel without values: which products are summed
//! into which element of the output.
//!
//! Every local row carries a fingerprint of what it holds: the place in memory
//! it came from, or the sum of the products added to it. Two kernels with the
//! same fingerprints in memory at the end compute the same, whatever the order
//! of their commands. Sums of fingerprints wrap, so that the order of products
//! does not matter.

use crate::affine::Affine;
use crate::condition::Condition;
use crate::kernel::{Command, Dram, Kernel, Local, LocalRow, Memory, Statement, Weights};
use crate::limits::HardwareLimits;
use std::collections::HashMap;

/// The most commands that are followed.
const COMMAND_LIMIT: usize = 1 << 20;

/// What a kernel leaves in memory: for each row of a tile that is stored, a
/// fingerprint of what it is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    stored: HashMap<(usize, u64), u64>,
}

/// Returns what the kernel leaves in memory; `None` if it cannot be followed
/// or reads local rows that nothing wrote.
pub(crate) fn outcome(kernel: &Kernel, limits: &HardwareLimits) -> Option<Outcome> {
    let mut machine = Machine {
        kernel,
        dim: limits.dim,
        scratchpad: vec![0; usize::try_from(limits.rows(Memory::Scratchpad)).ok()?],
        accumulator: vec![0; usize::try_from(limits.rows(Memory::Accumulator)).ok()?],
        values: Vec::new(),
        block_strides: [limits.dim; 3],
        pending: None,
        weights: 0,
        stored: HashMap::new(),
        budget: COMMAND_LIMIT,
    };
    machine.run(&kernel.body)?;
    Some(Outcome {
        stored: machine.stored,
    })
}

struct Machine<'kernel> {
    kernel: &'kernel Kernel,
    dim: i64,
    /// Fingerprints; 0 for rows that nothing wrote.
    scratchpad: Vec<u64>,
    accumulator: Vec<u64>,
    values: Vec<(&'kernel str, i64)>,
    block_strides: [i64; 3],
    /// Weights and target of the last preload.
    pending: Option<(u64, Option<Target>)>,
    weights: u64,
    stored: HashMap<(usize, u64), u64>,
    budget: usize,
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

impl<'kernel> Machine<'kernel> {
    fn run(&mut self, statements: &'kernel [Statement]) -> Option<()> {
        for statement in statements {
            match statement {
                Statement::Loop(inner) => {
                    let mut value = inner.start;
                    self.values.push((&inner.variable, value));
                    while value < inner.end {
                        self.budget = self.budget.checked_sub(1)?;
                        self.values.last_mut()?.1 = value;
                        self.run(&inner.body)?;
                        value += inner.step;
                    }
                    self.values.pop();
                }
                Statement::Guard(guard) => {
                    let branch = if self.holds(&guard.condition)? {
                        &guard.then
                    } else {
                        &guard.otherwise
                    };
                    self.run(branch)?;
                }
                Statement::Command(command) => {
                    self.budget = self.budget.checked_sub(1)?;
                    self.command(command)?;
                }
                Statement::Comment(_) => {}
                Statement::Opaque(_) => return None,
            }
        }
        Some(())
    }

    fn evaluate(&self, expression: &Affine) -> Option<i64> {
        expression.evaluate(&|name| {
            self.values
                .iter()
                .rev()
                .find(|(other, _)| *other == name)
                .map(|(_, value)| *value)
        })
    }

    fn holds(&self, condition: &Condition) -> Option<bool> {
        condition.evaluate(&|name| {
            self.values
                .iter()
                .rev()
                .find(|(other, _)| *other == name)
                .map(|(_, value)| *value)
        })
    }

    fn first_row(&self, row: &LocalRow) -> Option<usize> {
        usize::try_from(self.evaluate(&row.row)?).ok()
    }

    /// Returns the array and a fingerprint of the first indices and the last index.
    fn place(&self, dram: &Dram) -> Option<(usize, i64, i64)> {
        let Dram::Element { array, indices } = dram else {
            return None;
        };
        let array_idx = self
            .kernel
            .arrays
            .iter()
            .position(|other| other.name == *array)?;
        let (column, rest) = indices.split_last()?;
        let (row, outer) = match rest.split_last() {
            Some((row, outer)) => (self.evaluate(row)?, outer),
            None => (0, rest),
        };
        let mut outer_value = 0i64;
        for index in outer {
            outer_value = outer_value
                .checked_mul(1 << 16)?
                .checked_add(self.evaluate(index)?)?;
        }
        let row = outer_value.checked_mul(1 << 24)?.checked_add(row)?;
        Some((array_idx, row, self.evaluate(column)?))
    }

    /// Returns the fingerprint of consecutive scratchpad rows.
    fn tile(&self, local: &Local, size: (i64, i64)) -> Option<u64> {
        let Local::Row(row) = local else {
            return Some(1);
        };
        if row.memory != Memory::Scratchpad {
            return None;
        }
        let first = self.first_row(row)?;
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

    fn command(&mut self, command: &'kernel Command) -> Option<()> {
        match command {
            Command::ConfigLoad {
                block_stride,
                channel,
                ..
            } => {
                *self.block_strides.get_mut(*channel)? = *block_stride;
            }
            Command::MoveIn(load) => {
                let target = load.target.as_row()?;
                let first = i64::try_from(self.first_row(target)?).ok()?;
                let stride = *self.block_strides.get(load.channel)?;
                let place = match &load.source {
                    Dram::Zero => None,
                    source => Some(self.place(source)?),
                };
                let overwrites = self.holds(&target.overwrites)?;
                let blocks = (load.columns + self.dim - 1) / self.dim;
                for block in 0..blocks {
                    let columns = (load.columns - block * self.dim).min(self.dim);
                    let base = usize::try_from(first + block * stride).ok()?;
                    for row in 0..usize::try_from(load.rows).ok()? {
                        let held = match place {
                            None => EMPTY_SUM,
                            Some((array, from_row, column)) => {
                                let key = mix(array as u64 + 3, (from_row + row as i64) as u64);
                                mix(mix(key, (column + block * self.dim) as u64), columns as u64)
                                    | 1
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
                let first = self.first_row(source)?;
                let (array, to_row, column) = self.place(&store.target)?;
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
                        let to_column = (column + block * self.dim) as u64;
                        let place = mix(mix((to_row + row) as u64, to_column), columns as u64);
                        self.stored
                            .insert((array, place), mix(held, source.full_width.into()));
                    }
                }
            }
            Command::Preload(preload) => {
                let weights = self.tile(&preload.weights, preload.weights_size)?;
                let target = match &preload.target {
                    Local::Garbage => None,
                    Local::Row(row) if row.memory == Memory::Accumulator => Some(Target {
                        first: self.first_row(row)?,
                        rows: usize::try_from(preload.target_size.1).ok()?,
                        overwrites: self.holds(&row.overwrites)?,
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
                let input_first = self.first_row(input)?;
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
