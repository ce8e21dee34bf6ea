//! What the core stores, as rows of sums: as if the array had stored them.

use super::super::contents::{Form, Numbered, Output, Place, Term, Weights};
use super::affine::{Affine, Counter, Counters};
use super::linear::{PLAIN, Part};
use super::node::Element;
use super::region::Write;
use crate::memory::Memory;

/// Rows of outputs and products in them that are recorded at most.
const ROWS: i64 = 4_000_000;

/// Elements of a sum that are taken at once, at most.
const WIDE: i64 = 4096;

/// Neighbouring elements that a step of a loop takes, at most.
const TAKEN: i64 = 15;

/// What is stored by one write, as sums.
pub(super) struct Rows<'seen> {
    pub(super) write: &'seen Write,
    pub(super) parts: &'seen [Part],
    pub(super) counters: &'seen Counters,
    pub(super) memories: &'seen [Memory],
    /// What elements of the array are.
    pub(super) operand: Element,
    /// A single row of results is taken for a column.
    pub(super) as_columns: bool,
}

/// How rows of an output lie, in bytes.
#[derive(Clone, Copy)]
pub(super) struct Spacing {
    /// As the array is declared.
    declared: Option<i64>,
    /// From one row that is stored to the next.
    apart: Option<i64>,
    columns: i64,
}

impl Spacing {
    /// Returns the bytes between rows of an array.
    pub(super) fn pitch(all: &[Self]) -> i64 {
        let columns = all.iter().map(|it| it.columns).max().unwrap_or(0);
        let aparts = || all.iter().filter_map(|it| it.apart);
        let declared = all.iter().find_map(|it| it.declared);
        let fitting = declared
            .filter(|declared| columns <= *declared && aparts().all(|apart| apart % declared == 0));
        fitting.or(aparts().min()).unwrap_or(columns)
    }
}

/// A product with its operands told apart.
#[derive(Clone)]
pub(super) struct Product {
    pub(super) input: Affine,
    pub(super) weights: Affine,
    /// The counter along which products are taken at once.
    pub(super) depth: Option<Counter>,
    /// Neighbouring elements that are taken in each step of it.
    taken: i64,
    others: Vec<Counter>,
}

impl Rows<'_> {
    /// Returns how far elements lie apart that are stored in neighbouring steps.
    fn apart(&self, dim: Counter) -> i64 {
        self.write.address.factor(dim)
    }

    /// Returns the counter of neighbouring elements, if there is one.
    pub(super) fn across(&self) -> Option<Counter> {
        let width = self.write.element.bytes();
        let mut dims = self.write.dims.iter().copied();
        if self.as_columns && dims.len() == 1 {
            return None;
        }
        dims.find(|dim| self.apart(*dim) == width)
    }

    /// Tells input and weights apart: the weights are of the columns of the output.
    pub(super) fn product(&self, part: &Part) -> Result<Product, String> {
        let [one, other] = part.elements.as_slice() else {
            return Err("an operand is multiplied with no other".to_owned());
        };
        if part.factor != 1 {
            return Err("its products are multiplied by a number".to_owned());
        }
        if one.1 != self.operand || other.1 != self.operand {
            return Err(format!(
                "`{}` and `{}` are not both arrays of the accelerator's operands",
                self.name(&one.0),
                self.name(&other.0)
            ));
        }
        let (one, other) = (&one.0, &other.0);
        let across = self.across();
        let moves = |address: &Affine| across.map(|dim| address.factor(dim) != 0);
        let rows = |address: &Affine| {
            let mut dims = self.write.dims.iter();
            dims.any(|dim| Some(*dim) != across && address.factor(*dim) != 0)
        };
        let (input, weights) = match (moves(one), moves(other)) {
            (Some(true), Some(true)) => {
                return Err(
                    "each of its columns is of inputs of its own, as in depthwise convolutions"
                        .to_owned(),
                );
            }
            (Some(false), Some(false)) => {
                return Err("all of its columns are the same".to_owned());
            }
            (Some(true), _) => (other, one),
            (Some(false), _) => (one, other),
            // One column: what is the same in all rows are the weights.
            (None, _) if rows(one) || !rows(other) => (one, other),
            (None, _) => (other, one),
        };
        let (mut input, mut weights) = (input.clone(), weights.clone());
        let mut counters = part.counters.clone();
        for counter in &part.counters {
            let factors = [input.factor(*counter), weights.factor(*counter)];
            if factors.contains(&0) {
                return Err("an operand is added up more than once".to_owned());
            }
            if factors[0] < 0 {
                // Backwards: the sum is the same the other way round.
                let last = self.counters.extent(*counter) - 1;
                let back = Affine::of(last).plus(&Affine::counter(*counter), -1);
                input = input.with(*counter, &back);
                weights = weights.with(*counter, &back);
            }
        }
        if counters.iter().any(|counter| weights.factor(*counter) < 0) {
            return Err("its weights lie the other way round than its inputs".to_owned());
        }
        let wide = |counter: &Counter| self.counters.extent(*counter) <= WIDE;
        counters.sort_by_key(|counter| (!wide(counter), input.factor(*counter)));
        let depth = counters.first().copied().filter(wide);
        if depth.is_some() {
            counters.remove(0);
        }
        Ok(Product {
            input,
            weights,
            depth,
            taken: 1,
            others: counters,
        })
    }

    fn name(&self, address: &Affine) -> &str {
        let memory = address.array().and_then(|array| self.memories.get(array));
        memory.map_or("", |memory| &memory.name)
    }

    /// Returns how rows of the output lie.
    pub(super) fn spacing(&self, products: &[Product]) -> Spacing {
        let width = self.write.element.bytes();
        let across = self.across();
        // Counters of columns are those that the weights depend on.
        let is_column = |dim: Counter| products.iter().any(|it| it.weights.factor(dim) != 0);
        let dims = self.write.dims.iter().copied();
        let rows = dims.filter(|dim| Some(*dim) != across && !is_column(*dim));
        let apart = rows
            .map(|dim| self.apart(dim))
            .filter(|apart| width < *apart)
            .min();
        let array = self.write.address.array();
        let memory = array.and_then(|array| self.memories.get(array));
        let declared = memory
            .filter(|memory| 1 < memory.extents.len())
            .and_then(|memory| memory.extents.last())
            .map(|extent| extent * width);
        // Columns of several products, as of heads, lie between two rows.
        let are_between = self.write.dims.iter().any(|dim| {
            let is_between = declared.zip(apart).is_some_and(|(declared, apart)| {
                declared <= self.apart(*dim) && self.apart(*dim) < apart
            });
            Some(*dim) != across && is_column(*dim) && is_between
        });
        Spacing {
            declared: declared.filter(|_| !are_between),
            apart,
            columns: across.map_or(1, |dim| self.counters.extent(dim)) * width,
        }
    }

    /// Adds the rows that are stored; returns how they lie.
    pub(super) fn add(
        &self,
        numbered: &mut Numbered,
        outputs: &mut Vec<Output>,
    ) -> Result<Spacing, String> {
        let across = self.across();
        let columns = across.map_or(1, |dim| self.counters.extent(dim));
        let wide = u16::try_from(columns).map_err(|_| "rows that are too long")?;
        let (sums, products): (Vec<&Part>, Vec<&Part>) =
            self.parts.iter().partition(|part| part.elements.len() == 1);
        let products: Result<Vec<Product>, String> = products
            .into_iter()
            .map(|part| self.product(part))
            .collect();
        let products = self.joined(products?);
        let mut addends = Vec::new();
        for part in sums {
            let (address, element) = &part.elements[0];
            if part.factor != 1 || !part.counters.is_empty() {
                return Err(format!("`{}` is added more than once", self.name(address)));
            }
            if across.is_some_and(|dim| address.factor(dim) != element.bytes()) {
                return Err(format!(
                    "elements of `{}` that are added to a row do not lie side by side",
                    self.name(address)
                ));
            }
            let is_wide = matches!(element, Element::Integer(4, true) | Element::Float);
            if !is_wide && *element != self.operand {
                return Err(format!(
                    "`{}` is neither an array of sums nor of operands",
                    self.name(address)
                ));
            }
            if part.scale != PLAIN && *element != self.operand {
                return Err(format!(
                    "`{}` is scaled, but no operand",
                    self.name(address)
                ));
            }
            addends.push((address, *element, part.scale));
        }
        let spacing = self.spacing(&products);
        let dims: Vec<Counter> = self.write.dims.to_vec();
        let rows: Vec<Counter> = dims
            .into_iter()
            .filter(|dim| Some(*dim) != across)
            .collect();
        let terms: i64 = products
            .iter()
            .map(|it| {
                it.others
                    .iter()
                    .map(|other| self.counters.extent(*other))
                    .product::<i64>()
            })
            .sum();
        self.within_limits(&rows, terms.max(1))?;
        let forms: Vec<u32> = products
            .iter()
            .map(|it| {
                let step = it
                    .depth
                    .map_or(0, |depth| it.input.factor(depth) / it.taken);
                numbered.form(Form {
                    step: step as u64,
                    scale: 1.0f32.to_bits(),
                })
            })
            .collect();
        for steps in self.steps(&rows) {
            let mut output = Output {
                address: self.at(&self.write.address, &steps),
                columns: wide,
                addends: Vec::with_capacity(addends.len()),
                terms: Vec::with_capacity(terms as usize),
            };
            for (address, element, scale) in &addends {
                output.addends.push(Place {
                    address: self.at(address, &steps),
                    columns: wide,
                    width: element.bytes() as u8,
                    scale: *scale,
                });
            }
            for (product, form) in products.iter().zip(&forms) {
                for others in self.steps(&product.others) {
                    let all = [steps.as_slice(), others.as_slice()].concat();
                    let depth = product.depth;
                    let weights = Weights {
                        address: self.at(&product.weights, &all),
                        pitch: depth.map_or(0, |it| product.weights.factor(it) / product.taken)
                            as u64,
                        across: across.map_or(0, |it| product.weights.factor(it)) as u64,
                        rows: depth.map_or(1, |it| self.counters.extent(it) * product.taken) as u16,
                        columns: wide,
                        scale: 1.0f32.to_bits(),
                    };
                    output.terms.push(Term {
                        input: self.at(&product.input, &all),
                        weights: numbered.weights(weights),
                        form: *form,
                    });
                }
            }
            outputs.push(output);
        }
        Ok(spacing)
    }

    /// Checks that there are not too many rows with so many products each.
    pub(super) fn within_limits(&self, rows: &[Counter], terms: i64) -> Result<(), String> {
        let extents = rows.iter().map(|dim| self.counters.extent(*dim));
        let count = extents.fold(terms, i64::saturating_mul);
        if ROWS < count {
            return Err("more rows and products than are followed".to_owned());
        }
        Ok(())
    }

    /// Returns an address in some steps.
    pub(super) fn at(&self, address: &Affine, steps: &[(Counter, i64)]) -> u64 {
        let mut place = address.constant;
        for (counter, step) in steps {
            place += address.factor(*counter) * step;
        }
        place as u64
    }

    /// Joins products of neighbouring elements that a loop takes several of in each step.
    fn joined(&self, products: Vec<Product>) -> Vec<Product> {
        let mut left = products;
        let mut joined = Vec::new();
        while let Some(first) = left.first() {
            let is_like = |other: &Product| {
                other.depth == first.depth
                    && other.others == first.others
                    && other.input.terms == first.input.terms
                    && other.weights.terms == first.weights.terms
            };
            let (mut like, others): (Vec<Product>, Vec<Product>) =
                left.iter().cloned().partition(is_like);
            left = others;
            like.sort_by_key(|it| it.input.constant);
            let [one, other] = [0, 1].map(|at| like.get(at.min(like.len() - 1)));
            let (Some(one), Some(other)) = (one.cloned(), other.cloned()) else {
                continue;
            };
            let count = like.len() as i64;
            let steps = [
                other.input.constant - one.input.constant,
                other.weights.constant - one.weights.constant,
            ];
            let is_even = like.iter().enumerate().all(|(at, it)| {
                it.input.constant == one.input.constant + at as i64 * steps[0]
                    && it.weights.constant == one.weights.constant + at as i64 * steps[1]
            });
            let fills = one.depth.is_some_and(|depth| {
                one.input.factor(depth) == count * steps[0]
                    && one.weights.factor(depth) == count * steps[1]
            });
            if 1 < count && is_even && fills && count <= TAKEN {
                joined.push(Product {
                    taken: count,
                    ..one
                });
            } else {
                joined.append(&mut like);
            }
        }
        joined
    }

    /// Returns all combinations of steps of some counters.
    pub(super) fn steps(&self, counters: &[Counter]) -> Vec<Vec<(Counter, i64)>> {
        let mut all = vec![Vec::new()];
        for counter in counters {
            let extent = self.counters.extent(*counter);
            let longer = |steps: &Vec<(Counter, i64)>| -> Vec<Vec<(Counter, i64)>> {
                (0..extent)
                    .map(|step| [steps.as_slice(), &[(*counter, step)]].concat())
                    .collect()
            };
            all = all.iter().flat_map(longer).collect();
        }
        all
    }
}
