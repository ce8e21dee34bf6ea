//! Integers that depend on how far loops have come.

use super::super::Reason;
use crate::memory::Memory;

/// Number of a counter: which step of a loop is done, from 0.
pub(super) type Counter = u32;

/// A constant and multiples of counters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Affine {
    pub(super) constant: i64,
    /// By counter; no factor is zero.
    pub(super) terms: Vec<(Counter, i64)>,
}

/// Why something cannot be followed for all steps of a loop at once.
#[derive(Clone, Debug)]
pub(super) enum Stop {
    /// It cannot be followed at all.
    Refused(Reason),
    /// It is one thing in the steps before this one of the counter, and another from it on.
    Split(Counter, i64),
    /// It may differ in each step of the counter.
    Each(Counter),
    /// The counter runs over a flat index; each row of that index has so many steps, so the loop
    /// becomes one over rows and one over the steps of a row.
    Nest(Counter, i64),
    /// A variable is needed that changes in a way that is not known.
    Unknown,
}

impl From<Reason> for Stop {
    fn from(reason: Reason) -> Self {
        Self::Refused(reason)
    }
}

/// Returns a stop for good.
pub(super) fn refused(why: impl Into<String>) -> Stop {
    Stop::Refused(Reason::at(0, &why.into()))
}

impl Affine {
    pub(super) fn of(constant: i64) -> Self {
        Self {
            constant,
            terms: Vec::new(),
        }
    }

    pub(super) fn counter(counter: Counter) -> Self {
        Self {
            constant: 0,
            terms: vec![(counter, 1)],
        }
    }

    /// Returns the number of the array in which an address lies.
    pub(super) fn array(&self) -> Option<usize> {
        Memory::of(self.constant as u64).map(|it| it.0)
    }

    /// Returns its value if it depends on no counter.
    pub(super) fn known(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// Returns the counters that it depends on.
    pub(super) fn counters(&self) -> Vec<Counter> {
        self.terms.iter().map(|term| term.0).collect()
    }

    pub(super) fn factor(&self, counter: Counter) -> i64 {
        let found = self.terms.iter().find(|term| term.0 == counter);
        found.map_or(0, |term| term.1)
    }

    /// Returns `self + times * other`.
    pub(super) fn plus(&self, other: &Self, times: i64) -> Self {
        let mut sum = self.clone();
        sum.constant = sum
            .constant
            .wrapping_add(other.constant.wrapping_mul(times));
        for (counter, factor) in &other.terms {
            let factor = factor.wrapping_mul(times);
            match sum.terms.binary_search_by_key(counter, |term| term.0) {
                Ok(at) => sum.terms[at].1 = sum.terms[at].1.wrapping_add(factor),
                Err(at) => sum.terms.insert(at, (*counter, factor)),
            }
        }
        sum.terms.retain(|term| term.1 != 0);
        sum
    }

    pub(super) fn times(&self, factor: i64) -> Self {
        Self::of(0).plus(self, factor)
    }

    /// Returns it with something else in place of a counter.
    pub(super) fn with(&self, counter: Counter, value: &Self) -> Self {
        match self.factor(counter) {
            0 => self.clone(),
            factor => self.without(counter).plus(value, factor),
        }
    }

    pub(super) fn without(&self, counter: Counter) -> Self {
        let mut left = self.clone();
        left.terms.retain(|term| term.0 != counter);
        left
    }
}

/// All counters: how many steps each of them has.
#[derive(Clone, Debug, Default)]
pub(super) struct Counters(Vec<i64>);

impl Counters {
    pub(super) fn new_of(&mut self, extent: i64) -> Counter {
        self.0.push(extent);
        self.0.len() as Counter - 1
    }

    pub(super) fn extent(&self, counter: Counter) -> i64 {
        self.0[counter as usize]
    }

    /// Returns the least and the greatest value.
    pub(super) fn range(&self, value: &Affine) -> [i128; 2] {
        let mut range = [i128::from(value.constant); 2];
        for (counter, factor) in &value.terms {
            let most = i128::from(*factor) * i128::from(self.extent(*counter) - 1);
            range[usize::from(0 < most)] += most;
        }
        range
    }

    /// Returns the counter in some values that has the fewest steps, as a stop.
    pub(super) fn each(&self, values: &[&Affine]) -> Stop {
        let terms = values.iter().flat_map(|value| &value.terms);
        terms
            .map(|term| term.0)
            .min_by_key(|counter| self.extent(*counter))
            .map_or_else(|| refused("a number that is not followed"), Stop::Each)
    }

    /// Returns whether a value is negative, whatever the step.
    pub(super) fn is_negative(&self, value: &Affine) -> Result<bool, Stop> {
        let [least, most] = self.range(value);
        if most < 0 || 0 <= least {
            return Ok(most < 0);
        }
        let [(counter, factor)] = *value.terms.as_slice() else {
            return Err(self.each(&[value]));
        };
        let constant = value.constant;
        let at = if 0 < factor {
            (factor - constant - 1).div_euclid(factor)
        } else {
            constant.div_euclid(-factor) + 1
        };
        Err(Stop::Split(counter, at))
    }

    /// Returns whether a value is zero, whatever the step.
    pub(super) fn is_zero(&self, value: &Affine) -> Result<bool, Stop> {
        let [least, most] = self.range(value);
        if 0 < least || most < 0 {
            return Ok(false);
        }
        match *value.terms.as_slice() {
            [] => Ok(true),
            [(_, factor)] if value.constant % factor != 0 => Ok(false),
            [(counter, factor)] => Err(Stop::Split(counter, (-value.constant / factor).max(1))),
            _ => Err(self.each(&[value])),
        }
    }

    /// Returns the quotient and the remainder of an element's place where those from 0 to
    /// `reach` are taken of each `divisor`: a remainder beyond that means none of them.
    /// Nothing if that differs from step to step.
    pub(super) fn nearest(&self, value: &Affine, divisor: i64, reach: i128) -> Option<[Affine; 2]> {
        let whole = i128::from(divisor);
        [0, 1].into_iter().find_map(|more| {
            let mut quotient = Affine::of(value.constant.div_euclid(divisor) + more);
            for (counter, factor) in &value.terms {
                quotient = quotient.plus(&Affine::counter(*counter), factor / divisor);
            }
            let rest = value.plus(&quotient, -divisor);
            let [least, most] = self.range(&rest);
            (reach - whole < least && most < whole).then_some([quotient, rest])
        })
    }

    /// Returns the quotient and the remainder, from 0 to `divisor - 1`.
    pub(super) fn divided(&self, value: &Affine, divisor: i64) -> Result<[Affine; 2], Stop> {
        let mut quotient = Affine::of(value.constant.div_euclid(divisor));
        let mut rest = Affine::of(value.constant.rem_euclid(divisor));
        for (counter, factor) in &value.terms {
            let one = Affine::counter(*counter);
            quotient = quotient.plus(&one, factor.div_euclid(divisor));
            rest = rest.plus(&one, factor.rem_euclid(divisor));
        }
        if self.range(&rest)[1] < i128::from(divisor) {
            return Ok([quotient, rest]);
        }
        // Factors below zero may be nearer.
        let mut near = [Affine::of(quotient.constant), Affine::of(rest.constant)];
        for (counter, factor) in &value.terms {
            let one = Affine::counter(*counter);
            near[0] = near[0].plus(&one, factor / divisor);
            near[1] = near[1].plus(&one, factor % divisor);
        }
        let [least, most] = self.range(&near[1]);
        let lines = least.div_euclid(i128::from(divisor));
        if lines == most.div_euclid(i128::from(divisor)) {
            let lines = lines as i64;
            near[0].constant += lines;
            near[1].constant -= lines * divisor;
            return Ok(near);
        }
        let [(counter, factor)] = *rest.terms.as_slice() else {
            return Err(self.each(&[&rest]));
        };
        if rest.constant == 0 && divisor % factor == 0 {
            return Err(Stop::Nest(counter, divisor / factor));
        }
        let at = (divisor - rest.constant + factor - 1) / factor;
        Err(Stop::Split(counter, at))
    }
}
