//! What the core wrote to memory, in stretches of elements.

use super::super::program::Binary;
use super::affine::{Affine, Counter, Counters, Stop, refused};
use super::node::{Element, Id, Node, Nodes};
use crate::memory::Memory;
use std::collections::{BTreeSet, HashMap};

/// Stretches that the contents of memory may be made of.
const STRETCHES: usize = 4096;
/// Steps of a loop that may be written down one by one afterwards.
const EACH: i64 = 64;

/// Elements that were written: those at an address for all steps of some counters.
#[derive(Clone, Debug)]
pub(super) struct Write {
    pub(super) address: Affine,
    /// Counters of loops that have ended.
    pub(super) dims: Vec<Counter>,
    pub(super) element: Element,
    pub(super) value: Id,
    /// Place in the order of all writes.
    pub(super) order: usize,
}

/// How elements that are read lie to elements that were written.
#[derive(Debug)]
pub(super) enum Match {
    Apart,
    /// All of them were written: in which step of each counter.
    Inside(Vec<Affine>),
}

/// Compares what is read at an address with what was written.
pub(super) fn compared(
    address: &Affine,
    element: Element,
    write: &Write,
    counters: &Counters,
) -> Result<Match, Stop> {
    let mut dims: Vec<(Counter, i64)> = Vec::new();
    let mut base = write.address.clone();
    for dim in &write.dims {
        dims.push((*dim, base.factor(*dim)));
        base = base.without(*dim);
    }
    let mut rest = address.plus(&base, -1);
    let span: i128 = dims
        .iter()
        .map(|(dim, factor)| i128::from(*factor) * i128::from(counters.extent(*dim) - 1))
        .sum();
    let [least, most] = counters.range(&rest);
    if most <= -i128::from(element.bytes()) || span + i128::from(write.element.bytes()) <= least {
        return Ok(Match::Apart);
    }
    if element.bytes() != write.element.bytes() {
        return Err(refused(
            "memory is read as another type than it was written",
        ));
    }
    let mut order: Vec<usize> = (0..dims.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(dims[*at].1));
    let mut steps = vec![Affine::of(0); dims.len()];
    let mut reach = span;
    for at in order {
        let (dim, factor) = dims[at];
        reach -= i128::from(factor) * i128::from(counters.extent(dim) - 1);
        let [quotient, left] = match counters.nearest(&rest, factor, reach) {
            Some(both) => both,
            None => counters.divided(&rest, factor)?,
        };
        steps[at] = quotient;
        rest = left;
    }
    let mut stop = None;
    if !counters.is_zero(&rest)? {
        return Ok(Match::Apart);
    }
    for ((dim, _), step) in dims.iter().zip(&steps) {
        let extent = counters.extent(*dim);
        let [least, most] = counters.range(step);
        if most < 0 || i128::from(extent) <= least {
            return Ok(Match::Apart);
        }
        let beyond = step.plus(&Affine::of(extent), -1);
        let inside = match counters.is_negative(step) {
            Ok(false) => counters.is_negative(&beyond).map(|_| ()),
            Ok(true) => return Ok(Match::Apart),
            Err(stop) => Err(stop),
        };
        if let Err(new) = inside {
            stop.get_or_insert(new);
        }
    }
    match stop {
        Some(stop) => Err(stop),
        None => Ok(Match::Inside(steps)),
    }
}

/// Returns whether a write meets each element once.
pub(super) fn is_injective(write: &Write, counters: &Counters) -> bool {
    let mut dims: Vec<(i64, i64)> = write
        .dims
        .iter()
        .map(|dim| (write.address.factor(*dim), counters.extent(*dim)))
        .collect();
    dims.sort_unstable();
    let mut reach = write.element.bytes();
    dims.into_iter().all(|(factor, extent)| {
        let is_apart = reach <= factor;
        reach = factor.saturating_mul(extent - 1).saturating_add(reach);
        is_apart
    })
}

/// Returns what each of some counters is in two or more cases that together are all
/// steps; nothing if the stop is for another counter.
pub(super) fn cases(
    stop: &Stop,
    dims: &[Counter],
    counters: &mut Counters,
) -> Result<Option<Vec<(Counter, Affine)>>, Stop> {
    let (Stop::Split(counter, _) | Stop::Each(counter) | Stop::Nest(counter, _)) = stop else {
        return Ok(None);
    };
    if !dims.contains(counter) {
        return Ok(None);
    }
    let extent = counters.extent(*counter);
    let mut part = |first: i64, extent: i64| match extent {
        1 => Affine::of(first),
        _ => Affine::counter(counters.new_of(extent)).plus(&Affine::of(first), 1),
    };
    Ok(Some(match *stop {
        Stop::Split(_, at) if 0 < at && at < extent => {
            vec![(*counter, part(0, at)), (*counter, part(at, extent - at))]
        }
        Stop::Each(_) if extent <= EACH => {
            (0..extent).map(|at| (*counter, Affine::of(at))).collect()
        }
        Stop::Nest(_, inner) if extent % inner == 0 => {
            let (line, inside) = (part(0, extent / inner), part(0, inner));
            vec![(*counter, inside.plus(&line, inner))]
        }
        Stop::Nest(_, inner) if inner < extent => {
            let whole = extent / inner * inner;
            vec![
                (*counter, part(0, whole)),
                (*counter, part(whole, extent - whole)),
            ]
        }
        _ => return Err(refused("steps of a loop that are not followed")),
    }))
}

/// Returns a write in one of the cases of a counter.
pub(super) fn in_case(write: &Write, case: &(Counter, Affine), nodes: &mut Nodes) -> Write {
    let (counter, value) = case;
    let mut dims: Vec<Counter> = write.dims.clone();
    dims.retain(|dim| dim != counter);
    dims.extend(value.terms.iter().map(|term| term.0));
    Write {
        address: write.address.with(*counter, value),
        dims,
        value: nodes.with(write.value, std::slice::from_ref(case)),
        ..write.clone()
    }
}

/// Adds a write to those before it, of which it may overwrite parts.
pub(super) fn append(
    writes: &mut Vec<Write>,
    new: Write,
    nodes: &mut Nodes,
    counters: &mut Counters,
) -> Result<(), Stop> {
    let mut old: Vec<Write> = std::mem::take(writes);
    old.reverse();
    let mut failure = None;
    while let Some(one) = old.pop() {
        if failure.is_some() {
            writes.push(one);
            continue;
        }
        match compared(&one.address, one.element, &new, counters) {
            Ok(Match::Apart) => writes.push(one),
            Ok(Match::Inside(_)) => {}
            Err(stop) => match cases(&stop, &one.dims, counters) {
                Ok(Some(all)) if old.len() + writes.len() < STRETCHES => {
                    old.extend(all.iter().rev().map(|case| in_case(&one, case, nodes)));
                }
                Ok(Some(_)) => failure = Some(refused("memory in more pieces than are followed")),
                Ok(None) => failure = Some(stop),
                Err(stop) => failure = Some(stop),
            },
        }
    }
    match failure {
        Some(stop) => Err(stop),
        None => {
            writes.push(new);
            Ok(())
        }
    }
}

/// Elements that are looked up in what was written.
pub(super) struct Lookup<'seen> {
    /// What was written in each scope, the innermost first.
    pub(super) scopes: Vec<&'seen [Write]>,
    pub(super) nodes: &'seen mut Nodes,
    pub(super) counters: &'seen mut Counters,
    pub(super) memories: &'seen [Memory],
    /// Arrays that serve as operands of operations behind those that give them their elements.
    pub(super) served: &'seen mut BTreeSet<usize>,
    pub(super) done: HashMap<(Id, usize), Id>,
}

impl Lookup<'_> {
    /// Returns an expression with what was written in place of what is read.
    ///
    /// `around`: the counters of all loops around it.
    pub(super) fn resolved(&mut self, id: Id, around: &mut Vec<Counter>) -> Result<Id, Stop> {
        if self.scopes.iter().all(|writes| writes.is_empty()) {
            return Ok(id);
        }
        if let Some(new) = self.done.get(&(id, around.len())) {
            return Ok(*new);
        }
        let new = match self.nodes.get(id).clone() {
            Node::Load(address, element) => self.element(id, &address, element, around)?,
            Node::Sum(counter, inner) => {
                around.push(counter);
                let new = self.resolved(inner, around);
                around.pop();
                match new {
                    Ok(new) => self.nodes.sum(counter, new),
                    Err(stop) => self.sum_in_cases((counter, inner), stop, around)?,
                }
            }
            _ => {
                let operands = self.nodes.operands(id);
                let mut new = Vec::with_capacity(operands.len());
                for operand in &operands {
                    new.push(self.resolved(*operand, around)?);
                }
                if new == operands {
                    id
                } else {
                    self.nodes.with_operands(id, &new)
                }
            }
        };
        self.done.insert((id, around.len()), new);
        Ok(new)
    }

    /// Resolves a sum in parts, if that is what stopped it.
    fn sum_in_cases(
        &mut self,
        (counter, inner): (Counter, Id),
        stop: Stop,
        around: &mut Vec<Counter>,
    ) -> Result<Id, Stop> {
        let all = cases(&stop, &[counter], self.counters)?.ok_or(stop)?;
        let mut sum = self.nodes.add(Node::Integer(0));
        for case in all {
            let mut part = self.nodes.with(inner, std::slice::from_ref(&case));
            for (counter, _) in &case.1.terms {
                part = self.nodes.sum(*counter, part);
            }
            let part = self.resolved(part, around)?;
            sum = self.nodes.binary(Binary::Add, sum, part);
        }
        Ok(sum)
    }

    fn element(
        &mut self,
        id: Id,
        address: &Affine,
        element: Element,
        around: &[Counter],
    ) -> Result<Id, Stop> {
        for write in self.scopes.iter().flat_map(|writes| writes.iter().rev()) {
            let Match::Inside(steps) = compared(address, element, write, self.counters)? else {
                continue;
            };
            let is_again = around.iter().any(|counter| address.factor(*counter) == 0);
            let operand = write.address.array().filter(|array| {
                let memory = self.memories.get(*array);
                memory.is_some_and(|memory| memory.is_operand) && !self.nodes.is_copy(write.value)
            });
            if let Some(array) = operand.filter(|_| is_again) {
                self.served.insert(array);
                return Ok(self.nodes.add(Node::Stored(address.clone(), element)));
            }
            let counters: Vec<(Counter, Affine)> = write.dims.iter().copied().zip(steps).collect();
            let value = self.nodes.with(write.value, &counters);
            return Ok(match element {
                Element::Integer(bytes, signed) => self.nodes.narrow(bytes, signed, value),
                _ => value,
            });
        }
        Ok(id)
    }
}
