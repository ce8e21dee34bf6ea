//! Elements as sums of other elements and of products of two.
//!
//! Equal values have equal numbers, so comparing them costs nothing.

use std::collections::HashMap;

/// Terms that are held at most, over all values.
const TERM_LIMIT: usize = 2_000_000;

/// Number of a value.
pub(crate) type Id = u32;

/// A factor times a value, or times the product of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term {
    /// The smaller of two numbers comes first.
    pub(crate) value: Id,
    pub(crate) times: Option<Id>,
    /// Bits of the factor.
    factor: u32,
}

impl Term {
    pub(crate) fn factor(&self) -> f32 {
        f32::from_bits(self.factor)
    }
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// What an element of an array holds at the beginning.
    Given { array: usize, element: i64 },
    /// A number that is known: its bits.
    Constant(u32),
    /// A sum.
    Sum(Vec<Term>),
}

/// All values.
#[derive(Debug, Default)]
pub struct Values {
    all: Vec<Value>,
    numbers: HashMap<Value, Id>,
    /// Sums that are written somewhere: terms of later sums, not parts of them.
    named: Vec<bool>,
    terms: usize,
}

impl Values {
    /// Returns whether a value is written somewhere.
    pub(crate) fn is_named(&self, id: Id) -> bool {
        self.named[id as usize]
    }

    pub(crate) fn get(&self, id: Id) -> &Value {
        &self.all[id as usize]
    }

    fn number(&mut self, value: Value) -> Id {
        if let Some(id) = self.numbers.get(&value) {
            return *id;
        }
        let id = self.all.len() as Id;
        if let Value::Sum(terms) = &value {
            self.terms += terms.len();
        }
        self.all.push(value.clone());
        self.named.push(false);
        self.numbers.insert(value, id);
        id
    }

    pub fn given(&mut self, array: usize, element: i64) -> Id {
        self.number(Value::Given { array, element })
    }

    pub(crate) fn constant(&mut self, value: f32) -> Id {
        // Both zeros are one.
        self.number(Value::Constant((value + 0.0).to_bits()))
    }

    /// Notes that a value is written somewhere.
    pub(crate) fn name(&mut self, id: Id) {
        self.named[id as usize] = true;
    }

    /// Returns the terms of a value inside a sum.
    fn terms(&self, id: Id, factor: f32, into: &mut Vec<Term>) {
        match self.get(id) {
            Value::Sum(terms) if !self.named[id as usize] => {
                into.extend(terms.iter().map(|term| Term {
                    factor: (term.factor() * factor).to_bits(),
                    ..*term
                }));
            }
            Value::Constant(bits) if f32::from_bits(*bits) == 0.0 => {}
            _ => into.push(Term {
                value: id,
                times: None,
                factor: factor.to_bits(),
            }),
        }
    }

    /// Returns a sum of terms.
    ///
    /// # Errors
    /// If there are more than are followed.
    pub(crate) fn sum(&mut self, mut terms: Vec<Term>) -> Result<Id, String> {
        terms.sort_unstable();
        let mut kept: Vec<Term> = Vec::with_capacity(terms.len());
        for term in terms {
            match kept.last_mut() {
                Some(last) if (last.value, last.times) == (term.value, term.times) => {
                    last.factor = (last.factor() + term.factor()).to_bits();
                }
                _ => kept.push(term),
            }
        }
        kept.retain(|term| term.factor() != 0.0);
        if TERM_LIMIT < self.terms + kept.len() {
            return Err("more sums than are followed".to_owned());
        }
        match kept.as_slice() {
            [] => Ok(self.constant(0.0)),
            [only] if only.times.is_none() && only.factor() == 1.0 => Ok(only.value),
            _ => Ok(self.number(Value::Sum(kept))),
        }
    }

    /// Returns `left + factor * right`.
    pub fn add(&mut self, left: Id, right: Id, factor: f32) -> Result<Id, String> {
        let number = |values: &Self, id: Id| match values.get(id) {
            Value::Constant(bits) => Some(f32::from_bits(*bits)),
            _ => None,
        };
        if let (Some(left), Some(right)) = (number(self, left), number(self, right)) {
            return Ok(self.constant(left + factor * right));
        }
        let mut terms = Vec::new();
        self.terms(left, 1.0, &mut terms);
        self.terms(right, factor, &mut terms);
        self.sum(terms)
    }

    /// Returns a multiple of a value.
    pub(crate) fn scale(&mut self, id: Id, factor: f32) -> Result<Id, String> {
        if factor == 1.0 {
            return Ok(id);
        }
        if let Value::Constant(bits) = *self.get(id) {
            return Ok(self.constant(f32::from_bits(bits) * factor));
        }
        let mut terms = Vec::new();
        self.terms(id, factor, &mut terms);
        self.sum(terms)
    }

    /// Returns a product of two values as a term of a sum; `None` if it is zero.
    ///
    /// # Errors
    /// If a factor is a sum that is written nowhere.
    pub(crate) fn product(&mut self, left: Id, right: Id) -> Result<Option<Term>, String> {
        for (one, other) in [(left, right), (right, left)] {
            if let Value::Constant(bits) = *self.get(one) {
                let factor = f32::from_bits(bits);
                return Ok((factor != 0.0 && other != one).then_some(Term {
                    value: other,
                    times: None,
                    factor: factor.to_bits(),
                }));
            }
        }
        let ((left, one), (right, other)) = (self.without_factor(left), self.without_factor(right));
        self.name(left);
        self.name(right);
        Ok(Some(Term {
            value: left.min(right),
            times: Some(left.max(right)),
            factor: (one * other).to_bits(),
        }))
    }

    /// Returns what a value is a multiple of, and the factor.
    fn without_factor(&self, id: Id) -> (Id, f32) {
        match self.get(id) {
            Value::Sum(terms) => match terms.as_slice() {
                [term] if term.times.is_none() => (term.value, term.factor()),
                _ => (id, 1.0),
            },
            _ => (id, 1.0),
        }
    }

    /// Puts sums that only one other sum takes as a term in their place there.
    ///
    /// Returns the values that stand for those that `outputs` need afterwards.
    ///
    /// # Errors
    /// If there are more terms than are followed.
    pub(crate) fn fused(&self, outputs: &[Id]) -> Result<(Self, HashMap<Id, Id>), String> {
        let mut uses: HashMap<Id, (u32, bool)> = HashMap::new();
        let mut seen = vec![false; self.all.len()];
        let mut stack = outputs.to_vec();
        for output in outputs {
            uses.entry(*output).or_default().1 = true;
        }
        while let Some(id) = stack.pop() {
            if std::mem::replace(&mut seen[id as usize], true) {
                continue;
            }
            let Value::Sum(terms) = self.get(id) else {
                continue;
            };
            for term in terms {
                stack.push(term.value);
                stack.extend(term.times);
                match term.times {
                    None => uses.entry(term.value).or_default().0 += 1,
                    Some(times) => {
                        uses.entry(term.value).or_default().1 = true;
                        uses.entry(times).or_default().1 = true;
                    }
                }
            }
        }
        let is_kept = |id: Id| match self.get(id) {
            Value::Sum(terms) => {
                let (linear, needed) = uses.get(&id).copied().unwrap_or_default();
                needed || 1 < linear && terms.iter().any(|term| term.times.is_some())
            }
            _ => true,
        };
        let mut new = Self::default();
        let mut numbers: HashMap<Id, Id> = HashMap::new();
        // A sum is younger than its terms.
        for id in 0..self.all.len() as Id {
            if !seen[id as usize] {
                continue;
            }
            let number = match self.get(id) {
                Value::Sum(terms) => {
                    let mut sum = Vec::new();
                    for term in terms {
                        let value = numbers[&term.value];
                        match term.times {
                            Some(times) => {
                                let times = numbers[&times];
                                sum.push(Term {
                                    value: value.min(times),
                                    times: Some(value.max(times)),
                                    factor: term.factor,
                                });
                            }
                            None => new.terms(value, term.factor(), &mut sum),
                        }
                    }
                    let number = new.sum(sum)?;
                    if is_kept(id) {
                        new.name(number);
                    }
                    number
                }
                other => new.number(other.clone()),
            };
            numbers.insert(id, number);
        }
        Ok((new, numbers))
    }

    /// Returns what values come to, computed with numbers that stand for what is
    /// given, in a field of 2^61 - 1 elements: equal only for what is equal
    /// whatever is given, up to chance.
    pub(crate) fn fingerprints(&self, given: &dyn Fn(usize, i64) -> u64) -> Vec<u64> {
        let mut prints: Vec<u64> = Vec::with_capacity(self.all.len());
        for value in &self.all {
            prints.push(match value {
                Value::Given { array, element } => given(*array, *element) % FIELD,
                Value::Constant(bits) => in_field(f32::from_bits(*bits)),
                Value::Sum(terms) => terms.iter().fold(0, |sum, term| {
                    let product = term.times.map_or(1, |times| prints[times as usize]);
                    let product = multiply(prints[term.value as usize], product);
                    (sum + multiply(in_field(term.factor()), product)) % FIELD
                }),
            });
        }
        prints
    }
}

/// A prime: the number of elements of the field.
pub const FIELD: u64 = (1 << 61) - 1;

pub fn multiply(left: u64, right: u64) -> u64 {
    (u128::from(left) * u128::from(right) % u128::from(FIELD)) as u64
}

/// Returns the element that stands for a float, which is a whole number times a
/// power of two.
pub fn in_field(value: f32) -> u64 {
    if !value.is_finite() || value == 0.0 {
        return 0;
    }
    let bits = value.to_bits();
    let exponent = i64::from(bits >> 23 & 0xff);
    let fraction = u64::from(bits & 0x7f_ffff);
    let (whole, power) = match exponent {
        0 => (fraction, -149),
        _ => (fraction | 0x80_0000, exponent - 150),
    };
    // 2^61 is 1 in this field.
    let shift = power.rem_euclid(61) as u32;
    let size = multiply(whole, 1 << shift);
    if value < 0.0 { FIELD - size } else { size }
}
