//! Strided views of tensors.

use std::borrow::Cow;
use std::collections::HashSet;
use std::rc::Rc;

use super::dtype::Dtype;
use super::index::Mask;
use super::short::Short;
use super::storage::{Buffer, Shared};

/// Size and stride (in elements) of one dimension of a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dimension {
    pub(crate) size: usize,
    pub(crate) stride: i64,
}

/// Sizes of dimensions, outermost first.
pub(crate) type Sizes = Short<usize, 4>;

/// Dimensions of a view, outermost first.
pub(crate) type Dimensions = Short<Dimension, 4>;

/// Rows chosen by another tile: element `i` of `rows` moves dimension 0 by `stride` elements.
#[derive(Clone, Debug)]
pub(crate) struct Indirect {
    pub(crate) rows: View,
    pub(crate) stride: i64,
    pub(crate) limit: usize,
    /// Dimension of the view that the rows replace.
    pub(crate) dimension: usize,
}

/// Larger values are moved by a call of the C library, smaller ones in place; views are moved often.
const _: () = assert!(size_of::<View>() <= 128);

/// A view: an offset and strides into one tensor.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) storage: Shared,
    pub(crate) dtype: Dtype,
    pub(crate) offset: i64,
    pub(crate) dimensions: Dimensions,
    /// Block dimensions that are still unresolved at the front.
    pub(crate) open_blocks: u32,
    pub(crate) indirect: Option<Rc<Indirect>>,
    /// A mask on the operand itself, from `tile[mask]`.
    pub(crate) mask: Option<Rc<Mask>>,
    /// Conditions that keep index expressions inside the tensor; a mask must imply them.
    pub(crate) limits: Option<Rc<Mask>>,
    /// Whether a register says where it lies.
    pub(crate) by_register: bool,
}

impl View {
    /// The whole tensor.
    pub(crate) fn whole(storage: &Shared) -> Self {
        let mut stride = 1i64;
        let mut dimensions = Dimensions::new();
        for size in storage.shape.iter().rev() {
            dimensions.push(Dimension {
                size: *size,
                stride,
            });
            stride = stride.saturating_mul(*size as i64);
        }
        dimensions.reverse();
        Self {
            storage: Rc::clone(storage),
            dtype: storage.dtype,
            offset: 0,
            dimensions,
            open_blocks: storage.block_rank as u32,
            indirect: None,
            mask: None,
            limits: None,
            by_register: false,
        }
    }

    /// Elements of one block of the tensor, counted in those that this view sees.
    #[inline]
    pub(crate) fn block_elements(&self) -> usize {
        let (stored, seen) = (self.storage.dtype, self.dtype);
        if stored == seen {
            return self.storage.block_elements;
        }
        self.storage.block_elements * stored.bytes() / seen.bytes()
    }

    /// The same bytes seen as elements of `dtype`: the last dimension, whose elements must lie side
    /// by side, becomes longer or shorter. `None` where the sizes do not divide.
    pub(crate) fn seen_as(&self, dtype: Dtype) -> Option<Self> {
        let (old, new) = (self.dtype.bytes(), dtype.bytes());
        let mut view = self.clone();
        view.dtype = dtype;
        if old == new {
            return Some(view);
        }
        let last = view.dimensions.last_mut()?;
        if last.size > 1 && last.stride != 1 {
            return None;
        }
        let bytes = last.size.checked_mul(old)?;
        last.size = bytes / new;
        last.stride = 1;
        let scaled = |count: i64| {
            let bytes = count.checked_mul(old as i64)?;
            (bytes % new as i64 == 0).then_some(bytes / new as i64)
        };
        view.offset = scaled(view.offset)?;
        let outer = view.dimensions.len() - 1;
        for dimension in &mut view.dimensions[..outer] {
            dimension.stride = scaled(dimension.stride)?;
        }
        (bytes % new == 0 && self.indirect.is_none() && self.limits.is_none()).then_some(view)
    }

    #[inline]
    pub(crate) fn buffer(&self) -> Buffer {
        self.storage.buffer
    }

    pub(crate) fn shape(&self) -> Sizes {
        self.dimensions.iter().map(|d| d.size).collect()
    }

    /// Number of elements; at most the largest number there is.
    #[inline]
    pub(crate) fn elements(&self) -> usize {
        let sizes = self.dimensions.iter().map(|d| d.size);
        sizes.fold(1, usize::saturating_mul)
    }

    /// Size of the partition dimension, which is the first.
    #[inline]
    pub(crate) fn partitions(&self) -> usize {
        self.dimensions.first().map_or(1, |d| d.size)
    }

    /// Elements in each partition.
    #[inline]
    pub(crate) fn free(&self) -> usize {
        let sizes = self.dimensions.iter().skip(1).map(|d| d.size);
        sizes.fold(1, usize::saturating_mul)
    }

    /// The same elements from the same place on, seen with other dimensions.
    #[inline]
    pub(crate) fn with(&self, dimensions: Dimensions) -> Self {
        Self {
            storage: Rc::clone(&self.storage),
            dtype: self.dtype,
            offset: self.offset,
            dimensions,
            open_blocks: self.open_blocks,
            indirect: self.indirect.clone(),
            mask: self.mask.clone(),
            limits: self.limits.clone(),
            by_register: self.by_register,
        }
    }

    /// Whether the view has this shape.
    #[inline]
    pub(crate) fn has_shape(&self, shape: &[usize]) -> bool {
        self.dimensions.iter().map(|it| &it.size).eq(shape)
    }

    /// A part of the view: `low..high` in every dimension.
    pub(crate) fn part(&self, bounds: &[(usize, usize)]) -> Self {
        let mut view = self.clone();
        if let (Some(indirect), Some(rows)) = (&mut view.indirect, bounds.first())
            && *rows != (0, self.partitions())
        {
            // The rows that are left out are chosen by nobody.
            let indirect = Rc::make_mut(indirect);
            indirect.rows = indirect.rows.part(std::slice::from_ref(rows));
        }
        for (dimension, (low, high)) in view.dimensions.iter_mut().zip(bounds) {
            view.offset += dimension.stride * *low as i64;
            dimension.size = high - low;
        }
        view
    }

    /// The same elements as what moves them to such of type `other`, or from there, sees them.
    pub(crate) fn moved_with(&self, other: Dtype) -> Cow<'_, Self> {
        let dtype = self.dtype.moved_with(other);
        if dtype == self.dtype {
            return Cow::Borrowed(self);
        }
        let mut view = self.clone();
        view.dtype = dtype;
        Cow::Owned(view)
    }

    /// The view spread to a larger shape: dimensions of size 1 repeat.
    pub(crate) fn spread(&self, shape: &[usize]) -> Option<Self> {
        if shape.len() < self.dimensions.len() {
            return None;
        }
        let skip = shape.len() - self.dimensions.len();
        let mut dimensions = Dimensions::new();
        for (position, size) in shape.iter().enumerate() {
            dimensions.push(if position < skip {
                Dimension {
                    size: *size,
                    stride: 0,
                }
            } else {
                let own = self.dimensions[position - skip];
                if own.size == *size {
                    own
                } else if own.size == 1 {
                    Dimension {
                        size: *size,
                        stride: 0,
                    }
                } else {
                    return None;
                }
            });
        }
        Some(self.with(dimensions))
    }

    /// The view spread to a larger shape, trailing dimensions of size 1 added as needed.
    pub(crate) fn spread_to(&self, shape: &[usize]) -> Option<Self> {
        if self.elements() == shape.iter().product::<usize>() {
            if self.has_shape(shape) {
                return Some(self.clone());
            }
            return self.reshape(shape);
        }
        let mut view = self.clone();
        if view.free() == 1 {
            view.dimensions.edit(|all| all.truncate(1));
        }
        while view.dimensions.len() < shape.len() {
            view.dimensions.push(Dimension { size: 1, stride: 0 });
        }
        view.spread(shape)
    }

    /// The view with other dimensions, where strides allow that without moving data.
    pub(crate) fn reshape(&self, shape: &[usize]) -> Option<Self> {
        if shape.iter().product::<usize>() != self.elements() {
            return None;
        }
        // Merge what is contiguous, then cut it anew.
        let mut merged = Dimensions::new();
        for dimension in &self.dimensions {
            if dimension.size == 1 {
                continue;
            }
            if let Some(last) = merged.last_mut()
                && last.stride == dimension.stride * dimension.size as i64
            {
                last.size *= dimension.size;
                last.stride = dimension.stride;
                continue;
            }
            merged.push(*dimension);
        }
        let one = Dimension { size: 1, stride: 1 };
        let mut dimensions: Dimensions = std::iter::repeat_n(one, shape.len()).collect();
        let mut position = shape.len();
        for run in merged.iter().rev() {
            let mut left = run.size;
            let mut stride = run.stride;
            while left > 1 {
                position = position.checked_sub(1)?;
                let size = shape[position];
                dimensions[position] = Dimension { size, stride };
                if size == 0 || left % size != 0 {
                    return None;
                }
                left /= size;
                stride *= size as i64;
            }
        }
        while position > 0 {
            position -= 1;
            if shape[position] != 1 {
                return None;
            }
        }
        Some(self.with(dimensions))
    }

    /// The block that the view sees as a whole, in the order and type in which it is stored; none if
    /// it sees a part, or another way.
    pub(crate) fn whole_block(&self) -> Option<usize> {
        let elements = self.storage.block_elements;
        let whole = self.dtype == self.storage.dtype
            && self.indirect.is_none()
            && self.elements() == elements
            && self.is_contiguous();
        let block = usize::try_from(self.offset).ok()?.checked_div(elements)?;
        (whole && block * elements == self.offset as usize).then_some(block)
    }

    /// Whether two of its elements are the same one of the tensor.
    pub(crate) fn repeats(&self) -> bool {
        if self.indirect.is_some() || self.is_contiguous() {
            return false;
        }
        let mut dimensions = self.dimensions.clone();
        dimensions.edit(|all| {
            all.retain(|it| it.size > 1);
            all.sort_by_key(|it| it.stride.unsigned_abs());
        });
        let mut reach = 0u64;
        let mut meets = false;
        for dimension in &dimensions {
            let stride = dimension.stride.unsigned_abs();
            if stride == 0 {
                return true;
            }
            meets |= stride <= reach;
            reach = reach.saturating_add(stride.saturating_mul(dimension.size as u64 - 1));
        }
        // Dimensions that interleave may or may not meet.
        if !meets || self.elements() > 1 << 22 {
            return meets;
        }
        let mut seen = HashSet::with_capacity(self.elements());
        let mut again = false;
        for_runs(&dimensions, 0, |at, count, stride| {
            for i in 0..count as i64 {
                again = again || !seen.insert(at + i * stride);
            }
        });
        again
    }

    /// Whether two of its flagged elements, in row-major order, are the same one of the tensor.
    pub(crate) fn repeats_where(&self, flags: &[bool]) -> bool {
        let mut seen = HashSet::new();
        let (mut again, mut position) = (false, 0);
        for_runs(&self.dimensions, self.offset, |at, count, stride| {
            for i in 0..count {
                let is_written = flags.get(position + i) == Some(&true);
                again |= is_written && !seen.insert(at + i as i64 * stride);
            }
            position += count;
        });
        again
    }

    /// How many elements before its first one, in its partition, the view reaches: none, or a
    /// negative number.
    pub(crate) fn back(&self) -> i64 {
        let free = self.dimensions.get(1..).unwrap_or_default();
        let reach = |it: &Dimension| it.stride * (it.size.max(1) as i64 - 1);
        free.iter().map(|it| reach(it).min(0)).sum()
    }

    /// Whether the elements lie one after the other.
    #[inline]
    pub(crate) fn is_contiguous(&self) -> bool {
        let mut expected = 1i64;
        for dimension in self.dimensions.iter().rev() {
            if dimension.size != 1 {
                if dimension.stride != expected {
                    return false;
                }
                expected *= dimension.size as i64;
            }
        }
        true
    }
}

/// Calls `f` with the offset and stride of every innermost run of a strided walk.
pub(crate) fn for_runs(dimensions: &[Dimension], offset: i64, mut f: impl FnMut(i64, usize, i64)) {
    let Some((last, outer)) = dimensions.split_last() else {
        f(offset, 1, 1);
        return;
    };
    if dimensions.iter().any(|d| d.size == 0) {
        return;
    }
    let mut position: Sizes = std::iter::repeat_n(0, outer.len()).collect();
    let mut at = offset;
    loop {
        f(at, last.size, last.stride);
        let mut d = outer.len();
        loop {
            if d == 0 {
                return;
            }
            d -= 1;
            position[d] += 1;
            at += outer[d].stride;
            if position[d] < outer[d].size {
                break;
            }
            at -= outer[d].stride * outer[d].size as i64;
            position[d] = 0;
        }
    }
}
