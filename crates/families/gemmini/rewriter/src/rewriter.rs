//! Plans and drafts for a kernel: the rewriter's interface.

mod lifts;
mod script;
mod turn;

use crate::annotate::{annotate, with_header};
use crate::chain;
use crate::dataflow::{Outcome, outcome};
use crate::kernel::Kernel;
use crate::lift::{Chain, Elementwise, Reason, lift};
use crate::limits::HardwareLimits;
use crate::normalise::Vocabulary;
use crate::parse::parse_with;
use crate::print::print;
use crate::proposal::{
    CHAINS, Family, Proposals, RESCHEDULE, SCHEDULES, Variant, carry_out, chains, may_be_right,
    proposals, reschedules,
};
use crate::schedule;
use crate::transformation::Step;
use crate::transformations::{TRANSFORMATIONS, find};
use autocomp_core::{
    ContentHash, KindOfChange, MenuItem, NotUnderstood, PlanChoice, RewriteError, RewritePlan,
    Rewriter, Seed,
};
use lifts::{Lift, Lifts};
use script::{Scripted, names, script};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use turn::Turn;

/// Kernels whose proposals are remembered.
const REMEMBERED: usize = 64;
/// How far chance may move a family in the ranking, in units of the natural
/// logarithm of estimated cycles.
const TEMPERATURE: f64 = 0.04;
/// What it costs a family, in the same units, that no item in the menu names it.
const OFF_MENU: f64 = 0.08;
/// What it costs a family, in the same units, for each better one with the same first step.
const ALIKE: f64 = 0.04;
/// Variants of a family that a plan offers to its drafts.
const DRAFTS: usize = 2;

/// The machine-readable form of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Payload {
    /// Steps for each draft in turn.
    drafts: Vec<Vec<Step>>,
}

/// Proposes source transformations without any language model.
///
/// Replies depend on the request only. Proposals for recent kernels are kept
/// to save time.
#[derive(Debug)]
pub struct GemminiRewriter {
    limits: HardwareLimits,
    vocabulary: Vocabulary,
    remembered: Mutex<BTreeMap<ContentHash, Finding>>,
    lifts: Lifts,
}

/// A place for what is found out about one kernel. The first request does the
/// work; requests that come meanwhile wait for it instead of doing it again.
type Finding = Arc<OnceLock<Result<Arc<Known>, RewriteError>>>;

/// What was found out about one kernel.
#[derive(Debug)]
struct Known {
    kernel: Kernel,
    proposals: Proposals,
    outcome: Option<Outcome>,
    /// What it computes, or why that is not known.
    lifted: Lift,
    /// What it computes element by element, and in matrices, if it is a chain of
    /// small products.
    chain: Option<(Elementwise, Chain)>,
    /// Which steps were found to keep the result.
    verdicts: Mutex<BTreeMap<Vec<Step>, bool>>,
}

impl GemminiRewriter {
    /// Creates a rewriter for a target of these sizes.
    #[must_use]
    pub fn new(limits: HardwareLimits) -> Self {
        Self {
            vocabulary: Vocabulary::of(&limits),
            limits,
            remembered: Mutex::new(BTreeMap::new()),
            lifts: Lifts::default(),
        }
    }

    /// Takes kernels to be written for this vocabulary: another entry, or
    /// other sizes of elements.
    #[must_use]
    pub fn with_vocabulary(mut self, vocabulary: Vocabulary) -> Self {
        self.vocabulary = vocabulary;
        self
    }

    /// Returns everything that could be done to a kernel, the most promising first.
    ///
    /// # Errors
    /// A [`RewriteError`] if the kernel is not understood.
    pub fn proposals(&self, source: &str) -> Result<Proposals, RewriteError> {
        Ok(self.known(source)?.proposals.clone())
    }

    /// Returns what `steps` make of a kernel, if they apply and nothing is found to be
    /// wrong with it: whether a plan would offer them.
    ///
    /// # Errors
    /// A [`RewriteError`] if the kernel is not understood, or a plan would not offer them.
    pub fn offered(&self, source: &str, steps: &[Step]) -> Result<String, RewriteError> {
        if !self.keeps_result(&*self.known(source)?, steps) {
            return Err(RewriteError::Nothing);
        }
        let payload = Payload {
            drafts: vec![steps.to_vec()],
        };
        let payload = serde_json::to_string(&payload)
            .map_err(|error| RewriteError::Payload(error.to_string()))?;
        self.implement(source, &payload, 0)
    }

    /// Returns a kernel in the plain form in which it is read, and what of it
    /// is not understood.
    ///
    /// # Errors
    /// A [`RewriteError`] if it is no C or has no entry.
    pub fn normalised(&self, source: &str) -> Result<(String, Vec<NotUnderstood>), RewriteError> {
        let kernel = parse_with(source, &self.vocabulary)?;
        Ok((print(&kernel), kernel.unread))
    }

    /// Returns the rewriter's own estimate of a kernel's cycles: coarse, good
    /// for comparing kernels with each other.
    ///
    /// # Errors
    /// A [`RewriteError`] if the kernel is not understood.
    pub fn estimate(&self, source: &str) -> Result<f64, RewriteError> {
        let kernel = parse_with(source, &self.vocabulary)?;
        let estimate = crate::estimate::estimate(&kernel, &self.limits);
        estimate
            .map(|estimate| estimate.cycles)
            .ok_or(RewriteError::Nothing)
    }

    /// Returns the steps of the first few variants that compute the same as
    /// the kernel, if there are any, in an order that chance perturbs.
    fn right_variants(
        &self,
        known: &Known,
        family: &Family,
        seed: Seed,
        temperature: f64,
    ) -> Option<Vec<Vec<Step>>> {
        let mut order: Vec<(f64, &Variant)> = family
            .variants
            .iter()
            .enumerate()
            .map(|(idx, variant)| {
                let chance = gumbel(seed.derive(&format!("{} {idx}", family.key)));
                (variant.score - temperature * chance, variant)
            })
            .collect();
        order.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut drafts = Vec::new();
        for (_, variant) in order {
            if self.keeps_result(known, &variant.steps) {
                drafts.push(variant.steps.clone());
                if drafts.len() == DRAFTS {
                    break;
                }
            }
        }
        (!drafts.is_empty()).then_some(drafts)
    }

    fn keeps_result(&self, known: &Known, steps: &[Step]) -> bool {
        let verdict = lock(&known.verdicts).get(steps).copied();
        verdict.unwrap_or_else(|| {
            let verdict = match self.rescheduled(known, steps) {
                Some((text, [])) => self.computes_the_same(known, &without_old_header(known, text)),
                _ => self.rewritten(known, steps).is_some_and(|kernel| {
                    may_be_right(&kernel, known.outcome.as_ref(), &self.limits)
                }),
            };
            lock(&known.verdicts).insert(steps.to_vec(), verdict);
            verdict
        })
    }

    /// Carries out the first of `steps` if that schedules the kernel anew:
    /// returns the text and the other steps.
    fn rescheduled<'steps>(
        &self,
        known: &Known,
        steps: &'steps [Step],
    ) -> Option<(String, &'steps [Step])> {
        let (first, rest) = steps.split_first()?;
        (first.transformation == RESCHEDULE).then_some(())?;
        let accelerator = &self.limits.accelerator;
        let text = match (&*known.lifted, &known.chain) {
            (Ok(lifted), _) => schedule::write(lifted, &first.parameters, accelerator),
            (Err(_), Some((_, chain))) => chain::write(chain, &first.parameters, accelerator),
            _ => None,
        };
        Some((text?, rest))
    }

    /// Returns whether a text stores the same in every array as a kernel.
    fn computes_the_same(&self, known: &Known, text: &str) -> bool {
        if let (Err(_), Some((before, _))) = (&*known.lifted, &known.chain) {
            let after = Elementwise::of(text, &self.limits.accelerator, &self.vocabulary);
            return after.is_ok_and(|after| before.is_same(&after));
        }
        match (&*self.lifted(text), &*known.lifted) {
            (Ok(now), Ok(before)) => now.is_same(before),
            _ => false,
        }
    }

    fn rewritten(&self, known: &Known, steps: &[Step]) -> Option<Kernel> {
        match self.rescheduled(known, steps) {
            Some((text, rest)) => {
                let kernel = parse_with(&text, &self.vocabulary).ok()?;
                carry_out(&kernel, rest, &self.limits)
            }
            None => carry_out(&known.kernel, steps, &self.limits),
        }
    }

    fn lifted(&self, source: &str) -> Lift {
        let find = || lift(source, &self.limits.accelerator, &self.vocabulary);
        self.lifts.of(source, find)
    }

    fn chain(&self, source: &str) -> Result<(Elementwise, Chain), Reason> {
        let accelerator = &self.limits.accelerator;
        let elements = Elementwise::of(source, accelerator, &self.vocabulary)?;
        let chain = elements.chain()?;
        Ok((elements, chain))
    }

    fn known(&self, source: &str) -> Result<Arc<Known>, RewriteError> {
        let key = ContentHash::of(source.as_bytes());
        let finding = {
            let mut remembered = lock(&self.remembered);
            if REMEMBERED <= remembered.len() && !remembered.contains_key(&key) {
                remembered.clear();
            }
            Arc::clone(remembered.entry(key).or_default())
        };
        finding
            .get_or_init(|| self.find_out(source).map(Arc::new))
            .clone()
    }

    fn find_out(&self, source: &str) -> Result<Known, RewriteError> {
        let kernel = parse_with(source, &self.vocabulary)?;
        // What cannot be followed as it is written may be in its plain form.
        let mut lifted = self.lifted(source);
        if lifted.is_err() {
            let plain = self.lifted(&print(&kernel));
            if plain.is_ok() {
                lifted = plain;
            }
        }
        let outcome = outcome(&kernel, &self.limits);
        let mut proposals = proposals(&kernel, &self.limits).unwrap_or_default();
        let chain = match &*lifted {
            Ok(_) => Err(Reason::at(0, "")),
            Err(_) => self
                .chain(source)
                .or_else(|why| self.chain(&print(&kernel)).map_err(|_| why)),
        };
        match (&*lifted, &chain) {
            (Ok(lifted), _) => reschedules(lifted, &self.limits, &mut proposals),
            (Err(_), Ok((_, chain))) => chains(chain, &self.limits, &mut proposals),
            (Err(why), _) if proposals.families.is_empty() => {
                return Err(RewriteError::NotUnderstood(format!(
                    "what the kernel computes is not understood: {why}"
                )));
            }
            _ => {}
        }
        Ok(Known {
            chain: chain.ok(),
            kernel,
            proposals,
            outcome,
            lifted,
            verdicts: Mutex::new(BTreeMap::new()),
        })
    }
}

impl Rewriter for GemminiRewriter {
    fn kinds(&self) -> Vec<KindOfChange> {
        let single = TRANSFORMATIONS.iter().map(|it| KindOfChange {
            name: it.name(),
            menu_items: it.menu_items(&Step::default()),
            does: it.does(),
        });
        [SCHEDULES, CHAINS].into_iter().chain(single).collect()
    }

    fn not_understood(&self, source: &str) -> Vec<NotUnderstood> {
        let mut unread = match parse_with(source, &self.vocabulary) {
            Ok(kernel) => kernel.unread,
            Err(error) => vec![NotUnderstood {
                line: error.line(),
                reason: error.to_string(),
            }],
        };
        // A kernel that is followed as a whole is written anew, whatever its lines are.
        if unread.is_empty() {
            return unread;
        }
        let refused = match self.known(source) {
            Ok(known) if known.lifted.is_ok() || known.chain.is_some() => return Vec::new(),
            Ok(known) => known.lifted.as_ref().as_ref().err().cloned(),
            Err(_) => self.lifted(source).as_ref().as_ref().err().cloned(),
        };
        // Of a line that both readers stop at, the one that follows calls knows more.
        if let Some(why) = refused
            && let Some(line) = unread.iter_mut().find(|it| it.line == why.line)
        {
            line.reason = why.text;
        }
        unread
    }

    fn script_format(&self) -> Option<&str> {
        Some(include_str!("../data/scripts.md").trim_end())
    }

    fn scripts(&self, source: &str, count: usize) -> Vec<(String, String)> {
        let Ok(known) = self.known(source) else {
            return Vec::new();
        };
        // One of each kind, so that they show what there is.
        let mut seen = BTreeSet::new();
        let families = known.proposals.families.iter();
        let variants = families.filter_map(|family| {
            let variant = family.variants.first()?;
            let kind: Vec<&str> = variant
                .steps
                .iter()
                .map(|it| it.transformation.as_str())
                .collect();
            let is_new = seen.insert(kind) && self.keeps_result(&known, &variant.steps);
            is_new.then_some(variant)
        });
        let scripts =
            variants.filter_map(|variant| Some((script(&variant.steps)?, variant.text.clone())));
        scripts.take(count).collect()
    }

    fn of_script(&self, source: &str, script: &str) -> Result<String, RewriteError> {
        let wrong = |why: String| RewriteError::Script(why);
        let steps: Vec<Scripted> = serde_json::from_str(script)
            .map_err(|error| wrong(format!("the script is not a list of steps: {error}")))?;
        let steps: Vec<Step> = steps.into_iter().map(|Scripted(step)| step).collect();
        let unknown = |step: &&Step| {
            step.transformation != RESCHEDULE && find(&step.transformation).is_none()
        };
        if let Some(step) = steps.iter().find(unknown) {
            return Err(wrong(format!(
                "there is no transformation `{}`; there are {}",
                step.transformation,
                names().join(", ")
            )));
        }
        if steps.is_empty() {
            return Err(wrong("the script has no steps".to_owned()));
        }
        let known = self.known(source)?;
        for end in 1..=steps.len() {
            if self.rewritten(&known, &steps[..end]).is_none() {
                let why = match &*known.lifted {
                    Err(why) if steps[end - 1].transformation == RESCHEDULE => {
                        format!(": what the kernel computes is not understood: {why}")
                    }
                    _ => String::new(),
                };
                return Err(wrong(format!(
                    "step {end} of the script (`{}`) does not apply{why}",
                    steps[end - 1].transformation
                )));
            }
        }
        if !self.keeps_result(&known, &steps) {
            return Err(wrong(
                "after the script the kernel would compute something else".to_owned(),
            ));
        }
        let drafts = vec![steps];
        serde_json::to_string(&Payload { drafts })
            .map_err(|error| RewriteError::Payload(error.to_string()))
    }

    fn plan(&self, source: &str, choice: PlanChoice<'_>) -> Result<RewritePlan, RewriteError> {
        let known = self.known(source)?;
        let seed = kernel_seed(source).derive(&format!(
            "iteration {} place {}",
            choice.iteration, choice.place
        ));
        let temperature = TEMPERATURE * f64::from(1 + choice.place.min(8));
        let turn = Turn::of(choice);
        let mut order: Vec<(f64, &Family)> = known
            .proposals
            .families
            .iter()
            .filter_map(|family| {
                let best = family.variants.first()?.score;
                let listed = chosen_item(family, choice.menu).is_some();
                let score = best
                    + if listed { 0.0 } else { OFF_MENU }
                    + if family.is_schedule {
                        turn.penalty(family)
                    } else {
                        0.0
                    }
                    - temperature * gumbel(seed.derive(&family.key));
                Some((score, family))
            })
            .collect();
        order.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        // Plans that begin alike teach less than plans that do not.
        let mut alike: BTreeMap<&str, f64> = BTreeMap::new();
        for (score, family) in &mut order {
            let first = family.key.split(" + ").next().unwrap_or_default();
            let count = alike.entry(first).or_default();
            *score += ALIKE * *count;
            *count += 1.0;
        }
        order.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut skipped = 0;
        for (_, family) in order {
            let Some(drafts) = self.right_variants(&known, family, seed, temperature) else {
                continue;
            };
            if skipped < choice.plan {
                skipped += 1;
                continue;
            }
            // The menu shown may lack the item that is right; what was done stays what it is.
            let best = family.menu_items.first().copied();
            let menu_item = chosen_item(family, choice.menu)
                .or(best)
                .unwrap_or(MenuItem::OTHER);
            let text = family
                .variants
                .iter()
                .find(|variant| Some(&variant.steps) == drafts.first())
                .map_or_else(String::new, |variant| variant.text.clone());
            let payload = serde_json::to_string(&Payload { drafts })
                .map_err(|error| RewriteError::Payload(error.to_string()))?;
            return Ok(RewritePlan {
                menu_item: menu_item.to_owned(),
                text,
                payload,
            });
        }
        Err(RewriteError::Nothing)
    }

    fn implement(&self, source: &str, payload: &str, draft: u32) -> Result<String, RewriteError> {
        let payload: Payload = serde_json::from_str(payload)
            .map_err(|error| RewriteError::Payload(error.to_string()))?;
        let steps = payload
            .drafts
            .get(draft as usize)
            .ok_or(RewriteError::Nothing)?;
        if steps.iter().any(|step| step.transformation == RESCHEDULE) {
            let known = self.known(source)?;
            if let Some((text, [])) = self.rescheduled(&known, steps) {
                return Ok(without_old_header(&known, text));
            }
            let rewritten = self.rewritten(&known, steps).ok_or(RewriteError::Nothing)?;
            return Ok(print(&rewritten));
        }
        let kernel = parse_with(source, &self.vocabulary)?;
        let mut rewritten = carry_out(&kernel, steps, &self.limits).ok_or(RewriteError::Nothing)?;
        // Read once more, so that what the steps made superfluous goes.
        if let Ok(settled) = parse_with(&print(&rewritten), &self.vocabulary) {
            rewritten = settled;
        }
        annotate(&mut rewritten, &self.limits);
        Ok(print(&rewritten))
    }
}

/// Returns a kernel that was written anew without the comment above the
/// function, which describes the kernel before; the body says what is done.
fn without_old_header(known: &Known, text: String) -> String {
    let prefix = known.lifted.as_ref().as_ref();
    let prefix = prefix.map(|lifted| lifted.prefix.as_str());
    let plain = prefix.ok().and_then(|prefix| {
        let body = text.strip_prefix(prefix)?;
        Some(with_header(prefix, &[])? + body)
    });
    plain.unwrap_or(text)
}

/// Locks what is kept to save time. Nothing is computed meanwhile, so a panic
/// elsewhere leaves it whole.
fn lock<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

fn kernel_seed(source: &str) -> Seed {
    let hash = ContentHash::of(source.as_bytes()).0;
    let mut word = [0; 8];
    word.copy_from_slice(&hash[..8]);
    Seed(u64::from_le_bytes(word))
}

fn chosen_item(family: &Family, menu: &[MenuItem]) -> Option<&'static str> {
    family
        .menu_items
        .iter()
        .copied()
        .find(|id| menu.iter().any(|item| item.id == *id))
}

/// Returns a sample of the standard Gumbel distribution, by which adding it to
/// scores samples without replacement.
fn gumbel(mut seed: Seed) -> f64 {
    let uniform = ((seed.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
    -(-uniform.ln()).ln()
}
