//! Finds what could be done to a kernel, and ranks it.

use crate::chain;
use crate::dataflow::{Outcome, outcome};
use crate::estimate::estimate;
use crate::kernel::{Kernel, core_interferes, count_commands};
use crate::lift::{Chain, Lifted};
use crate::limits::HardwareLimits;
use crate::print::print;
use crate::schedule::{self, Schedule};
use crate::transformation::{Step, View};
use crate::transformations::{TRANSFORMATIONS, find};
use crate::tree::loop_paths;
use autocomp_core::{ContentHash, KindOfChange};
use std::collections::{BTreeMap, BTreeSet};

/// Transformations that mostly pay only together with another one.
const ENABLERS: &[&str] = &["interchange-loops"];
/// The most kernels that are compared for one request; bounds its time.
const KERNEL_LIMIT: usize = 700;
/// Weight of bytes moved in, relative to cycles, in the ranking.
const TRAFFIC_WEIGHT: f64 = 0.15;
/// How many of the best single steps are tried in pairs.
const PAIRED_FAMILIES: usize = 3;

/// The step that schedules a whole kernel anew.
pub(crate) const RESCHEDULE: &str = "reschedule";

/// Schedules of matrix products, convolutions and additions.
pub(crate) const SCHEDULES: KindOfChange = KindOfChange {
    name: RESCHEDULE,
    menu_items: &["hardware-loop", "change-tiling"],
    does: "writes what the kernel computes anew, with the loops of the hardware",
};

/// Schedules of chains of small products.
pub(crate) const CHAINS: KindOfChange = KindOfChange {
    name: RESCHEDULE,
    menu_items: &["less-data-movement", "merge-operations", "use-accelerator"],
    does: "writes a chain of small products anew, in tiles that stay in local memory",
};
/// How much better the best schedule is taken to be than the best single step,
/// as the natural logarithm of cycles.
const HEAD_START: f64 = 0.2;
/// How much worse each schedule is taken to be than the one that is ranked
/// before it, in the same units: bounds are often too far or too close.
const RANK: f64 = 0.004;

/// One way to carry out a family: one or more steps, each on the kernel the
/// one before it left.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The steps.
    pub steps: Vec<Step>,
    /// The steps in words.
    pub text: String,
    /// Estimated cycles after them, by the rewriter's own coarse model.
    pub estimate: f64,
    /// What variants are ranked by, low is good: the natural logarithm of
    /// estimated cycles, and a share of that of the bytes moved in, since
    /// less traffic leaves more to gain by later steps.
    pub score: f64,
}

/// Variants that differ in free parameters only.
#[derive(Clone, Debug)]
pub struct Family {
    /// What they have in common, for comparing.
    pub key: String,
    /// Menu items that they carry out, the best fitting first.
    pub menu_items: Vec<&'static str>,
    /// Whether it schedules the whole kernel anew.
    pub is_schedule: bool,
    /// Whether it differs little from the schedule that the kernel has.
    pub is_near: bool,
    /// The variants, the most promising first.
    pub variants: Vec<Variant>,
}

/// Everything that could be done to one kernel.
#[derive(Clone, Debug, Default)]
pub struct Proposals {
    /// Estimated cycles of the kernel as it is.
    pub estimate: f64,
    /// The families, the most promising first.
    pub families: Vec<Family>,
}

/// A kernel after steps, with what they were.
struct Candidate {
    kernel: Kernel,
    key: String,
    menu_items: Vec<&'static str>,
    variant: Variant,
}

/// Returns everything that could be done to `kernel`, most promising first.
pub(crate) fn proposals(kernel: &Kernel, limits: &HardwareLimits) -> Option<Proposals> {
    let size = count_commands(&kernel.body) + loop_paths(&kernel.body).len();
    if limits.command_limit < size || core_interferes(&kernel.body) {
        return None;
    }
    let base = estimate(kernel, limits)?.cycles;
    let mut seen = BTreeSet::from([ContentHash::of(print(kernel).as_bytes())]);
    let singles = extend(kernel, None, limits, &mut seen);
    let mut candidates = Vec::new();
    // Enablers first, so that what they lead to is found even where they cost.
    let enablers: Vec<usize> = (0..singles.len())
        .filter(|idx| {
            singles[*idx]
                .variant
                .steps
                .iter()
                .any(|step| ENABLERS.contains(&step.transformation.as_str()))
        })
        .collect();
    let mut paired: Vec<usize> = (0..singles.len())
        .filter(|idx| !enablers.contains(idx))
        .collect();
    paired.sort_by(|a, b| {
        singles[*a]
            .variant
            .score
            .total_cmp(&singles[*b].variant.score)
    });
    let mut keys = BTreeSet::new();
    paired.retain(|idx| keys.insert(singles[*idx].key.clone()));
    paired.truncate(PAIRED_FAMILIES);
    for idx in enablers.into_iter().chain(paired) {
        let first = &singles[idx];
        let pairs = extend(&first.kernel, Some(first), limits, &mut seen);
        // A pair is worth a plan of its own only if it beats its first half.
        candidates.extend(
            pairs
                .into_iter()
                .filter(|pair| pair.variant.estimate < 0.995 * first.variant.estimate),
        );
    }
    candidates.extend(singles);
    Some(Proposals {
        estimate: base,
        families: families(candidates),
    })
}

/// Adds schedules of what a kernel computes to what could be done to it.
pub(crate) fn reschedules(lifted: &Lifted, limits: &HardwareLimits, proposals: &mut Proposals) {
    let schedules = schedule::schedules(lifted, limits);
    let is_near = |parameters: &[i64]| schedule::is_near(lifted, parameters, limits);
    offer(schedules, SCHEDULES.menu_items, &is_near, proposals);
}

/// Adds schedules of a chain of small products to what could be done to a kernel.
pub(crate) fn chains(chain: &Chain, limits: &HardwareLimits, proposals: &mut Proposals) {
    let schedules = chain::schedules(chain, &limits.accelerator);
    offer(schedules, CHAINS.menu_items, &|_| false, proposals);
}

fn offer(
    schedules: Vec<Schedule>,
    menu_items: &[&'static str],
    is_near: &dyn Fn(&[i64]) -> bool,
    proposals: &mut Proposals,
) {
    let Some(best) = schedules.first().map(|schedule| schedule.cycles.max(1.0)) else {
        return;
    };
    let first = proposals
        .families
        .first()
        .and_then(|family| family.variants.first())
        .map_or(best.ln(), |variant| variant.score.min(best.ln()));
    for (rank, schedule) in schedules.into_iter().enumerate() {
        let is_near = is_near(&schedule.parameters);
        let score = first - HEAD_START + RANK * rank as f64;
        proposals.families.push(Family {
            key: format!("{RESCHEDULE} {:?}", schedule.parameters),
            menu_items: menu_items.to_vec(),
            is_schedule: true,
            is_near,
            variants: vec![Variant {
                steps: vec![Step {
                    transformation: RESCHEDULE.to_owned(),
                    parameters: schedule.parameters,
                    ..Step::default()
                }],
                text: schedule.text,
                estimate: schedule.cycles,
                score,
            }],
        });
    }
    proposals.families.sort_by(|a, b| {
        let best = |family: &Family| family.variants.first().map_or(f64::MAX, |v| v.score);
        best(a).total_cmp(&best(b)).then_with(|| a.key.cmp(&b.key))
    });
}

/// Returns the kernels one step further.
fn extend(
    kernel: &Kernel,
    before: Option<&Candidate>,
    limits: &HardwareLimits,
    seen: &mut BTreeSet<ContentHash>,
) -> Vec<Candidate> {
    let view = View::of(kernel, limits);
    let mut found = Vec::new();
    for transformation in TRANSFORMATIONS {
        for step in transformation.steps(&view) {
            if KERNEL_LIMIT <= seen.len() {
                return found;
            }
            let Some(rewritten) = transformation.apply(&view, &step) else {
                continue;
            };
            if !seen.insert(ContentHash::of(print(&rewritten.kernel).as_bytes())) {
                continue;
            }
            let Some(estimate) = estimate(&rewritten.kernel, limits) else {
                continue;
            };
            let mut key = family_key(&step);
            let mut menu_items = transformation.menu_items(&step).to_vec();
            let mut steps = Vec::new();
            let mut text = String::new();
            if let Some(before) = before {
                key = format!("{} + {key}", before.key);
                menu_items.extend(&before.menu_items);
                steps.clone_from(&before.variant.steps);
                text = format!("{} ", before.variant.text);
            }
            steps.push(step);
            text.push_str(&rewritten.sentence);
            let score = estimate.cycles.max(1.0).ln()
                + TRAFFIC_WEIGHT * estimate.bytes_per_product.max(1.0).ln();
            found.push(Candidate {
                kernel: rewritten.kernel,
                key,
                menu_items,
                variant: Variant {
                    steps,
                    text,
                    estimate: estimate.cycles,
                    score,
                },
            });
        }
    }
    found
}

fn family_key(step: &Step) -> String {
    format!(
        "{} {:?} {:?} {}",
        step.transformation, step.at, step.with, step.operand
    )
}

fn families(candidates: Vec<Candidate>) -> Vec<Family> {
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    for candidate in candidates {
        let family = families
            .entry(candidate.key.clone())
            .or_insert_with(|| Family {
                key: candidate.key.clone(),
                menu_items: Vec::new(),
                is_schedule: false,
                is_near: false,
                variants: Vec::new(),
            });
        for item in candidate.menu_items {
            if !family.menu_items.contains(&item) {
                family.menu_items.push(item);
            }
        }
        family.variants.push(candidate.variant);
    }
    let mut families: Vec<Family> = families.into_values().collect();
    for family in &mut families {
        family.variants.sort_by(|a, b| a.score.total_cmp(&b.score));
    }
    families.sort_by(|a, b| {
        let best = |family: &Family| family.variants.first().map_or(f64::MAX, |v| v.score);
        best(a).total_cmp(&best(b)).then_with(|| a.key.cmp(&b.key))
    });
    families
}

/// Carries out steps one after the other; `None` if one does not apply.
pub(crate) fn carry_out(
    kernel: &Kernel,
    steps: &[Step],
    limits: &HardwareLimits,
) -> Option<Kernel> {
    let mut kernel = kernel.clone();
    for step in steps {
        let next = find(&step.transformation)?.apply(&View::of(&kernel, limits), step)?;
        kernel = next.kernel;
    }
    Some(kernel)
}

/// Returns whether the kernel provably computes `expected`; also `true` where
/// that cannot be found out, since the evaluator has the last word.
pub(crate) fn may_be_right(
    kernel: &Kernel,
    expected: Option<&Outcome>,
    limits: &HardwareLimits,
) -> bool {
    expected.is_none_or(|expected| outcome(kernel, limits).as_ref() == Some(expected))
}
