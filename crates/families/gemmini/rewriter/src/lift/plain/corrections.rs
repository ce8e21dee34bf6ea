//! What sums have beside products of two operands, as of unsigned operands and zero points:
//! the core adds it up, and sums start with it.

use super::affine::{Affine, Counter};
use super::code::Loops;
use super::core_stores::Storing;
use super::linear::{PLAIN, Part};
use super::node::Element;
use super::region::Write;
use super::sum::Summed;
use std::fmt::Write as _;

/// What lies between a byte without a sign and one with it.
const HALF: i64 = 128;
const SUM: Element = Element::Integer(4, true);

impl Storing<'_> {
    /// Has products be of bytes with a sign: `(a - 128) * b + 128 * b`.
    pub(super) fn sign(&mut self, summed: &mut Summed) -> Result<(), String> {
        if self.operand != Element::Integer(1, true) {
            return Ok(());
        }
        let is_unsigned = |it: &(Affine, Element)| it.1 == Element::Integer(1, false);
        while let Some(at) = summed
            .parts
            .iter()
            .position(|part| part.elements.len() == 2 && part.elements.iter().any(is_unsigned))
        {
            let which = usize::from(!is_unsigned(&summed.parts[at].elements[0]));
            let array = summed.parts[at].elements[which].0.array();
            let array = array.ok_or("an address outside all arrays")?;
            if self.written.contains(&array) {
                let name = &self.plain.memories[array].name;
                return Err(format!("`{name}` is of bytes without a sign, and written"));
            }
            let mut rest = summed.parts[at].clone();
            let (address, _) = rest.elements.remove(which);
            rest.factor *= HALF;
            let signed = self.signed(array)?;
            let moved = super::core_stores::in_array(&address, self.operand, signed, self.operand);
            summed.parts[at].elements[which] = (moved, self.operand);
            summed.parts.push(rest);
        }
        Ok(())
    }

    /// Returns the array that has the elements of another with a sign.
    fn signed(&mut self, array: usize) -> Result<usize, String> {
        if let Some(new) = self.signs.get(&array) {
            return Ok(*new);
        }
        let extents = self.shapes.get(&array).ok_or("an array of unknown size")?;
        let extents = extents.clone();
        let count: i64 = extents.iter().product();
        let name = format!("{}_signed", self.plain.memories[array].name);
        let new = self.add(name, self.operand, extents.clone());
        let names = [array, new].map(|it| self.plain.memories[it].name.as_str());
        let text = format!(
            "  for (int n = 0; n < {count}; n++) {{\n    ((int8_t *){})[n] = ((const uint8_t *){})[n] \
             - {HALF};\n  }}\n",
            names[1], names[0]
        );
        self.plain.preparation.push_str(&text);
        self.shapes.insert(new, extents);
        self.signs.insert(array, new);
        Ok(new)
    }

    /// Has sums start with what they have beside products of two operands, if that is more
    /// than one array.
    ///
    /// `places`: where the array leaves each.
    pub(super) fn correct(
        &mut self,
        array: usize,
        all: &mut [Summed],
        places: &[Write],
    ) -> Result<(), String> {
        let is_plain = |part: &&Part| part.factor == 1 && part.counters.is_empty();
        let needs = |summed: &Summed| {
            let lone = summed.parts.iter().filter(|it| it.elements.len() == 1);
            summed.is_product()
                && (1 < lone.clone().count() || !lone.clone().all(|it| is_plain(&it)))
        };
        if self.operand == Element::Float || !all.iter().any(needs) {
            return Ok(());
        }
        let is_lone = |part: &Part| part.elements.len() < 2;
        let lone = all.iter().flat_map(|it| &it.parts).filter(|it| is_lone(it));
        for (address, _) in lone.flat_map(|it| &it.elements) {
            if address.array().is_none_or(|it| self.written.contains(&it)) {
                return Err("what is added to its sums is written beforehand".to_owned());
            }
        }
        // One row for all, if nothing but columns decides.
        let across = |write: &Write| {
            let width = write.element.bytes();
            let mut dims = write.dims.iter().copied();
            dims.find(|dim| write.address.factor(*dim) == width)
        };
        let row = match all {
            [one] => across(&places[0]).filter(|across| {
                let lone = one.parts.iter().filter(|it| is_lone(it));
                lone.flat_map(|it| &it.elements).all(|(address, _)| {
                    let mut dims = one.write.dims.iter();
                    dims.all(|dim| dim == across || address.factor(*dim) == 0)
                })
            }),
            _ => None,
        };
        let name = format!("{}_bias", self.plain.memories[array].name);
        let extents = match row {
            Some(across) => vec![self.counters.extent(across)],
            None => self
                .shapes
                .get(&array)
                .ok_or("an array of unknown size")?
                .clone(),
        };
        let new = self.add(name, SUM, extents);
        for (summed, place) in all.iter_mut().zip(places) {
            let constant = summed.found.first().map_or(0, |it| it.1);
            let (lone, mut parts): (Vec<Part>, Vec<Part>) =
                summed.parts.drain(..).partition(is_lone);
            let address = match row {
                Some(across) => super::core_stores::in_array(
                    &Affine::counter(across).plus(&Affine::of(0), 1),
                    Element::Integer(1, true),
                    new,
                    SUM,
                ),
                None => super::core_stores::in_array(&place.address, place.element, new, SUM),
            };
            let dims: Vec<Counter> = match row {
                Some(across) => vec![across],
                None => place.dims.clone(),
            };
            let text = self.correction(&address, &dims, &lone, constant)?;
            self.plain.preparation.push_str(&text);
            parts.push(Part {
                factor: 1,
                scale: PLAIN,
                elements: vec![(address, SUM)],
                counters: Vec::new(),
            });
            summed.parts = parts;
            for (_, more) in &mut summed.found {
                *more -= constant;
            }
        }
        Ok(())
    }

    /// Returns the code that adds up what sums start with.
    fn correction(
        &self,
        address: &Affine,
        dims: &[Counter],
        lone: &[Part],
        constant: i64,
    ) -> Result<String, String> {
        let loops = |dims: Vec<Counter>| Loops {
            memories: &self.plain.memories,
            counters: &self.counters,
            dims,
        };
        let all = loops(dims.to_vec());
        let [mut text, indent, ends] = all.nest();
        let _ = writeln!(text, "{indent}{} = {constant};", all.element(address, SUM)?);
        text.push_str(&ends);
        for part in lone {
            let (element, kind) = part.elements.first().ok_or("no element")?;
            // Added up once for all results that it goes into.
            let (own, rest): (Vec<Counter>, Vec<Counter>) =
                dims.iter().partition(|dim| element.factor(**dim) != 0);
            let outer = loops(own.clone());
            let [heads, indent, ends] = outer.nest();
            let inner = loops([own.clone(), part.counters.clone()].concat());
            let [sums, within, closing] = inner.inner(own.len(), &indent);
            let target = loops([own.clone(), rest].concat());
            let [targets, last, closed] = target.inner(own.len(), &indent);
            let _ = write!(
                text,
                "{heads}{indent}int32_t sum_of_elements = 0;\n{sums}{within}sum_of_elements += {};\n{closing}{targets}{last}{} \
                 += {} * sum_of_elements;\n{closed}{ends}",
                inner.element(element, *kind)?,
                target.element(address, SUM)?,
                part.factor,
            );
        }
        Ok(text)
    }
}
