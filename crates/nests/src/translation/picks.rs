//! Elements that lie a few apart, from whole vectors.

use super::super::code::Element;
use super::super::vectors::{gnu, is_narrow};
use super::{Translation, shifted};

/// How far apart elements may lie that are picked from whole vectors.
pub(in super::super) const MOST_STRIDE: i64 = 4;

impl Translation<'_> {
    /// Returns elements that lie `stride` apart, from vectors that hold all of them and nothing
    /// behind the last one.
    pub(super) fn picked(
        &mut self,
        first: &Element,
        own: &str,
        stride: i64,
        kind: &str,
    ) -> Option<String> {
        let lanes = i64::from(self.lanes);
        let lowest = match stride {
            0.. => first.clone(),
            _ => shifted(first, &[(self.variable, lanes - 1)])?,
        };
        let span = stride.abs() * (lanes - 1) + 1;
        let mut offsets: Vec<i64> = (0..span / lanes).map(|it| it * lanes).collect();
        if offsets.last() != Some(&(span - lanes)) {
            offsets.push(span - lanes);
        }
        let (loaded, plain) = match is_narrow(own) {
            true => {
                let narrow = self.preamble.narrow(self.lanes, own);
                (narrow.clone(), narrow)
            }
            false => {
                let vector = self.preamble.vector(self.lanes, own);
                (gnu::anywhere(&vector), vector)
            }
        };
        let place = lowest.to_c();
        let mut text = String::new();
        for (idx, offset) in offsets.iter().enumerate() {
            let next = format!("(({plain})*(const {loaded} *)(&{place} + {offset}))");
            // Lanes that the vectors so far hold stay; the others come from this one.
            let lane = |lane: i64| {
                let at = match stride {
                    0.. => stride * lane,
                    _ => -stride * (lanes - 1 - lane),
                };
                let within = |from: i64| (from..from + lanes).contains(&at);
                match offsets[..idx].iter().any(|from| within(*from)) {
                    true if idx == 1 => at,
                    true => lane,
                    false if within(*offset) => lanes + at - offset,
                    false => lane,
                }
            };
            text = match (idx, offsets.len()) {
                (0, 1) => {
                    let order = (0..lanes).map(|it| lane(it) - lanes);
                    gnu::shuffled(&next, &next, order)
                }
                (0, _) => next,
                _ => gnu::shuffled(&text, &next, (0..lanes).map(lane)),
            };
        }
        let vector = self.preamble.vector(self.lanes, kind);
        Some(match own == kind {
            true => text,
            false => gnu::converted(&text, &vector),
        })
    }
}
