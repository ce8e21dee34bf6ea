//! Moving tiles from DRAM into local memory.

use super::arithmetic::{canonical, to_i8};
use super::faults::Site;
use super::local::column_mask;
use super::race::Conflict;
use super::staging::add_float_bits;
use super::{Functional, LoadRecord};
use crate::address::Tile;
use crate::config::Elements;
use crate::isa::ConfigLd;
use autocomp_riscv::{AccessKind, Fault, FaultKind, Memory};

/// How the elements of one load command are taken in.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Intake {
    /// Operand-width bytes as they are.
    Copy,
    /// int8 times a factor.
    ScaleI8(f32),
    /// Floats times a factor.
    ScaleF32(f32),
    /// Accumulator words, int32.
    WordsI32,
    /// int8 times a factor, widened.
    WidenI8(f32),
    /// Accumulator words, floats times a factor.
    WordsF32(f32),
}

impl Functional {
    pub(super) fn mvin(
        &mut self,
        site: Site,
        memory: &mut Memory,
        channel: u8,
        dram: u64,
        tile: Tile,
    ) -> Result<(), Box<Fault>> {
        let setting = self.configured.load[usize::from(channel)];
        if !self.configured.load_known[usize::from(channel)] {
            self.warnings.add(site, "load-unconfigured", || {
                format!("no config_ld has set load channel {channel}; its state after reset is undefined")
            });
        }
        self.check_mvin(site, setting, tile)?;
        let to_acc = tile.address.is_accumulator();
        let wide = to_acc && !setting.shrink;
        let intake = self.intake(site, setting, to_acc)?;
        let width = if wide {
            self.config.acc_element_bytes()
        } else {
            self.config.element_bytes()
        };
        let (rows, cols) = (u32::from(tile.rows), u32::from(tile.cols));
        let dim = self.config.dim;
        let blocks = cols.div_ceil(dim);
        let stride = u32::from(setting.block_stride);
        let mask = |block: u32| column_mask((cols - block * dim).min(dim));
        let load = self.outstanding.next_load();

        let adds = to_acc && tile.address.accumulates();
        if adds {
            for block in 0..blocks {
                self.require_acc(
                    site,
                    "adds to",
                    tile.address.row() + block * stride,
                    rows,
                    mask(block),
                )?;
            }
        }
        self.check_load_order(site, dram, tile, adds, blocks, stride)?;

        let repeats = if to_acc {
            1
        } else {
            u32::from(setting.pixel_repeats)
        };
        let bytes = cols as usize * width as usize;
        let mut row_bytes = std::mem::take(&mut self.row_buffer);
        row_bytes.resize(bytes, 0);
        if dram == 0 {
            row_bytes.fill(0);
        }
        let mut outcome = Ok(());
        for row in 0..rows {
            if dram == 0 {
                self.take_in(intake, tile, row, &row_bytes, stride, repeats);
                continue;
            }
            let address = dram.wrapping_add(u64::from(row).wrapping_mul(setting.stride));
            outcome = self.check_dma_read(site, memory, address, bytes, load, row, rows);
            if outcome.is_err() {
                break;
            }
            let source = memory
                .host(address, bytes)
                .expect("the access has just been checked");
            self.take_in(intake, tile, row, source, stride, repeats);
        }
        self.row_buffer = row_bytes;
        outcome?;

        if dram != 0 {
            let distinct = if setting.stride == 0 { 1 } else { rows };
            self.statistics.dma_read_bytes += u64::from(distinct) * bytes as u64;
        }
        for block in 0..blocks {
            let first = tile.address.row() + block * stride;
            let memory = if to_acc {
                &mut self.local.acc
            } else {
                &mut self.local.spad
            };
            memory.note_write(first, rows, mask(block), site.pc, load);
        }
        if repeats > 1 {
            self.note_repeats(site, tile, repeats, load);
        }
        Ok(())
    }

    fn check_mvin(&mut self, site: Site, setting: ConfigLd, tile: Tile) -> Result<(), Box<Fault>> {
        let (dim, address) = (self.config.dim, tile.address);
        if address.is_garbage() {
            return Err(site.illegal(
                "mvin-destination",
                "the destination is no row of local memory".into(),
            ));
        }
        let (rows, cols) = (u32::from(tile.rows), u32::from(tile.cols));
        if rows == 0 || rows > dim {
            return Err(site.illegal("mvin-rows", format!("{rows} rows; 1 to {dim} are possible")));
        }
        let wide = address.is_accumulator() && !setting.shrink;
        let max_blocks = if wide {
            self.config.max_block_len_acc()
        } else {
            self.config.max_block_len()
        };
        if cols == 0 || cols > max_blocks * dim {
            let into = if wide {
                "accumulator-width elements"
            } else {
                "operand-width elements"
            };
            return Err(site.illegal(
                "mvin-columns",
                format!(
                    "{cols} columns of {into}; 1 to {} are possible",
                    max_blocks * dim
                ),
            ));
        }
        let (limit, name) = if address.is_accumulator() {
            (self.config.acc_rows(), "accumulator")
        } else {
            (self.config.spad_rows(), "scratchpad")
        };
        let blocks = cols.div_ceil(dim);
        let stride = u32::from(setting.block_stride);
        let last = u64::from(address.row())
            + u64::from(blocks - 1) * u64::from(stride)
            + u64::from(rows - 1);
        if last >= u64::from(limit) {
            return Err(site.illegal(
                "mvin-range",
                format!(
                    "{rows} rows in {blocks} blocks of columns, {stride} rows apart, from {address} end at row {last}; \
                     the last {name} row is {}",
                    limit - 1
                ),
            ));
        }
        if blocks > 1 && stride < rows {
            self.warnings.add(site, "mvin-blocks-overlap", || {
                format!(
                    "blocks of {rows} rows are only {stride} rows apart and overwrite each other"
                )
            });
        }
        if !address.is_accumulator() && address.accumulates() {
            self.warnings.add(site, "accumulate-in-scratchpad", || {
                format!("{address} has the accumulate bit set but not the accumulator bit; nothing is added")
            });
        }
        if setting.pixel_repeats > 1 {
            self.check_repeats(site, setting, tile)?;
        }
        Ok(())
    }

    fn check_repeats(
        &mut self,
        site: Site,
        setting: ConfigLd,
        tile: Tile,
    ) -> Result<(), Box<Fault>> {
        if !self.config.features.first_layer {
            return Err(site.illegal(
                "pixel-repeats",
                "this accelerator cannot repeat pixels".into(),
            ));
        }
        if tile.address.is_accumulator() {
            self.warnings.add(site, "pixel-repeats", || {
                "pixels are not repeated in the accumulator".into()
            });
        } else if u32::from(setting.pixel_repeats) * u32::from(tile.cols) > self.config.dim {
            return Err(site.illegal(
                "pixel-repeats",
                format!(
                    "{} repetitions of {} columns do not fit the {} columns of a row",
                    setting.pixel_repeats, tile.cols, self.config.dim
                ),
            ));
        }
        Ok(())
    }

    /// Decides how elements are taken in.
    fn intake(&self, site: Site, setting: ConfigLd, to_acc: bool) -> Result<Intake, Box<Fault>> {
        let features = &self.config.features;
        let scale = setting.scale;
        let wide = to_acc && !setting.shrink;
        let scaled = if wide {
            features.mvin_acc_scale
        } else {
            features.mvin_scale
        };
        if scale != 1.0 && !scaled && !(wide && self.config.elements == Elements::Int8) {
            return Err(site.illegal(
                "mvin-scale",
                format!("the scale is {scale}; this accelerator cannot scale while moving in, it must be 1"),
            ));
        }
        Ok(match self.config.elements {
            Elements::Int8 if wide => Intake::WordsI32,
            Elements::Int8 if to_acc => Intake::WidenI8(scale),
            Elements::Int8 if scale == 1.0 => Intake::Copy,
            Elements::Int8 => Intake::ScaleI8(scale),
            Elements::Float32 if to_acc => Intake::WordsF32(scale),
            Elements::Float32 if scale == 1.0 => Intake::Copy,
            Elements::Float32 => Intake::ScaleF32(scale),
        })
    }

    /// Reports an adding load directly behind an overwriting one.
    ///
    /// The hardware may keep two loads in flight and does not order their
    /// writes: sums were seen to lose the added operand. Reported only if no
    /// other move, no computation and no fence lies between the two, both read
    /// DRAM, and their accumulator rows overlap.
    fn check_load_order(
        &mut self,
        site: Site,
        dram: u64,
        tile: Tile,
        adds: bool,
        blocks: u32,
        stride: u32,
    ) -> Result<(), Box<Fault>> {
        let before = self.last_load.take();
        if !tile.address.is_accumulator() || dram == 0 || site.in_loop {
            return Ok(());
        }
        let first = tile.address.row();
        let end = first + (blocks - 1) * stride + u32::from(tile.rows);
        self.last_load = Some(LoadRecord {
            first,
            end,
            adds,
            pc: site.pc,
        });
        let Some(before) = before
            .filter(|before| adds && !before.adds && before.first < end && first < before.end)
        else {
            return Ok(());
        };
        let mut fault = site.illegal(
            "load-order",
            format!(
                "adds to accumulator rows {first} to {} directly after a load that overwrites rows {} to {}; \
                 the hardware does not order the two, put other loads or a fence between them",
                end - 1,
                before.first,
                before.end - 1
            ),
        );
        fault.other_pc = Some(before.pc);
        self.warnings.judge(self.checks.hazards, fault)
    }

    #[inline]
    #[expect(
        clippy::too_many_arguments,
        reason = "row and rows only serve the message"
    )]
    fn check_dma_read(
        &mut self,
        site: Site,
        memory: &mut Memory,
        address: u64,
        bytes: usize,
        load: u32,
        row: u32,
        rows: u32,
    ) -> Result<(), Box<Fault>> {
        if let Err(fault) = memory.check(address, bytes, AccessKind::DmaRead, site.pc) {
            return Err(dma_fault(site, fault, row, rows));
        }
        match self.outstanding.load(memory, address, bytes, site.pc, load) {
            Ok(()) => Ok(()),
            Err(conflict) => self.report_race(site, conflict, "reads"),
        }
    }

    /// Reports an access to bytes that outstanding DMA still uses.
    #[cold]
    pub(super) fn report_race(
        &mut self,
        site: Site,
        conflict: Conflict,
        verb: &str,
    ) -> Result<(), Box<Fault>> {
        let other = if conflict.other_writes {
            "an mvout that writes"
        } else {
            "a load that reads"
        };
        let mut fault = site.fault(
            FaultKind::Race,
            "unfenced-dma",
            format!(
                "{verb} address {:#x}, and so does {other} it and may not have ended; a fence must lie between them",
                conflict.address
            ),
        );
        fault.other_pc = Some(conflict.other_pc);
        fault.address = Some(conflict.address);
        self.warnings.judge(self.checks.races, fault)
    }

    /// Takes one row of elements into local memory.
    #[inline]
    fn take_in(
        &mut self,
        intake: Intake,
        tile: Tile,
        row: u32,
        source: &[u8],
        block_stride: u32,
        repeats: u32,
    ) {
        let dim = self.config.dim as usize;
        let adds = tile.address.accumulates();
        let first = tile.address.row() + row;
        let element = match intake {
            Intake::Copy | Intake::ScaleF32(_) => self.local.row_bytes / dim,
            Intake::ScaleI8(_) | Intake::WidenI8(_) => 1,
            Intake::WordsI32 | Intake::WordsF32(_) => 4,
        };
        for (block, source) in source.chunks(dim * element).enumerate() {
            let row = (first + block as u32 * block_stride) as usize;
            let words = || row * dim..row * dim + source.len() / element;
            match intake {
                Intake::Copy => {
                    let to = &mut self.local.bytes[row * self.local.row_bytes..][..source.len()];
                    if let (Ok(to), Ok(source)) = (
                        <&mut [u8; 16]>::try_from(&mut *to),
                        <&[u8; 16]>::try_from(source),
                    ) {
                        // Rows of 16 bytes are by far the most common.
                        *to = *source;
                    } else {
                        to.copy_from_slice(source);
                    }
                }
                Intake::ScaleI8(scale) => {
                    let to = &mut self.local.bytes[row * self.local.row_bytes..][..source.len()];
                    for (to, from) in to.iter_mut().zip(source) {
                        *to = to_i8(f32::from(*from as i8) * scale) as u8;
                    }
                }
                Intake::ScaleF32(scale) => {
                    let to = &mut self.local.bytes[row * self.local.row_bytes..][..source.len()];
                    for (to, from) in to.chunks_exact_mut(4).zip(source.chunks_exact(4)) {
                        to.copy_from_slice(&canonical(read_float(from) * scale).to_le_bytes());
                    }
                }
                Intake::WordsI32 => {
                    for (to, from) in self.local.words[words()]
                        .iter_mut()
                        .zip(source.chunks_exact(4))
                    {
                        let value = i32::from_le_bytes(from.try_into().expect("four bytes"));
                        *to = if adds { to.wrapping_add(value) } else { value };
                    }
                }
                Intake::WidenI8(scale) => {
                    for (to, from) in self.local.words[words()].iter_mut().zip(source) {
                        let value = i32::from(to_i8(f32::from(*from as i8) * scale));
                        *to = if adds { to.wrapping_add(value) } else { value };
                    }
                }
                Intake::WordsF32(scale) => {
                    for (to, from) in self.local.words[words()]
                        .iter_mut()
                        .zip(source.chunks_exact(4))
                    {
                        let value = read_float(from);
                        let value = if scale == 1.0 {
                            value
                        } else {
                            canonical(value * scale)
                        };
                        let value = value.to_bits() as i32;
                        *to = if adds {
                            add_float_bits(*to, value)
                        } else {
                            value
                        };
                    }
                }
            }
        }
        if repeats > 1 {
            self.repeat_row(first, source.len(), repeats);
        }
    }

    /// Writes a row again, each time one row further up and behind the
    /// columns before, down to the start of its half of the scratchpad.
    fn repeat_row(&mut self, row: u32, bytes: usize, repeats: u32) {
        let width = self.local.row_bytes;
        let floor = self.half_start(row);
        for repeat in 1..repeats {
            let Some(to) = row.checked_sub(repeat).filter(|to| *to >= floor) else {
                break;
            };
            let from = row as usize * width;
            self.local.bytes.copy_within(
                from..from + bytes,
                to as usize * width + repeat as usize * bytes,
            );
        }
    }

    fn note_repeats(&mut self, site: Site, tile: Tile, repeats: u32, load: u32) {
        let cols = u32::from(tile.cols);
        for row in tile.address.row()..tile.address.row() + u32::from(tile.rows) {
            for repeat in 1..repeats {
                let Some(to) = row
                    .checked_sub(repeat)
                    .filter(|to| *to >= self.half_start(row))
                else {
                    break;
                };
                let mask = column_mask(cols) << (repeat * cols);
                self.local.spad.note_write(to, 1, mask, site.pc, load);
            }
        }
    }

    fn half_start(&self, row: u32) -> u32 {
        let half = self.config.spad_rows() / 2;
        if row >= half { half } else { 0 }
    }
}

fn read_float(bytes: &[u8]) -> f32 {
    f32::from_le_bytes(bytes.try_into().expect("four bytes"))
}

/// Adds what the command was doing to a fault of memory.
#[cold]
pub(super) fn dma_fault(site: Site, mut fault: Fault, row: u32, rows: u32) -> Box<Fault> {
    fault.message = format!("{}, row {row} of {rows}: {}", site.name, fault.message);
    Box::new(fault)
}
