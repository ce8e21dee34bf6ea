//! What the core leaves in memory, as if the array had stored it.

use super::super::Reason;
use super::super::contents::{Numbered, Store, Stored};
use super::affine::{Affine, Counters};
use super::arrangement::Arrangement;
use super::depthwise;
use super::element_order::{Order, Shaped, new_name};
use super::follow::Left;
use super::linear::Part;
use super::node::{Element, Nodes};
use super::region::Write;
use super::rounding::Outlet;
use super::rows::{Rows, Spacing};
use super::shape;
use super::sum::{Outlets, Summed};
use crate::memory::Memory;
use autocomp_gemmini::{Elements, GemminiConfig};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// What the core leaves in memory.
pub(in super::super) struct Plain {
    /// By array, as if the array had stored it.
    pub(in super::super) stored: BTreeMap<usize, Stored>,
    pub(in super::super) numbered: Numbered,
    /// The program's arrays, and those that the program does not have.
    pub(in super::super) memories: Vec<Memory>,
    /// Numbers of the arrays that the program does not have.
    pub(in super::super) new: Range<usize>,
    /// C code of the core before the array's work: it lays operands in the order of the array.
    pub(in super::super) preparation: String,
    /// C code of the core behind the array's work: it makes outputs of the full-width sums.
    pub(in super::super) remainder: String,
    /// Why `remainder` is needed, if it is not empty.
    pub(in super::super) why: Option<Reason>,
}

/// Finds out what the statements of a program store that has no command of the accelerator.
/// `left` is the state that following these statements ended in.
///
/// `memories`: the program's arrays. `is_wanted`: whether what an array is given matters
/// afterwards.
///
/// # Errors
/// What is not what the array computes.
pub(in super::super) fn stored(
    memories: &[Memory],
    left: &Left,
    is_wanted: &dyn Fn(usize) -> bool,
    laying: Arrangement,
    config: &GemminiConfig,
) -> Result<Plain, Reason> {
    let operand = match config.elements {
        Elements::Float32 => Element::Float,
        _ => Element::Integer(1, true),
    };
    let mut order: Vec<&Write> = left.writes.iter().collect();
    order.sort_by_key(|write| write.order);
    let mut groups: Vec<(usize, Vec<Summed>)> = Vec::new();
    for write in order {
        let Some(array) = write.address.array() else {
            continue;
        };
        let Some(memory) = memories.get(array) else {
            continue;
        };
        if !is_wanted(array) && !left.served.contains(&array) {
            continue;
        }
        let summed = Summed::of(write, &left.nodes, &left.counters, operand)
            .map_err(|why| given(memory, &why))?;
        match groups.iter_mut().find(|group| group.0 == array) {
            Some(group) => group.1.push(summed),
            None => groups.push((array, vec![summed])),
        }
    }
    let count = memories.len();
    let mut storing = Storing {
        nodes: &left.nodes,
        counters: left.counters.clone(),
        served: &left.served,
        outlets: &left.outlets,
        written: left
            .writes
            .iter()
            .filter_map(|it| it.address.array())
            .collect(),
        operand,
        dim: config.dim.into(),
        laying,
        shapes: shapes(memories, &groups, &left.counters),
        orders: BTreeMap::new(),
        turned: BTreeMap::new(),
        signs: BTreeMap::new(),
        ones: None,
        diagonals: BTreeMap::new(),
        spacings: BTreeMap::new(),
        plain: Plain {
            stored: BTreeMap::new(),
            numbered: Numbered::default(),
            memories: memories.to_vec(),
            new: count..count,
            preparation: String::new(),
            remainder: String::new(),
            why: None,
        },
    };
    for (array, summed) in groups {
        let stored = storing.array(array, summed, is_wanted(array));
        stored.map_err(|why| given(&memories[array], &why))?;
    }
    storing.finished()
}

pub(super) fn given(memory: &Memory, why: &str) -> Reason {
    Reason::at(0, &format!("what `{}` is given: {why}", memory.name))
}

/// Returns the extents of the arrays, as far as they are known.
fn shapes(
    memories: &[Memory],
    groups: &[(usize, Vec<Summed>)],
    counters: &Counters,
) -> BTreeMap<usize, Vec<i64>> {
    let mut addresses: BTreeMap<usize, Vec<&Affine>> = BTreeMap::new();
    for summed in groups.iter().flat_map(|group| &group.1) {
        let elements = summed.parts.iter().flat_map(|part| &part.elements);
        let all = elements.map(|it| &it.0).chain([&summed.write.address]);
        for address in all {
            if let Some(array) = address.array() {
                addresses.entry(array).or_default().push(address);
            }
        }
    }
    let of = |(array, addresses): (usize, Vec<&Affine>)| {
        let memory = memories.get(array)?;
        let extents = shape::of(memory, addresses.into_iter(), counters)?;
        Some((array, extents))
    };
    addresses.into_iter().filter_map(of).collect()
}

/// What is stored, as far as it is known.
pub(super) struct Storing<'seen> {
    pub(super) nodes: &'seen Nodes,
    pub(super) counters: Counters,
    pub(super) served: &'seen BTreeSet<usize>,
    pub(super) outlets: &'seen Outlets,
    /// Arrays that the program writes.
    pub(super) written: BTreeSet<usize>,
    pub(super) operand: Element,
    dim: i64,
    pub(super) laying: Arrangement,
    /// Extents of arrays.
    pub(super) shapes: BTreeMap<usize, Vec<i64>>,
    /// Operands in another order.
    pub(super) orders: BTreeMap<Order, usize>,
    /// Results in another order, by the array that has them in the program's.
    pub(super) turned: BTreeMap<usize, (Order, usize)>,
    /// Arrays of bytes with a sign, by those of bytes without.
    pub(super) signs: BTreeMap<usize, usize>,
    /// An array of ones, and how many.
    pub(super) ones: Option<(usize, i64)>,
    diagonals: BTreeMap<usize, usize>,
    spacings: BTreeMap<usize, Vec<Spacing>>,
    pub(super) plain: Plain,
}

impl Storing<'_> {
    /// Adds what an array is given.
    fn array(&mut self, array: usize, mut all: Vec<Summed>, is_wanted: bool) -> Result<(), String> {
        for summed in &all {
            self.is_given(&summed.parts)?;
        }
        for summed in &mut all {
            self.sign(summed)?;
        }
        self.add_up(&mut all)?;
        let order = self.order_of_results(array, &all)?;
        // Where the array leaves its sums, and what it leaves.
        let mut places: Vec<Write> = Vec::new();
        for summed in &all {
            let whole = match &order {
                Some(order) => {
                    let address = self.moved(&summed.write, order, array)?;
                    Write {
                        address,
                        ..summed.write.clone()
                    }
                }
                None => summed.write.clone(),
            };
            places.push(whole);
        }
        self.correct(array, &mut all, &places)?;
        let outlets: Vec<Result<Outlet, String>> = all
            .iter()
            .map(|summed| summed.outlet(self.nodes, self.operand, self.outlets))
            .collect();
        let why = outlets.iter().find_map(|outlet| outlet.clone().err());
        let mut to = array;
        let mut element = places[0].element;
        if let Some(why) = &why {
            // The array leaves the sums, and the core makes results of them.
            if self.served.contains(&array) || !all.iter().any(Summed::is_product) {
                return Err(why.clone());
            }
            let memory = &self.plain.memories[array];
            self.plain.why.get_or_insert_with(|| given(memory, why));
            element = match self.operand {
                Element::Float => Element::Float,
                _ => Element::Integer(4, true),
            };
            to = self.added(array, "sums", element, order.as_ref());
        } else if let Some(order) = &order {
            to = self.added(array, "turned", element, Some(order));
            self.turned.insert(array, (order.clone(), to));
        }
        let mut given: Vec<(Write, Vec<Part>, Outlet)> = Vec::new();
        for ((summed, place), outlet) in all.iter().zip(&places).zip(outlets) {
            let whole = Write {
                address: in_array(&place.address, place.element, to, element),
                element,
                ..place.clone()
            };
            let outlet = if why.is_some() {
                Outlet::PLAIN
            } else {
                outlet?
            };
            given.push((whole, summed.parts.clone(), outlet));
        }
        if to != array && (is_wanted || why.is_some()) {
            let wholes: Vec<&Write> = given.iter().map(|it| &it.0).collect();
            let text = self.results(array, &all, &wholes, why.is_some())?;
            self.plain.remainder.push_str(&text);
        }
        if self.laying.patches {
            let shaped = self.shaped(array).ok_or("an array of unknown size")?;
            let extents = match &order {
                Some(order) => shaped.ordered(order),
                None => shaped.extents.to_vec(),
            };
            given = self.patched(&extents, given)?;
        }
        let first = all.iter().map(|it| it.write.order).min().unwrap_or(0);
        for (whole, parts, outlet) in given {
            self.rows(&whole, parts, outlet, first)?;
        }
        Ok(())
    }

    /// Checks that what goes into sums is not written beforehand.
    fn is_given(&self, parts: &[Part]) -> Result<(), String> {
        for (address, _) in parts.iter().flat_map(|part| &part.elements) {
            let read = address.array().filter(|read| self.written.contains(read));
            if let Some(read) = read.filter(|read| !self.served.contains(read)) {
                let name = &self.plain.memories[read].name;
                return Err(format!("it depends on what was in `{name}` before"));
            }
        }
        Ok(())
    }

    pub(super) fn shaped(&self, array: usize) -> Option<Shaped<'_>> {
        Some(Shaped {
            array,
            extents: self.shapes.get(&array)?,
            counters: &self.counters,
        })
    }

    /// Adds an array like another one.
    pub(super) fn added(
        &mut self,
        like: usize,
        what: &str,
        element: Element,
        order: Option<&Order>,
    ) -> usize {
        let shaped = self.shaped(like);
        let memory = &self.plain.memories[like];
        let extents = match (order, shaped) {
            (Some(order), Some(shaped)) => shaped.ordered(order),
            (_, Some(shaped)) if memory.bytes().is_none() => vec![shaped.extents.iter().product()],
            _ => memory.extents.clone(),
        };
        let name = format!("{}_{what}", memory.name);
        self.add(name, element, extents)
    }

    /// Adds an array; returns its number.
    pub(super) fn add(&mut self, name: String, element: Element, extents: Vec<i64>) -> usize {
        let memories = &mut self.plain.memories;
        let name = new_name(memories, name);
        let is_operand = element == self.operand;
        memories.push(Memory::added(name, element.kind(), is_operand, extents));
        memories.len() - 1
    }

    /// Returns the rows of a write, without what is added up in them.
    pub(super) fn only<'write>(&'write self, write: &'write Write) -> Rows<'write> {
        Rows {
            write,
            parts: &[],
            counters: &self.counters,
            memories: &self.plain.memories,
            operand: self.operand,
            as_columns: self.laying.columns,
        }
    }

    /// Adds the rows that a write stores.
    fn rows(
        &mut self,
        whole: &Write,
        mut parts: Vec<Part>,
        outlet: Outlet,
        first: usize,
    ) -> Result<(), String> {
        for part in &mut parts {
            self.relay(whole, part)?;
        }
        let store = Store {
            is_relu: outlet.is_relu,
            scale: outlet.scale.to_bits(),
            pitch: 0,
            full_width: whole.element != self.operand,
        };
        let mut outputs = Vec::new();
        let mut numbered = std::mem::take(&mut self.plain.numbered);
        let diagonal = Rows {
            parts: &parts,
            ..self.only(whole)
        };
        let diagonal = diagonal.diagonal().zip(diagonal.across());
        if let Some((weights, across)) = diagonal
            && !self.diagonals.contains_key(&weights)
        {
            let (memory, text) = depthwise::laid(
                &self.plain.memories[weights],
                self.counters.extent(across),
                self.dim,
            );
            self.diagonals.insert(weights, self.plain.memories.len());
            self.plain.memories.push(memory);
            self.plain.preparation.push_str(&text);
        }
        let rows = Rows {
            parts: &parts,
            ..self.only(whole)
        };
        let spacing = match diagonal {
            Some((weights, _)) => {
                let both = [weights, self.diagonals[&weights]];
                rows.add_grouped(both, self.dim, &mut numbered, &mut outputs)
            }
            None => rows.add(&mut numbered, &mut outputs),
        };
        self.plain.numbered = numbered;
        let array = whole.address.array().ok_or("no array")?;
        self.spacings.entry(array).or_default().push(spacing?);
        let stored = self.plain.stored.entry(array).or_insert_with(|| Stored {
            store,
            outputs: Vec::new(),
            first,
            last: first,
            read: None,
        });
        if stored.store != store {
            return Err("an array that is stored to in two ways".to_owned());
        }
        stored.outputs.append(&mut outputs);
        Ok(())
    }

    fn finished(mut self) -> Result<Plain, Reason> {
        self.plain.new.end = self.plain.memories.len();
        for (array, stored) in &mut self.plain.stored {
            let pitch = Spacing::pitch(&self.spacings[array]);
            stored.store.pitch = u32::try_from(pitch)
                .map_err(|_| Reason::at(0, "rows of an array that lie too far apart"))?;
        }
        if self.plain.stored.is_empty() {
            return Err(Reason::at(0, "it stores nothing"));
        }
        Ok(self.plain)
    }
}

/// Returns the address of the same element in an array with elements of another width.
pub(super) fn in_array(address: &Affine, element: Element, array: usize, to: Element) -> Affine {
    let [from, width] = [element.bytes(), to.bytes()];
    let (_, offset) = Memory::of(address.constant as u64).unwrap_or_default();
    let mut moved = address.clone();
    moved.constant = Memory::base(array) as i64 + offset / from * width;
    for (_, factor) in &mut moved.terms {
        *factor = *factor / from * width;
    }
    moved
}
