//! What instructions have in common: operands, masks, engines.

use std::fmt::Display;
use std::rc::Rc;

use super::memory::check_tile;
use super::results::{Output, note_pattern};
use super::{Bound, Device, Dialect, Nki, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::dtype::Dtype;
use crate::tensor::index::{Mask, Selection};
use crate::tensor::storage::Buffer;
use crate::tensor::view::{Sizes, View};
use crate::trace::{Choice, Instruction, Operation};

/// Free dimensions of an access pattern.
const FREE: usize = 4;
/// Elements in each partition whose time an instruction takes at least.
const LEAST: u32 = 64;

/// Sizes of the free dimensions that an access pattern needs: those that lie one inside the other
/// are one.
fn free_dimensions(view: &View) -> Vec<usize> {
    let mut found: Vec<(usize, i64)> = Vec::new();
    for dimension in view.dimensions.iter().skip(1).filter(|d| d.size > 1) {
        match found.last_mut() {
            Some((size, stride)) if *stride == dimension.stride * dimension.size as i64 => {
                (*size, *stride) = (*size * dimension.size, dimension.stride);
            }
            _ => found.push((dimension.size, dimension.stride)),
        }
    }
    found.into_iter().map(|(size, _)| size).collect()
}

/// Into how many pieces an instruction is cut whose operand needs more free dimensions than an
/// access pattern has.
fn pieces(view: &View) -> usize {
    if view.dimensions.len() <= FREE + 1 {
        return 1;
    }
    let sizes = free_dimensions(view);
    let beyond = sizes.len().saturating_sub(FREE);
    sizes[..beyond].iter().product::<usize>().min(1 << 16)
}

/// An element-wise instruction about to be run.
pub(super) struct Elementwise {
    pub(super) operation: Operation,
    pub(super) choice: Choice,
    /// Operands spread to `shape`; the first `streams` of them are read element by element.
    pub(super) inputs: Vec<View>,
    pub(super) streams: usize,
    pub(super) shape: Sizes,
    pub(super) dtype: Dtype,
    pub(super) buffer: Buffer,
    pub(super) mask: Option<Mask>,
    pub(super) destination: Option<View>,
}

impl Elementwise {
    /// An instruction on all elements of one tile, whose result lies in SBUF unless
    /// Elements of the result.
    pub(super) fn elements(&self) -> u64 {
        self.shape.iter().product::<usize>() as u64
    }

    /// `destination` lies elsewhere.
    pub(super) fn of_one(
        operation: Operation,
        choice: Choice,
        tile: View,
        dtype: Dtype,
        mask: Option<Mask>,
        destination: Option<View>,
    ) -> Self {
        Self {
            operation,
            choice,
            shape: tile.shape(),
            inputs: vec![tile],
            streams: 1,
            dtype,
            buffer: Buffer::Sbuf,
            mask,
            destination,
        }
    }
}

/// What `reduce_res` must be told that has no element for each of `partitions`.
pub(super) fn not_a_column(target: &View, partitions: usize) -> Box<Failure> {
    Failure::documented(
        "err_annotation_shape_mismatch",
        format!("`reduce_res` has shape {:?}", target.shape()),
        format!("give it the shape ({partitions}, 1)"),
    )
}

impl Device {
    /// Checks that a view can be the operand of an instruction of an engine.
    pub(super) fn operand(&mut self, bound: &Bound, name: &str, view: View) -> Outcome<View> {
        super::partitions::check_start(self, bound.api, name, &view)?;
        self.operand_of(bound.api, name, view)
    }

    /// The same for what `api` calls `name`.
    pub(super) fn operand_of(
        &mut self,
        api: impl Display,
        name: &str,
        mut view: View,
    ) -> Outcome<View> {
        self.check_scope(&view)?;
        if !view.buffer().on_chip() {
            return Err(Failure::documented(
                "err_unsupported_memory",
                format!(
                    "{api}: `{name}` of shape {:?} is in {}; the engines read SBUF and PSUM",
                    view.shape(),
                    view.buffer().name()
                ),
                if self.dialect == Dialect::V1 {
                    "load it into SBUF first with nl.load"
                } else {
                    "copy it into SBUF first with nisa.dma_copy"
                },
            ));
        }
        if view.open_blocks > 0 {
            return Err(Failure::documented(
                "err_failed_to_infer_tile_from_local_tensor",
                format!(
                    "{api}: `{name}` of shape {:?} still has block dimensions",
                    view.shape()
                ),
                "index every dimension before the partition dimension",
            ));
        }
        if view.indirect.is_some() {
            return Err(Failure::documented(
                "err_indirect_indices_are_not_supported_with_nki_api",
                format!("{api}: `{name}` is indexed by a tile; only transfers can do that"),
                "gather with nl.load or nisa.dma_copy first",
            ));
        }
        while view.dimensions.len() < 2 {
            view.dimensions
                .push(crate::tensor::view::Dimension { size: 1, stride: 1 });
        }
        super::partitions::check_lanes(&api, name, &view)?;
        if view.partitions() > super::memory::PARTITIONS {
            return Err(Failure::documented(
                "err_num_partition_exceed_arch_limit",
                format!(
                    "{api}: `{name}` of shape {:?} has more than 128 partitions",
                    view.shape()
                ),
                "cut the first dimension into tiles of 128 rows",
            ));
        }
        if view.free() > super::memory::SBUF_FREE {
            return Err(Failure::documented(
                "err_size_of_dimension_exceed_arch_limit",
                format!(
                    "{api}: `{name}` of shape {:?} has {} elements in each partition; an instruction takes {} at most",
                    view.shape(),
                    view.free(),
                    super::memory::SBUF_FREE
                ),
                "tile the free dimensions",
            ));
        }
        // Most views have few dimensions.
        let free = match view.dimensions.len() {
            0..=FREE => 0,
            _ => free_dimensions(&view).len(),
        };
        if free > FREE && self.dialect == Dialect::V1 {
            self.remark(
                "access-pattern-in-pieces",
                format!(
                    "{api}: `{name}` needs {free} free dimensions in its access pattern; there are {FREE}, so the compiler cuts the instruction into pieces"
                ),
            );
        } else if free > FREE {
            return Err(Failure::documented(
                "err_exceed_max_supported_dimension",
                format!(
                    "{api}: `{name}` needs {free} free dimensions in its access pattern; there are {FREE}"
                ),
                "merge dimensions, or copy into a simpler layout first",
            ));
        }
        Ok(view)
    }

    pub(super) fn check_scope(&self, view: &View) -> Outcome<()> {
        if view.buffer().on_chip() && self.dialect == Dialect::V1 && !self.in_scope(&view.storage) {
            return Err(Failure::documented(
                "err_local_variable_used_out_of_scope",
                format!(
                    "the tensor made at line {} belongs to a loop or branch that has ended",
                    view.storage.line
                ),
                "allocate it before the loop or branch and assign to it with x[...] = …",
            ));
        }
        Ok(())
    }

    /// A view in SBUF with the same contents; copies out of the accumulators if need be.
    pub(super) fn in_sbuf(&mut self, view: View) -> Outcome<View> {
        if view.buffer() != Buffer::Psum {
            return Ok(view);
        }
        let dtype = view.dtype;
        let copied = self.copied(view, dtype, None)?;
        if let Some(last) = self.trace.last_mut() {
            last.features.inserted = true;
        }
        copied.storage.producer.set(None);
        Ok(copied)
    }

    /// Runs an element-wise instruction.
    pub(super) fn elementwise(
        &mut self,
        request: Elementwise,
        compute: impl FnOnce(Vec<Vec<f32>>) -> Vec<f32>,
    ) -> Outcome<View> {
        let Elementwise {
            operation,
            choice,
            inputs,
            streams,
            shape,
            dtype,
            buffer,
            mask,
            destination,
        } = request;
        // Operands spread to a shape can be much larger than those that were checked.
        let mut whole = shape.clone();
        while whole.len() < 2 {
            whole.push(1);
        }
        check_tile(Buffer::Sbuf, dtype, &whole)?;
        let selection = select(mask.as_ref(), &shape)?;
        for view in &inputs {
            within(view, mask.as_ref(), &selection, &shape)?;
            super::partitions::check_lanes(operation.name(), "an operand", view)?;
        }
        let parts: Vec<View> = match &selection {
            Selection::Part(bounds, _) => inputs.iter().map(|v| v.part(bounds)).collect(),
            _ => inputs,
        };
        let mut values = Vec::new();
        let mut instruction = None;
        if selection != Selection::Nothing {
            if self.functional {
                let mut data = Vec::with_capacity(parts.len());
                for part in &parts {
                    data.push(self.read(part)?);
                }
                values = compute(data);
            }
            let mut one = Instruction::new(operation, choice, self.line);
            one.features.quotient = std::mem::take(&mut self.quotient);
            let bounds = selected_shape(&selection, &shape);
            one.partitions = bounds.first().copied().unwrap_or(1) as u16;
            one.free = bounds.iter().skip(1).product::<usize>() as u32;
            // Each further piece costs what an instruction costs at least.
            let pieces = parts.iter().map(pieces).max().unwrap_or(1);
            one.free = one.free.saturating_add((pieces as u32 - 1) * LEAST);
            self.describe(&mut one, &parts, streams);
            instruction = Some(one);
        }
        self.finish(
            instruction,
            Output {
                shape,
                dtype,
                buffer,
                selection,
                values,
            },
            destination,
        )
    }

    /// Runs an element-wise instruction that changes the elements of its one operand.
    pub(super) fn change(
        &mut self,
        request: Elementwise,
        change: impl FnOnce(&mut [f32]),
    ) -> Outcome<View> {
        self.elementwise(request, |mut inputs| {
            let mut values = inputs.pop().unwrap_or_default();
            change(&mut values);
            values
        })
    }

    /// Copies a tile to SBUF, as numbers of another type if need be.
    pub(super) fn copied(&mut self, tile: View, dtype: Dtype, mask: Option<Mask>) -> Outcome<View> {
        let (copy, engines) = (Operation::Copy, Choice::VectorOrScalar);
        let request = Elementwise::of_one(copy, engines, tile, dtype, mask, None);
        self.change(request, |_| ())
    }

    /// Fills in what a cost depends on from the operands.
    pub(super) fn describe(&self, instruction: &mut Instruction, inputs: &[View], streams: usize) {
        // Columns and numbers are there before anything is streamed.
        self.sources.set(&inputs[..streams.min(inputs.len())]);
        let features = &mut instruction.features;
        features.narrow = true;
        for (position, view) in inputs.iter().enumerate() {
            instruction.reads.push(self.region(view));
            note_pattern(&mut instruction.meaning, view);
            features.opaque = features
                .opaque
                .or(Some(view.dtype).filter(|it| it.is_opaque()));
            let psum = view.buffer() == Buffer::Psum;
            features.touches_psum |= psum;
            features.touches_sbuf |= !psum;
            if position < streams {
                features.psum_inputs += u8::from(psum);
                features.narrow &= view.dtype.bytes() <= 2 && !psum;
                let inner = view.dimensions.iter().rev().find(|d| d.size > 1);
                let stride =
                    inner.map_or(1, |d| d.stride.unsigned_abs()) * view.dtype.bytes() as u64;
                features.unit_stride &= stride < 16;
            }
        }
    }
}

/// Applies an optional mask to a shape.
pub(super) fn select(mask: Option<&Mask>, shape: &[usize]) -> Outcome<Selection> {
    match mask {
        None if shape.contains(&0) => Ok(Selection::Nothing),
        None => Ok(Selection::All),
        Some(mask) => mask.select(shape).ok_or_else(|| {
            Failure::documented(
                "err_unsupported_expression_in_mask",
                format!("the mask has more dimensions than the tile of shape {shape:?}"),
                "build the mask from the index expressions of the tile",
            )
        }),
    }
}

/// Checks that a selection keeps the index expressions of a view inside its tensor.
pub(super) fn within(
    view: &View,
    mask: Option<&Mask>,
    selection: &Selection,
    shape: &[usize],
) -> Outcome<()> {
    let Some(limits) = &view.limits else {
        return Ok(());
    };
    let both = match mask {
        Some(mask) => mask.and(limits),
        None => Mask::clone(limits),
    };
    if *selection == Selection::Nothing || both.select(shape).as_ref() == Some(selection) {
        return Ok(());
    }
    Err(Failure::documented(
        "err_tensor_access_out_of_bound",
        format!(
            "the index expressions leave the tensor of shape {:?} made at line {}",
            view.storage.shape, view.storage.line
        ),
        "mask what lies beyond the end, or shorten the last tile",
    ))
}

/// Shape of the selected box.
pub(super) fn selected_shape(selection: &Selection, shape: &[usize]) -> Sizes {
    match selection {
        Selection::Part(bounds, _) => bounds.iter().map(|(low, high)| high - low).collect(),
        _ => shape.iter().copied().collect(),
    }
}

/// Wraps a view as a value.
pub(super) fn tensor(view: View) -> Value {
    Value::Foreign(Nki::Tensor(Rc::new(view)))
}
