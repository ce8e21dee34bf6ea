//! Follows every element of a kernel on floats: through the core, the
//! scratchpad, the accumulator and the array, as a sum of products of elements.

use super::commands::{Effect, effect};
use super::program::Binary;
use super::run::{Value as Number, World};
use super::values::{Id, Values};
use crate::memory::Memory;
use autocomp_gemmini::{
    Activation, ConfigEx, ConfigLd, Dataflow, GemminiConfig, Instruction, LoopSlots, MatmulLoop,
    MatmulParameters, PoolFields, Tile,
};
use std::collections::{BTreeMap, HashMap};

/// Products of elements that are followed at most.
const PRODUCT_LIMIT: usize = 1_000_000;
/// Elements that moves carry at most.
const MOVE_LIMIT: usize = 4_000_000;

type Done = Result<(), String>;

/// A square of values that the array holds.
type Held = Vec<Option<Id>>;

/// Everything that was followed.
pub(super) struct Trace<'kernel> {
    config: &'kernel GemminiConfig,
    memories: &'kernel [Memory],
    pub(super) values: Values,
    /// What elements of arrays hold, where it is not what they held at first.
    pub(super) contents: HashMap<(usize, i64), Id>,
    /// Elements written to memory, in order.
    pub(super) written: Vec<(usize, i64, Id)>,
    scratchpad: HashMap<(u32, u16), Id>,
    accumulator: HashMap<(u32, u16), Id>,
    loads: [ConfigLd; 3],
    execute: Option<ConfigEx>,
    /// Factor and bytes between rows of moves out.
    store: (f32, u32),
    pending: Option<(Tile, Tile)>,
    held: Held,
    matmul: LoopSlots<MatmulParameters>,
    products: usize,
    moves: usize,
    statement: usize,
    /// Statements of the entry function that issue commands or write to memory.
    pub(super) acting: BTreeMap<usize, bool>,
}

impl<'kernel> Trace<'kernel> {
    pub(super) fn new(config: &'kernel GemminiConfig, memories: &'kernel [Memory]) -> Self {
        let load = ConfigLd {
            channel: 0,
            shrink: false,
            pixel_repeats: 1,
            block_stride: config.dim as u16,
            scale: 1.0,
            stride: 0,
        };
        Self {
            config,
            memories,
            values: Values::default(),
            contents: HashMap::new(),
            written: Vec::new(),
            scratchpad: HashMap::new(),
            accumulator: HashMap::new(),
            loads: [load; 3],
            execute: None,
            store: (1.0, 0),
            pending: None,
            held: vec![None; (config.dim * config.dim) as usize],
            matmul: LoopSlots::default(),
            products: 0,
            moves: 0,
            statement: 0,
            acting: BTreeMap::new(),
        }
    }

    fn dim(&self) -> u16 {
        self.config.dim as u16
    }

    fn element(&self, address: u64) -> Result<(usize, i64), String> {
        let (array, offset) = Memory::of(address).ok_or("an address outside all arrays")?;
        let memory = self
            .memories
            .get(array)
            .ok_or("an address outside all arrays")?;
        if memory.element != 4 || offset % 4 != 0 {
            return Err(format!("`{}` holds no floats", memory.name));
        }
        if memory.bytes().is_some_and(|bytes| bytes <= offset) {
            return Err(format!("an element beyond the end of `{}`", memory.name));
        }
        Ok((array, offset / 4))
    }

    fn read(&mut self, address: u64) -> Result<Id, String> {
        let (array, element) = self.element(address)?;
        if let Some(id) = self.contents.get(&(array, element)) {
            return Ok(*id);
        }
        Ok(match self.memories[array].float(element) {
            Some(value) => self.values.constant(value),
            None => self.values.given(array, element),
        })
    }

    fn write(&mut self, address: u64, value: Id) -> Done {
        let (array, element) = self.element(address)?;
        self.values.name(value);
        self.contents.insert((array, element), value);
        self.written.push((array, element, value));
        Ok(())
    }

    fn carry(&mut self, tile: Tile) -> Done {
        self.moves += usize::from(tile.rows) * usize::from(tile.cols);
        if MOVE_LIMIT < self.moves {
            return Err("more elements than are followed".to_owned());
        }
        Ok(())
    }

    fn apply(&mut self, instruction: Instruction) -> Done {
        match instruction {
            Instruction::ConfigEx(new) => {
                if new.strides_only || new.c_stride != 1 || new.activation != Activation::None {
                    return Err("results that the array changes".to_owned());
                }
                self.execute = Some(new);
                Ok(())
            }
            Instruction::ConfigLd(new) => {
                let channel = self.loads.get_mut(usize::from(new.channel));
                *channel.ok_or("a load channel that does not exist")? = new;
                Ok(())
            }
            Instruction::ConfigSt(new) => {
                if new.activation != Activation::None || new.pool != PoolFields::default() {
                    return Err("an activation, or pooling".to_owned());
                }
                self.store = (new.scale.unwrap_or(self.store.0), new.stride);
                Ok(())
            }
            Instruction::Mvin {
                channel,
                dram,
                tile,
            } => self.move_in(usize::from(channel), dram, tile),
            Instruction::Mvout { dram, tile } => self.move_out(dram, tile),
            Instruction::Preload { stationary, dest } => {
                self.pending = Some((stationary, dest));
                Ok(())
            }
            Instruction::Compute { preloaded, a, bd } => self.compute(preloaded, a, bd),
            Instruction::LoopWsConfig(new) => {
                self.matmul.current().set(new);
                Ok(())
            }
            Instruction::LoopWs(run) => {
                let (now, [slot, half]) = self.matmul.start(|now| now.dram[3] != 0);
                let plan = MatmulLoop::place(self.config, run, now, slot, half);
                plan.check(self.config).map_err(|(_, text)| text)?;
                let config = self.config;
                plan.expand(config, &mut |instruction| self.apply(instruction))
            }
            _ => Err("a command that is not followed".to_owned()),
        }
    }

    fn move_in(&mut self, channel: usize, dram: u64, tile: Tile) -> Done {
        self.carry(tile)?;
        let load = *self
            .loads
            .get(channel)
            .ok_or("a load channel that does not exist")?;
        if 1 < load.pixel_repeats {
            return Err("pixels that are repeated as they come in".to_owned());
        }
        let dim = self.dim();
        for row in 0..tile.rows {
            for column in 0..tile.cols {
                let value = if dram == 0 {
                    self.values.constant(0.0)
                } else {
                    let address = dram
                        .wrapping_add(u64::from(row).wrapping_mul(load.stride))
                        .wrapping_add(4 * u64::from(column));
                    let value = self.read(address)?;
                    self.values.scale(value, load.scale)?
                };
                let at = tile.address.row()
                    + u32::from(row)
                    + u32::from(column / dim) * u32::from(load.block_stride);
                self.put(tile, (at, column % dim), value)?;
            }
        }
        Ok(())
    }

    /// Writes an element where a tile's address says.
    fn put(&mut self, tile: Tile, at: (u32, u16), value: Id) -> Done {
        if !tile.address.is_accumulator() {
            self.scratchpad.insert(at, value);
            return Ok(());
        }
        let mut value = value;
        if tile.address.accumulates() {
            let old = self.accumulator.get(&at).copied();
            let old = old.ok_or("a sum with what nothing wrote")?;
            value = self.values.add(old, value, 1.0)?;
        }
        self.accumulator.insert(at, value);
        Ok(())
    }

    fn move_out(&mut self, dram: u64, tile: Tile) -> Done {
        self.carry(tile)?;
        let dim = self.dim();
        let (factor, pitch) = self.store;
        let from_accumulator = tile.address.is_accumulator();
        for row in 0..tile.rows {
            for column in 0..tile.cols {
                let at = tile.address.row() + u32::from(row) + u32::from(column / dim * dim);
                let memory = if from_accumulator {
                    &self.accumulator
                } else {
                    &self.scratchpad
                };
                let value = memory.get(&(at, column % dim)).copied();
                let mut value = value.ok_or("a store of what nothing wrote")?;
                if from_accumulator && !tile.address.is_full_width() {
                    value = self.values.scale(value, factor)?;
                }
                let address = dram
                    .wrapping_add(u64::from(row) * u64::from(pitch))
                    .wrapping_add(4 * u64::from(column));
                self.write(address, value)?;
            }
        }
        Ok(())
    }

    /// Reads a tile as the array does: a square, empty beyond the tile.
    fn operand(&self, tile: Tile, is_turned: bool, stride: u16) -> Result<Held, String> {
        let dim = self.dim();
        let mut held = vec![None; usize::from(dim) * usize::from(dim)];
        if tile.address.is_garbage() {
            return Ok(held);
        }
        if tile.address.is_accumulator() {
            return Err("an operand in the accumulator".to_owned());
        }
        for row in 0..tile.rows.min(dim) {
            for column in 0..tile.cols.min(dim) {
                let (down, across) = if is_turned {
                    (column, row)
                } else {
                    (row, column)
                };
                let at = tile.address.row() + u32::from(down) * u32::from(stride);
                let value = self.scratchpad.get(&(at, across)).copied();
                let value = value.ok_or("an operand that nothing wrote")?;
                held[usize::from(row * dim + column)] = Some(value);
            }
        }
        Ok(held)
    }

    fn compute(&mut self, preloaded: bool, a: Tile, bd: Tile) -> Done {
        let execute = self
            .execute
            .ok_or("products before the array is configured")?;
        let (stationary, dest) = self.pending.take().ok_or("a product without a preload")?;
        let in_place = execute.dataflow == Dataflow::OutputStationary;
        let left = self.operand(a, execute.a_transpose, execute.a_stride)?;
        let other = self.operand(bd, in_place && execute.b_transpose, 1)?;
        if preloaded {
            self.held = self.operand(stationary, !in_place && execute.b_transpose, 1)?;
        }
        let dim = usize::from(self.dim());
        let mut sums = if in_place {
            let sums = std::mem::take(&mut self.held);
            self.multiply(&left, &other, sums)?
        } else {
            let held = std::mem::take(&mut self.held);
            let sums = self.multiply(&left, &held, other)?;
            self.held = held;
            sums
        };
        if !dest.address.is_garbage() {
            for row in 0..dest.rows {
                for column in 0..dest.cols {
                    let value = sums[usize::from(row) * dim + usize::from(column)];
                    let value = match value {
                        Some(value) => value,
                        None => self.values.constant(0.0),
                    };
                    let at = (dest.address.row() + u32::from(row), column);
                    self.put(dest, at, value)?;
                }
            }
        }
        if in_place {
            std::mem::swap(&mut self.held, &mut sums);
        }
        Ok(())
    }

    /// Returns `left * right + addend`.
    fn multiply(&mut self, left: &Held, right: &Held, addend: Held) -> Result<Held, String> {
        let dim = usize::from(self.dim());
        let mut result = addend;
        for row in 0..dim {
            for column in 0..dim {
                let mut terms = Vec::new();
                for inner in 0..dim {
                    let (Some(a), Some(b)) = (left[row * dim + inner], right[inner * dim + column])
                    else {
                        continue;
                    };
                    terms.extend(self.values.product(a, b)?);
                }
                self.products += terms.len();
                if PRODUCT_LIMIT < self.products {
                    return Err("more products than are followed".to_owned());
                }
                if terms.is_empty() {
                    continue;
                }
                let sum = self.values.sum(terms)?;
                let place = &mut result[row * dim + column];
                *place = Some(match *place {
                    Some(old) => self.values.add(old, sum, 1.0)?,
                    None => sum,
                });
            }
        }
        Ok(result)
    }

    fn act(&mut self, is_command: bool) {
        *self.acting.entry(self.statement).or_default() |= is_command;
    }

    /// Returns the value of a number that the core computes with.
    fn known(&mut self, number: Number) -> Option<Id> {
        match number {
            Number::Integer(value) => Some(self.values.constant(value as f32)),
            Number::Float(value) => Some(self.values.constant(value as f32)),
            Number::Named(id) => Some(id),
            Number::Unknown => None,
        }
    }
}

impl World for Trace<'_> {
    fn command(&mut self, name: &str, arguments: &[Number]) -> Done {
        self.act(true);
        match effect(name, arguments, self.config)? {
            Effect::Fence | Effect::Nothing => {}
            Effect::Issue(instructions) => {
                for instruction in instructions {
                    self.apply(instruction)?;
                }
            }
        }
        Ok(())
    }

    fn store(&mut self, address: u64, _: i64, value: Number) -> Done {
        self.act(false);
        let value = self.known(value);
        let value = value.ok_or("the core computes what is no sum of products")?;
        self.write(address, value)
    }

    fn load(&mut self, address: u64) -> Result<Number, String> {
        Ok(Number::Named(self.read(address)?))
    }

    fn compute(&mut self, operation: Binary, left: Number, right: Number) -> Number {
        let (Some(left), Some(right)) = (self.known(left), self.known(right)) else {
            return Number::Unknown;
        };
        let values = &mut self.values;
        let result = match operation {
            Binary::Add => values.add(left, right, 1.0),
            Binary::Subtract => values.add(left, right, -1.0),
            Binary::Multiply => values
                .product(left, right)
                .and_then(|term| values.sum(term.into_iter().collect())),
            _ => return Number::Unknown,
        };
        result.map_or(Number::Unknown, Number::Named)
    }

    fn statement(&mut self, index: usize) {
        self.statement = index;
    }
}
