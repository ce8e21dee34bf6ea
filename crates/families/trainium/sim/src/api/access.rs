//! Subscripts of tensors.

use std::borrow::Cow;
use std::rc::Rc;

use super::{Device, Nki, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::index::{Index, Mask, broadcast};
use crate::tensor::view::{Dimension, Dimensions, Indirect, View};
use autocomp_python::Items;

impl Device {
    /// `view[index]`.
    pub(crate) fn subscript(&mut self, view: &View, index: &Value) -> Outcome<Value> {
        self.check_scope(view)?;
        // `tile[mask]`: what the mask excludes counts as zero in a product.
        let mask = match index {
            Value::Foreign(Nki::Mask(mask)) => Some(Rc::clone(mask)),
            Value::Bool(keep) => Some(Rc::new(Mask {
                conditions: Vec::new(),
                never: !keep,
            })),
            _ => None,
        };
        if let Some(mask) = mask {
            let mut masked = view.clone();
            masked.mask = Some(match &view.mask {
                Some(old) => Rc::new(old.and(&mask)),
                None => mask,
            });
            return Ok(super::operands::tensor(masked));
        }
        // `tile[...]` is the whole tile.
        if matches!(index, Value::Ellipsis) && view.open_blocks == 0 && !view.dimensions.is_empty()
        {
            return Ok(super::operands::tensor(view.clone()));
        }
        let parts: &[Value] = match index {
            Value::Tuple(items) => &items.0,
            other => std::slice::from_ref(other),
        };
        let given = parts
            .iter()
            .filter(|p| !matches!(p, Value::None | Value::Ellipsis))
            .count();
        let rank = view.dimensions.len();
        if given > rank {
            return Err(Failure::python(
                "index-error",
                format!("{given} indices for a tensor of shape {:?}", view.shape()),
                "give one index for each dimension",
            ));
        }
        // One index for each dimension.
        let ellipsis = |part: &Value| matches!(part, Value::Ellipsis);
        let full = match parts.iter().filter(|it| ellipsis(it)).count() {
            0 => Cow::Borrowed(parts),
            1 => {
                let whole = Value::Slice(Rc::new(Items(vec![Value::None; 3])));
                let filled = parts.iter().flat_map(|part| match ellipsis(part) {
                    true => std::iter::repeat_n(&whole, rank - given),
                    false => std::iter::repeat_n(part, 1),
                });
                Cow::Owned(filled.cloned().collect())
            }
            _ => {
                return Err(Failure::python(
                    "index-error",
                    "two ellipses in one index",
                    "use one",
                ));
            }
        };
        let advanced = full
            .iter()
            .any(|p| matches!(p, Value::Foreign(Nki::Index(_))));
        let result = if advanced {
            self.advanced(view, &full)?
        } else {
            self.basic(view, &full)?
        };
        Ok(super::operands::tensor(result))
    }

    fn basic(&mut self, view: &View, parts: &[Value]) -> Outcome<View> {
        let mut result = view.with(Dimensions::new());
        let mut dimensions = Dimensions::new();
        let mut own = 0;
        let mut open_blocks = 0u32;
        for part in parts {
            if matches!(part, Value::None) {
                dimensions.push(Dimension { size: 1, stride: 0 });
                continue;
            }
            let Some(dimension) = view.dimensions.get(own).copied() else {
                break;
            };
            let block = own < view.open_blocks as usize;
            let partition = view.buffer().on_chip() && own == view.open_blocks as usize;
            own += 1;
            let size = dimension.size as i64;
            let (start, count, step) = match part {
                Value::Slice(items) => {
                    self.check_slice(&items.0, dimension.size, own - 1, view)?;
                    let (start, stop, step) =
                        autocomp_python::slice_bounds(&items.0, dimension.size)?;
                    let count = if step > 0 {
                        (stop - start).saturating_add(step - 1).max(0) / step
                    } else {
                        (start - stop - 1).saturating_sub(step).max(0) / step.saturating_neg()
                    };
                    (start, Some(count), step)
                }
                Value::Window(start, count) | Value::DeviceWindow(start, count) => {
                    result.by_register |= matches!(part, Value::DeviceWindow(..));
                    (*start, Some(*count), 1)
                }
                Value::Foreign(Nki::Tensor(rows)) => {
                    if own != 1 || view.buffer().on_chip() {
                        return Err(Failure::documented(
                            "err_indirect_indices_free_dim",
                            "an index tile can choose rows of the first dimension in main memory only",
                            "move the indexed dimension to the front",
                        ));
                    }
                    let count = rows.partitions();
                    result.indirect = Some(Rc::new(Indirect {
                        rows: View::clone(rows),
                        stride: dimension.stride,
                        limit: dimension.size,
                        dimension: 0,
                    }));
                    dimensions.push(Dimension {
                        size: count,
                        stride: 0,
                    });
                    continue;
                }
                other => match other.as_int() {
                    Some(at) => (if at < 0 { at + size } else { at }, None, 1),
                    None => {
                        return Err(Failure::python(
                            "type-error",
                            format!("a {} is no index of a tensor", other.type_name()),
                            "use whole numbers, slices, nl.ds or index expressions",
                        ));
                    }
                },
            };
            if let Some(count) = count {
                self.ask("a size", count as u64)?;
            }
            let reach = (count.unwrap_or(1).saturating_sub(1)).max(0);
            let last = start.saturating_add(reach.saturating_mul(step));
            let empty = count == Some(0);
            if !empty
                && (start < 0
                    || start >= size
                    || last < 0
                    || last >= size
                    || count.is_some_and(|c| c < 0))
            {
                return Err(out_of_bounds(
                    view,
                    own - 1,
                    start.min(last),
                    start.max(last),
                ));
            }
            result.offset += start * dimension.stride;
            match count {
                Some(count) => {
                    if block {
                        open_blocks += 1;
                    }
                    dimensions.push(Dimension {
                        size: count as usize,
                        stride: dimension.stride * step,
                    });
                }
                // The partition dimension stays.
                None if partition => dimensions.push(Dimension {
                    size: 1,
                    stride: dimension.stride,
                }),
                None => {}
            }
        }
        for (position, dimension) in view.dimensions.iter().enumerate().skip(own) {
            if position < view.open_blocks as usize {
                open_blocks += 1;
            }
            dimensions.push(*dimension);
        }
        result.open_blocks = open_blocks;
        if view.buffer().on_chip() {
            while dimensions.len() < 2 + open_blocks as usize {
                dimensions.push(Dimension { size: 1, stride: 1 });
            }
        }
        result.dimensions = dimensions;
        Ok(result)
    }

    /// Slices beyond the end are errors on a device: Python would shorten them silently.
    fn check_slice(
        &self,
        parts: &[Value],
        size: usize,
        position: usize,
        view: &View,
    ) -> Outcome<()> {
        for part in parts {
            if matches!(
                part,
                Value::Foreign(Nki::Index(_)) | Value::Foreign(Nki::Grid(_))
            ) {
                return Err(Failure::documented(
                    "err_unsupported_mixing_basic_advanced_tensor_indexing",
                    "a slice is bounded by an index expression",
                    "use nl.ds(start, size), or index expressions in every dimension",
                ));
            }
        }
        let (low, high) = (
            parts.first().and_then(Value::as_int),
            parts.get(1).and_then(Value::as_int),
        );
        if let Some(high) = high
            && high > size as i64
        {
            return Err(out_of_bounds(view, position, low.unwrap_or(0), high - 1));
        }
        Ok(())
    }

    fn advanced(&mut self, view: &View, parts: &[Value]) -> Outcome<View> {
        let mixed = || {
            Failure::documented(
                "err_unsupported_mixing_basic_advanced_tensor_indexing",
                "slices and index expressions are mixed in one subscript",
                "use index expressions such as nl.arange(n)[None, :] in every dimension",
            )
        };
        let mut shape: Vec<usize> = Vec::new();
        let mut indices: Vec<Option<Index>> = Vec::new();
        let mut rows = None;
        for (position, part) in parts.iter().enumerate() {
            match part {
                Value::Foreign(Nki::Index(index)) => {
                    if index.shape.len() == 1 {
                        return Err(Failure::documented(
                            "err_1d_arange_not_supported",
                            "an nl.arange of one dimension is used as an index",
                            "give it the dimensions of the tile: nl.arange(n)[:, None]",
                        ));
                    }
                    shape = broadcast(&shape, &index.shape).ok_or_else(|| {
                        Failure::documented(
                            "err_annotation_shape_mismatch",
                            "the index expressions do not broadcast to one shape",
                            "give each its own dimension with [:, None]",
                        )
                    })?;
                    indices.push(Some(Index::clone(index)));
                }
                Value::Foreign(Nki::Tensor(tile)) if position == 0 && !view.buffer().on_chip() => {
                    let count = tile.partitions();
                    shape = broadcast(&shape, &[count, 1]).ok_or_else(mixed)?;
                    rows = Some(Rc::clone(tile));
                    indices.push(None);
                }
                Value::Foreign(Nki::Tensor(_)) => {
                    return Err(Failure::documented(
                        "err_indirect_indices_free_dim",
                        "an index tile can choose rows of the first dimension in main memory only",
                        "move the indexed dimension to the front",
                    ));
                }
                Value::Slice(_) | Value::Window(..) | Value::DeviceWindow(..) | Value::None => {
                    return Err(mixed());
                }
                other => match other.as_int() {
                    Some(n) => {
                        let n = if n < 0 {
                            n.saturating_add(
                                view.dimensions.get(position).map_or(0, |d| d.size) as i64
                            )
                        } else {
                            n
                        };
                        indices.push(Some(Index {
                            shape: Vec::new(),
                            coefficients: Vec::new(),
                            constant: n,
                        }));
                    }
                    None => return Err(mixed()),
                },
            }
        }
        if indices.len() < view.dimensions.len() {
            return Err(Failure::python(
                "index-error",
                format!(
                    "{} index expressions for a tensor of shape {:?}",
                    indices.len(),
                    view.shape()
                ),
                "give an index for every dimension",
            ));
        }
        let rank = shape.len();
        let mut strides = vec![0i64; rank];
        let mut result = view.with(Dimensions::new());
        for (at, (index, dimension)) in indices.iter().zip(&view.dimensions).enumerate() {
            let Some(index) = index else {
                if let Some(rows) = &rows {
                    result.indirect = Some(Rc::new(Indirect {
                        rows: View::clone(rows),
                        stride: dimension.stride,
                        limit: dimension.size,
                        dimension: 0,
                    }));
                }
                continue;
            };
            // Where an index leads out of what can be counted, it leaves the tensor.
            let scaled = |count: i64, onto: i64| {
                let product = count.checked_mul(dimension.stride);
                let sum = product.and_then(|it| it.checked_add(onto));
                let (low, high) = index.bounds();
                sum.filter(|it| it.unsigned_abs() < 1 << 60)
                    .ok_or_else(|| out_of_bounds(view, at, low, high))
            };
            let skip = rank - index.shape.len();
            for (at, coefficient) in index.coefficients.iter().enumerate() {
                if index.shape[at] > 1 {
                    strides[skip + at] = scaled(*coefficient, strides[skip + at])?;
                }
            }
            result.offset = scaled(index.constant, result.offset)?;
        }
        let limits: Vec<(Index, usize)> = indices
            .into_iter()
            .zip(&view.dimensions)
            .filter_map(|(index, dimension)| index.map(|i| (i, dimension.size)))
            .filter(|(index, size)| {
                let (low, high) = index.bounds();
                low < 0 || high >= *size as i64
            })
            .collect();
        result.dimensions = shape
            .iter()
            .zip(&strides)
            .map(|(size, stride)| Dimension {
                size: *size,
                stride: *stride,
            })
            .collect();
        result.open_blocks = 0;
        if !limits.is_empty() {
            let mut conditions = Vec::new();
            for (index, size) in limits {
                if let Some(reverse) = index.scale(-1).and_then(|i| i.shift(size as i64 - 1)) {
                    conditions.push(reverse);
                }
                conditions.push(index);
            }
            // A mask may keep these inside; whoever uses the view checks.
            result.limits = Some(Rc::new(Mask {
                conditions,
                never: false,
            }));
        }
        if view.buffer().on_chip() {
            let partitions = view.dimensions.get(view.open_blocks as usize);
            let own = partitions.map_or(0, |d| d.stride);
            let misplaced = result.dimensions.iter().skip(1).any(|d| {
                d.size > 1
                    && d.stride.abs() >= own
                    && own > 0
                    && d.stride % own == 0
                    && view.dimensions.len() > view.open_blocks as usize + 1
            });
            let first = result.dimensions.first().copied();
            let first_moves_free = first.is_some_and(|d| d.size > 1 && d.stride.abs() < own);
            if misplaced && first_moves_free {
                return Err(Failure::documented(
                    "err_leading_dimension_of_tensor_must_be_partition",
                    "the partition dimension of a tile on the chip must stay first",
                    "index it with nl.arange(n)[:, None]; transpose with nisa.nc_transpose",
                ));
            }
        }
        Ok(result)
    }
}

pub(super) fn out_of_bounds(view: &View, dimension: usize, low: i64, high: i64) -> Box<Failure> {
    Failure::documented(
        "err_tensor_access_out_of_bound",
        format!(
            "indices {low} to {high} leave dimension {dimension} (size {}) of a tensor of shape {:?}",
            view.dimensions.get(dimension).map_or(0, |d| d.size),
            view.shape()
        ),
        "mask what lies beyond the end, or shorten the last tile",
    )
}
