//! How sums become results: what the core does to them, and whether the accelerator
//! does the same when it stores.
//!
//! The core's way from a sum to a result is a function of one integer. It is not
//! compared by how it is written but by what it returns, at every sum where a result
//! of the accelerator changes and at many others.

use super::super::run::Value as Number;
use super::computation::Computation;
use super::node::{Id, Node, Nodes};

/// Sums around zero that are all compared.
const NEAR: i64 = 2048;
/// Sums beyond which results do not change.
const FAR: i64 = 1 << 30;
/// Sums far away that are compared, for each power of two.
const SAMPLES: u64 = 64;

/// What the accelerator does to a sum when it stores it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Outlet {
    pub(super) is_relu: bool,
    pub(super) scale: f32,
}

impl Outlet {
    /// Sums as they are.
    pub(super) const PLAIN: Self = Self {
        is_relu: false,
        scale: 1.0,
    };

    /// Returns the result for a sum.
    fn result(self, sum: i64) -> i64 {
        let sum = if self.is_relu { sum.max(0) } else { sum };
        let scaled = sum as i32 as f32 * self.scale;
        scaled.clamp(-128.0, 127.0).round_ties_even() as i64
    }
}

/// The way from a sum to a result.
pub(super) struct Tail<'nodes> {
    nodes: &'nodes Nodes,
    result: Id,
    sums: &'nodes [(Id, i64)],
    computation: Computation,
}

impl<'nodes> Tail<'nodes> {
    /// `sums`: expressions that are the sum, and what is added to it in each.
    pub(super) fn new(nodes: &'nodes Nodes, result: Id, sums: &'nodes [(Id, i64)]) -> Self {
        let computation = Computation::new(nodes, result, sums.iter().map(|sum| sum.0));
        Self {
            nodes,
            result,
            sums,
            computation,
        }
    }

    /// Returns the result; `of` is the sum and what is added to it.
    fn value(&self, of: impl Fn(i64) -> Number) -> Option<Number> {
        self.computation.value(|sum| of(self.sums[sum].1))
    }

    /// Returns the result for a sum.
    ///
    /// # Errors
    /// If it depends on something else, too.
    fn result(&self, sum: i64) -> Result<i64, String> {
        match self.value(|more| Number::Integer(sum + more)) {
            Some(Number::Integer(value)) => Ok(value),
            _ => Err("what is done to its sums depends on more than the sum".to_owned()),
        }
    }

    /// Returns whether results are the sums themselves.
    pub(super) fn is_identity(&self) -> bool {
        samples().all(|sum| self.result(sum) == Ok(sum))
    }

    /// Returns what the accelerator has to do to sums of floats.
    ///
    /// # Errors
    /// If that is more than ReLU.
    pub(super) fn float_outlet(&self) -> Result<Outlet, String> {
        let result = |sum: f64| match self.value(|more| Number::Float(sum + more as f64))? {
            Number::Float(value) => Some(value),
            Number::Integer(value) => Some(value as f64),
            _ => None,
        };
        let is = |is_relu: bool| {
            samples().all(|sum| {
                let sum = sum as f64 / 8.0;
                let expected = if is_relu { sum.max(0.0) } else { sum };
                result(sum) == Some(expected)
            })
        };
        let is_relu = [false, true].into_iter().find(|is_relu| is(*is_relu));
        let is_relu = is_relu.ok_or("what is done to its sums is neither nothing nor ReLU")?;
        Ok(Outlet {
            is_relu,
            scale: 1.0,
        })
    }

    /// Returns what the accelerator has to do to sums.
    ///
    /// # Errors
    /// Where it does something else than the core.
    pub(super) fn outlet(&self) -> Result<Outlet, String> {
        let [least, most] = [self.result(-FAR)?, self.result(FAR)?];
        let is_relu = match (least, most) {
            (-128, 127) => false,
            (0, 127) => true,
            _ => {
                return Err(format!(
                    "large sums become {most} and small ones {least} on the core, 127 and -128 \
                     (0 with ReLU) on the accelerator"
                ));
            }
        };
        // The least sum for each result, and the factors that round to it there.
        let mut edges = Vec::new();
        let (mut low, mut high) = (0.0f64, f64::INFINITY);
        for step in 1..=127i64 {
            let (mut below, mut above) = (-FAR, FAR);
            while 1 < above - below {
                let middle = (below + above) / 2;
                if step <= self.result(middle)? {
                    above = middle;
                } else {
                    below = middle;
                }
            }
            edges.push(above);
            if 0 < above {
                let half = step as f64 - 0.5;
                low = low.max(half / above as f64);
                if 1 < above {
                    high = high.min(half / (above - 1) as f64);
                }
            }
        }
        let mut candidates: Vec<f32> = vec![1.0];
        candidates.extend((1..=24).map(|bits| 1.0 / (1u32 << bits) as f32));
        for id in self.nodes.inside(self.result) {
            let number = match self.nodes.get(id) {
                Node::Float(bits) => f64::from_bits(*bits),
                Node::Integer(value) => *value as f64,
                _ => continue,
            };
            candidates.extend([number as f32, (1.0 / number) as f32]);
        }
        let middle = if high.is_finite() {
            (low + high) / 2.0
        } else {
            low
        };
        candidates.extend([middle as f32, low as f32, high as f32]);
        candidates.retain(|scale| scale.is_finite() && 0.0 < *scale);
        // The one that comes closest first, those that are written first among equals.
        let distance = |scale: f32| {
            let scale = f64::from(scale);
            (low - scale).max(scale - high).max(0.0) / low
        };
        candidates.sort_by(|one, other| distance(*one).total_cmp(&distance(*other)));
        let mut first = None;
        for scale in candidates.into_iter().take(8) {
            let outlet = Outlet { is_relu, scale };
            match self.difference(outlet, &edges)? {
                None => return Ok(outlet),
                Some(sum) => {
                    first.get_or_insert((outlet, sum));
                }
            }
        }
        let (outlet, sum) = first.ok_or("what is done to its sums is no factor")?;
        Err(format!(
            "a sum of {sum} becomes {} on the core, but {} on the accelerator, which multiplies by \
             {} and rounds to the nearest, halves to even",
            self.result(sum)?,
            outlet.result(sum),
            outlet.scale
        ))
    }

    /// Returns a sum for which the accelerator has another result.
    fn difference(&self, outlet: Outlet, edges: &[i64]) -> Result<Option<i64>, String> {
        let near = edges
            .iter()
            .flat_map(|edge| [*edge, -*edge])
            .flat_map(|edge| [edge - 1, edge, edge + 1]);
        // Sums at which results of the accelerator change.
        let scale = f64::from(outlet.scale);
        let own = (-129..=128).flat_map(|step| {
            let edge = ((f64::from(step) + 0.5) / scale).clamp(-FAR as f64, FAR as f64) as i64;
            [edge - 1, edge, edge + 1]
        });
        let mut seen = None;
        for sum in near.chain(own).chain(samples()) {
            if self.result(sum)? != outlet.result(sum)
                && seen.is_none_or(|seen: i64| sum.unsigned_abs() < seen.unsigned_abs())
            {
                seen = Some(sum);
            }
        }
        Ok(seen)
    }
}

/// Returns sums to compare at: all small ones, and some of each size.
fn samples() -> impl Iterator<Item = i64> {
    let mut seed = autocomp_core::Seed(0);
    let mut far = Vec::new();
    for bits in 11..30 {
        for _ in 0..SAMPLES {
            let sum = (1 << bits) + (seed.next_u64() % (1 << bits)) as i64;
            far.extend([sum, -sum]);
        }
    }
    (-NEAR..=NEAR).chain(far)
}
