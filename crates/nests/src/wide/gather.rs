//! How the lanes of partial results come together behind a loop.

use super::WideLoop;
use super::roles::Role;
use crate::schedule::Wide;
use crate::text::Text;
use crate::vectors::{Preamble, computed_in, gnu};

impl WideLoop {
    /// Writes how the lanes of partial results come together.
    pub(super) fn gather(
        &self,
        idx: usize,
        role: &Role,
        schedule: &Wide,
        preamble: &mut Preamble,
        text: &mut Text,
    ) -> Option<()> {
        let Wide { lanes, count, .. } = *schedule;
        let all = format!("s{idx}_0");
        let kind = computed_in(&self.kinds[idx]);
        match role {
            Role::Sum(target, operator, _) => {
                for copy in 1..count {
                    text.line(&format!("{all} += s{idx}_{copy};"));
                }
                let sum = match kind {
                    "float" => Self::sum_of_floats(&all, lanes, preamble, text),
                    _ => gnu::sum_of_all(&all),
                };
                text.line(&format!("{} {operator}= {sum};", target.to_c()));
            }
            Role::Extreme(target, greatest, _) => {
                for copy in 1..count {
                    let of = extreme(kind, *greatest, lanes, &all, &format!("s{idx}_{copy}"));
                    text.line(&format!("{all} = {of};"));
                }
                let of = gnu::extreme_of_all(*greatest, &all);
                text.line(&format!("{} = {of};", target.to_c()));
            }
            Role::Running(target, _) => {
                text.line(&format!("{} = carry{idx}[0];", target.to_c()));
            }
            Role::Local(..) | Role::Store(..) | Role::Woven(..) | Role::Spread(..) => {}
        }
        Some(())
    }

    /// Writes how the lanes of a vector are added up, by halves; returns the sum.
    fn sum_of_floats(of: &str, lanes: u32, preamble: &mut Preamble, text: &mut Text) -> String {
        let mut sum = of.to_owned();
        let mut lanes = lanes;
        while 4 < lanes {
            lanes /= 2;
            let vector = preamble.vector(lanes, "float");
            let half = format!("{of}_{lanes}");
            let (low, high) = (
                gnu::shuffled(&sum, &sum, 0..lanes),
                gnu::shuffled(&sum, &sum, lanes..2 * lanes),
            );
            text.line(&format!("const {vector} {half} = {low} + {high};"));
            sum = half;
        }
        format!("(({sum}[0] + {sum}[2]) + ({sum}[1] + {sum}[3]))")
    }
}

/// Returns the name of the function on vectors of floats.
pub(super) fn extreme_name(greatest: bool) -> &'static str {
    if greatest { "larger" } else { "smaller" }
}

/// Returns the greatest or least elements of two vectors.
pub(super) fn extreme(kind: &str, greatest: bool, lanes: u32, one: &str, other: &str) -> String {
    match kind {
        "float" => format!("each_{}_{lanes}({one}, {other})", extreme_name(greatest)),
        _ => gnu::extreme(greatest, one, other),
    }
}
