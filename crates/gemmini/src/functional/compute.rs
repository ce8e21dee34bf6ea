//! Preload and compute: the array.

use super::Functional;
use super::arithmetic::{canonical, clamp_i8, relu_f32, round_shift, wrap};
use super::array::{Extent, float, place};
use super::faults::{Site, columns};
use super::local::column_mask;
use super::multiply::{Store, multiply_f32, multiply_i8};
use crate::address::{LocalAddress, Tile};
use crate::config::Elements;
use crate::isa::{Activation, Dataflow};
use autocomp_riscv::{Fault, FaultKind};

/// A preload that waits for its compute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub stationary: Tile,
    pub dest: Tile,
    pub pc: u64,
}

impl Functional {
    pub(super) fn preload(
        &mut self,
        site: Site,
        stationary: Tile,
        dest: Tile,
    ) -> Result<(), Box<Fault>> {
        if let Some(earlier) = self.pending {
            return Err(self.lone_preload(site, earlier));
        }
        self.check_ex_known(site);
        let ex = self.configured.ex;
        if !stationary.address.is_garbage() {
            let extent = self.stationary_extent(site, stationary)?;
            self.check_in_flight(site, "the stationary operand", extent)?;
        }
        if !dest.address.is_garbage() {
            self.check_dest(site, dest)?;
            if ex.dataflow == Dataflow::OutputStationary && ex.c_stride != 1 {
                return Err(site.illegal(
                    "os-result-stride",
                    format!(
                        "c_stride is {}; output-stationary results need 1",
                        ex.c_stride
                    ),
                ));
            }
        }
        self.pending = Some(Pending {
            stationary,
            dest,
            pc: site.pc,
        });
        Ok(())
    }

    #[cold]
    pub(super) fn lone_preload(&self, site: Site, earlier: Pending) -> Box<Fault> {
        let mut fault = site.illegal(
            "preload-without-compute",
            "the preload before it has had no compute; each preload must be followed by exactly one".into(),
        );
        fault.other_pc = Some(earlier.pc);
        fault
    }

    pub(super) fn compute(
        &mut self,
        site: Site,
        preloaded: bool,
        a: Tile,
        bd: Tile,
    ) -> Result<(), Box<Fault>> {
        let Some(pending) = self.pending.take() else {
            return Err(site.illegal(
                "compute-without-preload",
                "no preload came before it; each compute needs its own preload, which names the result".into(),
            ));
        };
        let ex = self.configured.ex;
        if a.address.is_garbage() {
            self.warnings.add(site, "compute-without-a", || {
                "A is no operand; zeros are used".into()
            });
        }
        let a_extent = self.operand_extent(site, "A", a, ex.a_transpose, ex.a_stride)?;
        let b_transpose = ex.b_transpose && ex.dataflow == Dataflow::OutputStationary;
        let bd_name = if ex.dataflow == Dataflow::OutputStationary {
            "B"
        } else {
            "D"
        };
        let bd_extent = self.operand_extent(site, bd_name, bd, b_transpose, 1)?;
        if preloaded {
            self.load_array(site, pending)?;
        } else if !pending.stationary.address.is_garbage() {
            self.warnings.add(site, "preload-discarded", || {
                "the operand of its preload is not used; compute_preloaded would take it into the array".into()
            });
        }
        let dest = pending.dest;
        let result = (!dest.address.is_garbage()).then_some(dest);
        match ex.dataflow {
            Dataflow::WeightStationary => self.compute_ws(site, a, a_extent, bd_extent, result)?,
            Dataflow::OutputStationary => {
                self.compute_os(site, a, a_extent, bd, bd_extent, result)?
            }
        }
        let full = ex.dataflow == Dataflow::OutputStationary
            || bd_extent.is_some()
            || ex.a_transpose
            || ex.b_transpose;
        let b_rows = if preloaded { self.array.rows } else { 0 };
        let rows = if full {
            self.config.dim
        } else {
            a_extent.map_or(0, |a| a.rows).max(b_rows).max(4)
        };
        let to_spad = result.filter(|dest| !dest.address.is_accumulator());
        let written = to_spad.map(|dest| {
            let extent = Extent {
                first: dest.address.row(),
                rows: dest.rows.into(),
                stride: ex.c_stride.into(),
                cols: dest.cols.into(),
            };
            (extent.first, extent.end())
        });
        self.in_flight.fire(rows, written, pending.pc);
        Ok(())
    }

    fn check_ex_known(&mut self, site: Site) {
        if !self.configured.ex_known {
            self.warnings.add(site, "execute-unconfigured", || {
                "no config_ex has set dataflow and strides; their state after reset is undefined".into()
            });
        }
    }

    /// Checks where an operand lies. `rows` and `cols` are what lies in
    /// memory, after transposition.
    fn extent(
        &self,
        site: Site,
        name: &str,
        address: LocalAddress,
        rows: u32,
        cols: u32,
        stride: u32,
    ) -> Result<Extent, Box<Fault>> {
        let dim = self.config.dim;
        if rows > dim || cols > dim {
            let (what, value) = if rows > dim {
                ("rows", rows)
            } else {
                ("columns", cols)
            };
            return Err(site.illegal(
                "operand-size",
                format!("{name} has {value} {what} in local memory; at most {dim} are possible"),
            ));
        }
        if address.is_accumulator() {
            return Err(site.illegal(
                "operand-in-accumulator",
                format!("{name} is at {address}; the array stops for good on operands in the accumulator, use the scratchpad"),
            ));
        }
        let extent = Extent {
            first: address.row(),
            rows,
            stride,
            cols,
        };
        let limit = self.config.spad_rows();
        if u64::from(extent.first) + u64::from(rows.saturating_sub(1)) * u64::from(stride)
            >= u64::from(limit)
        {
            return Err(site.illegal(
                "operand-range",
                format!(
                    "{name} occupies {rows} rows, {stride} apart, from {address}; the last scratchpad row is {}",
                    limit - 1
                ),
            ));
        }
        Ok(extent)
    }

    fn operand_extent(
        &mut self,
        site: Site,
        name: &'static str,
        tile: Tile,
        transposed: bool,
        stride: u16,
    ) -> Result<Option<Extent>, Box<Fault>> {
        if tile.address.is_garbage() {
            return Ok(None);
        }
        let (rows, cols) = (u32::from(tile.rows), u32::from(tile.cols));
        let (rows, cols) = if transposed {
            (cols, rows)
        } else {
            (rows, cols)
        };
        let extent = self.extent(site, name, tile.address, rows, cols, stride.into())?;
        self.check_in_flight(site, name, extent)?;
        Ok(Some(extent))
    }

    fn stationary_extent(&self, site: Site, tile: Tile) -> Result<Extent, Box<Fault>> {
        let (rows, cols) = (u32::from(tile.rows), u32::from(tile.cols));
        let ex = self.configured.ex;
        if ex.dataflow == Dataflow::OutputStationary {
            self.extent(site, "D", tile.address, rows, cols, 1)
        } else if ex.b_transpose {
            self.extent(site, "B", tile.address, cols, rows, 1)
        } else {
            self.extent(site, "B", tile.address, rows, cols, 1)
        }
    }

    fn check_dest(&mut self, site: Site, dest: Tile) -> Result<(), Box<Fault>> {
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

    #[inline]
    fn check_in_flight(
        &mut self,
        site: Site,
        name: &str,
        extent: Extent,
    ) -> Result<(), Box<Fault>> {
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

    fn load_array(&mut self, site: Site, pending: Pending) -> Result<(), Box<Fault>> {
        let ex = self.configured.ex;
        if pending.stationary.address.is_garbage() {
            self.array.load_zeros(ex.dataflow, pending.pc);
            return Ok(());
        }
        let extent = self.stationary_extent(site, pending.stationary)?;
        let transposed = ex.b_transpose && ex.dataflow == Dataflow::WeightStationary;
        self.array
            .load(ex.dataflow, &self.local, extent, transposed, pending.pc);
        Ok(())
    }

    /// Requires `cols` columns of the first `rows` rows of an operand to have
    /// been written.
    #[inline]
    fn require_written(
        &mut self,
        site: Site,
        name: &str,
        extent: Extent,
        rows: u32,
        cols: u32,
    ) -> Result<(), Box<Fault>> {
        let mask = column_mask(cols);
        let complete = if extent.stride == 1 {
            self.local.spad.is_written(extent.first, rows, mask)
        } else {
            Extent { rows, ..extent }
                .iter()
                .all(|row| self.local.spad.written[row as usize] & mask == mask)
        };
        if complete {
            Ok(())
        } else {
            self.uninitialized_operand(site, name, Extent { rows, ..extent }, mask)
        }
    }

    #[cold]
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
    #[inline]
    fn require_array(
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
    fn check_array(
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

    fn compute_ws(
        &mut self,
        site: Site,
        a: Tile,
        a_extent: Option<Extent>,
        d_extent: Option<Extent>,
        result: Option<Tile>,
    ) -> Result<(), Box<Fault>> {
        let dim = self.config.dim;
        self.statistics.macs_issued +=
            u64::from(a_extent.map_or(0, |_| u32::from(a.rows))) * u64::from(dim * dim);
        let Some(dest) = result else { return Ok(()) };
        let (c_rows, c_cols) = (u32::from(dest.rows), u32::from(dest.cols));
        let floats = self.config.elements == Elements::Float32;
        let mut after = self.array.after_load;
        let (mut rows, mut inner) = (0, 0);
        if let Some(extent) = a_extent {
            rows = u32::from(a.rows).min(c_rows);
            inner = u32::from(a.cols);
            if c_rows > u32::from(a.rows) {
                self.warnings.add(site, "result-rows", || {
                    format!(
                        "the result has {c_rows} rows but A only {}; the rest are D or zero",
                        a.rows
                    )
                });
            }
            // Integers times the zeros around the weights are zero whatever
            // they are; floats may be NaN.
            let used = if floats {
                inner
            } else {
                inner.min(self.array.rows)
            };
            let read = if self.configured.ex.a_transpose {
                (used, rows)
            } else {
                (rows, used)
            };
            self.require_written(site, "A", extent, read.0, read.1)?;
            self.require_array(site, inner, c_cols, Dataflow::WeightStationary)?;
            after = after.max(
                Extent {
                    rows: read.0,
                    ..extent
                }
                .newest_load(&self.local.spad),
            );
        }
        if let Some(extent) = d_extent {
            let (rows, cols) = (extent.rows.min(c_rows), extent.cols.min(c_cols));
            self.require_written(site, "D", extent, rows, cols)?;
            after = after.max(extent.newest_load(&self.local.spad));
        }
        self.statistics.macs_useful += u64::from(rows)
            * u64::from(inner.min(self.array.rows))
            * u64::from(c_cols.min(self.array.cols));
        self.require_addend(site, dest)?;
        match (floats, a_extent, d_extent) {
            (false, Some(extent), None) if self.is_plain(a, extent, dest) => {
                let (dim, rows) = (dim as usize, rows as usize);
                let from = &self.local.bytes[extent.first as usize * dim..][..rows * dim];
                let to = &mut self.local.words[dest.address.row() as usize * dim..][..rows * dim];
                let adds = dest.address.accumulates();
                if self.may_wrap {
                    let sums = &mut self.scratch[..rows * dim];
                    multiply_i8(self.host, from, &self.array.weights, sums, Store::Overwrite);
                    let wrapped = wrap_all(sums, self.config.mesh_out_bits);
                    if adds {
                        to.iter_mut()
                            .zip(sums)
                            .for_each(|(to, from)| *to = to.wrapping_add(*from));
                    } else {
                        to.copy_from_slice(sums);
                    }
                    if wrapped {
                        self.warn_wrapped(site);
                    }
                } else {
                    let store = if adds { Store::Add } else { Store::Overwrite };
                    multiply_i8(self.host, from, &self.array.weights, to, store);
                }
                self.local.acc.note_write(
                    dest.address.row(),
                    c_rows,
                    column_mask(c_cols),
                    site.pc,
                    after,
                );
            }
            (false, ..) => {
                self.gather_i8(a_extent);
                self.addend_i8(d_extent);
                multiply_i8(
                    self.host,
                    &self.scratch_a,
                    &self.array.weights,
                    &mut self.scratch,
                    Store::Add,
                );
                if self.may_wrap || d_extent.is_some() {
                    self.wrap_scratch(site);
                }
                self.write_result(site, dest, after);
            }
            (true, ..) => {
                self.gather_f32(a_extent);
                self.addend_f32(d_extent);
                let dim = dim as usize;
                multiply_f32(
                    self.host,
                    dim,
                    &self.scratch_float_a,
                    &self.array.float_weights,
                    &mut self.scratch_float,
                );
                for (to, from) in self.scratch.iter_mut().zip(&self.scratch_float) {
                    *to = canonical(*from).to_bits() as i32;
                }
                self.write_result(site, dest, after);
            }
        }
        Ok(())
    }

    /// Whether rows of A can stream straight into whole accumulator rows.
    #[inline]
    fn is_plain(&self, a: Tile, extent: Extent, dest: Tile) -> bool {
        let ex = &self.configured.ex;
        let dim = self.config.dim;
        dest.address.is_accumulator()
            && u32::from(dest.cols) == dim
            && dest.rows <= a.rows
            && ex.c_stride == 1
            && extent.stride == 1
            && !ex.a_transpose
            && u32::from(a.cols) >= self.array.rows
    }

    fn compute_os(
        &mut self,
        site: Site,
        a: Tile,
        a_extent: Option<Extent>,
        b: Tile,
        b_extent: Option<Extent>,
        result: Option<Tile>,
    ) -> Result<(), Box<Fault>> {
        let dim = self.config.dim;
        let ex = self.configured.ex;
        self.statistics.macs_issued += u64::from(dim) * u64::from(dim * dim);
        if self.array.holds != Some(Dataflow::OutputStationary) {
            self.check_array(site, 0, 0, Dataflow::OutputStationary)?;
        }
        if b_extent.is_none() {
            self.warnings.add(site, "compute-without-b", || {
                "B is no operand; zeros are used".into()
            });
        }
        if let (Some(a_extent), Some(b_extent)) = (a_extent, b_extent) {
            let (rows, cols) = (u32::from(a.rows), u32::from(b.cols));
            let floats = self.config.elements == Elements::Float32;
            let inner = u32::from(a.cols).min(b.rows.into());
            let (a_used, b_used) = if floats {
                (a.cols.into(), b.rows.into())
            } else {
                (inner, inner)
            };
            let read = if ex.a_transpose {
                (a_used, rows)
            } else {
                (rows, a_used)
            };
            self.require_written(site, "A", a_extent, read.0, read.1)?;
            let read = if ex.b_transpose {
                (cols, b_used)
            } else {
                (b_used, cols)
            };
            self.require_written(site, "B", b_extent, read.0, read.1)?;
            self.statistics.macs_useful += u64::from(rows) * u64::from(inner) * u64::from(cols);
            let tags = a_extent
                .newest_load(&self.local.spad)
                .max(b_extent.newest_load(&self.local.spad));
            self.array.after_load = self.array.after_load.max(tags);
            self.multiply_os(site, a_extent, b_extent);
        }
        let Some(dest) = result else { return Ok(()) };
        self.require_array(
            site,
            dest.rows.into(),
            dest.cols.into(),
            Dataflow::OutputStationary,
        )?;
        self.require_addend(site, dest)?;
        self.scratch.copy_from_slice(&self.array.sums);
        if self.config.elements == Elements::Int8 && ex.in_shift != 0 {
            if dest.address.is_accumulator() {
                self.warnings.add(site, "shift-into-accumulator", || {
                    format!(
                        "the rounding shift of {} also applies to results in the accumulator",
                        ex.in_shift
                    )
                });
            }
            for sum in &mut self.scratch {
                *sum = round_shift(*sum, ex.in_shift.into());
            }
        }
        self.write_result(site, dest, self.array.after_load);
        Ok(())
    }

    fn multiply_os(&mut self, site: Site, a_extent: Extent, b_extent: Extent) {
        let dim = self.config.dim as usize;
        let transposed = self.configured.ex.b_transpose;
        match self.config.elements {
            Elements::Int8 => {
                self.gather_i8(Some(a_extent));
                let plain = self.moving.plain_mut();
                plain.fill(0);
                place(dim, &self.local, b_extent, transposed, 1, |at, bytes| {
                    plain[at] = bytes[0] as i8
                });
                self.moving.pack();
                multiply_i8(
                    self.host,
                    &self.scratch_a,
                    &self.moving,
                    &mut self.array.sums,
                    Store::Add,
                );
                std::mem::swap(&mut self.scratch, &mut self.array.sums);
                self.wrap_scratch(site);
                std::mem::swap(&mut self.scratch, &mut self.array.sums);
            }
            Elements::Float32 => {
                self.gather_f32(Some(a_extent));
                let moving = &mut self.moving_float;
                moving.fill(0.0);
                place(dim, &self.local, b_extent, transposed, 4, |at, bytes| {
                    moving[at] = float(bytes)
                });
                for (to, from) in self.scratch_float.iter_mut().zip(&self.array.sums) {
                    *to = f32::from_bits(*from as u32);
                }
                multiply_f32(
                    self.host,
                    dim,
                    &self.scratch_float_a,
                    moving,
                    &mut self.scratch_float,
                );
                for (to, from) in self.array.sums.iter_mut().zip(&self.scratch_float) {
                    *to = canonical(*from).to_bits() as i32;
                }
            }
        }
    }

    /// Puts A, zeros around it, into `scratch_a`.
    fn gather_i8(&mut self, extent: Option<Extent>) {
        let dim = self.config.dim as usize;
        let out = &mut self.scratch_a;
        out.fill(0);
        if let Some(extent) = extent {
            place(
                dim,
                &self.local,
                extent,
                self.configured.ex.a_transpose,
                1,
                |at, bytes| out[at] = bytes[0],
            );
        }
    }

    fn gather_f32(&mut self, extent: Option<Extent>) {
        let dim = self.config.dim as usize;
        let out = &mut self.scratch_float_a;
        out.fill(0.0);
        if let Some(extent) = extent {
            place(
                dim,
                &self.local,
                extent,
                self.configured.ex.a_transpose,
                4,
                |at, bytes| out[at] = float(bytes),
            );
        }
    }

    /// Puts D, zeros around it, into `scratch`.
    fn addend_i8(&mut self, extent: Option<Extent>) {
        let out = &mut self.scratch;
        out.fill(0);
        if let Some(extent) = extent {
            place(
                self.config.dim as usize,
                &self.local,
                extent,
                false,
                1,
                |at, bytes| {
                    out[at] = i32::from(bytes[0] as i8);
                },
            );
        }
    }

    fn addend_f32(&mut self, extent: Option<Extent>) {
        let out = &mut self.scratch_float;
        out.fill(0.0);
        if let Some(extent) = extent {
            place(
                self.config.dim as usize,
                &self.local,
                extent,
                false,
                4,
                |at, bytes| out[at] = float(bytes),
            );
        }
    }

    /// Wraps the sums to the width of the array's wires.
    fn wrap_scratch(&mut self, site: Site) {
        if wrap_all(&mut self.scratch, self.config.mesh_out_bits) {
            self.warn_wrapped(site);
        }
    }

    #[cold]
    fn warn_wrapped(&mut self, site: Site) {
        let bits = self.config.mesh_out_bits;
        self.warnings.add(site, "partial-sum-wrapped", || {
            format!("a partial sum did not fit the {bits} bits of the array and wrapped")
        });
    }

    /// Requires the rows that a result is added to to have been written.
    #[inline]
    fn require_addend(&mut self, site: Site, dest: Tile) -> Result<(), Box<Fault>> {
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

    /// Moves the result in `scratch` to where it belongs.
    fn write_result(&mut self, site: Site, dest: Tile, after_load: u32) {
        let (dim, cols) = (self.config.dim as usize, usize::from(dest.cols));
        let ex = self.configured.ex;
        let mask = column_mask(dest.cols.into());
        let floats = self.config.elements == Elements::Float32;
        let relu = ex.activation == Activation::Relu;
        for at in 0..u32::from(dest.rows) {
            let row = dest.address.row() + at * u32::from(ex.c_stride);
            let from = &self.scratch[at as usize * dim..][..cols];
            if dest.address.is_accumulator() {
                let to = &mut self.local.words[row as usize * dim..][..cols];
                match (dest.address.accumulates(), floats) {
                    (false, _) => to.copy_from_slice(from),
                    (true, false) => to
                        .iter_mut()
                        .zip(from)
                        .for_each(|(to, from)| *to = to.wrapping_add(*from)),
                    (true, true) => to
                        .iter_mut()
                        .zip(from)
                        .for_each(|(to, from)| *to = add_float_bits(*to, *from)),
                }
                self.local.acc.note_write(row, 1, mask, site.pc, after_load);
            } else {
                let to = &mut self.local.bytes[row as usize * self.local.row_bytes..]
                    [..self.local.row_bytes];
                if floats {
                    for (to, from) in to.chunks_exact_mut(4).zip(from) {
                        let value = f32::from_bits(*from as u32);
                        to.copy_from_slice(
                            &if relu { relu_f32(value) } else { value }.to_le_bytes(),
                        );
                    }
                } else {
                    for (to, from) in to.iter_mut().zip(from) {
                        let value = clamp_i8(*from);
                        *to = if relu { value.max(0) } else { value } as u8;
                    }
                }
                self.local
                    .spad
                    .note_write(row, 1, mask, site.pc, after_load);
            }
        }
    }
}

/// Wraps every sum; returns whether one changed.
fn wrap_all(sums: &mut [i32], bits: u32) -> bool {
    let mut changed = 0;
    for sum in sums {
        let wrapped = wrap(*sum, bits);
        changed |= wrapped ^ *sum;
        *sum = wrapped;
    }
    changed != 0
}

/// Adds two floats given as bits.
pub(super) fn add_float_bits(a: i32, b: i32) -> i32 {
    canonical(f32::from_bits(a as u32) + f32::from_bits(b as u32)).to_bits() as i32
}
