//! Finds what could be done to a kernel, and ranks it.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::check::{Check, InputShape, check};
use super::operation::View;
use super::shapes::{Parameter, Shapes};
use super::source::Source;
use super::transformations::{ALL, Change, NARROW_TYPES, PLAIN, Transformation};
use super::trial::Trial;
use autocomp_core::RewriteError;
use autocomp_trainium_sim::Input;
use autocomp_trainium_sim::timing::Machine;

/// The most drafts that are run without data for one kernel; bounds the time of a request.
const MOST_CHECKS: usize = 1500;
/// Drafts that are run in any case, and instructions of all drafts after which no more are.
const FEWEST_CHECKS: usize = 80;
const MOST_INSTRUCTIONS: usize = 1_000_000;
/// How many of the best single changes are tried in pairs.
const PAIRED: usize = 10;
/// Most rounds of changes that only make a kernel easier to see through.
const MOST_ROUNDS: usize = 24;
/// Least share by which each change of a chain must improve the estimate.
pub(super) const LEAST_GAIN: f64 = 0.002;

/// The form of kernels whose instructions name their engines, where their functions leave it open:
/// it may cost something, which the choice of engines makes up for.
const NAMES_ENGINES: &str = "write-into-tiles";
/// The menu item of changes that make types narrower.
pub(super) const NARROW: &str = "narrow-types";
/// The one of them that keeps what a narrow type leaves.
const IN_PARTS: &str = "split-products";
/// Relative error of a product of two numbers that were rounded to bfloat16, with eight bits each.
const COARSE: f64 = 1.0 / 256.0;
/// The narrowest type of products. Those of more bits cost as much, and are for problems that do not
/// tolerate this one.
const NARROWEST: &str = NARROW_TYPES[0];
/// The same of two that are each the sum of two narrow numbers, of which the product of the lower
/// ones is left out: bfloat16 with eight bits, and tfloat32 with eleven.
const OF_PARTS: [(&str, f64); 2] = [
    ("bfloat16", 1.0 / 32_768.0),
    ("tfloat32", 1.0 / 2_097_152.0),
];

/// One change, as a plan's payload holds it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    pub(super) transformation: String,
    /// Line in the kernel that the steps before left, from 1.
    pub(super) line: usize,
    /// Which of several changes at that line.
    pub(super) variant: String,
}

/// One or more changes, each to the kernel that the one before it left.
#[derive(Clone, Debug)]
pub(super) struct Proposal {
    pub(super) steps: Vec<Step>,
    pub(super) menu_items: Vec<&'static str>,
    pub(super) text: String,
    pub(super) estimate: f64,
    /// The work of its engines, without a schedule.
    pub(super) work: f64,
    /// What proposals have in common.
    pub(super) family: String,
    pub(super) flops: u64,
    pub(super) source: String,
}

/// Everything that could be done to one kernel.
#[derive(Clone, Debug, Default)]
pub(super) struct Proposals {
    pub(super) all: Vec<Proposal>,
    /// Drafts that were made, and those of them that the device would refuse.
    pub(super) made: usize,
    pub(super) refused: usize,
}

/// A kernel in the form in which most can be seen, and what one change leads to.
#[derive(Debug)]
pub(super) struct Singles {
    pub(super) plain: Proposal,
    pub(super) found: Vec<Proposal>,
}

/// What drafts are made for.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    pub(super) entry: String,
    pub(super) inputs: Vec<InputShape>,
    /// What kernels get beside them, by name.
    pub(super) arguments: Vec<(String, Input)>,
    pub(super) machine: Machine,
    /// How far results may be off, relative to what is right.
    pub(super) tolerance: f64,
    /// What tells which narrow types of products it tolerates.
    pub(super) trial: Option<Arc<Trial>>,
}

impl Problem {
    /// Whether products may have operands of a type: data tells, and where there is none, the
    /// relative tolerance.
    fn tolerates(&self, dtype: &str) -> bool {
        match self.tried() {
            Some(types) => types.iter().any(|it| it == dtype),
            None => dtype == NARROWEST && COARSE <= self.tolerance,
        }
    }

    /// The types that data allows operands of products; none where it was not tried.
    fn tried(&self) -> Option<&[String]> {
        self.trial.as_ref()?.tolerated(self)
    }

    /// Reads a kernel.
    pub(super) fn view<'s>(&self, text: &'s str) -> Result<View<'s>, RewriteError> {
        let source = Source::parse(text, &self.entry)?;
        let parameters: Vec<Parameter> = self
            .inputs
            .iter()
            .map(|it| {
                let shape = it.shape.iter().map(|size| *size as i64).collect();
                (it.name.clone(), shape, it.dtype.name().to_owned())
            })
            .collect();
        let shapes = Shapes::of(&source, &parameters);
        let (nl, nisa) = (source.alias("nl"), source.alias("nisa"));
        Ok(View {
            source,
            shapes,
            nl,
            nisa,
        })
    }

    /// The kernel after steps.
    pub(super) fn carry_out(&self, text: &str, steps: &[Step]) -> Result<String, RewriteError> {
        let mut text = text.to_owned();
        for step in steps {
            let kind = ALL
                .iter()
                .chain(PLAIN)
                .find(|it| it.name == step.transformation);
            let kind = kind.ok_or_else(|| {
                RewriteError::Payload(format!(
                    "there is no transformation `{}`",
                    step.transformation
                ))
            })?;
            let changes = (kind.changes)(&self.view(&text)?);
            let change = changes
                .into_iter()
                .find(|it| it.line == step.line && it.variant == step.variant);
            text = change.ok_or(RewriteError::Nothing)?.source;
        }
        Ok(text)
    }

    /// Everything that could be done to a kernel, the most promising first.
    pub(super) fn proposals(&self, text: &str) -> Result<Proposals, RewriteError> {
        let (mut search, origin) = self.search(text)?;
        let as_it_is = origin.clone();
        let origin = search.plain(origin);
        if as_it_is.estimate * (1.0 + LEAST_GAIN) < origin.estimate {
            let untouched = search.extend(&as_it_is, None);
            search.found.all.extend(untouched);
        }
        let singles = search.extend(&origin, None);
        search.found.all.extend(singles.iter().cloned());
        let mut starts = singles.clone();
        starts.extend(search.enabled(&singles));
        search.chain(&origin, &starts);
        search.everywhere(&origin, &singles);
        search.pairs(&singles);
        let mut found = search.found;
        found.all.sort_by(|a, b| {
            let order = a.estimate.total_cmp(&b.estimate);
            order.then_with(|| a.steps.cmp(&b.steps))
        });
        Ok(found)
    }

    /// The kernel in the form in which most can be seen.
    pub(super) fn plain(&self, text: &str) -> Result<String, RewriteError> {
        let (mut search, origin) = self.search(text)?;
        Ok(search.plain(origin).source)
    }

    /// The kernel in the form in which most can be seen, and everything that one change of that
    /// leads to.
    pub(super) fn plain_and_singles(&self, text: &str) -> Result<Singles, RewriteError> {
        let (mut search, origin) = self.search(text)?;
        let plain = search.plain(origin);
        let found = search.extend(&plain, None);
        Ok(Singles { plain, found })
    }

    /// Whether data refuses products of all narrow types.
    pub(super) fn refuses_narrow_types(&self) -> bool {
        self.tried().is_some_and(<[String]>::is_empty)
    }

    /// Everything that one change leads to.
    pub(super) fn singles(&self, text: &str) -> Result<Vec<Proposal>, RewriteError> {
        let (mut search, origin) = self.search(text)?;
        let mut found = search.changed(&origin, PLAIN.iter());
        found.extend(search.extend(&origin, None));
        Ok(found)
    }

    fn search(&self, text: &str) -> Result<(Search<'_>, Proposal), RewriteError> {
        self.view(text)?;
        let now = check(text, self).ok_or_else(|| {
            let message = "the kernel does not run on the problem's shapes";
            RewriteError::NotUnderstood(message.into())
        })?;
        let origin = Proposal {
            steps: Vec::new(),
            menu_items: Vec::new(),
            text: String::new(),
            estimate: now.nanoseconds,
            work: now.work,
            family: String::new(),
            flops: now.flops,
            source: text.to_owned(),
        };
        let search = Search {
            problem: self,
            now,
            seen: BTreeSet::from([text.to_owned()]),
            found: Proposals::default(),
            work: 0,
        };
        Ok((search, origin))
    }
}

pub(super) struct Search<'p> {
    problem: &'p Problem,
    now: Check,
    seen: BTreeSet<String>,
    pub(super) found: Proposals,
    /// Instructions of all drafts that were run.
    work: usize,
}

impl Search<'_> {
    /// The kernels one change further, of one kind or of all.
    pub(super) fn extend(&mut self, before: &Proposal, kind: Option<&str>) -> Vec<Proposal> {
        let kinds = ALL
            .iter()
            .filter(|it| kind.is_none_or(|kind| kind == it.name));
        self.changed(before, kinds)
    }

    /// Whether the problem tolerates what a change rounds.
    fn tolerates(&self, transformation: &Transformation, variant: &str) -> bool {
        if transformation.menu_items != [NARROW] {
            return true;
        }
        if transformation.name == IN_PARTS {
            // Parts are for nothing where data tells that whole products may be narrow.
            let whole = self.problem.tried().is_some_and(|it| !it.is_empty());
            return !whole && self.tolerates_parts(variant);
        }
        let dtype = variant.split(' ').next().unwrap_or_default();
        let coarse = self.problem.tolerates(NARROWEST);
        (dtype == NARROWEST) == coarse && self.problem.tolerates(dtype)
    }

    /// Whether sums of as many products as the kernel's results are of may be made of such parts:
    /// the errors of all of them together, against a result as large as one.
    fn tolerates_parts(&self, variant: &str) -> bool {
        let results: usize = self
            .now
            .outputs
            .iter()
            .map(|it| it.1.iter().product::<usize>())
            .sum();
        let terms = self.now.flops as f64 / 2.0 / results.max(1) as f64;
        let parts = OF_PARTS.iter().filter(|it| variant.starts_with(it.0));
        parts
            .map(|it| it.1)
            .all(|error| terms * error <= self.problem.tolerance)
    }

    /// The kernel in the form in which most can be seen; the same steps go before all others.
    fn plain(&mut self, origin: Proposal) -> Proposal {
        let mut at = origin;
        for _ in 0..MOST_ROUNDS {
            // None of them may cost any work.
            let most = at.work * (1.0 + LEAST_GAIN);
            let mut found = self.changed(&at, PLAIN.iter()).into_iter();
            let names_engines = |it: &Proposal| {
                let last = it.steps.last().map(|it| it.transformation.as_str());
                last == Some(NAMES_ENGINES)
            };
            let Some(next) = found.find(|it| it.work <= most || names_engines(it)) else {
                break;
            };
            at = next;
        }
        // Neither kind nor item: they make nothing faster.
        at.family.clear();
        at.menu_items.clear();
        at
    }

    fn changed(
        &mut self,
        before: &Proposal,
        kinds: impl Iterator<Item = &'static Transformation>,
    ) -> Vec<Proposal> {
        let mut out = Vec::new();
        let Ok(view) = self.problem.view(&before.source) else {
            return out;
        };
        for transformation in kinds {
            for change in (transformation.changes)(&view) {
                if !self.tolerates(transformation, &change.variant) {
                    continue;
                }
                let long = MOST_INSTRUCTIONS <= self.work && FEWEST_CHECKS <= self.found.made;
                if long || MOST_CHECKS <= self.found.made {
                    return out;
                }
                if !self.seen.insert(change.source.clone()) {
                    continue;
                }
                let Change {
                    line,
                    variant,
                    sentence,
                    source,
                } = change;
                self.found.made += 1;
                let checked = check(&source, self.problem);
                self.work += checked.as_ref().map_or(0, |it| it.instructions);
                let Some(checked) = checked.filter(|it| {
                    // Tiles of another size do the same work.
                    let resized = transformation.name == "resize-tiles";
                    it.alike(&self.now) && (!resized || it.flops == before.flops)
                }) else {
                    self.found.refused += 1;
                    continue;
                };
                let mut steps = before.steps.clone();
                steps.push(Step {
                    transformation: transformation.name.to_owned(),
                    line,
                    variant,
                });
                let mut menu_items = before.menu_items.clone();
                let known = &before.menu_items;
                let new = transformation.menu_items.iter();
                menu_items.extend(new.filter(|it| !known.contains(it)));
                let text = if before.text.is_empty() {
                    sentence
                } else {
                    format!("{} {sentence}", before.text)
                };
                let family = if before.family.is_empty() {
                    transformation.name.to_owned()
                } else {
                    format!("{} + {}", before.family, transformation.name)
                };
                out.push(Proposal {
                    steps,
                    menu_items,
                    text,
                    estimate: checked.nanoseconds,
                    work: checked.work,
                    flops: checked.flops,
                    family,
                    source,
                });
            }
        }
        out
    }

    /// Changes that pay only behind another one: how much a triangular mask leaves out depends on
    /// the size of the tiles.
    fn enabled(&mut self, singles: &[Proposal]) -> Vec<Proposal> {
        let mut found = Vec::new();
        for single in singles.iter().filter(|it| it.family == "resize-tiles") {
            found.extend(self.extend(single, Some("skip-masked")));
        }
        self.found.all.extend(found.iter().cloned());
        found
    }

    /// The best changes followed by another one.
    fn pairs(&mut self, singles: &[Proposal]) {
        let mut order: Vec<&Proposal> = singles.iter().collect();
        order.sort_by(|a, b| a.estimate.total_cmp(&b.estimate));
        for first in unlike_first(order).take(PAIRED) {
            let seconds = self.extend(first, None);
            let better = seconds
                .into_iter()
                .filter(|it| it.estimate < first.estimate * (1.0 - LEAST_GAIN));
            self.found.all.extend(better);
        }
    }
}

/// The first of each kind, then the others, each in the order that they had: pairs of unlike changes
/// teach most.
fn unlike_first(order: Vec<&Proposal>) -> impl Iterator<Item = &Proposal> {
    let mut kinds = BTreeSet::new();
    let (firsts, others): (Vec<_>, Vec<_>) = order
        .into_iter()
        .partition(|it| kinds.insert(it.family.clone()));
    firsts.into_iter().chain(others)
}
