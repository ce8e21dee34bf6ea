//! A beam of three that climbs by the rewriter's proposals with every verdict an evaluation's.

use std::collections::{BTreeMap, BTreeSet};

use autocomp_core::{MenuItem, PlanChoice, Rewriter};

/// Kernels that each round goes on from, plans for each of them and drafts of each plan.
const BEAM: usize = 3;
const PLANS: u32 = 5;
const DRAFTS: u32 = 2;

/// What was found.
pub(crate) struct Climbed {
    /// Nanoseconds of the first kernel and of the best one.
    first: f64,
    best: f64,
    /// The best kernel, and the changes that led to it.
    pub(crate) text: String,
    how: String,
    evaluations: usize,
    /// Drafts that were not right, by the reason.
    wrong: BTreeMap<String, usize>,
}

impl Climbed {
    /// The row of a table, in microseconds, and what led there in a comment.
    pub(crate) fn row(&self, name: &str) -> String {
        format!(
            "| `{name}` | {:.1} | {:.1} | {:.2}x | {} | {:?} |\n<!--{} -->",
            self.first / 1e3,
            self.best / 1e3,
            self.first / self.best,
            self.evaluations,
            self.wrong,
            self.how
        )
    }
}

/// Climbs from `source`, which takes `first` nanoseconds, until `most` evaluations are made or two
/// rounds gained less than half a percent. `evaluate` gives nanoseconds, or why a kernel is wrong.
pub(crate) fn climb<E>(
    rewriter: &dyn Rewriter,
    menu: &[MenuItem],
    source: &str,
    first: f64,
    most: usize,
    mut evaluate: impl FnMut(&str) -> Result<Result<f64, String>, E>,
) -> Result<Climbed, E> {
    let mut beam = vec![(first, source.to_owned(), String::new())];
    let mut seen = BTreeSet::from([source.to_owned()]);
    let (mut evaluations, mut round, mut idle) = (0, 0, 0);
    let mut wrong: BTreeMap<String, usize> = BTreeMap::new();
    while evaluations < most && idle < 2 {
        round += 1;
        let before = beam[0].0;
        for (place, (_, text, how)) in beam.clone().iter().enumerate() {
            for plan in 0..PLANS {
                let choice = PlanChoice {
                    menu,
                    iteration: round,
                    place: place as u32,
                    plan,
                    earlier: &[],
                };
                let Ok(plan) = rewriter.plan(text, choice) else {
                    break;
                };
                for draft in 0..DRAFTS {
                    let Ok(draft) = rewriter.implement(text, &plan.payload, draft) else {
                        break;
                    };
                    if most <= evaluations || !seen.insert(draft.clone()) {
                        continue;
                    }
                    evaluations += 1;
                    match evaluate(&draft)? {
                        Ok(cost) => beam.push((cost, draft, format!("{how} {}", plan.text))),
                        Err(why) => *wrong.entry(why).or_default() += 1,
                    }
                }
            }
        }
        beam.sort_by(|a, b| a.0.total_cmp(&b.0));
        beam.truncate(BEAM);
        idle = if beam[0].0 < before * 0.995 {
            0
        } else {
            idle + 1
        };
    }
    let (best, text, how) = beam.swap_remove(0);
    Ok(Climbed {
        first,
        best,
        text,
        how,
        evaluations,
        wrong,
    })
}
