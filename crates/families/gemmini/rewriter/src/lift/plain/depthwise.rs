//! Depthwise convolutions: the core lays weights on diagonals, so that the array takes as
//! many channels at once as it has columns.

use super::super::contents::{Form, Numbered, Output, Place, Term, Weights};
use super::affine::{Affine, Counter};
use super::linear::Part;
use super::rows::{Rows, Spacing};
use crate::memory::{Memory, Type};

impl Rows<'_> {
    /// Returns the array of the weights if each column is of inputs of its own: the smaller of
    /// the two arrays that are multiplied.
    pub(super) fn diagonal(&self) -> Option<usize> {
        let across = self.across()?;
        let mut found = None;
        for part in self.parts.iter().filter(|it| it.elements.len() == 2) {
            let is_deep = |it: &(Affine, super::node::Element)| {
                it.1 == self.operand && it.0.factor(across) == self.operand.bytes()
            };
            if part.factor != 1 || !part.elements.iter().all(is_deep) {
                return None;
            }
            let arrays: Option<Vec<(i64, usize)>> = part
                .elements
                .iter()
                .map(|(address, _)| {
                    let array = address.array()?;
                    Some((self.memories.get(array)?.bytes()?, array))
                })
                .collect();
            let weights = arrays?.into_iter().min()?.1;
            if *found.get_or_insert(weights) != weights {
                return None;
            }
        }
        found.filter(|_| self.operand.bytes() == 1)
    }

    /// Adds the rows that are stored, of weights that lie on diagonals in another array.
    pub(super) fn add_grouped(
        &self,
        [weights, diagonals]: [usize; 2],
        dim: i64,
        numbered: &mut Numbered,
        outputs: &mut Vec<Output>,
    ) -> Result<Spacing, String> {
        let across = self.across().ok_or("it has one column")?;
        let channels = self.counters.extent(across);
        if channels % dim != 0 {
            return Err("groups of channels that do not fill the array".to_owned());
        }
        let dims = self.write.dims.iter().copied();
        let rows: Vec<Counter> = dims.filter(|dim| *dim != across).collect();
        let form = numbered.form(Form {
            step: 1,
            scale: 1.0f32.to_bits(),
        });
        let own = |part: &Part| {
            let of = |it: &(Affine, super::node::Element)| it.0.array() == Some(weights);
            let [one, other] = part.elements.as_slice() else {
                return None;
            };
            Some(if of(other) {
                (one.0.clone(), other.0.clone())
            } else {
                (other.0.clone(), one.0.clone())
            })
        };
        self.within_limits(&rows, channels / dim)?;
        for steps in self.steps(&rows) {
            for group in 0..channels / dim {
                let mut all = steps.clone();
                all.push((across, group * dim));
                let mut output = Output {
                    address: self.at(&self.write.address, &all),
                    columns: dim as u16,
                    addends: Vec::new(),
                    terms: Vec::new(),
                };
                for part in self.parts {
                    let Some((input, weights)) = own(part) else {
                        let (address, element) = &part.elements[0];
                        if part.factor != 1
                            || !part.counters.is_empty()
                            || address.factor(across) != element.bytes()
                        {
                            return Err("what is added to its sums is no row".to_owned());
                        }
                        output.addends.push(Place {
                            address: self.at(address, &all),
                            columns: dim as u16,
                            width: element.bytes() as u8,
                            scale: 1.0f32.to_bits(),
                        });
                        continue;
                    };
                    for others in self.steps(&part.counters) {
                        let place = [all.as_slice(), others.as_slice()].concat();
                        let (_, tap) = Memory::of(self.at(&weights, &place)).ok_or("no weights")?;
                        if tap % channels != group * dim {
                            return Err(
                                "weights of channels that do not lie side by side".to_owned()
                            );
                        }
                        let weights = Weights {
                            address: Memory::base(diagonals) + (tap * dim) as u64,
                            pitch: dim as u64,
                            across: 1,
                            rows: dim as u16,
                            columns: dim as u16,
                            scale: 1.0f32.to_bits(),
                        };
                        output.terms.push(Term {
                            input: self.at(&input, &place),
                            weights: numbered.weights(weights),
                            form,
                        });
                    }
                }
                outputs.push(output);
            }
        }
        Ok(self.spacing(&[]))
    }
}

/// Returns the array for weights on diagonals, and the code that lays them there.
pub(super) fn laid(memory: &Memory, channels: i64, dim: i64) -> (Memory, String) {
    let bytes = memory.bytes().unwrap_or(0);
    let name = format!("{}_diagonal", memory.name);
    let text = format!(
        "  for (int n = 0; n < {bytes}; n++) {{\n    {name}[n][n % {channels} % {dim}] = \
         ((const int8_t *){})[n];\n  }}\n",
        memory.name
    );
    (
        Memory::added(name, Type::Integer(1, true), true, vec![bytes, dim]),
        text,
    )
}
