//! Results of instructions, on their way to the tiles that they are written to.

use std::borrow::Cow;

use super::Device;
use super::memory::check_tile;
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::dtype::Dtype;
use crate::tensor::index::Selection;
use crate::tensor::storage::Buffer;
use crate::tensor::view::{Sizes, View};
use crate::trace::{Features, Instruction, Meaning, Operation};
use autocomp_python::mix;

/// A result on its way to a tile.
pub(super) struct Output {
    /// Shape of the whole result, before masking.
    pub(super) shape: Sizes,
    pub(super) dtype: Dtype,
    pub(super) buffer: Buffer,
    pub(super) selection: Selection,
    /// Values of the selected box.
    pub(super) values: Vec<f32>,
}

/// The type of a result: the destination's, else the one asked for, else its `own`.
pub(super) fn result_type(destination: Option<&View>, asked: Option<Dtype>, own: Dtype) -> Dtype {
    destination.map_or(asked.unwrap_or(own), |view| view.dtype)
}

/// Adds an operand to what an operation is compared by: everything but where it begins.
pub(super) fn note_pattern(meaning: &mut Meaning, view: &View) {
    let mut hash = mix(meaning.pattern, view.dtype as u64);
    let mut free = 0;
    let mut inner: Option<i64> = None;
    for (at, dimension) in view.dimensions.iter().enumerate().rev() {
        if dimension.size == 1 {
            continue;
        }
        hash = mix(hash, dimension.size as u64);
        hash = mix(hash, dimension.stride as u64);
        if at > 0 {
            free += u8::from(inner != Some(dimension.stride));
            inner = Some(dimension.stride.saturating_mul(dimension.size as i64));
        }
    }
    meaning.pattern = mix(hash, view.dimensions.len() as u64);
    meaning.dimensions = meaning.dimensions.max(free);
}

impl Device {
    /// Writes a result to its destination, or to a tile of its own, and adds the instruction.
    pub(super) fn finish(
        &mut self,
        instruction: Option<Instruction>,
        output: Output,
        destination: Option<View>,
    ) -> Outcome<View> {
        let place = match destination {
            Some(view) => {
                let whole = matches!(output.selection, Selection::All);
                self.destination(view, &output.shape, output.buffer, whole)?
            }
            None => {
                let tile = self.tile(output.buffer, output.dtype, &output.shape)?;
                *tile.storage.selection.borrow_mut() = output.selection.clone();
                tile
            }
        };
        let Some(mut instruction) = instruction else {
            return Ok(place);
        };
        let (part, flags) = match &output.selection {
            Selection::Part(bounds, flags) => (Cow::Owned(place.part(bounds)), flags.as_deref()),
            _ => (Cow::Borrowed(&place), None),
        };
        if flags.is_some() {
            // What such a mask keeps is no box, and not compared.
            instruction.meaning.call = self.unlike();
            instruction.fingerprint ^= instruction.meaning.call;
        }
        self.hazards.masked = flags.is_some();
        self.write_owned(&part, output.values, flags)?;
        self.note_write(&mut instruction, &part)?;
        let position = self.emit(instruction)?;
        place.storage.producer.set(Some(position));
        Ok(place)
    }

    /// The same for a result that fills its tile, in SBUF unless its destination lies elsewhere.
    pub(super) fn finish_tile(
        &mut self,
        instruction: Instruction,
        shape: Sizes,
        dtype: Dtype,
        values: Vec<f32>,
        destination: Option<View>,
    ) -> Outcome<View> {
        let output = Output {
            shape,
            dtype,
            buffer: Buffer::Sbuf,
            selection: Selection::All,
            values,
        };
        self.finish(Some(instruction), output, destination)
    }

    /// Lets the last instruction write `values` as well.
    pub(super) fn also_write(&mut self, target: &View, values: &[f32]) -> Outcome<()> {
        self.write(target, values, None)?;
        if let Some(last) = self.trace.last_mut() {
            check_opaque(last, target)?;
        }
        let region = self.region(target);
        if let Some(last) = self.trace.last_mut() {
            last.writes.push(region);
            note_pattern(&mut last.meaning, target);
        }
        Ok(())
    }

    pub(super) fn note_write(&self, instruction: &mut Instruction, view: &View) -> Outcome<()> {
        self.check_aliases(instruction, view)?;
        check_opaque(instruction, view)?;
        instruction.writes.push(self.region(view));
        note_pattern(&mut instruction.meaning, view);
        let features: &mut Features = &mut instruction.features;
        match view.buffer() {
            Buffer::Psum => features.touches_psum = true,
            Buffer::Sbuf => features.touches_sbuf = true,
            _ => {}
        }
        features.narrow &= view.dtype.bytes() <= 2;
        Ok(())
    }

    /// Checks a destination against the shape of a result, all of which is written if `whole`.
    fn destination(
        &mut self,
        view: View,
        shape: &[usize],
        buffer: Buffer,
        whole: bool,
    ) -> Outcome<View> {
        self.check_scope(&view)?;
        self.check_mutable(&view)?;
        super::partitions::check_lanes("the result", "dst", &view)?;
        let mut shape: Sizes = shape.iter().copied().collect();
        while shape.len() < 2 {
            shape.push(1);
        }
        let fits =
            view.partitions() == shape[0] && view.elements() == shape.iter().product::<usize>();
        if !fits {
            return Err(Failure::documented(
                "err_store_dst_shape_smaller_than_other_shape",
                format!(
                    "the destination of shape {:?} does not fit a result of shape {shape:?}",
                    view.shape()
                ),
                "give the destination the shape of the result (of `double_row`, operands of [K, 2, M] and [K, 2, N] give [M, N])",
            ));
        }
        if buffer == Buffer::Psum && view.buffer() != Buffer::Psum {
            return Err(Failure::documented(
                "err_unsupported_memory",
                format!(
                    "the matrix engine writes to PSUM only, not to {}",
                    view.buffer().name()
                ),
                "allocate the destination with buffer=nl.psum and copy from there",
            ));
        }
        if !view.buffer().on_chip() {
            return Err(Failure::documented(
                "err_unsupported_memory",
                format!(
                    "an instruction writes to a tensor in {}; engines write to SBUF and PSUM",
                    view.buffer().name()
                ),
                "write to a tile in SBUF and store that with nisa.dma_copy",
            ));
        }
        check_tile(view.buffer(), view.dtype, &shape)?;
        if view.has_shape(&shape) {
            return Ok(view);
        }
        let reshaped = view.reshape(&shape);
        // A rectangle takes the result row by row.
        reshaped
            .or_else(|| whole.then_some(view.clone()))
            .ok_or_else(|| {
                Failure::documented(
                    "err_annotation_shape_mismatch",
                    format!(
                        "the destination of shape {:?} cannot be seen as {shape:?}",
                        view.shape()
                    ),
                    "give the destination the shape of the result",
                )
            })
    }

    /// Checks that a destination can be written, every element of it once.
    pub(super) fn check_mutable(&self, view: &View) -> Outcome<()> {
        self.check_writable(view)?;
        self.check_single(view, None)
    }

    /// Checks that a destination belongs to no input.
    pub(super) fn check_writable(&self, view: &View) -> Outcome<()> {
        if view.storage.immutable {
            return Err(Failure::documented(
                "err_cannot_update_immutable_parameter",
                format!(
                    "the kernel's input of shape {:?} cannot be written",
                    view.storage.shape
                ),
                "write to a tensor made with nl.ndarray(…, buffer=nl.shared_hbm) and return it",
            ));
        }
        Ok(())
    }

    /// Checks that no element of a destination is written twice; where `flags` are given, by the
    /// flagged ones.
    pub(super) fn check_single(&self, view: &View, flags: Option<&[bool]>) -> Outcome<()> {
        if view.repeats() && flags.is_none_or(|flags| view.repeats_where(flags)) {
            return Err(Failure::documented(
                "err_unsupported_destination",
                format!(
                    "a destination of shape {:?} holds the same element of the tensor made at line {} more than once; which write stays is not determined",
                    view.shape(),
                    view.storage.line
                ),
                "let every element of a destination be one of its own",
            ));
        }
        Ok(())
    }
}

/// Checks that an instruction moves elements of types that the engines do not compute with, as they
/// are, or makes them of others.
fn check_opaque(instruction: &Instruction, target: &View) -> Outcome<()> {
    let own = Some(target.dtype).filter(|it| it.is_opaque());
    let (Some(dtype), read) = (
        own.or(instruction.features.opaque),
        instruction.features.opaque,
    ) else {
        return Ok(());
    };
    let is_fine = match instruction.operation {
        Operation::Quantize | Operation::Memset => true,
        Operation::Copy | Operation::Load | Operation::Store | Operation::Move => own == read,
        _ => false,
    };
    if is_fine {
        return Ok(());
    }
    Err(Failure::documented(
        "err_unsupported_dtype",
        format!(
            "{} of {}, which is moved as it is, and computed with by nisa.quantize_mx and nisa.nc_matmul_mx only",
            instruction.operation.name(),
            dtype.name()
        ),
        "see the bytes as another type with view(dtype), or compute before it is quantized",
    ))
}
