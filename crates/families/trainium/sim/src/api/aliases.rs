//! The check that an instruction reads nothing of what it has written itself.
//!
//! An engine streams: an element is written some cycles after its operands were read, and before
//! later elements are read (the vendor's guides to the architecture, on the cost of accesses). So
//! the same elements may be read and written in place, and those behind may be moved to the front;
//! what is shifted to the back, turned or mixed would be read after it has changed. A transfer is
//! many descriptors without an order among them.

use std::cell::RefCell;

use super::Device;
use super::hazards::runs;
use crate::diagnostic::{Failure, FailureKind, Outcome};
use crate::number_maps::Keyed;
use crate::tensor::view::{Dimension, View, for_runs};
use crate::trace::{Instruction, Operation};

/// The sources of the latest instruction that was described.
#[derive(Default)]
pub(super) struct Sources(RefCell<Vec<View>>);

impl Sources {
    pub(super) fn set(&self, sources: &[View]) {
        let mut known = self.0.borrow_mut();
        known.clear();
        known.extend_from_slice(sources);
    }
}

/// How an instruction goes through its elements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// One after the other; each is written when its operands were read.
    Stream,
    /// The same, with results when all operands were read.
    End,
    /// In no order that is known.
    None,
    /// In no order, but each to its own place.
    Transfer,
}

fn order(instruction: &Instruction, elements: [usize; 2]) -> Order {
    let [read, written] = elements;
    match instruction.operation {
        Operation::Load | Operation::Store | Operation::Move => {
            match instruction.transfer.as_ref().map_or(0, |it| it.transposed) {
                0 => Order::Transfer,
                _ => Order::None,
            }
        }
        Operation::Gather
        | Operation::VectorTranspose
        | Operation::Transpose
        | Operation::PartitionReduce
        | Operation::Exchange
        | Operation::ExchangeCompute => Order::None,
        Operation::Reduce => Order::Stream,
        _ if written < read => Order::End,
        _ => Order::Stream,
    }
}

/// Dimensions that matter, of a view whose elements keep their order.
fn shape(view: &View) -> impl Iterator<Item = &Dimension> {
    view.dimensions.iter().filter(|it| it.size != 1)
}

impl Device {
    /// Checks a destination against the sources of its instruction.
    ///
    /// # Errors
    /// `operands-overlap`, with what is read and what is written.
    pub(super) fn check_aliases(&self, instruction: &Instruction, target: &View) -> Outcome<()> {
        if instruction.reads.is_empty() {
            return Ok(());
        }
        for source in self.sources.0.borrow().iter() {
            if source.storage.id == target.storage.id && self.clashes(instruction, source, target) {
                return Err(Failure::new(
                    FailureKind::Rejected,
                    "operands-overlap",
                    format!(
                        "{} reads a part of shape {:?} of the tensor made at line {} and writes another of shape {:?} that overlaps it: elements are read after they have changed",
                        instruction.operation.name(),
                        source.shape(),
                        target.storage.line,
                        target.shape()
                    ),
                    "write to a tensor of its own, or to the very elements that are read",
                ));
            }
        }
        Ok(())
    }

    fn clashes(&self, instruction: &Instruction, source: &View, target: &View) -> bool {
        let (from, to) = (self.bounds(source), self.bounds(target));
        let order = order(instruction, [source.free(), target.free()]);
        let in_place = source.offset == target.offset
            && source.dtype == target.dtype
            && source.indirect.is_none()
            && target.indirect.is_none()
            && shape(source).eq(shape(target));
        if !from.meets(&to) || (in_place && order != Order::None) {
            return false;
        }
        if source.indirect.is_some() || target.indirect.is_some() {
            return true;
        }
        match order {
            _ if !self.overlap(source, target) => false,
            Order::None | Order::Transfer => true,
            Order::End => false,
            Order::Stream => self.read_late(source, target),
        }
    }

    /// Whether two views of one tensor, whose rows no values choose, have a byte in common.
    fn overlap(&self, one: &View, other: &View) -> bool {
        let [own, theirs] = [one, other].map(|it| self.bounds(it));
        let [mut first, mut second] = [runs(&own, one), runs(&theirs, other)];
        for runs in [&mut first, &mut second] {
            runs.sort_unstable_by_key(|run| run.start);
        }
        let mut others = second.iter().peekable();
        own.meets(&theirs)
            && first.iter().any(|run| {
                while others.next_if(|it| it.end <= run.start).is_some() {}
                others.peek().is_some_and(|it| it.start < run.end)
            })
    }

    /// Checks that two destinations of an instruction have no byte in common.
    ///
    /// # Errors
    /// `operands-overlap`, with both.
    pub(super) fn check_apart(
        &self,
        api: &str,
        (name, one): (&str, &View),
        (other_name, other): (&str, &View),
    ) -> Outcome<()> {
        if one.storage.id != other.storage.id || !self.overlap(one, other) {
            return Ok(());
        }
        Err(Failure::new(
            FailureKind::Rejected,
            "operands-overlap",
            format!(
                "{api}: `{name}` and `{other_name}` overlap in the tensor made at line {}: which of the two stays there is not determined",
                one.storage.line
            ),
            "write each to a tensor of its own",
        ))
    }

    /// Whether a byte is read after it was written, of instructions that stream.
    fn read_late(&self, source: &View, target: &View) -> bool {
        let [reads, writes] = [source, target].map(View::free);
        let steps = reads.max(writes).max(1);
        let mut written: Keyed<i64, usize> = Keyed::default();
        self.each_byte(target, |at, element| {
            // Of a reduction the result comes with its last operand.
            written.insert(at, (element + 1) * steps / writes.max(1) - 1);
        });
        let mut late = false;
        self.each_byte(source, |at, element| {
            let read = element * steps / reads.max(1);
            late = late || written.get(&at).is_some_and(|written| *written < read);
        });
        late
    }

    /// The bytes of a view in one partition, and to which element each belongs.
    fn each_byte(&self, view: &View, mut f: impl FnMut(i64, usize)) {
        let width = view.dtype.bytes() as i64;
        let start = i64::from(self.bounds(view).span.0) - view.back() * width;
        let free = view.dimensions.get(1..).unwrap_or_default();
        let mut element = 0;
        for_runs(free, 0, |at, count, stride| {
            for i in 0..count as i64 {
                let byte = start + (at + i * stride) * width;
                (byte..byte + width).for_each(|byte| f(byte, element));
                element += 1;
            }
        });
    }
}
