//! The sum that a write stores.

use super::affine::Counters;
use super::linear::{Linear, Part, Sums};
use super::node::{Element, Id, Node, Nodes};
use super::region::Write;
use super::rounding::{Outlet, Tail};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

/// What a write stores: a sum, and what is done to it.
#[derive(Clone, Debug)]
pub(super) struct Summed {
    /// As the program says it.
    pub(super) write: Write,
    pub(super) parts: Vec<Part>,
    /// Expressions that are the sum, and what is added to it in each.
    pub(super) found: Vec<(Id, i64)>,
    /// What is done to the sum depends on other elements, too.
    with_others: bool,
}

/// What is done to sums, by the result and by what the sum is in it.
pub(super) type Outlets = RefCell<HashMap<(Id, Vec<(Id, i64)>), Result<Outlet, String>>>;

impl Summed {
    /// Finds the sum in what a write stores.
    ///
    /// # Errors
    /// Why it is none.
    pub(super) fn of(
        write: &Write,
        nodes: &Nodes,
        counters: &Counters,
        operand: Element,
    ) -> Result<Self, String> {
        let is_float = operand == Element::Float;
        let found = Self::made_of(write, nodes, Sums::new(nodes, counters, is_float));
        if is_float || found.is_ok() {
            return found;
        }
        // Elements may be scaled before they are added.
        let sums = Sums::new(nodes, counters, is_float).with_scales();
        let scaled = Self::made_of(write, nodes, sums).ok();
        scaled.filter(|it| !it.is_product()).map_or(found, Ok)
    }

    fn made_of(write: &Write, nodes: &Nodes, mut sums: Sums<'_>) -> Result<Self, String> {
        // The largest expressions that are sums.
        let mut all: Vec<(Id, Linear)> = Vec::new();
        let mut with_others = false;
        let mut stack = vec![write.value];
        let mut seen = BTreeSet::new();
        while let Some(id) = stack.pop() {
            if !seen.insert(id) {
                continue;
            }
            let Some(mut sum) = sums.of(id) else {
                match nodes.get(id) {
                    Node::Float(_) => {}
                    Node::Load(..) | Node::Stored(..) => with_others = true,
                    _ if nodes.operands(id).is_empty() => {
                        return Err("it depends on what is no sum of products".to_owned());
                    }
                    _ => stack.extend(nodes.operands(id)),
                }
                continue;
            };
            if sum.parts.is_empty() {
                continue;
            }
            sum.parts.sort();
            all.push((id, sum));
        }
        let is_product = |sum: &Linear| sum.parts.iter().any(|part| part.elements.len() == 2);
        let has_product = all.iter().any(|(_, sum)| is_product(sum));
        let mut found: Vec<(Id, i64)> = Vec::new();
        let mut parts: Option<Vec<Part>> = None;
        for (id, sum) in all {
            if has_product && !is_product(&sum) {
                with_others = true;
                continue;
            }
            found.push((id, sum.constant));
            if parts.get_or_insert_with(|| sum.parts.clone()) != &sum.parts {
                return Err("results are of more than one sum".to_owned());
            }
        }
        Ok(Self {
            write: write.clone(),
            parts: parts.ok_or("it is given numbers, not sums")?,
            found,
            with_others,
        })
    }

    pub(super) fn is_product(&self) -> bool {
        self.parts.iter().any(|part| part.elements.len() == 2)
    }

    /// Returns what is done to the sum.
    ///
    /// # Errors
    /// Why the accelerator does not do that.
    pub(super) fn outlet(
        &self,
        nodes: &Nodes,
        operand: Element,
        known: &Outlets,
    ) -> Result<Outlet, String> {
        let key = (self.write.value, self.found.clone());
        if let Some(outlet) = known.borrow().get(&key) {
            return outlet.clone();
        }
        let outlet = self.find_outlet(nodes, operand);
        known.borrow_mut().insert(key, outlet.clone());
        outlet
    }

    fn find_outlet(&self, nodes: &Nodes, operand: Element) -> Result<Outlet, String> {
        let tail = Tail::new(nodes, self.write.value, &self.found);
        match self.write.element {
            _ if self.with_others => {
                Err("what is done to its sums depends on other elements, too".to_owned())
            }
            Element::Float if operand == Element::Float => tail.float_outlet(),
            Element::Integer(4, true) if operand != Element::Float => match tail.is_identity() {
                true => Ok(Outlet::PLAIN),
                false => Err("sums are stored at full width, but not as they are".to_owned()),
            },
            element if element == operand => tail.outlet(),
            _ => Err("its elements are neither operands nor sums of the accelerator".to_owned()),
        }
    }
}
