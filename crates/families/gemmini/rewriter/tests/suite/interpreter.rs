//! Runs a kernel on small matrices: what the tests hold transformations to.
//!
//! Weight-stationary int8 only; local memories start with rubbish.

use autocomp_gemmini_rewriter::HardwareLimits;
use autocomp_gemmini_rewriter::inside::{
    Command, Dram, Kernel, Local, LocalRow, Memory, Statement, Weights,
};
use std::collections::BTreeMap;

const DIM: usize = 16;

/// A preload that waits for its compute.
struct Pending {
    weights: Option<usize>,
    weights_size: (i64, i64),
    target: Option<(usize, Memory, bool)>,
    target_size: (i64, i64),
}

pub(crate) struct Machine {
    pub(crate) arrays: BTreeMap<String, Vec<i8>>,
    extents: BTreeMap<String, Vec<i64>>,
    scratchpad: Vec<[i8; DIM]>,
    accumulator: Vec<[i32; DIM]>,
    variables: Vec<(String, i64)>,
    block_strides: [i64; 3],
    preload: Option<Pending>,
    weights: [[i32; DIM]; DIM],
}

impl Machine {
    pub(crate) fn new(kernel: &Kernel, limits: &HardwareLimits) -> Self {
        let mut arrays = BTreeMap::new();
        let mut extents = BTreeMap::new();
        for (idx, array) in kernel.arrays.iter().enumerate() {
            let size = array.extents.iter().product::<i64>() as usize;
            let values = (0..size).map(|n| ((n * (7 + 4 * idx) + n / 13 + idx) % 5) as i8 - 2);
            arrays.insert(array.name.clone(), values.collect());
            extents.insert(array.name.clone(), array.extents.clone());
        }
        Self {
            arrays,
            extents,
            scratchpad: vec![[77; DIM]; limits.rows(Memory::Scratchpad) as usize],
            accumulator: vec![[7777; DIM]; limits.rows(Memory::Accumulator) as usize],
            variables: Vec::new(),
            block_strides: [16; 3],
            preload: None,
            weights: [[55; DIM]; DIM],
        }
    }

    pub(crate) fn run(&mut self, statements: &[Statement]) -> Option<()> {
        for statement in statements {
            match statement {
                Statement::Loop(inner) => {
                    let mut value = inner.start;
                    while value < inner.end {
                        self.variables.push((inner.variable.clone(), value));
                        self.run(&inner.body)?;
                        self.variables.pop();
                        value += inner.step;
                    }
                }
                Statement::Guard(guard) => {
                    let holds = guard.condition.evaluate(&|name| self.value(name))?;
                    self.run(if holds { &guard.then } else { &guard.otherwise })?;
                }
                Statement::Command(command) => self.command(command)?,
                Statement::Comment(_) => {}
                Statement::Opaque(_) => return None,
            }
        }
        Some(())
    }

    fn value(&self, name: &str) -> Option<i64> {
        self.variables
            .iter()
            .rev()
            .find(|(other, _)| other == name)
            .map(|(_, value)| *value)
    }

    fn row(&self, row: &LocalRow) -> Option<usize> {
        usize::try_from(row.row.evaluate(&|name| self.value(name))?).ok()
    }

    fn operand(&self, local: &Local) -> Option<Option<usize>> {
        match local {
            Local::Garbage => Some(None),
            Local::Row(row) if row.memory == Memory::Scratchpad => self.row(row).map(Some),
            Local::Row(_) => None,
        }
    }

    fn element(&self, dram: &Dram) -> Option<(String, usize, usize)> {
        let Dram::Element { array, indices } = dram else {
            return None;
        };
        let extents = self.extents.get(array)?;
        let mut position = 0;
        for (index, extent) in indices.iter().zip(extents) {
            position = position * extent + index.evaluate(&|name| self.value(name))?;
        }
        Some((
            array.clone(),
            usize::try_from(position).ok()?,
            *extents.last()? as usize,
        ))
    }

    fn command(&mut self, command: &Command) -> Option<()> {
        match command {
            Command::ConfigLoad {
                block_stride,
                channel,
                ..
            } => {
                self.block_strides[*channel] = *block_stride;
            }
            Command::MoveIn(command) => {
                let Local::Row(target) = &command.target else {
                    return None;
                };
                let base = self.row(target)?;
                let overwrites = target.overwrites.evaluate(&|name| self.value(name))?;
                let stride = self.block_strides[command.channel] as usize;
                for row in 0..command.rows as usize {
                    for column in 0..command.columns as usize {
                        let value = match &command.source {
                            Dram::Zero => 0,
                            source => {
                                let (array, position, pitch) = self.element(source)?;
                                *self
                                    .arrays
                                    .get(&array)?
                                    .get(position + row * pitch + column)?
                            }
                        };
                        let local = base + row + column / DIM * stride;
                        match target.memory {
                            Memory::Scratchpad => {
                                self.scratchpad.get_mut(local)?[column % DIM] = value;
                            }
                            Memory::Accumulator => {
                                let cell = &mut self.accumulator.get_mut(local)?[column % DIM];
                                *cell = i32::from(value) + if overwrites { 0 } else { *cell };
                            }
                        }
                    }
                }
            }
            Command::MoveOut(command) => {
                let Local::Row(source) = &command.source else {
                    return None;
                };
                let base = self.row(source)?;
                let (array, position, pitch) = self.element(&command.target)?;
                for row in 0..command.rows as usize {
                    for column in 0..command.columns as usize {
                        let local = base + row + column / DIM * DIM;
                        let value = self.accumulator.get(local)?[column % DIM].clamp(-128, 127);
                        *self
                            .arrays
                            .get_mut(&array)?
                            .get_mut(position + row * pitch + column)? = value as i8;
                    }
                }
            }
            Command::Preload(command) => {
                let target = match &command.target {
                    Local::Garbage => None,
                    Local::Row(row) => {
                        let overwrites = row.overwrites.evaluate(&|name| self.value(name))?;
                        Some((self.row(row)?, row.memory, overwrites))
                    }
                };
                let weights = self.operand(&command.weights)?;
                self.preload = Some(Pending {
                    weights,
                    weights_size: command.weights_size,
                    target,
                    target_size: command.target_size,
                });
            }
            Command::Compute(command) => {
                let Pending {
                    weights,
                    weights_size,
                    target,
                    target_size: size,
                } = self.preload.take()?;
                if command.weights == Weights::Preloaded {
                    self.weights = [[0; DIM]; DIM];
                    if let Some(base) = weights {
                        for k in 0..weights_size.1 as usize {
                            for j in 0..weights_size.0 as usize {
                                self.weights[k][j] = i32::from(self.scratchpad.get(base + k)?[j]);
                            }
                        }
                    }
                }
                let input = self.operand(&command.input)?;
                let addend = self.operand(&command.addend)?;
                for i in 0..size.1 as usize {
                    let mut sums = [0i32; DIM];
                    if let Some(addend) = addend {
                        for (sum, value) in sums.iter_mut().zip(self.scratchpad.get(addend + i)?) {
                            *sum = i32::from(*value);
                        }
                    }
                    if let Some(input) = input
                        && i < command.input_size.1 as usize
                    {
                        let row = *self.scratchpad.get(input + i)?;
                        let columns = row.iter().zip(&self.weights);
                        for (value, weights) in columns.take(command.input_size.0 as usize) {
                            for (sum, weight) in sums.iter_mut().zip(weights) {
                                *sum += i32::from(*value) * weight;
                            }
                        }
                    }
                    if let Some((base, Memory::Accumulator, overwrites)) = target {
                        let cells = self.accumulator.get_mut(base + i)?;
                        for (cell, sum) in cells.iter_mut().zip(sums).take(size.0 as usize) {
                            *cell = sum + if overwrites { 0 } else { *cell };
                        }
                    }
                }
            }
            Command::ConfigExecute(_) | Command::ConfigStore(_) | Command::Fence => {}
        }
        Some(())
    }
}
