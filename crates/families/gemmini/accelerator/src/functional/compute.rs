//! Preload and compute: the array.

use super::Functional;
use super::arithmetic::{canonical, round_shift};
use super::array::{Extent, float, place};
use super::faults::Site;
use super::local::column_mask;
use super::multiply::{Store, multiply_f32};
use super::staging::wrap_all;
use crate::address::Tile;
use crate::config::Elements;
use crate::isa::Dataflow;
use autocomp_riscv::Fault;

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
            let extent = self.stationary_extent(stationary);
            self.check_stationary(site, stationary, extent)?;
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
        let a_extent = Extent::of(a, ex.a_transpose, ex.a_stride);
        self.check_operand(site, "A", a, a_extent)?;
        let b_transpose = ex.b_transpose && ex.dataflow == Dataflow::OutputStationary;
        let bd_name = if ex.dataflow == Dataflow::OutputStationary {
            "B"
        } else {
            "D"
        };
        let bd_extent = Extent::of(bd, b_transpose, 1);
        self.check_operand(site, bd_name, bd, bd_extent)?;
        if !self.with_values {
            return Ok(());
        }
        let a_extent = (!a.address.is_garbage()).then_some(a_extent);
        let bd_extent = (!bd.address.is_garbage()).then_some(bd_extent);
        if preloaded {
            self.load_array(pending);
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

    #[inline]
    fn load_array(&mut self, pending: Pending) {
        let ex = &self.configured.ex;
        if pending.stationary.address.is_garbage() {
            self.array.load_zeros(ex.dataflow, pending.pc);
            return;
        }
        // The preload has checked it, and nothing has changed since.
        let extent = self.stationary_extent(pending.stationary);
        let transposed = ex.b_transpose && ex.dataflow == Dataflow::WeightStationary;
        self.array
            .load(ex.dataflow, &self.local, extent, transposed, pending.pc);
    }

    #[inline]
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
            after = after.max(self.require_written(site, "A", extent, read.0, read.1)?);
            self.require_array(site, inner, c_cols, Dataflow::WeightStationary)?;
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
                self.stream(site, extent, rows, dest);
                let (first, mask) = (dest.address.row(), column_mask(c_cols));
                self.local
                    .acc
                    .note_write(first, c_rows, mask, site.pc, after);
            }
            (false, ..) => {
                self.gather_i8(a_extent);
                self.addend_i8(d_extent);
                let weights = &self.array.weights;
                weights.multiply(&self.scratch_a, &mut self.scratch, Store::Add);
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

    /// Multiplies `rows` rows of A, as they lie, into whole accumulator rows.
    #[inline]
    fn stream(&mut self, site: Site, a: Extent, rows: u32, dest: Tile) {
        let (dim, rows) = (self.config.dim as usize, rows as usize);
        let from = &self.local.bytes[a.first as usize * dim..][..rows * dim];
        let to = &mut self.local.words[dest.address.row() as usize * dim..][..rows * dim];
        let store = if dest.address.accumulates() {
            Store::Add
        } else {
            Store::Overwrite
        };
        if !self.may_wrap {
            self.array.weights.multiply(from, to, store);
            return;
        }
        let sums = &mut self.scratch[..rows * dim];
        self.array.weights.multiply(from, sums, Store::Overwrite);
        let wrapped = wrap_all(sums, self.config.mesh_out_bits);
        match store {
            Store::Overwrite => to.copy_from_slice(sums),
            Store::Add => to
                .iter_mut()
                .zip(sums)
                .for_each(|(to, from)| *to = to.wrapping_add(*from)),
        }
        if wrapped {
            self.warn_wrapped(site);
        }
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

    #[inline(never)]
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
                let local = &self.local;
                self.moving.load_with(|plain| {
                    place(dim, local, b_extent, transposed, 1, |at, bytes| {
                        plain[at] = bytes[0];
                    });
                });
                let sums = &mut self.array.sums;
                self.moving.multiply(&self.scratch_a, sums, Store::Add);
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
}
