//! Index expressions that are affine in the positions of a tile, and the masks made of them.

/// `constant + Σ coefficient·position` over the dimensions of a tile.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Index {
    /// Size of each dimension; 1 where the index does not vary.
    pub(crate) shape: Vec<usize>,
    /// Coefficient of each dimension.
    pub(crate) coefficients: Vec<i64>,
    /// Value at position zero.
    pub(crate) constant: i64,
}

impl Index {
    /// `start, start+step, …`: one dimension.
    pub(crate) fn range(start: i64, size: usize, step: i64) -> Self {
        Self {
            shape: vec![size],
            coefficients: vec![step],
            constant: start,
        }
    }

    /// Smallest and largest value.
    pub(crate) fn bounds(&self) -> (i64, i64) {
        let mut low = self.constant;
        let mut high = self.constant;
        for (size, coefficient) in self.shape.iter().zip(&self.coefficients) {
            let span = coefficient.saturating_mul(*size as i64 - 1);
            if span >= 0 {
                high = high.saturating_add(span);
            } else {
                low = low.saturating_add(span);
            }
        }
        (low, high)
    }

    /// Sum or difference, shapes broadcast; `None` where they do not fit or overflow.
    pub(crate) fn combine(&self, other: &Self, sign: i64) -> Option<Self> {
        let shape = broadcast(&self.shape, &other.shape)?;
        let rank = shape.len();
        let mut coefficients = vec![0; rank];
        for (index, factor) in [(self, 1), (other, sign)] {
            let skip = rank - index.shape.len();
            for (dimension, coefficient) in index.coefficients.iter().enumerate() {
                let slot = &mut coefficients[skip + dimension];
                *slot = coefficient.checked_mul(factor)?.checked_add(*slot)?;
            }
        }
        let constant = other
            .constant
            .checked_mul(sign)?
            .checked_add(self.constant)?;
        Some(Self {
            shape,
            coefficients,
            constant,
        })
    }

    /// The index plus a number.
    pub(crate) fn shift(&self, by: i64) -> Option<Self> {
        Some(Self {
            constant: self.constant.checked_add(by)?,
            ..self.clone()
        })
    }

    /// The index times a number.
    pub(crate) fn scale(&self, by: i64) -> Option<Self> {
        Some(Self {
            shape: self.shape.clone(),
            coefficients: self
                .coefficients
                .iter()
                .map(|c| c.checked_mul(by))
                .collect::<Option<_>>()?,
            constant: self.constant.checked_mul(by)?,
        })
    }
}

/// Shape of two shapes broadcast together.
pub(crate) fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let rank = a.len().max(b.len());
    let mut shape = vec![1; rank];
    for (position, slot) in shape.iter_mut().enumerate() {
        let pick = |s: &[usize]| {
            let skip = rank - s.len();
            if position < skip {
                1
            } else {
                s[position - skip]
            }
        };
        let (x, y) = (pick(a), pick(b));
        *slot = match (x, y) {
            (x, y) if x == y => x,
            (1, y) => y,
            (x, 1) => x,
            _ => return None,
        };
    }
    Some(shape)
}

/// A conjunction of conditions `index ≥ 0`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mask {
    /// The conditions; none means always.
    pub(crate) conditions: Vec<Index>,
    /// Whether the mask excludes everything, whatever the conditions say.
    pub(crate) never: bool,
}

/// A mask applied to a tile: a box, and where that does not suffice, elements of the box.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Selection {
    /// Everything.
    All,
    /// Nothing.
    Nothing,
    /// `low..high` in every dimension, and flags for the elements of that box if it is not full.
    Part(Vec<(usize, usize)>, Option<Vec<bool>>),
}

impl Mask {
    /// Returns the mask that holds where both hold.
    pub(crate) fn and(&self, other: &Self) -> Self {
        let mut conditions = self.conditions.clone();
        conditions.extend(other.conditions.iter().cloned());
        Self {
            conditions,
            never: self.never || other.never,
        }
    }

    /// Applies the mask to a tile of this shape. Conditions on one dimension shrink the box;
    /// others select elements. `None` where the mask has more dimensions than the tile.
    pub(crate) fn select(&self, shape: &[usize]) -> Option<Selection> {
        if self.never || shape.contains(&0) {
            return Some(Selection::Nothing);
        }
        let rank = shape.len();
        let mut low = vec![0i64; rank];
        let mut high: Vec<i64> = shape.iter().map(|s| *s as i64).collect();
        let mut rest = Vec::new();
        for condition in &self.conditions {
            let extra = condition.shape.len().saturating_sub(rank);
            if condition.coefficients[..extra].iter().any(|c| *c != 0) {
                return None;
            }
            let skip = rank + extra - condition.shape.len();
            let mut coefficients = vec![0i64; rank];
            for (dimension, c) in condition.coefficients[extra..].iter().enumerate() {
                if shape[skip + dimension] > 1 || condition.shape[extra + dimension] > 1 {
                    coefficients[skip + dimension] = *c;
                }
            }
            let moving: Vec<usize> = (0..rank).filter(|d| coefficients[*d] != 0).collect();
            match moving[..] {
                [] => {
                    if condition.constant < 0 {
                        return Some(Selection::Nothing);
                    }
                }
                [d] => {
                    let c = coefficients[d];
                    // constant + c·x ≥ 0
                    if c > 0 {
                        low[d] = low[d].max(
                            (-condition.constant).div_euclid(c)
                                + i64::from((-condition.constant).rem_euclid(c) != 0),
                        );
                    } else {
                        high[d] = high[d].min(condition.constant.div_euclid(-c) + 1);
                    }
                }
                _ => rest.push((coefficients, condition.constant)),
            }
        }
        for d in 0..rank {
            low[d] = low[d].clamp(0, shape[d] as i64);
            high[d] = high[d].clamp(0, shape[d] as i64);
            if low[d] >= high[d] {
                return Some(Selection::Nothing);
            }
        }
        let bounds: Vec<(usize, usize)> = low
            .iter()
            .zip(&high)
            .map(|(l, h)| (*l as usize, *h as usize))
            .collect();
        // Conditions that hold, or fail, over the whole box need no flags.
        let mut needed = Vec::new();
        for (coefficients, constant) in rest {
            let (mut least, mut most) = (constant, constant);
            for d in 0..rank {
                let a = coefficients[d].saturating_mul(low[d]);
                let b = coefficients[d].saturating_mul(high[d] - 1);
                least = least.saturating_add(a.min(b));
                most = most.saturating_add(a.max(b));
            }
            if most < 0 {
                return Some(Selection::Nothing);
            }
            if least < 0 {
                needed.push((coefficients, constant));
            }
        }
        if needed.is_empty() {
            let full = bounds.iter().zip(shape).all(|(b, s)| b.0 == 0 && b.1 == *s);
            return Some(if full {
                Selection::All
            } else {
                Selection::Part(bounds, None)
            });
        }
        let count: usize = bounds.iter().map(|b| b.1 - b.0).product();
        let mut flags = Vec::with_capacity(count);
        let mut position: Vec<i64> = bounds.iter().map(|b| b.0 as i64).collect();
        for _ in 0..count {
            flags.push(needed.iter().all(|(coefficients, constant)| {
                coefficients
                    .iter()
                    .zip(&position)
                    .fold(*constant, |sum, (c, x)| {
                        sum.saturating_add(c.saturating_mul(*x))
                    })
                    >= 0
            }));
            for d in (0..rank).rev() {
                position[d] += 1;
                if position[d] < bounds[d].1 as i64 {
                    break;
                }
                position[d] = bounds[d].0 as i64;
            }
        }
        if flags.iter().all(|f| !f) {
            return Some(Selection::Nothing);
        }
        Some(Selection::Part(bounds, Some(flags)))
    }
}
