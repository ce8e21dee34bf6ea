//! Plans and drafts for a kernel: the rewriter's interface.

mod turn;

use crate::chain;
use crate::graph::Chain;
use crate::lift::{Elementwise, Lifted, Reason, lift};
use crate::limits::HardwareLimits;
use crate::normalise::Vocabulary;
use crate::proposal::{CHAINS, Proposal, RESCHEDULE, SCHEDULES, chains, reschedules};
use crate::schedule;
use autocomp_core::{
    KindOfChange, MenuItem, NotUnderstood, PlanChoice, RewriteError, RewritePlan, Rewriter,
};
use autocomp_rewriting::{Drafts, Earlier, Memory, Ranking, menu_item, of_payload, payload};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use turn::proposed;

/// Kernels whose proposals are remembered.
const REMEMBERED: usize = 64;
/// Texts of which it is remembered what they compute. What is kept of one takes some kilobytes.
const REMEMBERED_TEXTS: usize = 1024;
/// Scores are logarithms of estimated cycles; each schedule is a kind of its own.
const RANKING: Ranking = Ranking {
    temperature: 0.04,
    off_menu: 0.08,
    alike: 0.04,
};

/// Proposes schedules of what a kernel computes without any language model.
///
/// Replies depend on the request only. Proposals for recent kernels are kept
/// to save time.
#[derive(Debug)]
pub struct GemminiRewriter {
    limits: HardwareLimits,
    vocabulary: Vocabulary,
    remembered: Memory<Result<Arc<Known>, Reason>>,
    /// What texts compute: the same text is the draft of several plans, of several kernels that
    /// compute the same, and a kernel itself when it has been measured.
    lifts: Memory<Lift>,
}

/// What a text computes, or why that is not known.
type Lift = Arc<Result<Lifted, Reason>>;

/// What a kernel computes.
#[derive(Debug)]
enum Found {
    Whole(Lift),
    /// Element by element, and in matrices: a chain of small products.
    Chain(Box<(Elementwise, Chain)>),
}

/// What was found out about one kernel.
#[derive(Debug)]
struct Known {
    found: Found,
    proposals: Vec<Proposal>,
    /// Which schedules were found to keep the result.
    verdicts: Mutex<BTreeMap<Vec<i64>, bool>>,
}

/// A step of a script.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    transformation: String,
    /// The numbers of the schedule.
    #[serde(default)]
    parameters: Vec<i64>,
}

impl GemminiRewriter {
    /// Creates a rewriter for a target of these sizes.
    #[must_use]
    pub fn new(limits: HardwareLimits) -> Self {
        Self {
            vocabulary: Vocabulary::default(),
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

    /// Returns all schedules of what a kernel computes, the most promising first.
    ///
    /// # Errors
    /// A [`RewriteError`] if the kernel is not understood.
    pub fn proposals(&self, source: &str) -> Result<Vec<Proposal>, RewriteError> {
        Ok(self.known(source)?.proposals.clone())
    }

    /// Returns a kernel in the schedule of these numbers, if nothing is found to be wrong
    /// with it: whether a plan would offer it.
    ///
    /// # Errors
    /// A [`RewriteError`] if the kernel is not understood, or a plan would not offer it.
    pub fn offered(&self, source: &str, parameters: &[i64]) -> Result<String, RewriteError> {
        let known = self.known(source)?;
        let text = self.rescheduled(&known, parameters);
        text.filter(|_| self.keeps_result(&known, parameters))
            .ok_or(RewriteError::Nothing)
    }

    fn lifted(&self, source: &str) -> Lift {
        self.lifts.of(source, || {
            Arc::new(lift(source, &self.limits.accelerator, &self.vocabulary))
        })
    }

    fn find(&self, source: &str) -> Result<Known, Reason> {
        let lifted = self.lifted(source);
        let (found, proposals) = match &*lifted {
            Ok(whole) => {
                let proposals = reschedules(whole, &self.limits);
                (Found::Whole(lifted), proposals)
            }
            Err(why) => {
                let accelerator = &self.limits.accelerator;
                let elements = Elementwise::of(source, accelerator, &self.vocabulary);
                let chain = elements.and_then(|it| it.chain().map(|chain| (it, chain)));
                let both = chain.map_err(|_| why.clone())?;
                let proposals = chains(&both.1, &self.limits);
                (Found::Chain(Box::new(both)), proposals)
            }
        };
        Ok(Known {
            found,
            proposals,
            verdicts: Mutex::default(),
        })
    }

    fn found(&self, source: &str) -> Result<Arc<Known>, Reason> {
        self.remembered
            .of(source, || self.find(source).map(Arc::new))
    }

    fn known(&self, source: &str) -> Result<Arc<Known>, RewriteError> {
        self.found(source).map_err(|why| {
            let text = format!("what the kernel computes is not understood: {why}");
            RewriteError::NotUnderstood(text)
        })
    }

    /// Returns the kernel in another schedule; nothing if that does not fit.
    fn rescheduled(&self, known: &Known, parameters: &[i64]) -> Option<String> {
        match &known.found {
            Found::Whole(lifted) => {
                let lifted = lifted.as_ref().as_ref().ok()?;
                schedule::write(lifted, parameters, &self.limits)
            }
            Found::Chain(both) => chain::write(&both.1, parameters, &self.limits),
        }
    }

    /// Returns whether the kernel in another schedule stores the same in every array.
    fn keeps_result(&self, known: &Known, parameters: &[i64]) -> bool {
        // Nothing is computed while it is locked, so that a panic elsewhere leaves it whole.
        let verdicts = || {
            known
                .verdicts
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let verdict = verdicts().get(parameters).copied();
        verdict.unwrap_or_else(|| {
            let text = self.rescheduled(known, parameters);
            let verdict = text.is_some_and(|text| self.computes_the_same(known, &text));
            verdicts().insert(parameters.to_vec(), verdict);
            verdict
        })
    }

    fn computes_the_same(&self, known: &Known, text: &str) -> bool {
        match &known.found {
            Found::Whole(before) => match (&*self.lifted(text), &**before) {
                (Ok(now), Ok(before)) => now.is_same(before),
                _ => false,
            },
            Found::Chain(both) => {
                let after = Elementwise::of(text, &self.limits.accelerator, &self.vocabulary);
                after.is_ok_and(|after| both.0.is_same(&after))
            }
        }
    }
}

impl Rewriter for GemminiRewriter {
    fn kinds(&self) -> Vec<KindOfChange> {
        vec![SCHEDULES, CHAINS]
    }

    fn not_understood(&self, source: &str) -> Vec<NotUnderstood> {
        let refused = self.found(source).err().filter(|why| why.line != 0);
        let refused = refused.map(|why| NotUnderstood {
            line: why.line,
            reason: why.text,
        });
        refused.into_iter().collect()
    }

    fn script_format(&self) -> Option<&str> {
        Some(include_str!("../data/scripts.md").trim_end())
    }

    fn scripts(&self, source: &str, count: usize) -> Vec<(String, String)> {
        let Ok(known) = self.known(source) else {
            return Vec::new();
        };
        let right = known
            .proposals
            .iter()
            .filter(|it| self.keeps_result(&known, &it.parameters));
        let scripts = right.filter_map(|it| {
            let step = Step {
                transformation: RESCHEDULE.to_owned(),
                parameters: it.parameters.clone(),
            };
            Some((serde_json::to_string(&[step]).ok()?, it.text.clone()))
        });
        scripts.take(count).collect()
    }

    fn of_script(&self, source: &str, script: &str) -> Result<String, RewriteError> {
        let wrong = |why: &str| Err(RewriteError::Script(why.to_owned()));
        let step = match serde_json::from_str::<Vec<Step>>(script) {
            Err(error) => return wrong(&format!("the script is not a list of steps: {error}")),
            Ok(steps) => match <[Step; 1]>::try_from(steps) {
                Ok([step]) => step,
                Err(steps) => {
                    let count = steps.len();
                    return wrong(&format!("the script has {count} steps, and one is needed"));
                }
            },
        };
        if step.transformation != RESCHEDULE {
            let name = step.transformation;
            return wrong(&format!(
                "there is no transformation `{name}`; there is {RESCHEDULE}"
            ));
        }
        let known = self.known(source)?;
        if self.rescheduled(&known, &step.parameters).is_none() {
            return wrong("the step of the script does not apply: the numbers do not fit");
        }
        if !self.keeps_result(&known, &step.parameters) {
            return wrong("after the script the kernel would compute something else");
        }
        let drafts = vec![step.parameters];
        payload(&Drafts { drafts })
    }

    fn plan(&self, source: &str, choice: PlanChoice<'_>) -> Result<RewritePlan, RewriteError> {
        let known = self.known(source)?;
        let chance = RANKING.chance(source, choice);
        let earlier = Earlier::of(choice);
        let order = RANKING.order(chance, proposed(&known.proposals, choice, &earlier));
        let mut right = order
            .into_iter()
            .filter(|it| self.keeps_result(&known, &it.parameters));
        let proposal = right
            .nth(choice.plan as usize)
            .ok_or(RewriteError::Nothing)?;
        // The menu shown may lack the item that is right; what was done stays what it is.
        let items = proposal.menu_items.iter().copied();
        let menu_item = menu_item(items, choice.menu)
            .or(proposal.menu_items.first().copied())
            .unwrap_or(MenuItem::OTHER);
        let drafts = vec![proposal.parameters.clone()];
        Ok(RewritePlan {
            menu_item: menu_item.to_owned(),
            text: proposal.text.clone(),
            payload: payload(&Drafts { drafts })?,
        })
    }

    fn implement(&self, source: &str, payload: &str, draft: u32) -> Result<String, RewriteError> {
        let drafts: Drafts<Vec<i64>> = of_payload(payload)?;
        let known = self.known(source)?;
        let text = self.rescheduled(&known, drafts.get(draft)?);
        text.ok_or(RewriteError::Nothing)
    }
}
