//! Plans and drafts for a kernel: the rewriter's interface.

mod script;
mod turn;
mod variants;

use crate::annotate::{annotate, with_header};
use crate::dataflow::{Outcome, outcome};
use crate::kernel::Kernel;
use crate::lift::{Chain, Elementwise, Lifted, Reason, lift};
use crate::limits::HardwareLimits;
use crate::normalise::Vocabulary;
use crate::parse::parse_with;
use crate::print::print;
use crate::proposal::{
    CHAINS, Proposals, RESCHEDULE, SCHEDULES, carry_out, chains, proposals, reschedules,
};
use crate::transformation::Step;
use crate::transformations::{TRANSFORMATIONS, find};
use autocomp_core::{
    KindOfChange, MenuItem, NotUnderstood, PlanChoice, RewriteError, RewritePlan, Rewriter,
};
use autocomp_rewriting::{Drafts, Earlier, Memory, Ranking, menu_item, of_payload, payload};
use script::{Scripted, names, script};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use turn::proposed;

/// Kernels whose proposals are remembered.
const REMEMBERED: usize = 64;
/// Texts of which it is remembered what they compute. What is kept of one takes some kilobytes.
const REMEMBERED_TEXTS: usize = 1024;
/// Scores are logarithms of estimated cycles; the kind of a family is its first step.
const RANKING: Ranking = Ranking {
    temperature: 0.04,
    off_menu: 0.08,
    alike: 0.04,
};

/// Proposes source transformations without any language model.
///
/// Replies depend on the request only. Proposals for recent kernels are kept
/// to save time.
#[derive(Debug)]
pub struct GemminiRewriter {
    limits: HardwareLimits,
    vocabulary: Vocabulary,
    remembered: Memory<Result<Arc<Known>, RewriteError>>,
    /// What texts compute: the same text is the draft of several plans, of several kernels that
    /// compute the same, and a kernel itself when it has been measured.
    lifts: Memory<Lift>,
}

/// What a text computes, or why that is not known.
type Lift = Arc<Result<Lifted, Reason>>;

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
            remembered: Memory::new(REMEMBERED),
            lifts: Memory::new(REMEMBERED_TEXTS),
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
        let drafts = vec![steps.to_vec()];
        self.implement(source, &payload(&Drafts { drafts })?, 0)
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

    fn lifted(&self, source: &str) -> Lift {
        self.lifts.of(source, || {
            Arc::new(lift(source, &self.limits.accelerator, &self.vocabulary))
        })
    }

    fn chain(&self, source: &str) -> Result<(Elementwise, Chain), Reason> {
        let accelerator = &self.limits.accelerator;
        let elements = Elementwise::of(source, accelerator, &self.vocabulary)?;
        let chain = elements.chain()?;
        Ok((elements, chain))
    }

    fn known(&self, source: &str) -> Result<Arc<Known>, RewriteError> {
        self.remembered
            .of(source, || self.find_out(source).map(Arc::new))
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
        payload(&Drafts { drafts })
    }

    fn plan(&self, source: &str, choice: PlanChoice<'_>) -> Result<RewritePlan, RewriteError> {
        let known = self.known(source)?;
        let chance = RANKING.chance(source, choice);
        let earlier = Earlier::read(choice, |payload, draft| {
            let drafts = of_payload(payload).ok()?;
            self.draft(source, &drafts, draft)
                .ok()
                .map(<[Step]>::to_vec)
        });
        let order = RANKING.order(chance, proposed(&known.proposals, choice, &earlier));
        let mut skipped = 0;
        for family in order {
            let Some(drafts) = self.right_variants(&known, family, chance, &earlier) else {
                continue;
            };
            if skipped < choice.plan {
                skipped += 1;
                continue;
            }
            // The menu shown may lack the item that is right; what was done stays what it is.
            let best = family.menu_items.first().copied();
            let menu_item = menu_item(family.menu_items.iter().copied(), choice.menu)
                .or(best)
                .unwrap_or(MenuItem::OTHER);
            let text = family
                .variants
                .iter()
                .find(|variant| Some(&variant.steps) == drafts.first())
                .map_or_else(String::new, |variant| variant.text.clone());
            let payload = payload(&Drafts { drafts })?;
            return Ok(RewritePlan {
                menu_item: menu_item.to_owned(),
                text,
                payload,
            });
        }
        Err(RewriteError::Nothing)
    }

    fn implement(&self, source: &str, payload: &str, draft: u32) -> Result<String, RewriteError> {
        let drafts: Drafts<Vec<Step>> = of_payload(payload)?;
        let steps = self.draft(source, &drafts, draft)?;
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
