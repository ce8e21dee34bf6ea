//! What a core brings to a meeting with the other, and takes away from it.

use std::sync::Arc;

use super::in_order;
use crate::api::Device;
use crate::cores::{Meeting, Message, Shown};
use crate::diagnostic::{Failure, FailureKind, Outcome};
use crate::tensor::accesses::Race;
use crate::tensor::storage::{Shared, Storage};
use crate::tensor::view::View;
use crate::trace::{Choice, Engine, Instruction, Operation};

/// Work for each element of the pages that were touched: to find what was written, to compare it
/// with what the other core touched, to copy it, and to take over what the other wrote.
const ELEMENT_WORK: u64 = 4;

/// Work for each tensor.
const TENSOR_WORK: u64 = 100;

impl Device {
    /// Meets the other core on shared tensors; the values that it brings.
    pub(super) fn meet(
        &mut self,
        meeting: Meeting,
        values: Vec<f32>,
        on: &[Shared],
    ) -> Outcome<Vec<f32>> {
        let at_end = meeting == Meeting::End;
        for storage in on {
            self.spend(TENSOR_WORK + ELEMENT_WORK * looked_at(storage))?;
        }
        self.spend(values.len() as u64)?;
        let own: Arc<[Shown]> = on.iter().map(|it| self.show(it)).collect::<Outcome<_>>()?;
        let Some(link) = &self.link else {
            return Ok(values);
        };
        let other = link.meet(Message {
            meeting,
            line: self.line,
            values,
            made: self.shared.made(),
            tensors: Arc::clone(&own),
        })?;
        let rank = link.rank;
        if at_end && self.shared.made() != other.made {
            return Err(apart(rank, self.shared.made(), other.made));
        }
        // Of what one core has no more, nothing can be seen there.
        let mut others = other.tensors.iter().peekable();
        for (storage, own) in on.iter().zip(own.iter()) {
            while others.next_if(|it| it.place < own.place).is_some() {}
            let Some(other) = others.next_if(|it| it.place == own.place) else {
                continue;
            };
            if (own.dtype, &own.shape) != (other.dtype, &other.shape) {
                return Err(other_tensor(rank, own, other));
            }
            if let Some(race) = own.touched.race(&other.touched) {
                return Err(raced(rank, storage, &race));
            }
            self.spend(ELEMENT_WORK * other.touched.looked_at())?;
            self.take_over(storage, other)?;
        }
        Ok(other.values)
    }

    /// Adds that an engine waits for the other core, before anything more is done to `tensors`.
    pub(super) fn wait_for_other(&mut self, engine: Engine, tensors: &[Shared]) -> Outcome<()> {
        let mut one = Instruction::new(Operation::Barrier, Choice::Fixed(engine), self.line);
        for tensor in tensors {
            let region = self.region(&View::whole(tensor));
            one.reads.push(region);
            one.writes.push(region);
        }
        self.emit(one)?;
        Ok(())
    }
}

fn looked_at(storage: &Storage) -> u64 {
    let sharing = storage.sharing.get();
    sharing.map_or(0, |it| it.touched.borrow().looked_at())
}

fn raced(rank: usize, storage: &Storage, race: &Race) -> Box<Failure> {
    let does = |(line, writes): (u32, bool)| match writes {
        true => format!("writes it at line {line}"),
        false => format!("reads it at line {line}"),
    };
    let [first, second] = in_order(rank, race.own, race.other);
    let mut rest = race.element;
    let mut at: Vec<usize> = storage
        .shape
        .iter()
        .rev()
        .map(|size| {
            let own = rest % size;
            rest /= size;
            own
        })
        .collect();
    at.reverse();
    Failure::new(
        FailureKind::Rejected,
        "cores-race",
        format!(
            "element {at:?} of the shared tensor made at line {}: core 0 {}, core 1 {}, and no barrier on this tensor is between; which comes first is not determined",
            storage.line,
            does(first),
            does(second)
        ),
        "put nisa.core_barrier(data, cores=(0, 1)) on this tensor between the two, or let each core write its own part",
    )
    .at(first.0)
}

fn apart(rank: usize, own: usize, other: usize) -> Box<Failure> {
    let [first, second] = in_order(rank, own, other);
    Failure::new(
        FailureKind::Rejected,
        "cores-out-of-step",
        format!("core 0 has made {first} shared tensors, core 1 {second}"),
        "make the same shared tensors on both cores",
    )
}

fn other_tensor(rank: usize, own: &Shown, other: &Shown) -> Box<Failure> {
    let text = |it: &Shown| format!("{}{:?} at line {}", it.dtype.name(), it.shape, it.line);
    let [first, second] = in_order(rank, text(own), text(other));
    Failure::new(
        FailureKind::Rejected,
        "cores-out-of-step",
        format!("core 0 makes the shared tensor {first} where core 1 makes {second}"),
        "make the same shared tensors on both cores, in the same order",
    )
}
