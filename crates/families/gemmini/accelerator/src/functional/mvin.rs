//! Moving tiles from DRAM into local memory.

use super::faults::Site;
use super::intake::{Intake, Target};
use super::local::column_mask;
use super::overwrites::note_move;
use super::race::{Conflict, DramRows};
use super::{Functional, LoadRecord};
use crate::address::Tile;
use crate::config::Elements;
use crate::isa::ConfigLd;
use autocomp_riscv::{AccessKind, Fault, FaultKind, Memory};

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
        let bytes = cols as usize * width as usize;
        let source = DramRows {
            address: dram,
            stride: setting.stride,
            count: rows,
            len: bytes,
        };
        if let Some(moves) = self.noted_moves.as_mut().filter(|_| dram != 0) {
            note_move(moves, source.noted(site.pc, false));
        }
        if !self.with_values {
            return if dram == 0 {
                Ok(())
            } else {
                check_rows(site, memory, source, AccessKind::DmaRead)
            };
        }
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
        let target = Target {
            tile,
            block_stride: stride,
            repeats,
        };
        if dram == 0 {
            self.take_zeros(intake, target, bytes);
        } else if !self.take_open_rows(site, memory, source, load, intake, target) {
            self.take_rows(site, memory, source, load, intake, target)?;
        }
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

    /// Takes rows in whose bytes need no look one by one. Returns whether it
    /// did; if not, nothing has come in.
    #[inline]
    fn take_open_rows(
        &mut self,
        site: Site,
        memory: &mut Memory,
        rows: DramRows,
        load: u32,
        intake: Intake,
        target: Target,
    ) -> bool {
        let Some(span) = rows.open_span(memory, false) else {
            return false;
        };
        if !self.outstanding.load_rows(memory, rows, site.pc, load) {
            return false;
        }
        let Some(span) = memory.host(rows.address, span) else {
            return false;
        };
        self.take_span(intake, target, span, rows);
        true
    }

    /// Takes rows in, one after the other, up to the first that breaks a rule.
    fn take_rows(
        &mut self,
        site: Site,
        memory: &mut Memory,
        rows: DramRows,
        load: u32,
        intake: Intake,
        target: Target,
    ) -> Result<(), Box<Fault>> {
        for row in 0..rows.count {
            let address = rows
                .address
                .wrapping_add(u64::from(row).wrapping_mul(rows.stride));
            self.check_dma_read(site, memory, address, rows.len, load, (row, rows.count))?;
            let source = memory
                .host(address, rows.len)
                .expect("the access has just been checked");
            self.take_in(intake, target, row, source);
        }
        Ok(())
    }

    #[inline]
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
    #[inline]
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

    fn check_dma_read(
        &mut self,
        site: Site,
        memory: &mut Memory,
        address: u64,
        bytes: usize,
        load: u32,
        (row, rows): (u32, u32),
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
            "an mvout writes"
        } else {
            "a load reads"
        };
        let mut fault = site.fault(
            FaultKind::Race,
            "unfenced-dma",
            format!(
                "{verb} address {:#x}, which {other} and may not have ended; a fence must lie between them",
                conflict.address
            ),
        );
        fault.other_pc = Some(conflict.other_pc);
        fault.address = Some(conflict.address);
        self.warnings.judge(self.checks.races, fault)
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
}

/// Checks only whether memory is there and open to an access to rows.
pub(super) fn check_rows(
    site: Site,
    memory: &mut Memory,
    rows: DramRows,
    kind: AccessKind,
) -> Result<(), Box<Fault>> {
    if rows
        .open_span(memory, kind == AccessKind::DmaWrite)
        .is_some()
    {
        return Ok(());
    }
    for row in 0..rows.count {
        let address = rows
            .address
            .wrapping_add(u64::from(row).wrapping_mul(rows.stride));
        memory
            .check(address, rows.len, kind, site.pc)
            .map_err(|fault| dma_fault(site, fault, row, rows.count))?;
    }
    Ok(())
}

/// Adds what the command was doing to a fault of memory.
#[cold]
pub(super) fn dma_fault(site: Site, mut fault: Fault, row: u32, rows: u32) -> Box<Fault> {
    fault.message = format!(
        "{}, row {row} of {rows}: {}",
        site.actor.name(),
        fault.message
    );
    Box::new(fault)
}
