//! Writes loops of the core, and elements of arrays in them, as C.

use super::affine::{Affine, Counter, Counters};
use super::node::Element;
use crate::memory::Memory;
use std::fmt::Write as _;

/// Loops of the core: their counters are called `n0`, `n1`, ...
pub(super) struct Loops<'seen> {
    pub(super) memories: &'seen [Memory],
    pub(super) counters: &'seen Counters,
    /// Outermost first.
    pub(super) dims: Vec<Counter>,
}

/// How deep the bodies of functions are indented.
const OUTERMOST: &str = "  ";

impl Loops<'_> {
    /// Returns the heads of the loops, how far what they do is indented, and their ends.
    pub(super) fn nest(&self) -> [String; 3] {
        self.inner(0, OUTERMOST)
    }

    /// Returns the same of the loops from one on, in a place that is indented so far.
    pub(super) fn inner(&self, first: usize, indent: &str) -> [String; 3] {
        let [mut heads, mut ends] = [String::new(), String::new()];
        let mut indent = indent.to_owned();
        for (at, counter) in self.dims.iter().enumerate().skip(first) {
            let extent = self.counters.extent(*counter);
            let _ = writeln!(
                heads,
                "{indent}for (int n{at} = 0; n{at} < {extent}; n{at}++) {{"
            );
            ends.insert_str(0, &format!("{indent}}}\n"));
            indent.push_str("  ");
        }
        [heads, indent, ends]
    }

    /// Returns an array as a pointer to elements, and which element an address is.
    ///
    /// # Errors
    /// If it depends on counters of other loops, or lies in no array.
    pub(super) fn place(&self, address: &Affine, element: Element) -> Result<[String; 2], String> {
        let found = Memory::of(address.constant as u64);
        let known = found.and_then(|(array, offset)| Some((self.memories.get(array)?, offset)));
        let (memory, offset) = known.ok_or("an address outside all arrays")?;
        let width = element.bytes();
        let mut text = String::new();
        if offset != 0 {
            text = (offset / width).to_string();
        }
        for (counter, factor) in &address.terms {
            let at = self.dims.iter().position(|dim| dim == counter);
            let at = at.ok_or("what is done to its sums is a sum itself")?;
            let times = match factor / width {
                1 => String::new(),
                times => format!("{times} * "),
            };
            let plus = if text.is_empty() { "" } else { " + " };
            let _ = write!(text, "{plus}{times}n{at}");
        }
        if text.is_empty() {
            text.push('0');
        }
        let pointer = format!("(({} *){})", element.in_c(), memory.name);
        Ok([pointer, text])
    }

    /// Returns an element of an array.
    ///
    /// # Errors
    /// If it depends on counters of other loops, or lies in no array.
    pub(super) fn element(&self, address: &Affine, element: Element) -> Result<String, String> {
        let [pointer, place] = self.place(address, element)?;
        Ok(format!("{pointer}[{place}]"))
    }
}
