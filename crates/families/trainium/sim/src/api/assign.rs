//! Assignment to parts of tensors, accumulation, and operators on tensors.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use super::arithmetic::Alu;
use super::operands::{Elementwise, tensor};
use super::results::Output;
use super::{Device, Dialect, Nki, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::dtype::POISON;
use crate::tensor::index::Selection;
use crate::tensor::storage::Buffer;
use crate::tensor::view::View;
use crate::trace::{Choice, Instruction, Operation};
use autocomp_python::mix;
use autocomp_python::{Binary, Comparison, Unary};

impl Device {
    /// `place[…] = value`.
    pub(crate) fn assign(&mut self, place: View, value: Value) -> Outcome<()> {
        self.begins(|| 5, [Some(&value)]);
        self.check_scope(&place)?;
        self.check_mutable(&place)?;
        if !place.buffer().on_chip() {
            return Err(Failure::documented(
                "err_unsupported_memory",
                format!("a tensor in {} is assigned to", place.buffer().name()),
                if self.dialect == Dialect::V1 {
                    "use nl.store(dst, value)"
                } else {
                    "use nisa.dma_copy(dst=…, src=…)"
                },
            ));
        }
        let place = self.operand_of("assignment", "target", place)?;
        match value {
            Value::Foreign(Nki::Tensor(view)) => {
                self.reduce_into(&place, &view)?;
                if let Some(position) = self.unnamed(&view)
                    && self.retarget(&place, &view, position, false)?
                {
                    return Ok(());
                }
                self.copy_into(&place, View::clone(&view))
            }
            other => match other.as_number() {
                Some(number) => self.fill(&place, number as f32),
                None => Err(Failure::python(
                    "type-error",
                    format!("a {} cannot be assigned to a tensor", other.type_name()),
                    "assign a tile or a number",
                )),
            },
        }
    }

    /// Adds the result of `loop_reduce` to what its place holds.
    fn reduce_into(&mut self, place: &View, value: &View) -> Outcome<()> {
        let Some(reducing) = self.reducing.take() else {
            return Ok(());
        };
        let same = reducing.storage == value.storage.id;
        if same && place.elements() == reducing.values.len() {
            let old = self.read(place)?;
            let mut values = reducing.values;
            reducing.alu.apply_all(&mut values, &old);
            self.write(value, &values, None)?;
        }
        Ok(())
    }

    /// The instruction that made this value, if nothing else refers to the value.
    fn unnamed(&self, view: &Rc<View>) -> Option<u32> {
        let whole = view.offset == 0
            && view.is_contiguous()
            && view.elements() == view.block_elements()
            && view.storage.block_rank == 0;
        if Rc::strong_count(view) == 1 && Rc::strong_count(&view.storage) == 1 && whole {
            view.storage.producer.get()
        } else {
            None
        }
    }

    /// Lets the instruction that made an unnamed value write to its place instead. False where
    /// its engine cannot.
    fn retarget(
        &mut self,
        place: &View,
        view: &View,
        position: u32,
        accumulate: bool,
    ) -> Outcome<bool> {
        let selection = &*view.storage.selection.borrow();
        let Some(producer) = self.trace.instructions.get(position as usize) else {
            return Ok(false);
        };
        let psum = place.buffer() == Buffer::Psum;
        if producer.operation == Operation::Matmul && !producer.features.inserted && !psum {
            return Err(product_outside_psum(place));
        }
        let moved = producer.transfer.is_some();
        if !moved {
            super::partitions::check_lanes("assignment", "target", place)?;
        }
        let fits = match producer.operation {
            Operation::Matmul | Operation::Transpose => psum,
            Operation::Load | Operation::Move => !psum,
            _ => !(psum && producer.choice == Choice::Fixed(crate::trace::Engine::Gpsimd)),
        };
        let shape = view.shape();
        let place = if place.has_shape(&shape) {
            Cow::Borrowed(place)
        } else if place.elements() == view.elements() && place.partitions() == view.partitions() {
            match place.reshape(&shape) {
                Some(place) => Cow::Owned(place),
                None => return Ok(false),
            }
        } else {
            return Ok(false);
        };
        if !fits {
            return Ok(false);
        }
        if producer.operation == Operation::Matmul {
            self.check_bank(&place)?;
            self.check_sum_type(&place)?;
        }
        super::operands::within(&place, None, selection, &shape)?;
        let (target, source, flags) = match selection {
            Selection::All => (place, Cow::Borrowed(view), None),
            Selection::Nothing => return Ok(true),
            Selection::Part(bounds, flags) => (
                Cow::Owned(place.part(bounds)),
                Cow::Owned(view.part(bounds)),
                flags.clone(),
            ),
        };
        let (moved, target) = match accumulate {
            true => (Cow::Borrowed(&*source), Cow::Borrowed(&*target)),
            false => (
                source.moved_with(target.dtype),
                target.moved_with(source.dtype),
            ),
        };
        if self.functional {
            let mut values = self.read_last(&moved)?;
            if accumulate {
                let old = self.read_old(&target)?;
                let mut unset = false;
                for (value, old) in values.iter_mut().zip(old) {
                    // The first product into a place overwrites what lies there.
                    match old.to_bits() == POISON {
                        true => unset = true,
                        false => *value += old,
                    }
                }
                if unset {
                    self.unset_accumulator(&target, true);
                }
            }
            self.write_owned(&target, values, flags.as_deref())?;
        } else {
            self.write(&target, &[], None)?;
        }
        if position as usize + 1 == self.trace.instructions.len() {
            self.check_aliases(&self.trace.instructions[position as usize], &target)?;
        }
        let region = self.region(&target);
        self.hazards.masked = flags.is_some();
        let instruction = &mut Arc::make_mut(&mut self.trace.instructions)[position as usize];
        match instruction.writes.first_mut() {
            Some(first) => *first = region,
            None => instruction.writes.push(region),
        }
        super::results::note_pattern(&mut instruction.meaning, &target);
        instruction.features.accumulate |= accumulate;
        instruction.features.touches_psum |= psum;
        instruction.features.touches_sbuf |= !psum;
        if target.dtype.bytes() > 2 {
            instruction.features.narrow = false;
        }
        self.check_hazards_at(position).map(|()| true)
    }

    fn copy_into(&mut self, place: &View, value: View) -> Outcome<()> {
        let value = self.operand_of("assignment", "value", value)?;
        let selection = if value.elements() == value.block_elements() {
            value.storage.selection.borrow().clone()
        } else {
            Selection::All
        };
        if selection == Selection::Nothing {
            return Ok(());
        }
        let shape = place.shape();
        let spread =
            if value.elements() == place.elements() && value.partitions() == place.partitions() {
                value.reshape(&shape).or_else(|| value.spread(&shape))
            } else {
                value.spread(&shape)
            };
        let (place, spread) = match spread {
            Some(spread) => (place.clone(), spread),
            None => match place.reshape(&value.shape()) {
                Some(place) => (place, value.clone()),
                None => {
                    return Err(Failure::documented(
                        "err_annotation_shape_mismatch",
                        format!(
                            "a value of shape {:?} is assigned to a part of shape {shape:?}",
                            value.shape()
                        ),
                        "make the shapes equal",
                    ));
                }
            },
        };
        let (mut place, mut spread) = match (&selection, spread.has_shape(&value.shape())) {
            (Selection::Part(bounds, None), true) => (place.part(bounds), spread.part(bounds)),
            _ => (place, spread),
        };
        // What keeps its type keeps its bits.
        let (from, to) = (spread.dtype, place.dtype);
        (spread.dtype, place.dtype) = (from.moved_with(to), to.moved_with(from));
        let shape = place.shape();
        self.elementwise(
            Elementwise {
                operation: Operation::Copy,
                choice: Choice::VectorOrScalar,
                inputs: vec![spread],
                streams: 1,
                shape,
                dtype: place.dtype,
                buffer: place.buffer(),
                mask: None,
                destination: Some(place),
            },
            |mut inputs| inputs.swap_remove(0),
        )?;
        Ok(())
    }

    /// Sets every element of a part.
    pub(super) fn fill(&mut self, place: &View, value: f32) -> Outcome<()> {
        self.fill_on(Choice::VectorOrGpsimd, place, value)
    }

    /// The same on an engine of one's choice.
    pub(super) fn fill_on(&mut self, choice: Choice, place: &View, value: f32) -> Outcome<()> {
        let mut instruction = Instruction::new(Operation::Memset, choice, self.line);
        instruction.partitions = place.partitions() as u16;
        instruction.free = place.free() as u32;
        instruction.features.narrow = place.dtype.bytes() <= 2;
        let values = if self.functional {
            vec![value; place.elements()]
        } else {
            Vec::new()
        };
        let output = Output {
            shape: place.shape(),
            dtype: place.dtype,
            buffer: place.buffer(),
            selection: Selection::All,
            values,
        };
        self.finish_anywhere(instruction, output, place)
    }

    fn finish_anywhere(
        &mut self,
        mut instruction: Instruction,
        output: Output,
        place: &View,
    ) -> Outcome<()> {
        self.write(place, &output.values, None)?;
        self.note_write(&mut instruction, place)?;
        self.emit(instruction)?;
        Ok(())
    }

    /// `view += value` and the like.
    pub(crate) fn augment(
        &mut self,
        view: &Rc<View>,
        operator: Binary,
        value: Value,
    ) -> Outcome<()> {
        self.begins(|| mix(1, operator as u64), [None, Some(&value)]);
        self.check_mutable(view)?;
        let place = self.operand_of("augmented assignment", "target", View::clone(view))?;
        if let (Value::Foreign(Nki::Tensor(addend)), Binary::Add) = (&value, operator) {
            let selection = addend.storage.selection.borrow().clone();
            if selection == Selection::Nothing && addend.elements() == addend.block_elements() {
                return Ok(());
            }
            if let Some(position) = self.unnamed(addend) {
                let matrix = self
                    .trace
                    .instructions
                    .get(position as usize)
                    .is_some_and(|i| i.operation == Operation::Matmul && !i.features.inserted);
                if matrix && place.buffer() != Buffer::Psum {
                    return Err(product_outside_psum(&place));
                }
                if matrix {
                    let addend = View::clone(addend);
                    drop(value);
                    if self.retarget(&place, &addend, position, true)? {
                        return Ok(());
                    }
                    return Err(Failure::documented(
                        "err_annotation_shape_mismatch",
                        format!(
                            "a product of shape {:?} is accumulated into a part of shape {:?}",
                            addend.shape(),
                            place.shape()
                        ),
                        "make the shapes equal",
                    ));
                }
            }
        }
        let alu = Alu::from_operator(operator).ok_or_else(unsupported_operator)?;
        if place.storage.is_unset() && place.buffer().on_chip() {
            self.unset_accumulator(&place, false);
        }
        // A running total is an accumulation: affine loops may carry it.
        self.accumulating = Some(operator);
        let result = self.combine(
            alu,
            tensor(place.clone()),
            value,
            None,
            None,
            Some(place),
            false,
        );
        self.accumulating = None;
        result.map(|_| ())
    }

    /// Remarks that something is added to what nothing has set; whether it is a product, the first
    /// of which overwrites.
    pub(super) fn unset_accumulator(&mut self, place: &View, product: bool) {
        let end = match product {
            true => "; the first product is taken for its first value, as on the device",
            false => ", so that the sum is undefined",
        };
        let made = place.storage.line;
        self.remark(
            "unset-accumulator",
            format!(
                "this adds to the tensor made at line {made}, which nothing has set{end}; make it with nl.zeros, or assign the first value"
            ),
        );
    }

    /// An operator with a tensor among its operands.
    pub(crate) fn binary_operator(
        &mut self,
        operator: Binary,
        left: Value,
        right: Value,
    ) -> Outcome<Value> {
        self.begins(|| mix(2, operator as u64), [Some(&left), Some(&right)]);
        let alu = Alu::from_operator(operator).ok_or_else(unsupported_operator)?;
        if self.dialect == Dialect::V2 {
            return Err(Failure::unsupported(
                "operator-on-tensor",
                "tensors of the second dialect have no operators",
                "use nl.add and the like, or nisa.tensor_tensor and nisa.tensor_scalar with dst=",
            ));
        }
        self.combine(alu, left, right, None, None, None, false)
            .map(tensor)
    }

    pub(crate) fn compare_operator(
        &mut self,
        operator: Comparison,
        left: Value,
        right: Value,
    ) -> Outcome<Value> {
        self.begins(|| mix(3, operator as u64), [Some(&left), Some(&right)]);
        let alu = match operator {
            Comparison::Equal => Alu::Equal,
            Comparison::NotEqual => Alu::NotEqual,
            Comparison::Less => Alu::Less,
            Comparison::LessEqual => Alu::LessEqual,
            Comparison::Greater => Alu::Greater,
            Comparison::GreaterEqual => Alu::GreaterEqual,
            _ => return Err(unsupported_operator()),
        };
        if self.dialect == Dialect::V2 {
            return Err(unsupported_operator());
        }
        self.combine(
            alu,
            left,
            right,
            None,
            Some(crate::tensor::dtype::Dtype::Uint8),
            None,
            false,
        )
        .map(tensor)
    }

    pub(crate) fn unary_operator(&mut self, operator: Unary, value: Value) -> Outcome<Value> {
        self.begins(|| mix(4, operator as u64), [Some(&value)]);
        if self.dialect == Dialect::V2 {
            return Err(unsupported_operator());
        }
        match operator {
            Unary::Negate => self
                .combine(
                    Alu::Multiply,
                    value,
                    Value::Float(-1.0),
                    None,
                    None,
                    None,
                    true,
                )
                .map(tensor),
            Unary::Plus => Ok(value),
            _ => Err(unsupported_operator()),
        }
    }
}

/// A product goes to the accumulators and nowhere else (`nki.isa.nc_matmul`; the compiler says
/// "Matmult dst tensor is not psum").
fn product_outside_psum(place: &View) -> Box<Failure> {
    Failure::documented(
        "err_unsupported_memory",
        format!(
            "a product is written straight into the tensor in {} made at line {}; the matrix engine writes to PSUM only",
            place.buffer().name(),
            place.storage.line
        ),
        "allocate it with buffer=nl.psum and copy it out with nl.copy, or give the product a name and copy or add that",
    )
}

fn unsupported_operator() -> Box<Failure> {
    Failure::unsupported(
        "operator-on-tensor",
        "this operator does not work on tensors",
        "use the functions of nl or the instructions of nisa; nl.matmul and nisa.nc_matmul for products",
    )
}
