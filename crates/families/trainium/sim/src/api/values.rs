//! Reading and writing the values of views.

use std::rc::Rc;

use super::Device;
use crate::diagnostic::{Failure, FailureKind, Outcome};
use crate::tensor::bits;
use crate::tensor::dtype::{Dtype, is_undefined};
use crate::tensor::storage::{Storage, poison};
use crate::tensor::view::{View, for_runs};

/// Copies of an operand's values that are under way at a time.
const COPIES: u64 = 4;

impl Device {
    /// Values of a tensor in main memory, for the caller of the kernel.
    pub(crate) fn values(&mut self, view: &View) -> Outcome<Vec<f32>> {
        self.read(view)
    }

    pub(super) fn touch(&self, storage: &Storage, block: usize) -> Outcome<()> {
        if storage.blocks.borrow().is_fresh(block) {
            storage.hold(4 * storage.block_elements as u64)?;
        }
        Ok(())
    }

    /// Values of a view in row-major order, as the engines read them. Empty in a run without data.
    pub(super) fn read(&mut self, view: &View) -> Outcome<Vec<f32>> {
        if !self.functional {
            return Ok(Vec::new());
        }
        self.account
            .room((view.elements() as u64).saturating_mul(4 * COPIES))?;
        self.spend(view.elements() as u64)?;
        let mut out = Vec::with_capacity(view.elements());
        match self.rows(view)? {
            None => self.read_into(view, &mut out)?,
            Some(rows) => {
                for row in &rows {
                    let row = row.as_ref().ok_or_else(row_out_of_range)?;
                    self.read_into(row, &mut out)?;
                }
            }
        }
        self.note_unwritten(view, &out);
        Ok(out)
    }

    /// What a view holds that a result is added to. Where nothing has written it, the first result
    /// overwrites it, so that this is no read that is told.
    pub(super) fn read_old(&mut self, view: &View) -> Outcome<Vec<f32>> {
        let finds = std::mem::take(&mut self.finds_unwritten);
        let old = self.read(view);
        self.finds_unwritten = finds;
        old
    }

    /// Tells that values were read which nothing has written, where that is asked for. What a
    /// tensor holds that was computed from such is not told again.
    fn note_unwritten(&mut self, view: &View, values: &[f32]) {
        let is_looked_at = self.finds_unwritten && !view.storage.is_tainted.get();
        if !is_looked_at || !values.iter().copied().any(is_undefined) {
            return;
        }
        let made = view.storage.line;
        let name = match self.trace.tensors.get(view.storage.id as usize) {
            Some(tensor) if !tensor.name.is_empty() => format!(" `{}`", tensor.name),
            _ => String::new(),
        };
        let unknown = values.iter().filter(|it| is_undefined(**it));
        let count = unknown.count();
        let message = format!(
            "{count} of the {} elements read here of the tensor{name} made at line {made} were never written; on the device they hold what an earlier program left",
            values.len()
        );
        self.warn(
            "unwritten-memory",
            message,
            "write every element before it is read",
        );
    }

    /// Notes that a tensor holds what was computed from memory that nothing has written.
    fn note_tainted(&self, view: &View, values: &[f32]) {
        if self.finds_unwritten && values.iter().copied().any(is_undefined) {
            view.storage.is_tainted.set(true);
        }
    }

    /// The values of a view whose tensor nobody needs any more: what is stored is taken, where the
    /// view is all of it.
    pub(super) fn read_last(&mut self, view: &View) -> Outcome<Vec<f32>> {
        let whole = self.functional.then(|| view.whole_block()).flatten();
        match whole.and_then(|block| view.storage.take_block(block)) {
            Some(mut values) => {
                self.note_unwritten(view, &values);
                let dtype = view.dtype;
                if dtype.is_integer() {
                    values.iter_mut().for_each(|it| *it = dtype.load(*it));
                }
                Ok(values)
            }
            None => self.read(view),
        }
    }

    /// The values of a view that decide what is done: indices, bounds, seeds.
    ///
    /// # Errors
    /// `unwritten-memory` where one of them was never written.
    pub(super) fn read_known(&mut self, view: &View, name: &str) -> Outcome<Vec<f32>> {
        let values = self.read(view)?;
        if values.iter().copied().any(is_undefined) {
            return Err(Failure::new(
                FailureKind::Rejected,
                "unwritten-memory",
                format!(
                    "`{name}` of shape {:?}, in the tensor made at line {}, was never written, or computed from what was not; on the device it holds what an earlier program left",
                    view.shape(),
                    view.storage.line
                ),
                "write every element before anything depends on it",
            ));
        }
        Ok(values)
    }

    fn read_into(&mut self, view: &View, out: &mut Vec<f32>) -> Outcome<()> {
        let storage = Rc::clone(&view.storage);
        let elements = view.block_elements().max(1) as i64;
        let block = (view.offset / elements) as usize;
        self.touch(&storage, block)?;
        self.note_access(view, None, false)?;
        let base = view.offset - block as i64 * elements;
        let raw = view.dtype == storage.dtype && !view.dtype.is_integer();
        let dtype = view.dtype;
        let stored = storage.dtype;
        if dtype != stored && (dtype.bytes() != 4 || stored.bytes() != 4) {
            let parts = storage.parts.borrow();
            let first = block * storage.block_elements;
            storage.with_block(block, |data| {
                for_runs(&view.dimensions, base, |at, count, stride| {
                    for i in 0..count as i64 {
                        let at = ((at + i * stride) as usize).wrapping_mul(dtype.bytes());
                        let value = bits::read(data, &parts, first, (stored, dtype), at);
                        out.push(dtype.load(value.unwrap_or_else(poison)));
                    }
                });
            });
            return Ok(());
        }
        storage.with_block(block, |data| {
            let end = (base as usize).checked_add(view.elements());
            if raw
                && view.is_contiguous()
                && let Some(all) = end.and_then(|end| data.get(base as usize..end))
            {
                out.extend_from_slice(all);
                return;
            }
            for_runs(&view.dimensions, base, |at, count, stride| {
                let at = at as usize;
                if stride == 1 && raw {
                    match data.get(at..at + count) {
                        Some(run) => out.extend_from_slice(run),
                        None => out.resize(out.len() + count, poison()),
                    }
                } else if stride == 0 {
                    let value = data.get(at).copied().unwrap_or_else(poison);
                    let value = if raw {
                        value
                    } else {
                        convert(stored, dtype, value)
                    };
                    out.resize(out.len() + count, value);
                } else {
                    for i in 0..count {
                        let value = data
                            .get((at as i64 + i as i64 * stride) as usize)
                            .copied()
                            .unwrap_or_else(poison);
                        out.push(if raw {
                            value
                        } else {
                            convert(stored, dtype, value)
                        });
                    }
                }
            });
        });
        Ok(())
    }

    /// Writes values to a view, rounding; where `flags` are given, only the flagged elements.
    pub(super) fn write(
        &mut self,
        view: &View,
        values: &[f32],
        flags: Option<&[bool]>,
    ) -> Outcome<()> {
        view.storage.written.set(true);
        if !self.functional {
            return Ok(());
        }
        self.note_tainted(view, values);
        self.spend(values.len() as u64)?;
        match self.rows(view)? {
            None => self.write_plain(view, values, flags),
            Some(rows) => {
                let count = if rows.is_empty() {
                    0
                } else {
                    values.len() / rows.len()
                };
                for (position, row) in rows.iter().enumerate() {
                    let Some(row) = row else {
                        return Err(row_out_of_range());
                    };
                    let part = position * count..(position + 1) * count;
                    let flags = flags.map(|f| f.get(part.clone()).unwrap_or_default());
                    self.write_plain(row, values.get(part).unwrap_or_default(), flags)?;
                }
                Ok(())
            }
        }
    }

    /// Writes values that nobody else needs: where they are all of a block, they become the block.
    pub(super) fn write_owned(
        &mut self,
        view: &View,
        mut values: Vec<f32>,
        flags: Option<&[bool]>,
    ) -> Outcome<()> {
        let is_all = flags.is_none() && values.len() == view.storage.block_elements;
        let whole = (self.functional && is_all).then(|| view.whole_block());
        let Some(block) = whole.flatten() else {
            return self.write(view, &values, flags);
        };
        view.storage.written.set(true);
        self.note_tainted(view, &values);
        self.spend(values.len() as u64)?;
        self.touch(&view.storage, block)?;
        self.note_access(view, None, true)?;
        let dtype = view.dtype;
        if dtype != Dtype::Float32 {
            values
                .iter_mut()
                .for_each(|value| *value = dtype.store(*value));
        }
        view.storage.put_block(block, values);
        Ok(())
    }

    fn write_plain(&mut self, view: &View, values: &[f32], flags: Option<&[bool]>) -> Outcome<()> {
        let storage = Rc::clone(&view.storage);
        let elements = view.block_elements().max(1) as i64;
        let block = (view.offset / elements) as usize;
        self.touch(&storage, block)?;
        self.note_access(view, flags, true)?;
        let base = view.offset - block as i64 * elements;
        let dtype = view.dtype;
        let stored = storage.dtype;
        let exact = dtype == Dtype::Float32;
        let mut position = 0;
        if dtype != stored && (dtype.bytes() != 4 || stored.bytes() != 4) {
            if dtype.bytes() < stored.bytes() && storage.parts.borrow().is_empty() {
                // Elements that are written in part are noted.
                storage.hold(32 * view.elements().min(storage.block_elements) as u64)?;
            }
            let mut parts = storage.parts.borrow_mut();
            let first = block * storage.block_elements;
            storage.with_block(block, |data| {
                for_runs(&view.dimensions, base, |at, count, stride| {
                    for i in 0..count {
                        let wanted = flags.is_none_or(|f| f.get(position + i) == Some(&true));
                        if let (true, Some(value)) = (wanted, values.get(position + i)) {
                            let at =
                                ((at + i as i64 * stride) as usize).wrapping_mul(dtype.bytes());
                            let value = dtype.store(*value);
                            bits::write(data, &mut parts, first, (stored, dtype), at, value);
                        }
                    }
                    position += count;
                });
            });
            return Ok(());
        }
        if values.iter().copied().any(is_undefined) {
            storage.forget_parts(block);
        }
        storage.with_block(block, |data| {
            for_runs(&view.dimensions, base, |at, count, stride| {
                let at = at as usize;
                let source = values.get(position..position + count).unwrap_or(&[]);
                if let (true, 1, None, Some(run)) =
                    (exact, stride, flags, data.get_mut(at..at + count))
                {
                    if source.len() == run.len() {
                        run.copy_from_slice(source);
                    }
                } else {
                    for (i, value) in source.iter().enumerate() {
                        if flags.is_none_or(|f| f.get(position + i).copied().unwrap_or(false))
                            && let Some(slot) =
                                data.get_mut((at as i64 + i as i64 * stride) as usize)
                        {
                            *slot = dtype.store(*value);
                        }
                    }
                }
                position += count;
            });
        });
        Ok(())
    }

    /// Rows of an indirect view, `None` where the index is out of range; nothing for other views.
    pub(super) fn rows(&mut self, view: &View) -> Outcome<Option<Vec<Option<View>>>> {
        let Some(indirect) = view.indirect.clone() else {
            return Ok(None);
        };
        let rows = self.read_known(&indirect.rows, "index of rows")?;
        let mut plain = view.clone();
        plain.indirect = None;
        let mut resolved = Vec::with_capacity(rows.len());
        if indirect.dimension != 0 {
            return Err(Failure::documented(
                "err_indirect_indices_free_dim",
                "rows can be chosen by a tile in the partition dimension only",
                "move the indexed dimension to the front",
            ));
        }
        let total = (plain.block_elements() * plain.storage.block_count()) as i64;
        let (mut low, mut high) = (plain.offset, plain.offset);
        for dimension in plain.dimensions.iter().skip(1) {
            let reach = (dimension.size.max(1) as i64 - 1).saturating_mul(dimension.stride);
            low = low.saturating_add(reach.min(0));
            high = high.saturating_add(reach.max(0));
        }
        for row in rows.iter().take(view.partitions()) {
            let moved = (*row as i64).saturating_mul(indirect.stride);
            let inside = row.is_finite()
                && *row >= 0.0
                && (*row as usize) < indirect.limit
                && 0 <= low.saturating_add(moved)
                && high.saturating_add(moved) < total;
            resolved.push(inside.then(|| {
                let mut one = plain.clone();
                one.offset += *row as i64 * indirect.stride;
                if let Some(first) = one.dimensions.first_mut() {
                    first.size = 1;
                }
                one
            }));
        }
        Ok(Some(resolved))
    }
}

fn row_out_of_range() -> Box<Failure> {
    Failure::documented(
        "err_tensor_access_out_of_bound",
        "a row chosen by an index tile does not exist",
        "keep indices within the tensor, or pass oob_mode=nisa.oob_mode.skip",
    )
}

fn convert(stored: Dtype, seen: Dtype, value: f32) -> f32 {
    if stored == seen {
        return stored.load(value);
    }
    // The same four bytes seen as another type; what reads tfloat32 takes as many bits as that has.
    match seen {
        Dtype::Tfloat32 if value.abs().to_bits() != crate::tensor::dtype::POISON => {
            seen.round(value)
        }
        _ => seen.load(value),
    }
}
