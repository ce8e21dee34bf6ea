//! Whole numbers that move with loops.

use std::collections::BTreeMap;

/// A whole number: a constant and multiples of loop variables, or of quotients of such sums.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Affine {
    pub(crate) constant: i64,
    pub(crate) terms: BTreeMap<String, i64>,
}

impl Affine {
    pub(super) fn of(constant: i64) -> Self {
        Self {
            constant,
            terms: BTreeMap::new(),
        }
    }

    pub(super) fn variable(name: &str) -> Self {
        Self {
            constant: 0,
            terms: BTreeMap::from([(name.to_owned(), 1)]),
        }
    }

    pub(crate) fn plus(&self, other: &Self, sign: i64) -> Option<Self> {
        let mut sum = self.clone();
        sum.constant = sum
            .constant
            .checked_add(other.constant.checked_mul(sign)?)?;
        for (name, factor) in &other.terms {
            let term = sum.terms.entry(name.clone()).or_default();
            *term = term.checked_add(factor.checked_mul(sign)?)?;
        }
        sum.terms.retain(|_, factor| *factor != 0);
        Some(sum)
    }

    pub(super) fn times(&self, factor: i64) -> Option<Self> {
        let mut product = self.clone();
        product.constant = product.constant.checked_mul(factor)?;
        for term in product.terms.values_mut() {
            *term = term.checked_mul(factor)?;
        }
        product.terms.retain(|_, factor| *factor != 0);
        Some(product)
    }

    /// A quotient or remainder by a number above zero, which no sum of multiples is: as a variable
    /// of its own, whose name is what it is as text of a kernel.
    pub(super) fn quotient(&self, sign: &str, by: i64) -> Option<Self> {
        (0 < by).then(|| Self::variable(&format!("(({}) {sign} {by})", self.text())))
    }

    /// The names that a variable is made of: its own, or those in a quotient.
    pub(crate) fn names_in(variable: &str) -> impl Iterator<Item = &str> {
        let words = variable.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.filter(|it| it.starts_with(|c: char| c.is_alphabetic() || c == '_'))
    }

    pub(crate) fn fixed(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// As text of a kernel.
    pub(crate) fn text(&self) -> String {
        let mut parts: Vec<String> = self
            .terms
            .iter()
            .map(|(name, factor)| {
                if *factor == 1 {
                    name.clone()
                } else {
                    format!("{name} * {factor}")
                }
            })
            .collect();
        if self.constant != 0 || parts.is_empty() {
            parts.push(self.constant.to_string());
        }
        parts.join(" + ")
    }
}
