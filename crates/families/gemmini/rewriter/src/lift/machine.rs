//! Follows where the contents of local memory come from, command by command.
//!
//! A scratchpad row is a place in memory; an accumulator row is a sum of
//! places and of products of places. What is stored is recorded as such a sum.

use super::commands::{Effect, effect};
use super::contents::{Cell, HardwareLoop, Numbered, Output, Place, Store, Sum};
use super::run::{Value, World};
use super::versions::{Rewritten, Versions};
use crate::memory::Memory;
use autocomp_gemmini::{
    Activation, ConfigEx, ConfigLd, ConvLoop, ConvParameters, GemminiConfig, Instruction,
    LoopSlots, MatmulLoop, MatmulParameters, PoolFields, Tile,
};
use std::collections::BTreeMap;

/// Rows of local memory that commands may touch.
const ROW_LIMIT: u64 = 100_000_000;
/// Products that are recorded at most.
const TERM_LIMIT: usize = 24_000_000;

/// What the array holds.
#[derive(Debug)]
pub(super) enum Held {
    Nothing,
    /// Weights, all zeros.
    Zeros,
    /// The number of the weights.
    Weights(u32),
    /// Sums that stay there, row by row.
    Sums(Vec<Sum>),
}

/// Everything that was seen.
pub(crate) struct Machine<'config> {
    pub(super) config: &'config GemminiConfig,
    /// Bytes of each array, where they are known.
    sizes: Vec<Option<i64>>,
    pub(super) scratchpad: Vec<Option<Cell>>,
    /// When each row of the scratchpad was written: the number of the command.
    pub(super) came: Vec<usize>,
    /// What lies in rows of the scratchpad behind what came in to them, pixel by pixel.
    pub(super) beside: BTreeMap<usize, Vec<Option<Place>>>,
    pub(super) accumulator: Vec<Sum>,
    loads: [ConfigLd; 3],
    pub(super) execute: Option<ConfigEx>,
    store: Store,
    pool: PoolFields,
    pub(super) pending: Option<(Tile, Tile)>,
    pub(super) in_array: Held,
    /// When the first came in of what the array holds.
    pub(super) held_since: usize,
    pub(crate) numbered: Numbered,
    matmul: LoopSlots<MatmulParameters>,
    convolution: LoopSlots<ConvParameters>,
    pub(super) stored: Versions,
    rewritten: Rewritten,
    terms: usize,
    rows: u64,
    commands: usize,
    statement: usize,
    /// Statements of the entry function that issue commands.
    pub(crate) issuing: std::collections::BTreeSet<usize>,
    /// Statements of the entry function by which the core writes to memory, with the arrays.
    pub(crate) writing: std::collections::BTreeSet<(usize, usize)>,
    /// Statements of the entry function by which the core reads memory, with the arrays.
    pub(crate) reading: std::collections::BTreeSet<(usize, usize)>,
    /// The first of the hardware's loops for products that it calls.
    first_product: Option<HardwareLoop>,
    /// The sizes of the hardware's loops for convolutions that it calls, how often, and
    /// since when.
    convolutions: BTreeMap<[u16; 5], (usize, std::cmp::Reverse<usize>)>,
    /// Whether the last command was a fence.
    pub(crate) is_fenced: bool,
    /// Statements of the entry function by which the core may change everything in memory.
    pub(crate) cuts: std::collections::BTreeSet<usize>,
    /// Whether commands may not have been done when such a statement began.
    pub(crate) was_cut_unfenced: bool,
    /// What was stored before each such statement, and since the one before.
    pub(crate) segments: Vec<(usize, Versions)>,
}

pub(super) type Done = Result<(), String>;

impl<'config> Machine<'config> {
    pub(crate) fn new(config: &'config GemminiConfig, memories: &[Memory]) -> Self {
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
            sizes: memories.iter().map(Memory::bytes).collect(),
            scratchpad: vec![None; config.spad_rows() as usize],
            came: vec![usize::MAX; config.spad_rows() as usize],
            beside: BTreeMap::new(),
            accumulator: vec![Sum::default(); config.acc_rows() as usize],
            loads: [load; 3],
            execute: None,
            store: Store {
                is_relu: false,
                scale: 1.0f32.to_bits(),
                pitch: 0,
                full_width: false,
            },
            pool: PoolFields::default(),
            pending: None,
            in_array: Held::Nothing,
            held_since: usize::MAX,
            numbered: Numbered::default(),
            matmul: LoopSlots::default(),
            convolution: LoopSlots::default(),
            stored: Versions::default(),
            rewritten: Rewritten::default(),
            terms: 0,
            rows: 0,
            commands: 0,
            statement: 0,
            issuing: std::collections::BTreeSet::new(),
            writing: std::collections::BTreeSet::new(),
            reading: std::collections::BTreeSet::new(),
            first_product: None,
            convolutions: BTreeMap::new(),
            is_fenced: true,
            cuts: std::collections::BTreeSet::new(),
            was_cut_unfenced: false,
            segments: Vec::new(),
        }
    }

    /// Forgets what lies in local memory, which may not be in memory any more, and sets aside
    /// what was stored.
    pub(crate) fn cut(&mut self) {
        self.was_cut_unfenced |= !self.is_fenced;
        self.scratchpad.fill(None);
        self.beside.clear();
        self.accumulator.fill(Sum::default());
        self.in_array = Held::Nothing;
        self.pending = None;
        let stored = std::mem::take(&mut self.stored);
        if !stored.is_empty() {
            self.segments.push((self.statement, stored));
        }
    }

    fn apply(&mut self, instruction: Instruction) -> Done {
        if let Instruction::Mvin { tile, .. }
        | Instruction::Mvout { tile, .. }
        | Instruction::Compute { a: tile, .. } = &instruction
        {
            self.rows += u64::from(tile.rows) * (1 + u64::from(tile.cols) / 16);
            if ROW_LIMIT < self.rows {
                return Err("more rows than are followed".to_owned());
            }
        }
        match instruction {
            Instruction::ConfigEx(new) => self.configure_execute(new),
            Instruction::ConfigLd(new) => {
                let channel = self.loads.get_mut(usize::from(new.channel));
                *channel.ok_or("a load channel that does not exist")? = new;
                Ok(())
            }
            Instruction::ConfigSt(new) => {
                if !matches!(new.activation, Activation::None | Activation::Relu) {
                    return Err("an activation other than ReLU".to_owned());
                }
                self.pool = new.pool;
                self.store.is_relu = new.activation == Activation::Relu;
                self.store.pitch = new.stride;
                if let Some(scale) = new.scale {
                    self.store.scale = scale.to_bits();
                }
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
                self.first_product
                    .get_or_insert(HardwareLoop::Matmul(now.bounds));
                let config = self.config;
                plan.expand(config, &mut |instruction| self.apply(instruction))
            }
            Instruction::LoopConvConfig(new) => {
                self.convolution.current().set(new);
                Ok(())
            }
            Instruction::LoopConv(run) => {
                let (now, [slot, half]) = self.convolution.start(|now| now.output != 0);
                let plan = ConvLoop::place(self.config, run, now, slot, half);
                plan.check(self.config).map_err(|(_, text)| text)?;
                let sizes = [now.batches, now.orows, now.ocols, now.pochs, now.kchs];
                let since = std::cmp::Reverse(self.convolutions.len());
                self.convolutions.entry(sizes).or_insert((0, since)).0 += 1;
                let config = self.config;
                plan.expand(config, &mut |instruction| self.apply(instruction))
            }
            _ => Err("a command that is not followed".to_owned()),
        }
    }

    /// Returns the hardware's loop that stands for what the kernel does: the first for
    /// products, the most frequent for convolutions, of which the first calls may be small.
    pub(crate) fn hardware_loop(&self) -> Option<HardwareLoop> {
        let most = self.convolutions.iter().max_by_key(|(_, often)| **often);
        let convolution = most.map(|(sizes, _)| HardwareLoop::Convolution(*sizes));
        self.first_product.or(convolution)
    }

    fn configure_execute(&mut self, new: ConfigEx) -> Done {
        match self.execute.as_mut() {
            Some(now) if new.strides_only => {
                now.a_stride = new.a_stride;
                now.c_stride = new.c_stride;
            }
            None if new.strides_only => return Err("strides of no dataflow".to_owned()),
            _ => self.execute = Some(new),
        }
        Ok(())
    }

    /// Notes that the accelerator reads an array.
    fn reads(&mut self, address: u64) -> Result<usize, String> {
        let (array, _) = Memory::of(address).ok_or("an address outside all arrays")?;
        if let Some(stored) = self.stored.present(array) {
            stored.read.get_or_insert(self.commands);
        }
        Ok(array)
    }

    /// Checks that bytes lie in an array.
    fn is_inside(&self, address: u64, bytes: u64) -> Done {
        if address == 0 {
            return Ok(());
        }
        let (array, offset) = Memory::of(address).ok_or("an address outside all arrays")?;
        match self.sizes.get(array) {
            Some(Some(size)) if *size < offset + bytes as i64 => {
                Err("a move beyond the end of an array".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Overwrites a row of the scratchpad, with all that lies in it.
    ///
    /// `since`: when the first came in of what it is made of.
    pub(super) fn put(&mut self, row: usize, cell: Cell, since: usize) -> Done {
        let slot = self.scratchpad.get_mut(row);
        *slot.ok_or("a row beyond the scratchpad")? = Some(cell);
        self.came[row] = since;
        self.beside.remove(&row);
        Ok(())
    }

    fn move_in(&mut self, channel: usize, dram: u64, tile: Tile) -> Done {
        let load = *self
            .loads
            .get(channel)
            .ok_or("a load channel that does not exist")?;
        let to_accumulator = tile.address.is_accumulator();
        let width = if to_accumulator && !load.shrink {
            self.config.acc_element_bytes()
        } else {
            self.config.element_bytes()
        };
        if dram != 0 {
            self.reads(dram)?;
        }
        let dim = self.config.dim as u16;
        let now = self.commands;
        let first = tile.address.row() as usize;
        for block in 0..tile.cols.div_ceil(dim) {
            let columns = (tile.cols - block * dim).min(dim);
            let base = first + usize::from(block) * usize::from(load.block_stride);
            for row in 0..tile.rows {
                let address = match dram {
                    0 => 0,
                    _ => dram
                        .wrapping_add(u64::from(row).wrapping_mul(load.stride))
                        .wrapping_add(u64::from(block * dim) * u64::from(width)),
                };
                let place = Place {
                    address,
                    columns,
                    width: width as u8,
                    scale: if address == 0 {
                        0
                    } else {
                        load.scale.to_bits()
                    },
                };
                self.is_inside(address, u64::from(columns) * u64::from(width))?;
                let at = base + usize::from(row);
                if to_accumulator {
                    let sum = self
                        .accumulator
                        .get_mut(at)
                        .ok_or("a row beyond the accumulator")?;
                    if tile.address.accumulates() {
                        if !sum.is_written || sum.columns < columns {
                            return Err("a sum with what nothing wrote".to_owned());
                        }
                    } else {
                        *sum = Sum {
                            is_written: true,
                            columns,
                            ..Sum::default()
                        };
                    }
                    if address != 0 {
                        sum.addends.push(place);
                        sum.since = sum.since.min(now);
                    }
                } else {
                    self.put(at, Cell::Memory(place), self.commands)?;
                    if 1 < load.pixel_repeats {
                        self.repeat(at, place, load.pixel_repeats)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn move_out(&mut self, dram: u64, tile: Tile) -> Done {
        if self.pool != PoolFields::default() {
            return Err("pooling".to_owned());
        }
        let from_accumulator = tile.address.is_accumulator();
        let (array, _) = Memory::of(dram).ok_or("an address outside all arrays")?;
        let mut store = Store {
            full_width: from_accumulator && tile.address.is_full_width(),
            ..self.store
        };
        if !from_accumulator {
            store.scale = 1.0f32.to_bits();
            let first = self.scratchpad.get(tile.address.row() as usize);
            store.is_relu = matches!(first, Some(Some(Cell::Result(number)))
                if self.numbered.results[*number as usize].is_relu);
        }
        let now = self.commands;
        let is_again = self.stored.store(array, store, now)?;
        let width = if store.full_width {
            self.config.acc_element_bytes()
        } else {
            self.config.element_bytes()
        };
        let dim = self.config.dim as u16;
        for block in 0..tile.cols.div_ceil(dim) {
            let columns = (tile.cols - block * dim).min(dim);
            for row in 0..tile.rows {
                let at = tile.address.row() + u32::from(block * dim) + u32::from(row);
                let address = dram
                    .wrapping_add(u64::from(row) * u64::from(store.pitch))
                    .wrapping_add(u64::from(block * dim) * u64::from(width));
                self.is_inside(address, u64::from(columns) * u64::from(width))?;
                let output = self.outgoing(at, columns, address, from_accumulator)?;
                if is_again {
                    let bytes = u64::from(columns) * u64::from(width);
                    self.rewritten.note(address, bytes, now);
                }
                self.put_out(array, output)?;
            }
        }
        Ok(())
    }

    /// Returns what leaves from a local row.
    fn outgoing(
        &self,
        row: u32,
        columns: u16,
        address: u64,
        from_accumulator: bool,
    ) -> Result<Output, String> {
        let unwritten = "a store of what nothing wrote";
        let (known, since, addends, terms) = if from_accumulator {
            let sum = self.accumulator.get(row as usize);
            let sum = sum.ok_or("a row beyond the accumulator")?;
            if !sum.is_written {
                return Err(unwritten.to_owned());
            }
            (sum.columns, sum.since, &sum.addends, &sum.terms)
        } else {
            match self.scratchpad.get(row as usize).copied().flatten() {
                Some(Cell::Result(number)) => {
                    let result = &self.numbered.results[number as usize];
                    let since = self.came[row as usize];
                    (result.columns, since, &result.addends, &result.terms)
                }
                Some(Cell::Memory(_)) => {
                    return Err("a store of what only came in to the scratchpad".to_owned());
                }
                None => return Err(unwritten.to_owned()),
            }
        };
        if known < columns {
            return Err(unwritten.to_owned());
        }
        let (made_of, element) = ((&addends[..], &terms[..]), self.config.element_bytes());
        self.rewritten
            .check(since, made_of, &self.numbered, element.into())?;
        Ok(Output {
            address,
            columns,
            addends: addends.clone(),
            terms: terms.clone(),
        })
    }

    fn put_out(&mut self, array: usize, output: Output) -> Done {
        self.terms += output.terms.len() + 1;
        if TERM_LIMIT < self.terms {
            return Err("more products than are followed".to_owned());
        }
        if let Some(stored) = self.stored.present(array) {
            stored.outputs.push(output);
        }
        Ok(())
    }
}

impl World for Machine<'_> {
    fn command(&mut self, name: &str, arguments: &[Value]) -> Result<(), String> {
        self.issuing.insert(self.statement);
        self.commands += 1;
        match effect(name, arguments, self.config)? {
            Effect::Fence => self.is_fenced = true,
            Effect::Nothing => {}
            Effect::Issue(instructions) => {
                self.is_fenced = false;
                for instruction in instructions {
                    self.apply(instruction)?;
                }
            }
        }
        Ok(())
    }

    fn store(&mut self, address: u64, _: i64, _: Value) -> Result<(), String> {
        let (array, _) = Memory::of(address).ok_or("a write outside all arrays")?;
        self.writing.insert((self.statement, array));
        Ok(())
    }

    fn load(&mut self, address: u64) -> Result<Value, String> {
        let (array, _) = Memory::of(address).ok_or("a read outside all arrays")?;
        self.reading.insert((self.statement, array));
        Ok(Value::Unknown)
    }

    fn statement(&mut self, index: usize) {
        self.statement = index;
        if self.cuts.contains(&index) {
            self.cut();
        }
    }
}
