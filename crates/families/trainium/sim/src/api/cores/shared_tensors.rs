//! Tensors that both cores share: those in `nl.shared_hbm`, and whatever is made in main memory
//! outside of kernels, where there is one program for both.

use std::cell::RefCell;
use std::rc::Rc;

use crate::api::Device;
use crate::cores::Shown;
use crate::diagnostic::Outcome;
use crate::tensor::accesses::Accesses;
use crate::tensor::storage::{Buffer, Shared, Sharing, poison};
use crate::tensor::view::{View, for_runs};

/// Work for an element that is noted by itself.
const ELEMENT_WORK: u64 = 8;

/// The shared tensors that somebody still has, in the order in which they were made.
#[derive(Default)]
pub(in crate::api) struct SharedTensors {
    tensors: Vec<Shared>,
    made: usize,
    /// How many were there when the others were forgotten.
    kept: usize,
}

impl SharedTensors {
    /// How many were made, which both cores do in the same order.
    pub(super) fn made(&self) -> usize {
        self.made
    }

    pub(super) fn alive(&self) -> Vec<Shared> {
        self.tensors.clone()
    }

    /// Forgets those that nobody else has any more.
    pub(super) fn forget(&mut self) {
        self.tensors.retain(|it| 1 < Rc::strong_count(it));
        self.kept = self.tensors.len();
    }
}

impl Device {
    /// Enters a tensor that a kernel makes, if the cores share it.
    pub(in crate::api) fn share(&mut self, storage: &Shared) {
        let is_shared = match storage.buffer {
            Buffer::SharedHbm => true,
            Buffer::Hbm => !self.is_on_several_cores(),
            Buffer::Sbuf | Buffer::Psum => false,
        };
        if is_shared && self.link.is_some() {
            // Between kernels nobody is asked what a core did to a tensor that is gone.
            if !self.is_on_several_cores() && 2 * self.shared.kept < self.shared.tensors.len() {
                self.shared.forget();
            }
            let sharing = Sharing {
                place: self.shared.made,
                touched: RefCell::default(),
            };
            if storage.sharing.set(Box::new(sharing)).is_ok() {
                self.shared.made += 1;
                self.shared.tensors.push(Rc::clone(storage));
            }
        }
    }

    /// Notes which elements of a shared tensor are read or written.
    #[inline]
    pub(in crate::api) fn note_access(
        &self,
        view: &View,
        flags: Option<&[bool]>,
        writes: bool,
    ) -> Outcome<()> {
        match view.storage.sharing.get() {
            Some(sharing) if self.is_on_several_cores() => {
                self.note_elements(view, &mut sharing.touched.borrow_mut(), flags, writes)
            }
            _ => Ok(()),
        }
    }

    fn note_elements(
        &self,
        view: &View,
        touched: &mut Accesses,
        flags: Option<&[bool]>,
        writes: bool,
    ) -> Outcome<()> {
        let (seen, stored) = (view.dtype.bytes(), view.storage.dtype.bytes());
        let count = view.storage.block_elements;
        let mut note = |from: i64, elements: usize| {
            let from = usize::try_from(from).unwrap_or(usize::MAX);
            let low = from.saturating_mul(seen) / stored;
            let high = from.saturating_add(elements).saturating_mul(seen);
            let run = low.min(count)..high.div_ceil(stored).min(count);
            touched.note(run, self.line, writes, &self.account)
        };
        let mut noted = Ok(());
        let mut position = 0;
        for_runs(&view.dimensions, view.offset, |at, count, stride| {
            if noted.is_err() {
                return;
            }
            noted = if stride == 1 && flags.is_none() {
                note(at, count)
            } else {
                let is_flagged =
                    |i: &usize| flags.is_none_or(|it| it.get(position + i) == Some(&true));
                let spent = self.spend(ELEMENT_WORK * count as u64);
                let mut flagged = (0..count).filter(is_flagged);
                spent.and_then(|()| flagged.try_for_each(|i| note(at + i as i64 * stride, 1)))
            };
            position += count;
        });
        noted
    }

    /// What this core shows of a shared tensor: what it touched, with the values that it wrote.
    pub(super) fn show(&self, storage: &Shared) -> Outcome<Shown> {
        let sharing = storage.sharing.get();
        let touched = sharing.map(|it| it.touched.borrow_mut().take(&self.account));
        let touched = touched.unwrap_or_default();
        let elements = touched.written();
        self.account.room(32 * elements.len() as u64)?;
        let parts = storage.parts.borrow();
        let known = |at: &usize| parts.get(*at).map(|known| (*at, known));
        let parts = match parts.is_empty() {
            true => Vec::new(),
            false => elements.iter().filter_map(known).collect(),
        };
        let value = |data: &[f32], at: usize| data.get(at).copied().unwrap_or_else(poison);
        let written = storage.with_block(0, |data| {
            let values = elements.into_iter().map(|at| (at, value(data, at)));
            values.collect()
        });
        Ok(Shown {
            place: sharing.map_or(usize::MAX, |it| it.place),
            dtype: storage.dtype,
            shape: storage.shape.to_vec(),
            line: storage.line,
            is_written: storage.written.get(),
            is_tainted: storage.is_tainted.get(),
            touched,
            written: written.unwrap_or_default(),
            parts,
        })
    }

    /// Takes over what the other core wrote.
    pub(super) fn take_over(&self, storage: &Shared, shown: &Shown) -> Outcome<()> {
        storage
            .written
            .set(storage.written.get() || shown.is_written);
        storage
            .is_tainted
            .set(storage.is_tainted.get() || shown.is_tainted);
        if shown.written.is_empty() {
            return Ok(());
        }
        self.touch(storage, 0)?;
        storage.hold(32 * shown.parts.len() as u64)?;
        let mut parts = storage.parts.borrow_mut();
        if !parts.is_empty() {
            for (at, _) in &shown.written {
                parts.set(*at, None);
            }
        }
        for (at, known) in &shown.parts {
            parts.set(*at, Some(*known));
        }
        storage.with_block(0, |data| {
            for (at, value) in &shown.written {
                if let Some(slot) = data.get_mut(*at) {
                    *slot = *value;
                }
            }
        });
        Ok(())
    }
}
