//! What the core leaves in memory, as if the array had stored it.

use super::super::Reason;
use super::super::program::Memory;
use super::super::traced::{Numbered, Store, Stored};
use super::affine::{Affine, Counter, Counters};
use super::depthwise;
use super::follow::Left;
use super::linear::Part;
use super::node::{Element, Id, Nodes};
use super::region::Write;
use super::relaid::{Order, Shaped, new_name};
use super::remainder::{Elsewhere, Remainder};
use super::rounding::Outlet;
use super::rows::{Rows, Spacing};
use super::shape;
use super::summed::{Outlets, Summed};
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
    /// What the core does before everything else.
    pub(in super::super) preparation: String,
    /// What the core does with what the array leaves.
    pub(in super::super) remainder: String,
    /// Why the core has to.
    pub(in super::super) why: Option<Reason>,
}

/// What the core lays in memory in another way before the array works, and behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Laying {
    /// Inputs have the elements of a sum side by side.
    pub(super) input: bool,
    /// Weights have the columns of the results side by side.
    pub(super) weights: bool,
    /// Results lie side by side that the same inputs go into.
    pub(super) output: bool,
    /// For each result, the inputs of its sum lie side by side.
    pub(super) patches: bool,
}

impl Laying {
    /// All ways, those first that cost the core least.
    pub(in super::super) fn all() -> impl Iterator<Item = Self> {
        let orders = [
            [false, false, false],
            [false, true, false],
            [true, false, false],
            [true, true, false],
            [false, false, true],
            [false, true, true],
            [true, false, true],
            [true, true, true],
        ];
        let orders = orders.into_iter().map(|[input, weights, output]| Self {
            input,
            weights,
            output,
            patches: false,
        });
        let patches = [false, true].map(|output| Self {
            output,
            patches: true,
            ..Self::default()
        });
        orders.chain(patches)
    }
}

/// Finds out what statements of a program store that leave everything to the core, of what
/// following them `left`.
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
    laying: Laying,
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

fn given(memory: &Memory, why: &str) -> Reason {
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
    served: &'seen BTreeSet<usize>,
    outlets: &'seen Outlets,
    /// Arrays that the program writes.
    pub(super) written: BTreeSet<usize>,
    pub(super) operand: Element,
    dim: i64,
    laying: Laying,
    /// Extents of arrays.
    pub(super) shapes: BTreeMap<usize, Vec<i64>>,
    /// Operands in another order.
    orders: BTreeMap<Order, usize>,
    /// Results in another order, by the array that has them in the program's.
    turned: BTreeMap<usize, (Order, usize)>,
    /// Arrays of bytes with a sign, by those of bytes without.
    pub(super) signs: BTreeMap<usize, usize>,
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

    /// Returns the code that makes results of what the array leaves.
    ///
    /// `wholes`: where it leaves that. `are_sums`: it leaves sums, not results.
    fn results(
        &mut self,
        array: usize,
        all: &[Summed],
        wholes: &[&Write],
        are_sums: bool,
    ) -> Result<String, String> {
        let extents = self.shapes.get(&array).cloned().unwrap_or_default();
        let counters: Vec<Affine> = extents.iter().map(|it| self.counted(*it)).collect();
        let shaped = self.shaped(array);
        let own = |summed: &Summed| [(summed.write.value, 0)];
        let owns: Vec<[(Id, i64); 1]> = all.iter().map(own).collect();
        let of = |at: usize, dims: Vec<Counter>, elsewhere: Option<Elsewhere<'_>>| {
            let remainder = Remainder {
                write: &all[at].write,
                nodes: self.nodes,
                counters: &self.counters,
                memories: &self.plain.memories,
                sums: if are_sums { &all[at].found } else { &owns[at] },
                place: wholes[at].address.clone(),
                element: wholes[at].element,
                dims,
                elsewhere,
            };
            remainder.text()
        };
        let mut each = Vec::new();
        let mut places = Vec::new();
        let mut count = 0;
        for (at, Summed { write, .. }) in all.iter().enumerate() {
            let dims = write.dims.iter().map(|dim| self.counters.extent(*dim));
            count += dims.product::<i64>();
            each.push(of(at, write.dims.clone(), None)?);
            let indices = |it: &Shaped<'_>| it.indices(&write.address, write.element);
            places.push(shaped.as_ref().and_then(indices));
        }
        let places: Option<Vec<Vec<Affine>>> = places.into_iter().collect();
        let is_all = count == extents.iter().product::<i64>();
        let Some(places) = places.filter(|_| is_all && 1 < all.len()) else {
            return Ok(each.concat());
        };
        // All at once, if the way of one write is that of all others.
        let once = (0..all.len()).find_map(|at| {
            let like = |there: &[Affine], dims: Vec<Counter>| {
                let elsewhere = Elsewhere {
                    place: &places[at],
                    whole: &counters,
                    there,
                };
                of(at, dims, Some(elsewhere)).ok()
            };
            let is_so = (0..all.len()).all(|other| {
                like(&places[other], all[other].write.dims.clone()).as_ref() == Some(&each[other])
            });
            let dims = counters.iter().flat_map(Affine::counters).collect();
            is_so.then(|| like(&counters, dims)).flatten()
        });
        Ok(once.unwrap_or_else(|| each.concat()))
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

    /// Returns the order in which the array leaves results, if it is another.
    fn order_of_results(&self, array: usize, all: &[Summed]) -> Result<Option<Order>, String> {
        if !self.laying.output {
            return Ok(None);
        }
        let Some(shaped) = self.shaped(array) else {
            return Ok(None);
        };
        let mut found: Option<Vec<usize>> = None;
        for summed in all {
            let rows = self.only(&summed.write);
            for part in summed.parts.iter().filter(|it| it.elements.len() == 2) {
                let Some(columns) = rows.columns_of_results(part, &shaped)? else {
                    continue;
                };
                if *found.get_or_insert_with(|| columns.clone()) != columns {
                    return Err("its results lie in more than one order".to_owned());
                }
            }
        }
        let columns = found.unwrap_or_default();
        Ok(Order::with_innermost(array, shaped.extents.len(), &columns))
    }

    /// Returns where a result lies in another order.
    fn moved(&self, write: &Write, order: &Order, array: usize) -> Result<Affine, String> {
        let shaped = self.shaped(array);
        let place = (write.address.clone(), write.element);
        let moved = shaped.and_then(|it| it.moved(&place, order, (array, write.element)));
        moved.ok_or_else(|| "its results lie in no order that is known".to_owned())
    }

    pub(super) fn shaped(&self, array: usize) -> Option<Shaped<'_>> {
        Some(Shaped {
            array,
            extents: self.shapes.get(&array)?,
            counters: &self.counters,
        })
    }

    /// Adds an array like another one.
    fn added(&mut self, like: usize, what: &str, element: Element, order: Option<&Order>) -> usize {
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

    /// Lays operands in other orders.
    fn relay(&mut self, whole: &Write, part: &mut Part) -> Result<(), String> {
        if part.elements.len() != 2 {
            return Ok(());
        }
        for which in [0, 1] {
            let (address, element) = &part.elements[which];
            let turned = address.array().and_then(|array| self.turned.get(&array));
            if let (Some((order, to)), Some(array)) = (turned, address.array()) {
                let shaped = self.shaped(array);
                let place = (address.clone(), *element);
                let moved = shaped.and_then(|it| it.moved(&place, order, (*to, *element)));
                part.elements[which].0 =
                    moved.ok_or("an operand that lies in no order that is known")?;
            }
        }
        if self.laying.input {
            let rows = self.only(whole);
            if let Ok(product) = rows.product(part) {
                let order = |storing: &Self, array| {
                    let shaped = storing.shaped(array)?;
                    let rows = storing.only(whole);
                    rows.order_of_input(part, &product.input, &shaped)
                };
                if let Some(order) = product.input.array().and_then(|array| order(self, array)) {
                    self.lay(part, &order)?;
                }
            }
        }
        if self.laying.weights {
            let rows = self.only(whole);
            if let Ok(product) = rows.product(part) {
                let array = product.weights.array();
                let shaped = array.and_then(|array| self.shaped(array));
                let order = shaped.and_then(|shaped| rows.order_of_weights(part, &shaped));
                if let Some(order) = order {
                    self.lay(part, &order)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the rows of a write, without what is added up in them.
    fn only<'write>(&'write self, write: &'write Write) -> Rows<'write> {
        Rows {
            write,
            parts: &[],
            counters: &self.counters,
            memories: &self.plain.memories,
            operand: self.operand,
        }
    }

    /// Has an operand of a part come from an array in another order.
    fn lay(&mut self, part: &mut Part, order: &Order) -> Result<(), String> {
        let mut elements = part.elements.iter();
        let which = elements.position(|it| it.0.array() == Some(order.array));
        let which = which.ok_or("no operand")?;
        let element = part.elements[which].1;
        let new = self.in_order(order)?;
        let shaped = self.shaped(order.array);
        let moved = shaped.and_then(|it| it.moved(&part.elements[which], order, (new, element)));
        part.elements[which].0 = moved.ok_or("an operand that lies in no order that is known")?;
        Ok(())
    }

    /// Returns the array that has the elements of another in an order.
    pub(super) fn in_order(&mut self, order: &Order) -> Result<usize, String> {
        if let Some(new) = self.orders.get(order) {
            return Ok(*new);
        }
        if self.written.contains(&order.array) {
            return Err("an operand that is written lies in another order".to_owned());
        }
        let new = self.added(order.array, "turned", self.operand, Some(order));
        let names = [order.array, new].map(|it| self.plain.memories[it].name.as_str());
        let shaped = self.shaped(order.array);
        let text = shaped.map(|it| it.laid(names, order, self.operand));
        self.plain.preparation.push_str(&text.unwrap_or_default());
        self.orders.insert(order.clone(), new);
        Ok(new)
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
