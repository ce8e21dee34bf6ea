//! Chains of changes: the same kind wherever it helps, and the best of each step.

use std::collections::BTreeMap;

use super::proposal::{LEAST_GAIN, NARROW, Proposal, Search};

/// Longest chain of changes.
const LONGEST: usize = 10;
/// Changes that let engines work side by side, whose gain may show behind others only: proposed
/// behind the best chain, too.
const OVERLAPS: &[&str] = &["split-loop", "interchange", "sum-outside", "split-products"];
/// The kind of change that gives iterations tiles of different sizes.
const UNEVEN: &str = "skip-masked";

impl Search<'_> {
    /// The same kind of change wherever it helps.
    pub(super) fn everywhere(&mut self, origin: &Proposal, singles: &[Proposal]) {
        let mut best: BTreeMap<&str, &Proposal> = BTreeMap::new();
        for single in singles {
            let entry = best.entry(single.family.as_str()).or_insert(single);
            if single.estimate < entry.estimate {
                *entry = single;
            }
        }
        for (kind, first) in best {
            let mut at = first.clone();
            for _ in 1..LONGEST {
                let next = self.extend(&at, Some(kind));
                let Some(next) = next
                    .into_iter()
                    .min_by(|a, b| a.estimate.total_cmp(&b.estimate))
                else {
                    break;
                };
                if at.estimate * 1.01 < next.estimate {
                    break;
                }
                at = next;
            }
            if origin.steps.len() + 1 < at.steps.len() {
                at.family = format!("{kind} everywhere");
                self.found.all.push(at);
            }
        }
    }

    /// The best change, then the best of what is left, as long as the estimate improves. Once more
    /// without the kind that makes tiles of many sizes, behind which little else is understood; and
    /// once more without narrow types where the chains have some, as the evaluation may find those
    /// too coarse.
    pub(super) fn chain(&mut self, origin: &Proposal, singles: &[Proposal]) {
        let uneven = |it: &&Proposal| it.steps.iter().any(|it| it.transformation == UNEVEN);
        let narrow = |it: &Proposal| it.menu_items.contains(&NARROW);
        let before = self.found.all.len();
        let mut known = BTreeMap::new();
        self.climb(origin, singles.iter().collect(), &mut known, |_| true);
        if singles.iter().any(|it| uneven(&it)) {
            let even = singles.iter().filter(|it| !uneven(it)).collect();
            self.climb(origin, even, &mut known, |it| !uneven(&it));
        }
        if self.found.all[before..].iter().any(narrow) {
            let wide = singles.iter().filter(|it| !narrow(it)).collect();
            self.climb(origin, wide, &mut known, |it| !narrow(it));
        }
    }

    /// One chain of allowed changes; `known` are the kernels one change behind those on the way.
    fn climb(
        &mut self,
        origin: &Proposal,
        starts: Vec<&Proposal>,
        known: &mut BTreeMap<String, Vec<Proposal>>,
        allowed: impl Fn(&Proposal) -> bool,
    ) {
        let start = lowest(starts, origin.estimate).unwrap_or_else(|| origin.clone());
        let (end, overlaps) = self.ascend(start, known, &allowed);
        if origin.steps.len() + 1 < end.steps.len() {
            let family = "chain".to_owned();
            self.found.all.push(Proposal { family, ..end });
        }
        // What an overlap makes possible goes on behind it.
        if let Some(first) = lowest(overlaps.iter().collect(), f64::INFINITY) {
            let length = first.steps.len();
            let (end, _) = self.ascend(first, known, &allowed);
            if length < end.steps.len() {
                let family = "chain, overlap and chain".to_owned();
                self.found.all.push(Proposal { family, ..end });
            }
        }
        self.found.all.extend(overlaps);
    }

    /// The end of the chain of best changes from a kernel, and what overlaps behind it.
    fn ascend(
        &mut self,
        mut at: Proposal,
        known: &mut BTreeMap<String, Vec<Proposal>>,
        allowed: impl Fn(&Proposal) -> bool,
    ) -> (Proposal, Vec<Proposal>) {
        for _ in 1..LONGEST {
            if !known.contains_key(&at.source) {
                let all = self.extend(&at, None);
                known.insert(at.source.clone(), all);
            }
            let all = known.get(&at.source).into_iter().flatten();
            let all: Vec<&Proposal> = all.filter(|it| allowed(it)).collect();
            let Some(next) = lowest(all.clone(), at.estimate * (1.0 - LEAST_GAIN)) else {
                let last = |it: &Proposal| it.steps.last().map(|it| it.transformation.clone());
                let overlaps = all
                    .into_iter()
                    .filter(|it| last(it).is_some_and(|it| OVERLAPS.contains(&it.as_str())));
                let family = "chain and overlap".to_owned();
                let of = |it: &Proposal| Proposal {
                    family: family.clone(),
                    ..it.clone()
                };
                return (at.clone(), overlaps.map(of).collect());
            };
            at = next;
        }
        (at, Vec::new())
    }
}

/// The one of the lowest estimate, if that is below a bound.
fn lowest(from: Vec<&Proposal>, below: f64) -> Option<Proposal> {
    let found = from.into_iter().filter(|it| it.estimate < below);
    found
        .min_by(|a, b| a.estimate.total_cmp(&b.estimate))
        .cloned()
}
