//! What is written to memory while the core is followed, and what is read there.

use super::super::affine::{Affine, Counter, Stop, refused};
use super::super::node::{Element, Id, Node};
use super::super::region::{Lookup, Write, append};
use super::{Follower, outside};
use crate::memory::Memory;
use std::collections::HashMap;

impl Follower<'_> {
    /// Writes an element.
    pub(in super::super) fn write(&mut self, mut write: Write) -> Result<(), Stop> {
        let array = write.address.array();
        if array.is_some_and(|array| self.served.contains(&array)) {
            return Err(refused(
                "an array that is given elements again after it was read",
            ));
        }
        self.order += 1;
        write.order = self.order;
        let scope = self.scopes.last_mut().ok_or(Stop::Unknown)?;
        append(
            &mut scope.writes,
            write,
            &mut self.nodes,
            &mut self.counters,
        )
    }

    /// Returns what an element holds.
    pub(in super::super) fn load(
        &mut self,
        address: &Affine,
        element: Element,
    ) -> Result<Id, Stop> {
        let id = self.nodes.add(Node::Load(address.clone(), element));
        self.resolved(id, &[])
    }

    /// Returns an expression with what was written in this step of the innermost loop
    /// in place of what is read.
    ///
    /// `bound`: counters of loops that have ended around it.
    pub(in super::super) fn resolved(&mut self, id: Id, bound: &[Counter]) -> Result<Id, Stop> {
        let mut around = self.open.clone();
        around.extend(bound);
        let whole = self.scopes.iter().rposition(|scope| !scope.is_branch);
        let scopes = self.scopes[whole.unwrap_or(0)..].iter().rev();
        let mut lookup = Lookup {
            scopes: scopes.map(|scope| scope.writes.as_slice()).collect(),
            nodes: &mut self.nodes,
            counters: &mut self.counters,
            memories: &self.program.memories,
            served: &mut self.served,
            done: HashMap::new(),
        };
        lookup.resolved(id, &mut around)
    }

    /// Copies bytes from one array to another.
    pub(in super::super) fn copy(
        &mut self,
        to: &Affine,
        from: &Affine,
        bytes: i64,
    ) -> Result<(), Stop> {
        let kind = |address: &Affine| {
            let memory = self.program.memories.get(address.array()?)?;
            Element::of(&memory.kind)
        };
        let element = kind(to).ok_or_else(outside)?;
        let width = element.bytes();
        if kind(from) != Some(element) || bytes < 1 || bytes % width != 0 {
            return Err(refused("bytes that are copied are no elements"));
        }
        let mut write = Write {
            address: to.clone(),
            dims: Vec::new(),
            element,
            value: 0,
            order: 0,
        };
        let mut from = from.clone();
        if width < bytes {
            let counter = self.counters.new_of(bytes / width);
            let own = Affine::counter(counter);
            write.dims.push(counter);
            write.address = write.address.plus(&own, width);
            from = from.plus(&own, width);
        }
        for end in [&write.address, &from] {
            let [least, most] = self.counters.range(end);
            let array = |address: i128| Memory::of(u64::try_from(address).ok()?).map(|it| it.0);
            if array(least).is_none() || array(least) != array(most) {
                return Err(outside());
            }
        }
        write.value = self.nodes.add(Node::Load(from, element));
        let mut all = Vec::new();
        self.settle(write, &mut all)?;
        for write in all {
            self.write(write)?;
        }
        Ok(())
    }

    /// Sets bytes to zero; all of the array if `bytes` is none.
    pub(in super::super) fn clear(
        &mut self,
        address: &Affine,
        bytes: Option<i64>,
    ) -> Result<(), Stop> {
        let (array, offset) = Memory::of(address.constant as u64).ok_or_else(outside)?;
        let memory = self.program.memories.get(array).ok_or_else(outside)?;
        let whole = memory.bytes().map(|bytes| bytes - offset);
        let bytes = bytes.or(whole).ok_or_else(outside)?;
        if bytes < 1 || bytes % memory.element != 0 {
            return Err(refused("bytes that are set to zero are no elements"));
        }
        let element = Element::of(&memory.kind).ok_or_else(outside)?;
        let count = bytes / memory.element;
        let value = self.nodes.add(match element {
            Element::Integer(..) => Node::Integer(0),
            _ => Node::Float(0),
        });
        let mut write = Write {
            address: address.clone(),
            dims: Vec::new(),
            element,
            value,
            order: 0,
        };
        if 1 < count {
            let counter = self.counters.new_of(count);
            write.dims.push(counter);
            write.address = write
                .address
                .plus(&Affine::counter(counter), memory.element);
        }
        self.write(write)
    }
}
