//! Integer expressions of loop variables in a normal form.
//!
//! An [`Affine`] is a sum of atoms with integer coefficients and a constant;
//! an [`Atom`] is a variable, or a quotient or remainder of an affine
//! expression by a positive constant. Everything an address needs fits this
//! form, and equal expressions have equal forms. Quotients and remainders
//! assume non-negative operands, as C's operators agree with the mathematical
//! ones only there; addresses and indices are non-negative in any kernel that
//! the evaluator accepts.

use std::collections::BTreeMap;

/// An indivisible part of an [`Affine`] expression.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    /// A variable, by name.
    Variable(String),
    /// The quotient of an expression and a constant above one.
    Quotient(Affine, i64),
    /// The remainder of an expression and a constant above one.
    Remainder(Affine, i64),
}

/// A sum of atoms with integer coefficients and a constant.
///
/// Operations return `None` where a coefficient would leave 64 bits.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Affine {
    /// Coefficients, none of them zero.
    terms: BTreeMap<Atom, i64>,
    constant: i64,
}

impl Affine {
    /// Returns the constant `value`.
    #[must_use]
    pub fn constant(value: i64) -> Self {
        Self {
            terms: BTreeMap::new(),
            constant: value,
        }
    }

    /// Returns the variable `name`.
    #[must_use]
    pub fn variable(name: &str) -> Self {
        Self::atom(Atom::Variable(name.to_owned()))
    }

    fn atom(atom: Atom) -> Self {
        Self {
            terms: BTreeMap::from([(atom, 1)]),
            constant: 0,
        }
    }

    /// Returns the value if there are no atoms.
    #[must_use]
    pub fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// Returns the constant part.
    #[must_use]
    pub fn constant_part(&self) -> i64 {
        self.constant
    }

    /// Iterates over atoms and their coefficients.
    pub fn terms(&self) -> impl Iterator<Item = (&Atom, i64)> {
        self.terms
            .iter()
            .map(|(atom, coefficient)| (atom, *coefficient))
    }

    /// Adds `coefficient` times `atom`; a term that overflows or vanishes is dropped.
    pub fn push(&mut self, atom: Atom, coefficient: i64) {
        let sum = self
            .terms
            .get(&atom)
            .copied()
            .unwrap_or(0)
            .saturating_add(coefficient);
        if sum == 0 {
            self.terms.remove(&atom);
        } else {
            self.terms.insert(atom, sum);
        }
    }

    /// Returns the sum with `other`.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Option<Self> {
        let mut sum = self.clone();
        sum.constant = sum.constant.checked_add(other.constant)?;
        for (atom, coefficient) in &other.terms {
            let entry = sum.terms.entry(atom.clone()).or_insert(0);
            *entry = entry.checked_add(*coefficient)?;
            if *entry == 0 {
                sum.terms.remove(atom);
            }
        }
        Some(sum)
    }

    /// Returns the sum with a constant.
    #[must_use]
    pub fn plus_constant(&self, value: i64) -> Option<Self> {
        let mut sum = self.clone();
        sum.constant = sum.constant.checked_add(value)?;
        Some(sum)
    }

    /// Returns the difference to `other`.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Option<Self> {
        self.plus(&other.times(-1)?)
    }

    /// Returns the product with a constant.
    #[must_use]
    pub fn times(&self, factor: i64) -> Option<Self> {
        if factor == 0 {
            return Some(Self::constant(0));
        }
        let mut product = Self::constant(self.constant.checked_mul(factor)?);
        for (atom, coefficient) in &self.terms {
            product
                .terms
                .insert(atom.clone(), coefficient.checked_mul(factor)?);
        }
        Some(product)
    }

    /// Returns the quotient by a positive constant; `None` if `divisor` is not positive.
    #[must_use]
    pub fn divided_by(&self, divisor: i64) -> Option<Self> {
        match divisor {
            1 => Some(self.clone()),
            2.. => {
                if let Some(value) = self.as_constant() {
                    return Some(Self::constant(value / divisor));
                }
                let exact = self.constant % divisor == 0
                    && self
                        .terms
                        .values()
                        .all(|coefficient| coefficient % divisor == 0);
                if exact {
                    let mut quotient = self.clone();
                    quotient.constant /= divisor;
                    quotient
                        .terms
                        .values_mut()
                        .for_each(|coefficient| *coefficient /= divisor);
                    return Some(quotient);
                }
                Some(Self::atom(Atom::Quotient(self.clone(), divisor)))
            }
            _ => None,
        }
    }

    /// Returns the remainder by a positive constant; `None` if `divisor` is not positive.
    #[must_use]
    pub fn remainder_by(&self, divisor: i64) -> Option<Self> {
        match divisor {
            1 => Some(Self::constant(0)),
            2.. => {
                // Multiples of the divisor vanish, and the rest is made non-negative.
                let mut rest = Self::constant(self.constant.rem_euclid(divisor));
                for (atom, coefficient) in &self.terms {
                    let reduced = coefficient.rem_euclid(divisor);
                    if reduced != 0 {
                        rest.terms.insert(atom.clone(), reduced);
                    }
                }
                if rest.terms.is_empty() {
                    return Some(rest);
                }
                Some(Self::atom(Atom::Remainder(rest, divisor)))
            }
            _ => None,
        }
    }

    /// Returns whether the variable `name` occurs.
    #[must_use]
    pub fn mentions(&self, name: &str) -> bool {
        self.terms.keys().any(|atom| match atom {
            Atom::Variable(variable) => variable == name,
            Atom::Quotient(inner, _) | Atom::Remainder(inner, _) => inner.mentions(name),
        })
    }

    /// Adds the names of all variables to `names`.
    pub fn collect_variables(&self, names: &mut Vec<String>) {
        for atom in self.terms.keys() {
            match atom {
                Atom::Variable(variable) => {
                    if !names.contains(variable) {
                        names.push(variable.clone());
                    }
                }
                Atom::Quotient(inner, _) | Atom::Remainder(inner, _) => {
                    inner.collect_variables(names);
                }
            }
        }
    }

    /// Returns the expression with `value` in the place of the variable `name`.
    #[must_use]
    pub fn substitute(&self, name: &str, value: &Self) -> Option<Self> {
        if !self.mentions(name) {
            return Some(self.clone());
        }
        let mut result = Self::constant(self.constant);
        for (atom, coefficient) in &self.terms {
            let replaced = match atom {
                Atom::Variable(variable) if variable == name => value.clone(),
                Atom::Variable(_) => Self::atom(atom.clone()),
                Atom::Quotient(inner, divisor) => {
                    inner.substitute(name, value)?.divided_by(*divisor)?
                }
                Atom::Remainder(inner, divisor) => {
                    inner.substitute(name, value)?.remainder_by(*divisor)?
                }
            };
            result = result.plus(&replaced.times(*coefficient)?)?;
        }
        Some(result)
    }

    /// Returns the value under `value_of`; `None` if a variable has none or on overflow.
    pub fn evaluate(&self, value_of: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        let mut sum = self.constant;
        for (atom, coefficient) in &self.terms {
            let value = match atom {
                Atom::Variable(variable) => value_of(variable)?,
                Atom::Quotient(inner, divisor) => inner.evaluate(value_of)? / divisor,
                Atom::Remainder(inner, divisor) => inner.evaluate(value_of)? % divisor,
            };
            sum = sum.checked_add(value.checked_mul(*coefficient)?)?;
        }
        Some(sum)
    }

    /// Returns the C text of the expression.
    #[must_use]
    pub fn to_c(&self) -> String {
        let mut text = String::new();
        if self.constant != 0 || self.terms.is_empty() {
            text.push_str(&self.constant.to_string());
        }
        // Positive terms first, so that the text rarely starts with a sign.
        let ordered = self
            .terms
            .iter()
            .filter(|(_, coefficient)| 0 < **coefficient)
            .chain(
                self.terms
                    .iter()
                    .filter(|(_, coefficient)| **coefficient < 0),
            );
        for (atom, coefficient) in ordered {
            let magnitude = coefficient.unsigned_abs();
            if text.is_empty() {
                if *coefficient < 0 {
                    text.push('-');
                }
            } else {
                text.push_str(if *coefficient < 0 { " - " } else { " + " });
            }
            if magnitude != 1 {
                text.push_str(&format!("{magnitude} * "));
            }
            let grouped = magnitude != 1 || *coefficient < 0;
            text.push_str(&atom.to_c(grouped));
        }
        text
    }

    /// Returns the C text, in parentheses if it is more than one operand.
    #[must_use]
    pub fn to_c_operand(&self) -> String {
        let simple = match (self.constant, self.terms.len()) {
            (value, 0) => 0 <= value,
            (0, 1) => self
                .terms
                .iter()
                .all(|(atom, coefficient)| *coefficient == 1 && matches!(atom, Atom::Variable(_))),
            _ => false,
        };
        let text = self.to_c();
        if simple { text } else { format!("({text})") }
    }
}

impl Atom {
    fn to_c(&self, grouped: bool) -> String {
        let text = match self {
            Self::Variable(name) => return name.clone(),
            Self::Quotient(inner, divisor) => format!("{} / {divisor}", inner.to_c_operand()),
            Self::Remainder(inner, divisor) => format!("{} % {divisor}", inner.to_c_operand()),
        };
        if grouped { format!("({text})") } else { text }
    }
}
