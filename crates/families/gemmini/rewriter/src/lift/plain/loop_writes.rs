//! What a loop leaves behind: the writes of all its steps as one.

use super::super::program::Binary;
use super::affine::{Affine, Counter, Stop, refused};
use super::follow::Follower;
use super::node::{Element, Id, Node};
use super::region::{Match, Write, cases, compared, in_case, is_injective};

impl Follower<'_> {
    /// Returns what all steps of a loop write.
    pub(super) fn closed(
        &mut self,
        counter: Counter,
        writes: Vec<Write>,
    ) -> Result<Vec<Write>, Stop> {
        let mut all: Vec<Whole> = Vec::new();
        for write in &writes {
            let own = Affine::counter(counter);
            let mut whole = Whole {
                write: write.clone(),
                step: None,
            };
            if write.address.factor(counter) < 0 {
                // Backwards: the other way round.
                let extent = self.counters.extent(counter);
                let other = self.counters.new_of(extent);
                let back = |of| Affine::of(extent - 1).plus(&Affine::counter(of), -1);
                whole.write = in_case(write, &(counter, back(other)), &mut self.nodes);
                whole.write.dims.retain(|dim| *dim != other);
                whole.write.dims.push(other);
                whole.step = Some((other, back(counter)));
            } else if write.address.factor(counter) != 0 {
                whole.write.dims.push(counter);
                whole.step = Some((counter, own));
            } else {
                whole.write.value = self.folded(counter, write)?;
            }
            if !is_injective(&whole.write, &self.counters) {
                return Err(refused("elements that are stored again in another step"));
            }
            all.push(whole);
        }
        for (at, write) in writes.iter().enumerate() {
            for (other, whole) in all.iter().enumerate() {
                if at != other && self.meets(&write.address, write.element, whole)? {
                    return Err(refused("elements that are stored again in another step"));
                }
            }
            for id in self.nodes.inside(write.value) {
                let (Node::Load(address, element) | Node::Stored(address, element)) =
                    self.nodes.get(id).clone()
                else {
                    continue;
                };
                let is_served = matches!(self.nodes.get(id), Node::Stored(..));
                for (other, whole) in all.iter().enumerate() {
                    let is_own = whole.step.is_none() && address == whole.write.address;
                    if other == at && is_own && !is_served {
                        continue;
                    }
                    if self.meets(&address, element, whole)? {
                        return Err(refused("what is stored depends on the step before"));
                    }
                }
            }
        }
        Ok(all.into_iter().map(|whole| whole.write).collect())
    }

    /// Returns whether an element of one step may be written in another step.
    fn meets(&mut self, address: &Affine, element: Element, whole: &Whole) -> Result<bool, Stop> {
        match compared(address, element, &whole.write, &self.counters) {
            Ok(Match::Apart) => Ok(false),
            Ok(Match::Inside(steps)) => {
                let Some((dim, own)) = &whole.step else {
                    return Ok(true);
                };
                let at = whole.write.dims.iter().position(|other| other == dim);
                Ok(at.is_none_or(|at| steps[at] != *own))
            }
            Err(Stop::Split(other, _) | Stop::Each(other) | Stop::Nest(other, _))
                if !self.open.contains(&other) && !whole.is_of(other) =>
            {
                // It is a counter of a loop that has ended: one of its cases may meet.
                let case = cases(&Stop::Each(other), &[other], &mut self.counters);
                let Ok(Some(all)) = case else { return Ok(true) };
                for (other, value) in all {
                    let address = address.with(other, &value);
                    if self.meets(&address, element, whole)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Err(stop) => Err(stop),
        }
    }

    /// Returns what an element holds that every step of a loop writes.
    fn folded(&mut self, counter: Counter, write: &Write) -> Result<Id, Stop> {
        let own = self
            .nodes
            .add(Node::Load(write.address.clone(), write.element));
        let last = [(counter, Affine::of(self.counters.extent(counter) - 1))];
        if !self.nodes.inside(write.value).contains(&own) {
            return Ok(self.nodes.with(write.value, &last));
        }
        let added = self.without(write.value, own)?;
        let sum = self.nodes.sum(counter, added);
        Ok(self.nodes.binary(Binary::Add, own, sum))
    }

    /// Adds what a loop wrote that has ended, with values of before the loop.
    pub(super) fn settle(&mut self, write: Write, all: &mut Vec<Write>) -> Result<(), Stop> {
        match self.resolved(write.value, &write.dims) {
            Ok(value) => all.push(Write { value, ..write }),
            Err(stop) => {
                let found = cases(&stop, &write.dims, &mut self.counters)?;
                for case in found.ok_or(stop)? {
                    let part = in_case(&write, &case, &mut self.nodes);
                    self.settle(part, all)?;
                }
            }
        }
        Ok(())
    }
}

/// What all steps of a loop write.
struct Whole {
    write: Write,
    /// The counter of the steps, and the step that is being followed.
    step: Option<(Counter, Affine)>,
}

impl Whole {
    /// Returns whether a counter is the one of the steps.
    fn is_of(&self, counter: Counter) -> bool {
        let step = self.step.as_ref();
        step.is_some_and(|(_, own)| own.factor(counter) != 0)
    }
}
