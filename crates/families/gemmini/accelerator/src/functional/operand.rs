//! Where operands and results of the array lie, and whether they may: limits,
//! results in flight, rows that nothing has written.

use super::Functional;
use super::array::Extent;
use super::faults::{Site, columns};
use super::local::column_mask;
use crate::address::{LocalAddress, Tile};
use crate::isa::Dataflow;
use autocomp_riscv::{Fault, FaultKind};

impl Functional {
    #[inline]
    pub(super) fn check_ex_known(&mut self, site: Site) {
        if !self.configured.ex_known {
            self.warnings.add(site, "execute-unconfigured", || {
                "no config_ex has set dataflow and strides; their state after reset is undefined".into()
            });
        }
    }

    /// Checks where an operand lies.
    ///
    /// Extents are handed on bare: put into a `Result` they would go through
    /// memory, written in parts and read as a whole, which makes a processor
    /// wait.
    #[inline(always)]
    fn check_extent(
        &self,
        site: Site,
        name: &'static str,
        address: LocalAddress,
        extent: Extent,
    ) -> Result<(), Box<Fault>> {
        let Extent {
            rows, cols, stride, ..
        } = extent;
        let last = u64::from(extent.first) + u64::from(rows.saturating_sub(1)) * u64::from(stride);
        let legal = rows <= self.config.dim
            && cols <= self.config.dim
            && !address.is_accumulator()
            && last < u64::from(self.local.spad_rows);
        if legal {
            Ok(())
        } else {
            Err(self.illegal_extent(site, name, address, extent))
        }
    }

    /// Says what is wrong with where an operand lies.
    #[cold]
    #[inline(never)]
    fn illegal_extent(
        &self,
        site: Site,
        name: &str,
        address: LocalAddress,
        extent: Extent,
    ) -> Box<Fault> {
        let Extent {
            rows, cols, stride, ..
        } = extent;
        let dim = self.config.dim;
        if rows > dim || cols > dim {
            let (what, value) = if rows > dim {
                ("rows", rows)
            } else {
                ("columns", cols)
            };
            return site.illegal(
                "operand-size",
                format!("{name} has {value} {what} in local memory; at most {dim} are possible"),
            );
        }
        if address.is_accumulator() {
            return site.illegal(
                "operand-in-accumulator",
                format!("{name} is at {address}; the array stops for good on operands in the accumulator, use the scratchpad"),
            );
        }
        site.illegal(
            "operand-range",
            format!(
                "{name} occupies {rows} rows, {stride} apart, from {address}; the last scratchpad row is {}",
                self.local.spad_rows - 1
            ),
        )
    }

    /// Checks an operand of a compute unless it is none.
    #[inline(always)]
    pub(super) fn check_operand(
        &mut self,
        site: Site,
        name: &'static str,
        tile: Tile,
        extent: Extent,
    ) -> Result<(), Box<Fault>> {
        if tile.address.is_garbage() {
            return Ok(());
        }
        self.check_extent(site, name, tile.address, extent)?;
        self.check_in_flight(site, name, extent)
    }

    /// Returns where the stationary operand lies.
    #[inline(always)]
    pub(super) fn stationary_extent(&self, tile: Tile) -> Extent {
        let ex = &self.configured.ex;
        let turned = ex.b_transpose && ex.dataflow == Dataflow::WeightStationary;
        Extent::of(tile, turned, 1)
    }

    /// Checks the stationary operand.
    #[inline(always)]
    pub(super) fn check_stationary(
        &mut self,
        site: Site,
        tile: Tile,
        extent: Extent,
    ) -> Result<(), Box<Fault>> {
        let name = if self.configured.ex.dataflow == Dataflow::OutputStationary {
            "D"
        } else {
            "B"
        };
        self.check_extent(site, name, tile.address, extent)?;
        self.check_in_flight(site, "the stationary operand", extent)
    }

    #[inline(always)]
    pub(super) fn check_dest(&mut self, site: Site, dest: Tile) -> Result<(), Box<Fault>> {
        let dim = self.config.dim;
        let stride = u32::from(self.configured.ex.c_stride);
        let last = u64::from(dest.address.row())
            + u64::from(dest.rows.saturating_sub(1)) * u64::from(stride);
        let plain = dest.address.is_accumulator()
            && u32::from(dest.rows) <= dim
            && u32::from(dest.cols) <= dim
            && last < u64::from(self.local.acc_rows);
        if plain {
            Ok(())
        } else {
            self.check_other_dest(site, dest)
        }
    }

    #[inline(never)]
    fn check_other_dest(&mut self, site: Site, dest: Tile) -> Result<(), Box<Fault>> {
        let (dim, address) = (self.config.dim, dest.address);
        if u32::from(dest.rows) > dim || u32::from(dest.cols) > dim {
            return Err(site.illegal(
                "result-size",
                format!(
                    "the result has {} rows and {} columns; at most {dim} each are possible",
                    dest.rows, dest.cols
                ),
            ));
        }
        let (limit, memory) = if address.is_accumulator() {
            (self.config.acc_rows(), "accumulator")
        } else {
            if !self.config.features.ex_write_to_spad {
                return Err(site.illegal(
                    "result-in-scratchpad",
                    format!("the result goes to {address}; this accelerator writes results to the accumulator only"),
                ));
            }
            if address.accumulates() {
                self.warnings.add(site, "accumulate-in-scratchpad", || {
                    format!("{address} has the accumulate bit set but not the accumulator bit; nothing is added")
                });
            }
            (self.config.spad_rows(), "scratchpad")
        };
        let stride = u32::from(self.configured.ex.c_stride);
        let last =
            u64::from(address.row()) + u64::from(dest.rows.saturating_sub(1)) * u64::from(stride);
        if last >= u64::from(limit) {
            return Err(site.illegal(
                "result-range",
                format!(
                    "the result occupies {} rows, {stride} apart, from {address}; the last {memory} row is {}",
                    dest.rows,
                    limit - 1
                ),
            ));
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn check_in_flight(
        &mut self,
        site: Site,
        name: &'static str,
        extent: Extent,
    ) -> Result<(), Box<Fault>> {
        if self.in_flight.is_empty() {
            Ok(())
        } else {
            self.check_overlap(site, name, extent)
        }
    }

    #[inline(never)]
    fn check_overlap(&mut self, site: Site, name: &str, extent: Extent) -> Result<(), Box<Fault>> {
        let Some((pc, first, end)) = self.in_flight.overlapped_by(extent.first, extent.end())
        else {
            return Ok(());
        };
        let mut fault = site.illegal(
            "partial-overlap",
            format!(
                "{name} in scratchpad rows {} to {} overlaps the result in rows {first} to {} that is still leaving the array; \
                 the hardware only waits if both start at the same row",
                extent.first,
                extent.end() - 1,
                end - 1
            ),
        );
        fault.other_pc = Some(pc);
        self.warnings.judge(self.checks.hazards, fault)
    }

    /// Requires `cols` columns of the first `rows` rows of an operand to have
    /// been written; returns the number of the last load that those rows
    /// depend on.
    #[inline(always)]
    pub(super) fn require_written(
        &mut self,
        site: Site,
        name: &'static str,
        extent: Extent,
        rows: u32,
        cols: u32,
    ) -> Result<u32, Box<Fault>> {
        let mask = column_mask(cols);
        let read = Extent { rows, ..extent };
        let (written, after_load) = read.summary(&self.local.spad);
        if written & mask != mask {
            self.uninitialized_operand(site, name, read, mask)?;
        }
        Ok(after_load)
    }

    #[cold]
    #[inline(never)]
    fn uninitialized_operand(
        &mut self,
        site: Site,
        name: &str,
        extent: Extent,
        mask: u64,
    ) -> Result<(), Box<Fault>> {
        for row in extent.iter() {
            let Some(missing) = self.local.spad.missing(row, 1, mask) else {
                continue;
            };
            let mut fault = site.fault(
                FaultKind::Uninitialized,
                "uninitialized-operand",
                format!(
                    "reads {name} from scratchpad row {row}, {}, which nothing has written",
                    columns(missing.columns)
                ),
            );
            fault.other_pc = missing.writer;
            return self.warnings.judge(self.checks.uninitialized, fault);
        }
        Ok(())
    }

    /// Requires the first `rows` x `cols` elements of the array to be known.
    #[inline(always)]
    pub(super) fn require_array(
        &mut self,
        site: Site,
        rows: u32,
        cols: u32,
        dataflow: Dataflow,
    ) -> Result<(), Box<Fault>> {
        if self.array.all_valid && self.array.holds == Some(dataflow) {
            return Ok(());
        }
        self.check_array(site, rows, cols, dataflow)
    }

    #[cold]
    #[inline(never)]
    pub(super) fn check_array(
        &mut self,
        site: Site,
        rows: u32,
        cols: u32,
        dataflow: Dataflow,
    ) -> Result<(), Box<Fault>> {
        let fault = if self.array.holds == Some(dataflow) {
            let mask = column_mask(cols);
            let Some(at) = self.array.valid[..rows as usize]
                .iter()
                .position(|valid| valid & mask != mask)
            else {
                return Ok(());
            };
            let missing = mask & !self.array.valid[at];
            let place = match self.array.origin {
                Some((extent, false)) => format!(
                    " (scratchpad row {})",
                    extent.first + at as u32 * extent.stride
                ),
                Some((extent, true)) => {
                    format!(
                        " (scratchpad row {}, column {at})",
                        extent.first + missing.trailing_zeros()
                    )
                }
                None => String::new(),
            };
            let mut fault = site.fault(
                FaultKind::Uninitialized,
                "uninitialized-weights",
                format!(
                    "uses row {at}{place}, {}, of the operand that was preloaded, which nothing has written",
                    columns(missing)
                ),
            );
            fault.other_pc = Some(self.array.pc);
            fault
        } else {
            site.fault(
                FaultKind::Uninitialized,
                "uninitialized-array",
                "uses what is in the array, but no compute_preloaded has put anything there for this dataflow".into(),
            )
        };
        self.warnings.judge(self.checks.uninitialized, fault)
    }

    /// Requires the rows that a result is added to to have been written.
    #[inline(always)]
    pub(super) fn require_addend(&mut self, site: Site, dest: Tile) -> Result<(), Box<Fault>> {
        if !dest.address.is_accumulator() || !dest.address.accumulates() {
            return Ok(());
        }
        let (first, rows, mask) = (
            dest.address.row(),
            u32::from(dest.rows),
            column_mask(dest.cols.into()),
        );
        let stride = u32::from(self.configured.ex.c_stride);
        if stride == 1 && self.local.acc.is_written(first, rows, mask) {
            return Ok(());
        }
        self.require_acc_rows(site, first, rows, stride, mask)
    }

    #[inline(never)]
    fn require_acc_rows(
        &mut self,
        site: Site,
        first: u32,
        rows: u32,
        stride: u32,
        mask: u64,
    ) -> Result<(), Box<Fault>> {
        for at in 0..rows {
            self.require_acc(site, "adds to", first + at * stride, 1, mask)?;
        }
        Ok(())
    }

    /// Requires accumulator rows to have been written.
    pub(super) fn require_acc(
        &mut self,
        site: Site,
        verb: &str,
        first: u32,
        rows: u32,
        mask: u64,
    ) -> Result<(), Box<Fault>> {
        if self.local.acc.is_written(first, rows, mask) {
            return Ok(());
        }
        let Some(missing) = self.local.acc.missing(first, rows, mask) else {
            return Ok(());
        };
        let mut fault = site.fault(
            FaultKind::Uninitialized,
            "uninitialized-accumulator",
            format!(
                "{verb} accumulator row {}, {}, which nothing has written",
                missing.row,
                columns(missing.columns)
            ),
        );
        fault.other_pc = missing.writer;
        self.warnings.judge(self.checks.uninitialized, fault)
    }
}
