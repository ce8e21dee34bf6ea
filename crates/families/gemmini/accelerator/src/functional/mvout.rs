//! Moving tiles from local memory to DRAM.

use super::Functional;
use super::faults::{Site, columns};
use super::local::column_mask;
use super::mvin::{check_rows, dma_fault};
use super::outlet::Outlet;
use super::overwrites::note_move;
use super::race::DramRows;
use crate::address::{NormCommand, Tile};
use crate::config::Elements;
use crate::isa::Activation;
use autocomp_riscv::{AccessKind, Fault, FaultKind, Memory};

impl Functional {
    pub(super) fn mvout(
        &mut self,
        site: Site,
        memory: &mut Memory,
        dram: u64,
        tile: Tile,
    ) -> Result<(), Box<Fault>> {
        self.last_load = None;
        self.store_since_fence = Some(site.pc);
        if !self.configured.store_known {
            self.warnings.add(site, "store-unconfigured", || {
                "no config_st has set stride and scale; their state after reset is undefined".into()
            });
        }
        let outlet = self.check_mvout(site, tile)?;
        let norm = tile.address.norm();
        if tile.address.is_accumulator() && norm != NormCommand::Reset {
            return self.normalize(site, tile, norm);
        }
        let pool = self.configured.store.pool;
        if pool.stride != 0 {
            return self.mvout_pooled(site, memory, dram, tile, outlet);
        }
        if pool.size != 0 {
            return self.mvout_linear(site, memory, dram, tile, outlet);
        }
        let rows = u32::from(tile.rows);
        if rows == 0 || rows > self.config.dim {
            return Err(site.illegal(
                "mvout-rows",
                format!("{rows} rows; 1 to {} are possible", self.config.dim),
            ));
        }
        let after_load = self.check_source(site, tile, rows)?;
        if tile.address.is_accumulator() && self.config.features.normalizations {
            self.reset_statistics_of_norm();
        }
        let stride = u64::from(self.configured.store.stride);
        if !self.with_values {
            let target = DramRows {
                address: dram,
                stride,
                count: rows,
                len: usize::from(tile.cols) * self.width_of(outlet),
            };
            return check_rows(site, memory, target, AccessKind::DmaWrite);
        }
        let mut buffer = std::mem::take(&mut self.row_buffer);
        let bytes = self.put_out_tile(outlet, tile, rows, &mut buffer);
        let target = DramRows {
            address: dram,
            stride,
            count: rows,
            len: bytes.len() / rows as usize,
        };
        if let Some(moves) = &mut self.noted_moves {
            note_move(moves, target.noted(site.pc, true));
        }
        let outcome = if self.write_open_rows(site, memory, target, bytes, after_load) {
            Ok(())
        } else {
            self.write_rows(site, memory, target, bytes, after_load)
        };
        self.row_buffer = buffer;
        outcome
    }

    /// Writes rows that need no look one by one. Returns whether it did; if
    /// not, nothing was written.
    fn write_open_rows(
        &mut self,
        site: Site,
        memory: &mut Memory,
        rows: DramRows,
        bytes: &[u8],
        after_load: u32,
    ) -> bool {
        let Some(span) = rows.open_span(memory, true) else {
            return false;
        };
        if !self
            .outstanding
            .store_rows(memory, rows, site.pc, after_load)
        {
            return false;
        }
        let Some(span) = memory.host_mut(rows.address, span) else {
            return false;
        };
        for (row, bytes) in bytes.chunks_exact(rows.len).enumerate() {
            let to = row * rows.stride as usize;
            span[to..to + rows.len].copy_from_slice(bytes);
        }
        let span = span.len();
        memory.note_device_write(rows.address, span);
        self.statistics.dma_written_bytes += bytes.len() as u64;
        true
    }

    /// Writes rows, one after the other, up to the first that breaks a rule.
    fn write_rows(
        &mut self,
        site: Site,
        memory: &mut Memory,
        rows: DramRows,
        bytes: &[u8],
        after_load: u32,
    ) -> Result<(), Box<Fault>> {
        for (row, bytes) in (0..).zip(bytes.chunks_exact(rows.len)) {
            let address = rows
                .address
                .wrapping_add(u64::from(row).wrapping_mul(rows.stride));
            self.write_dram(site, memory, address, bytes, after_load, (row, rows.count))?;
        }
        Ok(())
    }

    fn check_mvout(&mut self, site: Site, tile: Tile) -> Result<Outlet, Box<Fault>> {
        let (dim, address) = (self.config.dim, tile.address);
        let features = self.config.features;
        if address.is_garbage() {
            return Err(site.illegal(
                "mvout-source",
                "the source is no row of local memory".into(),
            ));
        }
        let outlet = match (address.is_accumulator(), address.is_full_width()) {
            (false, _) => Outlet::Bytes,
            (true, true) => Outlet::Words,
            (true, false) => Outlet::Scaled,
        };
        let built = match outlet {
            Outlet::Bytes => true,
            Outlet::Words => features.acc_read_full_width,
            Outlet::Scaled => features.acc_read_small_width,
        };
        if !built {
            return Err(site.illegal(
                "mvout-width",
                format!("{address}: this accelerator cannot store accumulator rows at that width"),
            ));
        }
        let max = dim
            * if outlet == Outlet::Words {
                self.config.max_block_len_acc()
            } else {
                self.config.max_block_len()
            };
        let cols = u32::from(tile.cols);
        if cols == 0 || cols > max {
            return Err(site.illegal(
                "mvout-columns",
                format!("{cols} columns; 1 to {max} are possible"),
            ));
        }
        let store = self.configured.store;
        if outlet == Outlet::Scaled && store.activation == Activation::Relu && store.scale < 0.0 {
            self.warnings.add(site, "relu-negative-scale", || {
                format!(
                    "ReLU comes before the scale of {}; results are negative or zero",
                    store.scale
                )
            });
        }
        Ok(outlet)
    }

    /// Returns the bytes of an element as it leaves.
    fn width_of(&self, outlet: Outlet) -> usize {
        let width = match outlet {
            Outlet::Words => self.config.acc_element_bytes(),
            Outlet::Bytes | Outlet::Scaled => self.config.element_bytes(),
        };
        width as usize
    }

    /// Checks the rows that `rows` rows of all blocks are read from; returns
    /// the number of the last load they depend on.
    fn check_source(&mut self, site: Site, tile: Tile, rows: u32) -> Result<u32, Box<Fault>> {
        let (dim, cols) = (self.config.dim, u32::from(tile.cols));
        let mut after_load = 0;
        for block in 0..cols.div_ceil(dim) {
            let first = u64::from(tile.address.row()) + u64::from(block * dim);
            let mask = column_mask((cols - block * dim).min(dim));
            after_load = after_load.max(self.check_rows(site, tile, first, rows, mask)?);
        }
        Ok(after_load)
    }

    fn check_rows(
        &mut self,
        site: Site,
        tile: Tile,
        first: u64,
        rows: u32,
        mask: u64,
    ) -> Result<u32, Box<Fault>> {
        let to_acc = tile.address.is_accumulator();
        let (limit, name) = if to_acc {
            (self.config.acc_rows(), "accumulator")
        } else {
            (self.config.spad_rows(), "scratchpad")
        };
        let end = first + u64::from(rows);
        if end > u64::from(limit) {
            return Err(site.illegal(
                "mvout-range",
                format!(
                    "reads rows {first} to {} from {}; the last {name} row is {}",
                    end - 1,
                    tile.address,
                    limit - 1
                ),
            ));
        }
        if !self.with_values {
            return Ok(0);
        }
        let first = first as u32;
        let memory = if to_acc {
            &self.local.acc
        } else {
            &self.local.spad
        };
        let after_load = memory.newest_load(first, rows);
        if memory.is_written(first, rows, mask) {
            return Ok(after_load);
        }
        if let Some(missing) = memory.missing(first, rows, mask) {
            let mut fault = site.fault(
                FaultKind::Uninitialized,
                "uninitialized-store",
                format!(
                    "stores {name} row {}, {}, which nothing has written",
                    missing.row,
                    columns(missing.columns)
                ),
            );
            fault.other_pc = missing.writer;
            self.warnings.judge(self.checks.uninitialized, fault)?;
        }
        Ok(after_load)
    }

    fn write_dram(
        &mut self,
        site: Site,
        memory: &mut Memory,
        address: u64,
        bytes: &[u8],
        after_load: u32,
        (row, rows): (u32, u32),
    ) -> Result<(), Box<Fault>> {
        if let Err(fault) = memory.check(address, bytes.len(), AccessKind::DmaWrite, site.pc) {
            return Err(dma_fault(site, fault, row, rows));
        }
        if !self.with_values {
            return Ok(());
        }
        if let Err(conflict) =
            self.outstanding
                .store(memory, address, bytes.len(), site.pc, after_load)
        {
            self.report_race(site, conflict, "writes")?;
        }
        let to = memory
            .host_mut(address, bytes.len())
            .expect("the access has just been checked");
        to.copy_from_slice(bytes);
        memory.note_device_write(address, bytes.len());
        self.statistics.dma_written_bytes += bytes.len() as u64;
        Ok(())
    }

    /// Stores the maxima of windows over an image whose pixels are rows.
    fn mvout_pooled(
        &mut self,
        site: Site,
        memory: &mut Memory,
        dram: u64,
        tile: Tile,
        outlet: Outlet,
    ) -> Result<(), Box<Fault>> {
        let pool = self.configured.store.pool;
        let dim = self.config.dim;
        if outlet == Outlet::Words || u32::from(tile.cols) > dim {
            return Err(site.illegal(
                "mvout-pool",
                format!(
                    "pooling works on at most {dim} columns of operand width, not on {} of {}",
                    tile.cols, tile.address
                ),
            ));
        }
        let image = u32::from(pool.orows) * u32::from(pool.ocols);
        if pool.size == 0 || image == 0 || pool.porows == 0 || pool.pocols == 0 {
            return Err(site.illegal(
                "mvout-pool",
                format!(
                    "window {0}x{0}, image {1}x{2}, result {3}x{4}: all must be at least 1",
                    pool.size, pool.orows, pool.ocols, pool.porows, pool.pocols
                ),
            ));
        }
        let mask = column_mask(tile.cols.into());
        let first = tile.address.row();
        let after_load = self.check_pooled_rows(site, tile, mask)?;
        let element = self.config.element_bytes() as usize;
        let bytes = usize::from(tile.cols) * element;
        let (mut best, mut pixel) = (Vec::with_capacity(bytes), Vec::with_capacity(bytes));
        let outputs = u32::from(pool.porows) * u32::from(pool.pocols);
        for output in 0..outputs {
            let (out_row, out_col) = (
                output / u32::from(pool.pocols),
                output % u32::from(pool.pocols),
            );
            best.clear();
            for window in 0..u32::from(pool.size) * u32::from(pool.size) {
                pixel.clear();
                let (at_row, at_col) =
                    (window / u32::from(pool.size), window % u32::from(pool.size));
                let row =
                    i64::from(out_row * u32::from(pool.stride) + at_row) - i64::from(pool.upad);
                let col =
                    i64::from(out_col * u32::from(pool.stride) + at_col) - i64::from(pool.lpad);
                if (0..i64::from(pool.orows)).contains(&row)
                    && (0..i64::from(pool.ocols)).contains(&col)
                {
                    let at = first + (row * i64::from(pool.ocols) + col) as u32;
                    self.put_out_block(outlet, at, tile.cols.into(), &mut pixel);
                } else {
                    pixel.resize(bytes, 0);
                }
                if best.is_empty() {
                    best.extend_from_slice(&pixel);
                } else {
                    self.take_larger(&mut best, &pixel);
                }
            }
            let place = u64::from(out_row) * u64::from(pool.out_dim) + u64::from(out_col);
            let address = dram.wrapping_add(place * u64::from(self.configured.store.stride));
            self.write_dram(site, memory, address, &best, after_load, (output, outputs))?;
        }
        Ok(())
    }

    /// Checks those image rows that a window reaches.
    fn check_pooled_rows(&mut self, site: Site, tile: Tile, mask: u64) -> Result<u32, Box<Fault>> {
        let pool = self.configured.store.pool;
        let reach = |outputs: u8, pad: u8, limit: u8| {
            let last = (u32::from(outputs) - 1) * u32::from(pool.stride) + u32::from(pool.size);
            last.saturating_sub(pad.into()).min(limit.into())
        };
        let rows = reach(pool.porows, pool.upad, pool.orows);
        let cols = reach(pool.pocols, pool.lpad, pool.ocols);
        let mut after_load = 0;
        for row in 0..rows {
            let first = u64::from(tile.address.row()) + u64::from(row * u32::from(pool.ocols));
            after_load = after_load.max(self.check_rows(site, tile, first, cols, mask)?);
        }
        Ok(after_load)
    }

    fn take_larger(&self, best: &mut [u8], pixel: &[u8]) {
        match self.config.elements {
            Elements::Int8 => {
                for (best, new) in best.iter_mut().zip(pixel) {
                    *best = (*best as i8).max(*new as i8) as u8;
                }
            }
            Elements::Float32 => {
                for (best, new) in best.chunks_exact_mut(4).zip(pixel.chunks_exact(4)) {
                    let value =
                        |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().expect("four bytes"));
                    if value(new) > value(best) {
                        best.copy_from_slice(new);
                    }
                }
            }
        }
    }

    /// Stores rows to the places that pooling would give them, without
    /// pooling: size without stride.
    fn mvout_linear(
        &mut self,
        site: Site,
        memory: &mut Memory,
        dram: u64,
        tile: Tile,
        outlet: Outlet,
    ) -> Result<(), Box<Fault>> {
        let pool = self.configured.store.pool;
        let rows = u32::from(pool.orows) * u32::from(pool.ocols);
        if rows == 0
            || pool.pocols == 0
            || pool.porows == 0
            || u32::from(tile.cols) > self.config.dim
        {
            return Err(site.illegal(
                "mvout-pool",
                format!(
                    "image {}x{}, result {}x{}, {} columns: sizes must be at least 1, columns at most {}",
                    pool.orows, pool.ocols, pool.porows, pool.pocols, tile.cols, self.config.dim
                ),
            ));
        }
        let after_load = self.check_rows(
            site,
            tile,
            tile.address.row().into(),
            rows,
            column_mask(tile.cols.into()),
        )?;
        let mut buffer = Vec::new();
        for row in 0..rows {
            buffer.clear();
            self.put_out_block(
                outlet,
                tile.address.row() + row,
                tile.cols.into(),
                &mut buffer,
            );
            let out_row = row / u32::from(pool.pocols) % u32::from(pool.porows);
            let out_col = row % u32::from(pool.pocols);
            let place = u64::from(out_row) * u64::from(pool.out_dim) + u64::from(out_col);
            let address = dram.wrapping_add(place * u64::from(self.configured.store.stride));
            self.write_dram(site, memory, address, &buffer, after_load, (row, rows))?;
        }
        Ok(())
    }
}
